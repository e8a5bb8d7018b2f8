"""Answers a question from the handbooks of a run: of each its closest passages, and how surely they answer.

Where a sentence model is installed, it chooses the passages, and words have to agree: what only one of the two calls *stated* or
*not found* is *perhaps*.

Texts come from the run. Vectors of a sentence model come from a folder that is addressed by content; computing them takes long,
so another process does it, and words are compared until it is done.
"""

from __future__ import annotations

import string
import time
from collections.abc import Iterable
from math import inf
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock, Timeout

from audit.errors import AuditError
from audit.jobs.asking import (
    BY_WORDS,
    NOTHING,
    PREPARING,
    STATES,
    Asked,
    AskedHandbook,
    AskedPassage,
    AskScope,
    Step,
    clean_question,
    no_step,
)
from audit.pipeline.answers.unreadable import asked_in, other_language, unseen_text
from audit.pipeline.asking.questions import RunQuestions
from audit.pipeline.asking.stored_passages import passages_of
from audit.pipeline.embedding.encoders import Encoder, default_model, sentence_encoder
from audit.pipeline.retrieval import found as closeness
from audit.pipeline.retrieval.bm25 import tokens
from audit.pipeline.retrieval.closest import ClosePassage, ClosestPassages
from audit.queries.run_texts import run_documents
from audit.store.connection import open_store
from audit.text.documents import Document
from audit.vocabulary import Found, concerns

PASSAGES = 3
"""Of each handbook."""
SIGNS = string.punctuation + "¿¡“”«»…"
MANY_STRANGE = 1 / 3
"""From this share of words that no handbook of the run has, none is *not found*: it may say it in other words. On half `tune` of
benchmarks/gold this leaves, by words, 1 of 5 false ones and 17 of 23 true ones. What is close to the other words is *perhaps*."""
NOTHING_TO_FIND = closeness.Thresholds(inf, inf)
"""For a question without a word that says what it is about."""
STRANGE = "no text of this run has {words}: it may use other words, or the question may be in another language"


def model_encoder() -> Encoder | None:
    """The sentence model that is installed; None where there is none."""
    model = default_model()
    return sentence_encoder(model) if model else None


class Strange(NamedTuple):
    """The words of a question that no handbook of the run has.

    share   of its words, in [0, 1]
    known   its other words
    reason  why nothing follows from them
    """

    share: float
    known: str
    reason: str


class RunHandbooks:
    """Handbooks that are ready for questions. Raises AuditError where none of them has a text.

    encoder, folder  the sentence model and the folder of its vectors; it is used once all handbooks have vectors there
    """

    def __init__(
        self, documents: Iterable[Document], encoder: Encoder | None = None, folder: Path | None = None, step: Step = no_step
    ) -> None:
        documents = tuple(documents)
        if not any(section.text.strip() for document in documents for section in document.sections):
            raise AuditError(
                f"This run has no texts of its handbooks, so they cannot be asked. {NOTHING} "
                "A run that `audit run` made has them; a release may bring them as sections.jsonl."
            )
        self.encoder, self.folder = encoder, folder
        self.books: list[ClosestPassages] = []
        for number, document in enumerate(documents):
            step(PREPARING, number, len(documents))
            self.books.append(passages_of(document, folder))
        self.by_model: dict[str, ClosestPassages] = {}
        self._use_vectors(step)

    @classmethod
    def of_store(cls, path: Path, encoder: Encoder | None, folder: Path | None, step: Step = no_step) -> RunHandbooks:
        """The handbooks of the run in a store file. Raises AuditError where the run has no texts."""
        with open_store(path) as con:
            return cls(run_documents(con), encoder, folder, step)

    @property
    def encoded(self) -> int:
        """The number of handbooks that the sentence model has read; all of them where there is no such model."""
        if self.encoder is None or self.folder is None or self.by_model:
            return len(self.books)
        return sum(book.vectors_file(self.encoder, self.folder).is_file() for book in self.books)

    def encode(self) -> None:
        """Let the sentence model read every handbook that it has not read."""
        if self.encoder and self.folder:
            for book in self.books:
                book.with_encoder(self.encoder, self.folder)

    def _use_vectors(self, step: Step) -> None:
        if self.encoder and self.folder and not self.by_model and self.encoded == len(self.books):
            by_model = {}
            for number, book in enumerate(self.books):
                step(PREPARING, number, len(self.books))
                by_model[book.document.handbook_id] = book.with_encoder(self.encoder, self.folder)
            self.by_model = by_model

    def ask(self, text: str, scope: AskScope | None = None, step: Step = no_step) -> Asked:
        """The closest passages of the handbooks in the scope.

        Raises AuditError for a question that cannot be asked, and for a scope without handbooks.
        """
        began, question, scope = time.perf_counter(), clean_question(text), scope or AskScope()
        self._use_vectors(step)
        language, strange = self._language_of(question), self._strange_words(question)
        books = self._in_scope(scope)
        handbooks = [self._asked(book, question, len(books), language, strange) for book in books]
        handbooks.sort(key=lambda one: (STATES.index(one.found), -one.score))
        compared = self.encoder.name if self.encoder and self.by_model else BY_WORDS
        unread = None if self.by_model or self.encoder is None else (self.encoded, len(self.books))
        is_measured = all(closeness.in_measured_language(book.document) for book in books)
        errors = closeness.generator_errors(closeness.BOTH if self.by_model else closeness.WORDS) if is_measured else None
        return Asked(question, scope, tuple(handbooks), compared, unread, errors, time.perf_counter() - began)

    def _language_of(self, question: str) -> str | None:
        """The language in which a handbook has every word of the question; else what the words look like."""
        has_all = {
            book.document.language
            for book in self.books
            if (words := book.tokens(question)) and all(map(book.word_counts.document_frequency, words))
        }
        # The program that looks at the letters takes a second to start
        return has_all.pop() if len(has_all) == 1 else asked_in([question])

    def _strange_words(self, question: str) -> Strange:
        meant = dict.fromkeys(word.strip(SIGNS) for word in question.split() if tokens(word))
        known = [
            word for word in meant if any(any(map(book.word_counts.document_frequency, book.tokens(word))) for book in self.books)
        ]
        strange = " or ".join(f"“{word}”" for word in meant if word not in known)
        share = 1 - len(known) / len(meant) if meant else 0.0
        return Strange(share, " ".join(known), STRANGE.format(words=strange))

    def _in_scope(self, scope: AskScope) -> list[ClosestPassages]:
        centers = sorted({book.document.center for book in self.books})
        if unknown := sorted(set(scope.sources) - set(centers)):
            raise AuditError(f"There is no source '{unknown[0]}'. {NOTHING} Sources: {', '.join(centers)}.")
        asked = [
            book
            for book in self.books
            if (scope.organ is None or concerns(scope.organ, book.document.organ))
            and (not scope.sources or book.document.center in scope.sources)
        ]
        if not asked:
            raise AuditError(f"No handbook is in this scope. {NOTHING} Choose more organs or more sources.")
        return asked

    def _asked(self, book: ClosestPassages, question: str, among: int, language: str | None, strange: Strange) -> AskedHandbook:
        document, closest = book.document, book.closest(question, PASSAGES)
        limits = (closeness.thresholds(closeness.WORDS).among(among) if tokens(question) else NOTHING_TO_FIND).of(document)
        found = limits.found(closest[0].score if closest else None)
        unread = other_language(document, language)
        if unread is None and found is Found.NOT_FOUND and MANY_STRANGE <= strange.share < 1:
            # What is close to the other words may answer. It stays behind what is close to all of them, so its score is kept
            known = book.closest(strange.known, 1)
            found = Found.PERHAPS if known and limits.found(known[0].score) is not Found.NOT_FOUND else found
        if closest and self.by_model:
            by_words, closest = closest[0].place, self.by_model[document.handbook_id].closest(question, PASSAGES)
            by_model = closeness.thresholds(closeness.MINILM).among(among).of(document).found(closest[0].score)
            found = closeness.agreed(found, by_model, closest[0].place == by_words)
        # Of words alone that nothing has, closeness means nothing
        if unread is None and (
            (strange.share == 1 and not self.by_model) or (found is Found.NOT_FOUND and strange.share >= MANY_STRANGE)
        ):
            unread = strange.reason
        if found is Found.NOT_FOUND:
            unread = unread or unseen_text(document)
        return AskedHandbook(
            document.handbook_id, document.organ, document.center, document.phase, None if unread else found,
            tuple(map(_passage, closest)), unread,
        )  # fmt: skip


def _passage(close: ClosePassage) -> AskedPassage:
    section, place, (start, end) = close.section, close.place, close.statement
    return AskedPassage(
        section.section_id, section.name, close.page, place.start, place.end, place.leads, close.text,
        (start - place.start, end - place.start), close.score,
    )  # fmt: skip


def prepare_run(store: Path, folder: Path) -> bool:
    """Store what questions to a run need, with the vectors of a sentence model where one is installed.

    False, and nothing is done, where another process is at it.
    """
    encoder = model_encoder()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / f"{store.stem}.lock", timeout=0), open_store(store) as con:
            RunQuestions(store, encoder, folder).prepare()
            for document in run_documents(con):
                # One by one, so finished vectors are kept if the process is killed
                book = passages_of(document, folder)
                if encoder:
                    book.with_encoder(encoder, folder)
    except Timeout:
        return False
    return True
