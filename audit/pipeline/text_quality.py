"""What the handbooks of a run lack as texts: pages without text, words that cannot be read, one content under two names."""

from __future__ import annotations

from dataclasses import dataclass

from audit.corpus.documents import read_document
from audit.corpus.duplicates import Sketch, duplicates, sketch_of
from audit.corpus.quality import Quality, quality_of, write_qualities
from audit.pipeline.context import RunContext


@dataclass(frozen=True)
class TextQuality:
    """The quality of each handbook's text, and a sentence on each thing that was lost or is there twice."""

    qualities: tuple[Quality, ...]
    notes: tuple[str, ...]


def text_quality(context: RunContext) -> TextQuality:
    """The quality of the handbooks that were not left out; the report on those from files is kept beside their documents."""
    qualities: list[Quality] = []
    sketches: list[Sketch] = []
    for source in context.present:
        # A stage before this one may have stopped the run
        if source.document.is_file():
            document = read_document(source.document)
            qualities.append(quality_of(document))
            sketches.append(sketch_of(document))
    if context.config.corpus.pdfs and qualities:
        write_qualities(context.workspace.documents, qualities)
    losses = [f"{quality.handbook_id}: {loss}" for quality in qualities for loss in quality.losses]
    return TextQuality(tuple(qualities), (*losses, *(duplicate.sentence for duplicate in duplicates(sketches))))
