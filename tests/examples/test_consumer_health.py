"""The converter of the public consumer-health data: a small folder in its format, and the published figures of the real one."""

from __future__ import annotations

import gzip
import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from audit.metrics import METRICS
from audit.store.connection import open_store
from audit.store.load import Loaded
from tests.support.loading import ask, load, messages, quarantined

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data" / "consumer_health"
ANSWERS = "select system_id, answer, refused from system_answers join systems using (system) order by system"
AGREED = """
select count(*) filter (human.preference = judge.preference),
       count(*) filter (human.preference = if(judge.preference = 'tie', 'A', judge.preference)),
       count(*) filter (human.preference = if(judge.preference = 'tie', 'B', judge.preference)),
       count(*)
from preferences human join preferences judge using (question, system_a, system_b)
where human.rater_kind = 'human' and judge.rater_kind = 'judge'
"""


@pytest.fixture(scope="module")
def converter() -> ModuleType:
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("convert", ROOT / "examples" / "consumer_health" / "convert.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write(folder: Path, name: str, *records: dict[str, Any]) -> None:
    with gzip.open(folder / f"{name}.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)


def small_data(folder: Path, published: float = 1.0) -> Path:
    """One question with one head-to-head item, and one reply that scores grammaticality alone."""
    question = {"question_id": "q", "question": "Why?", "question_type": "causes", "reference_answers": ["Because."]}
    reply = {
        "system_id": "mixtral-8x7b-closed-book",
        "question_id": "q",
        "judge": "j",
        "reply": '{"8_grammaticality": {"score": 1}}',
    }
    item = {"qid": "q", "model": "mixtral", "closed_book_answer": "Due to salt.", "clinician": "closed_book"}
    write(folder, "questions", question | {"document_url": "https://example.org"})
    write(folder, "answers", {"system_id": "mixtral-8x7b-closed-book", "question_id": "q", "answer": "Due to salt."})
    write(folder, "judge_replies", reply | {"published_scores": {"8_grammaticality": published}})
    refusal = {"rag_answer": "The provided documents do not contain information on causes."}
    write(folder, "head_to_head", item | refusal | {"judge_total_closed_book": None, "judge_total_rag": 1.0})
    return folder


def test_a_head_to_head_item_becomes_two_answers_and_two_preferences(converter: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    assert converter.convert(small_data(tmp_path / "data"), tmp_path / "release") == 0
    loaded = load(tmp_path / "release", tmp_path / "store")
    assert ask(loaded, ANSWERS) == [
        ("mixtral-8x7b-closed-book", "Due to salt.", False),
        ("mixtral-8x7b-rag", "The provided documents do not contain information on causes.", True),
    ]
    assert ask(loaded, "select preference, rater_kind, shown_first from preferences") == [
        ("A", "human", "A"),
        ("B", "judge", None),
    ]
    assert ask(loaded, "select grammaticality, empathy from criteria") == [(1, None)]


def test_a_published_score_that_differs_is_reported(
    converter: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert converter.convert(small_data(tmp_path, published=0.0), tmp_path / "release") == 1
    assert "0 agree, 1 differ" in capsys.readouterr().out


@pytest.fixture(scope="module")
def real(converter: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    """The real data, converted and loaded."""
    if not DATA.is_dir():
        pytest.skip("the consumer-health data is not here (shared/data/consumer_health)")
    folder = tmp_path_factory.mktemp("consumer_health")
    assert converter.convert(DATA, folder / "release") == 0
    return load(folder / "release", folder / "store")


def test_nothing_of_the_real_data_is_lost(real: Loaded) -> None:
    assert quarantined(real) == []
    totals = {kind: row["loaded"] for kind, row in real.run.report["totals"].items()}
    assert totals == {
        "question": 828, "system": 6, "reference": 828, "system_answer": 938, "criteria": 1656, "preference": 132,
    }  # fmt: skip
    assert messages(real, "noted") == [
        "207 of 1,656 records lack at least one of the eight scores. They were loaded.",
        "806 of 1,656 records are about an answer that is not in the release. They were loaded.",
    ]


def test_the_composites_are_the_published_ones(real: Loaded) -> None:
    with open_store(real.run.path) as con:
        means = METRICS["composite"](con, incomplete="zero").set_index("system_id")["mean"]
    assert means["mixtral-8x7b-closed-book"] == pytest.approx(7.815, abs=0.0005)
    assert means["mixtral-8x7b-rag"] == pytest.approx(7.698, abs=0.0005)


def test_the_clinician_and_the_judge_agree_as_published(real: Loaded) -> None:
    assert ask(real, AGREED) == [(39, 46, 34, 66)]
    assert ask(real, "select count(*), min(preference), max(preference) from preferences where comment is not null") == [
        (6, "tie", "tie")
    ]
    assert ask(real, "select count(*) from preferences where shown_first = 'A' and rater_kind = 'human'") == [(66,)]


def test_refusals_are_told_from_answers(real: Loaded) -> None:
    assert ask(real, "select count(*) from system_answers where refused") == [(15,)]
