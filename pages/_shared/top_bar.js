// Streamlit adds a history entry for every parameter that a page writes, so a page that writes its run a moment after it opens
// would take two presses of Back to leave. This keeps the first entry after a click or key press and turns all further ones into
// `replaceState`. It is here because this component is on every page.
const oneHistoryEntryPerAction = () => {
  const history = window.history, push = history.pushState.bind(history)
  if (history.oneHistoryEntryPerAction) return
  history.oneHistoryEntryPerAction = true
  let userActed = false
  for (const type of ["pointerdown", "click", "keydown"]) window.addEventListener(type, () => { userActed = true }, true)
  history.pushState = (...entry) => {
    userActed ? push(...entry) : history.replaceState(...entry)
    userActed = false
  }
}

// navigator.clipboard exists only on https and localhost, and a dashboard on an intranet is often neither.
function copyBySelection(text) {
  const area = document.createElement("textarea")
  area.value = text; area.style.position = "fixed"; area.style.opacity = "0"
  document.body.append(area); area.select()
  const done = document.execCommand("copy")
  area.remove()
  return done
}

export default function (component) {
  oneHistoryEntryPerAction()
  const { runs = [], run = "", synthetic, account } = component.data
  const one = (name) => component.parentElement.querySelector(name)
  const copy = one(".copy"), label = copy.querySelector("span"), select = one("select"), entry = one(".account")

  one(".run").hidden = !runs.length
  const options = runs.map(({ key, name }) => Object.assign(document.createElement("option"), { value: key, textContent: name, dir: "auto" }))
  if (!run) options.unshift(Object.assign(document.createElement("option"), { value: "", textContent: "Choose a run" }))
  select.replaceChildren(...options)
  select.value = run
  select.title = select.selectedOptions[0]?.textContent ?? ""
  select.onchange = () => component.setTriggerValue("run", select.value)
  one(".synthetic").hidden = !synthetic

  one(".name").hidden = !account?.name
  one(".name").textContent = account?.name ?? ""
  one(".name").title = "My account"
  one(".name").href = "my_account"
  one(".name").onclick = (event) => { event.preventDefault(); component.setTriggerValue("account", "own") }
  entry.hidden = !account
  entry.textContent = account?.label ?? ""
  if (account) entry.href = account.page
  entry.onclick = (event) => { event.preventDefault(); component.setTriggerValue("account", true) }

  copy.onclick = async () => {
    const link = window.location.href
    let done
    try { await navigator.clipboard.writeText(link); done = true } catch { done = copyBySelection(link) }
    label.textContent = done ? "Link copied" : "Copy it from the address bar"
    setTimeout(() => { label.textContent = "Copy link" }, 2500)
  }
}
