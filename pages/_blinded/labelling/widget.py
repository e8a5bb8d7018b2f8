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


def _html(scheme: Scheme) -> str:
    """The widget for one scheme: its buttons with their keys, and its rubric."""
    buttons = "".join(map(_label_button, scheme.options))
    answers = "".join(
        f'<article aria-label="{order} answer" data-side="Answer {side}"><h3></h3><p></p></article>'
        for order, side in zip(("First", "Second"), scheme.sides, strict=True)
    )
    return f"""
<section class="labelling-widget" aria-label="Item to label" data-disagreeing="{" ".join(scheme.graded)}">
  <header><h1></h1><progress aria-label="Items labelled"></progress><span class="count"></span>
    <span class="saved" role="status"></span></header>
  <p class="problem" role="alert" hidden></p>
  <p class="done" hidden></p>
  <div class="item">
    <h2 aria-live="polite" tabindex="-1"></h2>
    <aside class="reference" aria-label="Reference answer" aria-live="polite" hidden><h3>Reference answer</h3><p></p></aside>
    <div class="answers">{answers}</div>
  </div>
  <footer>
    <div class="labels" role="group" aria-label="{scheme.asks} Keys {scheme.keys}">{buttons}</div>
    <div class="significances" role="group" aria-label="Clinical significance: keys L, M, H" {"" if scheme.graded else "hidden"}>
      <span>Clinical significance</span> {SIGNIFICANCE_BUTTONS}</div>
    <div class="tools">
      <button type="button" data-tool="back"><kbd>U</kbd> back</button>
      <button type="button" data-tool="forward"><kbd>N</kbd> next unrated</button>
      <button type="button" data-tool="reference" aria-expanded="false" hidden><kbd>R</kbd> reference answer</button>
      <button type="button" data-tool="flag" aria-pressed="false"><kbd>F</kbd> unsure</button>
      <button type="button" data-tool="submit"><kbd>Enter</kbd> save</button>
      <button type="button" data-tool="items"><kbd>G</kbd> my items</button>
      <button type="button" data-tool="rubric" aria-expanded="false"><kbd>?</kbd> rubric</button>
      <label><span><kbd>C</kbd> comment</span><textarea rows="1" maxlength="4000" aria-label="Comment on this item"
        placeholder="Esc: back to the keys"></textarea></label>
    </div>
    <aside class="rubric" aria-label="Rubric" hidden>{rubric_html(scheme)}</aside>
  </footer>
</section>
"""


_widgets = {
    scheme.name: st.components.v2.component(
        f"{scheme.name.replace('-', '_')}_labelling_widget",
        html=_html(scheme),
        css=(HERE / "widget.css").read_text(encoding="utf-8"),
        js=(HERE / "widget.js").read_text(encoding="utf-8"),
    )
    for scheme in SCHEMES.values()
}


def pending_events() -> list[dict[str, Any]]:
    """The events in the browser's outbox, which the server has not confirmed yet."""
    state = st.session_state.get(KEY)
    return list(state.get("outbox") or []) if state else []


def labelling_widget(scheme: Scheme, data: dict[str, Any]) -> bool:
    """Draw the widget of a scheme; a change of its outbox reruns the fragment around it.

    Returns whether the annotator wants the list of their items; everything is saved by then.
    """
    # Streamlit keeps a component's state only if it has a callback; the fragment itself reads the outbox.
    event = _widgets[scheme.name](
        key=KEY, data=data, default={"outbox": []}, on_outbox_change=lambda: None, on_leave_change=lambda: None
    )
    return bool(getattr(event, "leave", None))
