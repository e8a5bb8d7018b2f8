"""The same work in one process, in several, and in jobs of SLURM."""

from __future__ import annotations

import os
import shutil

import pytest

from audit.errors import AuditError, ConfigError
from audit.pipeline.stages.config import ClusterOptions
from audit.pipeline.stages.workers import check_workers, run_tasks, slurm_cluster
from tests.pipeline.stages.work import length
from tests.support.slurm import NoSlurmError, one_node


@pytest.fixture
def files(tmp_path) -> list[str]:
    texts = {"alder": "wait", "birch": "scan", "cedar": "go"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return [str(tmp_path / name) for name in texts]


def outcomes(result) -> dict:
    """Name of the file -> its length, or the sentence."""
    return {path.rpartition("/")[2]: str(it) if isinstance(it, Exception) else it[0] for path, it in result}


EXPECTED = {"alder": 4, "birch": "birch is a scan.", "cedar": 2}


def test_one_after_the_other_a_file_that_fails_costs_only_itself(files):
    result = list(run_tasks("one", ClusterOptions(), length, files))
    assert outcomes(result) == EXPECTED
    assert isinstance(result[1][1], AuditError)


def test_two_processes_find_the_same(files):
    pytest.importorskip("distributed", reason="the extra dask is not installed")
    result = list(run_tasks("local:2", ClusterOptions(), length, files))
    assert outcomes(result) == EXPECTED
    workers = {it[1] for _, it in result if isinstance(it, tuple)}
    assert os.getpid() not in workers


@pytest.mark.parametrize("workers", ["two", "local", "local:0", "local:-1", "SLURM"])
def test_a_way_of_working_that_does_not_exist_is_refused(workers):
    with pytest.raises(ConfigError, match="Allowed: one, local:N"):
        check_workers(workers)


def test_a_job_of_slurm_asks_for_what_the_config_says():
    pytest.importorskip("dask_jobqueue", reason="the extra dask is not installed")
    options = ClusterOptions(
        cores=3, memory="5GB", walltime="02:00:00", queue="shared", account="abc123", interface="lo",
        prologue=("module load python",), directives=("--constraint=EGRESS",),
    )  # fmt: skip
    with slurm_cluster(options) as cluster:
        script = cluster.job_script().splitlines()
    for line in ("-p shared", "-A abc123", "--cpus-per-task=3", "--mem=5G", "-t 02:00:00", "--constraint=EGRESS"):
        assert f"#SBATCH {line}" in script
    at = script.index("module load python")
    assert script[at - 1].startswith("export PYTHONPATH=")
    assert "distributed.cli.dask_worker" in script[-2] + script[-1]


@pytest.mark.skipif(shutil.which("sbatch") is None, reason="slurm-wlm is not installed (Debian: apt-get install slurm-wlm)")
def test_jobs_of_a_real_slurm_find_the_same(files, tmp_path, monkeypatch):
    pytest.importorskip("dask_jobqueue", reason="the extra dask is not installed")
    try:
        with one_node(tmp_path / "slurm") as slurm:
            for name, value in slurm.environment.items():
                monkeypatch.setenv(name, value)
            options = ClusterOptions(jobs=1, cores=1, memory="300MB", walltime="00:05:00", interface="lo")
            assert outcomes(run_tasks("slurm", options, length, files, tmp_path / "logs")) == EXPECTED
            assert {path.suffix for path in (tmp_path / "logs").iterdir()} == {".err", ".out"}
    except NoSlurmError as why:
        pytest.skip(str(why))
