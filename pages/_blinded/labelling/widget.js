// The labelling widget. Every key acts on the item on the screen and is sent with the id of its assignment.
// Tasks that the server has already sent are drawn at once; events stay in an outbox until the server confirms them.

const RESEND_MS = 4000, DRAFT_MS = 700

const randomName = () => Array.from(crypto.getRandomValues(new Uint32Array(3)), (n) => n.toString(36)).join("")

class LabellingWidget {
  constructor(root) {
    this.root = root.querySelector(".labelling-widget")
    this.disagreeing = new Set(this.root.dataset.disagreeing.split(" "))
    this.decides = "decides" in this.root.dataset // an adjudicator: every label needs a reason, so no key saves at once
    this.tasks = new Map()
    this.outbox = []
    this.sender = randomName()
    this.eventCount = 0
    this.current = null
    this.waiting = false
    this.draftTimer = this.resendTimer = null
    this.showRubric(remembered("rubric"))
    this.isMarking = remembered("marking")
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
      const begun = this.tasks.get(task.assignment)?.begun
      if (!unconfirmed.has(task.assignment) && !typing && !begun) this.tasks.set(task.assignment, task)
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
    const { assignment, label, significance, difference, flagged, comment, marks, revision } = task
    const key = `${this.sender}/${++this.eventCount}`
    this.outbox.push({ key, kind, assignment, label, significance, difference, flagged, comment, marks, revises: revision })
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
    const difference = this.disagreeing.has(label) ? this.task.difference : null
    Object.assign(this.task, { label, significance, difference })
    if (this.decides) return this.giveReason()
    if (!this.disagreeing.has(label)) return this.submit()
    this.post("draft", this.task)
    this.draw()
  }

  significance(word) {
    if (!this.task || !this.disagreeing.has(this.task.label)) return
    this.task.significance = word
    if (this.decides) this.giveReason()
    else this.submit()
  }

  // Optional: one key goes through the reasons, and then back to none. The key of the significance saves.
  difference() {
    if (!this.task || !this.disagreeing.has(this.task.label)) return
    const reasons = this.one('[data-tool="difference"]').dataset.reasons.split("|")
    this.task.difference = reasons[reasons.indexOf(this.task.difference) + 1] ?? null
    this.draft()
    this.draw()
  }

  isComplete(task) { return Boolean(task?.label) && (!this.disagreeing.has(task.label) || Boolean(task.significance)) }

  // The choice of an adjudicator is saved with its reason; until then it is kept here.
  giveReason() {
    this.task.begun = true
    this.draw()
    if (this.isComplete(this.task)) this.one("textarea").focus()
  }

  lacksReason() {
    if (!this.decides || this.one("textarea").value.trim()) return false
    this.showProblem("This decision needs a reason. It is not saved yet. Explain in one sentence why the label is right.")
    this.one("textarea").focus()
    return true
  }

  submit() {
    const task = this.task
    if (!this.isComplete(task) || this.lacksReason()) return
    clearTimeout(this.draftTimer)
    this.showProblem("")
    task.comment = this.one("textarea").value
    this.post("submit", task)
    task.begun = false
    task.revision += 1
    this.current = this.unrated()
    this.draw()
  }

  draft() {
    if (!this.task) return
    this.task.comment = this.one("textarea").value
    if (this.decides) this.task.begun = true
    else this.post("draft", this.task)
  }

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
    this.showRubric(remember("rubric", this.one(".rubric").hidden))
    this.one(".rubric").scrollIntoView({ block: "nearest" })
  }

  showRubric(shown) {
    const aside = this.one(".rubric")
    aside.hidden = !shown
    this.one(".stage").classList.toggle("with-rubric", shown)
    this.one('[data-tool="rubric"]').setAttribute("aria-expanded", String(shown))
  }

  // The last five labelled items, the newest first, also those that the server has not confirmed yet.
  recent() {
    const sent = this.outbox.filter((event) => event.kind === "submit").map((event) => event.assignment).reverse()
    const ids = new Set([...sent, ...this.data.recent])
    return [...ids].map((id) => this.tasks.get(id)).filter((task) => task?.label).slice(0, RECENT_KEYS.length)
  }

  openRecent(index) { const task = this.recent()[index]; if (task) this.open(task) }

  // -- keys and clicks ------------------------------------------------------------------------------------------------

  listen() {
    const keys = {
      l: () => this.significance("low"), m: () => this.significance("medium"), h: () => this.significance("high"),
      u: () => this.back(), n: () => this.forward(), c: () => this.one("textarea").focus(),
      "?": () => this.rubric(), r: () => this.reference(), enter: () => this.submit(),
    }
    if (!this.decides) Object.assign(keys, { f: () => this.flag(), g: () => this.items(), s: () => this.mark(), d: () => this.difference() })
    RECENT_KEYS.forEach((key, index) => { keys[key] = () => this.openRecent(index) })
    for (const { dataset } of this.all("button.label")) keys[dataset.key] = () => this.label(dataset.label)
    this.onKey = (event) => {
      if (!this.root.isConnected || event.ctrlKey || event.metaKey || event.altKey) return
      const target = event.composedPath()[0], key = event.key.toLowerCase()
      // The field in which a study was chosen keeps the focus; while its list is closed, keys are for the item
      const isClosedList = target.matches?.("[role=combobox][aria-expanded=false]")
      if (!isClosedList && target.closest?.("input, textarea, select, [contenteditable]")) {
        if (!this.root.contains(target)) return
        if (key === "escape") { target.blur(); event.stopPropagation() }
        else if (this.decides && key === "enter" && !event.shiftKey) { event.preventDefault(); target.blur(); this.submit() }
        return
      }
      if (key === "enter" && target.closest?.("button, a, summary")) return
      if (target.matches?.(".sentence") && this.sentenceKey(event, target)) return
      if (!keys[key]) return
      event.preventDefault()
      event.stopImmediatePropagation() // Streamlit uses C and R as shortcuts
      if (!event.repeat) keys[key]()
    }
    window.addEventListener("keydown", this.onKey, true)
    this.onLeave = (event) => { if (this.outbox.some((e) => e.kind === "submit")) event.preventDefault() }
    window.addEventListener("beforeunload", this.onLeave)
    this.root.addEventListener("click", (event) => this.click(event.target.closest("button, .sentence")))
    this.onKeyboard = () => this.makeRoom()
    window.visualViewport?.addEventListener("resize", this.onKeyboard)
    window.visualViewport?.addEventListener("scroll", this.onKeyboard)
    const text = this.one("textarea")
    text.addEventListener("input", () => { clearTimeout(this.draftTimer); this.draftTimer = setTimeout(() => this.draft(), DRAFT_MS) })
    text.addEventListener("blur", () => { if (this.task && text.value !== this.task.comment) { clearTimeout(this.draftTimer); this.draft() } })
  }

  click(button) {
    if (!button) return
    const { label, significance, tool, recent } = button.dataset
    if (button.matches(".sentence")) this.toggleSentence(button)
    else if (recent) this.openRecent(Number(recent))
    else if (label) this.label(label)
    else if (significance) this.significance(significance)
    else if (tool) this[tool]()
  }

  stop() {
    window.removeEventListener("keydown", this.onKey, true)
    window.removeEventListener("beforeunload", this.onLeave)
    window.visualViewport?.removeEventListener("resize", this.onKeyboard)
    window.visualViewport?.removeEventListener("scroll", this.onKeyboard)
    clearTimeout(this.draftTimer); clearTimeout(this.resendTimer)
  }
}

Object.assign(LabellingWidget.prototype, drawing, marking)

export default function (component) {
  const root = component.parentElement
  root.labellingWidget = root.labellingWidget ?? new LabellingWidget(root)
  root.labellingWidget.receive(component.data, component.setStateValue, component.setTriggerValue)
  return () => { root.labellingWidget.stop() }
}
