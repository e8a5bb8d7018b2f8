// Marking the sentences that a label rests on: by click, by touch, or with S, the arrow keys and Space.

const marking = {
  // Switched on, sentences can be clicked; off, the texts are plain, so that a tap while scrolling marks nothing.
  mark() {
    this.isMarking = remember("marking", !this.isMarking)
    this.draw()
    if (this.isMarking) this.one(".sentence")?.focus()
  },

  drawAnswers(task) {
    const focused = this.all(".sentence").indexOf(this.root.getRootNode().activeElement)
    const sameItem = this.answersOf === task.assignment
    this.all("article p").forEach((p, side) => {
      const text = side ? task.second : task.first
      let end = 0
      const parts = task.sentences[side].flatMap(([start, stop], index) => {
        const before = text.slice(end, start)
        end = stop
        return [before, this.sentence(text.slice(start, stop), side, index, task.marks[side].includes(index))]
      })
      p.replaceChildren(...parts, text.slice(end))
    })
    this.answersOf = task.assignment
    this.one('[data-tool="mark"]')?.setAttribute("aria-pressed", String(this.isMarking))
    if (focused >= 0) this.focusSentence(sameItem ? focused : 0)
  },

  sentence(text, side, index, marked) {
    const clickable = this.isMarking && !this.decides
    if (!clickable && !marked) return text
    const element = document.createElement(clickable ? "span" : "mark")
    element.textContent = text
    if (!clickable) return element
    element.className = "sentence"
    element.setAttribute("role", "button")
    element.setAttribute("aria-pressed", String(marked))
    element.tabIndex = side || index ? -1 : 0
    Object.assign(element.dataset, { side, index })
    return element
  },

  toggleSentence(element) {
    const task = this.task, side = Number(element.dataset.side), index = Number(element.dataset.index)
    if (!task || !getSelection().isCollapsed) return // text was selected, to be copied
    const others = task.marks[side].filter((marked) => marked !== index)
    const marks = others.length < task.marks[side].length ? others : [...others, index].sort((a, b) => a - b)
    task.marks = task.marks.map((before, other) => (other === side ? marks : before))
    this.draft()
    this.draw()
  },

  // Whether a key pressed on a sentence was meant for it
  sentenceKey(event, element) {
    const at = this.all(".sentence").indexOf(element)
    const steps = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1 }
    if (event.key in steps) this.focusSentence(steps[event.key])
    else if (event.key === " " || event.key === "Enter") this.toggleSentence(element)
    else if (event.key === "Escape") element.blur()
    else return false
    event.preventDefault()
    event.stopImmediatePropagation()
    return true
  },

  focusSentence(index) {
    const sentences = this.all(".sentence")
    if (!sentences[index]) return
    sentences.forEach((sentence) => { sentence.tabIndex = -1 })
    sentences[index].tabIndex = 0
    sentences[index].focus()
  },
}
