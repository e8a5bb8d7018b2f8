"""Retrieval: which search strategy finds the section with the answer, how often, and at what cost."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pandas as pd
import streamlit as st

from audit.charts.run_changes import points, points_interval
from audit.charts.style import NO_VALUE, handbook_names, interval, percent
from audit.evaluation.search_trials import COMPARISONS
from audit.exports.sections.model import SectionSpec
from audit.exports.sections.retrieval import (
    BY_GROUP,
    CITING,
    CONFIGURATION_CHANGES,
    CONFIGURATIONS,
    COST_HEADING,
    MISSED,
    STRATEGIES,
    STRATEGY_CHANGES,
    with_totals,
)
from audit.formatting import signed
from audit.metrics.retrieval import COST_TABLE, MEANS, MEASURE_TITLES, retrieval
from audit.queries.lookup import handbook_list
from audit.store.runs import Run
from audit.tables import Column
from audit.terms import display_name
from pages._blinded.frame import escaped
from pages._shared import sections
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.pickers import choose, named_by
from pages._shared.widgets import counts, footer, linked_rows, say, server_commands, table, title_of

LEAD = "Which search strategy finds the section that contains the answer? All strategies are tried on the same {questions}."
NO_TRIALS = (
    "This run has no retrieval trials, so search strategies cannot be compared (not measured, which is not the same as zero). "
    "A release provides them in trials.jsonl; for your own {handbooks}, commands create them."
)
TRIAL_COMMANDS = """\
audit retrieve DOCUMENTS --questions FILE --out DIR --gold FILE --strategy hero --strategy bm25
audit retrieve DOCUMENTS --questions FILE --out DIR --gold FILE --strategy hybrid --unit corpus --ablate   # search_trials.jsonl
audit run CONFIG.toml      # with gold sections in the configuration: retrieves, answers, judges, loads"""
TRIED = "{tried_on} **{n}** searches with a known section, over {questions} {word}"
UNKNOWN = "; {unknown} more without a known section are excluded."
MAX_LISTED = 300
SHARES = {*MEASURE_TITLES} - MEANS
"""Measures of strategies whose change is in points; those of others are means."""
DECIMALS = 3
"""Decimals of the change of a mean."""


def compared(run: Run, everything: pd.DataFrame) -> None:
    """The measures of each strategy, with intervals."""
    trials, unknown = int(everything["trials"].max()), int(everything["no_gold"].max())
    questions = int(everything["questions"].max())
    same_number = everything["trials"].nunique() == 1
    tried_on = "Each strategy was tried on" if same_number else "The strategies were tried on up to"
    counts(
        run, TRIED + (UNKNOWN if unknown else "."), n=f"{trials:,}", tried_on=tried_on, unknown=f"{unknown:,}",
        questions=f"{questions:,}", word=run.term("question", questions),
    )  # fmt: skip
    sections.drawing(run, STRATEGIES, everything)
    footer(everything, STRATEGIES.csv, run, STRATEGIES.metric.name)


def _change(measure: str, value: float) -> str:
    """`+1.2 points` of a share, `+0.012` of a mean; a dash where it is not known."""
    if math.isnan(value):
        return NO_VALUE
    return f"{points(value)} points" if measure in SHARES else signed(value, DECIMALS)


def _change_interval(measure: str, low: float, high: float) -> str:
    """`-1.2 to +0.4` in the same unit; empty without an interval."""
    if math.isnan(low) or measure in SHARES:
        return points_interval(low, high)
    return f"{signed(low, DECIMALS)} to {signed(high, DECIMALS)}"


def against_the_first(run: Run, section: SectionSpec, **options: str) -> None:
    """Paired differences of strategies or configurations, search by search."""
    frame = load(section.metric, run, **options)
    if frame.empty:
        counts(run, "Only one was tried on these searches, so there is nothing to compare it with.")
        return
    st.header(escaped(f"Each compared with {frame['against'].iloc[0]}, search by search"), anchor=False)
    rows = frame.assign(
        change=list(map(_change, frame["measure"], frame["change"])),
        span=list(map(_change_interval, frame["measure"], frame["change_low"], frame["change_high"])),
    )
    what, measure, change, direction, *counted = section.metric.table.pick(run, *section.columns)
    in_words = Column.text("change", change.heading), Column.text("span", "95 % interval")
    sections.listing(run, section, rows, (what, measure, *in_words, direction, *counted), saved=frame)


def cost(run: Run, everything: pd.DataFrame) -> None:
    """What each strategy gave to the generator, and its CPU time."""
    st.header(COST_HEADING, anchor=False)
    with_total, used = with_totals(everything)
    table(with_total, "cost", COST_TABLE.pick(run, "strategy", "total", *used, "seconds"))


def answered(run: Run) -> None:
    """Whether the run's own answers cite the gold sections."""
    frame = load(CITING.metric, run)
    total = int(frame["of"].iloc[0])
    sections.heading(run, CITING)
    if not total:
        counts(run, CITING.empty)
        return
    best = frame.iloc[0]
    st.markdown(
        say(
            run,
            "Of **{n}** answers with a known section, **{share}** cite it (95 % interval {span}).",
            n=f"{total:,}",
            share=percent(best["value"]),
            span=interval(best["value_low"], best["value_high"]) or "unknown",
        )
    )
    sections.listing(run, CITING, frame)


def by_group(run: Run, names: dict[str, str]) -> None:
    """hit@5 of every strategy by organ of the question or by handbook."""
    sections.heading(run, BY_GROUP)
    by = choose("By", ("organ", "handbook"), "by", lambda name: title_of(run, name), show_label=False)
    frame = load(BY_GROUP.metric, run, by=by)
    named = frame.assign(name=[names.get(name, display_name(name)) for name in frame["name"]])
    columns = (Column.text("name", title_of(run, by)), *BY_GROUP.metric.table.pick(run, *BY_GROUP.columns))
    section = replace(BY_GROUP, key=f"by_{by}", file=f"retrieval-{by}")
    sections.listing(run, section, named, columns, saved=frame)


def missed(run: Run, names: dict[str, str], strategies: list[str]) -> None:
    """The searches that a strategy missed; a click opens the answer."""
    sections.heading(run, MISSED)
    strategy = choose("Strategy", strategies, "strategy", show_label=False)
    frame = load(MISSED.metric, run, strategy=strategy)
    if frame.empty:
        counts(run, MISSED.empty)
        return
    counts(
        run, "**{n}** searches without a gold section among the first five results{cut}. Click one to open the answer.",
        n=f"{len(frame):,}", cut=f"; {MAX_LISTED} are listed" if len(frame) > MAX_LISTED else "",
    )  # fmt: skip
    listed = frame.assign(handbook=frame["handbook_id"].map(names)).head(MAX_LISTED)
    columns = MISSED.metric.table.pick(run, *MISSED.columns)
    linked_rows(
        run, listed, f"missed_{strategy}", columns, "answer",
        lambda row: {"question": str(row["question_id"]), "handbook": str(row["handbook_id"])}, rows=8,
    )  # fmt: skip
    footer(frame, MISSED.csv, run, MISSED.metric.name)


def best_and_cited(run: Run, everything: pd.DataFrame) -> None:
    """How each strategy did, and whether the answers cite what was found."""
    compared(run, everything)
    answered(run)


def configurations(run: Run, everything: pd.DataFrame) -> None:
    """Configurations of retrieval, one comparison at a time."""
    available = tuple(dict.fromkeys(everything["comparison"]))
    chosen = choose("Comparison", available, "comparison", named_by(COMPARISONS), show_label=False)
    sections.body(run, CONFIGURATIONS, load(CONFIGURATIONS.metric, run, comparison=chosen))
    against_the_first(run, CONFIGURATION_CHANGES, comparison=chosen)


VIEWS = {
    "all": "Strategies", "differences": "Differences", "where": "Where it is harder", "missed": "Missed searches", "cost": "Cost",
    "configurations": "Configurations",
}  # fmt: skip
UNSCORED = "No trial of this run names the section that contains the answer, so only what the generator was given can be shown."

with page("Retrieval", LEAD, unlabelled=LEAD) as run:
    everything, tried = load(retrieval, run), load(CONFIGURATIONS.metric, run)
    if everything.empty:
        if not tried.empty:
            configurations(run, tried)
            st.stop()
        st.info(say(run, NO_TRIALS))
        server_commands(TRIAL_COMMANDS)
        st.stop()
    if not everything["trials"].sum():
        st.info(say(run, UNSCORED))
        cost(run, everything)
        if not tried.empty:
            configurations(run, tried)
        st.stop()
    names = handbook_names(load(handbook_list, run))
    drawn: dict[str, Callable[[], None]] = {
        "all": lambda: best_and_cited(run, everything), "differences": lambda: against_the_first(run, STRATEGY_CHANGES),
        "where": lambda: by_group(run, names), "missed": lambda: missed(run, names, list(everything["strategy"])),
        "cost": lambda: cost(run, everything), **({} if tried.empty else {"configurations": lambda: configurations(run, tried)}),
    }  # fmt: skip
    drawn[choose("Show", tuple(drawn), "view", named_by(VIEWS), show_label=False)]()
