// A list of rows, one of which is open: a click or the arrow keys open another. The choice shows at once, before the server answers.
const SETTLE_MS = 120 // of held arrow keys only the row on which they rest is opened

const cell = (name, text) => {
  const part = document.createElement("span")
  part.className = name
  part.textContent = text
  part.dir = "auto"
  return part
}

// A text in pieces, each with whether it was searched for
const withHits = (name, pieces) => {
  const part = cell(name, "")
  for (const [text, isHit] of pieces) part.append(isHit ? Object.assign(document.createElement("mark"), { textContent: text }) : text)
  return part
}

// One dot a handbook, in groups: those that hold one position, then those that say something else, in rings
const dots = (sizes) => {
  const strip = document.createElement("span")
  strip.className = "dots"
  strip.ariaHidden = "true"
  for (const size of sizes) {
    const group = document.createElement("span")
    group.className = size < 0 ? "else" : "group"
    group.append(...Array.from({ length: Math.abs(size) }, () => document.createElement("i")))
    strip.append(group)
  }
  return strip
}

const option = (row, index) => {
  const item = document.createElement("div")
  item.id = `row-${index}`
  item.setAttribute("role", "option")
  const about = row.hits.length ? withHits("about", row.hits) : cell("about", row.about)
  if (row.strip.length) about.append(dots(row.strip))
  for (const text of [row.more, row.found]) if (text) about.append(cell("more", text))
  if (row.excerpt.length) about.append(withHits("more", row.excerpt))
  const label = cell("label", row.label)
  label.style.setProperty("--tint", row.colour)
  item.append(about, label, cell("significance", row.significance))
  return item
}

const headings = (texts) => {
  const head = document.createElement("div")
  head.className = "head"
  head.setAttribute("aria-hidden", "true")
  texts.forEach((text, index) => head.append(cell(["about", "label", "significance"][index], text)))
  return head
}

const draw = (host, data) => {
  const list = document.createElement("div")
  list.className = "rows"
  list.tabIndex = 0
  list.setAttribute("role", "listbox")
  list.setAttribute("aria-label", data.name)
  list.append(...data.rows.map(option))
  const root = host.querySelector(".pick-list")
  root.replaceChildren(headings(data.headings), list)
  return list
}

const select = (list, index, { scroll }) => {
  list.querySelector('[aria-selected="true"]')?.setAttribute("aria-selected", "false")
  const item = list.children[index]
  if (!item) return list.removeAttribute("aria-activedescendant")
  item.setAttribute("aria-selected", "true")
  list.setAttribute("aria-activedescendant", item.id)
  if (scroll) item.scrollIntoView({ block: "nearest" })
}

// The panes fill the window below the filters, whose height depends on the window's width.
const fitPanes = () => {
  const bench = document.querySelector(".st-key-workbench"), main = document.querySelector('[data-testid="stMain"]')
  if (!bench || !main) return
  const above = bench.getBoundingClientRect().top - main.getBoundingClientRect().top + main.scrollTop
  document.documentElement.style.setProperty("--above-workbench", `${Math.round(above)}px`)
}

const scrollDetailToTop = () => document.querySelector(".st-key-pane_detail")?.scrollTo({ top: 0 })

export default function (component) {
  const host = component.parentElement, data = component.data
  const state = host.pickList ??= { content: "", opened: null, list: null, index: -1, timer: 0 }
  const content = JSON.stringify([data.rows, data.headings])
  const isNew = content !== state.content
  if (isNew) state.list = draw(host, data)
  const index = data.rows.findIndex((row) => row.key === data.opened)
  const moved = data.opened !== state.opened
  if (moved && state.opened !== null) scrollDetailToTop()
  if (isNew || moved) {
    state.index = index
    select(state.list, index, { scroll: isNew || moved })
  }
  Object.assign(state, { content, opened: data.opened })
  const open = (to, wait) => {
    state.index = to
    select(state.list, to, { scroll: true })
    clearTimeout(state.timer)
    state.timer = setTimeout(() => component.setTriggerValue("picked", data.rows[to].key), wait)
  }
  state.list.onclick = (event) => {
    const item = event.target.closest('[role="option"]')
    if (item) open([...state.list.children].indexOf(item), 0)
  }
  state.list.onkeydown = (event) => {
    const last = data.rows.length - 1
    const down = state.index + 1, up = state.index - 1
    const to = { ArrowDown: down, j: down, ArrowUp: up, k: up, Home: 0, End: last, Enter: state.index }[event.key]
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    event.stopPropagation() // the page has shortcuts of its own for letters
    open(Math.min(Math.max(to, 0), last), event.key === "Enter" ? 0 : SETTLE_MS)
  }
  fitPanes()
  const resized = new ResizeObserver(fitPanes)
  resized.observe(document.body)
  const above = document.querySelector(".st-key-filters")
  if (above) resized.observe(above)
  return () => resized.disconnect()
}
