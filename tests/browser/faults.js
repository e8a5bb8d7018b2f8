// What can be seen to be wrong with a page as it stands in its window: [kind, what], without contrast (low_contrast.js) and axe.
//   overflow   the page, or something on it that no box scrolls, is wider than the window
//   cut        a text ends before its end, in a box that does not scroll and tells the whole nowhere else
//   overlap    two texts lie on one another
//   covered    a control that something else would get the click of
//   touch      a target under 24 x 24 px with another one nearer than that (WCAG 2.2, 2.5.8; links within a sentence are exempt)
//   words      a placeholder, or a number 1 before a plural, `plurals` being those of the run
(plurals) => {
  const faults = [], width = document.documentElement.clientWidth
  const parentOf = (element) => element.parentElement ?? (element.parentNode instanceof ShadowRoot ? element.parentNode.host : null)
  const chain = (element) => { const elements = []; for (let at = element; at; at = parentOf(at)) elements.push(at); return elements }
  const brief = (element) => (element.ariaLabel || element.textContent || element.className || element.tagName).toString().trim().slice(0, 60)
  const seen = (element) => {
    const box = element.getBoundingClientRect()
    return box.width > 1 && box.height > 1 && element.checkVisibility({ opacityProperty: true, visibilityProperty: true })
      && !element.closest("[data-testid=stToolbar], .printed, .js-plotly-tester, #js-plotly-tester, .sr-only, [inert]")
  }
  const clipped = (box, element) => {   // what is left of a box in those around it that hide or scroll
    let { left, right, top, bottom } = box
    for (const at of chain(element)) {
      const style = getComputedStyle(at)
      const inset = /^inset\((\d+)px/.exec(style.clipPath)
      if (inset) top = Math.max(top, at.getBoundingClientRect().top + Number(inset[1]))
      if (style.overflowX === "visible" && style.overflowY === "visible") continue
      const around = at.getBoundingClientRect()
      if (style.overflowX !== "visible") { left = Math.max(left, around.left); right = Math.min(right, around.right) }
      if (style.overflowY !== "visible") { top = Math.max(top, around.top); bottom = Math.min(bottom, around.bottom) }
    }
    return { left, right, top, bottom, width: right - left, height: bottom - top }
  }
  const scrolls = (element) => chain(element).some((at) => at.dataset?.testid !== "stMain" && /auto|scroll/.test(getComputedStyle(at).overflowX) && at.scrollWidth > at.clientWidth + 1)

  const texts = [], controls = []
  const collect = (root) => {
    for (const element of root.querySelectorAll("*")) {
      if (element.shadowRoot) collect(element.shadowRoot)
      if (element.matches("style, script, canvas, option, title") || !seen(element)) continue
      if (element.matches("a[href], button, input, select, textarea, summary, [role=option], [role=tab], [role=radio]")) controls.push(element)
      const own = [...element.childNodes].filter((node) => node.nodeType === 3 && node.textContent.trim())
      if (own.length && !element.closest("[data-testid=stIconMaterial]")) texts.push([element, own])
    }
  }
  collect(document.body)

  if (document.documentElement.scrollWidth > window.innerWidth) faults.push(["overflow", `${document.documentElement.scrollWidth} px`])
  const boxes = []
  for (const [element, nodes] of texts) {
    const style = getComputedStyle(element), svg = element.closest("svg")
    if (element.matches("details:not([open])")) continue   // what it folds away
    for (const node of nodes) {
      const range = document.createRange()
      range.selectNodeContents(node)
      for (const box of range.getClientRects()) {
        const left = clipped(box, element)
        if (left.width <= 3 || left.height <= 3) continue
        boxes.push([left, element])
        if (left.right > width - 2 && box.right > width + 1 && left.left >= 0 && !scrolls(element)) faults.push(["overflow", brief(element)])
      }
    }
    const hides = /hidden|clip/.test(style.overflowX), told = element.title || element.closest("[title], [aria-label], select, [role=combobox], [role=listbox]")
    if (hides && element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 2 && !told) faults.push(["cut", brief(element)])
    if (svg && element.tagName === "text" && svg.matches(".main-svg") && !element.closest(".g-gtitle")) {
      const box = element.getBoundingClientRect(), picture = svg.getBoundingClientRect()
      if (box.left < picture.left - 1 || box.right > picture.right + 1) faults.push(["cut", brief(element)])
    }
  }
  boxes.sort((a, b) => a[0].top - b[0].top)
  const layer = (element) => chain(element).find((at) => /fixed|sticky/.test(getComputedStyle(at).position))
  for (let i = 0; i < boxes.length; i++) {
    const [one, of] = boxes[i]
    for (let j = i + 1; j < boxes.length && boxes[j][0].top < one.bottom - 3; j++) {
      const [other, its] = boxes[j]
      const across = Math.min(one.right, other.right) - Math.max(one.left, other.left)
      const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top)
      if (across < 3 || down < 4 || of === its || of.contains(its) || its.contains(of) || layer(of) !== layer(its)) continue
      if (across * down > 0.2 * Math.min(one.width * one.height, other.width * other.height)) faults.push(["overlap", `${brief(of)} / ${brief(its)}`])
    }
  }
  const targets = controls.filter((control) => !control.disabled && !control.closest("[aria-hidden=true]"))
    .map((control) => [control, clipped((control.closest("label") ?? control).getBoundingClientRect(), control)])
    .filter(([, box]) => box.width > 1 && box.height > 1)
  const inSentence = (control) => control.matches("a, button, summary") && getComputedStyle(control).display.startsWith("inline")
    && [...(parentOf(control)?.childNodes ?? [])].some((node) => node.nodeType === 3 && node.textContent.trim())
  for (const [control, box] of targets) {
    const x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2
    if (x > 0 && y > 0 && x < width && y < window.innerHeight) {
      let hit = document.elementFromPoint(x, y)
      while (hit?.shadowRoot?.elementFromPoint(x, y) && hit.shadowRoot.elementFromPoint(x, y) !== hit) hit = hit.shadowRoot.elementFromPoint(x, y)
      const family = hit && (chain(hit).includes(control) || chain(control).includes(hit) || hit.closest("label")?.contains(control) || chain(hit).some((at) => at.contains?.(control) && at.matches("[data-baseweb]")))
      if (hit && !family) faults.push(["covered", `${brief(control)} by ${brief(hit)}`])
    }
    const whole = control.getBoundingClientRect()   // a list may have scrolled a part of it away
    if ((whole.width >= 24 && whole.height >= 24) || inSentence(control)) continue
    const near = targets.find(([other, its]) => other !== control && !other.contains(control) && !control.contains(other)
      && Math.hypot(Math.max(its.left - x, 0, x - its.right), Math.max(its.top - y, 0, y - its.bottom)) < 12)
    if (near) faults.push(["touch", `${brief(control)} ${Math.round(box.width)} x ${Math.round(box.height)}, next to ${brief(near[0])}`])
  }
  const words = document.querySelector(".stMainBlockContainer")?.innerText ?? ""
  for (const found of words.matchAll(new RegExp(`(?<![\\d.,])1 (${plurals.join("|")})\\b|\\{[a-z_]+\\}|\\b(undefined|NaN|nan)\\b`, "g"))) faults.push(["words", words.slice(Math.max(0, found.index - 20), found.index + 40).replaceAll("\n", " ")])
  return [...new Map(faults.map((fault) => [fault.join(), fault])).values()]
}
