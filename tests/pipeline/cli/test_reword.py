"""`audit study reword`, from the sample to the study: what a model changes of amounts and negations is never shown to raters."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from annotation.label_store.engine import open_label_store
from annotation.label_store.studies import items_shown
from annotation.studies.accounts import add_account
from annotation.studies.leakage import blinding_words
from annotation.studies.verdict_store import find_origin
from annotation.studies.verification import verify_study
from audit.cli.main import main
from audit.settings import Settings
from audit.text.rewording import AMOUNT, EMPTY, HIDDEN, LENGTH, NEGATION, Rewording, digest, why_not
from tests.support.llm.fault_server import FaultServer
from tests.support.llm.fitting import answer
from tests.support.loading import load
from tests.support.studies import NOW
from tests.support.tiny import release_from

TABLE = "\n".join(f"q{n} kidney ab=DIVERGENT ac=CONSISTENT bc=COMPLEMENTARY" for n in range(1, 5))
SAID = "Key points: wait {n} months before you travel, and do not fly with a fever."
WELL = "You wait {n} months before you travel. You do not fly with a fever."
ANOTHER_AMOUNT = "You wait 9 months before you travel. You do not fly with a fever."
NO_NOT = "You wait {n} months before you travel. You fly with a fever."


def text_of(handbook: str, question: str) -> str:
    return SAID.format(n="abc".index(handbook) + 2) + f" This is on {question}."


def reply(body: dict[str, Any]) -> str:
    """A model that rewrites the answers of one handbook well, and those of the others each in its own bad way."""
    asked = re.search(r"wait (\d) months.* on q(\d)", body["messages"][-1]["content"])
    if asked is None:  # a trial call
        return answer(body)
    months, question = map(int, asked.groups())
    words = {2: WELL, 3: ANOTHER_AMOUNT if question < 3 else "", 4: NO_NOT}[months].format(n=months)
    return json.dumps({"rewritten": words and f"{words} This is on q{question}."})


@pytest.fixture
def run(model_server: FaultServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of three handbooks, two annotators, and the model."""
    monkeypatch.setattr("tests.support.llm.fault_server.answer", reply)
    release = release_from(tmp_path, TABLE)
    answers = [json.loads(line) for line in (release / "answers.jsonl").read_text().splitlines()]
    records = [{**one, "answer": text_of(one["handbook_id"], one["question_id"])} for one in answers]
    (release / "answers.jsonl").write_text("\n".join(map(json.dumps, records)) + "\n")
    load(release, tmp_path / "data")
    store = open_label_store(Settings().studies_url)
    for name in ("ana", "ben"):
        add_account(store, name, "annotator", None, NOW)
    store.close()
    return tmp_path


def create(*further: object) -> int:
    drawn = ["--annotators", "ana,ben", "--per-label", 4, "--calibration", 0, "--repeats", 1]
    return main(["study", "create", "pilot", *map(str, [*drawn, *further])])


def test_only_rewordings_with_the_same_amounts_and_negations_are_shown_and_the_originals_are_sealed(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts, words = run / "texts.jsonl", run / "reworded.jsonl"
    assert create("--dry-run", "--texts", texts) == 0
    assert main(["study", "reword", str(texts), "--out", str(words)]) == 1
    assert f"Kept, {AMOUNT}: " in capsys.readouterr().out
    rows = [Rewording(**json.loads(line)) for line in words.read_text().splitlines()]
    originals = [json.loads(line)["text"] for line in texts.read_text().splitlines()]
    assert Counter(row.reason for row in rows) == {"": 4, AMOUNT: 2, NEGATION: 4, EMPTY: 2}

    assert create("--reworded", words) == 0
    store = open_label_store(Settings().studies_url)
    shown = [text for *_, a, b in items_shown(store, "pilot") for text in (a, b)]
    assert {text.startswith("You wait 2") for text in shown if "2 months" in text} == {True}
    assert all(text in originals for text in shown if "2 months" not in text)
    assert not any("9 months" in text or "You fly" in text for text in shown)

    sealed = find_origin(store, "pilot").plan["reworded"]
    assert (sealed["texts"], set(sealed["kept"])) == (12, {AMOUNT, NEGATION, EMPTY})
    assert {one for pair in sealed["originals"].values() for one in pair} == set(map(digest, originals))
    assert verify_study(store, "pilot") == []
    assert "4 of 12 texts, with amounts and negations checked" in blinding_words(store, "pilot")
    store.close()


def test_a_file_that_somebody_edited_shows_nothing_else(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts, words = run / "texts.jsonl", run / "reworded.jsonl"
    create("--dry-run", "--texts", texts)
    main(["study", "reword", str(texts), "--out", str(words)])
    words.write_text(words.read_text().replace("You do not fly", "You fly"))
    assert create("--reworded", words) == 2
    assert "No answer of this sample has a rewording" in capsys.readouterr().err
    words.write_text("no json\n")
    assert create("--reworded", words) == 2
    assert "is not a file of `audit study reword`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("reworded", "reason"),
    [
        ("You wait 2 months. You avoid flying with a fever. Ask [name].", ""),
        ("You wait two months. You do not fly with a fever. Ask [name].", ""),
        ("You wait 2 weeks. You do not fly with a fever. Ask [name].", AMOUNT),
        ("You wait 2 months and then 3 days. You do not fly with a fever. [name]", AMOUNT),
        ("You wait 2 months. You may fly with a fever. Ask [name].", NEGATION),
        ("You do not wait 2 months. You do not fly with a fever. Ask [name].", NEGATION),
        ("You wait 2 months. You do not fly with a fever. Ask the team.", HIDDEN),
        ("You wait 2 months.", LENGTH),
        ("  ", EMPTY),
    ],
)
def test_what_must_stay_of_an_answer(reworded: str, reason: str) -> None:
    assert why_not("Wait 2 months, and do not fly with a fever. Ask [name].", reworded) == reason
