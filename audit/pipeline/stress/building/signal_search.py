"""Signal documents from a library, or from pages that a web search brought: the best passages on each topic of a question.

Source of the design: MedRGB (arXiv:2411.09213), which takes the top three passages on each topic. Where that gives fewer than are
asked for, the next best of each topic follow in turn.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from audit.errors import AuditError, DocumentError
from audit.pipeline.embedding.encoders import Encoder
from audit.pipeline.retrieval.across.library import BM25, DENSE, ChunkHit, Library, build_library
from audit.pipeline.retrieval.across.sources import Source
from audit.pipeline.retrieval.hybrid_settings import HybridSettings
from audit.pipeline.retrieval.settings import SENTENCES, RetrievalSettings
from audit.pipeline.stress.building.questions import BuildReport, SignalDocument, StressQuestion, same_text
from audit.pipeline.stress.building.topics import Topic
from audit.release.records import RecordFile, UnreadableRecord
from audit.text.documents import DEFAULT_PHASE, DOCUMENT_SUFFIXES, Document, Section, read_documents
from audit.vocabulary import GENERAL

MEDCPT = "medcpt"
RETRIEVERS = (BM25, DENSE, MEDCPT)
PASSAGE_SUFFIXES = (".jsonl", ".jsonl.gz")
LEAST, MOST, PER_TOPIC = 5, 20, 3
"""The signal documents of a question at least and at most, and passages on each topic."""
OFFLINE, ONLINE = "offline", "online"
ID_NAMES, TEXT_NAMES = ("document_id", "id", "_id", "url"), ("text", "content", "contents")
LIBRARY = "library"
WHOLE_SENTENCES = RetrievalSettings(chunking=SENTENCES, hybrid=HybridSettings(overlap_tokens=0))
"""How documents are cut: half a sentence is no fact, and of two passages that share one, an error in one is told by the other."""


class SearchSettings(NamedTuple):
    """How passages are found: the retriever, passages on each topic, and signal documents of a question."""

    retriever: str = BM25
    per_topic: int = PER_TOPIC
    signal: int = MOST


@dataclass(frozen=True)
class SignalSearch:
    """Finds the signal documents of questions.

    library   with the source LIBRARY, or for the web one source for each question, by its id
    retrieval OFFLINE or ONLINE
    """

    library: Library
    settings: SearchSettings
    retrieval: str = OFFLINE

    def with_signal(self, question: StressQuestion, topics: Sequence[Topic]) -> StressQuestion:
        """The question with the documents that its topics find, in place of its own."""
        source = self.library.source_by_id.get(LIBRARY if self.retrieval == OFFLINE else question.question_id)
        documents = tuple(self._documents(source, topics)) if source else ()
        return replace(question, documents=documents, retrieval=self.retrieval)

    def _documents(self, source: Source, topics: Sequence[Topic]) -> Iterator[SignalDocument]:
        own = replace(self.library, sources=(source,))
        retriever, per_topic, most = self.settings
        retriever = DENSE if retriever == MEDCPT else retriever
        depth = max(per_topic, most)
        found = [own.search(topic.query, retriever, depth)[source.source_id] for topic in topics]
        texts: dict[str, SignalDocument] = {}
        for hit in _in_turn(found, per_topic):
            text = self._text(hit)
            texts.setdefault(same_text(text), SignalDocument(_name(hit), text))
            if len(texts) == most:
                break
        yield from texts.values()

    def _text(self, hit: ChunkHit) -> str:
        return self.library.indexes[hit.chunk_id.handbook_id].text(hit.row).strip()


def _name(hit: ChunkHit) -> str:
    return f"{hit.chunk_id.handbook_id}/{hit.chunk_id.section_id}@{hit.chunk_id.start}"


def _in_turn(found: Sequence[Sequence[ChunkHit]], per_topic: int) -> Iterator[ChunkHit]:
    """The best `per_topic` of each topic, topic by topic, then the next of each in turn."""
    yield from itertools.chain.from_iterable(hits[:per_topic] for hits in found)
    rest = itertools.zip_longest(*(hits[per_topic:] for hits in found))
    yield from (hit for hits in rest for hit in hits if hit is not None)


# -- the user's own library --------------------------------------------------------------------------------------------


def read_library(path: Path, max_bytes: int, report: BuildReport) -> list[Document]:
    """The documents of a library: those that `audit extract` wrote, and files of passages (JSONL), each of them one document.

    Raises DocumentError, in one sentence, where it has no text.
    """
    if not path.exists():
        raise DocumentError(f"{path}: there is no such file or folder. Nothing was written. Name a library with --library.")
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    passages = [file for file in files if file.name.endswith(PASSAGE_SUFFIXES)]
    documents = read_documents(path) if any(file.name.endswith(DOCUMENT_SUFFIXES) for file in files) else []
    documents += [_document(_stem(file), _passages(file, max_bytes, report)) for file in passages]
    documents = [one for one in documents if any(section.text.strip() for section in one.sections)]
    if not documents:
        raise DocumentError(
            f"{path} has no document with text. Nothing was written. A library is a folder of documents as `audit extract` "
            "writes them, or JSONL files with an id and a text on each line."
        )
    return documents


def _stem(path: Path) -> str:
    return path.name.removesuffix(".gz").removesuffix(".jsonl").lstrip(".") or LIBRARY


def _document(name: str, sections: Iterable[Section]) -> Document:
    distinct = {section.section_id: section for section in sections}
    return Document(name, GENERAL, name, DEFAULT_PHASE, tuple(distinct.values()))


def _passages(path: Path, max_bytes: int, report: BuildReport) -> Iterator[Section]:
    for where, record in _records(path, max_bytes, report):
        yield Section(_first(record, ID_NAMES) or where, str(record.get("title") or ""), _first(record, TEXT_NAMES))


def _records(path: Path, max_bytes: int, report: BuildReport) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each record with a text, and its position; the others are counted."""
    for position, record in RecordFile(path, max_bytes).rows():
        if isinstance(record, UnreadableRecord):
            report.add("unreadable line", f"{path.name}, {position}: {record.message} The line was left out.")
        elif not isinstance(record, Mapping) or not _first(record, TEXT_NAMES).strip():
            report.add("passage without text", f"{path.name}, {position}: none of {', '.join(TEXT_NAMES)} has a text.")
        else:
            yield position, record


def _first(record: Mapping[str, Any], names: Iterable[str]) -> str:
    return next((str(record[name]) for name in names if isinstance(record.get(name), str | int)), "")


def library_search(
    documents: Sequence[Document], settings: SearchSettings, encoders: tuple[Encoder, Encoder] | None, folder: Path
) -> SignalSearch:
    """The search of a library. `encoders`: of questions and of passages, which are the same but for MedCPT; None: by words."""
    source = Source(LIBRARY, tuple(document.handbook_id for document in documents))
    return SignalSearch(_library(documents, [source], encoders, folder), settings)


def _library(
    documents: Sequence[Document], sources: Sequence[Source], encoders: tuple[Encoder, Encoder] | None, folder: Path | None
) -> Library:
    library = build_library(documents, sources, WHOLE_SENTENCES, encoders[1] if encoders else None, folder)
    if not encoders:
        return library
    # The passages are read already: what is left to read are questions
    return replace(library, indexes={name: replace(index, encoder=encoders[0]) for name, index in library.indexes.items()})


# -- an export of a web search -----------------------------------------------------------------------------------------


def web_search(
    path: Path, max_bytes: int, settings: SearchSettings, encoders: tuple[Encoder, Encoder] | None, report: BuildReport
) -> SignalSearch:
    """The search of each question's own web pages: JSONL with question_id, url, title and text, in the order of the search.

    Raises DocumentError where no page has a question and a text.
    """
    if not path.is_file():
        raise DocumentError(f"{path}: there is no such file. Nothing was written. Name an export of a web search with --web.")
    pages: dict[str, list[Section]] = {}
    for where, record in _records(path, max_bytes, report):
        if question_id := _first(record, ("question_id",)):
            name = _first(record, ("url", *ID_NAMES)) or where
            pages.setdefault(question_id, []).append(Section(name, str(record.get("title") or ""), _first(record, TEXT_NAMES)))
        else:
            report.add("page without question", f"{path.name}, {where}: 'question_id' is missing. The page was left out.")
    if not pages:
        raise DocumentError(f"{path} has no page with a question_id and a text. Nothing was written. Export the pages again.")
    numbered = {question_id: f"web-{number}" for number, question_id in enumerate(pages, start=1)}
    documents = [_document(numbered[question_id], sections) for question_id, sections in pages.items()]
    sources = [Source(question_id, (name,)) for question_id, name in numbered.items()]
    return SignalSearch(_library(documents, sources, encoders, None), settings, ONLINE)


def no_document_sentence(path: Path) -> str:
    """What to do about questions of which none has a document."""
    return (
        f"No question of {path} has a document, so only contexts without signal were built. Name a library to search with "
        "--library, an export of a web search with --web, or documents with --documents."
    )


def require_one_way(documents: object, library: object, web: object) -> None:
    """Raises AuditError where signal documents would come from two places."""
    named = [name for name, value in (("--documents", documents), ("--library", library), ("--web", web)) if value]
    if len(named) > 1:
        raise AuditError(f"{' and '.join(named)} both say what the signal is. Nothing was written. Name one of them.")
