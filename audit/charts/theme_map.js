// The map of themes: WebGL points, labels that appear as there is room for them, no library. Without WebGL it draws with the
// plain canvas. `data` is what audit.charts.themes.map_data returns; `tell(event, number)` hears of
//   asked   a point that the pointer rests on (its number), where the data holds no phrases
//   opened  a theme that was clicked (its number, -1: no theme)
function themeMap(host, data, tell) {
  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
  const places = new Uint16Array(bytes(data.places).buffer), theme = new Uint16Array(bytes(data.theme).buffer)
  const count = theme.length, NONE = 65535, FULL = 65535
  const dot = document.createElement("canvas"), text = document.createElement("canvas"), tip = document.createElement("div")
  const buttons = document.createElement("div")
  dot.className = text.className = "layer"; tip.className = "tip"; buttons.className = "zoom"
  text.tabIndex = 0; text.setAttribute("role", "img"); text.setAttribute("aria-label", data.alt)
  host.replaceChildren(dot, text, buttons, tip)
  const gl = dot.getContext("webgl", { antialias: true }), pen = text.getContext("2d")
  const flat = gl ? null : dot.getContext("2d")
  let width = 0, height = 0, fit = 1, scale = 1, atX = 0.5, atY = 0.5, kept = null, waiting = 0, hovered = -1
  const colours = new Uint8Array(count * 3)
  const order = [...Array(count).keys()]

  // The page's ground and letters; on a dark one, hues that would sink into it are brightened.
  let ink = "", ground = "", dark = false
  function look() {
    ({ color: ink, backgroundColor: ground } = getComputedStyle(host))
    dark = Math.max(...ground.match(/\d+/g).slice(0, 3).map(Number)) < 128
  }
  const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)).map((part) => (dark ? 90 + part * 0.65 : part))
  function paint() {
    look()
    // What has no theme lies below, what was picked lies on top.
    const layer = (point) => (theme[point] !== NONE) + 2 * Boolean(kept?.has(theme[point]))
    order.sort((a, b) => layer(a) - layer(b) || a - b)
    const shades = data.parents.map((parent) => rgb(parent[4])), grey = dark ? [84, 91, 102] : [196, 201, 208]
    const pale = dark ? [42, 47, 55] : [226, 229, 233]
    order.forEach((point, row) => {
      const own = theme[point] === NONE ? grey : shades[data.themes[theme[point]][1]]
      colours.set(kept && !kept.has(theme[point]) ? pale : own, row * 3)
    })
    if (!gl) return
    const sorted = new Float32Array(count * 2)
    order.forEach((point, row) => sorted.set([places[2 * point] / FULL, places[2 * point + 1] / FULL], row * 2))
    gl.bindBuffer(gl.ARRAY_BUFFER, spots); gl.bufferData(gl.ARRAY_BUFFER, sorted, gl.STATIC_DRAW)
    gl.bindBuffer(gl.ARRAY_BUFFER, inks); gl.bufferData(gl.ARRAY_BUFFER, colours, gl.STATIC_DRAW)
  }

  let spots, inks, program, centre, stretch, size
  function prepare() {
    const shader = (kind, source) => {
      const made = gl.createShader(kind)
      gl.shaderSource(made, source); gl.compileShader(made); gl.attachShader(program, made)
    }
    program = gl.createProgram()
    shader(gl.VERTEX_SHADER, `attribute vec2 place; attribute vec3 ink; uniform vec2 centre, stretch; uniform float size;
      varying vec3 shade; void main() { shade = ink; gl_PointSize = size; gl_Position = vec4((place - centre) * stretch, 0., 1.); }`)
    shader(gl.FRAGMENT_SHADER, `precision mediump float; varying vec3 shade; void main() {
      float far = length(gl_PointCoord - .5); if (far > .5) discard; gl_FragColor = vec4(shade, 1.) * .82; }`)
    gl.bindAttribLocation(program, 0, "place"); gl.bindAttribLocation(program, 1, "ink")
    gl.linkProgram(program); gl.useProgram(program)
    ;[centre, stretch, size] = ["centre", "stretch", "size"].map((name) => gl.getUniformLocation(program, name))
    gl.bindBuffer(gl.ARRAY_BUFFER, spots = gl.createBuffer())
    gl.enableVertexAttribArray(0); gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0)
    gl.bindBuffer(gl.ARRAY_BUFFER, inks = gl.createBuffer())
    gl.enableVertexAttribArray(1); gl.vertexAttribPointer(1, 3, gl.UNSIGNED_BYTE, true, 0, 0)
    gl.enable(gl.BLEND); gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA)
  }

  const x = (place) => (place - atX) * scale + width / 2, y = (place) => height / 2 - (place - atY) * scale
  const radius = () => Math.min(9, (count > 5000 ? 3.2 : count > 800 ? 5 : 7) * Math.sqrt(scale / fit))
  const ratio = () => window.devicePixelRatio || 1

  function draw() {
    if (!width) return
    if (gl) {
      gl.viewport(0, 0, dot.width, dot.height); gl.clearColor(0, 0, 0, 0); gl.clear(gl.COLOR_BUFFER_BIT)
      gl.uniform2f(centre, atX, atY); gl.uniform2f(stretch, 2 * scale / width, 2 * scale / height)
      gl.uniform1f(size, radius() * ratio()); gl.drawArrays(gl.POINTS, 0, count)
    } else {
      flat.setTransform(ratio(), 0, 0, ratio(), 0, 0); flat.clearRect(0, 0, width, height)
      const side = radius()
      order.forEach((point, row) => {
        flat.fillStyle = `rgb(${colours.subarray(row * 3, row * 3 + 3).join(",")})`
        flat.fillRect(x(places[2 * point] / FULL) - side / 2, y(places[2 * point + 1] / FULL) - side / 2, side, side)
      })
    }
    write()
  }

  // Labels: parents first, then themes from the zoom on at which they have room; the larger one wins where two would overlap.
  function write() {
    pen.setTransform(ratio(), 0, 0, ratio(), 0, 0); pen.clearRect(0, 0, width, height)
    pen.textAlign = "center"; pen.textBaseline = "middle"; pen.lineJoin = "round"
    const taken = []
    const near = scale / fit
    const few = kept && kept.size <= 40
    if (!few) data.parents.forEach(([name, size, px, py]) => label(name, px, py, "600 14px", taken))
    if (few || near >= 1.7 || data.themes.length <= 40) data.bySize.forEach((number) => {
      const [name, , size, px, py] = data.themes[number]
      if (size && (!kept || kept.has(number))) label(name, px, py, "400 12px", taken)
    })
  }

  function label(name, px, py, font, taken) {
    const left = x(px), top = y(py)
    if (left < 0 || left > width || top < 0 || top > height || taken.length >= 70) return
    pen.font = `${font} "Source Sans", "Source Sans 3", "Helvetica Neue", Arial, sans-serif`
    const shown = name.length > 44 ? name.slice(0, 43) + "…" : name, half = pen.measureText(shown).width / 2 + 3
    const at = Math.max(half, Math.min(width - half, left))
    if (taken.some(([l, t, r, b]) => at - half < r && at + half > l && top - 9 < b && top + 9 > t)) return
    taken.push([at - half, top - 9, at + half, top + 9])
    pen.lineWidth = 4; pen.strokeStyle = ground; pen.strokeText(shown, at, top)
    pen.fillStyle = ink; pen.fillText(shown, at, top)
  }

  function nearest(left, top) {
    let best = -1, limit = 12 * 12
    for (let point = 0; point < count; point++) {
      const dx = x(places[2 * point] / FULL) - left, dy = y(places[2 * point + 1] / FULL) - top, far = dx * dx + dy * dy
      if (far < limit) { limit = far; best = point }
    }
    return best
  }

  function hover(event) {
    const point = nearest(event.offsetX, event.offsetY)
    text.style.cursor = point < 0 ? "grab" : "pointer"
    if (point === hovered) return
    hovered = point
    clearTimeout(waiting)
    tip.hidden = point < 0
    if (point < 0) return
    const own = theme[point] === NONE ? null : data.themes[theme[point]]
    const lines = [data.phrases ? data.phrases[point] : "", own ? own[0] : data.none, own ? data.parents[own[1]][0] : ""]
    tip.replaceChildren(...lines.filter(Boolean).map((line) => Object.assign(document.createElement("div"), { textContent: line, dir: "auto" })))
    tip.style.left = `${Math.min(event.offsetX + 12, width - 270)}px`; tip.style.top = `${event.offsetY + 14}px`
    if (!data.phrases) waiting = setTimeout(() => tell("asked", point), 250)
  }

  function zoom(factor, left = width / 2, top = height / 2) {
    const next = Math.max(fit * 0.8, Math.min(fit * 60, scale * factor)), change = 1 / scale - 1 / next
    atX += (left - width / 2) * change; atY -= (top - height / 2) * change; scale = next
    draw()
  }

  function whole() { scale = fit; atX = data.wide / 2; atY = data.high / 2; draw() }

  function resize() {
    const box = host.getBoundingClientRect()
    if (!box.width || (box.width === width && box.height === height)) return
    const before = scale / fit
    width = box.width; height = box.height
    for (const layer of [dot, text]) { layer.width = Math.round(width * ratio()); layer.height = Math.round(height * ratio()) }
    fit = Math.min(width / (data.wide || 1), height / (data.high || 1)) * 0.92
    scale = fit * before
    if (before === 1) { atX = data.wide / 2; atY = data.high / 2 }
    draw()
  }

  let from = null, moved = 0
  text.addEventListener("pointerdown", (event) => { from = event; moved = 0; text.setPointerCapture(event.pointerId) })
  text.addEventListener("pointermove", (event) => {
    if (!from) return hover(event)
    moved += Math.abs(event.movementX) + Math.abs(event.movementY)
    atX -= event.movementX / scale; atY += event.movementY / scale
    draw()
  })
  text.addEventListener("pointerup", (event) => {
    const clicked = from && moved < 5
    from = null
    if (!clicked) return
    const point = nearest(event.offsetX, event.offsetY)
    if (point >= 0) tell("opened", theme[point] === NONE ? -1 : theme[point])
  })
  text.addEventListener("pointerleave", () => { tip.hidden = true; hovered = -1; clearTimeout(waiting) })
  text.addEventListener("wheel", (event) => {
    event.preventDefault(); zoom(Math.exp(-event.deltaY * 0.0022), event.offsetX, event.offsetY)
  }, { passive: false })
  text.addEventListener("dblclick", (event) => zoom(2, event.offsetX, event.offsetY))
  const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }
  text.addEventListener("keydown", (event) => {
    if (STEPS[event.key]) { const [dx, dy] = STEPS[event.key]; atX += dx * 60 / scale; atY += dy * 60 / scale; draw() }
    else if (event.key === "+" || event.key === "=") zoom(1.5)
    else if (event.key === "-") zoom(1 / 1.5)
    else if (event.key === "0") whole()
    else return
    event.preventDefault()
  })
  for (const [sign, name, act] of [["+", "Zoom in", () => zoom(1.6)], ["−", "Zoom out", () => zoom(1 / 1.6)], ["⤢", "Show all", whole]]) {
    const button = document.createElement("button")
    button.type = "button"; button.textContent = sign; button.title = name; button.setAttribute("aria-label", name)
    button.addEventListener("click", act); buttons.append(button)
  }
  if (gl) prepare()
  paint()
  const watcher = new ResizeObserver(resize)
  watcher.observe(host); resize()
  tip.hidden = true
  return {
    keep(themes) { kept = themes; paint(); draw() },
    repaint() { paint(); draw() },
    stop() { watcher.disconnect(); clearTimeout(waiting) },
  }
}
