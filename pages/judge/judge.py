"""Judge: who labelled this run, and how its labels do next to raters, itself, a second judge, planted changes and dates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st
from markupsafe import Markup, escape

from audit.charts.rates import Rate, rate_dots
from audit.charts.style import LABEL_WORDS, coefficient, coefficient_interval, handbook_names
from audit.exports.sections.judge import (
    BY_BOTH,
    CHECK_RATES,
    DIFFERENCES,
    DOUBTED,
    DRIFT,
    PLANTED,
    PROMPTS,
    QUOTES,
    READING,
    SECOND,
    one_row_per_check,
)
from audit.exports.sections.model import SectionSpec
from audit.formatting import fixed, shortened
from audit.metrics.judge import CHECK_WORDS, FIGURE_WORDS, chosen_pairs_note, judge_checks, judge_length
from audit.metrics.planted import BY_VARIANT, KIND_WORDS, planted_changes, planted_items, planted_labels
from audit.model_family import self_preference_note
from audit.queries.lookup import handbook_list
from audit.queries.planted import PlantedItem, planted_item
from audit.store.runs import Run
from audit.tables import Column
from audit.terms import fill
from audit.vocabulary import LABELS, ChangedSide, Parse
from pages._blinded.frame import escaped
from pages._blinded.templates import rendered
from pages._shared import sections
from pages._shared.judge_story import story
from pages._shared.loaders import drawn, load
from pages._shared.page import page
from pages._shared.pickers import choose, named_by, pick_one
from pages._shared.rating_sources import first_source
from pages._shared.side_by_side import CSS, AnswerHead, label_badge_html
from pages._shared.widgets import chart, clicked_row, counts, footer, link, say, server_commands, table
from pages.judge.rated import rated_section

LEAD = (
    "How far can the labels of this run be trusted? Who the judge is, and how it does next to raters, itself, a second judge, "
    "planted changes and earlier dates."
)
KAPPAS = ("kappa_quadratic", "kappa")
FIGURES = {figure: words for figure, words in FIGURE_WORDS.items() if figure not in KAPPAS and figure != "beyond repeat"}
OPTIONS = {"swap": "--swap", "blind": "--blind-centers", "repeat": "--repeat 1"}
MEASURE = "audit judge {run} {options} --pairs sample:500 --out checked --load"
FIFTHS = {"1": "most similar", "2": "second fifth", "3": "middle fifth", "4": "fourth fifth", "5": "least similar"}


def setting_entries(value: Mapping[str, Any], parent: str = "") -> Iterator[tuple[str, str]]:
    """Every entry of a nested object as one line: `prompts · label · digest` and its value."""
    for name, inner in value.items():
        path = f"{parent} · {name}" if parent else str(name)
        if isinstance(inner, Mapping):
            yield from setting_entries(inner, path)
        else:
            yield path, ", ".join(map(str, inner)) if isinstance(inner, list) else str(inner)


def judge_section(run: Run) -> None:
    """The judge's name, and whether it may favour answers of its own family."""
    st.markdown(say(run, "**Judge**: {judge}", judge=run.manifest.get("judge") or "not recorded in the release"))
    if note := self_preference_note(run.manifest):
        st.warning(say(run, note))


def settings_section(run: Run) -> None:
    """Protocol, prompts and server as the release records them, and the prompts in full, each to be opened."""
    settings = run.manifest.get("judge_settings")
    if isinstance(settings, Mapping) and settings:
        listed = pd.DataFrame(setting_entries(settings), columns=["name", "value"])
        st.header("How the judge was set up", anchor=False)
        table(listed, "judge_settings", {"name": "Setting", "value": "Value"})
    else:
        counts(run, "The release does not record how the judge was set up: protocol, prompts and server are unknown.")
    for row in sections.show(run, PROMPTS).itertuples():
        with st.expander(escaped(f"{row.prompt} ({row.used_for})")):
            st.code(row.text, language=None, wrap_lines=True)


def replies_section(run: Run) -> None:
    """How replies were parsed, and unscored pairs by reason."""
    reading = load(READING.metric, run)
    sections.heading(run, READING)
    read, unscored = reading[reading["part"] == "read"], reading[reading["part"] == "unscored"]
    if read["value"].drop(read.index[-1]).isna().all():
        counts(run, "Not measured: this release does not record how each reply was read.")
    else:
        rows = read[read["count"] > 0]
        sections.rows(run, READING, rows)
        if prose := rows.loc[rows["name"] == Parse.PROSE, "count"].sum():
            template = "{n} labels were read from prose: the reply was the label, or stated it on a line of its own."
            counts(run, template, n=f"{prose:,}")
    rows = unscored[unscored["count"] > 0]
    if rows.empty:
        counts(run, "No pair is unscored.")
    else:
        sections.rows(run, replace(READING, key="unscored"), rows)
    footer(reading, READING.csv, run, READING.metric.name)


def consistency_section(run: Run) -> None:
    """The bias checks: how many labels change, per kind of check, drawn and as a table."""
    st.header("Does the judge give the same label when asked again?", anchor=False)
    frame = load(judge_checks, run)
    kinds = {kind: fill(run, words) for kind, words in CHECK_WORDS.items()}
    checks = one_row_per_check(run, frame)
    measured = checks[checks["made"] > 0]
    if not measured.empty:
        alt = "Shares of checks in which the label changes, per kind of check, with 95 % intervals."
        chart(drawn(rate_dots, measured, "kind", CHECK_RATES), "checks", alt)
        counts(
            run,
            "Lines are 95 % intervals. A label crosses the line when it moves between agreement (absent, consistent, "
            "complementary) and disagreement (divergent, contradictory). The last row, with nothing changed, is the "
            "noise floor for the others.",
        )
        kind, *_ = judge_checks.table.pick(run)
        counted = Column.count("made", "Checks"), Column.count("of", "Readable twice", "checks")
        agreement = (Column.decimal(name, FIGURE_WORDS[name]) for name in KAPPAS)
        shares = (Column.share(figure, words) for figure, words in FIGURES.items())
        beyond = Column.share("beyond repeat", FIGURE_WORDS["beyond repeat"])
        table(measured, "check_table", (kind, *counted, *shares, beyond, *agreement))
        if chosen := chosen_pairs_note(run.manifest):
            counts(run, "{chosen}", chosen=chosen)
        footer(frame, "judge-checks", run, "judge_checks")
    # The section on planted instructions has its own command
    missing = [kind for kind, words in kinds.items() if kind in OPTIONS and not checks.loc[checks["kind"] == words, "made"].any()]
    if missing:
        not_measured = "; ".join(kinds[kind] for kind in missing)
        counts(
            run,
            "**Not measured**: {kinds}. A command asks the judge again and loads the result as a run.",
            kinds=not_measured,
        )
        server_commands(MEASURE.format(run=run.key, options=" ".join(OPTIONS[kind] for kind in missing)))


def length_section(run: Run) -> None:
    """Disagreement by fifths of the difference in length between the two answers."""
    st.header("Do the judge's labels depend on the length of answers?", anchor=False)
    frame = load(judge_length, run)
    # The last row has the correlation, the others the fifths.
    fifths, rho = frame[frame["fifth"] != "(rho)"], frame.iloc[-1]
    if fifths.empty:
        counts(run, "Not measured: no pair has two answers of known length.")
        return
    named = fifths.assign(
        name=[
            f"{FIFTHS[row['fifth']]} ({fixed(100 * row['least'], 0)} to {fixed(100 * row['most'], 0)} % shorter)"
            for row in fifths.to_dict("records")
        ]
    )
    rate = Rate("value", "Disagreement by difference in length", "of", "pairs in which both answer", "#c77700")
    chart(
        drawn(rate_dots, named, "name", (rate,)),
        "lengths",
        "Share of disagreeing pairs, by the difference in length between the two answers.",
    )
    counts(
        run,
        "{n} pairs in which both answer, in fifths by how much shorter the shorter answer is. The rank correlation "
        "of the difference in length with disagreement, within {questions}, is **{rho}** (95 % interval {span}). "
        "Longer answers say more, so a trend is a "
        "reason to look closer, not proof of bias.",
        n=f"{rho['of']:,}", rho=coefficient(rho["value"]), span=coefficient_interval(rho["value_low"], rho["value_high"]),
    )  # fmt: skip
    footer(frame, "judge-length", run, "judge_length")


# -- Stress test of the judge --------------------------------------------------------------------------------


COMMAND = "audit stress judge RELEASE"
PLANTED_CHANGES_LEAD = (
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
        server_commands(COMMAND)
        return
    counts(run, PLANTED_CHANGES_LEAD)
    own = frame[frame["judge"] == _judge(run, frame)]
    sections.rows(run, PLANTED, own)
    footer(frame, PLANTED.csv, run, PLANTED.metric.name)


def _judge(run: Run, frame: pd.DataFrame) -> str:
    """The judge whose labels are shown: the run's own first, another one where somebody picks it."""
    judges = list(dict.fromkeys(frame["judge"]))
    judges.sort(key=lambda name: name != run.manifest.get("judge"))
    if len(judges) == 1:
        counts(run, "Judge: {judge}.", judge=judges[0])
        return str(judges[0])
    return pick_one("Judge", judges, "planted_judge", default=judges[0], format_func=str) or judges[0]


def planted_one_by_one(run: Run) -> None:
    """One kind of change: its variants, the labels before and after, and its items, of which one can be opened."""
    frame = load(PLANTED.metric, run)
    if frame.empty:
        counts(run, PLANTED.empty)
        return
    judge = _judge(run, frame)
    own = frame[frame["judge"] == judge]
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


# -- The page: each view answers one question ----------------------------------------------------------------


def in_short(run: Run) -> None:
    """Who the judge is, and every way of testing it in a sentence."""
    judge_section(run)
    story(run, first_source(run), load(READING.metric, run))
    link("compare", "Compare with another run, pair by pair", run, icon=":material/compare_arrows:")


VIEWS = {
    "all": "In short", "raters": "Where it errs", "again": "Asked again", "dates": "Over time", "second": "A second judge",
    "planted": "Planted changes", "read": "Changes one by one", "doubts": "Labels to doubt",
    "replies": "Its replies", "prompts": "Its settings",
}  # fmt: skip
PARTS: dict[str, tuple[SectionSpec | Callable[[Run], None], ...]] = {
    "all": (in_short,), "raters": (rated_section,), "again": (consistency_section,), "dates": (DRIFT,),
    "second": (SECOND, BY_BOTH), "planted": (planted_section,), "read": (planted_one_by_one,),
    "doubts": (DOUBTED, length_section), "replies": (QUOTES, DIFFERENCES, replies_section), "prompts": (settings_section,),
}  # fmt: skip
"""What each view draws."""

with page("Judge", LEAD) as run:
    for part in PARTS[choose("Show", tuple(VIEWS), "view", named_by(VIEWS), show_label=False)]:
        if isinstance(part, SectionSpec):
            sections.show(run, part)
        else:
            part(run)
