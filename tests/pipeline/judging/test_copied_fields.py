"""Sections, trials and unparseable answers of a run are copied when it is judged again."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.cli.conventions import FINDINGS
from audit.cli.main import main
from audit.queries.pair_view import pair
from audit.store.connection import open_store
from tests.store.test_sections import SECTIONS, TRIALS, UNREAD, change_answer, with_sources
from tests.support.llm.fault_server import fault_server
from tests.support.loading import ask, load
from tests.support.tiny import release_from


@pytest.fixture
def again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The release with sections, trials and an unparseable answer, judged again."""
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    release = with_sources(release_from(tmp_path, UNREAD), trials=[*TRIALS, {**TRIALS[0], "question_id": "q2"}])
    change_answer(release, "q1", "a", answer=None, absent=None, absence_method=None, unread_reason="cut")
    load(release, tmp_path / "data")
    with fault_server() as server:
        monkeypatch.setenv("AUDIT_JUDGE_URL", server.url)
        assert main(["judge", "tiny", "--out", str(tmp_path / "again")]) == FINDINGS
    return tmp_path / "again"


def test_sections_and_trials_are_copied(again: Path, tmp_path: Path) -> None:
    loaded = load(again, tmp_path / "other")
    assert ask(loaded, "select section_id, text from sections") == [
        (section["section_id"], section["text"]) for section in SECTIONS
    ]
    assert ask(loaded, "select question, strategy from trials") == [(0, "bm25"), (0, "hero"), (1, "bm25")]


def test_an_unparseable_answer_stays_so_and_its_pairs_are_unscored(again: Path, tmp_path: Path) -> None:
    loaded = load(again, tmp_path / "other")
    with open_store(loaded.run.path) as con:
        answer_pair = pair(con, "q1", "a", "b")
        assert (answer_pair.a.state, answer_pair.a.unread_reason, answer_pair.judgement.status) == ("unread", "cut", "unscored")
        assert pair(con, "q1", "a", "d").judgement.status == "prescreened"
        assert pair(con, "q1", "b", "c").judgement.status == "judged"
