"""The part that a study adds to an export: tables, figures and facts."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from annotation.agreement.baseline_comparison import SEED
from annotation.agreement.comparisons import MAJORITY, SAMPLE
from annotation.agreement.tables import LABEL
from annotation.label_store.engine import LabelStore
from annotation.label_store.ledger import ledger_heads
from annotation.prevalence.estimates import by_label
from annotation.ratings.table import JUDGE
from annotation.validation.tables import TABLES, ValidationData, matrix_tables, validation_data
from audit.charts.rates import Rate, rate_dots
from audit.charts.style import LABEL_COLOURS, Figure
from audit.exports.catalogue import Chapter
from audit.exports.package import StudyPart
from audit.exports.run_figures import RunFigure
from audit.exports.table_model import Picture
from audit.vocabulary import LABELS, Label

TITLE = "Validation of the judge by people"
PUBLISHED_AGREEMENT = {"agreement": "study.agreement", "kappa": "study.kappa"}
PUBLISHED_JUDGE = {name: f"study.judge.{name}" for name in ("accuracy", "kappa", "f1_weighted", "f1_macro")}


def study_part(store: LabelStore, study_id: str) -> StudyPart:
    """The validation tables and figures of a study in its current state, and facts about it.

    Raises StudyError when there is no such study or it was not drawn from a run, AuditError while nothing is rated.
    """
    data = validation_data(store, study_id)
    tables = [make(data).noted(_provisional_note(data)) for make in TABLES]
    # The matrices follow the errors that they count.
    tables[4:4] = [table.noted(_provisional_note(data)) for table in matrix_tables(data)]
    facts = {
        "title": data.study.title, "state": data.study.state.value, "run": data.origin.run_key,
        "plan": dict(data.origin.plan), "seed_of_order": data.study.seed, "seed_of_baseline_bootstrap": SEED,
        "ledgers": {name: {"entries": entries, "last": last} for name, (entries, last) in ledger_heads(store, study_id).items()},
    }  # fmt: skip
    chapter = Chapter(TITLE, tables, list(study_pictures(data)))
    return StudyPart(study_id, data.origin.digest, chapter, _published_figures(data), facts)


def _provisional_note(data: ValidationData) -> str:
    state = data.study.state.value
    return "" if state == "closed" else f"The study is in the state {state}: its figures are not final."


def _published_figures(data: ValidationData) -> dict[str, RunFigure | str]:
    """The figures of the study that are also published, by name."""
    counts = data.report.counts
    first, second = data.ratings.annotators[:2]
    both = int(((data.ratings.labels[first] >= 0) & (data.ratings.labels[second] >= 0)).sum())
    # With two annotators, an item without a majority is one on which they differ.
    agreed = both - counts[f"without a {MAJORITY}"]
    figures: dict[str, RunFigure | str] = {
        "study.items": RunFigure(float(counts["items"])), "study.agreed": RunFigure(float(agreed)),
    }  # fmt: skip
    figures |= {key: _figure_of(data, first, second, name) for name, key in PUBLISHED_AGREEMENT.items()}
    figures |= {key: _figure_of(data, MAJORITY, JUDGE, name) for name, key in PUBLISHED_JUDGE.items()}
    figures |= {f"study.f1.{label.value}": _figure_of(data, MAJORITY, JUDGE, "f1", label.value) for label in LABELS}
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
    on_boundary = {f"study.errors.COMPLEMENTARY.{to}": kinds.get(("COMPLEMENTARY", to), 0) for to in ("DIVERGENT", "CONSISTENT")}
    return {name: RunFigure(float(n)) for name, n in {"study.errors": own["n"].sum(), **on_boundary}.items()}


# -- figures -----------------------------------------------------------------------------------------------------------

LABEL_MEASURES = {"precision": "Precision", "recall": "Recall", "f1": "F1"}
COLOURS = {"precision": "#6b7280", "recall": "#c77700", "f1": LABEL_COLOURS[Label.CONSISTENT]}


def study_pictures(data: ValidationData) -> Iterator[Picture]:
    """The judge label by label, and the corrected share of each label."""
    title = "The judge against the majority, label by label, with 95 % intervals (sample)"
    yield Picture("study_by_label", title, _judge_by_label(data))
    yield Picture("study_prevalence", "Share of each label in the run, corrected, with 95 % intervals", _corrected_shares(data))


def _judge_by_label(data: ValidationData) -> Figure:
    figures = data.report.figures
    own = figures[(figures["first"] == MAJORITY) & (figures["second"] == JUDGE) & (figures["scope"] == SAMPLE)]
    columns: dict[str, list[object]] = {"label": list(map(LABEL.display, LABELS))}
    for name in LABEL_MEASURES:
        rows = own[own["name"] == name].set_index("label").reindex(list(map(str, LABELS)))
        limits = zip(("", "_low", "_high", "_n"), ("value", "low", "high", "n"), strict=True)
        columns |= {name + end: rows[column].tolist() for end, column in limits}
    rates = [Rate(name, words, f"{name}_n", "items", COLOURS[name]) for name, words in LABEL_MEASURES.items()]
    return rate_dots(pd.DataFrame(columns), "label", rates)


def _corrected_shares(data: ValidationData) -> Figure:
    own = by_label(data.shares)
    share = Rate("value", "Share of the run", "n", "rated items")
    return rate_dots(own.assign(label=own["label"].map(LABEL.display)), "label", [share])
