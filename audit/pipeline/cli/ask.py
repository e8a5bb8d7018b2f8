"""`audit ask QUESTION`: of each handbook the passages that are closest to a question, and how surely they answer."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

from audit.cli.conventions import FINDINGS, OK, add_json, print_result
from audit.errors import AuditError
from audit.jobs.asking import BY_WORDS, Asked, AskedHandbook, AskScope, index_folder
from audit.pipeline.asking.engine import RunHandbooks, model_encoder
from audit.pipeline.cli.written_answer import write_answer
from audit.queries.run_texts import run_documents
from audit.release.sourced_answers import SourcedAnswer, SourcedStatement
from audit.settings import Settings
from audit.store.connection import open_store
from audit.store.runs import find_run
from audit.text.documents import Document, read_documents
from audit.vocabulary import Found, concerns

NOTHING = "Nothing was asked."
ABOUT = f"""Of each handbook the passages that are closest to the question are printed whole, with heading and page, in three
states: stated (so close that it mostly answers), perhaps (read it), and not found (nothing is close, which is no proof that the
handbook is silent). Passages are compared by the sentence model where it is installed, else by words. With --model a model writes
one answer from the passages, and each statement names the sentences that it rests on: they are in the passages word for word.

No medical advice: it shows what handbooks say.

Exit code: 0 something was found, 1 nothing was, or the model's reply could not be read, 2 {NOTHING.lower()}"""
IN_PRINT = 2
"""Passages of a handbook that are printed; --json has all."""
HEADINGS = {
    Found.STATED: "Stated",
    Found.PERHAPS: "Perhaps: see these passages",
    Found.NOT_FOUND: "Not found; the nearest passages",
    None: "Cannot be told",
}


def ask_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit ask`."""
    parser.epilog = ABOUT
    parser.add_argument("question", help="the question, in the language of the handbooks")
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--documents", type=Path, metavar="DIR", help="folder that `audit extract` wrote, or one document")
    source.add_argument("--run", metavar="RUN", help="id or key of a run with texts (default: the newest complete run)")
    parser.add_argument("--organ", help="ask only the handbooks of this organ and general ones (default: all)")
    parser.add_argument("--source", action="append", default=[], metavar="CENTER", help="ask only this center (default: all)")
    parser.add_argument("--url", action="append", metavar="URL", help="endpoint of the model (default: AUDIT_JUDGE_URL)")
    parser.add_argument("--model", metavar="NAME", help="a model also writes an answer from the passages")
    add_json(parser)


def ask(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit ask QUESTION --documents DIR`"""
    documents = _documents(arguments, settings)
    handbooks = RunHandbooks(documents, model_encoder(), index_folder(settings.data_dir))
    # A command has nobody to show words to meanwhile
    handbooks.encode()
    asked = handbooks.ask(arguments.question, AskScope(arguments.organ, tuple(arguments.source)))
    answer = _written(arguments, settings, documents, asked)
    print_result(arguments, "\n".join(_lines(asked, answer)), _record(asked, answer))
    found = any(book.found in (Found.STATED, Found.PERHAPS) for book in asked.handbooks)
    return OK if found and not (answer and answer.unread_reason) else FINDINGS


def _documents(arguments: argparse.Namespace, settings: Settings) -> list[Document]:
    if arguments.documents:
        documents, source = list(read_documents(arguments.documents)), str(arguments.documents)
    else:
        run = find_run(settings.store_dir, arguments.run)
        with open_store(run.path) as con:
            documents, source = list(run_documents(con)), f"run {run.key}"
    if not documents:
        raise AuditError(f"{source} has no texts of handbooks. {NOTHING} Name a folder of them with --documents.")
    if arguments.organ and not any(concerns(arguments.organ, document.organ) for document in documents):
        organs = ", ".join(sorted({document.organ for document in documents}))
        raise AuditError(f"No handbook of {source} has the organ '{arguments.organ}'; organs: {organs}. {NOTHING}")
    return documents


def _written(arguments: argparse.Namespace, settings: Settings, documents: list[Document], asked: Asked) -> SourcedAnswer | None:
    if not (arguments.model or arguments.url):
        return None
    urls = tuple(url.rstrip("/") for url in arguments.url or settings.judge_urls)
    return write_answer(replace(settings, judge_urls=urls, judge_model=arguments.model or settings.judge_model), documents, asked)


def _record(asked: Asked, answer: SourcedAnswer | None) -> dict[str, object]:
    handbooks = [{name: value for name, value in asdict(book).items() if value is not None} for book in asked.handbooks]
    written = {"writer": answer.writer, "statements": [one.record() for one in answer.statements]} if answer else None
    return {"question": asked.question, "compared": asked.compared, "handbooks": handbooks, "answer": written}


# -- as text -------------------------------------------------------------------------------------------------------------


def _lines(asked: Asked, answer: SourcedAnswer | None) -> Iterator[str]:
    """The handbooks of each state with their passages, then what a model wrote."""
    yield asked.question
    for state, books in asked.by_state().items():
        yield f"\n{HEADINGS[state]} ({len(books):,})"
        for book in books:
            yield from _handbook_lines(book, 1 if book.found is Found.NOT_FOUND else IN_PRINT)
    if answer is not None:
        yield f"\nWritten by {answer.writer}"
        yield from (line for one in answer.statements for line in _statement_lines(one))
        yield from () if answer.statements else [answer.text]
        yield from (f"Note: {note}" for note in answer.notes)
    yield f"\nCompared by: {asked.compared}{'' if asked.compared == BY_WORDS else ', a sentence model'}. No medical advice."


def _handbook_lines(book: AskedHandbook, count: int) -> Iterator[str]:
    yield f"  {book.handbook_id}{f' ({book.unread})' if book.unread else ''}"
    for passage in book.passages[:count]:
        yield f"    {passage.title or passage.section_id}{f', page {passage.page}' if passage.page else ''}:"
        yield from (f"      {line}" for part in (*passage.leads, passage.text) for line in part.splitlines() if line.strip())


def _statement_lines(statement: SourcedStatement) -> Iterator[str]:
    yield f"- {statement.text}"
    quotes = [f'    {one.handbook_id} [{one.passage}]: "{one.stated}"' for one in statement.citations]
    yield from quotes or ["    not checked: no quote from the passages has it"]
