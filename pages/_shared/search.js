// Ranks the list that came with the page by the words typed, as audit/text/word_match.py does (its numbers are explained there).
// Names are texts of others, so they are written as text, never as HTML.
const STOP_WEIGHT = 0.2, NAME_SHARE = 0.15
const UNFINISHED = 0.85, SAME_BEGINNING = 0.6, SLIP = 0.75, PART = 0.5
const MIN_BEGINNING = 4, MIN_PART = 3, MIN_REST = 3, LONG_WORD = 8
const NEAR_THE_BEST = 0.4  // a result with less of the best one's score is left out
const QUESTIONS_FIRST = 0.25  // by how much a topic or a handbook has to be nearer than the nearest question to stand above it
const LONG_TEXT = 120  // characters of what was typed that a result repeats
const PAUSE_MS = 80  // without a letter, until the server is asked for what has the same meaning
const NOTHING = "Nothing in this run is near these words."
const WORD = /[\p{L}\p{N}]+(?:['’][\p{L}\p{N}]+)?/gu
const SPACELESS = String.raw`\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\u{20000}-\u{3ffff}`
const ALONE = new RegExp(`[${SPACELESS}]`, "u"), RUN = new RegExp(`[${SPACELESS}]+|[^${SPACELESS}]+`, "gu")
const ENDINGS = [["ies", "y"], ["ing", ""], ["ed", ""], ["es", ""], ["s", ""]]

const folded = (text) => text.normalize("NFD").replace(/\p{Mn}/gu, "").replaceAll("’", "'").toLowerCase()
// Letters of a script without spaces are searched in pairs (audit/text/words.py)
const inPairs = (letters) => (letters.length < 2 ? letters : letters.slice(1).map((letter, at) => letters[at] + letter))
const parts = (word) => word.match(RUN).flatMap((run) => (ALONE.test(run) ? inPairs([...run]) : [run]))
const wordsOf = (text) => (folded(text).match(WORD) ?? []).flatMap((word) => (ALONE.test(word) ? parts(word) : [word]))

function stem(word) {
  let base = word.replace(/'s$/, "")
  for (const [ending, replacement] of ENDINGS)
    if (base.endsWith(ending) && base.length - ending.length >= 3 && !base.endsWith("ss")) {
      base = base.slice(0, -ending.length) + replacement
      break
    }
  return base.endsWith("e") && base.length > 4 ? base.slice(0, -1) : base
}

function slips(one, other, most) {
  if (Math.abs(one.length - other.length) > most) return false
  let earlier = [], before = [], row = [...Array(other.length + 1).keys()]
  for (let at = 1; at <= one.length; at += 1) {
    [earlier, before, row] = [before, row, [at]]
    for (let to = 1; to <= other.length; to += 1) {
      let steps = Math.min(before[to] + 1, row[to - 1] + 1, before[to - 1] + (one[at - 1] !== other[to - 1]))
      if (at > 1 && to > 1 && one[at - 1] === other[to - 2] && one[at - 2] === other[to - 1]) steps = Math.min(steps, earlier[to - 2] + 1)
      row.push(steps)
    }
  }
  return row[other.length] <= most
}

function likeness(word, typed, term, known, unfinished) {
  if (unfinished && word.length > 1 && term.startsWith(word)) return UNFINISHED
  const shorter = Math.min(typed.length, term.length)
  let shared = 0
  while (shared < shorter && typed[shared] === term[shared]) shared += 1
  if (shared >= MIN_BEGINNING && shared >= 0.75 * shorter) return SAME_BEGINNING
  if (known) return 0
  if (typed.length >= MIN_BEGINNING && slips(typed, term, typed.length < LONG_WORD ? 1 : 2)) return SLIP
  const isPart = (term.length >= MIN_PART && word.startsWith(term)) || (term.length > MIN_PART && word.endsWith(term))
  return isPart && word.length - term.length >= MIN_REST ? PART : 0
}

// Entries as [value, name, note, more], where `more` has further stems, each behind a digit for its weight in tenths.
export class WordIndex {
  constructor(entries, stopStems) {
    this.stop = stopStems
    this.size = entries.length
    this.entries = new Map()  // stem -> entry -> weight
    this.like = new Map()  // the words that were looked up: every letter typed asks for the same ones again
    const terms = entries.map(([, name, , more]) => new Map([
      ...(more ? more.split(" ").map((word) => [word.slice(1), word[0] / 10]) : []), ...wordsOf(name).map((word) => [stem(word), 1]),
    ]))
    terms.forEach((ofEntry, number) => ofEntry.forEach((weight, term) => {
      if (!this.entries.has(term)) this.entries.set(term, new Map())
      this.entries.get(term).set(number, weight)
    }))
    this.nameWeights = terms.map((ofEntry) =>
      [...ofEntry].reduce((sum, [term, weight]) => sum + (weight === 1 ? this.rarity(term) : 0), 0))
  }
  rarity(term) {
    return Math.log(1 + this.size / Math.max(this.entries.get(term)?.size ?? 0, 1)) * (this.stop.has(term) ? STOP_WEIGHT : 1)
  }
  joined(words) {
    const left = [...words], joined = []
    while (left.length) {
      let word = left.shift()
      const known = left.length && this.entries.has(stem(word)) && this.entries.has(stem(left[0]))
      if (left.length && !known && this.entries.has(stem(word + left[0]))) word += left.shift()
      joined.push(word)
    }
    return [...new Set(joined)]
  }
  termsLike(word, unfinished) {
    const key = `${word} ${unfinished}`
    if (!this.like.has(key)) {
      const typed = stem(word), known = this.entries.has(typed), found = known ? [[typed, 1]] : []
      if (!this.stop.has(typed) || unfinished)
        for (const term of this.entries.keys()) {
          const alike = term === typed || this.stop.has(term) ? 0 : likeness(word, typed, term, known, unfinished)
          if (alike) found.push([term, alike])
        }
      this.like.set(key, found)
    }
    return this.like.get(key)
  }
  // Entry -> score; and the stems that were found, to mark them.
  search(text, unfinished = false) {
    const words = this.joined(wordsOf(text)), scores = new Map(), named = new Map(), meant = new Set(), found = new Set()
    const total = words.reduce((sum, word) => sum + this.rarity(stem(word)), 0) || 1
    words.forEach((word, position) => {
      const best = new Map(), stopWord = this.stop.has(stem(word))
      for (const [term, alike] of this.termsLike(word, unfinished && position === words.length - 1)) {
        if (!stopWord) found.add(term)
        for (const [number, weight] of this.entries.get(term)) {
          best.set(number, Math.max(best.get(number) ?? 0, alike * weight))
          if (weight < 1) continue
          if (!named.has(number)) named.set(number, new Map())
          named.get(number).set(term, Math.max(named.get(number).get(term) ?? 0, alike))
        }
      }
      for (const [number, share] of best) {
        if (!stopWord) meant.add(number)
        scores.set(number, (scores.get(number) ?? 0) + (1 - NAME_SHARE) * this.rarity(stem(word)) * share / total)
      }
    })
    for (const [number, terms] of named) {
      const said = [...terms].reduce((sum, [term, alike]) => sum + alike * this.rarity(term), 0)
      scores.set(number, scores.get(number) + NAME_SHARE * said / this.nameWeights[number])
    }
    if (!words.every((word) => this.stop.has(stem(word))))
      for (const number of [...scores.keys()]) if (!meant.has(number)) scores.delete(number)
    return { scores, found }
  }
}

// The best entries of a kind, with the score of the first.
function matches({ index, entries, least, most }, text) {
  const { scores, found } = index.search(text, !/\s$/.test(text))
  const ranked = [...scores].sort(([one, high], [other, low]) => low - high || one - other)
  const best = ranked[0]?.[1] ?? 0
  const hits = ranked.filter(([, score]) => score >= Math.max(least, NEAR_THE_BEST * best)).slice(0, most)
  return { best, stems: found, hits: hits.map(([number]) => entries[number]) }
}

// The same with the questions that are near in meaning first, and after them those that only have the words.
function withMeaning(found, { entries }, near, most) {
  const meant = near.map((value) => entries.find((entry) => entry[0] === value)).filter(Boolean)
  const hits = [...new Set([...meant, ...found.hits])].slice(0, most)
  return { ...found, best: Math.max(found.best, meant.length ? 1 : 0), hits }
}

// Where a group of results stands: those with the best first.
const place = ({ kind, best }) => best + (kind.found === "Questions" ? QUESTIONS_FIRST : 0)

// The text with the words whose stems were found as <mark>.
function marked(text, stems) {
  const parts = document.createDocumentFragment()
  let done = 0
  for (const { 0: word, index } of text.matchAll(WORD)) {
    if (!stems.has(stem(folded(word)))) continue
    parts.append(text.slice(done, index), Object.assign(document.createElement("mark"), { textContent: word }))
    done = index + word.length
  }
  parts.append(text.slice(done))
  return parts
}

function textBoxHasFocus(event) {
  const target = event.composedPath()[0]
  return target instanceof Element && (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName))
}

// Kinds with an index each. The list is long, and most visitors of a page do not search: it is read when the box is first used.
function readIndex(text) {
  const { kinds, stop_stems } = JSON.parse(text), stop = new Set(stop_stems)
  return kinds.map((kind) => ({ ...kind, index: new WordIndex(kind.entries, stop) }))
}

export default function (component) {
  const { index, label, asks, run, large } = component.data
  const root = component.parentElement.querySelector(".search")
  const input = root.querySelector("input"), list = root.querySelector("[role=listbox]")
  root.classList.toggle("large", large)
  // Where the field has no room for its words, one that has: a screen reader has them all
  const pen = document.createElement("canvas").getContext("2d")
  const fit = () => {
    const style = getComputedStyle(input)
    pen.font = `${style.fontSize} ${style.fontFamily}`
    const room = input.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)
    input.placeholder = pen.measureText(label).width <= room ? label : "Search"
  }
  const resized = new ResizeObserver(fit)
  resized.observe(input)
  input.setAttribute("aria-label", label)
  let kinds = null, active = -1, meaning = { typed: "", near: [] }, pause = 0

  const options = () => [...list.querySelectorAll("a")]
  const close = () => { list.hidden = true; active = -1; input.setAttribute("aria-expanded", "false") }
  const open = (kind, value) => {
    close()
    input.value = ""
    input.blur()
    component.setTriggerValue("open", { kind, value })
  }
  const result = (kind, [value, name, note], stems) => {
    const query = new URLSearchParams({ run, [kind.param]: value })
    const link = Object.assign(document.createElement("a"), { href: `${kind.page}?${query}`, tabIndex: -1, dir: "auto" })
    link.setAttribute("role", "option")
    link.append(marked(name, stems))
    if (note) link.append(" ", Object.assign(document.createElement("small"), { textContent: note, dir: "auto" }))
    link.onclick = (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return  // a new tab or window
      event.preventDefault()
      open(kinds.indexOf(kind), value)
    }
    return link
  }
  const group = (heading, links, title = heading) => {
    const box = document.createElement("div")
    box.setAttribute("role", "group")
    box.setAttribute("aria-label", heading)
    if (title) {
      box.append(Object.assign(document.createElement("div"), { className: "heading", textContent: title, ariaHidden: "true" }))
    } else box.className = "typed"
    box.append(...links)
    list.append(box)
  }
  const activate = (number) => {
    active = number
    options().forEach((link, place) => {
      link.id = `result-${place}`
      link.setAttribute("aria-selected", String(place === active))
    })
    list.classList.toggle("chosen", active >= 0)
    if (active < 0) { input.removeAttribute("aria-activedescendant"); return }
    input.setAttribute("aria-activedescendant", `result-${active}`)
    options()[active].scrollIntoView({ block: "nearest" })
  }
  const show = () => {
    const text = input.value, typed = text.trim()
    list.replaceChildren()
    input.removeAttribute("aria-activedescendant")
    if (!typed) { close(); return }
    kinds ??= readIndex(index)
    const typedKinds = kinds.filter((kind) => kind.typed)
    const near = meaning.typed === typed ? meaning.near : []
    const byWords = kinds.filter((kind) => !kind.typed).map((kind) => ({ kind, ...matches(kind, text) }))
    const found = byWords
      .map((one) => near.length && one.kind.found === "Questions" ? withMeaning(one, one.kind, near, one.kind.most) : one)
      .filter(({ hits }) => hits.length).sort((one, other) => place(other) - place(one))
    for (const { kind, hits, stems } of found) group(kind.heading, hits.map((hit) => result(kind, hit, stems)))
    if (!found.length) list.append(Object.assign(document.createElement("div"), { className: "nothing", textContent: NOTHING }))
    const shown = typed.length > LONG_TEXT ? `${typed.slice(0, LONG_TEXT)}…` : typed
    const rows = typedKinds.map((kind) => result(kind, [typed, `${kind.typed}: ${shown}`], new Set()))
    if (rows.length) group("With these words", rows, "")
    if (asks) rows.at(-1).append(Object.assign(document.createElement("kbd"), { textContent: "Enter", ariaHidden: "true" }))
    list.hidden = false
    input.setAttribute("aria-expanded", "true")
    // Where the handbooks can be asked, Enter asks unless an arrow key has chosen something else; what is only near in meaning may
    // have nothing to do with it, and nobody should get to a question of the run by typing letters at random
    activate(asks || !byWords.some(({ hits }) => hits.length) ? -1 : 0)
  }
  const move = (step) => {
    const all = options().length
    if (all) activate(active < 0 ? (step > 0 ? 0 : all - 1) : (active + step + all) % all)
  }
  const enter = () => (options()[active] ?? list.querySelector(".typed > a:last-child"))?.click()
  input.oninput = () => {
    show()
    clearTimeout(pause)
    pause = setTimeout(() => document.dispatchEvent(new CustomEvent("search-typed", { detail: input.value.trim() })), PAUSE_MS)
  }
  const meant = ({ detail }) => {
    meaning = detail
    // What somebody is choosing from stays as it is
    if (!list.hidden && active < 1 && detail.typed === input.value.trim()) show()
  }
  document.addEventListener("search-near", meant)
  input.onfocus = () => { if (input.value) show() }
  input.onkeydown = (event) => {
    if (event.isComposing) return
    if (event.key === "ArrowDown") move(1)
    else if (event.key === "ArrowUp") move(-1)
    else if (event.key === "Enter") enter()
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
  return () => { resized.disconnect(); document.removeEventListener("search-near", meant); document.removeEventListener("keydown", shortcut); root.removeEventListener("focusout", leave) }
}
