// Passes what is typed in the search box to the server, and the questions that are near in meaning back to the box.
const TRIES = 5, AGAIN_MS = 700  // the process that knows may be reading handbooks at the moment

export default function (component) {
  const { typed, attempt, near } = component.data
  if (near) document.dispatchEvent(new CustomEvent("search-near", { detail: { typed, near } }))
  const ask = (text, attempt) => component.setStateValue("typed", { text, attempt })
  const later = near || attempt >= TRIES ? 0 : setTimeout(ask, AGAIN_MS, typed, attempt + 1)
  const listen = (event) => ask(event.detail, 1)
  document.addEventListener("search-typed", listen)
  return () => { clearTimeout(later); document.removeEventListener("search-typed", listen) }
}
