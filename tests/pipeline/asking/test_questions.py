"""Questions of a run that are near in meaning to what somebody types."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audit.jobs import asking
from audit.jobs.asking import close_workers, near_questions
from audit.pipeline.asking.questions import RunQuestions
from audit.pipeline.embedding.encoders import Encoder
from audit.store.runs import Run
from tests.support.loading import load
from tests.support.tiny import handbook, release_from

READ: list[list[str]] = []


def _encode(texts: Any, _progress: object) -> Any:
    READ.append(list(texts))
    return np.array([[1.0, 0.0] if {"q2?", "wheel"} & set(text.split()) else [0.0, 1.0] for text in texts], dtype=np.float32)


MODEL = Encoder("a model", "digest", _encode)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("near")
    release = release_from(folder, "q1 kidney ab=CONSISTENT\nq2 kidney ab=CONSISTENT", [handbook("a"), handbook("b")])
    return load(release, folder / "data").run


def test_static_vectors_compare_until_the_model_has_read_the_questions(run: Run, tmp_path: Path) -> None:
    questions = RunQuestions(run.path, MODEL, tmp_path)
    assert not questions.is_prepared
    assert questions.near("what about q1") == ["q1", "q2"]
    assert questions.near("") == []
    assert questions.near("q2")[0] == "q2", "typed whole"
    questions.prepare()
    assert questions.near("behind the wheel") == ["q2"], "no word of it is in the run"
    READ.clear()
    again = RunQuestions(run.path, MODEL, tmp_path)
    again.prepare()
    assert again.near("q1 wheel")[0] == "q2"
    assert READ == [["q1 wheel"]], "what is stored is not read again"


def test_the_words_of_its_answers_find_a_question(tmp_path: Path) -> None:
    release = release_from(tmp_path, "q1 kidney ab=CONSISTENT\nq2 kidney ab=CONSISTENT", [handbook("a"), handbook("b")])
    answers = [json.loads(line) for line in (release / "answers.jsonl").read_text(encoding="utf-8").splitlines()]
    for answer in answers:
        answer["answer"] = f"Never touch {'cigarettes' if answer['question_id'] == 'q2' else 'raw fish'}."
    (release / "answers.jsonl").write_text("\n".join(map(json.dumps, answers)), encoding="utf-8")
    questions = RunQuestions(load(release, tmp_path / "data").run.path, None, tmp_path / "indexes")
    assert questions.near("cigarettes")[0] == "q2"
    assert questions.near("fish")[0] == "q1"
    assert questions.is_prepared, "what was counted is kept"


@pytest.mark.slow
def test_the_process_answers_unless_it_is_busy(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "NEAR_S", 60.0)
    assert near_questions(run, "what about q2", tmp_path) == ["q2", "q1"]
    monkeypatch.setattr(asking._worker_of(run.digest), "open", 1)
    assert near_questions(run, "what about q2", tmp_path) is None
    close_workers()
