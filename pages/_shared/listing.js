// A list of rows, sorted by its headings and searched by typing. Where rows lead somewhere, each is a link as a whole, moved
// through with arrow keys or J and K.
const LONG = 200 // the browser lays out only what is in sight of more rows than these
const ON_PAPER = 300 // rows; more are for a file
const SLACK = 3 // so few more rows than asked for are shown at once

const made = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  element.append(...children.filter((child) => child !== null))
  return element
}

const drawn = (tag, attributes) => {
  const shape = document.createElementNS("http://www.w3.org/2000/svg", tag)
  for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, value)
  return shape
}

const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase()
const textOf = (cell) => (Array.isArray(cell) ? cell[0] : cell) ?? "\u2013"
const valueOf = (cell) => (Array.isArray(cell) ? cell[1] : cell)

const strip = ([, value, low, high], { from, to }) => {
  const at = (number) => `${(100 * (number - from)) / (to - from || 1)}%`
  const picture = drawn("svg", { "aria-hidden": "true" })
  picture.append(drawn("line", { class: "axis", x1: "0", x2: "100%", y1: "50%", y2: "50%" }))
  if (from < 0) picture.append(drawn("line", { class: "axis", x1: at(0), x2: at(0), y1: "0", y2: "100%" }))
  picture.append(drawn("line", { x1: at(low), x2: at(high), y1: "50%", y2: "50%" }))
  picture.append(drawn("circle", { cx: at(value), cy: "50%", r: "4" }))
  return picture
}

const spread = (cell, column) => {
  const inside = made("div", { class: "spread" }, made("span", {}, textOf(cell)))
  if (cell[2] != null) inside.append(strip(cell, column))
  if (cell[4]) inside.append(made("span", { class: "span" }, cell[4]))
  return inside
}

const kindOf = (column, place, few) =>
  [column.kind, column.spread ? "with-span" : "", place >= few ? "extra" : ""].filter(Boolean).join(" ")

// The text, with the words that were searched for marked
const marked = (text, words) => {
  const searched = words.trim().split(/\s+/).filter(Boolean).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
  if (!searched.length) return [text]
  return text.split(new RegExp(`(${searched.join("|")})`, "iu")).map((part, at) => (at % 2 ? made("mark", {}, part) : part))
}

const nameCell = (parts, href, opens) => {
  if (!opens) return made("th", { scope: "row", role: "rowheader", dir: "auto" }, ...parts)
  const link = href ? made("a", { class: "open", href, dir: "auto" }, ...parts) : made("button", { class: "open", type: "button", dir: "auto" }, ...parts)
  link.tabIndex = -1
  return made("th", { scope: "row", role: "rowheader" }, link)
}

const rowOf = (data, index, place, words) => {
  const cells = data.rows[index].map((cell, at) => {
    const column = data.columns[at]
    if (at === 0) return nameCell(marked(textOf(cell), words), data.links?.[index], data.opens)
    const heading = made("span", { class: "heading", "aria-hidden": "true", dir: "auto" }, column.heading)
    const filled = Array.isArray(cell) && column.spread ? spread(cell, column) : made("span", { dir: "auto" }, ...marked(textOf(cell), words))
    return made("td", { role: "cell", class: kindOf(column, at, data.few) }, heading, filled)
  })
  const row = made("tr", { role: "row", "aria-rowindex": place + 2 }, ...cells)
  row.index = index
  return row
}

const tracksOf = (columns) => columns.map(({ width }) => width).join(" ")

const headOf = (data, sortBy) => {
  const cells = data.columns.map((column, at) => {
    const button = made("button", { type: "button", dir: "auto" }, column.heading)
    button.onclick = () => sortBy(at)
    return made("th", { scope: "col", role: "columnheader", class: kindOf(column, at, data.few) }, button)
  })
  return made("thead", { role: "rowgroup" }, made("tr", { role: "row", "aria-rowindex": 1 }, ...cells))
}

const compared = (a, b) =>
  typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), undefined, { numeric: true })

const ordered = (data, { sort, words }) => {
  const searched = plain(words).split(/\s+/).filter(Boolean)
  const found = [...data.rows.keys()].filter((index) => {
    if (!searched.length) return true
    const text = plain(data.rows[index].map(textOf).join(" "))
    return searched.every((word) => text.includes(word))
  })
  if (!sort) return found
  const value = (index) => valueOf(data.rows[index][sort.column]) // what is unknown stays last, whichever way the rest runs
  return found.sort((a, b) => (value(a) == null) - (value(b) == null) ||
    (value(a) == null ? 0 : (sort.down ? -1 : 1) * compared(value(a), value(b))) || a - b)
}

// What the headings do, where a phone has no room for them
const sorter = (data, state, redraw) => {
  const options = data.columns.map(({ heading }, at) => made("option", { value: at }, heading))
  const select = made("select", { class: "sort", "aria-label": "Sort by" }, made("option", { value: "" }, "As listed"), ...options)
  select.value = state.sort?.column ?? ""
  select.onchange = () => {
    const column = Number(select.value)
    state.sort = select.value === "" ? null : { column, down: data.columns[column].kind === "number" }
    redraw()
  }
  return select
}

// The parts that stay while rows come and go
const frameOf = (data, state, redraw) => {
  const find = made("input", { type: "search", "aria-label": `Find in ${data.rows.length} rows`, placeholder: `Find in ${data.rows.length} rows` })
  const all = made("button", { type: "button", "aria-pressed": "false" }, `All ${data.columns.length} columns`)
  const status = made("span", { role: "status" })
  const sorting = sorter(data, state, redraw)
  const more = made("button", { type: "button", class: "more" })
  const body = made("tbody", { role: "rowgroup" })
  const sortBy = (column) => {
    const isSame = state.sort?.column === column
    const isNumber = data.columns[column].kind === "number" // the greatest first, and names from A to Z
    state.sort = isSame && state.sort.down !== isNumber ? null : { column, down: isSame ? !state.sort.down : isNumber }
    redraw()
  }
  const head = headOf(data, sortBy)
  const table = made("table", { role: "table", "aria-label": data.name, "aria-rowcount": data.rows.length + 1 }, head, body)
  const frame = made("div", { class: "frame" }, table)
  const leftOut = made("p", { class: "left-out" })
  find.hidden = data.rows.length <= data.inSight + SLACK
  sorting.hidden = data.rows.length < 3
  all.hidden = data.columns.length <= data.few
  find.oninput = () => {
    state.words = find.value
    redraw()
  }
  const tools = made("div", { class: "tools" }, find, sorting, all, status)
  return { find, all, status, sorting, more, body, head, table, frame, leftOut, tools }
}

const draw = (host, data, state) => {
  const root = host.querySelector(".listing")
  const redraw = () => {
    const { body, status, sorting, more, head, leftOut } = state.parts
    const order = ordered(data, state), total = data.rows.length
    const isWhole = state.all || order.length <= data.inSight + SLACK, shown = isWhole ? order.length : data.inSight
    const rows = order.slice(0, state.all ? order.length : ON_PAPER).map((index, place) => rowOf(data, index, place, state.words))
    rows.slice(shown).forEach((row) => row.classList.add("beyond"))
    body.replaceChildren(...rows)
    body.classList.toggle("long", rows.length > LONG)
    if (!order.length && total) body.append(made("tr", { role: "row" }, made("td", { role: "cell", class: "none" },
      "No row has these words. Esc shows all rows.")))
    if (!total) body.append(made("tr", { role: "row" }, made("td", { role: "cell", class: "none" }, "No rows.")))
    status.textContent = state.words ? `${order.length} of ${total} rows` : ""
    status.hidden = !state.words
    more.hidden = isWhole
    more.textContent = `All ${order.length} rows`
    leftOut.textContent = rows.length >= ON_PAPER && total > ON_PAPER ? `${ON_PAPER} of ${total} rows. The CSV file has all of them.` : ""
    sorting.value = state.sort?.column ?? ""
    head.querySelectorAll("th").forEach((heading, column) => {
      if (state.sort?.column !== column) return heading.removeAttribute("aria-sort")
      heading.setAttribute("aria-sort", state.sort.down ? "descending" : "ascending")
    })
    mark(state)
  }
  state.redraw = redraw
  state.parts = frameOf(data, state, redraw)
  const { tools, frame, more, leftOut, all, find } = state.parts
  const widen = () => {
    root.classList.toggle("wide", state.wide)
    all.setAttribute("aria-pressed", String(state.wide))
    frame.style.setProperty("--tracks", tracksOf(state.wide ? data.columns : data.columns.slice(0, data.few)))
    if (state.wide) Object.entries({ tabindex: "0", role: "region", "aria-label": data.name }).forEach((pair) => frame.setAttribute(...pair))
    else ["tabindex", "role", "aria-label"].forEach((name) => frame.removeAttribute(name))
  }
  all.onclick = () => {
    state.wide = !state.wide
    widen()
  }
  more.onclick = () => {
    state.all = true
    redraw()
  }
  find.value = state.words
  root.replaceChildren(tools, frame, more, leftOut)
  widen()
  redraw()
}

const linksOf = (state) => [...state.parts.body.querySelectorAll("tr:not(.beyond) .open")]

// The open row, and the one row that the Tab key reaches
const mark = (state) => {
  const links = linksOf(state)
  for (const row of state.parts.body.children) {
    if (row.index === state.opened) row.setAttribute("aria-current", "true")
    else row.removeAttribute("aria-current")
  }
  const at = links.findIndex((link) => link.closest("tr").index === (state.at ?? state.opened))
  links.forEach((link, place) => (link.tabIndex = place === Math.max(at, 0) ? 0 : -1))
}

const moveTo = (state, data, place) => {
  if (place >= linksOf(state).length && !state.parts.more.hidden) {
    state.all = true
    state.redraw()
  }
  const links = linksOf(state), link = links[Math.min(Math.max(place, 0), links.length - 1)]
  if (!link) return
  state.at = link.closest("tr").index
  mark(state)
  link.focus()
  link.closest("tr").scrollIntoView({ block: "nearest" })
}

const typed = (event) => event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey

const onKey = (event, state, data) => {
  const { find } = state.parts
  if (event.target === find) {
    event.stopPropagation() // the page has shortcuts of its own for letters
    if (event.key === "Escape") [find.value, state.words] = ["", ""], state.redraw()
    if (!["Escape", "ArrowDown", "Enter"].includes(event.key)) return
    event.preventDefault()
    return moveTo(state, data, 0)
  }
  if (!event.target.classList.contains("open") || event.altKey || event.ctrlKey || event.metaKey) return
  const place = linksOf(state).indexOf(event.target), last = data.rows.length - 1
  const to = { ArrowDown: place + 1, j: place + 1, ArrowUp: place - 1, k: place - 1, Home: 0, End: last }[event.key]
  const isFind = to === undefined && typed(event) && event.key !== " "
  if (to === undefined && !isFind) return
  event.preventDefault()
  event.stopPropagation()
  if (!isFind) return moveTo(state, data, to)
  find.hidden = false
  find.focus()
  if (event.key === "/") return
  find.value = state.words = state.words + event.key
  state.redraw()
}

const onClick = (event, state, data, component) => {
  const link = event.target.closest(".open")
  if (!link || (link.href && (event.ctrlKey || event.metaKey || event.shiftKey))) return
  event.preventDefault()
  const { index } = link.closest("tr")
  state.at = index
  state.opened = !link.href && state.opened === index ? null : index // a second click closes what opened on this page
  mark(state)
  const picked = state.opened === null ? null : [data.version, index]
  if (link.href) component.setTriggerValue("followed", picked)
  else component.setStateValue("picked", picked)
}

export default function (component) {
  const host = component.parentElement, data = component.data
  const state = (host.listing ??= { version: "", sort: null, words: "", all: false, wide: false, at: null, opened: null })
  if (data.version !== state.version) {
    if (state.columns !== JSON.stringify(data.columns)) state.sort = null
    Object.assign(state, { version: data.version, columns: JSON.stringify(data.columns), at: null, opened: data.opened })
    draw(host, data, state)
  } else if (data.links === null && data.opened !== state.opened) {
    state.opened = data.opened
    mark(state)
  }
  const root = host.querySelector(".listing")
  root.onkeydown = (event) => onKey(event, state, data)
  root.onclick = (event) => onClick(event, state, data, component)
}
