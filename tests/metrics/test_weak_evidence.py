"""Pairs whose answers rest on weak evidence: a fallback, one passage at most, a citation of nothing."""

from __future__ import annotations

import json

import pytest

from audit.cli.main import main
from audit.metrics.disagreements import Filters, disagreements, matching
from audit.metrics.disputed_questions import disputed_questions
from audit.queries.pair_view import pair
from audit.queries.weak_evidence import CITATION, FALLBACK, THIN, weak_answers
from audit.store.connection import Connection, open_store
from audit.store.runs import Run
from tests.support.loading import load
from tests.support.tiny import release_from

PASSAGE = {"passage": 1, "section_id": "s1", "start": 0, "end": 9}
RECORDS = {
    ("q1", "a"): {"mode": "full_document_fallback", "passages": [PASSAGE]},
    ("q1", "b"): {"mode": "passages", "passages": [PASSAGE, PASSAGE], "citations": [{"passage": 1, "known": True}]},
    ("q1", "c"): {"mode": "passages", "passages": [PASSAGE]},
    ("q2", "a"): {"mode": "passages", "passages": [PASSAGE, PASSAGE], "citations": [{"passage": 9, "known": False}]},
    # Another shape than ours says nothing
    ("q2", "b"): {"mode": "passages", "passages": {"n": 1}, "citations": "none"},
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    root = tmp_path_factory.mktemp("weak")
    table = """
        q1 kidney ab=DIVERGENT/high ac=DIVERGENT/low bc=CONSISTENT d=absent
        q2 liver ab=DIVERGENT/low ac=CONSISTENT bc=DIVERGENT/low
    """
    release = release_from(root, table)
    lines = [json.loads(line) for line in (release / "answers.jsonl").read_text().splitlines()]
    for line in lines:
        line["retrieval"] = RECORDS.get((line["question_id"], line["handbook_id"]))
        if line["handbook_id"] == "d":  # an absent answer claims nothing, so nothing weak stands behind it
            line["retrieval"] = {"mode": "full_document_fallback"}
    (release / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return load(release, root / "data").run


@pytest.fixture
def con(run: Run):
    with open_store(run.path) as opened:
        yield opened


@pytest.mark.parametrize(
    ("kinds", "found"),
    [
        ((FALLBACK,), ["q1ab", "q1ac"]), ((THIN,), ["q1ac"]), ((CITATION,), ["q2ab"]),
        ((FALLBACK, CITATION), ["q1ab", "q1ac", "q2ab"]),
        ((), ["q1ab", "q1ac", "q2ab", "q2bc"]),
    ],
)  # fmt: skip
def test_a_pair_is_selected_where_one_of_its_answers_rests_on_it(
    con: Connection, kinds: tuple[str, ...], found: list[str]
) -> None:
    pairs = matching(con, Filters(evidence=kinds))
    assert (pairs["question_id"] + pairs["handbook_a"] + pairs["handbook_b"]).tolist() == found


def test_the_filter_works_with_words_and_in_both_lists(con: Connection) -> None:
    filters = Filters(evidence=(THIN,), words=("q1",))
    assert disagreements(con, filters)["total"].tolist() == [1]
    assert disputed_questions(con, filters)["question_id"].tolist() == ["q1"]
    assert disputed_questions(con, Filters(evidence=(THIN,), words=("q2",))).empty


def test_answers_say_what_is_weak_about_them(con: Connection) -> None:
    assert weak_answers(con, ("q1", "q2")) == {("q1", "a"): (FALLBACK,), ("q1", "c"): (THIN,), ("q2", "a"): (CITATION,)}
    assert weak_answers(con, ("q2",)) == {("q2", "a"): (CITATION,)}
    seen = pair(con, "q1", "a", "d")
    assert (seen.a.weak, seen.b.weak) == ((FALLBACK,), ())


def test_the_command_selects_by_it_and_names_what_is_allowed(
    run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(run.path.parents[1]))
    assert main(["pairs", "--evidence", "citation", "--format", "json"]) == 0
    assert [row["question_id"] for row in json.loads(capsys.readouterr().out)["rows"]] == ["q2"]
    assert main(["pairs", "--evidence", "poor"]) == 2
    assert "Allowed: fallback, thin, citation" in capsys.readouterr().err
