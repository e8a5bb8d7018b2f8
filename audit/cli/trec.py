"""The evidence of a run's systems as TREC files, for the tools that read them."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from audit.evaluation.retrieval_measures import write_trec_qrels, write_trec_run
from audit.metrics._routing import routed_questions
from audit.metrics._systems import systems_of
from audit.release.write import file_stem
from audit.store.connection import Connection


def write_trec_evidence(con: Connection, folder: Path) -> None:
    """Write SYSTEM.run for each system that routed a question, and qrels with the known sections of these questions.

    A query is a question, a document a section, named by its id or with its handbook, as the references name it. Raises OSError.
    """
    ranked: dict[int, dict[str, list[str]]] = defaultdict(dict)
    gold: dict[str, list[str]] = {}
    for ids, one in routed_questions(con):
        ranked[ids["system"]][ids["question_id"]] = [passage for _, passage in one.evidence]
        gold |= {ids["question_id"]: list(one.gold)} if one.gold else {}
    folder.mkdir(parents=True, exist_ok=True)
    write_trec_qrels(folder / "qrels", gold)
    systems = systems_of(con)
    for number, system_id in zip(systems["system"], systems["system_id"], strict=True):
        if number in ranked:
            write_trec_run(folder / f"{file_stem(system_id)}.run", ranked[number], system_id)
