"""A button that copies the address of the view, and one entry in the browser's history per user action.

The address contains the whole view: filters, page numbers, the open pair. The same script also **replaces the browser's
`history.pushState`**. Streamlit adds a history entry for every parameter that a page writes, so a page that is opened from the
menu and writes its run a moment later would take two presses of Back to leave. The replacement keeps the first entry after a
click or key press and turns all further ones into `replaceState`. It lives here because this component is on every page.
"""

from __future__ import annotations

import streamlit as st

HTML = '<button type="button"><span>Copy link</span></button>'
CSS = """
button { font: inherit; font-size: 0.875rem; color: inherit; background: var(--st-background-color);
  cursor: pointer; padding: 0 0.75rem; width: 100%;
  min-height: 2.5rem; border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius); white-space: nowrap; }
button:hover, button:focus-visible { color: var(--st-primary-color); border-color: var(--st-primary-color); }
"""
# navigator.clipboard exists only on https and localhost, and a dashboard on an intranet is often neither.
SCRIPT = """
const oneHistoryEntryPerAction = () => {
  const history = window.history, push = history.pushState.bind(history)
  if (history.oneHistoryEntryPerAction) return
  history.oneHistoryEntryPerAction = true
  let userActed = false
  for (const type of ["pointerdown", "click", "keydown"]) window.addEventListener(type, () => { userActed = true }, true)
  history.pushState = (...entry) => {
    userActed ? push(...entry) : history.replaceState(...entry)
    userActed = false
  }
}
export default function (component) {
  oneHistoryEntryPerAction()
  const button = component.parentElement.querySelector("button"), label = button.querySelector("span")
  const copyBySelection = (text) => {
    const area = document.createElement("textarea")
    area.value = text; area.style.position = "fixed"; area.style.opacity = "0"
    document.body.append(area); area.select()
    const done = document.execCommand("copy")
    area.remove()
    return done
  }
  button.onclick = async () => {
    const link = window.location.href
    let done
    try { await navigator.clipboard.writeText(link); done = true } catch { done = copyBySelection(link) }
    label.textContent = done ? "Link copied" : "Copy it from the address bar"
    setTimeout(() => { label.textContent = "Copy link" }, 2500)
  }
}
"""

_button = st.components.v2.component("copy_link", html=HTML, css=CSS, js=SCRIPT)


def copy_link(key: str) -> None:
    """Draw the button."""
    _button(key=key, width="content")
