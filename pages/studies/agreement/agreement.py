"""Agreement: how far annotators agree with each other and with the judge, updated live while they work."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
import streamlit as st

from annotation.agreement.comparisons import POPULATION, SAMPLE, comparisons
from annotation.agreement.report import AgreementReport
from annotation.agreement.sentences import (
    capitalised,
    figure,
    item_noun,
    judge_sentence,
    people_sentence,
    same_of,
    share_words,
    together_sentence,
    undefined,
    weighted_sentence,
)
from annotation.agreement.subgroups import (
    CLUSTERED_TABLE,
    FAILURE_MODES_TABLE,
    SUBGROUPS_TABLE,
    clustered_agreement,
    failure_modes,
    subgroups,
)
from annotation.agreement.tables import (
    BY_LABEL_TABLE,
    DRIFT_TABLE,
    FIGURE,
    FIGURES_TABLE,
    JUDGED_LABELS_TABLE,
    LABEL,
    LABEL_SHARES_TABLE,
    RETEST_TABLE,
    TIMES_TABLE,
    rater_name,
    with_interval,
)
from annotation.label_store.engine import LabelStore
from annotation.label_store.results import assignment_rows
from annotation.label_store.studies import Study, StudyState, find_study
from annotation.prevalence.sentences import confirmed_words, least_confirmed_sentence
from annotation.ratings.design import MISSING
from annotation.ratings.gold import GOLD_RULE, MAJORITY, confirmed_calls, gold_standard, reference_standard
from annotation.ratings.table import GOLD, JUDGE, Ratings
from annotation.schemes import HEAD_TO_HEAD, PAIRS, SCHEMES
from annotation.studies.accounts import Account, Role
from annotation.studies.calibration import calibration_of
from annotation.studies.head_to_head import COUPLES_TABLE
from annotation.studies.item_groups import item_groups
from annotation.studies.leakage import blinding_words
from annotation.studies.marked_items import OVERLAP_TABLE, overlap_of_study
from annotation.studies.registered_looks import outcome_with_looks, take_look
from annotation.studies.study_tables import labels_table
from annotation.studies.validation import opened_run
from annotation.studies.verdict_store import verdicts_by_item
from audit.charts.style import NO_VALUE, coefficient_interval
from audit.charts.transitions import confusion_figure
from audit.errors import AuditError
from audit.exports.table_model import with_population_column
from audit.formatting import fixed
from audit.store.runs import Run
from audit.tables import IntervalKind, Row
from audit.vocabulary import LABELS, Label
from pages._blinded.access import label_store, now, require_role
from pages._blinded.frame import escaped, explain, study_page
from pages._blinded.option_labels import distinct_labels
from pages._shared.loaders import loaded_runs
from pages._shared.study_figures import (
    current_ratings,
    current_report,
    judge_is_known,
    looked_at,
    pick_study_or_stop,
    preference_tables,
    rater_names,
    registered,
)
from pages._shared.widgets import clicked_point, clicked_row, csv_button, table

LEAD = (
    "How far annotators agree with each other and with the judge. Labels of pairs are ordered, so the headline is the weighted "
    "kappa; choices between two systems have no order, so there it is the plain one."
)
JUDGE_HIDDEN = (
    "Adjudicators decide without the judge. Figures with it, and the items behind a cell, appear here when every dispute is "
    "decided."
)
MAJORITY_RULE = "The label of more than half of an item's annotators; gold takes its place as soon as disputes are decided."
REFRESH_S = 5
DIGITS = 3
"""Decimals of a coefficient here: an interval of kappa is often only a few hundredths wide."""
SCOPES = {SAMPLE: "These items", POPULATION: "Weighted to the whole run"}
ABOUT = {"label": "Label", "significance": "Significance, where all chose one"}


def lead_sentences(shown: ShownStudy, by: str) -> None:
    """People with people, then the judge with people: what a reader wants to know first."""
    report, people = shown.report, shown.ratings.annotators
    if together := together_sentence(report):
        st.markdown(escaped(together))
    for first, second in combinations(people, 2):
        st.markdown(escaped(people_sentence(report, first, second, shown.name)))
    if by:
        sentences = judge_sentence(report, by, shown.name), least_confirmed_sentence(shown.ratings, by)
        st.markdown(escaped(" ".join([*sentences, weighted_sentence(report, by, shown.name)])))
        if registration := registered(shown.study.study_id):
            looks = take_look(label_store(), shown.study.study_id, registration, shown.ratings, now())
            outcome = outcome_with_looks(registration, report, shown.ratings, looks)
            st.markdown(escaped(f"{registration.sentence(shown.study.created_at)} {outcome}"))
    if left_open := gold_standard(shown.ratings).left_open():
        parts = " These count in parts in the judge's precision alone." if by else ""
        st.caption(escaped(f"{capitalised(left_open)}.{parts}"))


def judge_section(shown: ShownStudy, by: str) -> None:
    """Precision and recall of each label by one reference standard, and the matrix behind them."""
    rows = label_rows(shown.report, shown.ratings, by)
    if rows.empty:
        st.markdown(escaped(f"No item has both a label by {shown.name(by)} and a verdict of the judge yet."))
        return
    study_matrix(shown, ("label", by, JUDGE))
    table(rows, "judged_labels", JUDGED_LABELS_TABLE.columns)
    unused = [LABEL.display(word) for word in shown.report.scheme.words if word not in set(rows["label"])]
    if unused:
        st.caption(escaped(f"Left out, because neither {shown.name(by)} nor the judge gave them: {', '.join(unused)}."))
    rule = GOLD_RULE if by == GOLD else MAJORITY_RULE
    st.caption(escaped(f"Ranges are 95 % intervals. Reference standard: {shown.name(by)}. {rule}"))
    judge_by_groups(shown.study, shown.ratings)


def pick_comparison(report: AgreementReport, names: dict[str, str]) -> tuple[Comparison, str]:
    """The chosen comparison, and its scope."""
    pairs = report.figures[report.figures["name"] != "prevalence"][["about", "first", "second"]].drop_duplicates()
    options: list[Comparison] = [(str(about), str(first), str(second)) for about, first, second in pairs.to_numpy().tolist()]
    named = distinct_labels(options, lambda comparison: in_words(comparison, names), numbered=True)
    chosen = st.selectbox("Compare", options, format_func=named, key="comparison")
    scopes = list(report.figures["scope"].unique())
    scope = st.segmented_control("For", scopes, key="scope", required=True, default=SAMPLE, format_func=SCOPES.__getitem__)
    return chosen, scope or SAMPLE


def in_words(comparison: Comparison, names: dict[str, str]) -> str:
    """A comparison in words, as plain text."""
    about, first, second = comparison
    first_name, second_name = names.get(first, first), names.get(second, second)
    if second == JUDGE:
        return f"{ABOUT[about]}: {second_name} against {first_name}"
    return f"{ABOUT[about]}: {first_name} and {second_name}" if second else f"{ABOUT[about]}: {first_name} together"


def rows_of(frame: pd.DataFrame, comparison: Comparison, scope: str) -> pd.DataFrame:
    """The rows of one comparison in one scope."""
    about, first, second = comparison
    return frame[(frame[["about", "first", "second", "scope"]] == [about, first, second, scope]).all(axis=1)]


def headline(rows: pd.DataFrame, coefficient: str) -> None:
    """The headline coefficient and the raw agreement, each with interval and count; nothing where they are undefined."""
    for column, name in zip(st.columns(2), (coefficient, "agreement"), strict=True):
        for row in rows[(rows["name"] == name) & (rows["label"] == "") & rows["value"].notna()].to_dict("records"):
            column.metric(escaped(capitalised(FIGURE.display(name))), fixed(row["value"], DIGITS))
            known = not math.isnan(row["low"])
            interval = f"95 % interval {coefficient_interval(row['low'], row['high'], DIGITS)}; " if known else ""
            parts = [f"{interval}{row['n']} {item_noun(row)}", row["note"]]
            column.caption(escaped(" ".join(f"{capitalised(part)}." for part in parts if part)))


def defined_figures(rows: pd.DataFrame, scope: str) -> None:
    """The figures that are defined, as a table; the others by name, with each reason once."""
    defined = rows[rows["value"].notna()]
    if len(defined):
        notes = ["note"] if (defined["note"] != "").any() else []
        columns = FIGURES_TABLE.named("figure", scope, "n", *notes)
        table(with_interval(defined, scope), "figures", columns, rows=14, decimals=DIGITS)
    for note, same in rows[rows["value"].isna()].groupby("note", sort=False):
        names = ", ".join(map(FIGURE.display, same["name"])) if len(defined) else "None of these figures"
        st.caption(escaped(f"Not defined, because {str(note).removeprefix('undefined: ')}: {names}."))


def by_label(rows: pd.DataFrame, scope: str) -> None:
    """Precision, recall and F1 of one comparison, with the reason where one is undefined."""
    if len(rows):
        with st.expander("By label: precision, recall and F1 of this comparison"):
            columns = BY_LABEL_TABLE.named("label", "figure", scope, "n", "note")
            table(with_interval(rows, scope), "by_label", columns, rows=15, decimals=DIGITS)


def prevalence(report: AgreementReport, scope: str, names: dict[str, str]) -> None:
    """How often each rater chose each label: kappa falls when one label is frequent."""
    rows = report.figures[(report.figures["name"] == "prevalence") & (report.figures["scope"] == scope)]
    with st.expander("How often each label was chosen"):
        named = rows.assign(first=rows["first"].map(lambda rater: names.get(rater, rater)))
        table(with_interval(named, scope), "prevalence", LABEL_SHARES_TABLE.named("first", "label", scope, "n", "note"))


def intra_rater(report: AgreementReport) -> None:
    """Intra-rater agreement, on the silent repeats."""
    with st.expander("Intra-rater agreement: the same annotator on the same item twice"):
        if report.retest.empty:
            st.markdown("No annotator has rated a repeated item twice yet.")
            return
        table(with_interval(report.retest), "intra_rater", RETEST_TABLE.columns, decimals=DIGITS)


def effort(report: AgreementReport, names: dict[str, str]) -> None:
    """Time per item and drift over time."""
    with st.expander("Time per item, and drift from the first quarter of the work to the last"):
        table(report.times.assign(annotator=report.times["annotator"].map(names)), "times", TIMES_TABLE.columns)
        named = report.drift.assign(
            **{name: report.drift[name].map(lambda rater: names.get(rater, rater)) for name in ("annotator", "against")}
        )
        table(with_interval(named), "drift", DRIFT_TABLE.columns)


def judge_is_shown(study: Study, account: Account) -> bool:
    """Whether figures include the judge: for an adjudicator only when every dispute is decided."""
    return account.role is Role.PI or judge_is_known(study)


def shown_study(study_id: str) -> ShownStudy:
    """The study as this visitor may see it. Raises AuditError where that is nothing."""
    # Checked in each refresh: a fragment runs without the page around it, and the session may have ended.
    account, study = require_role(Role.PI, Role.ADJUDICATOR), find_study(label_store(), study_id)
    is_pi, opened = account.role is Role.PI, judge_is_shown(study, account)
    names = {MAJORITY: "the majority", GOLD: "gold", **rater_names(study_id)}
    report = current_report(study_id, judged=opened)
    return ShownStudy(study, current_ratings(study_id), report, names, opened and study.scheme is PAIRS, opened, is_pi)


def any_two(shown: ShownStudy) -> None:
    """All figures of one comparison."""
    report, study_id = shown.report, shown.study.study_id
    comparison, scope = pick_comparison(report, dict(shown.names))
    rows = rows_of(report.figures, comparison, scope)
    shown_scope = scope if len(rows) else SAMPLE
    if rows.empty:
        st.caption("For all raters together there are figures for these items only.")
        rows = rows_of(report.figures, comparison, SAMPLE)
    headline(rows, report.scheme.headline)
    of_judge = comparison[0] == "label" and comparison[2] == JUDGE
    if not (of_judge and comparison[1] == reference_standard(shown.ratings) and scope == SAMPLE):  # that one is above
        study_matrix(shown, comparison, shown_scope)
    with st.expander("Every coefficient of this comparison"):
        defined_figures(rows[rows["label"] == ""], shown_scope)
        kind = IntervalKind.ALWAYS_VALID if report.live else IntervalKind.FIXED
        csv_button(with_population_column(rows, FIGURES_TABLE.population, kind), "figures", f"{study_id}_agreement.csv")
    by_label(rows[rows["label"] != ""], shown_scope)
    prevalence(report, scope, dict(shown.names))


def figures(study_id: str) -> None:
    """The current report."""
    try:
        shown = shown_study(study_id)
    except AuditError as error:
        explain(error)
        return
    study, report, names = shown.study, shown.report, dict(shown.names)
    by = reference_standard(shown.ratings) if shown.judged else ""
    lead_sentences(shown, by)
    counts = "; ".join(f"{names.get(name, name)}: {count}" for name, count in report.counts.items())
    st.caption(escaped(f"{capitalised(counts)}. State: {study.state}."))
    st.caption(escaped(looked_at(study_id, shown.ratings)))
    st.caption(escaped(blinding_words(label_store(), study_id)))
    store = label_store()
    calibrated = study.state is not StudyState.CALIBRATION  # then its ratings have an end, and the figure is kept
    if calibrated and (failed := _failed_calibration(str(store.engine.url), study_id, store)):
        st.warning(escaped(failed))
    if not shown.opened:
        st.info(JUDGE_HIDDEN)
    views = views_of(shown, by)
    for tab, draw in zip(st.tabs(list(views), key=f"tabs_{study_id}", on_change="rerun"), views.values(), strict=True):
        if tab.open:  # a closed one is neither computed nor sent
            with tab:
                draw()


@st.cache_data(show_spinner=False, max_entries=20)
def _failed_calibration(url: str, study_id: str, _store: LabelStore) -> str:
    """What is to be known of a calibration round below the protocol's threshold; "" where it was met, or there was none."""
    calibration = calibration_of(_store, study_id)
    return f"Its calibration round failed. {calibration.sentence()}" if calibration and calibration.met is False else ""


def views_of(shown: ShownStudy, by: str) -> dict[str, Callable[[], object]]:
    """What each tab draws, by its title."""
    study_id, names = shown.study.study_id, dict(shown.names)
    judged = {"The judge": lambda: judge_section(shown, by)} if by else {}
    preferred = shown.study.scheme is HEAD_TO_HEAD and shown.named
    couples = {COUPLES_TABLE.title: lambda: preference_tables(label_store(), study_id)} if preferred else {}
    every = {"Comparisons": lambda: any_two(shown), "Disagreements": lambda: differing_items(shown)}
    return {**judged, **every, **couples, "Annotators": lambda: raters(shown, names)}


def differing_items(shown: ShownStudy) -> None:
    """The items with different labels of annotators, each of which opens; for an adjudicator those that somebody decided."""
    ratings, standard = shown.ratings, gold_standard(shown.ratings)
    codes = np.stack([ratings.labels[rater] for rater in ratings.annotators])
    differ = np.where(codes == MISSING, codes.max(axis=0), codes).min(axis=0) < codes.max(axis=0)
    chosen = np.flatnonzero(differ if shown.opened else differ & standard.adjudicated)
    decided = "" if shown.opened else " and a decision (the others come when all have one)"
    click = " Click a row to read the item." if len(chosen) else ""
    st.markdown(f"Items with different labels of annotators{decided}: **{len(chosen):,}**.{click}")
    if not click:
        return
    questions = {row["item_id"]: row["question"] for row in assignment_rows(label_store(), shown.study.study_id)}
    words = [*map(LABEL.display, ratings.scheme.words), "-"]  # MISSING is the last
    given = {rater: [words[code] for code in ratings.labels[rater][chosen]] for rater in ratings.annotators}
    items, gold = ratings.items[chosen], [words[code] for code in standard.codes[chosen]]
    frame = pd.DataFrame({"item": items, "question": [questions[item] for item in items], **given, GOLD: gold})
    headings = {"question": "Question", **{rater: capitalised(shown.name(rater)) for rater in given}, GOLD: "Decided"}
    if (picked := clicked_row(frame, "differing", headings, rows=8)) is not None:
        show_items(shown, [str(picked["item"])])


def raters(shown: ShownStudy, names: dict[str, str]) -> None:
    """Annotators with themselves, the sentences that they marked, and their time."""
    intra_rater(shown.report)
    marked_sentences(label_store(), shown.study.study_id)
    effort(shown.report, names)


def marked_sentences(store: LabelStore, study_id: str) -> None:
    """The overlap of the sentences that annotators marked, with its definition; nothing where nobody marked any."""
    overlap = overlap_of_study(store, study_id)
    if not overlap[["one", "n"]].to_numpy().any():
        return
    with st.expander(OVERLAP_TABLE.title):
        renamed = overlap.rename(columns={"low": "value_low", "high": "value_high"})
        table(renamed, "marked_sentences", OVERLAP_TABLE.columns)
        st.caption(escaped(" ".join(OVERLAP_TABLE.notes)))
        csv_button(overlap, "marked_sentences", f"{study_id}_marked_sentences.csv")


NOT_LOADED = "The run that this study was drawn from is not loaded here, so organ, topic and phase of its items are not known."


@st.cache_data(show_spinner=False, max_entries=20)
def _cached_groups(url: str, study_id: str, runs: tuple[str, ...], _store: LabelStore, _runs: list[Run]) -> pd.DataFrame:
    # No ledger in the key: a study's items and their groups never change.
    with opened_run(_store, study_id, _runs) as con:
        return item_groups(_store, study_id, con)


def judge_by_groups(study: Study, ratings: Ratings) -> None:
    """Tables behind a click: errors by kind, agreement by group of items, and where items share a question or a handbook."""
    study_id, store, runs = study.study_id, label_store(), loaded_runs()
    groups = _cached_groups(str(store.engine.url), study_id, tuple(run.digest for run in runs), store, runs)
    with st.expander(FAILURE_MODES_TABLE.title):
        table(failure_modes(ratings), "failure_modes", FAILURE_MODES_TABLE.columns, rows=14)
        st.caption(escaped(" ".join(FAILURE_MODES_TABLE.notes)))
    with st.expander(SUBGROUPS_TABLE.title):
        by_group = subgroups(ratings, groups)
        table(by_group, "subgroups", SUBGROUPS_TABLE.columns, rows=14)
        st.caption(escaped(" ".join(SUBGROUPS_TABLE.notes)))
        if "organ" not in set(by_group["by"]):
            st.caption(NOT_LOADED)
        exported = with_population_column(by_group, SUBGROUPS_TABLE.population, ratings.intervals)
        csv_button(exported, "subgroups", f"{study_id}_subgroups.csv")
    spec = CLUSTERED_TABLE.for_run(study)
    with st.expander(spec.title):
        table(clustered_agreement(ratings, labels_table(store, study_id)), "clustered", spec.columns)
        st.caption(escaped(" ".join(spec.notes)))


# -- The confusion matrix of two raters of a study, whose cells open their items -----------------------------


Comparison = tuple[str, str, str]
"""(label or significance, first rater, second rater); without a second rater, all raters together."""
UNITS = {SAMPLE: "items", POPULATION: "estimated pairs of the run"}
SIDES_TURNED = "A and B are the first and the second system of the study, whatever side of the screen their answers were on."


@dataclass(frozen=True)
class ShownStudy:
    """A study as a page shows it.

    names   rater -> its name for a reader
    judged  whether this visitor may read the judge's verdict on an item
    opened  whether this visitor may read items: an adjudicator does when every dispute is decided
    named   whether this visitor may read whose answers they are
    """

    study: Study
    ratings: Ratings
    report: AgreementReport
    names: Mapping[str, str]
    judged: bool
    opened: bool
    named: bool

    def name(self, rater: str) -> str:
        """A rater's name for a reader."""
        return self.names.get(rater, rater_name(rater))


def study_matrix(shown: ShownStudy, comparison: Comparison, scope: str = SAMPLE) -> None:
    """The matrix of two raters; a click on a cell lists its items. Nothing for all raters together."""
    about, first, second = comparison
    cells = shown.report.confusion
    own = cells[(cells[["about", "first", "second", "scope"]] == [about, first, second, scope]).all(axis=1)]
    if own.empty or not own["count"].any():
        return
    order = list(dict.fromkeys(own["first_label"]))
    counts = own.pivot(index="first_label", columns="second_label", values="count").loc[order, order]
    titles = capitalised(shown.name(first)), capitalised(shown.name(second))
    words = {word: LABEL.display(word) for word in order}
    alt = f"How many {UNITS[scope]} have each label by {titles[0]} (rows) and by {titles[1]} (columns), with totals."
    if shown.report.scheme is HEAD_TO_HEAD:
        st.caption(SIDES_TURNED)
    figure = confusion_figure(counts, words, *titles, UNITS[scope])
    key = "_".join(("matrix", *comparison, scope))
    clicked = clicked_point(figure, key, alt)
    st.caption(escaped(f"Rows: {titles[0]}. Columns: {titles[1]}. Cells: {UNITS[scope]}."))
    if shown.opened:
        st.container(key=f"screen_{key}").caption("Click a cell to read its items.")
    if clicked and shown.opened:
        row, _, column = str(clicked).partition("\t")
        if items := items_of(shown.ratings, comparison, (row, column)):
            heading = f"{titles[0]}: {words[row]}. {titles[1]}: {words[column]}. {len(items):,} items."
            st.markdown(f"**{escaped(heading)}**")
            show_items(shown, items)


def items_of(ratings: Ratings, comparison: Comparison, labels: tuple[str, str]) -> list[str]:
    """The items in one cell of the matrix, in the order of the study."""
    (own,) = [one for one in comparisons(ratings) if (one.about, one.first, one.second) == comparison]
    row, column = map(own.order.index, labels)
    return [str(item) for item in ratings.items[own.labelled_by_both & (own.rows == row) & (own.columns == column)]]


def show_items(shown: ShownStudy, items: list[str]) -> None:
    """These items, one at a time: question, both answers, everybody's label."""
    number = st.pagination(len(items), key="cell_item") if len(items) > 1 else 1
    item_id = items[min(number, len(items)) - 1]
    study_id = shown.study.study_id
    rows = [row for row in assignment_rows(label_store(), study_id) if row["item_id"] == item_id]
    item = rows[0]
    st.text(item["question"])
    sides = ((item["name_a"], item["answer_a"]), (item["name_b"], item["answer_b"]))
    for column, letter, (name, answer) in zip(st.columns(2), "AB", sides, strict=True):
        with column.container(border=True):
            st.caption(escaped(name if shown.named else f"Answer {letter}"))
            st.text(answer)
    labels = "; ".join(f"{row['seat']}: {LABEL.display(row['label']) if row['label'] else 'not rated'}" for row in rows)
    verdict = verdicts_by_item(label_store(), study_id).get(item_id) if shown.judged else None
    st.text(f"{labels}." if verdict is None else f"{labels}; the judge: {verdict.label.lower()}. {verdict.reasoning or ''}")


def label_rows(report: AgreementReport, ratings: Ratings, by: str) -> pd.DataFrame:
    """Precision, recall and F1 of the judge for each label by one reference standard, with intervals, in words.

    Of a sample that was drawn by the judge's label, recall and F1 are those weighted to the run: its own would only mirror how
    many items of each label were drawn.
    """
    scope = SAMPLE if report.population else POPULATION
    rows = []
    for word in report.scheme.words:
        precision = figure(report, by, JUDGE, "precision", word)
        recall, f1 = (figure(report, by, JUDGE, name, word, scope) for name in ("recall", "f1"))
        calls = confirmed_calls(ratings, Label(word)) if word in set(LABELS) and by == reference_standard(ratings) else None
        if not (undefined(precision) and undefined(recall)):
            found = _counted(recall) if scope == SAMPLE else _weighted(recall)
            right = confirmed_words(calls, "") if calls else _counted(precision)
            rows.append((word, right, found, _written(f1), _care(precision, recall)))
    return pd.DataFrame(rows, columns=[column.name for column in JUDGED_LABELS_TABLE.columns])


def _counted(row: Row) -> str:
    return NO_VALUE if undefined(row) else f"{same_of(row)}: {share_words(row, '')}"


def _weighted(row: Row) -> str:
    return NO_VALUE if undefined(row) else f"{share_words(row, '')}; weighted to the run"


def _written(row: Row) -> str:
    return NO_VALUE if undefined(row) else f"{fixed(row['value'], 2)} ({coefficient_interval(row['low'], row['high'])})"


def _care(*rows: Row) -> str:
    return "few items" if any("too small" in row["note"] for row in rows) else ""


with study_page("Agreement", LEAD, Role.PI, Role.ADJUDICATOR):
    study = pick_study_or_stop(*SCHEMES.values())
    # A closed study does not change, so it needs no refresh.
    st.fragment(figures, run_every=None if study.state is StudyState.CLOSED else REFRESH_S)(study.study_id)
