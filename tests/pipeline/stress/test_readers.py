"""The readers without a model reproduce the curves that arithmetic gives them."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from audit.cli.main import main
from audit.metrics.stress import stress_curves
from audit.pipeline.stress.running.readers import READER_NAMES
from audit.store.connection import open_store
from benchmarks.stress import DATA, compared
from tests.support.loading import load

QUESTIONS = 60
DOCUMENTS = 5


def question(number: int) -> dict[str, object]:
    """A question with five short documents, each with an amount of its own; the gold is A for two of three."""
    texts = [
        f"Topic {number}.{place}: patients waited {number + 3 * place + 2} days before surgery." for place in range(DOCUMENTS)
    ]
    return {
        "question_id": f"q{number:02}", "question": f"Is topic {number} settled?", "options": {"A": "yes", "B": "no"},
        "answer": "B" if number % 3 == 0 else "A",
        "documents": [{"document_id": f"{number}-{place}", "text": text} for place, text in enumerate(texts)],
    }  # fmt: skip


@pytest.fixture(scope="module")
def curves(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    folder = tmp_path_factory.mktemp("readers")
    (folder / "questions.jsonl").write_text("\n".join(json.dumps(question(number)) for number in range(QUESTIONS)))
    out = folder / "release"
    assert main(["stress", "build", str(folder / "questions.jsonl"), "--out", str(out)]) in (0, 1)
    assert main(["stress", "run", str(out), "--readers", "all"]) == 0
    return stress_curves(open_store(load(out, folder / "data").run.path), size=DOCUMENTS)


def analytic(reader: str, test: str, measure: str, p: float) -> float | None:
    """The value that a reader has on average, for two options; None where it gives nothing."""
    known = {
        "accuracy": {
            "oracle": 0.0 if p == 0 and test == "sufficiency" else 1.0, "copycat": p, "closed_book": 2 / 3, "insufficient": 0.0,
            "coin": 0.5,
        },
        "insufficient": {"oracle": float(p == 0 and test == "sufficiency"), "insufficient": 1.0},
        "noise_detection": {"oracle": 1.0, "copycat": p, "insufficient": 1 - p, "coin": 0.5},
        "error_detection": {"oracle": 1.0, "copycat": p, "insufficient": 1 - p, "coin": 0.5},
        "sub_exact": {"oracle": 1.0, "copycat": p if test == "robustness" else 1.0, "coin": 0.5},
        "sub_document": {"oracle": 1.0, "copycat": 1.0, "coin": 1 / DOCUMENTS},
    }[measure]  # fmt: skip
    return known.get(reader, 0.0 if measure == "insufficient" else None)


@pytest.mark.parametrize(
    "measure", ["accuracy", "insufficient", "noise_detection", "error_detection", "sub_exact", "sub_document"]
)
@pytest.mark.parametrize("reader", READER_NAMES)
def test_a_reader_reproduces_its_analytic_curve(curves, reader, measure):
    own = curves[(curves["system_id"] == reader) & (curves["measure"] == measure)]
    expected = [analytic(reader, row.test, measure, row.signal_share / 100) for row in own.itertuples()]
    assert None not in expected
    # Where all questions have one value no interval is known; such a reader is expected to give exactly that value.
    low, high = (own[end].fillna(own["value"]) for end in ("value_low", "value_high"))
    inside = pd.Series(expected, index=own.index, dtype=float).between(low - 1e-6, high + 1e-6)
    # 95 % intervals: of a dozen cells, one may miss
    assert sum(inside) >= len(inside) - 1
    gaps = [abs(row.value - value) for row, value in zip(own.itertuples(), expected, strict=True)]
    assert max(gaps, default=0) < 0.2
    assert len(own) == 0 or (own["unread"] == 0).all()


def test_a_reader_who_ignores_the_documents_has_no_detection(curves):
    own = set(curves[curves["system_id"] == "closed_book"]["measure"])
    assert own == {"accuracy", "insufficient", "unread"}


@pytest.mark.slow
def test_on_real_questions_nearly_all_cells_have_the_analytic_value_inside(tmp_path):
    source = DATA / "stress" / "pubmedqa.jsonl.gz"
    if not source.is_file():
        pytest.skip("the questions of PubMedQA are not beside the checkout (../shared/data/stress)")
    out = tmp_path / "release"
    main(["stress", "build", str(source), "--out", str(out), "--limit", "200"])
    assert main(["stress", "run", str(out), "--readers", "all"]) == 0
    curves = stress_curves(open_store(load(out, tmp_path / "data").run.path), size=DOCUMENTS)
    commonest = curves.query("measure == 'accuracy' and system_id == 'closed_book' and test == 'standard'")["value"].iloc[0]
    cells = compared(curves, 3, commonest)
    # 95 % intervals: only the draws of coin and copycat can miss
    assert cells["inside"].mean() > 0.95
    assert set(cells[~cells["inside"]]["system_id"]) <= {"coin", "copycat", "closed_book"}
