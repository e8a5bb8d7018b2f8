// Drawing the labelling widget. Texts of handbooks and people are set as text and never as HTML.

const RECENT_KEYS = ["6", "7", "8", "9", "0"]

// What somebody opened stays open after a reload; a browser that stores nothing only forgets it.
function remembered(name) {
  try { return localStorage.getItem(`labelling ${name}`) === "yes" } catch { return false }
}

function remember(name, value) {
  try { localStorage.setItem(`labelling ${name}`, value ? "yes" : "no") } catch { /* as above */ }
  return value
}

const drawing = {
  showProblem(message) { const p = this.one(".problem"); p.textContent = message; p.hidden = !message },

  draw() {
    const task = this.task, { total, title, done, pause, pace } = this.data
    const unsaved = new Set(this.outbox.filter((e) => e.kind === "submit" && e.revises === 0).map((e) => e.assignment)).size
    const rated = this.data.rated + unsaved
    this.one(".title").textContent = title
    this.one("progress").max = total || Math.max(rated, 1)
    this.one("progress").value = rated
    const word = this.decides ? "decided" : "labelled"
    this.one(".count").textContent = total ? `${rated} of ${total} ${word}` : `${rated} ${word}`
    this.one(".stage").hidden = this.one("footer").hidden = !task
    this.one(".done").hidden = Boolean(task)
    this.one(".done").textContent = this.outbox.length || (total && rated < total) ? "Saving ..." : done
    this.one(".pause").hidden = !pause
    this.one(".pause").textContent = pause
    this.one(".pace").textContent = pace
    this.drawSaved()
    this.drawRecent()
    if (task) this.drawTask(task)
  },

  drawTask(task) {
    const kind = task.calibration ? "Calibration item" : "Item"
    this.root.dataset.assignment = task.assignment
    this.one("h2").textContent = task.question
    this.one("h2").setAttribute("aria-label", `${kind} ${task.position}: ${task.question}`)
    this.one(".count").textContent += ` · ${kind.toLowerCase()} ${task.position}${task.revision ? " (revising)" : ""}`
    this.all("article").forEach((article, i) => {
      const name = i ? task.second_name : task.first_name
      article.querySelector("h3").textContent = name ? `${article.dataset.side}: ${name}` : article.dataset.side
    })
    this.drawAnswers(task)
    this.all("button.label").forEach((b) => b.setAttribute("aria-pressed", String(b.dataset.label === task.label)))
    this.drawReference(task)
    if (this.decides) this.drawRatings(task)
    const disagrees = this.disagreeing.has(task.label)
    this.one(".significances").classList.toggle("required", disagrees)
    this.all("button.significance").forEach((b) => {
      b.disabled = !disagrees
      b.setAttribute("aria-pressed", String(disagrees && b.dataset.significance === task.significance))
    })
    const reason = this.one('[data-tool="difference"]')
    if (reason) reason.querySelector("b").textContent = (disagrees && task.difference) || "not stated"
    this.one('[data-tool="flag"]')?.setAttribute("aria-pressed", String(task.flagged))
    const text = this.one("textarea")
    if (this.drawn !== task.assignment) { text.value = task.comment; this.drawn = task.assignment }
  },

  drawReference(task) {
    const open = Boolean(task.reading), button = this.one('[data-tool="reference"]')
    button.hidden = !task.has_reference
    button.setAttribute("aria-expanded", String(open))
    this.one(".reference").hidden = !open
    this.one(".reference p").textContent = task.reference ?? "Loading ..."
  },

  // Both labels in a row of their own: each is about the two answers, and not about one of them.
  drawRatings(task) {
    this.one(".ratings").replaceChildren(...task.ratings.map((rating) => {
      const item = document.createElement("li"), label = document.createElement("b")
      label.textContent = rating.label
      const more = rating.more.flatMap((text) => [" · ", Object.assign(document.createElement("bdi"), { textContent: text })])
      item.append(`${rating.who}: `, label, ...more)
      return item
    }))
  },

  // What was saved for the items before this one, each one key away
  drawRecent() {
    const names = new Map(this.all("button.label").map((b) => [b.dataset.label, b.querySelector("b").textContent]))
    const buttons = this.recent().map((task, index) => {
      const button = document.createElement("button"), key = document.createElement("kbd")
      const chosen = [names.get(task.label), task.significance].filter(Boolean).join(", ")
      key.textContent = RECENT_KEYS[index]
      button.type = "button"
      button.dataset.recent = String(index)
      button.append(key, ` ${task.position} `, Object.assign(document.createElement("b"), { textContent: chosen }))
      if (task.assignment === this.current) button.setAttribute("aria-current", "true")
      return button
    })
    this.one(".recent").hidden = !buttons.length
    this.one(".recent").replaceChildren(...buttons)
  },

  drawSaved() {
    const open = this.outbox.filter((event) => event.kind === "submit").length
    this.late = this.late && open > 0
    this.one(".saved").textContent = !open ? (this.task?.begun && this.decides ? "not saved yet" : "all saved")
      : this.late ? `no reply from the server; keep this page open (${open} labels not saved yet)` : `saving ${open} ...`
  },

  // An on-screen keyboard covers the lower part of the page without making the page smaller: lift the buttons above it.
  makeRoom() {
    const { height, offsetTop } = window.visualViewport, covered = window.innerHeight - height - offsetTop
    this.one("footer").style.bottom = covered > 80 ? `${Math.round(covered)}px` : ""
  },
}
