// The labelling widget. Every key acts on the item on the screen and is sent with the id of its assignment.
// Tasks that the server has already sent are drawn at once; events stay in an outbox until the server confirms them.

const RESEND_MS = 4000, DRAFT_MS = 700

const randomName = () => Array.from(crypto.getRandomValues(new Uint32Array(3)), (n) => n.toString(36)).join("")

class LabellingWidget {
  constructor(root) {
    this.root = root.querySelector(".labelling-widget")
    this.disagreeing = new Set(this.root.dataset.disagreeing.split(" "))
    this.tasks = new Map()
    this.outbox = []
    this.sender = randomName()
    this.eventCount = 0
    this.current = null
    this.waiting = false
    this.draftTimer = this.resendTimer = null
    this.listen()
  }

  one(selector) { return this.root.querySelector(selector) }
  all(selector) { return [...this.root.querySelectorAll(selector)] }
  get task() { return this.tasks.get(this.current) }

  // -- from the server ------------------------------------------------------------------------------------------------

  receive(data, send, leave) {
    this.send = send
    this.leave = leave
    if (this.study !== data.study) { this.tasks.clear(); this.outbox = []; this.current = null; this.study = data.study }
    this.data = data
    const handled = new Set(data.handled)
    this.outbox = this.outbox.filter((event) => !handled.has(event.key))
    const failed = Object.entries(data.failed)
    if (failed.length) { this.tasks.clear(); this.drawn = null }
    const unconfirmed = new Set(this.outbox.map((event) => event.assignment))
    for (const task of data.tasks) {
      // What the annotator is typing is newer than what the server knows.
      const typing = task.assignment === this.current && this.tasks.has(task.assignment)
      if (!unconfirmed.has(task.assignment) && !typing) this.tasks.set(task.assignment, task)
      else if (task.reference && this.tasks.has(task.assignment)) this.tasks.get(task.assignment).reference = task.reference
    }
    if (failed.length) { this.showProblem(failed[0][1]); this.current = null }
    // The server knows which item was opened from the list; while labels are on their way, it is behind.
    if (!this.tasks.has(this.current)) this.current = this.outbox.length ? this.unrated() : data.current
    if (!this.tasks.has(this.current)) this.current = null
    this.waiting = false
    this.draw()
    if (this.outbox.length) this.flush()
    else if (this.leaving) this.leave("leave", true)
  }

  // -- to the server --------------------------------------------------------------------------------------------------

  post(kind, task) {
    const { assignment, label, significance, flagged, comment, revision } = task
    this.outbox.push({ key: `${this.sender}/${++this.eventCount}`, kind, assignment, label, significance, flagged, comment, revises: revision })
    this.flush()
  }

  flush() {
    clearTimeout(this.resendTimer)
    this.resendTimer = setTimeout(() => { this.waiting = false; if (this.outbox.length) { this.late = true; this.flush() } }, RESEND_MS)
    if (!this.waiting) { this.waiting = true; this.send("outbox", [...this.outbox]) }
    this.drawSaved()
  }

  // -- actions of the annotator ----------------------------------------------------------------------------------------

  sorted() { return [...this.tasks.values()].sort((a, b) => a.position - b.position) }
  unrated() { return this.sorted().find((task) => !task.revision)?.assignment ?? null }

  label(label) {
    if (!this.task) return
    const significance = this.task.label === label && this.disagreeing.has(label) ? this.task.significance : null
    Object.assign(this.task, { label, significance })
    if (!this.disagreeing.has(label)) return this.submit()
    this.post("draft", this.task)
    this.draw()
  }

  significance(word) {
    if (!this.task || !this.disagreeing.has(this.task.label)) return
    this.task.significance = word
    this.submit()
  }

  submit() {
    const task = this.task
    if (!task || !task.label || (this.disagreeing.has(task.label) && !task.significance)) return
    clearTimeout(this.draftTimer)
    this.showProblem("")
    task.comment = this.one("textarea").value
    this.post("submit", task)
    task.revision += 1
    this.current = this.unrated()
    this.draw()
  }

  draft() { if (this.task) { this.task.comment = this.one("textarea").value; this.post("draft", this.task) } }

  flag() { if (this.task) { this.task.flagged = !this.task.flagged; this.draft(); this.draw() } }

  // The server sends a reference answer when it is asked for, and notes that it was.
  reference() {
    if (!this.task?.has_reference) return
    this.task.reading = !this.task.reading
    if (this.task.reading && !this.task.reference) this.post("reference", this.task)
    this.draw()
  }

  back() {
    const tasks = this.sorted(), at = this.task ? this.task.position : Infinity
    const before = tasks.filter((task) => task.position < at).at(-1)
    if (before) this.open(before)
  }

  forward() {
    const assignment = this.unrated()
    if (assignment && assignment !== this.current) this.open(this.tasks.get(assignment))
  }

  open(task) {
    this.current = task.assignment
    this.post("open", task)
    this.draw()
  }

  // To the list of items, as soon as everything is saved
  items() {
    clearTimeout(this.draftTimer)
    this.leaving = true
    if (this.task && this.one("textarea").value !== this.task.comment) this.draft()
    else if (!this.outbox.length) this.leave("leave", true)
  }

  rubric() {
    const aside = this.one(".rubric")
    aside.hidden = !aside.hidden
    this.one('[data-tool="rubric"]').setAttribute("aria-expanded", String(!aside.hidden))
    if (!aside.hidden) aside.scrollIntoView({ block: "nearest" })
  }

  // -- keys and clicks ------------------------------------------------------------------------------------------------

  listen() {
    const keys = {
      l: () => this.significance("low"), m: () => this.significance("medium"), h: () => this.significance("high"),
      u: () => this.back(), n: () => this.forward(), f: () => this.flag(), c: () => this.one("textarea").focus(),
      "?": () => this.rubric(), r: () => this.reference(), g: () => this.items(), enter: () => this.submit(),
    }
    for (const { dataset } of this.all("button.label")) keys[dataset.key] = () => this.label(dataset.label)
    this.onKey = (event) => {
      if (!this.root.isConnected || event.ctrlKey || event.metaKey || event.altKey) return
      const target = event.composedPath()[0], key = event.key.toLowerCase()
      if (target.closest?.("input, textarea, select, [contenteditable]")) {
        if (key === "escape" && this.root.contains(target)) { target.blur(); event.stopPropagation() }
        return
      }
      if (key === "enter" && target.closest?.("button, a, summary")) return
      if (!keys[key]) return
      event.preventDefault()
      event.stopImmediatePropagation() // Streamlit uses C and R as shortcuts
      if (!event.repeat) keys[key]()
    }
    window.addEventListener("keydown", this.onKey, true)
    this.onLeave = (event) => { if (this.outbox.some((e) => e.kind === "submit")) event.preventDefault() }
    window.addEventListener("beforeunload", this.onLeave)
    this.root.addEventListener("click", (event) => this.click(event.target.closest("button")))
    const text = this.one("textarea")
    text.addEventListener("input", () => { clearTimeout(this.draftTimer); this.draftTimer = setTimeout(() => this.draft(), DRAFT_MS) })
    text.addEventListener("blur", () => { if (this.task && text.value !== this.task.comment) { clearTimeout(this.draftTimer); this.draft() } })
  }

  click(button) {
    if (!button) return
    const { label, significance, tool } = button.dataset
    if (label) this.label(label)
    else if (significance) this.significance(significance)
    else if (tool) this[tool]()
  }

  stop() {
    window.removeEventListener("keydown", this.onKey, true)
    window.removeEventListener("beforeunload", this.onLeave)
    clearTimeout(this.draftTimer); clearTimeout(this.resendTimer)
  }

  // -- drawing --------------------------------------------------------------------------------------------------------

  showProblem(message) { const p = this.one(".problem"); p.textContent = message; p.hidden = !message }

  draw() {
    const task = this.task, { total, title, done } = this.data
    const unsaved = new Set(this.outbox.filter((e) => e.kind === "submit" && e.revises === 0).map((e) => e.assignment)).size
    const rated = this.data.rated + unsaved
    this.one("h1").textContent = title
    this.one("progress").max = total || Math.max(rated, 1)
    this.one("progress").value = rated
    this.one(".count").textContent = total ? `${rated} of ${total} labelled` : `${rated} labelled`
    this.one(".item").hidden = this.one("footer").hidden = !task
    this.one(".done").hidden = Boolean(task)
    this.one(".done").textContent = this.outbox.length || (total && rated < total) ? "Saving ..." : done
    this.drawSaved()
    if (task) this.drawTask(task)
  }

  drawTask(task) {
    const kind = task.calibration ? "Calibration item" : "Item"
    this.root.dataset.assignment = task.assignment
    this.one("h2").textContent = task.question
    this.one("h2").setAttribute("aria-label", `${kind} ${task.position}: ${task.question}`)
    this.one(".count").textContent += ` · ${kind.toLowerCase()} ${task.position}${task.revision ? " (revising)" : ""}`
    this.all("article").forEach((article, i) => {
      const name = i ? task.second_name : task.first_name
      article.querySelector("h3").textContent = name ? `${article.dataset.side}: ${name}` : article.dataset.side
      article.querySelector("p").textContent = i ? task.second : task.first
    })
    this.all("button.label").forEach((b) => b.setAttribute("aria-pressed", String(b.dataset.label === task.label)))
    this.drawReference(task)
    const disagrees = this.disagreeing.has(task.label)
    this.one(".significances").classList.toggle("required", disagrees)
    this.all("button.significance").forEach((b) => {
      b.disabled = !disagrees
      b.setAttribute("aria-pressed", String(disagrees && b.dataset.significance === task.significance))
    })
    this.one('[data-tool="flag"]').setAttribute("aria-pressed", String(task.flagged))
    const text = this.one("textarea")
    if (this.drawn !== task.assignment) { text.value = task.comment; this.drawn = task.assignment }
  }

  drawReference(task) {
    const open = Boolean(task.reading), button = this.one('[data-tool="reference"]')
    button.hidden = !task.has_reference
    button.setAttribute("aria-expanded", String(open))
    this.one(".reference").hidden = !open
    this.one(".reference p").textContent = task.reference ?? "Loading ..."
  }

  drawSaved() {
    const open = this.outbox.filter((event) => event.kind === "submit").length
    this.late = this.late && open > 0
    this.one(".saved").textContent = !open ? "all saved"
      : this.late ? `no reply from the server; keep this page open (${open} labels not saved yet)` : `saving ${open} ...`
  }
}

export default function (component) {
  const root = component.parentElement
  root.labellingWidget = root.labellingWidget ?? new LabellingWidget(root)
  root.labellingWidget.receive(component.data, component.setStateValue, component.setTriggerValue)
  return () => { root.labellingWidget.stop() }
}
