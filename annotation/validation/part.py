"""What a study adds to an export."""

from __future__ import annotations

from annotation.agreement.comparisons import MAJORITY, SAMPLE
from annotation.agreement.floor import SEED
from annotation.label_store.engine import LabelStore
from annotation.label_store.ledger import ledger_heads
from annotation.ratings import JUDGE
from annotation.validation.data import ValidationData, validation_data
from annotation.validation.figures import pictures
from annotation.validation.matrices import matrices
from annotation.validation.tables import TABLES
from audit.exports.catalogue import Chapter
from audit.exports.package import StudyPart
from audit.exports.run_figures import Measured
from audit.vocabulary import LABELS

TITLE = "What people say of the judge"
AGREEMENT = {"agreement": "study.agreement", "kappa": "study.kappa"}
JUDGED = {name: f"study.judge.{name}" for name in ("accuracy", "kappa", "f1_weighted", "f1_macro")}


def study_part(store: LabelStore, study_id: str) -> StudyPart:
    """The validation tables and figures of a study as it stands, and what it is.

    Raises StudyError when there is no such study or it was drawn from no run, AuditError while nothing is rated.
    """
    evidence = validation_data(store, study_id)
    tables = [make(evidence).noted(_standing(evidence)) for make in TABLES]
    tables[4:4] = [table.noted(_standing(evidence)) for table in matrices(evidence)]
    facts = {
        "title": evidence.study.title, "state": evidence.study.state.value, "run": evidence.origin.run_key,
        "plan": dict(evidence.origin.plan), "seed_of_order": evidence.study.seed, "seed_of_baseline_bootstrap": SEED,
        "ledgers": {name: {"entries": entries, "last": last} for name, (entries, last) in ledger_heads(store, study_id).items()},
    }  # fmt: skip
    chapter = Chapter(TITLE, tables, list(pictures(evidence)))
    return StudyPart(study_id, evidence.origin.digest, chapter, _published(evidence), facts)


def _standing(evidence: ValidationData) -> str:
    state = evidence.study.state.value
    return "" if state == "closed" else f"The study is in {state}: figures are as they stand, not final."


def _published(evidence: ValidationData) -> dict[str, Measured | str]:
    """The figures of the study that are also published, by name."""
    counts = evidence.report.counts
    first, second = evidence.ratings.annotators[:2]
    both = int(((evidence.ratings.labels[first] >= 0) & (evidence.ratings.labels[second] >= 0)).sum())
    agreed = both - counts[f"without a {MAJORITY}"]
    found: dict[str, Measured | str] = {
        "study.items": Measured(float(counts["items"])), "study.agreed": Measured(float(agreed)),
    }  # fmt: skip
    found |= {key: _figure(evidence, first, second, name) for name, key in AGREEMENT.items()}
    found |= {key: _figure(evidence, MAJORITY, JUDGE, name) for name, key in JUDGED.items()}
    found |= {f"study.f1.{label.value}": _figure(evidence, MAJORITY, JUDGE, "f1", label.value) for label in LABELS}
    return found | _errors(evidence)


def _figure(evidence: ValidationData, first: str, second: str, name: str, label: str = "") -> Measured | str:
    rows = evidence.report.figures
    wanted = {"about": "label", "first": first, "second": second, "scope": SAMPLE, "name": name, "label": label}
    for column, value in wanted.items():
        rows = rows[rows[column] == value]
    (row,) = rows.to_dict("records")
    return str(row["note"]) if row["note"].startswith("undefined") else Measured(row["value"], row["low"], row["high"])


def _errors(evidence: ValidationData) -> dict[str, Measured | str]:
    errors = evidence.report.errors
    own = errors[errors["by"] == MAJORITY]
    kinds = {(right, judged): n for right, judged, n in own[["right", "judged", "n"]].itertuples(index=False, name=None)}
    on_boundary = {f"study.errors.COMPLEMENTARY.{to}": kinds.get(("COMPLEMENTARY", to), 0) for to in ("DIVERGENT", "CONSISTENT")}
    return {name: Measured(float(n)) for name, n in {"study.errors": own["n"].sum(), **on_boundary}.items()}
