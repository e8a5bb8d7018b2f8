// One tile for each item, and below them the marked ones with question and comment. Texts are set as text and never as HTML.

const element = (tag, className, text) => Object.assign(document.createElement(tag), { className, textContent: text, dir: "auto" })

function tile(item, texts) {
  const button = element("button", item.state.replace(" ", "-"), "")
  button.type = "button"
  button.disabled = !item.open
  button.dataset.assignment = item.assignment
  button.append(element("b", "", String(item.position)))
  if (item.unsure) button.append(element("span", "mark", "unsure"))
  if (item.comment) button.append(element("span", "mark", "comment"))
  button.append(element("span", "state", item.state === "labelled" ? item.choice : [item.state, item.choice].filter(Boolean).join(": ")))
  if (texts) button.append(element("span", "text", item.question))
  if (texts && item.comment) button.append(element("span", "comment", item.comment))
  button.setAttribute("aria-label", [`Item ${item.position}: ${item.state}`, item.choice, item.unsure ? "unsure" : "",
    item.comment ? "comment" : "", texts ? item.question : "", texts ? item.comment : ""].filter(Boolean).join(", "))
  return button
}

// One stop of the Tab key for the whole grid; arrow keys move inside it.
function withArrowKeys(grid) {
  const open = () => [...grid.querySelectorAll("button:enabled")]
  open().forEach((button, index) => { button.tabIndex = index ? -1 : 0 })
  grid.onkeydown = (event) => {
    const buttons = open(), at = buttons.indexOf(event.target)
    const sameColumn = (button) => button.offsetLeft === event.target.offsetLeft
    const steps = {
      ArrowLeft: () => at - 1, ArrowRight: () => at + 1,
      ArrowDown: () => buttons.findIndex((button, index) => index > at && sameColumn(button)),
      ArrowUp: () => buttons.findLastIndex((button, index) => index < at && sameColumn(button)),
    }
    const to = steps[event.key]?.() ?? -1
    if (!buttons[to]) return
    event.preventDefault()
    buttons.forEach((button) => { button.tabIndex = -1 })
    buttons[to].tabIndex = 0
    buttons[to].focus()
  }
}

export default function (component) {
  const root = component.parentElement.querySelector(".own-items"), { items } = component.data
  const grid = root.querySelector(".grid"), marked = items.filter((item) => item.marked)
  grid.replaceChildren(...items.map((item) => tile(item, false)))
  root.querySelector("h2").hidden = !marked.length
  root.querySelector(".marked").replaceChildren(...marked.map((item) => tile(item, true)))
  withArrowKeys(grid)
  root.onclick = (event) => {
    const button = event.target.closest("button")
    if (button) component.setTriggerValue("open", button.dataset.assignment)
  }
}
