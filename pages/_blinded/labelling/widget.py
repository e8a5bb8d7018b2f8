"""The labelling widget: question, two answers and keys. It draws prefetched items at once and saves in the background."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import streamlit as st

from annotation.label_store.engine import StudyError
from annotation.label_store.rationales import MarkedSentence
from annotation.schemes import SCHEMES, Scheme
from audit.text.sentences import sentence_spans
from audit.vocabulary import DIFFERENCES, SIGNIFICANCES
from pages._blinded.labelling import rubric_html
from pages._blinded.templates import rendered

HERE = Path(__file__).parent
KEY = "labelling"
SCRIPT = "\n".join((HERE / name).read_text(encoding="utf-8") for name in ("drawing.js", "marking.js", "widget.js"))
STYLE = (HERE / "widget.css").read_text(encoding="utf-8")


def _component(scheme: Scheme, deciding: bool) -> Any:
    name = f"{scheme.name.replace('-', '_')}_{'adjudication' if deciding else 'labelling'}_widget"
    values = {"scheme": scheme, "deciding": deciding, "significances": SIGNIFICANCES, "rubric": rubric_html(scheme)}
    values |= {"differences": DIFFERENCES}
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


# -- The sentences of an answer, for an annotator who marks those that a label rests on ----------------------


Ranges = tuple[tuple[int, int], ...]


@lru_cache(maxsize=256)  # a window of items is sent with every label, and each has two answers
def sentence_ranges(text: str) -> Ranges:
    """First character, and the one after the last, of each sentence and list item."""
    return tuple((start, end) for start, end in sentence_spans(text))


@lru_cache(maxsize=256)
def browser_ranges(text: str) -> Ranges:
    """The same as JavaScript counts, where a character beyond the Basic Multilingual Plane is two."""
    return tuple((_utf16_length(text[:start]), _utf16_length(text[:end])) for start, end in sentence_ranges(text))


def marks_of(rationale: Sequence[MarkedSentence], answers: tuple[str, str]) -> list[list[int]]:
    """For each of the two answers as shown, the indices of its marked sentences."""
    return [
        [index for index, span in enumerate(sentence_ranges(text)) if (side, *span) in rationale]
        for side, text in enumerate(answers)
    ]


def rationale_of(marks: Sequence[Sequence[int]], answers: tuple[str, str]) -> tuple[MarkedSentence, ...]:
    """The marked sentences, from indices that a browser sent. Raises StudyError for a sentence that an answer does not have."""
    ranges = [sentence_ranges(text) for text in answers]
    try:
        return tuple(
            MarkedSentence(side, *dict(enumerate(ranges[side]))[index])
            for side, indices in enumerate(marks)
            for index in sorted(set(indices))
        )
    except (IndexError, KeyError):
        raise StudyError("A marked sentence is not in the answers of this item. Nothing was saved. Reload the page.") from None


def _utf16_length(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
