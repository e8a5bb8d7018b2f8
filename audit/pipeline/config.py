"""The table of options: everything that a config of `audit run` may say, section by section."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from audit.pipeline.options import FLAG, NAMED, NUMBER, OPTION, PATH, SETTINGS, TEXT, TEXTS, WHOLE, WORDS, Option, option
from audit.retrieval.settings import RetrievalSettings
from audit.retrieval.strategies import STRATEGIES

EXTRACTIVE, MODEL, BASELINE = "extractive", "model", "baseline"
TERMS = tuple(f"{word}{end}" for word in ("handbook", "organ", "center", "patient") for end in ("", "s"))


@dataclass(frozen=True)
class CorpusOptions:
    """Whose handbooks they are: PDF files with their catalog, or documents that are extracted already."""

    pdfs: Path | None = option(PATH, "a PDF file, or a folder of them", None)
    documents: Path | None = option(PATH, "a folder of documents (JSON), in place of pdfs", None)
    catalog: Path | None = option(PATH, "CSV file that says which PDF is whose: see `audit extract --help`", None)
    engine: str = option(TEXT, "what reads the PDF files: see `audit extract --help`", "")
    terms: dict[str, str] = option(WORDS, f"what the pages call things: {', '.join(TERMS)}", {})


@dataclass(frozen=True)
class QuestionOptions:
    """What is asked."""

    file: Path | None = option(PATH, "questions as CSV or JSONL: see `audit questions --help`", None)
    taxonomy: str = option(NAMED, "the topics and subtopics that a question may have: a TOML file, or transplant", "")
    decisions: Path | None = option(PATH, "what was decided of near duplicates", None)
    screen: bool = option(FLAG, "look for details by which a person could be known (extra questions)", False)
    encoder: str = option(NAMED, "near duplicates are found by a sentence model, words, or none", "words")
    first: int = option(WHOLE, "ask only so many, in the order of the file; 0: all", 0, unit="questions", least=0)


@dataclass(frozen=True)
class RetrievalOptions:
    """How passages are found."""

    strategy: str = option(TEXT, "which way", "hero", allowed=STRATEGIES)
    encoder: str = option(NAMED, "name or path of a sentence model; words: none", "words")
    reranker: str = option(NAMED, "name or path of a cross-encoder; empty: no reranking", "")
    compare: tuple[str, ...] = option(
        TEXTS, "strategies to compare on every question, for the page Retrieval", (), allowed=STRATEGIES
    )
    gold: Path | None = option(PATH, "which section answers which question (JSONL), for the page Retrieval", None)
    options: RetrievalSettings = option(
        SETTINGS, "[retrieval.options]: the settings of HERO-QA, as `audit retrieve --help` names them", RetrievalSettings()
    )
    workers: str = option(TEXT, "one: in this process; local:N: N processes; slurm: jobs as [cluster] says (extra dask)", "one")


@dataclass(frozen=True)
class GenerateOptions:
    """How passages become an answer."""

    generator: str = option(TEXT, "sentences of the passages, or a model", EXTRACTIVE, allowed=(EXTRACTIVE, MODEL))
    url: tuple[str, ...] = option(TEXTS, "OpenAI-compatible endpoints of the model (AUDIT_JUDGE_URL where left out)", ())
    model: str = option(TEXT, "its name there (AUDIT_JUDGE_MODEL, or the only one there is)", "")
    context: int = option(WHOLE, "what the model takes for prompt and answer together", 32_768, unit="tokens", least=1_000)
    threshold: float | None = option(NUMBER, "of extractive: evidence below it is NOT ADDRESSED, 0 to 1", None, least=0, most=1)


@dataclass(frozen=True)
class JudgeOptions:
    """Who compares the answers."""

    judge: str = option(TEXT, "plain rules, or a model", BASELINE, allowed=(BASELINE, MODEL))
    url: tuple[str, ...] = option(TEXTS, "OpenAI-compatible endpoints of the model (AUDIT_JUDGE_URL where left out)", ())
    model: str = option(TEXT, "its name there (AUDIT_JUDGE_MODEL, or the only one there is)", "")
    protocol: str = option(TEXT, "one call a pair, or the label first", "structured", allowed=("structured", "label_only"))
    absence: str = option(TEXT, "keep the generator's flags, or check every answer", "keep", allowed=("keep", "check"))
    swap: bool = option(FLAG, "judge each pair in the other order too", False)
    blind_centers: bool = option(FLAG, "and with the names of centers and handbooks masked", False)
    repeat: int = option(WHOLE, "and so many times more", 0, unit="times", least=0)
    templates: Path | None = option(PATH, "own prompts, in files named as those of audit/judging/templates", None)


@dataclass(frozen=True)
class ThemeOptions:
    """What the disagreements are grouped into."""

    build: bool = option(FLAG, "whether themes are built", True)
    model: str = option(NAMED, "name or path of a sentence model; words: none", "words")
    target: int = option(WHOLE, "come as close to so many as can be; 0: what the distance gives", 0, unit="themes", least=0)


@dataclass(frozen=True)
class ReleaseOptions:
    """What the run is called."""

    run_id: str = option(TEXT, "short name of the run (the name of the config file where left out)", "")
    title: str = option(TEXT, "what a page calls it", "")
    licence: str = option(TEXT, "terms of use of the texts", "")
    synthetic: bool = option(FLAG, "the texts were made up; every page then says so", False)
    work: Path | None = option(PATH, "folder of everything in between (AUDIT_DATA_DIR/pipeline/RUN_ID where left out)", None)


@dataclass(frozen=True)
class LoadOptions:
    """What becomes of the release."""

    load: bool = option(FLAG, "load it as a run, which the dashboard then shows", True)


@dataclass(frozen=True)
class ClusterOptions:
    """What a SLURM job of `workers = "slurm"` asks for."""

    jobs: int = option(WHOLE, "how many at once", 4, unit="jobs", least=1)
    cores: int = option(WHOLE, "of each job", 2, unit="cores", least=1)
    memory: str = option(TEXT, "of each job", "8GB")
    walltime: str = option(TEXT, "of each job, hh:mm:ss", "01:00:00")
    queue: str = option(TEXT, "partition", "")
    account: str = option(TEXT, "whom it is charged to", "")
    interface: str = option(TEXT, "network interface through which jobs and this process speak", "")
    prologue: tuple[str, ...] = option(TEXTS, "lines of shell before the worker starts, such as `module load ...`", ())
    directives: tuple[str, ...] = option(TEXTS, "further options of sbatch, such as `--constraint=EGRESS`", ())


@dataclass(frozen=True)
class Config:
    """A config as it was read: paths are absolute, everything that was left out has its default.

    `path` is the file, `release.run_id` is never empty.
    """

    path: Path
    corpus: CorpusOptions = field(default_factory=CorpusOptions)
    questions: QuestionOptions = field(default_factory=QuestionOptions)
    retrieval: RetrievalOptions = field(default_factory=RetrievalOptions)
    generate: GenerateOptions = field(default_factory=GenerateOptions)
    judge: JudgeOptions = field(default_factory=JudgeOptions)
    themes: ThemeOptions = field(default_factory=ThemeOptions)
    release: ReleaseOptions = field(default_factory=ReleaseOptions)
    load: LoadOptions = field(default_factory=LoadOptions)
    cluster: ClusterOptions = field(default_factory=ClusterOptions)


SECTIONS: dict[str, type[Any]] = {
    "corpus": CorpusOptions, "questions": QuestionOptions, "retrieval": RetrievalOptions, "generate": GenerateOptions,
    "judge": JudgeOptions, "themes": ThemeOptions, "release": ReleaseOptions, "load": LoadOptions, "cluster": ClusterOptions,
}  # fmt: skip


def options_of(section: str) -> dict[str, Option]:
    """Name -> option, of one section."""
    return {each.name: each.metadata[OPTION] for each in fields(SECTIONS[section])}


def table() -> str:
    """Every option with its default, as `audit run --help` prints it."""
    return "\n".join(f"[{section}]\n" + "\n".join(_lines(section)) for section in SECTIONS)


def _lines(section: str) -> list[str]:
    defaults = SECTIONS[section]()
    return [_line(name, told, getattr(defaults, name)) for name, told in options_of(section).items()]


def _line(name: str, told: Option, default: Any) -> str:
    allowed = f": {', '.join(told.allowed)}" if told.allowed else ""
    shown = (
        ""
        if default in (None, "", (), {}, RetrievalSettings())
        else f" (default: {str(default).lower() if told.kind == FLAG else default})"
    )
    return f"  {name:<14}{told.words}{allowed}{f', in {told.unit}' if told.unit else ''}{shown}"
