"""The labelling widget: question, two answers and keys. It draws prefetched items at once and saves in the background."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from annotation.schemes import SCHEMES, Scheme
from audit.vocabulary import SIGNIFICANCES
from pages._blinded.labelling import rubric_html
from pages._blinded.templates import rendered

HERE = Path(__file__).parent
KEY = "labelling"
SCRIPT = "\n".join((HERE / name).read_text(encoding="utf-8") for name in ("drawing.js", "marking.js", "widget.js"))
STYLE = (HERE / "widget.css").read_text(encoding="utf-8")


def _component(scheme: Scheme, deciding: bool) -> Any:
    name = f"{scheme.name.replace('-', '_')}_{'adjudication' if deciding else 'labelling'}_widget"
    values = {"scheme": scheme, "deciding": deciding, "significances": SIGNIFICANCES, "rubric": rubric_html(scheme)}
    html = rendered("_blinded/labelling/widget.html", **values)
    return st.components.v2.component(name, html=html, css=STYLE, js=SCRIPT)


_widgets = {(scheme.name, deciding): _component(scheme, deciding) for scheme in SCHEMES.values() for deciding in (False, True)}


def pending_events() -> list[dict[str, Any]]:
    """The events in the browser's outbox, which the server has not confirmed yet."""
    state = st.session_state.get(KEY)
    return list(state.get("outbox") or []) if state else []


def labelling_widget(scheme: Scheme, data: dict[str, Any], *, deciding: bool = False) -> bool:
    """Draw the widget of a scheme; a change of its outbox reruns the fragment around it.

    deciding  for an adjudicator: both annotators' labels are shown, and a decision needs a reason

    Returns whether the annotator wants the list of their items; everything is saved by then.
    """
    # Streamlit keeps a component's state only if it has a callback; the fragment itself reads the outbox.
    event = _widgets[scheme.name, deciding](
        key=KEY, data=data, default={"outbox": []}, on_outbox_change=lambda: None, on_leave_change=lambda: None
    )
    return bool(getattr(event, "leave", None))
