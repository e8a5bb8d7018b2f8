// Shows the tour where this browser has not put it away, or where the menu asked for it. It takes no key and no focus.
const memory = (who) => `tour seen ${who}`

function seen(who) { try { return Boolean(localStorage.getItem(memory(who))) } catch { return false } }

function never(who) { try { localStorage.setItem(memory(who), "1") } catch { /* a browser that keeps nothing: until the next session */ } }

export default function (component) {
  const { who, asked, lead, steps, note } = component.data, parent = component.parentElement
  const tour = parent.querySelector(".tour"), one = (name) => tour.querySelector(name)
  // Put away, it leaves no gap on the page either. The next page may be drawn into the same frame, so it is given back at the end.
  const frame = (parent.host ?? parent).closest('[data-testid="stElementContainer"]')
  const show = (shown) => {
    tour.hidden = !shown
    if (frame) frame.style.display = shown ? "" : "none"
  }
  one(".lead").textContent = lead
  one(".note").textContent = note
  one("ol").replaceChildren(...steps.map((step) => Object.assign(document.createElement("li"), { textContent: step })))
  one(".never").onclick = () => { never(who); show(false) }
  one(".later").onclick = () => { sessionStorage.setItem(memory(who), "1"); show(false) }
  const before = tour.dataset
  if (before.who !== who) show(!seen(who) && !sessionStorage.getItem(memory(who)))
  if (asked > Number(before.asked ?? 0)) { show(true); tour.scrollIntoView({ block: "nearest" }) }
  Object.assign(before, { who, asked })
  if (frame && tour.hidden) frame.style.display = "none"
  return () => { if (frame) frame.style.display = "" }
}
