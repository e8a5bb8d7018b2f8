"""The map of themes as a page component; the phrase under the pointer is fetched for that point alone."""

from __future__ import annotations

from typing import Any

import streamlit as st

from audit.charts.themes import map_script, map_style

HEIGHT_PX = 620
COMPONENT_SCRIPT = """
export default function (component) {
  const host = component.parentElement.querySelector(".theme-map")
  const send = (event, number) => component.setTriggerValue(event, number)
  // This runs at every rerun of the page. The map keeps its position and zoom until its points change.
  const content = `${component.data.places.length} ${component.data.places.slice(0, 400)} ${component.data.theme}`
  if (host.content !== content) {
    host.map?.stop()
    host.content = content
    host.map = themeMap(host, component.data, (event, number) => host.send(event, number))
  } else host.map?.repaint()
  host.send = send
  return () => { host.map?.stop(); host.content = null }
}
"""
_map = st.components.v2.component(
    "theme_map",
    html='<div class="theme-map"></div>',
    css=f"{map_style()}\n.theme-map {{ height: {HEIGHT_PX}px; }}",
    js=map_script() + COMPONENT_SCRIPT,
)


def theme_map(data: dict[str, Any], key: str) -> tuple[int | None, int | None]:
    """Draw the map of `audit.charts.themes.map_data`; the index of the hovered point and of the clicked theme, once each.

    The index of the theme is -1 where the clicked point has no theme.
    """
    events = _map(key=key, data=data, on_asked_change=_ignore, on_opened_change=_ignore)
    hovered, opened = (getattr(events, event, None) for event in ("asked", "opened"))
    return None if hovered is None else int(hovered), None if opened is None else int(opened)


def _ignore() -> None:
    """Streamlit requires a callback for each trigger; the value is read where the map is drawn."""
