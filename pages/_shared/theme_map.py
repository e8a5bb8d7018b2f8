"""The map of themes on a page; what the pointer rests on is fetched for that point alone."""

from __future__ import annotations

from typing import Any

import streamlit as st

from audit.charts.theme_map import script, style

HEIGHT = 620
WRAP = """
export default function (component) {
  const host = component.parentElement.querySelector(".theme-map")
  const tell = (event, number) => component.setTriggerValue(event, number)
  // Every run of the page comes by here; the map stays as it is, where it was moved to, until its points are others.
  const known = `${component.data.places.length} ${component.data.places.slice(0, 400)} ${component.data.theme}`
  if (host.known !== known) {
    host.map?.stop()
    host.known = known
    host.map = themeMap(host, component.data, (event, number) => host.tell(event, number))
  } else host.map?.repaint()
  host.tell = tell
  return () => { host.map?.stop(); host.known = null }
}
"""
_map = st.components.v2.component(
    "theme_map",
    html='<div class="theme-map"></div>',
    css=f"{style()}\n.theme-map {{ height: {HEIGHT}px; }}",
    js=script() + WRAP,
)


def theme_map(data: dict[str, Any], key: str) -> tuple[int | None, int | None]:
    """Draw the map (audit.charts.theme_map.map_data); the numbers of the point rested on and of the theme clicked, once each.

    The number of a theme is -1 where the clicked point has none.
    """
    told = _map(key=key, data=data, on_asked_change=_nothing, on_opened_change=_nothing)
    asked, opened = (getattr(told, event, None) for event in ("asked", "opened"))
    return None if asked is None else int(asked), None if opened is None else int(opened)


def _nothing() -> None:
    """A trigger has to have a callback; what it says is read where the map is drawn."""
