"""Builds the instances of the four tests from questions, their signal documents, and a fact of each document."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from audit.atomic_io import atomic_folder, sha256_of
from audit.errors import AuditError, describe_error
from audit.pipeline.stress.building.contexts import (
    SIZES,
    Composition,
    NoisePool,
    composition,
    correct_and_edited,
    shares_of,
)
from audit.pipeline.stress.building.draws import rank
from audit.pipeline.stress.building.facts import REWRITTEN, Fact
from audit.pipeline.stress.building.questions import BuildReport, SignalDocument, StressQuestion
from audit.pipeline.stress.instances import INSTANCES_FILE, StressDocument, StressInstance
from audit.text.edits import TextEdit
from audit.vocabulary import STRESS_TESTS, StressTest

EDITED = "~edited"
NO_SIGNAL, NO_NOISE, NO_FACT = "not enough signal", "not enough noise", "no document with a sub-question"
WITH_FACTS = (StressTest.INTEGRATION, StressTest.ROBUSTNESS)


@dataclass(frozen=True)
class BuildSettings:
    """The settings of a build: the tests, the shares of signal in percent (empty: those of each test), and the seed of every
    draw.
    """

    seed: int = 0
    tests: tuple[StressTest, ...] = STRESS_TESTS
    shares: tuple[int, ...] = ()

    def cells(self) -> Iterator[tuple[StressTest, int, int]]:
        """Each test with its sizes and shares; a context without documents has one share."""
        for test in self.tests:
            for size in SIZES[test]:
                own = [share for share in shares_of(test) if not self.shares or share in self.shares]
                yield from ((test, size, share) for share in (own if test != StressTest.STANDARD else shares_of(test)))


@dataclass
class CellCounts:
    """The instances of one test, size and share: documents, those that are signal (robustness: correct), smaller contexts."""

    instances: int = 0
    documents: int = 0
    signal: int = 0
    mean_share: float = 0.0
    smaller: int = 0


@dataclass
class BuildSummary:
    """Counts by (test, size, share), and of omitted instances."""

    report: BuildReport
    cells: dict[tuple[str, int, int], CellCounts] = field(default_factory=dict)

    def count(self, instance: StressInstance) -> None:
        """Count one instance."""
        cell = self.cells.setdefault((instance.test, instance.size, instance.signal_share), CellCounts())
        is_robustness = instance.test == StressTest.ROBUSTNESS
        signal = sum(document.is_factual if is_robustness else document.is_signal for document in instance.documents)
        total = len(instance.documents)
        cell.instances += 1
        cell.documents += total
        cell.signal += signal
        cell.smaller += total < instance.size
        cell.mean_share += ((signal / total if total else 0.0) - cell.mean_share) / cell.instances

    def records(self) -> list[dict[str, Any]]:
        """One record for each test, size and share asked for, with means over its instances."""
        return [
            {
                "test": str(test), "size": size, "signal_share": share, "instances": cell.instances,
                "mean_documents": round(cell.documents / cell.instances, 3), "mean_share": round(100 * cell.mean_share, 2),
                "smaller_contexts": cell.smaller,
            }
            for (test, size, share), cell in self.cells.items()
        ]  # fmt: skip


def build_instances(
    questions: Sequence[StressQuestion],
    facts: Mapping[str, Fact],
    settings: BuildSettings,
    report: BuildReport,
    *,
    pool: Sequence[StressQuestion] = (),
) -> Iterator[StressInstance]:
    """The instances, in the order of tests, sizes, shares and question ids. The same input in another order gives the same ones.

    questions  with document ids that are unique over all of them
    facts      document id -> its sub-question; a document without one is in no context of integration and robustness
    report     counts what cannot be built, by test
    pool       questions whose documents are noise as well, such as those beyond a limit
    """
    noise = NoisePool(pool or questions)
    ordered = sorted(questions, key=lambda question: question.question_id)
    sources = {question.question_id: _QuestionSource(question, facts, settings.seed) for question in ordered}
    _draw_for_rounding(list(sources.values()))
    for test, size, share in settings.cells():
        for question in ordered:
            source = sources[question.question_id]
            documents = _context(source, noise, test, size, share, report)
            if documents is not None:
                yield _instance(question, test, size, share, source.shuffled(documents), settings.seed)


class _QuestionSource:
    """One question's documents in their drawn order, and its draws for rounding (`_draw_for_rounding`)."""

    draw = draw_with_facts = 0.0

    def __init__(self, question: StressQuestion, facts: Mapping[str, Fact], seed: int) -> None:
        self.question, self.seed, self._facts = question, seed, facts
        self.documents = sorted(question.documents, key=lambda document: rank("signal", seed, document.document_id))
        self.with_facts = [document for document in self.documents if document.document_id in facts]

    def signal(self, document: SignalDocument, test: StressTest, *, edited: bool = False) -> StressDocument:
        """A signal document as an entry of a context."""
        fact = self._facts.get(document.document_id) if test in WITH_FACTS else None
        if fact is None:
            return StressDocument(document.document_id, document.text, is_signal=True)
        correct = StressDocument(
            document.document_id, document.text, is_signal=True, sub_question=fact.sub_question, sub_answer=fact.sub_answer,
            false_answer=fact.false_answer if test == StressTest.ROBUSTNESS else None,
        )  # fmt: skip
        if not edited:
            return correct
        return replace(
            correct, document_id=f"{document.document_id}{EDITED}", text=fact.edit.text, is_factual=False,
            edited_from=document.document_id, edit=_edit_record(fact.edit),
        )  # fmt: skip

    def shuffled(self, documents: list[StressDocument]) -> tuple[StressDocument, ...]:
        """The documents in random order. A set always has the same order, so equal contexts need one request."""
        names = " ".join(sorted(document.document_id for document in documents))
        return tuple(sorted(documents, key=lambda document: rank("order", self.seed, names, document.document_id)))


def _edit_record(edit: TextEdit) -> dict[str, Any]:
    # Of a document that was rewritten as a whole, both texts are there already, under their ids
    return {"kind": edit.kind} if edit.kind == REWRITTEN else edit.record()


def _draw_for_rounding(sources: Sequence[_QuestionSource]) -> None:
    """Give each question a draw in [0, 1), spread evenly over the questions with as many documents.

    Evenly, not independently at random, so the mean share of signal is as requested even with few questions.
    """
    for name, members in _by_size(sources):
        members.sort(key=lambda source: rank("rounding", source.seed, source.question.question_id))
        for index, source in enumerate(members):
            setattr(source, name, (index + 0.5) / len(members))


def _by_size(sources: Sequence[_QuestionSource]) -> Iterator[tuple[str, list[_QuestionSource]]]:
    """The name of each draw, and the questions over which it is spread."""
    groups: dict[tuple[str, int], list[_QuestionSource]] = {}
    for source in sources:
        groups.setdefault(("draw", len(source.documents)), []).append(source)
        groups.setdefault(("draw_with_facts", len(source.with_facts)), []).append(source)
    return ((name, members) for (name, _), members in groups.items())


def _context(
    source: _QuestionSource, noise: NoisePool, test: StressTest, size: int, share: int, report: BuildReport
) -> list[StressDocument] | None:
    """The documents of one context; None if there are not enough."""
    where = f"{source.question.question_id}, {test}, {size} documents, {share} % signal"
    available = source.with_facts if test in WITH_FACTS else source.documents
    if not available and (share or test == StressTest.ROBUSTNESS) and size:
        reason = NO_FACT if source.documents else NO_SIGNAL
        report.add(f"{reason} ({test})", f"{where}: {reason}. The instance was left out.")
        return None
    if test == StressTest.ROBUSTNESS:
        return _robustness(source, size, share)
    draw = source.draw_with_facts if test in WITH_FACTS else source.draw
    parts = composition(size, share, len(available), draw)
    if test == StressTest.STANDARD:
        parts = Composition(min(size, len(available)), 0)
    assert parts is not None
    other = noise.draw(source.question, parts.other, source.seed) if parts.other else []
    if len(other) < parts.other:
        sentence = f"{where}: {parts.other} documents of other questions are needed, not {len(other)}. The instance was left out."
        report.add(f"{NO_NOISE} ({test})", sentence)
        return None
    signal = [source.signal(document, test) for document in available[: parts.signal]]
    return [*signal, *(StressDocument(document.document_id, document.text, is_signal=False) for document in other)]


def _robustness(source: _QuestionSource, size: int, share: int) -> list[StressDocument]:
    parts = correct_and_edited(size, share, len(source.with_facts), source.draw_with_facts)
    assert parts is not None
    chosen = source.with_facts[: parts.signal + parts.other]
    return [
        source.signal(document, StressTest.ROBUSTNESS, edited=number >= parts.signal) for number, document in enumerate(chosen)
    ]


def _instance(
    question: StressQuestion, test: StressTest, size: int, share: int, documents: tuple[StressDocument, ...], seed: int
) -> StressInstance:
    return StressInstance(
        f"{test}-{size}-{share}-{question.question_id}", test, question.question_id, question.question, question.gold,
        share, size, dict(question.options), documents, question.dataset, seed, question.retrieval,
    )  # fmt: skip


def kinds_of_edit(facts: Mapping[str, Fact]) -> dict[str, int]:
    """The number of facts per kind of edit."""
    return dict(sorted(Counter(fact.edit.kind for fact in facts.values()).items()))


# -- files ---------------------------------------------------------------------------------------------------
# The instances, and a manifest that describes them and lists what was left out.

MANIFEST_FILE, TOPICS_FILE = "manifest.json", "stress_topics.jsonl"


def write_build(
    folder: Path,
    instances: Iterable[StressInstance],
    summary: BuildSummary,
    about: Mapping[str, Any],
    topics: Sequence[Mapping[str, Any]] = (),
) -> int:
    """Write the instances and the manifest into a new or empty folder, complete or not at all; returns how many instances.

    about  further entries of the manifest: source, data set, settings. It has no date, so the same build gives the
           same bytes
    topics  of each question, with the documents that they found; written where there are any

    Raises AuditError where the folder cannot be written or is not empty.
    """
    try:
        with atomic_folder(folder) as draft:
            count = _write_instances(draft / INSTANCES_FILE, instances, summary)
            digest = sha256_of(draft / INSTANCES_FILE)
            counts = {"instances": count, "instances_sha256": digest, "contexts": summary.records()}
            manifest = {**about, **counts, "left_out": summary.report.record()}
            if topics:
                (draft / TOPICS_FILE).write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in topics), "utf-8")
            (draft / MANIFEST_FILE).write_text(json.dumps(manifest, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise AuditError(
            f"{folder} cannot be written ({describe_error(error)}). Nothing was written. Name a new folder with --out."
        ) from error
    return count


def _write_instances(path: Path, instances: Iterable[StressInstance], summary: BuildSummary) -> int:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for instance in instances:
            summary.count(instance)
            file.write(json.dumps(instance.record(), ensure_ascii=False) + "\n")
    return sum(cell.instances for cell in summary.cells.values())


def source_record(path: Path) -> dict[str, Any]:
    """Name and digest of the source: a file, or the files of a folder by name."""
    if path.is_file():
        return {"name": path.name, "sha256": sha256_of(path)}
    digest = hashlib.sha256()
    for file in sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith(".")):
        digest.update(f"{file.relative_to(path).as_posix()} {sha256_of(file)}\n".encode())
    return {"name": path.name, "sha256": digest.hexdigest()}
