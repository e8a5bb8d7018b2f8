"""Text quality of a run's handbooks: pages without text, unreadable words, other languages, duplicates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from audit.formatting import some_of
from audit.pipeline.answers.unreadable import asked_in, other_language, unseen_text
from audit.pipeline.corpus.duplicates import Sketch, duplicates, sketch_of
from audit.pipeline.corpus.quality import Quality, checks_sentence, quality_of, shared_titles, write_qualities
from audit.pipeline.retrieval.bm25 import stemmer_of
from audit.pipeline.stages.config import PASSAGES
from audit.pipeline.stages.context import RunContext
from audit.text.documents import Document, read_document
from audit.text.language import language_name


@dataclass(frozen=True)
class TextQuality:
    """The quality of each handbook's text, and a sentence on each thing to know about it."""

    qualities: tuple[Quality, ...]
    notes: tuple[str, ...]


def text_quality(context: RunContext) -> TextQuality:
    """The quality of the handbooks that were not left out; the report on those from files is kept next to their documents."""
    qualities: list[Quality] = []
    sketches: list[Sketch] = []
    notes: list[str] = []
    asked = asked_in(str(question["question"]) for question in context.questions())
    for source in context.present:
        # A stage before this one may have stopped the run
        if source.document.is_file():
            document = read_document(source.document)
            qualities.append(quality := quality_of(document))
            notes += _notes(document, quality, context, asked)
            sketches.append(sketch_of(document))
    if context.config.corpus.pdfs and qualities:
        write_qualities(context.workspace.documents, qualities)
    notes += [f"{quality.handbook_id}: {quality.corrected}" for quality in qualities if quality.corrected]
    notes += shared_titles(qualities)
    notes += filter(None, [checks_sentence(qualities)])
    notes += _without_stems(qualities)
    notes += [duplicate.sentence for duplicate in duplicates(sketches)]
    return TextQuality(tuple(qualities), tuple(notes))


def _without_stems(qualities: Sequence[Quality]) -> Iterator[str]:
    for code in sorted({quality.language for quality in qualities if quality.language and not stemmer_of(quality.language)}):
        books = [quality.handbook_id for quality in qualities if quality.language == code]
        yield (
            f"{language_name(code)} ({some_of(books)}): the search does not know how words of this language change their "
            "endings, so it finds a word only in the form in which a question has it."
        )


def _notes(document: Document, quality: Quality, context: RunContext, asked: str | None) -> Iterator[str]:
    for loss in quality.losses:
        yield f"{document.handbook_id}: {loss}"
    if unseen_text(document):
        yield f"{document.handbook_id}: so much is missing that what it does not address counts as unread, not as NOT ADDRESSED."
    reason = other_language(document, asked)
    if reason and context.config.generate.generator == PASSAGES:
        yield f"{document.handbook_id}: {reason}. Its answers count as unread, not as NOT ADDRESSED. A model may read it."
    elif reason:
        languages = reason.partition(":")[0]
        yield f"{document.handbook_id}: {languages}. Make sure that the models read both, and use a multilingual sentence model."
