"""`audit ask QUESTION`: one answer from all handbooks to a question, with its evidence and routing."""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from audit.atomic_io import write_atomic
from audit.cli.conventions import FINDINGS, OK, add_json, count, print_result, share
from audit.errors import AuditError
from audit.jobs.asking import clean_question
from audit.pipeline.cli.closed_book import generator_settings
from audit.pipeline.cli.model_calls import ask_all, model_of
from audit.pipeline.generation.several_sources_model import model_answers, passages_in_prompt, sourced_task
from audit.pipeline.generation.system_answers import AnsweringSystem, SystemQuestion
from audit.pipeline.llm.journal import Journal
from audit.pipeline.retrieval.across.evidence import GatheredEvidence, gather
from audit.pipeline.retrieval.across.library import build_library
from audit.pipeline.retrieval.across.settings import CrossSourceSettings
from audit.pipeline.retrieval.across.sources import GROUPINGS, sources_by
from audit.pipeline.retrieval.model import Query
from audit.pipeline.retrieval.settings import RetrievalSettings
from audit.pipeline.rules.marks.several_sources import LibraryReader, answer_from_sources
from audit.pipeline.rules.marks.statement_labels import statement_label
from audit.pipeline.stages.build_cache import digest_of
from audit.pipeline.stages.route import recogniser_of
from audit.pipeline.stages.system_options import SOURCED_TOKENS
from audit.queries.run_texts import run_documents
from audit.release.sourced_answers import CONTRADICTED, UNSUPPORTED, SourcedAnswer, SourcedStatement
from audit.settings import Settings
from audit.store.connection import open_store
from audit.store.runs import find_run
from audit.text.documents import Document, read_documents
from audit.vocabulary import SystemMode, concerns

NOTHING = "Nothing was asked."
SYSTEM = "asked"
ABOUT = f"""The handbooks are grouped into sources. The question is routed to them by what a probe of each finds and by their
authority, and the evidence is packed along a graph of the medical terms that passages share. Each statement of the answer has the
numbers of its passages and a mark: supported by which sources, contradicted by which citation, or unsupported, where a model gave
no quote that its passages have. Marks come from rules that abstain in doubt. Without --model the statements are the sources' own
sentences, by the rules of `audit generate`. `audit run` does this for many questions: [[systems]] with mode = "multi_source".

No medical advice: it shows what handbooks say.

Exit code: 0 answered, 1 no source addresses the question, or the model's reply could not be read, 2 {NOTHING.lower()}"""


def ask_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit ask`."""
    defaults = CrossSourceSettings()
    parser.epilog = ABOUT
    parser.add_argument("question", help="the question, in the language of the handbooks")
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--documents", type=Path, metavar="DIR", help="folder that `audit extract` wrote, or one document")
    source.add_argument("--run", metavar="RUN", help="id or key of a run with texts (default: the newest complete run)")
    parser.add_argument("--organ", help="ask only the handbooks of this organ and general ones (default: all)")
    parser.add_argument(
        "--source-by",
        choices=GROUPINGS,
        default=GROUPINGS[0],
        help="how handbooks are grouped into sources (default: %(default)s)",
    )
    parser.add_argument(
        "--authority", action="append", default=[], metavar="SOURCE=SHARE", help="weight of a source, 0 to 1 (default: 0.5)"
    )
    parser.add_argument("--require", action="append", default=[], metavar="SOURCE", help="a source to cover first")
    parser.add_argument("--budget", type=count, metavar="N", help=f"chunks of all sources (default: {defaults.daks.budget})")
    parser.add_argument(
        "--alpha",
        type=share,
        metavar="SHARE",
        help="weight of the base score in the final score; the rest is the graph's support",
    )
    parser.add_argument("--tokens", type=count, metavar="N", help=f"tokens of evidence (default: {defaults.packing.tokens})")
    parser.add_argument(
        "--passages", type=count, metavar="N", help=f"maximum number of passages (default: {defaults.packing.passages})"
    )
    parser.add_argument("--entities", type=Path, metavar="FILE.toml", help="vocabulary of the graph (default: medical terms)")
    parser.add_argument("--url", action="append", metavar="URL", help="endpoint of the model (default: AUDIT_JUDGE_URL)")
    parser.add_argument("--model", metavar="NAME", help="a model writes the answer (default: the sources' own sentences)")
    parser.add_argument(
        "--trace", type=Path, metavar="FILE.json", help="write every step: settings, routes, graph, packing, marks"
    )
    add_json(parser)


def ask(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit ask QUESTION --documents DIR`"""
    question = clean_question(arguments.question)
    documents = _documents(arguments, settings)
    sources = sources_by(documents, arguments.source_by, _authority(arguments.authority))
    if unknown := sorted(set(arguments.require) - {source.source_id for source in sources}):
        names = ", ".join(source.source_id for source in sources)
        raise AuditError(f"--require names '{unknown[0]}', which is not a source; sources: {names}. {NOTHING}")
    library = build_library(documents, sources, RetrievalSettings(), folder=settings.data_dir.resolve() / "retrieval" / "indexes")
    evidence = gather(library, question, _across(arguments), arguments.require, recogniser_of(arguments.entities))
    reader = LibraryReader(library)
    if (arguments.model or arguments.url) and evidence.passages:
        answer = _by_model(arguments, settings, evidence, reader)
    else:
        answer = answer_from_sources(evidence, reader, statement_label)
    record = answer.route_record(SYSTEM, SYSTEM)
    if arguments.trace:
        write_atomic(arguments.trace, json.dumps(record, ensure_ascii=False, indent=1) + "\n")
    print_result(arguments, _text(answer, reader, arguments.trace), answer.record(SYSTEM, SYSTEM) | record)
    return FINDINGS if answer.refused or answer.unread_reason else OK


def _documents(arguments: argparse.Namespace, settings: Settings) -> list[Document]:
    if arguments.documents:
        documents, source = list(read_documents(arguments.documents)), str(arguments.documents)
    else:
        run = find_run(settings.store_dir, arguments.run)
        with open_store(run.path) as con:
            documents, source = list(run_documents(con)), f"run {run.key}"
    if not documents:
        raise AuditError(f"{source} has no texts of handbooks. {NOTHING} Name a folder of them with --documents.")
    chosen = [document for document in documents if arguments.organ is None or concerns(arguments.organ, document.organ)]
    if not chosen:
        organs = ", ".join(sorted({document.organ for document in documents}))
        raise AuditError(f"No handbook of {source} has the organ '{arguments.organ}'; organs: {organs}. {NOTHING}")
    return chosen


def _authority(options: Sequence[str]) -> dict[str, float]:
    authority = {}
    for option in options:
        name, _, value = option.rpartition("=")
        try:
            authority[name] = share(value)
        except argparse.ArgumentTypeError as error:
            raise AuditError(f"--authority is '{option}': SOURCE=SHARE, and the share {error}. {NOTHING}") from None
    return authority


def _across(arguments: argparse.Namespace) -> CrossSourceSettings:
    settings = CrossSourceSettings()
    daks = {"budget": arguments.budget}
    packing = {"tokens": arguments.tokens, "passages": arguments.passages}
    assert settings.graph  # the default settings always have a graph
    return replace(
        settings,
        daks=replace(settings.daks, **_without_missing(daks)),
        graph=replace(settings.graph, **_without_missing({"base_share": arguments.alpha})),
        packing=replace(settings.packing, **_without_missing(packing)),
    )


def _without_missing(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _by_model(
    arguments: argparse.Namespace, settings: Settings, evidence: GatheredEvidence, reader: LibraryReader
) -> SourcedAnswer:
    """The model's answer; a call with the same question and evidence is not repeated."""
    settings = generator_settings(arguments, settings)
    system = AnsweringSystem(model_of(settings, None), SystemMode.MULTI_SOURCE, max_tokens=SOURCED_TOKENS)
    query = Query(SYSTEM, evidence.question)
    asked = SystemQuestion(query, passages_in_prompt(reader.passages(evidence)))
    task = sourced_task(system, system.prompt(), lambda: [asked], 32_768)
    path = settings.data_dir.resolve() / "asked" / f"{digest_of(task.plan())[:12]}.journal"
    path.parent.mkdir(parents=True, exist_ok=True)
    with Journal(path, task.plan()) as journal:
        ask_all(settings, task, journal)
        ((_, answer),) = model_answers(task, journal.latest, {SYSTEM: evidence}, reader, statement_label)
    if answer is None:
        raise AuditError(f"The model gave no reply. Nothing was written. Ask again, or leave out --model {arguments.model}.")
    return answer


# -- as text -------------------------------------------------------------------------------------------------------------


def _text(answer: SourcedAnswer, reader: LibraryReader, trace: Path | None) -> str:
    """The statements with their marks, the evidence, the routing and the notes."""
    lines = [answer.question, ""]
    lines += [line for statement in answer.statements for line in _statement_lines(statement)] or [answer.text]
    passages = [
        f"[{one.passage.number}] {one.handbook_id} ({one.source_id}): {one.passage.title or one.passage.section_id}"
        for one in reader.passages(answer.evidence)
    ]
    routes = [
        f"{one['source_id']}: {one['budget']} chunks, share {one['share']:.2f}, authority {one['authority']:g}"
        for one in answer.evidence.record()["routes"]
    ]
    lines += ["", f"Evidence ({len(passages)} passages)", *passages, "", f"Sources, best first ({len(routes)})", *routes]
    lines += ["", *(f"Note: {note}" for note in answer.notes)] if answer.notes else []
    lines += ["", f"Written by: {answer.writer}. No medical advice."]
    return "\n".join([*lines, *([f"Trace: {shlex.quote(str(trace))}"] if trace else [])])


def _statement_lines(statement: SourcedStatement) -> list[str]:
    if statement.mark == UNSUPPORTED:
        return [f"- {statement.text}", "    unsupported: no quote from the passages shows it"]
    number = len(statement.supported_by)
    supported = f"    supported by {number:,} {'source' if number == 1 else 'sources'}: {', '.join(statement.supported_by)}"
    lines = [f"- {statement.with_numbers}", supported]
    if statement.mark == CONTRADICTED:
        lines += [f'    contradicted by {one.handbook_id} [{one.passage}]: "{one.stated}"' for one in statement.contradicted_by]
    return lines
