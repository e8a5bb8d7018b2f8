// The cells of the chart in the same container by keyboard. Only the cell that the keys are on exists as an element: a hundred
// handbooks have ten thousand cells.
const PATIENCE_MS = 100, ATTEMPTS = 50 // the chart may be drawn later than this
const WIDEST_PX = 384 // of the words on a cell

const element = (tag, attributes, ...children) => {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value)
  made.append(...children)
  return made
}

const draw = (host) => {
  const ring = element("div", { class: "ring", "aria-hidden": "true" })
  const grid = element("div", { class: "grid", role: "grid", tabindex: "0" }, ring)
  host.querySelector(".matrix-keys").replaceChildren(grid)
  return { grid, ring }
}

const frameOf = (host) => {
  const root = host.querySelector(".matrix-keys")
  return (root.getRootNode().host ?? root).closest(".st-key-matrix")
}

// Where the chart drew its cells, in pixels from the grid's parent; null as long as there is no chart
const cellsOf = (host) => {
  const root = host.querySelector(".matrix-keys"), chart = frameOf(host)?.querySelector(".js-plotly-plot")
  const { xaxis: x, yaxis: y } = chart?._fullLayout ?? {}
  if (!x?._length || !y?._length) return null
  const from = root.getBoundingClientRect(), to = chart.getBoundingClientRect()
  return { left: to.left - from.left + x._offset, top: to.top - from.top + y._offset, width: x._length, height: y._length }
}

// A new element for each cell, as screen readers do not read again the one they are on
const announce = ({ grid }, data, row, column) => {
  const cell = element("div", { class: "cell", role: "gridcell", id: `cell-${row}-${column}`, "aria-colindex": column + 1 })
  const isOpen = data.opened.includes(row) && data.opened.includes(column) && row !== column
  cell.setAttribute("aria-selected", String(isOpen))
  const word = element("strong", {})
  word.textContent = data.words[data.rows[row][column]]
  cell.append(row === column ? `${data.names[row]}: ` : `${data.names[row]} / ${data.names[column]}: `, word)
  grid.querySelector(".row")?.remove()
  grid.append(element("div", { class: "row", role: "row", "aria-rowindex": row + 1 }, cell))
  grid.setAttribute("aria-activedescendant", cell.id)
  return cell
}

// Beside the cell and never over it, inside what is in sight of a chart that a narrow window scrolls sideways
const lay = (cell, { grid, ring, row }, frame, count) => {
  const edge = grid.getBoundingClientRect().left, sight = frame.getBoundingClientRect()
  cell.style.maxWidth = `${Math.min(WIDEST_PX, sight.width)}px`
  const end = Math.min(grid.offsetWidth, sight.right - edge)
  cell.style.left = `${Math.max(sight.left - edge, Math.min(ring.offsetLeft, end - cell.offsetWidth))}px`
  cell.style.top = `${row < count / 2 ? ring.offsetTop + ring.offsetHeight + 8 : ring.offsetTop - cell.offsetHeight - 8}px`
}

const place = (state, host, data, scroll, attempt = 0) => {
  const box = cellsOf(host), { grid, ring, row, column } = state
  if (!box) {
    if (attempt < ATTEMPTS) state.timer = setTimeout(() => place(state, host, data, scroll, attempt + 1), PATIENCE_MS)
    return
  }
  for (const side of ["left", "top", "width", "height"]) grid.style[side] = `${box[side]}px`
  const width = box.width / data.names.length, height = box.height / data.names.length
  Object.assign(ring.style, { left: `${column * width}px`, top: `${row * height}px`, width: `${width}px`, height: `${height}px` })
  if (scroll) ring.scrollIntoView({ block: "nearest", inline: "nearest" })
  lay(announce(state, data, row, column), state, frameOf(host), data.names.length)
}

const moved = (event, { row, column }, last) => {
  const [end, start] = [event.ctrlKey ? last : row, event.ctrlKey ? 0 : row]
  return {
    ArrowDown: [row + 1, column], ArrowUp: [row - 1, column], ArrowRight: [row, column + 1], ArrowLeft: [row, column - 1],
    Home: [start, 0], End: [end, last],
  }[event.key]
}

export default function (component) {
  const host = component.parentElement, data = component.data, last = data.names.length - 1
  const state = host.matrixKeys ??= { ...draw(host), row: -1, column: -1, opened: "", timer: 0 }
  const opened = JSON.stringify([data.opened, data.names])
  // A pair that was opened elsewhere is where the keys begin; the one opened from here is where they are
  if (opened !== state.opened) [state.row, state.column] = data.opened.map((index) => Math.min(Math.max(index, 0), last))
  state.opened = opened
  const { grid } = state
  for (const [name, value] of Object.entries({ "aria-label": data.name, "aria-description": data.help, "aria-rowcount": last + 1,
    "aria-colcount": last + 1 })) grid.setAttribute(name, value)
  const show = ({ scroll }) => {
    clearTimeout(state.timer)
    place(state, host, data, scroll)
  }
  grid.onfocus = () => show({ scroll: true })
  grid.onkeydown = (event) => {
    if (event.altKey || event.metaKey) return
    if (["Enter", " "].includes(event.key)) {
      event.preventDefault()
      if (state.row !== state.column) component.setTriggerValue("picked", state.row * data.names.length + state.column)
      return
    }
    const to = moved(event, state, last)
    if (!to) return
    event.preventDefault()
    ;[state.row, state.column] = to.map((index) => Math.min(Math.max(index, 0), last))
    show({ scroll: true })
  }
  show({ scroll: false })
  const resized = new ResizeObserver(() => show({ scroll: false }))
  resized.observe(document.body)
  return () => {
    clearTimeout(state.timer)
    resized.disconnect()
  }
}
