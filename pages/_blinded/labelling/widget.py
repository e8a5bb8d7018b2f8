"""The labelling widget: question, two answers and keys. It draws prefetched items at once and saves in the background."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from audit.vocabulary import DISAGREEING, LABELS, SIGNIFICANCES
from pages._blinded.labelling import rubric_html

HERE = Path(__file__).parent
KEY = "labelling"
MEANINGS = {
    "ABSENT": "one does not answer",
    "CONSISTENT": "the same guidance",
    "COMPLEMENTARY": "compatible, more detail",
    "DIVERGENT": "a difference that matters",
    "CONTRADICTORY": "opposite advice",
}
LABEL_BUTTONS = "".join(
    f'<button type="button" class="label" data-label="{label}" aria-pressed="false"><kbd>{number}</kbd> '
    f"<b>{label.capitalize()}</b><small>{MEANINGS[label]}</small></button>"
    for number, label in enumerate(LABELS, start=1)
)
SIGNIFICANCE_BUTTONS = "".join(
    f'<button type="button" class="significance" data-significance="{word}" aria-pressed="false"><kbd>{word[0].upper()}</kbd> '
    f"{word}</button>"
    for word in SIGNIFICANCES
)
HTML = f"""
<section class="labelling-widget" aria-label="Item to label" data-disagreeing="{" ".join(DISAGREEING)}">
  <header><h1></h1><progress aria-label="Items labelled"></progress><span class="count"></span>
    <span class="saved" role="status"></span></header>
  <p class="problem" role="alert" hidden></p>
  <p class="done" hidden></p>
  <div class="item">
    <h2 aria-live="polite" tabindex="-1"></h2>
    <div class="answers">
      <article aria-label="First answer"><h3>Answer 1</h3><p></p></article>
      <article aria-label="Second answer"><h3>Answer 2</h3><p></p></article>
    </div>
  </div>
  <footer>
    <div class="labels" role="group" aria-label="How do the two answers relate? Keys 1 to 5">{LABEL_BUTTONS}</div>
    <div class="significances" role="group" aria-label="Clinical significance: keys L, M, H"><span>Clinical significance</span>
      {SIGNIFICANCE_BUTTONS}</div>
    <div class="tools">
      <button type="button" data-tool="back"><kbd>U</kbd> back</button>
      <button type="button" data-tool="forward"><kbd>N</kbd> next unrated</button>
      <button type="button" data-tool="flag" aria-pressed="false"><kbd>F</kbd> unsure</button>
      <button type="button" data-tool="submit"><kbd>Enter</kbd> save</button>
      <button type="button" data-tool="rubric" aria-expanded="false"><kbd>?</kbd> rubric</button>
      <label><span><kbd>C</kbd> comment</span><textarea rows="1" maxlength="4000" aria-label="Comment on this item"
        placeholder="Esc: back to the keys"></textarea></label>
    </div>
    <aside class="rubric" aria-label="Rubric" hidden>{rubric_html()}</aside>
  </footer>
</section>
"""

_widget = st.components.v2.component(
    "labelling_widget",
    html=HTML,
    css=(HERE / "widget.css").read_text(encoding="utf-8"),
    js=(HERE / "widget.js").read_text(encoding="utf-8"),
)


def pending_events() -> list[dict[str, Any]]:
    """The events in the browser's outbox, which the server has not confirmed yet."""
    state = st.session_state.get(KEY)
    return list(state.get("outbox") or []) if state else []


def labelling_widget(data: dict[str, Any]) -> None:
    """Draw the widget; a change of its outbox reruns the fragment around it."""
    # Streamlit keeps a component's state only if it has a callback; the fragment itself reads the outbox.
    _widget(key=KEY, data=data, default={"outbox": []}, on_outbox_change=lambda: None)
