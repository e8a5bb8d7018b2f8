// Every word on the page whose letters stand out too little from what is behind them: [words, ratio, letters, ground].
// Opacity of the element and of all around it counts; what is disabled, and drawings on a canvas, are left out.
(least) => {
  const parse = (colour) => {
    const numbers = colour.match(/[\d.]+%?/g) ?? ["0", "0", "0", "0"]
    const [r, g, b] = numbers.slice(0, 3).map((part) => parseFloat(part) * (colour.startsWith("color(") ? 255 : 1))
    return [r, g, b, numbers.length > 3 ? parseFloat(numbers[3]) : 1]
  }
  const over = ([r, g, b, a], below) => [r, g, b].map((part, i) => part * a + below[i] * (1 - a))
  const light = (colour) => {
    const [r, g, b] = colour.map((part) => { const c = part / 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4 })
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const ratio = (one, other) => { const [d, l] = [light(one), light(other)].sort((a, b) => a - b); return (l + 0.05) / (d + 0.05) }
  const up = (element) => element.parentElement ?? (element.parentNode instanceof ShadowRoot ? element.parentNode.host : null)
  const chain = (element) => { const found = []; for (let at = element; at; at = up(at)) found.push(at); return found }
  const faint = []
  const look = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT)
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node.nodeType === 1) { if (node.shadowRoot) look(node.shadowRoot); continue }
      const element = node.parentElement, words = node.textContent.trim()
      if (!words || words === "…" || !element || element.closest("style, script, canvas, option, [disabled], [aria-disabled=true], [data-testid=stIconMaterial]")) continue
      const box = element.getBoundingClientRect(), style = getComputedStyle(element)
      if (!box.width || !box.height || style.visibility === "hidden" || element.closest("[hidden]")) continue
      const around = chain(element), svg = element.closest("svg.main-svg")
      if (svg && !element.closest(".xtick, .ytick, .xaxislayer-above, .yaxislayer-above, .legend, .g-gtitle")) continue
      let ground = [255, 255, 255], opacity = 1
      for (const at of [...around].reverse()) ground = over(parse(getComputedStyle(at).backgroundColor), ground)
      for (const at of around) opacity *= parseFloat(getComputedStyle(at).opacity)
      if (opacity < 0.05) continue
      const [r, g, b, a] = parse(svg ? style.fill : style.color), letters = over([r, g, b, a * opacity], ground)
      const found = ratio(letters, ground)
      if (found < least) faint.push([words.slice(0, 40), Math.round(found * 100) / 100, letters.map(Math.round).join(), ground.map(Math.round).join()])
    }
  }
  look(document.body)
  return faint
}
