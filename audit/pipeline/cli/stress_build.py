"""`audit stress build`: instances of the four stress tests, from a file of questions or from a release."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit.cli.conventions import FINDINGS, OK, add_json, count, print_result
from audit.errors import AuditError
from audit.formatting import text_table
from audit.pipeline.cli.model_calls import add_call_options, model_for
from audit.pipeline.cli.task_command import about_calls, run_task
from audit.pipeline.stress.building.builder import (
    MANIFEST_FILE,
    BuildSettings,
    BuildSummary,
    build_instances,
    kinds_of_edit,
    source_record,
    write_build,
)
from audit.pipeline.stress.building.contexts import SHARES
from audit.pipeline.stress.building.draws import rank
from audit.pipeline.stress.building.facts import Fact, rule_facts
from audit.pipeline.stress.building.model_facts import FactTask, load_fact_prompts, model_facts
from audit.pipeline.stress.building.questions import BuildReport, StressQuestion, with_unique_document_ids
from audit.pipeline.stress.building.stress_questions import questions_of_release, read_questions
from audit.pipeline.stress.instances import INSTANCES_FILE
from audit.settings import Settings
from audit.vocabulary import STRESS_TESTS, StressTest

RULES, MODEL = "rules", "model"
ABOUT = f"""SOURCE is a file of questions with their signal documents (JSONL as data/README.md describes it, MIRAGE's
benchmark.json or PubMedQA's ori_pqal.json; also gzipped), or the folder of a release with sections, whose answers become open
questions.

Four tests, as in MedRGB (arXiv:2411.09213): standard (0, 5 or 20 signal documents), sufficiency (5 or 20 documents, 0 to 100 %
of them signal), integration (5 or 10, 20 to 100 % signal, with a sub-question for each signal document) and robustness (5 or 10
signal documents, 0 to 100 % of them correct, the others with a planted error). Noise is the signal of other questions. Where a
question has fewer signal documents, its contexts are as large as these allow.

Sub-questions and errors come from rules, which change an amount, a unit, a frequency, a negation or a direction of one statement,
or with --facts model from a model. {about_calls("OUT.journal")}

OUT gets {INSTANCES_FILE} and {MANIFEST_FILE}. The same source, options and seed give the same bytes, in whatever order the
questions stand.

Exit code: 0 success, 1 written, but something was left out, 2 nothing was written."""


@dataclass(frozen=True)
class BuildSource:
    """The questions that are built from, and all questions, from whose documents noise is drawn."""

    questions: list[StressQuestion]
    pool: list[StressQuestion]
    report: BuildReport

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
    parser.add_argument(
        "--facts", choices=(RULES, MODEL), default=RULES, help="what writes sub-questions and errors (default: %(default)s)"
    )
    parser.add_argument("--templates", type=Path, metavar="DIR", help="folder with your own prompts")
    add_call_options(parser, "instances")
    add_json(parser)


def _seed(text: str) -> int:
    return 0 if text == "0" else count(text)


def build(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit stress build SOURCE --out OUT`"""
    _require_empty(arguments.out)
    source = _read_source(arguments, settings)
    if arguments.facts == MODEL:
        return _build_with_model(arguments, settings, source)
    if arguments.emit_batch or arguments.collect or arguments.parse_again:
        raise AuditError("Rules make no calls. Nothing was written. Add --facts model, or leave out the options for a model.")
    facts = rule_facts(source.questions, arguments.seed, source.report, pool=source.pool)
    return _finish(arguments, source, facts, {"facts": RULES})


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


def _build_with_model(arguments: argparse.Namespace, settings: Settings, source: BuildSource) -> int:
    task = FactTask(load_fact_prompts(arguments.templates), model_for(arguments, settings), source.questions)
    made_by = {"facts": MODEL, "model": task.model, "prompts": task.plan()["prompts"]}
    return run_task(
        arguments,
        settings,
        task,
        sends="questions and their signal documents",
        remarks=_size(source),
        questions=len(source.questions),
        documents=source.documents,
        write=lambda replies, _: _finish(arguments, source, model_facts(task, replies, source.report), made_by),
    )


def _finish(arguments: argparse.Namespace, source: BuildSource, facts: Mapping[str, Fact], made_by: Mapping[str, Any]) -> int:
    """Build, write and print; or only count, with --dry-run."""
    chosen = BuildSettings(arguments.seed, tuple(arguments.tests), tuple(arguments.shares))
    summary = BuildSummary(source.report)
    instances = build_instances(source.questions, facts, chosen, source.report, pool=source.pool)
    about = {
        "title": "Instances of stress tests", "source": source_record(arguments.source), "questions": len(source.questions),
        "signal_documents": source.documents, "documents_with_fact": len(facts), "edits": kinds_of_edit(facts),
        "seed": arguments.seed, "tests": list(map(str, arguments.tests)), "shares": arguments.shares, **made_by,
    }  # fmt: skip
    if arguments.documents:
        about["documents"] = source_record(arguments.documents)
    if arguments.dry_run:
        for instance in instances:
            summary.count(instance)
        total, last = sum(cell.instances for cell in summary.cells.values()), "Nothing was written (--dry-run)."
    else:
        total = write_build(arguments.out, instances, summary, about)
        ask = f"Ask a model with: audit stress run {shlex.quote(str(arguments.out))}"
        last = f"{total:,} instances: {arguments.out / INSTANCES_FILE}. {ask}"
    lines = [_size(source), _fact_line(facts), _table(summary), *source.report.summary_lines(), last]
    result = {**about, "instances": total, "contexts": summary.records(), "left_out": source.report.record()}
    print_result(arguments, "\n".join(lines), result)
    return FINDINGS if source.report.counts else OK


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
