// Searches the list that came with the page: each word typed has to occur in the name. Names are texts of others, so they are
// written as text, never as HTML.
const LISTED = [4, 4, 5, 8, 1]  // of each kind, at most

const folded = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase()
const wordsOf = (text) => folded(text).split(/\s+/).filter(Boolean)

// Names in which a word begins where a typed word does come before names in which it is in the middle.
const rank = (name, words) => words.filter((word) => name.startsWith(word) || name.includes(` ${word}`)).length

function matches(entries, words, most) {
  const hits = entries.filter((entry) => words.every((word) => entry.folded.includes(word)))
  hits.sort((one, other) => rank(other.folded, words) - rank(one.folded, words))  // stable: else in the order of the run
  return hits.slice(0, most)
}

// The parts of `text` in which a word occurs, as <mark>. Folding may change a text's length; then nothing is marked.
function marked(text, words) {
  const parts = document.createDocumentFragment(), plain = folded(text)
  if (plain.length !== text.length) { parts.append(text); return parts }
  const hit = new Array(text.length).fill(false)
  for (const word of words)
    for (let at = plain.indexOf(word); at >= 0; at = plain.indexOf(word, at + 1)) hit.fill(true, at, at + word.length)
  for (let start = 0, end; start < text.length; start = end) {
    end = start
    while (end < text.length && hit[end] === hit[start]) end += 1
    const part = text.slice(start, end)
    parts.append(hit[start] ? Object.assign(document.createElement("mark"), { textContent: part }) : part)
  }
  return parts
}

function textBoxHasFocus(event) {
  const target = event.composedPath()[0]
  return target instanceof Element && (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName))
}

export default function (component) {
  const { kinds, entries, placeholder, in_answers, run, large } = component.data
  const root = component.parentElement.querySelector(".search")
  const input = root.querySelector("input"), list = root.querySelector("[role=listbox]")
  root.classList.toggle("large", large)
  input.placeholder = placeholder
  input.setAttribute("aria-label", placeholder)
  const searched = entries.map((ofKind) => ofKind.map(([value, name]) => ({ value, name, folded: folded(name) })))
  let active = -1

  const options = () => [...list.querySelectorAll("a")]
  const close = () => { list.hidden = true; active = -1; input.setAttribute("aria-expanded", "false") }
  const open = (kind, value) => {
    close()
    input.value = ""
    input.blur()
    component.setTriggerValue("open", { kind, value })
  }
  const result = (kind, { value, name }, words) => {
    const query = new URLSearchParams({ run, [kinds[kind].param]: value })
    const link = Object.assign(document.createElement("a"), { href: `${kinds[kind].page}?${query}`, tabIndex: -1, dir: "auto" })
    link.setAttribute("role", "option")
    link.append(marked(name, words))
    link.onclick = (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return  // a new tab or window
      event.preventDefault()
      open(kind, value)
    }
    return link
  }
  const activate = (number) => {
    const all = options()
    active = all.length ? (number + all.length) % all.length : -1
    all.forEach((link, index) => {
      link.id = `result-${index}`
      link.setAttribute("aria-selected", String(index === active))
    })
    if (active < 0) return
    input.setAttribute("aria-activedescendant", `result-${active}`)
    all[active].scrollIntoView({ block: "nearest" })
  }
  const show = () => {
    const words = wordsOf(input.value)
    list.replaceChildren()
    input.removeAttribute("aria-activedescendant")
    if (!words.length) { close(); return }
    kinds.forEach(({ heading, param }, kind) => {
      const typed = { value: input.value.trim(), name: `${in_answers}: ${input.value.trim()}` }
      const hits = param === "words" ? [typed] : matches(searched[kind], words, LISTED[kind] ?? 8)
      if (!hits.length) return
      const group = document.createElement("div"), title = document.createElement("div")
      Object.assign(title, { className: "heading", textContent: heading })
      group.setAttribute("role", "group")
      group.setAttribute("aria-label", heading)
      title.setAttribute("aria-hidden", "true")
      group.append(title, ...hits.map((hit) => result(kind, hit, param === "words" ? [] : words)))
      list.append(group)
    })
    if (!list.childElementCount)
      list.append(Object.assign(document.createElement("div"), { className: "nothing", textContent: "Nothing has these words." }))
    list.hidden = false
    input.setAttribute("aria-expanded", "true")
    activate(0)
  }
  input.oninput = show
  input.onfocus = () => { if (input.value) show() }
  input.onkeydown = (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") activate(active + (event.key === "ArrowDown" ? 1 : -1))
    else if (event.key === "Enter") options()[active]?.click()
    else if (event.key === "Escape") { input.value = ""; close(); input.blur() }
    else { event.stopPropagation(); return }  // a letter typed here is no shortcut of the page
    event.preventDefault()
    event.stopPropagation()
  }
  const leave = (event) => { if (!root.contains(event.relatedTarget)) close() }
  root.addEventListener("focusout", leave)
  list.onmousedown = (event) => event.preventDefault()  // the box keeps the focus, or the click would close the list first
  const shortcut = (event) => {
    const wanted = event.key === "k" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey
    if (!wanted && (event.key !== "/" || textBoxHasFocus(event))) return
    event.preventDefault()
    input.focus()
    input.select()
  }
  document.addEventListener("keydown", shortcut)
  return () => { document.removeEventListener("keydown", shortcut); root.removeEventListener("focusout", leave) }
}
