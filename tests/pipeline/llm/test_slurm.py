"""The array script on a real SLURM, with a stand-in for vLLM that is killed half-way."""

import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from audit.pipeline.llm.calls import ANSWERED, REFUSED
from audit.pipeline.llm.shards import collect_replies, max_array_size, shard_outputs, write_batch
from tests.pipeline.llm.test_shards import calls
from tests.support.slurm import NoSlurmError, Slurm, one_node

STAND_IN = f"{sys.executable} {Path(__file__).parents[2] / 'support' / 'stand_in_vllm.py'}"
NO_GPU = "--gres=none"


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    try:
        with one_node(tmp_path_factory.mktemp("slurm")) as cluster:
            yield cluster
    except NoSlurmError as why:
        pytest.skip(str(why))


@pytest.fixture
def batch(tmp_path) -> Path:
    """Five questions of four pairs each in three shards; the test node has no GPU."""
    write_batch(calls(q1=4, q2=4, q3=4, q4=4, q5=4), tmp_path / "batch", 3, {}, "tiny")
    fit_node(tmp_path / "batch")
    return tmp_path / "batch"


def fit_node(batch: Path) -> None:
    script = batch / "ask.sbatch"
    script.write_text(script.read_text().replace("#SBATCH --gpus=1\n", "").replace("--cpus-per-task=8", "--cpus-per-task=1"))


def outcomes(batch: Path) -> Counter[str]:
    return sum((count.outcomes for count, _ in collect_replies(batch)), Counter())


def run(slurm: Slurm, batch: Path, *options: str, **environment: str) -> None:
    slurm.wait(slurm.submit("ask.sbatch", batch, *options, VLLM=STAND_IN, **environment))


def test_every_shard_is_asked_by_its_own_task(slurm, batch):
    run(slurm, batch)
    assert outcomes(batch) == {ANSWERED: 20}
    assert [len(shard_outputs(batch, shard)) for shard in range(3)] == [1, 1, 1]


def test_submitting_again_asks_only_the_rest_and_overwrites_nothing(slurm, batch):
    run(slurm, batch, STAND_IN_DIES="2")
    assert outcomes(batch) == {ANSWERED: 3 * 2}
    first = [shard_outputs(batch, shard)[0].read_bytes() for shard in range(3)]
    run(slurm, batch)
    assert outcomes(batch) == {ANSWERED: 20}
    assert [shard_outputs(batch, shard)[0].read_bytes() for shard in range(3)] == first
    assert [len(shard_outputs(batch, shard)[1].read_text().splitlines()) for shard in range(3)] == [8 - 2, 8 - 2, 4 - 2]


def test_submitting_a_finished_batch_asks_nothing(slurm, batch):
    run(slurm, batch)
    run(slurm, batch)
    assert [len(shard_outputs(batch, shard)) for shard in range(3)] == [1, 1, 1]


def test_a_single_shard_can_be_submitted(slurm, batch):
    run(slurm, batch, "--array=2")
    assert [sum(count.outcomes.values()) for count, _ in collect_replies(batch)] == [0, 0, 4]


def test_more_shards_than_one_array_may_have_are_submitted_as_several_jobs(slurm, tmp_path, monkeypatch):
    """The test cluster allows 4 tasks in one array, and 10 questions of one pair make 10 shards."""
    batch = tmp_path / "batch"
    assert len(write_batch(calls(**{f"q{n}": 1 for n in range(10)}), batch, 10, {}, "tiny")) == 10
    fit_node(batch)
    with pytest.raises(AssertionError, match="Invalid job array"):
        slurm.submit("ask.sbatch", batch)
    for name, value in slurm.environment.items():
        monkeypatch.setenv(name, value)
    assert max_array_size() == 4
    environment = {**slurm.environment, "VLLM": STAND_IN}
    command = ["bash", "submit.sh", "--parsable"]
    done = subprocess.run(command, cwd=batch, env=environment, capture_output=True, text=True, check=True, timeout=60)
    jobs = done.stdout.split()
    assert len(jobs) == 3
    for job in jobs:
        slurm.wait(job)
    assert [sum(count.outcomes.values()) for count, _ in collect_replies(batch)] == [1] * 10


def test_a_refused_request_is_an_outcome_and_is_not_asked_again(slurm, batch):
    run(slurm, batch, STAND_IN_REFUSES="q3 pair 1")
    assert outcomes(batch) == {ANSWERED: 19, REFUSED: 1}
    run(slurm, batch)
    assert outcomes(batch) == {ANSWERED: 19, REFUSED: 1}


def test_a_task_near_its_time_limit_requeues_itself_and_continues(slurm, batch):
    job = slurm.submit("ask.sbatch", batch, "--array=0", VLLM=STAND_IN, STAND_IN_SLEEPS="0.5")
    written = batch / "outputs" / f"0000.{job}_0.jsonl"
    slurm.until(lambda: written.is_file() and len(written.read_text().splitlines()) >= 2)
    slurm.run("scancel", "--batch", "--signal=USR1", f"{job}_0")
    slurm.until(lambda: slurm.states(job) == {"PD"})
    time.sleep(2)  # a node refuses a job that it killed within the same second
    slurm.run("scontrol", "update", f"JobId={job}_0", "StartTime=now")  # SLURM itself would wait two minutes
    slurm.wait(job)
    assert [path.name for path in shard_outputs(batch, 0)] == [f"0000.{job}_0.jsonl", f"0000.{job}_1.jsonl"]
    (count, _), *_ = collect_replies(batch)
    assert count.outcomes == {ANSWERED: 8}
