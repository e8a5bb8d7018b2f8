"""Saves an asked question as a release of its own, which loads as a run like any other."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from audit.atomic_io import atomic_folder
from audit.jobs.asking import Asked, AskedHandbook, AskedPassage
from audit.pipeline.answers.files import THRESHOLD
from audit.pipeline.generation.passage_generator import NOT_FOUND
from audit.pipeline.retrieval.strategies import CLOSEST
from audit.pipeline.stages.judging_runs import HANDBOOK_FIELDS, HANDBOOKS, SECTION_FIELDS, SECTIONS
from audit.release.write import write_release
from audit.settings import Settings
from audit.store.connection import Connection, open_store, rows
from audit.store.load import load_release
from audit.store.runs import Run
from audit.vocabulary import GENERAL, PASSAGES_GENERATOR, Found

NOT_IN_ID = re.compile(r"[^a-z0-9]+")
MAX_ID = 60


def release_name(run: Run, asked: Asked) -> str:
    """The id of the new run: the id of the original run and the words of the question."""
    words = NOT_IN_ID.sub("-", asked.question.casefold()).strip("-")[:MAX_ID].strip("-")
    return f"{run.run_id}-asked-{words}"


def add_as_run(settings: Settings, run: Run, asked: Asked) -> Run:
    """Write the question as a release, load it and return the new run. Adding the same question again replaces the release."""
    return load_release(write_asked(settings.releases_dir, run, asked), settings).run


def write_asked(folder: Path, run: Run, asked: Asked) -> Path:
    """Write the question with each handbook's passages and state; returns the release's folder.

    The release has the handbooks of the scope with their texts and one question. Nothing has compared the passages, so it has no
    pairs. The original run does not change. Saving the same question again replaces the earlier folder.
    """
    name = release_name(run, asked)
    members = {book.handbook_id for book in asked.handbooks}
    question = {
        "question_id": name, "question": asked.question, "organ": asked.scope.organ or GENERAL, "topics": [], "subtopics": [],
        "source": "asked in the dashboard",
    }  # fmt: skip
    shutil.rmtree(folder / name, ignore_errors=True)
    with open_store(run.path) as con, atomic_folder(folder / name) as draft:
        write_release(
            draft,
            manifest=_manifest(run, name, asked),
            questions=[question],
            handbooks=_records(con, HANDBOOKS, HANDBOOK_FIELDS, members),
            answers=(_answer(name, book) for book in asked.handbooks),
            sections=_records(con, SECTIONS, SECTION_FIELDS, members),
        )
    return folder / name


def _manifest(run: Run, name: str, asked: Asked) -> dict[str, Any]:
    manifest = {
        "run_id": name, "title": f"{run.title}: {asked.question}", "generator": PASSAGES_GENERATOR,
        "retriever": f"closest passages by {asked.compared}", "synthetic": run.synthetic, "terms": run.terms,
        "licence": run.manifest.get("licence"), "generator_errors": asked.errors,
    }  # fmt: skip
    return {entry: value for entry, value in manifest.items() if value}


def _records(con: Connection, sql: str, fields: tuple[str, ...], members: set[str]) -> Iterator[dict[str, Any]]:
    records = (dict(zip(fields, row, strict=True)) for row in rows(con, sql))
    return (record for record in records if record["handbook_id"] in members)


def _answer(question_id: str, book: AskedHandbook) -> dict[str, Any]:
    absent = None if book.found is None else book.found is Found.NOT_FOUND
    text = "\n\n".join("\n".join((*passage.leads, passage.text)) for passage in book.passages)
    return {
        "question_id": question_id, "handbook_id": book.handbook_id, "absent": absent, "absence_method": THRESHOLD,
        "answer": None if absent is None else NOT_FOUND if absent else text,
        "found": book.found, "unread_reason": book.unread,
        "retrieval": {
            "mode": CLOSEST,
            "passages": [_passage(number, passage) for number, passage in enumerate(book.passages, 1)],
            "citations": [] if absent else [_citation(number, passage) for number, passage in enumerate(book.passages, 1)],
        },
    }  # fmt: skip


def _passage(number: int, passage: AskedPassage) -> dict[str, Any]:
    return {
        "passage": number, "rank": number, "section_id": passage.section_id, "start": passage.start, "end": passage.end,
        "text": passage.text, "score": passage.score,
    }  # fmt: skip


def _citation(number: int, passage: AskedPassage) -> dict[str, Any]:
    start, end = passage.statement
    return {
        "passage": number, "section_id": passage.section_id, "known": True, "page": passage.page,
        "quote": passage.text[start:end], "quote_start": passage.start + start, "quote_end": passage.start + end,
    }  # fmt: skip
