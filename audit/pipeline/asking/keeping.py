"""Saves an asked question as a release of its own, which loads as a run like any other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

from audit.jobs.asking import SYSTEM_ID, Asked
from audit.pipeline.judging.corpus import AnswerToJudge, QuestionToJudge
from audit.pipeline.stages.judging_runs import leave_unjudged, read_corpus
from audit.release.write import write_jsonl
from audit.settings import Settings
from audit.store.connection import open_store
from audit.store.load import load_release
from audit.store.runs import Run
from audit.vocabulary import GENERAL, PASSAGES_GENERATOR, SystemMode

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
    """Write the question with all answers, pairs labelled by rules, and the answer of all sources; returns the release's folder.

    The release has the handbooks of the scope with their texts, one question, and one answering system. The original run does
    not change. Saving the same question again replaces the earlier folder.
    """
    name = release_name(run, asked)
    members = set(asked.handbooks["handbook_id"])
    with open_store(run.path) as con:
        corpus = read_corpus(con, run)
        handbooks = tuple(record for record in corpus.handbooks if record["handbook_id"] in members)
        sections = corpus.sections

        def texts() -> Iterator[Any]:
            return (record for record in sections() if record["handbook_id"] in members) if sections else iter(())

        names = {"run_id": name, "title": f"{run.title}: {asked.question}", "generator": PASSAGES_GENERATOR, "digest": ""}
        narrowed = replace(
            corpus, run={**corpus.run, **names}, handbooks=handbooks, items=lambda: iter([_question_to_judge(name, asked)]),
            sections=texts, trials=None,
        )  # fmt: skip
        leave_unjudged(folder / name, narrowed)
    for table, records in _system_tables(name, asked).items():
        write_jsonl(folder / name / f"{table}.jsonl", records)
    return folder / name


def _question_to_judge(question_id: str, asked: Asked) -> QuestionToJudge:
    answers = {
        record["handbook_id"]: AnswerToJudge(
            record["answer"], record["absent"], record["absence_method"], record["retrieval"], record["unread_reason"],
            record["usage"],
        )
        for record in asked.answers
    }  # fmt: skip
    question = {
        "question_id": question_id, "question": asked.question, "organ": asked.scope.organ or GENERAL, "topics": [],
        "subtopics": [], "source": "asked in the dashboard",
    }  # fmt: skip
    return QuestionToJudge(question, answers, tuple(combinations(answers, 2)))


def _system_tables(question_id: str, asked: Asked) -> dict[str, list[dict[str, Any]]]:
    """The tables of the answer from all sources: the answering system, its answer and its routing."""
    by_source = asked.handbooks.groupby("source_id", sort=True)["handbook_id"].apply(list)
    evidence = asked.sourced.evidence.record()
    authority = {route["source_id"]: route["authority"] for route in evidence["routes"]}
    system = {
        "system_id": SYSTEM_ID,
        "name": "All sources, quoted",
        "model": PASSAGES_GENERATOR,
        "mode": SystemMode.MULTI_SOURCE.value,
        "retriever": evidence["trace"]["settings"]["retriever"],
    }
    return {
        "systems": [system],
        "sources": [
            {"source_id": str(source), "handbook_ids": members, "authority": authority.get(str(source), 0.5)}
            for source, members in by_source.items()
        ],
        "system_answers": [asked.sourced.record(question_id, SYSTEM_ID)],
        "routes": [asked.sourced.route_record(question_id, SYSTEM_ID)],
    }
