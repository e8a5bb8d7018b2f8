"""From what a judge said to a release: everything that it judged, carried over, under a manifest that says how it was judged."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from audit.errors import AuditError
from audit.judging.corpus import Answer, Corpus, Item
from audit.judging.protocols import Silence
from audit.judging.records import Summary
from audit.release.write import write_release

CARRIED = ("generator", "retriever", "licence", "synthetic", "terms", "left_out", "asked")
MANIFEST = "manifest.json"

Record = dict[str, Any]


class Bench(Protocol):
    """Whoever judges: the absence of answers, and the records of pairs."""

    summary: Summary

    def silences(self, item: Item) -> Mapping[str, Silence]:
        """Handbook id -> whether its answer is absent."""

    def pairs(self, item: Item) -> Iterator[Record]:
        """The records of a question's pairs."""


def check_room(root: Path) -> None:
    """Raise AuditError when `root` holds something else than an earlier result of this command."""
    if root.exists() and (not root.is_dir() or (any(root.iterdir()) and not _is_a_judgement(root))):
        raise AuditError(f"{root} is there and holds no earlier judgement. Nothing was asked. Name another folder with --out.")


def _is_a_judgement(root: Path) -> bool:
    """Whether this command wrote it: any release may tell its judge's settings, but not which run it was judged from."""
    try:
        told = json.loads((root / MANIFEST).read_text(encoding="utf-8"))["judge_settings"]
        return bool(told["source_digest"])
    except (OSError, ValueError, KeyError, TypeError):
        return False


def write_judged(root: Path, corpus: Corpus, bench: Bench, *, judge: str, settings: Mapping[str, Any], date: str) -> Path:
    """Write the release of a judged corpus as the folder `root`, which appears complete or stays as it was.

    Carried over are all handbooks, and all questions of the corpus with all their answers, those that one handbook alone meets
    too; absence is what `bench` found.
    `settings` become the manifest's judge_settings, with counts of what was unscored, by reason, beside them.
    """
    told: Record = {**settings, **corpus.source, "pairs": corpus.selection}
    manifest: Record = {
        **_names(root, corpus, judge),
        "judge": judge,
        "date": date,
        **{name: corpus.run[name] for name in CARRIED if corpus.run.get(name) is not None},
        "judge_settings": told,
    }
    building = root.with_name(f".{root.name}.{os.getpid()}.writing")
    shutil.rmtree(building, ignore_errors=True)
    try:
        write_release(
            building,
            manifest=manifest,
            handbooks=corpus.handbooks,
            questions=(item.question for item in corpus.items()),
            answers=(answer for item in corpus.items() for answer in answers(item, bench.silences(item))),
            comparisons=_comparisons(corpus, bench, manifest),
            sections=corpus.sections() if corpus.sections else None,
            trials=_trials(corpus),
        )
        shutil.rmtree(root, ignore_errors=True)
        building.rename(root)
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return root


def _names(root: Path, corpus: Corpus, judge: str) -> Record:
    """What is taken from a run is called after it; what was never one has a name of its own."""
    if corpus.source:
        return {"run_id": root.name, "title": f"{corpus.run['title']}, judged by {judge}"}
    return {"run_id": corpus.run["run_id"], "title": corpus.run["title"]}


def answers(item: Item, silences: Mapping[str, Silence]) -> Iterator[Record]:
    """The answers of a question as records; what was found of their absence stands in for what the run said of it."""
    for handbook, answer in item.answers.items():
        absent, method = _absence(answer, silences.get(handbook))
        yield {
            "question_id": item.question_id, "handbook_id": handbook, "answer": answer.text, "absent": absent,
            "absence_method": method, "retrieval": answer.retrieval,
            **({"unread_reason": answer.unread} if answer.unread else {}), **({"usage": answer.usage} if answer.usage else {}),
        }  # fmt: skip


def _absence(answer: Answer, silence: Silence | None) -> tuple[bool | None, str | None]:
    # Where it cannot be told, the release goes on saying what the run said: its pairs are unscored, and say why.
    if silence is None or silence.absent is None:
        return answer.absent, answer.method
    return silence.absent, silence.method


def _trials(corpus: Corpus) -> Iterator[Mapping[str, Any]] | None:
    """The run's trials on the questions that are judged; None where it has none."""
    if corpus.trials is None:
        return None
    judged = {item.question_id for item in corpus.items()}
    return (trial for trial in corpus.trials() if trial["question_id"] in judged)


def _comparisons(corpus: Corpus, bench: Bench, manifest: Record) -> Iterator[Record]:
    """One record a question with pairs, and at the end what was counted on the way: the manifest is written after them."""
    for item in corpus.items():
        if not item.pairs:
            continue
        pairs = list(bench.pairs(item))
        named = {handbook for pair in pairs for handbook in (pair["handbook_a"], pair["handbook_b"])}
        in_order = [str(book["handbook_id"]) for book in corpus.handbooks if book["handbook_id"] in named]
        yield {"question_id": item.question_id, "handbooks": in_order, "pairs": pairs}
    summary = bench.summary
    manifest["pairs_judged"] = summary.judged
    manifest["judge_settings"] |= {
        "unscored": dict(summary.unscored), "parse": dict(summary.parse), "not_asked": summary.not_asked,
        "servers": sorted(summary.servers),
    }  # fmt: skip
