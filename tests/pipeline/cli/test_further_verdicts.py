"""`audit judge --second-judge` and `--recheck`: which pairs are asked again, and what the release says of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from audit.cli.main import main
from audit.metrics.prompts import prompts
from audit.pipeline.stages.further_verdicts import FILE
from audit.store.connection import open_store, rows
from audit.store.runs import find_run
from tests.support.llm.fault_server import FaultServer, fault_server
from tests.support.loading import load
from tests.support.tiny import release_from

TABLE = """
    q1 kidney  topics=diet  ab=DIVERGENT/high  ac=COMPLEMENTARY  bc=CONSISTENT  d=absent
    q2 general topics=work  ab=UNSCORED        ac=ABSENT  bc=CONTRADICTORY      d=absent
"""
"""Six pairs that the judge was asked about: two disagree, one is unscored, three are others."""


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server() as server:
        yield server


@pytest.fixture
def release(tmp_path: Path, server: FaultServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("AUDIT_JUDGE_URL", server.url)
    monkeypatch.delenv("AUDIT_JUDGE_MODEL", raising=False)
    folder = release_from(tmp_path, TABLE)
    load(folder, tmp_path / "data")
    return folder


def records(release: Path) -> list[dict]:
    return [json.loads(line) for line in (release / FILE).read_text().splitlines()]


def ask(release: Path, *options: str) -> int:
    return main(["judge", "tiny", "--out", str(release), *options])


def test_a_second_judge_reads_all_disagreeing_and_unscored_pairs_and_some_others(release, server, tmp_path):
    assert ask(release, "--second-judge", "1", "--load") == 0
    asked = {(one["question_id"], one["handbook_a"] + one["handbook_b"]) for one in records(release)}
    assert {("q1", "ab"), ("q2", "ab"), ("q2", "bc")} <= asked
    assert len(asked) == 4
    assert server.unrecorded(release) == set()
    assert {(one["kind"], one["judge"], one["round"], one["number"]) for one in records(release)} == {("second", "judge", 1, 1)}
    run = find_run(tmp_path / "data" / "store", "tiny")
    assert run.report["clean"]
    with open_store(run.path) as con:
        (used_for,) = prompts(con)["used_for"]
        assert used_for == "second judge, judge"
        assert rows(con, "select count(*), count(second) from pairs_read_twice") == [(12, 4)]
        assert rows(con, "select second from pairs_read_twice where label is null") == [("unscored",)]


def test_the_same_second_judge_again_asks_nothing_and_another_one_keeps_the_first(release, server, monkeypatch, tmp_path):
    assert ask(release, "--second-judge", "1") == 0
    asked = server.asked
    assert ask(release, "--second-judge", "1") == 0
    assert server.asked == asked
    server.models = ["judge", "third"]
    monkeypatch.setenv("AUDIT_JUDGE_MODEL", "third")
    assert ask(release, "--second-judge", "3") == 0
    assert Counter(one["judge"] for one in records(release)) == {"judge": 4, "third": 6}


def test_the_panel_is_drawn_once_and_asked_twice_at_every_recheck(release, server):
    assert ask(release, "--recheck", "2") == 0
    assert ask(release, "--recheck", "5") == 0
    assert server.unrecorded(release) == set()
    pairs = [
        {(one["question_id"], one["handbook_a"], one["handbook_b"]) for one in records(release) if one["round"] == number}
        for number in (1, 2)
    ]
    assert pairs[0] == pairs[1]
    assert Counter((one["round"], one["number"]) for one in records(release)) == {(1, 1): 2, (1, 2): 2, (2, 1): 2, (2, 2): 2}
    asked = Counter(
        body["messages"][-1]["content"] for body in server.bodies if body["max_tokens"] > 1 and "<answer_a>" in str(body)
    )
    assert [*asked.values()] == [4, 4], "the stored replies of an earlier date are not used again"


def test_a_second_judge_of_the_same_name_is_told(release, monkeypatch, capsys):
    manifest = json.loads((release / "manifest.json").read_text())
    (release / "manifest.json").write_text(json.dumps(manifest | {"judge": "judge"}))
    assert ask(release, "--second-judge", "1") == 0
    assert "The second judge has the name of the run's judge (judge)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--swap",), "leave out --swap"),
        (("--protocol", "positions"), "leave out --protocol positions"),
        (("--pairs", "sample:3"), "leave out --pairs"),
    ],
)
def test_options_that_a_second_judge_does_not_have_are_refused(release, server, capsys, options, message):
    assert ask(release, "--second-judge", "1", *options) == 2
    assert message in capsys.readouterr().err
    assert server.asked == 0
    assert not (release / FILE).exists()


def test_a_folder_of_another_release_is_refused(release, tmp_path, capsys):
    other = release_from(tmp_path / "elsewhere", TABLE)
    manifest = json.loads((other / "manifest.json").read_text())
    (other / "manifest.json").write_text(json.dumps(manifest | {"run_id": "other"}))
    assert ask(other, "--second-judge") == 2
    assert "has the release other, and not tiny. Nothing was asked" in capsys.readouterr().err


def test_a_dry_run_says_what_would_be_drawn_and_asks_nothing(release, server, capsys):
    assert ask(release, "--second-judge", "--dry-run") == 0
    assert "2 disagreeing, 1 unscored, 3 other" in capsys.readouterr().out
    assert server.asked == 0
