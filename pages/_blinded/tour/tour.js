// Shows the tour unless this browser has dismissed it, or when the menu requests it. It takes no key and no focus.
const storageKey = (user) => `tour seen ${user}`

// A browser may refuse storage: the tour then appears again in the next session.
function dismissed(user) { try { return Boolean(localStorage.getItem(storageKey(user))) } catch { return false } }

function dismiss(user) { try { localStorage.setItem(storageKey(user), "1") } catch { /* see above */ } }

export default function (component) {
  const { user, requests, lead, steps, note } = component.data, parent = component.parentElement
  const tour = parent.querySelector(".tour"), one = (name) => tour.querySelector(name)
  // A hidden tour must leave no gap. Streamlit may reuse the frame for the next page, so it is shown again at the end.
  const frame = (parent.host ?? parent).closest('[data-testid="stElementContainer"]')
  const show = (shown) => {
    tour.hidden = !shown
    if (frame) frame.style.display = shown ? "" : "none"
  }
  one(".lead").textContent = lead
  one(".note").textContent = note
  one("ol").replaceChildren(...steps.map((step) => Object.assign(document.createElement("li"), { textContent: step })))
  one(".never").onclick = () => { dismiss(user); show(false) }
  one(".later").onclick = () => { sessionStorage.setItem(storageKey(user), "1"); show(false) }
  const previous = tour.dataset
  if (previous.user !== user) show(!dismissed(user) && !sessionStorage.getItem(storageKey(user)))
  if (requests > Number(previous.requests ?? 0)) { show(true); tour.scrollIntoView({ block: "nearest" }) }
  Object.assign(previous, { user, requests })
  if (frame && tour.hidden) frame.style.display = "none"
  return () => { if (frame) frame.style.display = "" }
}
