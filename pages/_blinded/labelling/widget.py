"""The labelling widget: question, two answers and keys. It draws prefetched items at once and saves in the background."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from annotation.schemes import SCHEMES, Option, Scheme
from audit.vocabulary import SIGNIFICANCES
from pages._blinded.labelling import rubric_html

HERE = Path(__file__).parent
KEY = "labelling"
SIGNIFICANCE_BUTTONS = "".join(
    f'<button type="button" class="significance" data-significance="{word}" aria-pressed="false"><kbd>{word[0].upper()}</kbd> '
    f"{word}</button>"
    for word in SIGNIFICANCES
)


def _label_button(option: Option) -> str:
    return (
        f'<button type="button" class="label" data-label="{option.word}" data-key="{option.key.lower()}" aria-pressed="false">'
        f"<kbd>{option.key}</kbd> <b>{option.name}</b><small>{option.meaning}</small></button>"
    )


def _tool(name: str, key: str, words: str, state: str = "") -> str:
    return f'<button type="button" data-tool="{name}" {state}><kbd>{key}</kbd> {words}</button>'


TOOLS = {
    "back": _tool("back", "U", "back"),
    "forward": _tool("forward", "N", "next unrated"),
    "reference": _tool("reference", "R", "reference answer", 'aria-expanded="false" hidden'),
    "flag": _tool("flag", "F", "unsure", 'aria-pressed="false"'),
    "mark": _tool("mark", "S", "mark sentences", 'aria-pressed="false" title="Optional: the sentences that your label rests on"'),
    "submit": _tool("submit", "Enter", "save"),
    "items": _tool("items", "G", "my items"),
    "rubric": _tool("rubric", "?", "rubric", 'aria-expanded="false"'),
}
NOT_DECIDING = ("flag", "mark", "items")
"""Tools of annotators that adjudicators have no use for."""


def _note_field(deciding: bool) -> str:
    name, about, hint = ("reason", "for this decision", "Why is this label right? Enter saves") if deciding else (
        "comment", "on this item", "Esc: back to the keys"
    )  # fmt: skip
    field = f'rows="1" maxlength="4000" aria-label="{name.capitalize()} {about}" placeholder="{hint}"'
    return f"<label><span><kbd>C</kbd> {name}</span><textarea {field}></textarea></label>"


def _html(scheme: Scheme, deciding: bool = False) -> str:
    """The widget for one scheme: its buttons with their keys, and its rubric; `deciding`: for adjudicators."""
    buttons = "".join(map(_label_button, scheme.options))
    answers = "".join(
        f'<article aria-label="{order} answer" data-side="Answer {side}"><h3></h3><p></p></article>'
        for order, side in zip(("First", "Second"), scheme.sides, strict=True)
    )
    tools = " ".join(tool for name, tool in TOOLS.items() if not (deciding and name in NOT_DECIDING))
    # The page of adjudicators has a heading of its own.
    title = '<p class="title"></p>' if deciding else '<h1 class="title"></h1>'
    ratings = '<ul class="ratings" aria-label="What the annotators chose"></ul>' if deciding else ""
    return f"""
<section class="labelling-widget" aria-label="Item to {"decide" if deciding else "label"}"
  data-disagreeing="{" ".join(scheme.graded)}" {"data-decides" if deciding else ""}>
  <header>{title}<progress aria-label="Items {"decided" if deciding else "labelled"}"></progress><span class="count"></span>
    <span class="saved" role="status"></span></header>
  <div class="course"><div class="recent" role="group" aria-label="Last items, newest first: keys 6 to 0" hidden></div>
    <span class="pace"></span></div>
  <p class="pause" role="status" hidden></p>
  <p class="problem" role="alert" hidden></p>
  <p class="done" hidden></p>
  <div class="stage">
    <div class="item">
      <h2 aria-live="polite" tabindex="-1"></h2>
      <aside class="reference" aria-label="Reference answer" aria-live="polite" hidden><h3>Reference answer</h3><p></p></aside>
      <div class="answers">{answers}</div>
      {ratings}
    </div>
    <aside class="rubric" aria-label="Rubric" tabindex="0" hidden>{rubric_html(scheme)}</aside>
  </div>
  <footer>
    <div class="labels" role="group" aria-label="{scheme.asks} Keys {scheme.keys}">{buttons}</div>
    <div class="significances" role="group" aria-label="Clinical significance: keys L, M, H" {"" if scheme.graded else "hidden"}>
      <span>Clinical significance</span> {SIGNIFICANCE_BUTTONS}</div>
    <div class="tools">{tools} {_note_field(deciding)}</div>
  </footer>
</section>
"""


SCRIPT = "\n".join((HERE / name).read_text(encoding="utf-8") for name in ("drawing.js", "marking.js", "widget.js"))
STYLE = (HERE / "widget.css").read_text(encoding="utf-8")


def _component(scheme: Scheme, deciding: bool) -> Any:
    name = f"{scheme.name.replace('-', '_')}_{'adjudication' if deciding else 'labelling'}_widget"
    return st.components.v2.component(name, html=_html(scheme, deciding), css=STYLE, js=SCRIPT)


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
