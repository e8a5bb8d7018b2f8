"""`audit judge` on a cluster: requests emitted, answered by a stand-in for vLLM, collected, and loaded as a run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from audit.cli.main import main
from audit.exports.context import open_context
from audit.exports.published.tables import PROTOCOLS_DIFFER, run_figures
from audit.metrics import METRICS
from audit.pipeline.cli import model_calls
from audit.settings import Settings
from audit.store.connection import open_store, open_two, rows
from audit.store.load import load_release
from audit.store.runs import find_run
from tests.support.archives import differing_files
from tests.support.loading import load
from tests.support.tiny import release_from

TABLE = """
    q1 kidney  topics=diet  ab=DIVERGENT/high  ac=COMPLEMENTARY  bc=CONSISTENT  d=absent
    q2 general topics=work  ab=UNSCORED        ac=ABSENT  bc=CONTRADICTORY      d=absent
"""
STAND_IN = Path(__file__).parents[2] / "support" / "stand_in_vllm.py"


@pytest.fixture
def out(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("AUDIT_JUDGE_MODEL", "judge")
    monkeypatch.delenv("AUDIT_JUDGE_URL", raising=False)
    load(release_from(tmp_path, TABLE), tmp_path / "data")
    return tmp_path / "again"


def judge(out: Path, *options: str) -> int:
    return main(["judge", "tiny", "--out", str(out), *options])


def answer_shards(batch: Path, attempt: str, **environment: str) -> None:
    """What the array's tasks do, without SLURM: each shard by one run of the stand-in."""
    for shard in sorted((batch / "shards").iterdir()):
        target = batch / "outputs" / f"{shard.stem}.{attempt}.jsonl"
        command = [sys.executable, str(STAND_IN), "run-batch", "-i", str(shard), "-o", str(target), "--model", "judge"]
        subprocess.run(command, env=environment, check=False)


def test_what_a_cluster_answered_becomes_a_run(out, tmp_path, capsys):
    batch = tmp_path / "batch"
    assert judge(out, "--emit-batch", str(batch), "--shards", "2") == 0
    assert "6 requests of stage 'structured' in 2 shards" in capsys.readouterr().out
    answer_shards(batch, "1_0")
    assert judge(out, "--collect", str(batch), "--load") == 0
    run = find_run(tmp_path / "data" / "store", "again")
    assert run.report["clean"]
    with open_store(run.path) as con:
        labels = dict(rows(con, "select label::varchar, count(*) from pairs group by all"))
    assert labels == {"CONSISTENT": 6, "ABSENT": 6}


def test_more_shards_than_an_array_may_have_are_said_and_submitted_as_several_jobs(out, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(model_calls, "max_array_size", lambda: 1)
    batch = tmp_path / "batch"
    assert judge(out, "--emit-batch", str(batch), "--shards", "2") == 0
    printed = capsys.readouterr().out
    assert "SLURM allows 1 tasks in one array (MaxArraySize), so submit.sh submits the shards as 2 array jobs." in printed
    assert "bash submit.sh" in printed
    judge(out, "--collect", str(batch))
    expected = "sbatch --array=0 ask.sbatch && sbatch --array=0 --export=ALL,FIRST_SHARD=1 ask.sbatch"
    assert expected in capsys.readouterr().out


def test_missing_replies_are_reported_and_nothing_is_written_before_they_came(out, tmp_path, capsys):
    batch = tmp_path / "batch"
    judge(out, "--emit-batch", str(batch), "--shards", "1")
    answer_shards(batch, "1_0", STAND_IN_DIES="2")
    assert judge(out, "--collect", str(batch)) == 1
    printed = capsys.readouterr().out
    assert "6 requests: 2 answered, 4 missing." in printed
    assert "shard 0: 2 answered, 4 missing; 1 torn line" in printed
    assert "sbatch --array=0 ask.sbatch" in printed
    assert not (out / "manifest.json").exists()
    answer_shards(batch, "2_0")
    assert judge(out, "--collect", str(batch)) == 0


def test_collecting_twice_stores_each_reply_once(out, tmp_path, capsys):
    batch = tmp_path / "batch"
    judge(out, "--emit-batch", str(batch), "--shards", "1")
    answer_shards(batch, "1_0", STAND_IN_DIES="3")
    judge(out, "--collect", str(batch))
    judge(out, "--collect", str(batch))
    assert "6 requests: 3 answered, 3 missing." in capsys.readouterr().out
    judge(out, "--emit-batch", str(tmp_path / "rest"))
    assert "3 requests of stage 'structured'" in capsys.readouterr().out


def test_a_batch_of_other_options_is_not_collected(out, tmp_path, capsys):
    batch = tmp_path / "batch"
    judge(out, "--emit-batch", str(batch))
    assert main(["judge", "tiny", "--out", str(tmp_path / "other"), "--swap", "--collect", str(batch)]) == 2
    assert "was emitted with other options, or for another run" in capsys.readouterr().err


def test_a_batch_needs_the_name_of_the_model_that_the_cluster_will_load(out, tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("AUDIT_JUDGE_MODEL")
    assert judge(out, "--emit-batch", str(tmp_path / "batch")) == 2
    assert "Set AUDIT_JUDGE_MODEL" in capsys.readouterr().err
    assert not (tmp_path / "batch").exists()


def test_the_next_stage_is_named_when_one_depends_on_the_replies(out, tmp_path, capsys):
    batch = tmp_path / "batch"
    judge(out, "--protocol", "label_only", "--emit-batch", str(batch))
    assert "6 requests of stage 'label'" in capsys.readouterr().out
    answer_shards(batch, "1_0", STAND_IN_LABEL="DIVERGENT")
    assert judge(out, "--protocol", "label_only", "--collect", str(batch)) == 1
    assert "Stage 'extract' has 6 open requests" in capsys.readouterr().out


def positions_of_shards(out: Path, shards: int) -> dict[str, bytes]:
    """The files of a release whose positions a cluster found, the answers first and then what they have in common."""
    for stage in ("statements", "merge"):
        batch = out.with_name(f"{stage}-{shards}")
        assert judge(out, "--protocol", "positions", "--emit-batch", str(batch), "--shards", str(shards)) == 0
        answer_shards(batch, "1_0")
        # 1: the answers came, and the questions are still to be asked
        assert judge(out, "--protocol", "positions", "--collect", str(batch)) == int(stage == "statements")
    return {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}


def test_positions_are_the_same_however_many_shards_found_them(
    out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = (positions_of_shards(tmp_path / str(shards) / "again", shards) for shards in (1, 2))
    assert "6 requests of stage 'statements' in 2 shards" in capsys.readouterr().out
    assert differing_files(one, two) == []
    assert len(one["positions.jsonl"].splitlines()) == 4


def test_labels_that_follow_from_positions_are_compared_with_the_pairwise_judge_like_any_run(out: Path, tmp_path: Path) -> None:
    positions_of_shards(out, 1)
    settings = Settings()
    positions, pairwise = load_release(out, settings).run, find_run(settings.store_dir, "tiny")
    with open_store(positions.path) as con:
        labels = dict(rows(con, "select label::varchar, count(*) from pairs group by all"))
    # Of each question's three answers the first holds one position, the two others another; the judge of tiny said three labels
    assert labels == {"ABSENT": 6, "CONSISTENT": 2, "CONTRADICTORY": 4}
    with open_two(pairwise.path, positions.path) as both:
        agreement = METRICS["run_agreement"](both).set_index("figure")
        cost = METRICS["runs_cost"](both)
    assert agreement.loc["kappa", "of"] == 5  # of six, one is unscored in tiny
    assert not cost.empty
    with open_context(pairwise, positions) as context:
        assert run_figures(context)["runs.r_div"] == PROTOCOLS_DIFFER
