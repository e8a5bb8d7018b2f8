"""Judge: which judge labelled this run, how consistent its labels are in a repeat, and which replies were unreadable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from audit.charts.rates import Rate, rate_dots
from audit.charts.style import coefficient, coefficient_interval, interval, percent
from audit.exports.sections.judge import CHECK_RATES, READING, one_row_per_check
from audit.formatting import fixed
from audit.metrics.judge import CHECK_WORDS, FIGURE_WORDS, chosen_pairs_note, judge_checks
from audit.metrics.judge_length import judge_length
from audit.model_family import self_preference_note
from audit.store.runs import Run
from audit.tables import Column
from audit.terms import fill
from audit.vocabulary import Parse
from pages._shared import sections
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.widgets import chart, counts, footer, link, say, table
from pages.judge.planted_changes import planted_section

LEAD = (
    "How far can the labels of this run be trusted? Who the judge was, how consistent it is, and which pairs it left unlabelled."
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


def judge_section(run: Run, reading: pd.DataFrame) -> None:
    """The judge's name and settings as the release records them, and how many pairs it was asked about."""
    unscored = reading[(reading["part"] == "unscored") & (reading["name"] == "(all)")].iloc[0]
    st.markdown(say(run, "**Judge**: {judge}", judge=run.manifest.get("judge") or "not recorded in the release"))
    counts(
        run,
        "The judge was asked about {asked} pairs. {unscored} of them are unscored ({share}; 95 % interval {span}).",
        asked=f"{unscored['of']:,}",
        unscored=f"{unscored['count']:,}",
        share=percent(unscored["value"], 2),
        span=interval(unscored["value_low"], unscored["value_high"], 2) or "unknown",
    )
    if note := self_preference_note(run.manifest):
        st.warning(say(run, note))
    settings = run.manifest.get("judge_settings")
    if isinstance(settings, Mapping) and settings:
        listed = pd.DataFrame(setting_entries(settings), columns=["name", "value"])
        with st.expander(f"Settings: protocol, prompts, server ({len(listed)} entries)"):
            table(listed, "judge_settings", {"name": "Setting", "value": "Value"}, rows=20)
    else:
        counts(run, "The release does not record how the judge was set up: protocol, prompts and server are unknown.")


def replies_section(run: Run, reading: pd.DataFrame) -> None:
    """How replies were parsed, and unscored pairs by reason."""
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
        chart(rate_dots(measured, "kind", CHECK_RATES), "checks", alt)
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
        table(measured, "check_table", (kind, *counted, *agreement, *shares, beyond))
        if chosen := chosen_pairs_note(run.manifest):
            counts(run, "{chosen}", chosen=chosen)
        footer(frame, "judge-checks", run, "judge_checks")
    # The section on planted instructions has its own command
    missing = [kind for kind, words in kinds.items() if kind in OPTIONS and not checks.loc[checks["kind"] == words, "made"].any()]
    if missing:
        not_measured = "; ".join(kinds[kind] for kind in missing)
        counts(
            run,
            "**Not measured**: {kinds}. The following command asks the judge again and loads the result as a run:",
            kinds=not_measured,
        )
        st.code(
            MEASURE.format(run=run.key, options=" ".join(OPTIONS[kind] for kind in missing)), language="bash", wrap_lines=True
        )


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
        rate_dots(named, "name", (rate,)),
        "lengths",
        "Share of disagreeing pairs, by the difference in length between the two answers.",
    )
    counts(
        run,
        "{n} pairs in which both answer, in fifths by how much shorter the shorter answer is. The rank correlation "
        "of the difference in length with disagreement, within {questions}, is **{rho}** (95 % interval {span}). "
        "Longer answers say more, so a trend is a "
        "reason to look closer, not proof of bias.",
        n=f"{rho['of']:,}",
        rho=coefficient(rho["value"]),
        span=coefficient_interval(rho["value_low"], rho["value_high"]),
    )
    footer(frame, "judge-length", run, "judge_length")


with page("Judge", LEAD) as run:
    reading = load(READING.metric, run)
    judge_section(run, reading)
    consistency_section(run)
    planted_section(run)
    replies_section(run, reading)
    length_section(run)
    link("compare", "Compare with another run, pair by pair", run, icon=":material/compare_arrows:")
