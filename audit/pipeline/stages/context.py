"""The context shared by the stages of a run: the config, the workspace, the handbooks and those left out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from audit.errors import ConfigError
from audit.pipeline.corpus.extraction.identity import Identity
from audit.pipeline.embedding.vectors import Progress, no_progress
from audit.pipeline.stages.build_cache import BuildCache, Task, read_lines
from audit.pipeline.stages.config import Config
from audit.settings import Settings

Record = Mapping[str, Any]
Figures = Mapping[str, Any]
Outcome = tuple[Task, "Figures | Exception"]


@dataclass(frozen=True)
class SourceDocument:
    """A handbook of the corpus.

    `file` is the file it comes from, `document` the path of its text (which may not exist yet), `identity` whose handbook it is,
    where the file is a PDF.
    """

    handbook_id: str
    organ: str
    file: Path
    document: Path
    identity: Identity | None = None


@dataclass(frozen=True)
class Workspace:
    """The folder of intermediate files."""

    root: Path

    @property
    def documents(self) -> Path:
        """The folder of the handbooks as texts, `<handbook_id>.json` each."""
        return self.root / "documents"

    @property
    def questions(self) -> Path:
        """The questions, one a line."""
        return self.root / "questions.jsonl"

    @property
    def release(self) -> Path:
        """The result. The folder is complete as soon as it exists."""
        return self.root / "release"

    @property
    def datasheet(self) -> Path:
        """The datasheet of the release in seven parts, with questions to its makers (Markdown)."""
        return self.root / "datasheet.md"

    def retrieval(self, handbook: str) -> Path:
        """The passages retrieved from a handbook, one question per line."""
        return self.root / "retrieval" / f"{handbook}.jsonl"

    def trials(self, handbook: str) -> Path:
        """The results of every compared strategy, one question and strategy per line."""
        return self.root / "trials" / f"{handbook}.jsonl"

    def answers(self, handbook: str) -> Path:
        """A handbook's answers, one question a line."""
        return self.root / "answers" / f"{handbook}.jsonl"

    def system(self, system_id: str) -> tuple[Path, Path]:
        """The record of an answering system, and its answers, one question a line."""
        folder = self.root / "systems"
        return folder / f"{system_id}.json", folder / f"{system_id}.jsonl"

    def routed(self, system_id: str, batch: str) -> Path:
        """How a batch of questions was routed for an answering system, with the evidence, one question a line."""
        return self.root / "routed" / system_id / f"{batch}.jsonl"

    def routes(self, system_id: str) -> Path:
        """The routing of all questions, as a table of the release, with the marked statements of the answers."""
        return self.root / "systems" / f"{system_id}.routes.jsonl"

    def journal(self, stage: str, plan: str) -> Path:
        """The replies of a model to one stage under one plan (see `audit.pipeline.llm.journal`)."""
        return self.root / "journals" / f"{stage}-{plan[:12]}.journal"


@dataclass
class RunContext:
    """One run of the pipeline.

    sources    the handbooks of the corpus; `present` are those that were not left out
    left_out   handbook -> the reason, in one sentence; grows while the stages run
    expected   the questions a plan counts with, where they have not been imported yet
    """

    config: Config
    settings: Settings
    workspace: Workspace
    sources: Sequence[SourceDocument]
    left_out: dict[str, str] = field(default_factory=dict)
    progress: Progress = no_progress
    expected: Sequence[dict[str, Any]] | None = None
    cache: BuildCache = field(init=False)

    def __post_init__(self) -> None:
        """Open the build cache of the workspace."""
        self.cache = BuildCache(self.workspace.root / "state")

    @property
    def present(self) -> list[SourceDocument]:
        """The handbooks that were not left out, by id."""
        return [source for source in self.sources if source.handbook_id not in self.left_out]

    @property
    def model_settings(self) -> str:
        """The model of the settings, and how long it may think: what a stage by a model depends on beyond its options."""
        thinking = f", thinking in {self.settings.judge_thinking} tokens" if self.settings.judge_thinking else ""
        return f"{self.settings.judge_model}{thinking}"

    def source(self, handbook: str) -> SourceDocument:
        """The handbook of that id among those that were not left out."""
        return next(source for source in self.present if source.handbook_id == handbook)

    def questions(self) -> list[dict[str, Any]]:
        """The records of the questions; empty before they were imported."""
        if self.expected is None and self.workspace.questions.is_file():
            questions = list(read_lines(self.workspace.questions))
        else:
            questions = list(self.expected or ())
        return questions[: self.config.questions.first or None]


@dataclass
class Stage(ABC):
    """One step on the way from handbooks to a run."""

    context: RunContext
    name = ""

    @abstractmethod
    def tasks(self) -> list[Task]:
        """All its tasks, given the present results of the stages before it."""

    @abstractmethod
    def carry_out(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        """Carry out some tasks; yields each with its figures, or the error it failed with."""

    def done(self, task: Task) -> bool:
        """Whether a task is done already."""
        return self.context.cache.done(task)

    def warning(self) -> str:
        """A message about the input for the user, whether or not there are open tasks; may be empty."""
        return ""


class TaskByTask(Stage):
    """A stage that does one task after the other."""

    def carry_out(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        """One after the other; a task that fails does not stop the others."""
        for task in tasks:
            try:
                yield task, self.run_task(task)
            except Exception as error:  # a library may raise anything on a stranger's file, and the other files must go on
                yield task, error

    @abstractmethod
    def run_task(self, task: Task) -> Figures:
        """Carry out one task; each of its outputs appears complete or not at all."""


# -- the work folder belongs to one config, and one process at a time works in it ---------------------------------------

OWNER, LOCK = "whose.txt", "whose.lock"
OURS = (OWNER, LOCK, "state")


@contextmanager
def taken(work: Workspace, config: Path) -> Iterator[None]:
    """Work in the folder for `config`, whose path is recorded in it. The lock ends with the process, however that ends.

    Raises ConfigError where another process works in the folder, or where it belongs to another config that still exists: the
    two would overwrite each other's files. A config that was moved finds its folder again. A folder with unrelated files, which
    would be overwritten, is refused too.
    """
    check_room(work.root)
    # the owner has a file of its own, because filelock empties the file that it locks
    lock, owner_file = FileLock(work.root / LOCK, timeout=0), work.root / OWNER
    try:
        work.root.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        raise ConfigError(f"Another `audit run` is working in {work.root}. Nothing was done. Wait for it to finish.") from None
    except OSError as error:
        raise ConfigError(f"{work.root} cannot be written ({error.strerror}). Nothing was done.") from None
    try:
        owner = owner_file.read_text(encoding="utf-8").strip() if owner_file.is_file() else ""
        # A config that was moved or deleted no longer needs its folder.
        if owner and Path(owner) != config and Path(owner).is_file():
            raise ConfigError(
                f"{work.root} belongs to {owner}. Nothing was done. "
                "Give this config a run_id, or a work folder, of its own in [release]."
            )
        owner_file.write_text(f"{config}\n", encoding="utf-8")
        yield
    finally:
        lock.release()


def check_room(root: Path) -> None:
    """Raise ConfigError unless the folder is ours: missing, empty, or with a build cache or an owner in it."""
    # Anything else may be somebody's data, which the stages would overwrite.
    is_ours = root.is_dir() and (not any(root.iterdir()) or any((root / name).exists() for name in OURS))
    if root.exists() and not is_ours:
        raise ConfigError(
            f"{root} already exists and contains other files. Nothing was done. Name another folder as work in [release]."
        )
