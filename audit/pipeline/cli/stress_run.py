"""`audit stress run`: a model, or readers without a model, reply to the stress tests of a release."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from audit.cli.conventions import FINDINGS, OK, add_json, count, count_or_zero, print_result
from audit.errors import AuditError
from audit.pipeline.cli.model_calls import add_call_options, model_for
from audit.pipeline.cli.task_command import about_calls, run_task
from audit.pipeline.llm.item_task import ItemTask
from audit.pipeline.llm.summary import Summary
from audit.pipeline.llm.tasks import Replies
from audit.pipeline.stress.instances import StressInstance
from audit.pipeline.stress.running.prompts import MEDRGB, load_stress_prompts
from audit.pipeline.stress.running.readers import READER_NAMES, readers
from audit.pipeline.stress.running.run_stress import (
    REPLIES_FILE,
    EarlierTables,
    InstanceFilter,
    StressInput,
    earlier_tables,
    read_instances,
    write_replies,
)
from audit.pipeline.stress.running.task import WORDS, model_records, reader_records, stress_task
from audit.settings import Settings
from audit.vocabulary import STRESS_TESTS, SystemMode

ALL = "all"
ABOUT = f"""Four tests, one call for each instance, temperature 0. standard: reasons and an option. sufficiency: which
documents are relevant or noise, and an option or insufficient. integration: short answers to sub-questions, then the option.
robustness: which documents are factual or wrong, right short answers, and the option. A short answer names the document that it
is about. Replies obey a strict JSON schema with the reasons first; --preset medrgb gives the instructions of MedRGB
(arXiv:2411.09213): without a relevant document a model may answer from its own knowledge if it is certain, and the reasons follow
what is said of documents and sub-questions. Documents, questions and options were written by others: they are inside tags that
they cannot close, each document on one line, and whatever they ask for, the reply can be nothing but what the schema has.

{about_calls("RELEASE.stress.MODEL.journal")}

Replies are written to {REPLIES_FILE} in the release's folder; those of other systems, and to other instances, stay.

--readers needs no endpoint: {", ".join(READER_NAMES)}. Their curves are known, so they show what a figure means and whether it
is right: coin is chance, copycat believes every document, oracle knows what is true of each.

Exit code: 0 success, 1 written, but some replies could not be read, some instances were left out or not asked, 2 nothing was
written."""


def run_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit stress run`."""
    parser.epilog = ABOUT
    parser.add_argument(
        "release", type=Path, metavar="RELEASE", help="folder with stress_instances.jsonl, as `audit stress build` writes it"
    )
    parser.add_argument(
        "--readers", nargs="+", choices=(ALL, *READER_NAMES), metavar="NAME", default=[],
        help=f"reply without a model: all, or some of {', '.join(READER_NAMES)}",
    )  # fmt: skip
    parser.add_argument(
        "--seed", type=count_or_zero, default=0, metavar="N", help="for --readers: seed of their draws (default: 0)"
    )
    parser.add_argument("--system-id", metavar="ID", help="id of the system (default: the model's name)")
    parser.add_argument("--name", metavar="TEXT", help="name of the system on the pages (default: its id)")
    parser.add_argument("--tests", nargs="+", choices=tuple(STRESS_TESTS), default=[], metavar="TEST", help="only these tests")
    parser.add_argument("--sizes", nargs="+", type=count_or_zero, default=[], metavar="N", help="only contexts of these sizes")
    parser.add_argument(
        "--shares", nargs="+", type=count_or_zero, default=[], metavar="P", help="only these shares of signal, in percent"
    )
    parser.add_argument("--limit", type=count, metavar="N", help="only the first N questions")
    parser.add_argument("--preset", choices=(MEDRGB,), help="medrgb: the instructions and the order of replies of MedRGB")
    parser.add_argument(
        "--templates", type=Path, metavar="DIR", help="folder with your own prompts, such as stress_sufficiency.md"
    )
    add_call_options(parser, REPLIES_FILE)
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit stress run RELEASE`"""
    folder: Path = arguments.release.resolve()
    stress_input = read_instances(folder, settings.max_object_bytes)
    chosen = InstanceFilter(arguments.tests, arguments.sizes, arguments.shares, arguments.limit).choose(stress_input.instances)
    if not chosen:
        raise AuditError(f"{arguments.release} has no instance of these tests, sizes and shares. Nothing was asked.")
    if arguments.readers and arguments.preset:
        raise AuditError("Readers without a model have no prompts. Nothing was asked. Leave out --preset or --readers.")
    if arguments.readers:
        return _run_readers(arguments, settings, stress_input, chosen)
    task = _task(arguments, settings, chosen)
    # Checked first: a file that cannot be rewritten must not be discovered after hours of calls. An estimate changes nothing
    earlier = EarlierTables({}, {}) if arguments.dry_run else earlier_tables(stress_input, settings.max_object_bytes)
    summary = Summary(WORDS)

    def write(replies: Replies, servers: list[str]) -> int:
        system = _model_system(arguments, task, servers)
        records = model_records(task, system["system_id"], replies, summary)
        written = write_replies(stress_input, earlier, [system], records)
        return _finish(arguments, stress_input, summary, written)

    documents = {document.text for instance in chosen for document in instance.documents}
    return run_task(
        arguments,
        settings,
        task,
        sends=f"questions, options and {len(documents):,} documents",
        instances=len(chosen),
        write=write,
    )


def _task(arguments: argparse.Namespace, settings: Settings, chosen: Sequence[StressInstance]) -> ItemTask[StressInstance]:
    prompts = load_stress_prompts(arguments.templates, arguments.preset)
    folder: Path = arguments.release.resolve()
    # The journal may be needed to find the model's name, which in turn names the journal
    arguments.out = folder.with_name(f"{folder.name}.stress.{_file_name(arguments.system_id or settings.judge_model or '')}")
    model = model_for(arguments, settings)
    arguments.out = folder.with_name(f"{folder.name}.stress.{_file_name(arguments.system_id or model)}")
    return stress_task(prompts, model, chosen)


def _file_name(system_id: str) -> str:
    return re.sub(r"[^\w.-]+", "-", system_id).strip(".-") or "model"


def _model_system(arguments: argparse.Namespace, task: ItemTask[StressInstance], servers: Sequence[str]) -> dict[str, Any]:
    system_id = arguments.system_id or task.model
    settings = {"temperature": 0, "prompts": task.plan()["prompts"], "servers": list(servers)}
    return {
        "system_id": system_id,
        "name": arguments.name or system_id,
        "model": task.model,
        "mode": str(SystemMode.RETRIEVAL),
        "settings": settings,
    }


def _run_readers(
    arguments: argparse.Namespace, settings: Settings, stress_input: StressInput, chosen: Sequence[StressInstance]
) -> int:
    names = tuple(READER_NAMES) if ALL in arguments.readers else tuple(dict.fromkeys(arguments.readers))
    if arguments.dry_run:
        message = f"{len(names)} readers without a model, {len(chosen):,} instances each: no call, no cost."
        print_result(arguments, message, {"readers": list(names), "instances": len(chosen), "calls": 0})
        return OK
    earlier, summary = earlier_tables(stress_input, settings.max_object_bytes), Summary(WORDS)
    by_name = readers(names, stress_input.instances, arguments.seed)

    def records() -> Iterator[dict[str, Any]]:
        for name, reader in by_name.items():
            yield from reader_records(chosen, name, reader, summary)

    written = write_replies(stress_input, earlier, _reader_systems(names, arguments.seed), records())
    return _finish(arguments, stress_input, summary, written)


def _reader_systems(names: Sequence[str], seed: int) -> list[dict[str, Any]]:
    modes = {"closed_book": str(SystemMode.CLOSED_BOOK)}
    return [
        {
            "system_id": name,
            "name": READER_NAMES[name],
            "mode": modes.get(name, str(SystemMode.OTHER)),
            "settings": {"seed": seed},
            "description": "A reader without a model, whose curve is known.",
        }
        for name in names
    ]


def _finish(arguments: argparse.Namespace, stress_input: StressInput, summary: Summary, written: int) -> int:
    path = arguments.release / REPLIES_FILE
    lines = [summary.sentence, *summary.lines(), *stress_input.summary_lines()]
    lines += [f"{written:,} replies: {path}. Load the release with: audit load {shlex.quote(str(arguments.release))}"]
    result = {
        **summary.record("asked", "insufficient", "unread"), "faults": dict(summary.faults),
        "left_out": stress_input.sentences, "repaired": stress_input.repairs, "replies": written, "file": str(path),
    }  # fmt: skip
    print_result(arguments, "\n".join(lines), result)
    return FINDINGS if summary.unread or summary.faults or summary.not_asked or stress_input.summary_lines() else OK
