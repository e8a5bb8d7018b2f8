"""`audit generate --mode closed-book`: a model answers every question from its own knowledge, as an answering system of a
release.
"""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from audit.atomic_io import write_atomic
from audit.cli.conventions import FINDINGS, OK, print_result
from audit.errors import AuditError
from audit.pipeline.answers.files import SUMMARY, read_questions
from audit.pipeline.cli.model_calls import model_for, uses_batch
from audit.pipeline.cli.task_command import run_task
from audit.pipeline.generation.system_answers import (
    MAX_TOKENS,
    TEMPERATURE,
    AnsweringSystem,
    SystemQuestion,
    SystemSummary,
    SystemTask,
    system_answers,
    system_task,
)
from audit.pipeline.llm.tasks import Replies
from audit.pipeline.retrieval.model import Query
from audit.release.write import write_release
from audit.settings import Settings
from audit.vocabulary import SystemMode


def generator_settings(arguments: argparse.Namespace, settings: Settings) -> Settings:
    """The settings with the generator's endpoint in place of the judge's."""
    urls = tuple(url.rstrip("/") for url in arguments.url or settings.judge_urls)
    if not urls and not (arguments.dry_run or arguments.parse_again or uses_batch(arguments)):
        raise AuditError(
            "No model endpoint is set. No model was called. Name an OpenAI-compatible endpoint with --url, such as "
            "http://127.0.0.1:8000/v1, set AUDIT_JUDGE_URL, or quote the handbooks: --generator passages."
        )
    return replace(settings, judge_urls=urls, judge_model=arguments.model or settings.judge_model)


def answer_closed_book(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit generate --mode closed-book --questions FILE --out DIR`"""
    queries = read_questions(arguments.questions)
    temperature = TEMPERATURE if arguments.temperature is None else arguments.temperature
    system = AnsweringSystem(
        model_for(arguments, settings),
        SystemMode.CLOSED_BOOK,
        arguments.system_id,
        temperature=temperature,
        max_tokens=arguments.max_tokens or MAX_TOKENS,
    )
    task = system_task(system, system.prompt(arguments.templates), lambda: map(SystemQuestion, queries), arguments.context)
    return run_task(
        arguments,
        settings,
        task,
        sends="questions without any handbook",
        write=lambda replies, servers: _write(arguments, task, queries, replies, servers),
    )


def _write(arguments: argparse.Namespace, task: SystemTask, queries: list[Query], replies: Replies, servers: list[str]) -> int:
    """Write the release of one system, and summary.json with the counts."""
    summary = SystemSummary()
    # Computed before anything is written, so a fault leaves the earlier answers unchanged
    records = list(system_answers(task, replies, summary))
    manifest = {"run_id": arguments.out.name, "title": f"Answers of {task.model} alone", "generator": task.model}
    systems = {"systems": [task.record], "system_answers": records}
    write_release(arguments.out, manifest=manifest, questions=_question_records(queries), systems=systems)
    about = {"generator": task.model, "settings": {**task.plan(), "endpoint": servers}, **summary.as_record()}
    write_atomic(arguments.out / SUMMARY, json.dumps(about, ensure_ascii=False, indent=1) + "\n")
    name = task.system.id
    text = f"{arguments.out}: {name}: {summary.text}\nShow them with: audit load {shlex.quote(str(arguments.out))}"
    print_result(arguments, text, {"system_id": name, "release": str(arguments.out), **summary.as_record()})
    return FINDINGS if summary.unread or summary.not_asked else OK


def _question_records(queries: list[Query]) -> Iterator[dict[str, Any]]:
    for query in queries:
        record = {"question_id": query.question_id, "question": query.text, "organ": query.organ}
        yield {**record, **({"topics": list(query.topics)} if query.topics else {})}
