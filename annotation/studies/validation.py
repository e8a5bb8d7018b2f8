"""The validation of the judge by a study: the part that it adds to an export."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd

from annotation.agreement.comparisons import SAMPLE, significance_by_all
from annotation.agreement.report import ALL_ANNOTATORS, AgreementReport, report_without_judge
from annotation.agreement.sentences import (
    INTERVALS_IN_WORDS,
    capitalised,
    judge_sentence,
    people_sentence,
    same_of,
    share_words,
    together_sentence,
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
from annotation.agreement.tables import FIGURES_TABLE, LABEL, figures_by_scope, rater_name
from annotation.label_store.engine import LabelStore
from annotation.label_store.seals import looks
from annotation.label_store.studies import Study, find_study
from annotation.prevalence.by_group import GROUPS_TABLE
from annotation.prevalence.estimates import CorrectedRate, by_label, corrected_disagreement
from annotation.prevalence.sentences import disagreement_sentence, least_confirmed_sentence, rate_sentence, shared_errors_sentence
from annotation.prevalence.shared_errors import SHARED_ERROR_RATES, SHARED_ERRORS_TABLE, shared_errors
from annotation.ratings.design import MISSING
from annotation.ratings.gold import GOLD_RULE, MAJORITY, WITHOUT_GOLD, gold_standard
from annotation.ratings.table import JUDGE, Ratings
from annotation.schemes import HEAD_TO_HEAD
from annotation.studies.calibration import Calibration
from annotation.studies.head_to_head import (
    COUPLES_TABLE,
    STRENGTHS_TABLE,
    comparisons_of,
    couples_frame,
    side_sentence,
    strengths_frame,
    system_names,
)
from annotation.studies.leakage import blinding_words
from annotation.studies.learnt import left_out_note
from annotation.studies.registered_looks import outcome_with_looks
from annotation.studies.registration import registration_of
from annotation.studies.study_tables import (
    TYPES_TABLE,
    StudyFlow,
    by_annotator_letter,
    repeats_table,
    strata_frame,
    study_ratings,
)
from annotation.studies.validation_tables import TABLES, ValidationData, further_tables, validation_data
from annotation.studies.verdict_store import SampleOrigin, Stratum, find_origin, list_strata, sample_digest
from annotation.studies.verification import heads_record
from audit.charts.rates import Rate, rate_dots
from audit.charts.style import LABEL_COLOURS, Figure
from audit.charts.transitions import confusion_figure
from audit.exports.catalogue import Chapter
from audit.exports.package_request import StudyPart
from audit.exports.published.comparison import RunFigure
from audit.exports.table_model import Picture, Table
from audit.store.connection import Connection, open_store
from audit.store.runs import Run
from audit.tables import Column, TableSpec
from audit.vocabulary import LABELS, Label

# -- analysis plan -------------------------------------------------------------------------------------------
# For the supplement of a paper: the registration, the estimands, their populations and the methods.

Statement = tuple[str, str, str]
"""(part, item, statement)."""
STUDY_PLAN = TableSpec(
    "Analysis plan of the study",
    (Column.text("part", "Part"), Column.text("item", "Item"), Column.text("statement", "Statement")),
    ("Sample and registration were sealed in the ledger of the study when it was drawn; `audit study verify` finds a change.",),
)
NOT_REGISTERED = "Nothing was registered before the study: no figure is primary."
ESTIMANDS = (
    (
        "Agreement",
        "Of the two labels of an item, by chance-corrected and raw measures; of other items drawn like these, unweighted.",
    ),
    ("Judge", "Of the judge's label with the reference standard, for these items, and weighted to all pairs of the run."),
    ("Corrected shares", "The share of each label among all pairs of the run that have a verdict, by the raters' labels."),
    ("Corrected disagreement", "Divergent or contradictory pairs among those in which both answers address the question."),
)


def study_plan_table(data: ValidationData) -> Table:
    """The registration, the estimands, their populations and the methods."""
    statements = [*_sample(data), *_raters(data), *_registered_facts(data)]
    statements += [("Estimands", item, statement) for item, statement in ESTIMANDS]
    statements += list(_estimation(data))
    return data.table(
        "study_analysis_plan", STUDY_PLAN, pd.DataFrame(statements, columns=[column.name for column in STUDY_PLAN.columns])
    )


def _sample(data: ValidationData) -> Iterator[Statement]:
    origin, plan = data.origin, data.origin.plan
    yield "Sample", "Run", f"{origin.run_key}, release {origin.digest}"
    yield (
        "Sample",
        "Population",
        f"{origin.pairs - origin.unscored:,} pairs with a verdict; {origin.unscored:,} without are left out",
    )
    for stratum in data.strata:
        yield (
            "Sample",
            f"Stratum {stratum.stratum.lower()}",
            f"{stratum.sampled:,} of {stratum.population:,}, without replacement",
        )
    yield "Sample", "Seed", f"{plan.get('seed')} of the draw, {data.study.seed} of the order of items"
    yield (
        "Sample",
        "Outside the sample",
        f"{plan.get('calibration', 0)} calibration items, {plan.get('repeats', 0)} silent repeats",
    )
    if plan.get("after"):
        yield "Sample", "Left out", f"pairs of {', '.join(plan['after'])}"
    yield "Sample", "Drawn", f"{data.study.created_at[:10]} (UTC)"


def _raters(data: ValidationData) -> Iterator[Statement]:
    shown = "shown" if data.study.names_shown else "masked, also in the texts"
    yield "Raters", "Ratings per item", str(data.study.ratings_per_item)
    yield (
        "Raters",
        "Blinding",
        f"judge's labels and other ratings hidden; names of institutions {shown}; order and sides randomised",
    )
    yield "Raters", "Gold", f"{GOLD_RULE} {WITHOUT_GOLD}"
    yield "Raters", "State", data.study.state.value


def _registered_facts(data: ValidationData) -> Iterator[Statement]:
    registration = registration_of(data.origin.plan)
    if registration is None:
        yield "Registration", "Primary figure", NOT_REGISTERED
        return
    yield "Registration", "Before the study", registration.sentence(data.study.created_at)
    yield "Registration", "Result", outcome_with_looks(registration, data.report, data.ratings, data.looks)


def _estimation(data: ValidationData) -> Iterator[Statement]:
    yield "Intervals", "Level", "95 %, two-sided, each figure by itself"
    yield "Intervals", "While ratings come in", INTERVALS_IN_WORDS[data.ratings.live]
    yield "Intervals", "Agreement", "Wilson's on the scale of each figure, trials from its delta-method standard error"
    yield "Intervals", "Corrected shares", "Jeffreys' within strata, combined with their exactly known sizes; no seed"
    rates = ", ".join(f"{100 * rate:g}" for rate in SHARED_ERROR_RATES[1:])
    yield (
        "Sensitivity",
        "Shared errors of annotators",
        f"labels wrong together on {rates} % of items, towards a neighbouring label",
    )


# -- paragraphs for a paper ----------------------------------------------------------------------------------
# Methods and results, every number taken from the tables of the same export.

BLINDED = (
    "The annotators did not see the judge's labels, each other's labels, or which handbooks the answers came from; the order of "
    "items and the sides of the two answers were randomised for each annotator."
)
INTERVALS = (
    "Intervals are 95 % (Wilson's on the scale of each figure, with the number of trials from its delta-method standard error; "
    "for corrected shares, Jeffreys' within strata, combined with their exactly known sizes)."
)
NOT_FINAL = "The study is in the state {state}: these figures are not final."


def methods_paragraph(
    study: Study,
    origin: SampleOrigin,
    strata: Sequence[Stratum],
    flow: StudyFlow,
    ratings: Ratings,
    calibration: Calibration | None,
) -> str:
    """How the sample was drawn, rated and adjudicated."""
    sampled = ", ".join(f"{s.sampled:,} of {s.population:,} {s.stratum.lower()}" for s in strata)
    labels = ", ".join(map(LABEL.display, ratings.scheme.words))
    sentences = [
        f"{flow.drawn:,} pairs were drawn from the {sum(s.population for s in strata):,} pairs of run {origin.run_key} that have "
        f"a verdict of the judge, at random and without replacement inside strata by its label ({sampled}).",
        f"Each was labelled by {study.ratings_per_item} annotators with the labels of the rubric ({labels}).",
        BLINDED,
        *_outside_the_sample(flow, calibration),
        f"{GOLD_RULE} {WITHOUT_GOLD}" if flow.disputed or flow.rated_once else GOLD_RULE,
        INTERVALS,
        *([INTERVALS_IN_WORDS[True]] if ratings.live else []),
    ]
    state = study.state.value
    return " ".join([*sentences, *([] if state == "closed" else [NOT_FINAL.format(state=state)])])


def _outside_the_sample(flow: StudyFlow, calibration: Calibration | None) -> list[str]:
    agreed = f" {calibration.sentence()}" if calibration else ""
    round_before = (
        f"Before the study the annotators labelled {flow.calibration:,} calibration items, which enter no figure.{agreed}"
    )
    repeats = f"{flow.repeats:,} items were shown a second time without notice, to measure intra-rater agreement."
    return [*([round_before] if flow.calibration else []), *([repeats] if flow.repeats else [])]


def results_paragraph(
    report: AgreementReport, ratings: Ratings, by: str, rate: CorrectedRate, shares: pd.DataFrame, flow: StudyFlow
) -> str:
    """Results: flow, inter-rater and intra-rater agreement, agreement of the judge with people, the corrected shares."""
    sentences = [
        flow.sentence(),
        together_sentence(report), *(people_sentence(report, *pair) for pair in combinations(ratings.annotators, 2)),
        *_retest(report), judge_sentence(report, by), least_confirmed_sentence(ratings, by), weighted_sentence(report, by),
        disagreement_sentence(shares, "the gold labels"), rate_sentence(rate),
        shared_errors_sentence(shared_errors(ratings)), _open(ratings),
    ]  # fmt: skip
    return " ".join(filter(None, sentences))


def _retest(report: AgreementReport) -> list[str]:
    rows = report.retest[report.retest["name"] == "agreement"].to_dict("records") if len(report.retest) else []
    return [
        f"Shown an item again, {row['annotator']} gave the same label to {same_of(row)} ({share_words(row)})."
        for row in rows
        if row["n"]
    ]


def _open(ratings: Ratings) -> str:
    left = gold_standard(ratings).left_open()
    return f"{capitalised(left)}." if left else ""


# -- figures -------------------------------------------------------------------------------------------------
# The judge label by label, confusion matrices, the corrected shares.

LABEL_MEASURES = {"precision": "Precision", "recall": "Recall", "f1": "F1"}
COLOURS = {"precision": "#6b7280", "recall": "#c77700", "f1": LABEL_COLOURS[Label.CONSISTENT]}


def study_pictures(report: AgreementReport, shares: pd.DataFrame, by: str) -> Iterator[Picture]:
    """The judge label by label and its confusion matrix by one reference standard, those of annotators, the corrected shares."""
    title = f"The judge compared with {rater_name(by)}, label by label, with 95 % intervals (sample)"
    yield Picture("study_by_label", title, _judge_by_label(report, by))
    cells = report.confusion
    for (first, second), own in cells[(cells["about"] == "label") & (cells["scope"] == SAMPLE)].groupby(["first", "second"]):
        if second != JUDGE or first == by:
            yield _matrix_picture(str(first), str(second), own)
    yield Picture("study_prevalence", "Share of each label in the run, corrected, with 95 % intervals", _corrected_shares(shares))


def _matrix_picture(first: str, second: str, cells: pd.DataFrame) -> Picture:
    order = list(dict.fromkeys(cells["first_label"]))
    counts = cells.pivot(index="first_label", columns="second_label", values="count").loc[order, order]
    names = capitalised(rater_name(first)), capitalised(rater_name(second))
    name = f"study_matrix_{first}_{second}".replace("annotator_", "")
    title = f"Labels by {rater_name(first)} (rows) and by {rater_name(second)} (columns), items of the sample"
    return Picture(name, title, confusion_figure(counts, {word: LABEL.display(word) for word in order}, *names))


def _judge_by_label(report: AgreementReport, by: str) -> Figure:
    figures = report.figures
    own = figures[(figures["first"] == by) & (figures["second"] == JUDGE) & (figures["scope"] == SAMPLE)]
    columns: dict[str, list[object]] = {"label": list(map(LABEL.display, LABELS))}
    for name in LABEL_MEASURES:
        rows = own[own["name"] == name].set_index("label").reindex(list(map(str, LABELS)))
        limits = zip(("", "_low", "_high", "_n"), ("value", "low", "high", "n"), strict=True)
        columns |= {name + end: rows[column].tolist() for end, column in limits}
    rates = [Rate(name, words, f"{name}_n", "items", COLOURS[name]) for name, words in LABEL_MEASURES.items()]
    return rate_dots(pd.DataFrame(columns), "label", rates)


def _corrected_shares(shares: pd.DataFrame) -> Figure:
    own = by_label(shares)
    share = Rate("value", "Share of the run", "n", "rated items")
    return rate_dots(own.assign(label=own["label"].map(LABEL.display)), "label", [share])


# -- further tables ------------------------------------------------------------------------------------------
# The judge's errors by kind and group, disagreement of parts of the run, shared annotator errors.


def failure_modes_table(data: ValidationData) -> Table:
    """The judge's errors by kind, with their shares and subtotals, by the reference standard."""
    return data.table("study_failure_modes", FAILURE_MODES_TABLE, failure_modes(data.ratings)).noted(_by_reference(data))


def subgroups_table(data: ValidationData) -> Table:
    """Agreement of the judge with the reference standard, by group of items."""
    return data.table("study_subgroups", SUBGROUPS_TABLE, subgroups(data.ratings, data.groups)).noted(_by_reference(data))


def _by_reference(data: ValidationData) -> str:
    return f"By the raters: {rater_name(data.reference)}."


def corrected_table(data: ValidationData) -> Table:
    """R_div by organ, topic and center, corrected for the judge's errors."""
    return data.table("study_corrected_groups", GROUPS_TABLE, data.corrected)


def clustered_table(data: ValidationData) -> Table:
    """Agreement with intervals for other items of this run, and for other questions and handbooks."""
    frame = clustered_agreement(data.ratings, data.rows.drop_duplicates("item_id"))
    return data.table("study_clustered_agreement", CLUSTERED_TABLE, frame)


def shared_errors_table(data: ValidationData) -> Table:
    """The share of disagreeing pairs if annotators are wrong together on some of the items."""
    return data.table("study_shared_errors", SHARED_ERRORS_TABLE, shared_errors(data.ratings)).noted("Of pairs that disagree.")


GROUP_TABLES = (failure_modes_table, subgroups_table, clustered_table, corrected_table, shared_errors_table)


PAIR = 2
TITLE = "Validation of the judge by raters"
PUBLISHED_AGREEMENT = {"agreement": "study.agreement", "kappa": "study.kappa"}
PUBLISHED_JUDGE = {name: f"study.judge.{name}" for name in ("accuracy", "kappa", "f1_weighted", "f1_macro")}


def validation_part(store: LabelStore, study_id: str, con: Connection | None = None) -> StudyPart:
    """The validation tables and figures of a study in its current state, and facts about it; `con` as `validation_data`.

    Raises StudyError when there is no such study or it was not drawn from a run, AuditError while nothing is rated.
    """
    data = validation_data(store, study_id, con)
    note = f"{provisional_note(data.study, live=data.ratings.live)} {left_out_note(store, [study_id])}".strip()
    tables = [make(data).noted(note) for make in TABLES]
    # The matrices follow the errors that they count.
    groups = (make(data) for make in (*GROUP_TABLES, study_plan_table))
    tables[6:6] = [table.noted(note) for table in (*groups, *further_tables(data))]
    facts = study_facts(store, data.study, data.origin)
    paragraphs = {"Methods": methods(data), "Results": results(data)}
    pictures = list(study_pictures(data.report, data.shares, data.reference))
    chapter = Chapter(TITLE, tables, pictures, paragraphs=paragraphs)
    return StudyPart(study_id, data.origin.digest, chapter, _published_figures(data), facts)


def methods(data: ValidationData) -> str:
    """A paragraph on how the sample was drawn, rated and adjudicated."""
    paragraph = methods_paragraph(data.study, data.origin, data.strata, data.flow, data.ratings, data.calibration)
    return f"{paragraph}{_registered(data)} {data.blinding}"


def _registered(data: ValidationData) -> str:
    registration = registration_of(data.origin.plan)
    return f" {registration.sentence(data.study.created_at)}" if registration else ""


def _outcome(data: ValidationData) -> str:
    registration = registration_of(data.origin.plan)
    return f" {outcome_with_looks(registration, data.report, data.ratings, data.looks)}" if registration else ""


def results(data: ValidationData) -> str:
    """A paragraph on the results."""
    rate = corrected_disagreement(data.ratings)
    report = replace(data.report, retest=by_annotator_letter(data.report.retest, data.rows))  # no name of an account in a package
    return results_paragraph(report, data.ratings, data.reference, rate, data.shares, data.flow) + _outcome(data)


def study_facts(store: LabelStore, study: Study, origin: SampleOrigin) -> dict[str, object]:
    """Facts about a study for the manifest of an export: its plan, its state, and the ends of its ledgers."""
    return {
        "title": study.title, "state": study.state.value, "scheme": study.scheme.name, "run": origin.run_key,
        "plan": dict(origin.plan), "seed_of_order": study.seed, "ledgers": heads_record(store, study.study_id),
        "looks_before_complete": len(looks(store, study.study_id)), "blinding": blinding_words(store, study.study_id),
    }  # fmt: skip


def provisional_note(study: Study, *, live: bool) -> str:
    """The note on tables of a study that is not complete; "" if it is."""
    state = study.state.value
    not_final = "" if state == "closed" else f"The study is in the state {state}: its figures are not final. "
    return f"{not_final}{INTERVALS_IN_WORDS[True]}" if live else ""


def _published_figures(data: ValidationData) -> dict[str, RunFigure | str]:
    """The figures of the study that are also published, by name."""
    counts = data.report.counts
    labels = np.array([data.ratings.labels[rater] for rater in data.ratings.annotators])
    # With more annotators than two, those on which all of them agree
    agreed = int(((labels[0] != MISSING) & (labels == labels[0]).all(axis=0)).sum())
    first, second = data.ratings.annotators if len(labels) == PAIR else (ALL_ANNOTATORS, "")
    figures: dict[str, RunFigure | str] = {
        "study.items": RunFigure(float(counts["items"])),
        "study.agreed": RunFigure(float(agreed)),
    }
    figures |= {key: _figure_of(data, first, second, name) for name, key in PUBLISHED_AGREEMENT.items()}
    figures |= {key: _figure_of(data, MAJORITY, JUDGE, name) for name, key in PUBLISHED_JUDGE.items()}
    figures |= {f"study.f1.{label.value}": _figure_of(data, MAJORITY, JUDGE, "f1", label.value) for label in LABELS}
    graded = next(iter(significance_by_all(data.ratings).values()), np.array([]))
    figures["study.significance.items"] = RunFigure(float(np.count_nonzero(graded != MISSING)))
    # The paper prints one figure and does not say of whom
    figures["study.significance.kappa"] = "Each annotator has a figure of its own, in the tables of the study."
    return figures | _error_counts(data)


def _figure_of(data: ValidationData, first: str, second: str, name: str, label: str = "") -> RunFigure | str:
    rows = data.report.figures
    wanted = {"about": "label", "first": first, "second": second, "scope": SAMPLE, "name": name, "label": label}
    for column, value in wanted.items():
        rows = rows[rows[column] == value]
    (row,) = rows.to_dict("records")
    return str(row["note"]) if row["note"].startswith("undefined") else RunFigure(row["value"], row["low"], row["high"])


def _error_counts(data: ValidationData) -> dict[str, RunFigure | str]:
    errors = data.report.errors
    own = errors[errors["by"] == MAJORITY]
    kinds = {(right, judged): n for right, judged, n in own[["right", "judged", "n"]].itertuples(index=False, name=None)}
    own_label = Label.COMPLEMENTARY
    neighbours = LABELS[own_label.code + 1], LABELS[own_label.code - 1]
    on_boundary = {f"study.errors.{own_label}.{to}": kinds.get((own_label, to), 0) for to in neighbours}
    boundary = sum(n for kind, n in kinds.items() if Label.COMPLEMENTARY in kind)
    totals = {"study.errors": own["n"].sum(), "study.errors.boundary": boundary}
    return {name: RunFigure(float(n)) for name, n in {**totals, **on_boundary}.items()}


# -- The part that a study adds to an export -----------------------------------------------------------------


STUDY_PART_TITLE = "Systems compared head-to-head by raters"
AGREEMENT_TITLE = "Agreement of annotators on the better answer"
AGREEMENT_NOTE = "Kappa without weights, because the choices have no order; choices are compared as systems, not as sides."


def study_part(store: LabelStore, study_id: str, runs: Sequence[Run] = ()) -> StudyPart:
    """The tables and figures of a study in its current state, and facts about it.

    `runs`: the loaded runs. The one that the study was drawn from gives organ, topic and phase of its items; without it these
    groups are left out.

    Raises StudyError when there is no such study or it was not drawn from a run, AuditError while nothing is rated.
    """
    study = find_study(store, study_id)
    if study.scheme is HEAD_TO_HEAD:
        return head_to_head_part(store, study)
    with opened_run(store, study_id, runs) as con:
        return validation_part(store, study_id, con)


@contextmanager
def opened_run(store: LabelStore, study_id: str, runs: Sequence[Run]) -> Iterator[Connection | None]:
    """A connection to the run that a study was drawn from; None where it is not among `runs`."""
    digest = sample_digest(store, study_id)
    run = next((run for run in runs if run.digest == digest), None)
    with open_store(run.path) if run else nullcontext() as con:
        yield con


def head_to_head_part(store: LabelStore, study: Study) -> StudyPart:
    """The tables, figures and facts of a head-to-head study."""
    origin, ratings = find_origin(store, study.study_id), study_ratings(store, study.study_id)
    figures = report_without_judge(ratings, repeats_table(store, study.study_id)).figures
    agreement = figures_by_scope(figures[figures["name"] != "prevalence"])
    who = [
        f"{rater_name(a)} and {rater_name(b)}" if b else a for a, b in zip(agreement["first"], agreement["second"], strict=True)
    ]
    comparisons, names = comparisons_of(store, study.study_id), system_names(store, study.study_id)
    n = f"{len(ratings.items):,} items of study {study.study_id}"
    # Only agreement is counted by items, so only its intervals are right at every look
    fixed = provisional_note(study, live=ratings.live).removesuffix(INTERVALS_IN_WORDS[True]).strip()

    def table(name: str, spec: TableSpec, frame: pd.DataFrame, *notes: str) -> Table:
        return Table(name, spec.title, frame, spec.columns, notes, n, population=spec.population).noted(fixed)

    tables = [
        table("study_sample", TYPES_TABLE, strata_frame(list_strata(store, study.study_id)), *TYPES_TABLE.notes),
        Table(
            "study_agreement", AGREEMENT_TITLE, agreement.assign(who=who),
            tuple(column.of_kind(ratings.intervals) for column in FIGURES_TABLE.named("who", "figure", "n", "sample", "note")),
            (AGREEMENT_NOTE,), n, population=FIGURES_TABLE.population,
        ).noted(provisional_note(study, live=ratings.live)),
        table("study_preferences", COUPLES_TABLE, couples_frame(comparisons, names), *COUPLES_TABLE.notes),
        table("study_strengths", STRENGTHS_TABLE, strengths_frame(comparisons, names), side_sentence(comparisons)),
    ]  # fmt: skip
    return StudyPart(study.study_id, origin.digest, Chapter(STUDY_PART_TITLE, tables, []), {}, study_facts(store, study, origin))
