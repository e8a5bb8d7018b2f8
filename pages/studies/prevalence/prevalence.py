"""Prevalence: how common each label is in the whole run, corrected for the judge's errors, and how many ratings are enough."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from annotation.agreement.tables import with_interval
from annotation.label_store.studies import Study
from annotation.prevalence.estimates import (
    CORRECTED,
    CORRECTED_TABLE,
    DISAGREES,
    JUDGE_ALONE,
    METHOD_NAMES,
    METHODS_TABLE,
    ROWS,
    UNWEIGHTED,
    by_label,
    corrected_disagreement,
    prevalence,
)
from annotation.prevalence.planning import PLAN_TABLE, sample_size_plan
from annotation.prevalence.sentences import (
    annotator_errors_sentence,
    disagreement_sentence,
    edge_sentences,
    rate_sentence,
    saving_sentence,
    shared_errors_sentence,
)
from annotation.prevalence.shared_errors import SHARED_ERRORS_TABLE, shared_errors
from annotation.ratings.table import GOLD, Ratings
from annotation.schemes import PAIRS
from annotation.studies.accounts import Role
from annotation.studies.earlier_studies import poolable
from annotation.studies.sample_plan import MAX_STUDY_ITEMS
from annotation.studies.verdict_store import sample_digest
from audit.charts.rates import Rate, rate_dots
from audit.charts.style import interval
from audit.errors import AuditError
from audit.exports.table_model import with_population_column
from audit.vocabulary import LABELS
from pages._blinded.access import label_store
from pages._blinded.frame import escaped, study_page
from pages._blinded.option_labels import distinct_labels
from pages._blinded.scripts import script_path
from pages._shared.loaders import loaded_runs
from pages._shared.study_figures import NEW_STUDY_OPEN, current_pooled, looked_at, pick_study_or_stop, rater_names
from pages._shared.widgets import chart, csv_button, table

SOURCES = {GOLD: "the gold labels"}
LEAD = (
    "The judge makes errors, and these figures correct for them: the raters' labels, weighted by the exactly known size of each "
    "stratum, show how common each label is in the whole run."
)
NOTES = {
    CORRECTED: "the raters' labels, weighted by stratum",
    JUDGE_ALONE: "not corrected; an interval cannot show its bias",
    UNWEIGHTED: "does not represent the run, so not in the chart",
}
WHY = (
    "**Corrected** is the figure to use: in simulated studies its interval contained the true value in 93 to "
    "98\N{NO-BREAK SPACE}% for every label."
)
POOLED = (
    "A further study of the same run makes a study larger. A pair that both have counts once. Annotators keep their seats: A of "
    "one study may be another person than A of the other."
)
PLANNED = (
    "A plan assumes that the label is as common among further items as it was among the first. Rate at most as many items again "
    "as you have, then look at the plan once more: that takes the fewest ratings."
)
HALVED = 2.0
NARROW_HELP = "Half of the distance between the interval's ends. Filled in: half of what it is now."
NARROWED = (
    "The interval of the share of {label}, among all pairs of the run, is {width:.1f} percentage points wide{when}, from {span}. "
    "To make it {wanted:.1f} points wide, **{items:,} more items** are needed."
)
TRUTH = (
    "What counts as true here is the label that annotators agree on or an adjudicator decided. Where all of them are wrong "
    "together, these figures are wrong with them."
)


def pooled_studies(study: Study) -> tuple[str, ...]:
    """The study, and those of the same run whose ratings are to be counted with its own."""
    others = poolable(label_store(), study)
    chosen = st.multiselect("Together with", others, key="pooled", help=POOLED, placeholder="No other study") if others else []
    return (study.study_id, *chosen)


def headline(ratings: Ratings, human: str, shares: pd.DataFrame, source: str) -> None:
    """The result in sentences, then the corrected share of each label with the judge's own count next to it."""
    rate = corrected_disagreement(ratings, human)
    for sentence in filter(None, (disagreement_sentence(shares, source), rate_sentence(rate))):
        st.markdown(escaped(sentence))
    rows = by_label(shares)
    notes = [note for note in rows["note"].unique() if note]  # one note is about all labels alike
    table(rows, "shares", CORRECTED_TABLE.named("label", "value", "judge", "n"), digits=2)
    for sentence in (*notes, *edge_sentences(shares), TRUTH):
        st.caption(escaped(f"{sentence[:1].upper()}{sentence[1:].rstrip('.')}."))


def wrong_together(ratings: Ratings, human: str) -> None:
    """What the figures would be if the people behind them err together."""
    errors = shared_errors(ratings, human=human)
    for sentence in filter(None, (shared_errors_sentence(errors), annotator_errors_sentence(ratings))):
        st.markdown(escaped(sentence))
    table(errors, "shared_errors", SHARED_ERRORS_TABLE.named("wrong", "value", "least", "most"))
    for note in SHARED_ERRORS_TABLE.notes:
        st.caption(escaped(note))


def every_method(study: Study, shares: pd.DataFrame, usual: pd.DataFrame, kind: str) -> None:
    """One label by every method: a sentence, a chart, a table, and why one of them is the headline.

    usual  the shares with intervals for one look, by which two samples are compared; `kind`: of those of `shares`
    """
    label = st.segmented_control(
        "Label", ROWS, default=DISAGREES, required=True, format_func=str.capitalize, key="estimated_label"
    )
    st.markdown(escaped(saving_sentence(usual, label)))
    order = [method for method in METHOD_NAMES if method in set(shares["method"])]
    rows = with_interval(shares[shares["label"] == label].set_index("method").loc[order].reset_index())
    rows["note"] = [NOTES.get(method, note) for note, method in zip(rows["note"], order, strict=True)]
    share = Rate("value", "Share of the run", "n", "rated items")
    drawn = rows[(rows["method"] != UNWEIGHTED) & rows["value"].notna()].replace({"method": METHOD_NAMES})
    chart(
        rate_dots(drawn, "method", [share], METHOD_NAMES[CORRECTED]),
        "methods",
        f"Share of {pairs_called(label)} in the run, by method",
    )
    table(rows, "method_table", METHODS_TABLE.named("method", "value", "n", "note"), digits=2)
    exported = with_population_column(shares, METHODS_TABLE.population, kind)
    csv_button(exported, "methods", f"{study.study_id}_prevalence.csv")
    st.markdown(WHY)


def pairs_called(label: str) -> str:
    """The pairs of a row of `ROWS`, in a sentence."""
    return "pairs that disagree" if label == DISAGREES else f"{label.lower()} pairs"


def planner(study: Study, pooled: tuple[str, ...], ratings: Ratings, human: str, usual: pd.DataFrame) -> None:
    """Ratings per stratum that make an interval narrow enough (half as wide as now, unless asked otherwise), and a study."""
    left, right = st.columns(2)
    label = left.selectbox("Share of", ROWS, index=ROWS.index(DISAGREES), format_func=str.lower, key="planned")
    now = usual[(usual["method"] == CORRECTED) & (usual["label"] == label)].iloc[0]
    present = 50 * (now["high"] - now["low"])  # points; the estimate need not be in the middle
    half = HALVED if math.isnan(present) else min(max(round(present / 2, 1), 0.1), 20.0)
    points = right.number_input(
        "Half-width of the interval, in percentage points", 0.1, 20.0, half, 0.1, key=f"half_width_{label}", help=NARROW_HELP
    )
    needed = sample_size_plan(ratings, points / 100, label, human)
    more, when = int(needed["more"].sum()), " once the study is complete" if ratings.live else ""
    if not math.isnan(present):
        words = {"label": pairs_called(label), "span": interval(now["low"], now["high"]), "items": more, "when": when}
        st.markdown(NARROWED.format(width=2 * present, wanted=2 * points, **words))
    table(needed, "plan", PLAN_TABLE.named("stratum", "pairs", "rated", "wanted", "more"))
    st.caption(f"Each item is rated by {study.ratings_per_item} annotators. {PLANNED if more else ''}")
    if more and set(needed["stratum"]) <= set(map(str, LABELS)) and st.button("Draw them as a further study", key="further"):
        _fill_new_study(study, pooled, dict(zip(needed["stratum"], needed["more"], strict=True)))
        st.switch_page(script_path("studies/study"))


def _fill_new_study(study: Study, pooled: tuple[str, ...], items: dict[str, int]) -> None:
    """Fill in the fields of a new study with these items, without the pairs of the pooled ones."""
    run = next((run for run in loaded_runs() if run.digest == sample_digest(label_store(), study.study_id)), None)
    if run is None:
        raise AuditError("The run that this study was drawn from is not loaded. Nothing was drawn. Load its release again.")
    st.session_state.update({f"items_{label}": min(items.get(str(label), 0), MAX_STUDY_ITEMS) for label in LABELS})
    st.session_state.update({
        "study_run": run.key, "after": list(pooled), "calibration": 0, "ratings_per_item": study.ratings_per_item,
        NEW_STUDY_OPEN: True,
    })  # fmt: skip


with study_page("Prevalence", LEAD, Role.PI):
    study = pick_study_or_stop(PAIRS)
    names = {
        GOLD: "gold: agreed or adjudicated; an open dispute counts in equal parts for each label given",
        **rater_names(study.study_id),
    }
    people = [name for name in names if name != "judge"]
    human = st.selectbox("Reference labels", people, format_func=distinct_labels(people, names.__getitem__), key="human")
    pooled = pooled_studies(study)
    ratings = current_pooled(pooled)
    st.caption(escaped(looked_at(study.study_id, ratings, pooled)))
    shares = prevalence(ratings, human)
    headline(ratings, human, shares, SOURCES.get(human, names[human]))
    usual = prevalence(ratings.as_live(live=False), human) if ratings.live else shares
    st.header("How many ratings are enough?", anchor=False)
    planner(study, pooled, ratings, human, usual)
    with st.expander(SHARED_ERRORS_TABLE.title):
        wrong_together(ratings, human)
    with st.expander("What the judge's labels save"):
        every_method(study, shares, usual, ratings.intervals)
