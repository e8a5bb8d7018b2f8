"""The sources of systems that ask several: groups of a run's handbooks, checked against each other."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from audit.errors import ConfigError, RetrievalError
from audit.pipeline.retrieval.across.sources import Source, declared_sources, sources_by
from audit.pipeline.stages.context import Record, RunContext
from audit.pipeline.stages.system_options import DECLARED, SystemOptions
from audit.text.documents import Document, read_document

Files = tuple[tuple[Path, str | None], ...]
"""Files of documents with the digest of each, so a file that changes is read again."""


@lru_cache(maxsize=2)
def read_files(files: Files) -> tuple[Document, ...]:
    """Their documents, in this order."""
    return tuple(read_document(path) for path, _ in files)


def documents_of(context: RunContext) -> tuple[Document, ...]:
    """The texts of the handbooks that were not left out, by id."""
    return read_files(tuple((source.document, context.cache.digest(source.document)) for source in context.present))


def sources_of(options: SystemOptions, documents: Sequence[Document]) -> tuple[Source, ...]:
    """The sources of a system. Raises ConfigError where groups, authorities or required sources name what does not exist."""
    try:
        if options.group_by == DECLARED:
            sources = declared_sources(documents, options.groups, options.authority)
        else:
            sources = sources_by(documents, options.group_by, options.authority)
    except RetrievalError as error:
        raise ConfigError(f"[[systems]] {options.id}: {error}") from None
    known = [source.source_id for source in sources]
    if unknown := [name for name in options.required if name not in known]:
        raise ConfigError(
            f"[[systems]] {options.id}: required names '{unknown[0]}', which is not a source; sources: {', '.join(known)}. "
            "Nothing was searched."
        )
    return sources


def source_records(context: RunContext) -> list[Record]:
    """The records of sources.jsonl: the sources of all systems. Raises ConfigError where two give one name to two things."""
    documents, records = documents_of(context), dict[str, tuple[str, Record]]()
    for options in context.config.systems:
        for source in sources_of(options, documents) if options.asks_sources else ():
            record = {
                "source_id": source.source_id,
                "handbook_ids": list(source.handbook_ids),
                "authority": source.authority,
            }
            first, known = records.setdefault(source.source_id, (options.id, record))
            if known != record:
                raise ConfigError(
                    f"[[systems]] {options.id}: its source '{source.source_id}' has other handbooks or another authority than "
                    f"that of '{first}', and a release has one of each name. Nothing was written. Rename one of them in groups."
                )
    return [record for _, record in records.values()]
