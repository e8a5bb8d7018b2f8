// Every text on the page whose contrast with its background is below `minimum`: [text, ratio, colour, background].
// The opacity of the element and its ancestors counts. Disabled elements and drawings on a canvas are left out.
(minimum) => {
  const parse = (colour) => {
    const numbers = colour.match(/[\d.]+%?/g) ?? ["0", "0", "0", "0"]
    const [r, g, b] = numbers.slice(0, 3).map((part) => parseFloat(part) * (colour.startsWith("color(") ? 255 : 1))
    return [r, g, b, numbers.length > 3 ? parseFloat(numbers[3]) : 1]
  }
  const over = ([r, g, b, a], below) => [r, g, b].map((part, i) => part * a + below[i] * (1 - a))
  const luminance = (colour) => {
    const [r, g, b] = colour.map((part) => { const c = part / 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4 })
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const ratio = (one, other) => { const [d, l] = [luminance(one), luminance(other)].sort((a, b) => a - b); return (l + 0.05) / (d + 0.05) }
  const parentOf = (element) => element.parentElement ?? (element.parentNode instanceof ShadowRoot ? element.parentNode.host : null)
  const chain = (element) => { const elements = []; for (let at = element; at; at = parentOf(at)) elements.push(at); return elements }
  const lowContrast = []
  const search = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT)
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node.nodeType === 1) { if (node.shadowRoot) search(node.shadowRoot); continue }
      const element = node.parentElement, text = node.textContent.trim()
      if (!text || text === "…" || !element || element.closest("style, script, canvas, option, [disabled], [aria-disabled=true], [data-testid=stIconMaterial]")) continue
      const box = element.getBoundingClientRect(), style = getComputedStyle(element)
      if (!box.width || !box.height || style.visibility === "hidden" || element.closest("[hidden]")) continue
      const ancestors = chain(element), svg = element.closest("svg.main-svg")
      if (svg && !element.closest(".xtick, .ytick, .xaxislayer-above, .yaxislayer-above, .legend, .g-gtitle")) continue
      let background = [255, 255, 255], opacity = 1
      for (const at of [...ancestors].reverse()) background = over(parse(getComputedStyle(at).backgroundColor), background)
      for (const at of ancestors) opacity *= parseFloat(getComputedStyle(at).opacity)
      if (opacity < 0.05) continue
      const [r, g, b, a] = parse(svg ? style.fill : style.color), foreground = over([r, g, b, a * opacity], background)
      const contrast = ratio(foreground, background)
      if (contrast < minimum) lowContrast.push([text.slice(0, 40), Math.round(contrast * 100) / 100, foreground.map(Math.round).join(), background.map(Math.round).join()])
    }
  }
  search(document.body)
  return lowContrast
}
