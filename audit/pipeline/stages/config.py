"""The config of `audit run`: its sections as pydantic models. `audit.pipeline.stages.config_reader` reads one from TOML.

`config_schema()` is a JSON Schema that editors with TOML support (Taplo, Even Better TOML) complete and check against.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import AfterValidator, Field
from pydantic.fields import FieldInfo

from audit.pipeline.embedding.encoders import model_or_words
from audit.pipeline.judging.within.model import DEFAULT_PAIRS
from audit.pipeline.retrieval.across.settings import CrossSourceSettings
from audit.pipeline.retrieval.settings import RetrievalSettings
from audit.pipeline.retrieval.strategies import CLOSEST, HERO, STRATEGIES
from audit.pipeline.stages.config_types import ConfigSection, ExistingPath, NameOrPath, NewPath, Text, Texts, one_of
from audit.pipeline.stages.settings_models import RetrievalTable, across_schema, retrieval_schema
from audit.pipeline.stages.system_options import SystemOptions
from audit.vocabulary import DATASHEET_PARTS

PASSAGES: Final = "passages"
MODEL: Final = "model"
STAND_IN: Final = "stand-in"
NONE: Final = "none"
LEFT_OUT = "left out: MiniLM where it is installed, else words"
SENTENCE_MODEL = f"name or path of a sentence model; words: no model; {LEFT_OUT}"
TERMS = tuple(f"{word}{end}" for word in ("handbook", "organ", "center", "patient") for end in ("", "s"))


Strategy = Annotated[Text, AfterValidator(one_of(STRATEGIES)), Field(json_schema_extra={"enum": list(STRATEGIES)})]
Strategies = Annotated[tuple[Strategy, ...], Field(strict=False)]


class CorpusOptions(ConfigSection):
    """The handbooks: files (PDF, HTML, DOCX, Markdown, text) with their catalog, or documents that were extracted earlier."""

    pdfs: ExistingPath | None = Field(None, description="a file, or a folder of PDF, HTML, DOCX, Markdown and text files")
    documents: ExistingPath | None = Field(None, description="a folder of documents (JSON), instead of pdfs")
    catalog: ExistingPath | None = Field(None, description="CSV file that maps files to handbooks: see `audit extract --help`")
    corrections: ExistingPath | None = Field(
        None,
        description="folder of HANDBOOK_ID.corrections.jsonl, corrections of the text by people (left out: beside each file)",
    )
    engine: Text = Field("", description="engine that reads the PDF files: see `audit extract --help`")
    ocr: bool = Field(False, description="recognise the text of pages that are pictures (program ocrmypdf or tesseract)")
    ocr_language: Text = Field("eng", description="language of those pages, as tesseract names it: eng, deu, eng+spa")
    terms: dict[str, Text] = Field({}, description=f"display words of the pages: {', '.join(TERMS)}")


class QuestionOptions(ConfigSection):
    """The questions."""

    file: ExistingPath | None = Field(None, description="questions as CSV or JSONL: see `audit questions --help`")
    references: ExistingPath | None = Field(
        None,
        description="reference answers and gold sections (JSONL, as in a release), to measure [[systems]] by",
    )
    taxonomy: NameOrPath = Field("", description="the topics and subtopics a question may have: a TOML file, or transplant")
    decisions: ExistingPath | None = Field(None, description="decisions about near-duplicates")
    screen: bool = Field(False, description="look for details that could identify a person (extra pipeline)")
    encoder: NameOrPath = Field(
        default_factory=model_or_words, description=f"near-duplicates are found by a sentence model, words, or none; {LEFT_OUT}"
    )
    first: int = Field(0, ge=0, description="maximum number of questions, in the order of the file; 0: all")


class RetrievalOptions(ConfigSection):
    """How passages are found."""

    strategy: Strategy = Field(
        "",
        description=f"the strategy whose passages the answers are written from: {', '.join(STRATEGIES)} (left out: "
        f"{CLOSEST} where passages are quoted, {HERO} for a model)",
    )
    encoder: NameOrPath = Field(default_factory=model_or_words, description=SENTENCE_MODEL)
    reranker: NameOrPath = Field("", description="name or path of a cross-encoder; left out: no reranking")
    compare: Strategies = Field((), description="strategies to compare on every question, for the page Retrieval")
    gold: ExistingPath | None = Field(None, description="which section answers which question (JSONL), for the page Retrieval")
    options: RetrievalTable = Field(
        RetrievalSettings(),
        description="[retrieval.options]: the settings of the strategies; those of hybrid are in [retrieval.options.hybrid]",
    )
    workers: Text = Field("one", description="one: this process; local:N: N processes; slurm: jobs by [cluster] (extra cluster)")


class GenerateOptions(ConfigSection):
    """How passages become an answer."""

    generator: Literal["passages", "model", "none"] = Field(
        PASSAGES,
        description="the closest passages, quoted, and how surely they answer; or a model; none: only the systems of [[systems]] "
        "answer (left out: the model at AUDIT_JUDGE_URL where that is this machine and answers, else passages)",
    )
    url: Texts = Field((), description="OpenAI-compatible endpoints of the model (left out: AUDIT_JUDGE_URL)")
    model: Text = Field("", description="the model's name there (left out: AUDIT_JUDGE_MODEL, or the endpoint's only model)")
    context: int = Field(32_768, ge=1_000, description="the model's maximum of prompt and answer together, in tokens")
    max_tokens: int = Field(0, ge=0, description="maximum tokens of an answer; 0: the value of its prompt (700)")
    templates: ExistingPath | None = Field(None, description="folder with your own prompt, answer.md or fixed_absence.md")
    fixed_absence: bool = Field(
        False, description="the prompt asks for one fixed sentence where a handbook is silent, and has no limit of words"
    )


class JudgeOptions(ConfigSection):
    """Who compares the answers."""

    judge: Literal["none", "model", "stand-in"] = Field(
        NONE,
        description="none: handbooks are answered and not compared, so there are no labels; model: a language model; stand-in: "
        "the truth table of a made-up example",
    )
    truth: ExistingPath | None = Field(
        None,
        description="stand-in: what each handbook states on each rule (CSV: rule, and a column for each handbook); the column "
        "rule of the questions names the rule of a question",
    )
    url: Texts = Field((), description="OpenAI-compatible endpoints of the model (left out: AUDIT_JUDGE_URL)")
    model: Text = Field("", description="the model's name there (left out: AUDIT_JUDGE_MODEL, or the endpoint's only model)")
    protocol: Literal["structured", "label_first", "label_only", "positions"] = Field(
        "structured",
        description="one call per pair, reasons before the label or after it; or the label alone, and the rest in a second call; "
        "or one call per answer and one per question",
    )
    absence: Literal["keep", "check"] = Field("keep", description="keep the generator's absence flags, or check every answer")
    swap: bool = Field(False, description="judge each pair in the other order too")
    blind_centers: bool = Field(False, description="judge each pair with the names of centers and handbooks masked too")
    name_centers: bool = Field(False, description="tell the judge which center each answer is from")
    repeat: int = Field(0, ge=0, description="judge each pair this many more times")
    templates: ExistingPath | None = Field(
        None, description="your own prompts, in files named as in audit/pipeline/judging/templates"
    )


class WithinOptions(ConfigSection):
    """Whether each handbook is compared with itself, by the judge of [judge]."""

    compare: bool = Field(True, description='whether passages of one handbook are compared, which needs judge = "model"')
    pairs: int = Field(DEFAULT_PAIRS, ge=1, description="maximum number of pairs of one handbook put to a model")


class ThemeOptions(ConfigSection):
    """How disagreements are grouped."""

    build: bool = Field(True, description="whether themes are built")
    model: NameOrPath = Field(default_factory=model_or_words, description=SENTENCE_MODEL)
    method: Literal["average", "hdbscan"] = Field(
        "average", description="linkage on the cosine, or UMAP and HDBSCAN, which leave what is in no dense group without a theme"
    )
    target: int = Field(0, ge=0, description="target number of themes; 0: determined by the method")


class ReleaseOptions(ConfigSection):
    """Names and folders of the run."""

    run_id: Text = Field("", description="short name of the run (left out: the name of the config file)")
    title: Text = Field("", description="title on the pages")
    licence: Text = Field("", description="terms of use of the texts")
    synthetic: bool = Field(False, description="the texts are synthetic; every page then says so")
    datasheet: dict[Annotated[str, AfterValidator(one_of(DATASHEET_PARTS))], Text] = Field(
        {}, description=f"[release.datasheet]: in your words, by part of the datasheet: {', '.join(DATASHEET_PARTS)}"
    )
    work: NewPath | None = Field(None, description="folder for intermediate files (left out: AUDIT_DATA_DIR/pipeline/RUN_ID)")


class LoadOptions(ConfigSection):
    """Loading of the release."""

    load: bool = Field(True, description="load it as a run, so the dashboard shows it")


class ClusterOptions(ConfigSection):
    """The resources of a SLURM job of `workers = "slurm"`."""

    jobs: int = Field(4, ge=1, description="jobs at once")
    cores: int = Field(2, ge=1, description="cores of each job")
    memory: Text = Field("8GB", description="memory of each job")
    walltime: Text = Field("01:00:00", description="time limit of each job, hh:mm:ss")
    queue: Text = Field("", description="partition")
    account: Text = Field("", description="account the jobs are charged to")
    interface: Text = Field("", description="network interface between the jobs and this process")
    prologue: Texts = Field((), description="shell lines before the worker starts, such as `module load ...`")
    directives: Texts = Field((), description="further options of sbatch, such as `--constraint=EGRESS`")


class Config(ConfigSection):
    """A config as it was read: paths are absolute, and everything that was left out has its default.

    `path` is the file itself, `release.run_id` is never empty.
    """

    path: Path = Field(exclude=True)
    corpus: CorpusOptions = CorpusOptions()
    questions: QuestionOptions = QuestionOptions()
    retrieval: RetrievalOptions = RetrievalOptions()
    generate: GenerateOptions = GenerateOptions()
    judge: JudgeOptions = JudgeOptions()
    within: WithinOptions = WithinOptions()
    themes: ThemeOptions = ThemeOptions()
    release: ReleaseOptions = ReleaseOptions()
    load: LoadOptions = LoadOptions()
    cluster: ClusterOptions = ClusterOptions()
    systems: Annotated[tuple[SystemOptions, ...], Field(strict=False)] = ()

    @property
    def strategy(self) -> str:
        """The retrieval strategy whose passages answers are written from."""
        return self.retrieval.strategy or (CLOSEST if self.generate.generator == PASSAGES else HERO)

    @property
    def answers_handbooks(self) -> bool:
        """Whether questions are answered from the handbooks one by one."""
        return self.generate.generator != NONE

    @property
    def compares(self) -> bool:
        """Whether a judge compares these answers."""
        return self.answers_handbooks and self.judge.judge != NONE

    @property
    def retrieves(self) -> bool:
        """Whether anything is answered from the passages of [retrieval]."""
        return self.answers_handbooks or any(system.retrieves for system in self.systems)

    @property
    def searches_handbooks(self) -> bool:
        """Whether anything is answered from the passages of single handbooks."""
        return self.answers_handbooks or any(system.retrieves and not system.searches_corpus for system in self.systems)

    @property
    def asks_sources(self) -> bool:
        """Whether any system answers from several sources."""
        return any(system.asks_sources for system in self.systems)


SECTIONS: dict[str, type[ConfigSection]] = {
    name: SystemOptions if name == "systems" else item.annotation  # type: ignore[misc]
    for name, item in Config.model_fields.items()
    if name != "path"
}


def config_schema() -> str:
    """The JSON Schema of a config, for editors."""
    schema = Config.model_json_schema()
    schema["properties"].pop("path")
    schema["required"] = ["questions"]
    schema["$defs"]["RetrievalOptions"]["properties"]["options"] = retrieval_schema()
    schema["$defs"]["SystemOptions"]["properties"]["across"] = across_schema()
    return json.dumps(schema, indent=2)


def options_table() -> str:
    """Every option with its default, as `audit run --help` prints it."""
    return "\n".join(
        "\n".join(
            [f"[[{section}]]" if model is SystemOptions else f"[{section}]", *map(_option_line, model.model_fields.items())]
        )
        for section, model in SECTIONS.items()
    )


def _option_line(option: tuple[str, FieldInfo]) -> str:
    name, details = option
    allowed = [value for value in get_args(details.annotation) if isinstance(value, str)]
    default = details.default
    # A default that depends on the machine is said in the description
    computed = details.default_factory is not None
    nothing = computed or details.is_required() or default in (None, "", (), {}, RetrievalSettings(), CrossSourceSettings())
    shown = "" if nothing else f" (default: {as_written(default).strip(chr(39))})"
    return f"  {name:<14}{details.description}{': ' * bool(allowed)}{', '.join(allowed)}{shown}"


def as_written(value: Any) -> str:
    """A value as a TOML file has it, for a message."""
    return f"'{value}'" if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)[:60]
