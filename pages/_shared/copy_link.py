"""A button that copies the address of the view, which holds all of it: filters, pages, the opened pair.

With it comes what makes Back lead back: Streamlit adds an entry to the browser's history for every parameter that a page writes,
so that a page from the menu, which names its run a moment later, would take two presses to leave.
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
# navigator.clipboard exists on https and localhost only; a dashboard on an intranet is often neither.
SCRIPT = """
const oneEntryAnAct = () => {
  const history = window.history, push = history.pushState.bind(history)
  if (history.oneEntryAnAct) return
  history.oneEntryAnAct = true
  let acted = false
  for (const act of ["pointerdown", "click", "keydown"]) window.addEventListener(act, () => { acted = true }, true)
  history.pushState = (...entry) => {
    acted ? push(...entry) : history.replaceState(...entry)
    acted = false
  }
}
export default function (component) {
  oneEntryAnAct()
  const button = component.parentElement.querySelector("button"), label = button.querySelector("span")
  const selected = (text) => {
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
    try { await navigator.clipboard.writeText(link); done = true } catch { done = selected(link) }
    label.textContent = done ? "Link copied" : "Copy it from the address bar"
    setTimeout(() => { label.textContent = "Copy link" }, 2500)
  }
}
"""

_button = st.components.v2.component("copy_link", html=HTML, css=CSS, js=SCRIPT)


def copy_link(key: str) -> None:
    """Draw the button."""
    _button(key=key, width="content")
