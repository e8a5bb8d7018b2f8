"""Questions for stress tests from a release: the sections that an answer cites, or that are known to answer, are the signal."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from audit.errors import QuestionsError, ReleaseError, describe_error
from audit.pipeline.release_tables import release_layout, valid_records
from audit.pipeline.stress.building.questions import BuildReport, SignalDocument, StressQuestion, checked_questions, same_text
from audit.release.handbook_kinds import ANSWER, QUESTION, SECTION
from audit.release.layout import Layout
from audit.release.record_kind import Record, RecordKind
from audit.release.records import RecordFile, UnreadableRecord
from audit.release.system_kinds import REFERENCE_RECORD
from audit.text.statements import statements
from audit.text.tokens import without_citations

# -- files of questions --------------------------------------------------------------------------------------
# The documented JSONL, the benchmark file of MIRAGE, and PubMedQA's file of abstracts.

Place = tuple[str, Any]
"""The position of a record in its file, and the record in the documented layout."""
YES_NO_MAYBE = {"A": "yes", "B": "no", "C": "maybe"}
NOTHING = "Nothing was written."


def read_questions(path: Path, max_bytes: int, report: BuildReport, *, documents: Path | None = None) -> list[StressQuestion]:
    """The questions of a file in one of the three layouts (detected from its content), in the order of their ids.

    documents  a JSONL file with more signal documents (question_id, and documents or document_id and text), such as what a
               retriever found; MIRAGE's file has none

    Raises QuestionsError where the file cannot be read or no question can be used.
    """
    if not path.is_file():
        raise QuestionsError(f"{path}: there is no such file. {NOTHING} Name a file of questions.")
    more = _documents_by_question(documents, max_bytes, report) if documents else {}
    records = ((where, _with_documents(record, more)) for where, record in _records(path, max_bytes, report))
    questions = list(checked_questions(records, path.name.split(".")[0], report))
    if not questions:
        reasons = "; ".join(report.summary_lines()) or "the file has no record"
        raise QuestionsError(f"{path}: no question can be used ({reasons}). {NOTHING} data/README.md describes the layout.")
    return sorted(questions, key=lambda question: question.question_id)


def _records(path: Path, max_bytes: int, report: BuildReport) -> Iterator[Place]:
    content = _whole_object(path) if path.name.removesuffix(".gz").endswith(".json") else None
    if content is None:
        yield from _lines(path, max_bytes, report)
    elif any(isinstance(value, Mapping) and "QUESTION" in value for value in content.values()):
        yield from _pubmedqa(content, path)
    else:
        yield from _mirage(content, path)


def _whole_object(path: Path) -> dict[str, Any] | None:
    """The object of objects in a .json file; None where the file has a list of records."""
    try:
        content = path.read_bytes()
        value = json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)
    except (OSError, EOFError, ValueError) as error:
        reason = describe_error(error) if isinstance(error, OSError) else "it is not JSON"
        raise QuestionsError(f"{path} cannot be read: {reason}. {NOTHING} Correct the file.") from error
    return value if isinstance(value, dict) and all(isinstance(part, dict) for part in value.values()) else None


def _lines(path: Path, max_bytes: int, report: BuildReport) -> Iterator[Place]:
    for position, record in RecordFile(path, max_bytes).rows():
        where = f"{path.name}, {position}"
        if isinstance(record, UnreadableRecord):
            report.add("unreadable line", f"{where}: {record.message} The line was left out.")
        else:
            yield where, record


def _pubmedqa(content: Mapping[str, Any], path: Path) -> Iterator[Place]:
    """PubMedQA: PMID -> QUESTION, CONTEXTS, final_decision. LONG_ANSWER, the abstract's conclusion, is never read."""
    for pmid, record in content.items():
        contexts = record.get("CONTEXTS")
        texts = contexts if isinstance(contexts, list) else []
        yield f"{path.name}, {pmid}", {
            "question_id": f"pubmed-{pmid}", "question": record.get("QUESTION"), "options": YES_NO_MAYBE,
            "gold": record.get("final_decision"), "dataset": "pubmedqa",
            "documents": [{"document_id": f"{pmid}-{number}", "text": text} for number, text in enumerate(texts)],
        }  # fmt: skip


def _mirage(benchmark: Mapping[str, Any], path: Path) -> Iterator[Place]:
    """MIRAGE: data set -> id -> question, options, answer."""
    for dataset, questions in benchmark.items():
        for own_id, record in questions.items():
            content = record if isinstance(record, Mapping) else {}
            names = {name: content.get(name) for name in ("question", "options", "answer", "documents")}
            yield f"{path.name}, {dataset} {own_id}", {**names, "question_id": f"{dataset}-{own_id}", "dataset": dataset}


def _documents_by_question(path: Path, max_bytes: int, report: BuildReport) -> dict[str, list[Any]]:
    if not path.is_file():
        raise QuestionsError(f"{path}: there is no such file. {NOTHING} Name a file of documents.")
    by_question: dict[str, list[Any]] = {}
    for where, record in _lines(path, max_bytes, report):
        question_id = record.get("question_id") if isinstance(record, Mapping) else None
        if question_id is None:
            report.add("document without question", f"{where}: 'question_id' is missing. The line was left out.")
            continue
        listed = record.get("documents")
        by_question.setdefault(str(question_id), []).extend(listed if isinstance(listed, list) else [record])
    return by_question


def _with_documents(record: Any, more: Mapping[str, list[Any]]) -> Any:
    if not isinstance(record, Mapping) or not more:
        return record
    own = record.get("documents")
    added = more.get(str(record.get("question_id")), [])
    return {**record, "documents": [*(own if isinstance(own, list) else []), *added]}


Section = tuple[str, str]
"""Handbook id and section id."""
MAX_CHARACTERS = 2_500
"""A longer section is cut after a statement: a context holds up to 20 documents."""


@dataclass
class _Release:
    """A release's answers and references for its questions; of duplicate records the first is used."""

    layout: Layout
    max_bytes: int
    report: BuildReport
    questions: dict[str, str] = field(default_factory=dict)
    sections: dict[Section, str] = field(default_factory=dict)
    places: dict[str, list[Section]] = field(default_factory=dict)
    gold: dict[str, list[str]] = field(default_factory=dict)
    references: dict[str, str] = field(default_factory=dict)

    def records(self, kind: RecordKind) -> Iterator[Record]:
        """The records of a table that can be read; the others are counted."""

        def reject() -> None:
            self.report.add(
                f"unreadable record ({kind.name})", f"{self.layout.root.name}: `audit check` names it. It was left out."
            )

        return valid_records(self.layout, kind, self.max_bytes, reject)

    def read(self) -> None:
        """Read all tables but the answers."""
        for record in self.records(QUESTION):
            self.questions.setdefault(record["question_id"], record["question"])
        for record in self.records(SECTION):
            key = record["handbook_id"], record["section_id"]
            if key not in self.sections:
                self.places.setdefault(key[1], []).append(key)
                self.sections[key] = record["text"]
        for record in self.records(REFERENCE_RECORD):
            self.gold.setdefault(record["question_id"], record["gold_sections"])
            if record["answers"]:
                self.references.setdefault(record["question_id"], record["answers"][0])


def questions_of_release(folder: Path, max_bytes: int, report: BuildReport) -> list[StressQuestion]:
    """One open question for each answer of a handbook whose sections are known, and for each reference answer with gold sections.

    The handbook's answer is the gold. Its signal are the gold sections in that handbook, or else the sections that it cites.

    Raises ReleaseError where `folder` is not a release, has no texts of sections, or no question can be used.
    """
    release = _Release(release_layout(folder), max_bytes, report)
    release.read()
    if not release.sections:
        raise ReleaseError(
            f"{folder} has no texts of sections (sections.jsonl). Nothing was written. "
            "Stress tests need the passages of the handbooks."
        )
    dataset = _run_id(release.layout) or folder.name
    questions = [*_from_answers(release, dataset), *_from_references(release, dataset)]
    if not questions:
        reasons = "; ".join(report.summary_lines()) or "it has no answers and no reference answers"
        raise ReleaseError(f"{folder}: no question can be used ({reasons}). Nothing was written.")
    return questions


def _run_id(layout: Layout) -> str | None:
    for path in layout.parts["manifest"]:
        try:
            name = json.loads(path.read_text("utf-8-sig")).get("run_id")
        except (OSError, ValueError, AttributeError):
            # `audit check` explains what is wrong with it; a name is not worth stopping for
            continue
        if isinstance(name, str):
            return name
    return None


def _from_answers(release: _Release, dataset: str) -> Iterator[StressQuestion]:
    seen: set[str] = set()
    for record in release.records(ANSWER):
        question_id, handbook = record["question_id"], record["handbook_id"]
        own_id = f"{question_id}/{handbook}"
        # An answer that is absent or was not read has nothing to ask about, which is no fault
        if own_id in seen or record["absent"] is not False or not record["answer"] or question_id not in release.questions:
            continue
        seen.add(own_id)
        cited = _gold_in(release, question_id, handbook) or _cited(record, handbook)
        documents = tuple(_signal_documents(release, cited, own_id))
        if not documents:
            release.report.add("answer without sections", f"'{own_id}' cites no section that the release has. It was left out.")
            continue
        text = without_citations(record["answer"]).strip()
        yield StressQuestion(own_id, release.questions[question_id], text, {}, documents, dataset, question_id)


def _from_references(release: _Release, dataset: str) -> Iterator[StressQuestion]:
    """Reference answers, where the release has no answers of handbooks: one handbook's gold is not another's."""
    if release.layout.parts["answer"]:
        return
    for question_id, gold in release.references.items():
        cited = [key for name in release.gold[question_id] for key in _gold_sections_named(release, name)]
        documents = tuple(_signal_documents(release, cited, question_id))
        if documents and question_id in release.questions:
            yield StressQuestion(question_id, release.questions[question_id], gold, {}, documents, dataset)
        else:
            release.report.add("reference without gold sections", f"'{question_id}' has no section as signal. It was left out.")


def _gold_in(release: _Release, question_id: str, handbook: str) -> list[Section]:
    places = [key for name in release.gold.get(question_id, ()) for key in _gold_sections_named(release, name)]
    return [key for key in places if key[0] == handbook]


def _gold_sections_named(release: _Release, name: str) -> list[Section]:
    """The sections that a gold id means: `handbook/section`, or a section id that one handbook or several have."""
    handbook, _, section_id = name.partition("/")
    if (handbook, section_id) in release.sections:
        return [(handbook, section_id)]
    return release.places.get(name, [])


def _cited(record: Mapping[str, Any], handbook: str) -> list[Section]:
    """The sections that an answer cites; sections it was merely given need not answer the question."""
    listed = json.loads(record["retrieval"] or "{}").get("citations")
    citations = [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
    return [(handbook, str(one["section_id"])) for one in citations if one.get("section_id") and one.get("known") is not False]


def _signal_documents(release: _Release, places: list[Section], own_id: str) -> Iterator[SignalDocument]:
    texts: set[str] = set()
    for key in dict.fromkeys(places):
        text = _beginning(release.sections.get(key, ""))
        if not text:
            release.report.add("section without text", f"'{own_id}': section '{'/'.join(key)}' has no text. It was dropped.")
        elif same_text(text) in texts:
            release.report.add("duplicate document", f"'{own_id}': section '{'/'.join(key)}' repeats another. It was dropped.")
        else:
            texts.add(same_text(text))
            yield SignalDocument("/".join(key), text)


def _beginning(text: str) -> str:
    """The text up to the last statement that ends within the limit."""
    if len(text) <= MAX_CHARACTERS:
        return text.strip()
    ends = [statement.end for statement in statements(text[:MAX_CHARACTERS])]
    # The last statement of a cut text may be cut itself
    return text[: ends[-2] if len(ends) > 1 else MAX_CHARACTERS].strip()
