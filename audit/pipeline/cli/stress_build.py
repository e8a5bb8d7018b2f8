"""`audit stress build`: instances of the four stress tests, from a file of questions or from a release."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit.cli.conventions import FINDINGS, OK, add_json, count, print_result
from audit.errors import AuditError
from audit.formatting import text_table
from audit.pipeline.cli.model_calls import add_call_options, model_for
from audit.pipeline.cli.task_command import about_calls, run_task
from audit.pipeline.embedding.encoders import Encoder, cached_encoder, default_model, sentence_encoder
from audit.pipeline.embedding.medcpt import medcpt_encoders
from audit.pipeline.llm.tasks import Replies, no_replies
from audit.pipeline.retrieval.across.library import BM25
from audit.pipeline.stages.presets import STRESS_BUILD
from audit.pipeline.stress.building.builder import (
    MANIFEST_FILE,
    NO_FACT,
    NO_NOISE,
    NO_SIGNAL,
    TOPICS_FILE,
    BuildSettings,
    BuildSummary,
    build_instances,
    kinds_of_edit,
    source_record,
    write_build,
)
from audit.pipeline.stress.building.contexts import SHARES
from audit.pipeline.stress.building.draws import rank
from audit.pipeline.stress.building.facts import REWRITTEN, Fact, rule_facts
from audit.pipeline.stress.building.model_facts import (
    MINIMAL,
    REPLY_TOKENS,
    FactTask,
    load_fact_prompts,
    model_facts,
    topic_records,
)
from audit.pipeline.stress.building.questions import BuildReport, StressQuestion, with_unique_document_ids
from audit.pipeline.stress.building.signal_search import (
    LEAST,
    MEDCPT,
    MOST,
    PER_TOPIC,
    RETRIEVERS,
    SearchSettings,
    SignalSearch,
    library_search,
    no_document_sentence,
    read_library,
    require_one_way,
    web_search,
)
from audit.pipeline.stress.building.stress_questions import questions_of_release, read_questions
from audit.pipeline.stress.building.topics import REPLY_TOKENS as TOPIC_TOKENS
from audit.pipeline.stress.building.topics import TOPICS, load_topic_prompt
from audit.pipeline.stress.instances import INSTANCES_FILE
from audit.settings import Settings
from audit.vocabulary import STRESS_TESTS, StressTest

RULES, MODEL, PARTS = "rules", "model", "parts"
DEFAULTS = {"facts": RULES, "counterfactual": MINIMAL, "topics": PARTS, "retriever": BM25}
"""What the options of a build are without a preset (`presets.STRESS_BUILD`)."""
ABOUT = f"""SOURCE is a file of questions with their signal documents (JSONL as data/README.md describes it, MIRAGE's
benchmark.json or PubMedQA's ori_pqal.json; also gzipped), or the folder of a release with sections, whose answers become open
questions.

--library finds the signal documents: the best passages of your own library on each topic of a question. A library is a folder of
documents as `audit extract` writes them, or JSONL files with an id and a text on each line, such as MedCorp's. --web takes an
export of a web search instead: JSONL with question_id, url, title and text, in the order of the search. Topics come from a model
with --topics model, or are the question, and the question with each option. What was found is in {TOPICS_FILE}.

Four tests, as in MedRGB (arXiv:2411.09213): standard (0, 5 or 20 signal documents), sufficiency (5 or 20 documents, 0 to 100 %
of them signal), integration (5 or 10, 20 to 100 % signal, with a sub-question for each signal document) and robustness (5 or 10
signal documents, 0 to 100 % of them correct, the others with a planted error). Noise is the signal of other questions. Where a
question has fewer signal documents, its contexts are as large as these allow.

Sub-questions and errors come from rules, which change an amount, a unit, a frequency, a negation or a direction of one statement,
or with --facts model from a model, which changes the shortest stretch, or with --counterfactual rewritten the whole document.
--preset medrgb: --topics model, --retriever medcpt, --facts model and --counterfactual rewritten. {about_calls("OUT.journal")}

OUT gets {INSTANCES_FILE} and {MANIFEST_FILE}. The same source, options and seed give the same bytes, in whatever order the
questions stand.

Exit code: 0 success, 1 written, but something was left out, 2 nothing was written."""


@dataclass(frozen=True)
class BuildSource:
    """The questions that are built from, and all questions, from whose documents noise is drawn."""

    questions: list[StressQuestion]
    pool: list[StressQuestion]
    report: BuildReport

    def found(self, questions: list[StressQuestion]) -> BuildSource:
        """The same with signal documents that were found; noise is then drawn from these."""
        return BuildSource(questions, questions, self.report)

    @property
    def documents(self) -> int:
        """The signal documents of the questions that are built from."""
        return sum(len(question.documents) for question in self.questions)


def build_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit stress build`."""
    parser.epilog = ABOUT
    parser.add_argument("source", type=Path, metavar="SOURCE", help="file of questions, or folder of a release")
    parser.add_argument("--out", type=Path, required=True, metavar="OUT", help="new folder for the instances")
    parser.add_argument(
        "--documents", type=Path, metavar="FILE", help="JSONL with more signal documents, such as a retriever's results"
    )
    _add_search_options(parser)
    parser.add_argument(
        "--tests", nargs="+", type=StressTest, choices=STRESS_TESTS, default=list(STRESS_TESTS), metavar="TEST",
        help=f"which tests: {', '.join(STRESS_TESTS)} (default: all)",
    )  # fmt: skip
    parser.add_argument(
        "--shares", nargs="+", type=int, choices=SHARES, default=[], metavar="P",
        help=f"which shares of signal, in percent: {', '.join(map(str, SHARES))} (default: all)",
    )  # fmt: skip
    parser.add_argument("--limit", type=count, metavar="N", help="a random sample of N questions; noise is drawn from all")
    parser.add_argument("--seed", type=_seed, default=0, metavar="N", help="seed of every draw (default: %(default)s)")
    parser.add_argument("--facts", choices=(RULES, MODEL), help=f"what writes sub-questions and errors (default: {RULES})")
    parser.add_argument(
        "--counterfactual", choices=(MINIMAL, REWRITTEN), help=f"how much of a document a model changes (default: {MINIMAL})"
    )
    parser.add_argument("--preset", choices=tuple(STRESS_BUILD), help="medrgb: the choices of MedRGB for all steps")
    parser.add_argument("--templates", type=Path, metavar="DIR", help="folder with your own prompts")
    add_call_options(parser, "instances")
    add_json(parser)


def _add_search_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--library", type=Path, metavar="DIR|FILE", help="find the signal documents in this library")
    parser.add_argument("--web", type=Path, metavar="FILE", help="find them in the pages of this export of a web search")
    parser.add_argument("--topics", choices=(PARTS, MODEL), help=f"what to search for (default: {PARTS} of the question)")
    parser.add_argument("--retriever", choices=RETRIEVERS, help=f"how to search (default: {BM25})")
    parser.add_argument(
        "--encoder",
        metavar="NAME|DIR",
        help="sentence model of dense; for medcpt, a folder with its two models (default: by name)",
    )
    parser.add_argument(
        "--per-topic", type=count, default=PER_TOPIC, metavar="N", help="passages on each topic (default: %(default)s)"
    )
    parser.add_argument(
        "--signal", type=int, choices=range(LEAST, MOST + 1), default=MOST, metavar="N",
        help=f"signal documents of a question, {LEAST} to {MOST} (default: %(default)s)",
    )  # fmt: skip


def _seed(text: str) -> int:
    return 0 if text == "0" else count(text)


def build(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit stress build SOURCE --out OUT`"""
    _require_empty(arguments.out)
    _complete(arguments)
    source = _read_source(arguments, settings)
    search = _search(arguments, settings, source.report)
    if MODEL in (arguments.facts, arguments.topics):
        return _build_with_model(arguments, settings, source, search)
    if arguments.emit_batch or arguments.collect or arguments.parse_again:
        raise AuditError("Rules make no calls. Nothing was written. Add --facts model, or leave out the options for a model.")
    task = FactTask({}, "", source.questions, search, tokens={})
    return _write(arguments, source, task, no_replies, {})


def _complete(arguments: argparse.Namespace) -> None:
    """Fill in what was not named, from the preset or by default. Raises AuditError where options contradict each other."""
    preset = STRESS_BUILD.get(arguments.preset, {})
    for name, value in preset.items():
        named = getattr(arguments, name)
        if named not in (None, value):
            raise AuditError(
                f"--preset {arguments.preset} means --{name} {value}, not {named}. Nothing was written. Leave out one of them."
            )
    require_one_way(arguments.documents, arguments.library, arguments.web)
    searched = arguments.library or arguments.web
    for name in ("topics", "retriever", "encoder"):
        if getattr(arguments, name) and not searched:
            raise AuditError(f"--{name} is about a search. Nothing was written. Name a --library or a --web export too.")
    for name, value in (preset or DEFAULTS).items():
        setattr(arguments, name, getattr(arguments, name) or value)
    if not searched:
        arguments.topics = PARTS
    if arguments.counterfactual == REWRITTEN and arguments.facts == RULES:
        raise AuditError("Rules change one statement. Nothing was written. Add --facts model to --counterfactual rewritten.")


def _search(arguments: argparse.Namespace, settings: Settings, report: BuildReport) -> SignalSearch | None:
    if not (arguments.library or arguments.web):
        return None
    chosen = SearchSettings(arguments.retriever, arguments.per_topic, arguments.signal)
    folder, max_bytes = settings.data_dir.resolve() / "retrieval", settings.max_object_bytes
    if arguments.web:
        return web_search(arguments.web, max_bytes, chosen, _encoders(arguments, folder), report)
    documents = read_library(arguments.library, max_bytes, report)
    return library_search(documents, chosen, _encoders(arguments, folder), folder / "indexes")


def _encoders(arguments: argparse.Namespace, folder: Path) -> tuple[Encoder, Encoder] | None:
    """The encoders of questions and of passages; None: by words."""
    if arguments.retriever == BM25:
        return None
    if arguments.retriever == MEDCPT:
        questions, articles = medcpt_encoders(Path(arguments.encoder) if arguments.encoder else None)
        return questions, cached_encoder(articles, folder / "vectors")
    name = arguments.encoder or default_model()
    if name is None:
        raise AuditError(
            "--retriever dense needs a sentence model, and none is installed. Nothing was written. Name one with --encoder, or "
            f"search by words with --retriever {BM25}."
        )
    encoder = cached_encoder(sentence_encoder(name), folder / "vectors")
    return encoder, encoder


def _require_empty(folder: Path) -> None:
    # Checked first: an unusable folder must not be discovered after hours of calls
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise AuditError(f"{folder} exists and is not an empty folder. Nothing was written. Name a new folder with --out.")


def _read_source(arguments: argparse.Namespace, settings: Settings) -> BuildSource:
    report, max_bytes = BuildReport(), settings.max_object_bytes
    if arguments.source.is_dir():
        if arguments.documents:
            raise AuditError("--documents requires a file of questions. Nothing was written. A release has its own sections.")
        questions = questions_of_release(arguments.source.resolve(), max_bytes, report)
    else:
        questions = read_questions(arguments.source, max_bytes, report, documents=arguments.documents)
    pool = with_unique_document_ids(questions)
    chosen = pool
    if arguments.limit:
        ranked = sorted(pool, key=lambda question: rank("question", arguments.seed, question.question_id))
        chosen = sorted(ranked[: arguments.limit], key=lambda question: question.question_id)
    return BuildSource(chosen, pool, report)


def _build_with_model(arguments: argparse.Namespace, settings: Settings, source: BuildSource, search: SignalSearch | None) -> int:
    prompts, tokens = {}, {}
    if arguments.topics == MODEL:
        prompts, tokens = {TOPICS: load_topic_prompt(arguments.templates)}, {TOPICS: TOPIC_TOKENS}
    if arguments.facts == MODEL:
        prompts |= load_fact_prompts(arguments.templates, arguments.counterfactual)
        tokens |= REPLY_TOKENS
    task = FactTask(prompts, model_for(arguments, settings), source.questions, search, tokens=tokens)
    made_by = {"model": task.model, "prompts": task.plan()["prompts"]}
    expected = source.found(task.with_signal(no_replies, expected=True)) if search and arguments.dry_run else source
    return run_task(
        arguments,
        settings,
        task,
        sends="questions and their signal documents",
        remarks=_size(expected),
        questions=len(source.questions),
        documents=expected.documents,
        write=lambda replies, _: _write(arguments, source, task, replies, made_by),
    )


def _write(
    arguments: argparse.Namespace, source: BuildSource, task: FactTask, replies: Replies, made_by: Mapping[str, Any]
) -> int:
    """Find the signal documents where there is a search, make the facts, and write the instances."""
    topics = list(topic_records(task, replies, source.report)) if task.search else []
    built = source.found(task.with_signal(replies)) if task.search else source
    if arguments.facts == MODEL:
        facts = model_facts(task, replies, source.report)
    else:
        facts = rule_facts(built.questions, arguments.seed, source.report, pool=built.pool)
    return _finish(arguments, built, facts, topics, made_by)


def _finish(
    arguments: argparse.Namespace,
    source: BuildSource,
    facts: Mapping[str, Fact],
    topics: Sequence[Mapping[str, Any]],
    made_by: Mapping[str, Any],
) -> int:
    """Build, write and print; or only count, with --dry-run."""
    chosen = BuildSettings(arguments.seed, tuple(arguments.tests), tuple(arguments.shares))
    summary = BuildSummary(source.report)
    instances = build_instances(source.questions, facts, chosen, source.report, pool=source.pool)
    about = {
        "title": "Instances of stress tests", "source": source_record(arguments.source), "questions": len(source.questions),
        "signal_documents": source.documents, "documents_with_fact": len(facts), "edits": kinds_of_edit(facts),
        "seed": arguments.seed, "tests": list(map(str, arguments.tests)), "shares": arguments.shares,
        "facts": arguments.facts, **_made_from(arguments), **made_by,
    }  # fmt: skip
    if arguments.dry_run:
        for instance in instances:
            summary.count(instance)
        total, last = sum(cell.instances for cell in summary.cells.values()), "Nothing was written (--dry-run)."
    else:
        total = write_build(arguments.out, instances, summary, about, topics)
        ask = f"Ask a model with: audit stress run {shlex.quote(str(arguments.out))}"
        last = f"{total:,} instances: {arguments.out / INSTANCES_FILE}. {ask}"
    lines = [_size(source), _fact_line(facts), _table(summary), *_report_lines(arguments, source), last]
    result = {**about, "instances": total, "contexts": summary.records(), "left_out": source.report.record()}
    print_result(arguments, "\n".join(lines), result)
    return FINDINGS if source.report.counts else OK


def _report_lines(arguments: argparse.Namespace, source: BuildSource) -> list[str]:
    """What was left out; where no question has a document, one sentence says so for all contexts."""
    if source.documents:
        return source.report.summary_lines()
    return [no_document_sentence(arguments.source), *source.report.summary_lines(but=(NO_SIGNAL, NO_NOISE, NO_FACT))]


def _made_from(arguments: argparse.Namespace) -> dict[str, Any]:
    """The entries of the manifest on where signal documents and wrong ones come from."""
    files = {name: source_record(path) for name in ("documents", "library", "web") if (path := getattr(arguments, name))}
    names = ("topics", "retriever", "encoder", "per_topic", "signal") if arguments.library or arguments.web else ()
    found = {name: value for name in names if (value := getattr(arguments, name)) is not None}
    return files | found | ({"counterfactual": arguments.counterfactual} if arguments.facts == MODEL else {})


def _size(source: BuildSource) -> str:
    without = sum(not question.documents for question in source.questions)
    words = f", {without:,} without any" if without else ""
    return f"{len(source.questions):,} questions with {source.documents:,} signal documents{words}."


def _fact_line(facts: Mapping[str, Fact]) -> str:
    kinds = ", ".join(f"{kind} {number:,}" for kind, number in kinds_of_edit(facts).items())
    return f"{len(facts):,} documents have a sub-question and an edited copy" + (f" ({kinds})." if kinds else ".")


def _table(summary: BuildSummary) -> str:
    heads = ("test", "documents", "signal %", "instances", "mean documents", "mean signal %", "smaller")
    rows = [
        (row["test"], str(row["size"]), str(row["signal_share"]), f"{row['instances']:,}", f"{row['mean_documents']:.2f}",
         f"{row['mean_share']:.1f}", f"{row['smaller_contexts']:,}")
        for row in summary.records()
    ]  # fmt: skip
    return text_table([heads, *rows])
