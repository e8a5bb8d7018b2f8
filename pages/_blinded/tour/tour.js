// Offers the tour in a line unless this browser has dismissed it, and shows it whole when that or the menu requests it. It takes no
// key and no focus.
const storageKey = (user) => `tour seen ${user}`

// A browser may refuse storage: the tour then appears again in the next session.
function dismissed(user) { try { return Boolean(localStorage.getItem(storageKey(user))) } catch { return false } }

function dismiss(user) { try { localStorage.setItem(storageKey(user), "1") } catch { /* see above */ } }

export default function (component) {
  const { user, requests, lead, steps, note } = component.data, parent = component.parentElement
  const tour = parent.querySelector(".tour"), one = (name) => tour.querySelector(name)
  // A hidden tour must leave no gap. Streamlit may reuse the frame for the next page, so it is shown again at the end.
  const frame = (parent.host ?? parent).closest('[data-testid="stElementContainer"]')
  const show = (shown, whole = false) => {
    tour.hidden = !shown
    one(".line").hidden = whole
    one(".whole").hidden = !whole
    if (frame) frame.style.display = shown ? "" : "none"
  }
  one(".lead").textContent = lead
  one(".note").textContent = note
  one("ol").replaceChildren(...steps.map((step) => Object.assign(document.createElement("li"), { textContent: step })))
  one(".open").onclick = () => show(true, true)
  for (const never of tour.querySelectorAll(".never")) never.onclick = () => { dismiss(user); show(false) }
  one(".later").onclick = () => { sessionStorage.setItem(storageKey(user), "1"); show(false) }
  const previous = tour.dataset
  if (previous.user !== user) show(!dismissed(user) && !sessionStorage.getItem(storageKey(user)))
  if (requests > Number(previous.requests ?? 0)) { show(true, true); tour.scrollIntoView({ block: "nearest" }) }
  Object.assign(previous, { user, requests })
  if (frame && tour.hidden) frame.style.display = "none"
  return () => { if (frame) frame.style.display = "" }
}
