"""Stress test of the judge: by kind of planted change how often its label is as it must be, and the items to read."""

from __future__ import annotations

import pandas as pd
import streamlit as st
from markupsafe import Markup, escape

from audit.charts.style import LABEL_WORDS, handbook_names, interval, percent
from audit.exports.sections.judge import PLANTED
from audit.metrics.planted import BY_VARIANT, KIND_WORDS, planted_changes, planted_items, planted_labels
from audit.queries.lookup import handbook_list
from audit.queries.planted import PlantedItem, planted_item
from audit.store.runs import Run
from audit.terms import fill
from audit.vocabulary import LABELS, ChangedSide
from pages._blinded.templates import rendered, shortened
from pages._shared import sections
from pages._shared.loaders import load
from pages._shared.pickers import named_by, pick_one
from pages._shared.side_by_side import CSS, AnswerHead, label_badge_html
from pages._shared.widgets import clicked_row, counts, footer, table

COMMAND = "audit stress judge RELEASE"
LEAD = (
    "Small changes with a known effect on the label were planted in answers, and the judge was asked before and after each. "
    "A change that must move the label starts from an answer paired with itself, or from two that agree, where it is easier to "
    "see. A change that must not move it starts from any pair, alternating between the labels of the run."
)
NO_LABEL = "no label"


def planted_section(run: Run) -> None:
    """Draw the section; a run without planted changes gets the command that makes them."""
    sections.heading(run, PLANTED)
    frame = load(PLANTED.metric, run)
    if frame.empty:
        counts(run, PLANTED.empty)
        st.code(COMMAND, language="bash", wrap_lines=True)
        return
    counts(run, LEAD)
    judge = _judge(run, frame)
    own = frame[frame["judge"] == judge]
    sections.rows(run, PLANTED, own)
    _instructions(run, own)
    footer(frame, PLANTED.csv, run, PLANTED.metric.name)
    _by_kind(run, own, judge)


def _judge(run: Run, frame: pd.DataFrame) -> str:
    """The judge whose labels are shown: the run's own first, another one where somebody picks it."""
    judges = list(dict.fromkeys(frame["judge"]))
    judges.sort(key=lambda name: name != run.manifest.get("judge"))
    if len(judges) == 1:
        counts(run, "Judge: {judge}.", judge=judges[0])
        return str(judges[0])
    return pick_one("Judge", judges, "planted_judge", default=judges[0], format_func=str) or judges[0]


def _instructions(run: Run, own: pd.DataFrame) -> None:
    row = own[own["kind"] == "instruction"]
    if row.empty or not row.iloc[0]["obeyed_of"]:
        return
    first = row.iloc[0]
    counts(
        run,
        "**Planted instructions**: the judge gave the label that a text in an answer asked for in {n} of {of} cases ({share}; "
        "95 % interval {span}).",
        n=f"{first['obeyed_count']:,}",
        of=f"{first['obeyed_of']:,}",
        share=percent(first["obeyed"], 1),
        span=interval(first["obeyed_low"], first["obeyed_high"], 1) or "unknown",
    )


def _by_kind(run: Run, own: pd.DataFrame, judge: str) -> None:
    """One kind of change: its variants, the labels before and after, and its items, of which one can be opened."""
    words = {kind: fill(run, KIND_WORDS[kind]) for kind in own["kind"]}
    kind = pick_one("Read the changes of one kind", list(words), "change", default=next(iter(words)), format_func=named_by(words))
    variants = load(planted_changes, run, by=BY_VARIANT, judge=judge)
    variants = variants[(variants["kind"] == kind) & (variants["variant"] != "")]
    if len(variants) > 1:
        columns = planted_changes.table.pick(run, "variant", "of", "value", *(["obeyed"] if kind == "instruction" else []))
        table(variants, "planted_variants", columns)
    _labels(run, judge, str(kind))
    items = load(planted_items, run, kind=kind)
    items = items[items["judge"] == judge]
    _item_list(
        run, items.sort_values("outcome", key=lambda outcome: outcome.map(_outcome_order), kind="stable").reset_index(drop=True)
    )


def _outcome_order(outcome: str) -> int:
    """The order of reading: failures first."""
    return ["wrong", "lenient", NO_LABEL, "untelling", "right"].index(outcome)


def _labels(run: Run, judge: str, kind: str) -> None:
    """Labels before (rows) and after (columns)."""
    frame = load(planted_labels, run)
    own = frame[(frame["judge"].fillna("not stated") == judge) & (frame["kind"] == kind)]
    order = [*map(str, LABELS), "UNSCORED"]
    wide = own.pivot_table(index="label_before", columns="label", values="items", aggfunc="sum", fill_value=0).reindex(
        [label for label in order if label in set(own["label_before"])]
    )
    after = [label for label in order if label in wide.columns]
    shown = wide[after].astype(int).rename(index=_word).rename_axis("before").reset_index()
    table(shown, "planted_labels", {"before": "Label before", **{label: f"after: {_word(label)}" for label in after}})


def _word(label: str) -> str:
    return LABEL_WORDS.get(label, NO_LABEL)


def _item_list(run: Run, items: pd.DataFrame) -> None:
    columns = planted_items.table.pick(run, "outcome", "question", "before", "after", "label_before", "label")
    shown = items.assign(**{name: items[name].map(lambda label: _word(label or "")) for name in ("label_before", "label")})
    clicked = clicked_row(shown, "planted_items", columns, rows=8)
    counts(run, "Click a row to read both answers with the change marked. What went wrong comes first.")
    chosen = items.iloc[0] if clicked is None else clicked
    judged_items = load(planted_item, run, item_id=str(chosen["item_id"]))
    for item in judged_items:
        if (item.judge or "not stated") == chosen["judge"]:
            _item(run, item)


def _item(run: Run, item: PlantedItem) -> None:
    names = handbook_names(load(handbook_list, run))
    st.html(CSS)
    sides = (
        (ChangedSide.A, item.handbook_a, item.answer_a),
        (ChangedSide.B, item.handbook_b, item.answer_b),
    )
    answers = [(AnswerHead(names.get(name, name)), _marked(text or "", item, side)) for side, name, text in sides]
    expected = " or ".join(_word(label) for label in item.expected) or "unknown"
    st.html(rendered("judge/planted_item.html", item=item, badge=label_badge_html, expected=expected, answers=answers))
    if item.handbook_a == item.handbook_b:
        counts(run, "An answer paired with itself: nothing but the change differs.")


def _marked(text: str, item: PlantedItem, side: ChangedSide) -> Markup:
    """The answer with the changed words marked, where they are known to be in it."""
    if item.side != side or item.start is None or not item.after:
        return escape(shortened(text)) or Markup("<i>empty</i>")
    # Without the space around it, which would be marked as a line of its own
    start, end = item.start + len(item.after) - len(item.after.lstrip()), item.start + len(item.after.rstrip())
    marked = Markup('{}<mark class="number" title="the planted change">{}</mark>{}')
    return marked.format(text[:start], text[start:end], text[end:])
