// Of a row of Streamlit's grid only the box at its start can be clicked. A click elsewhere in the row is passed on to that box;
// keys work as before.
const BOX = 32
const EVENTS = ["pointermove", "mousemove", "pointerdown", "mousedown", "pointerup", "mouseup", "click"]

export default function (component) {
  const parent = component.parentElement
  const frame = (parent.host ?? parent).closest('[data-testid="stElementContainer"]')
  if (frame) frame.style.display = "none"
  const rows = frame?.closest('[class*="st-key-opens_"]')
  const pass = (event) => {
    const canvas = event.target.closest('[data-testid="stDataFrame"]')?.querySelector("canvas")
    if (!canvas || !event.isTrusted || event.target.closest("button, input")) return
    const { left, top, right, bottom } = canvas.getBoundingClientRect()
    const inside = event.clientX > left + BOX && event.clientX < right && event.clientY < bottom
    if (!inside || event.clientY < top + component.data.header) return
    const at = { clientX: left + BOX / 2, clientY: event.clientY, bubbles: true, composed: true, cancelable: true, view: window,
      button: 0, buttons: 1, detail: 1, pointerId: 1, pointerType: "mouse", isPrimary: true }
    for (const name of EVENTS) canvas.dispatchEvent(new (name.startsWith("pointer") ? PointerEvent : MouseEvent)(name, at))
  }
  rows?.addEventListener("click", pass)
  return () => {
    rows?.removeEventListener("click", pass)
    if (frame) frame.style.display = ""
  }
}
