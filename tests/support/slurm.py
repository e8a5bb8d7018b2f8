"""A real SLURM on this one machine, for the time of a test: slurmctld and slurmd from Debian's slurm-wlm."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from getpass import getuser
from pathlib import Path

from tests.support.ports import free_ports

# Where Debian puts daemons, which is not on everybody's path.
PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
CONF = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
SlurmctldPort={port}
SlurmdPort={node_port}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
KillWait=1
MinJobAge=600
MaxArraySize=4
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 RealMemory=500 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


ENDED = {"CD", "F", "CA", "TO", "NF"}


class NoSlurmError(Exception):
    """Why no SLURM runs here."""


@dataclass(frozen=True)
class Slurm:
    """A running cluster of one node."""

    environment: dict[str, str]

    def run(self, *command: str, cwd: Path | None = None) -> str:
        """What a command of SLURM's prints."""
        done = subprocess.run(command, env=self.environment, cwd=cwd, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            raise AssertionError(f"{command}: {done.stdout}{done.stderr}")
        return done.stdout

    def submit(self, script: str, cwd: Path, *options: str, **environment: str) -> str:
        """The id of the job that `script` became; `environment` is handed on to it."""
        exported = ",".join(["ALL", *(f"{name}={value}" for name, value in environment.items())])
        return self.run("sbatch", "--parsable", f"--export={exported}", *options, script, cwd=cwd).strip()

    def states(self, job: str) -> set[str]:
        """The states of a job's tasks, in SLURM's short words: PD pending, R running, CD completed, ..."""
        return set(self.run("squeue", "--noheader", "--states=all", "--format=%t", f"--jobs={job}").split())

    def wait(self, job: str) -> None:
        """Until no task of the job is queued or running."""
        self.until(lambda: self.states(job) <= ENDED)

    def until(self, reached: Callable[[], bool], *, timeout_s: float = 60) -> None:
        """Until something has come about; an AssertionError where it does not."""
        end = time.monotonic() + timeout_s
        while not reached():
            assert time.monotonic() < end, f"not reached within {timeout_s} s"
            time.sleep(0.2)


@contextmanager
def one_node(folder: Path) -> Iterator[Slurm]:
    """SLURM's two daemons with all their files in `folder`, stopped at the end. Raises NoSlurmError where they cannot run."""
    if not all(shutil.which(name, path=PATH) for name in ("slurmctld", "slurmd", "sbatch")):
        raise NoSlurmError("slurm-wlm is not installed (Debian: apt-get install slurm-wlm)")
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    conf = folder / "slurm.conf"
    port, node_port = free_ports(2)
    conf.write_text(CONF.format(host=_host(), user=getuser(), port=port, node_port=node_port, folder=folder))
    slurm = Slurm({**os.environ, "PATH": PATH, "SLURM_CONF": str(conf)})
    daemons = [_start(slurm, folder, "slurmctld", "-D"), _start(slurm, folder, "slurmd", "-D")]
    try:
        _until_idle(slurm, folder, daemons)
        yield slurm
    finally:
        _stop(daemons)


def _host() -> str:
    return socket.gethostname().split(".")[0]


def _start(slurm: Slurm, folder: Path, name: str, *options: str) -> subprocess.Popen[bytes]:
    with (folder / f"{name}.out").open("wb") as out:
        return subprocess.Popen([name, *options], env=slurm.environment, stdout=out, stderr=out)


def _until_idle(slurm: Slurm, folder: Path, daemons: list[subprocess.Popen[bytes]], timeout_s: float = 20) -> None:
    end = time.monotonic() + timeout_s
    while time.monotonic() < end and all(daemon.poll() is None for daemon in daemons):
        found = subprocess.run(
            ["sinfo", "--noheader", "--format=%t"], env=slurm.environment, capture_output=True, text=True, check=False
        )
        if found.stdout.split() == ["idle"]:
            return
        time.sleep(0.2)
    said = "\n".join(path.read_text(errors="replace")[-600:] for path in folder.glob("*.out"))
    raise NoSlurmError(f"slurmctld and slurmd do not come up here: {said.strip() or 'they say nothing'}")


def _stop(daemons: list[subprocess.Popen[bytes]]) -> None:
    for daemon in reversed(daemons):
        daemon.terminate()
    for daemon in daemons:
        try:
            daemon.wait(10)
        except subprocess.TimeoutExpired:
            daemon.kill()
