"""Which handbooks a config names, and whose they are; what cannot be told apart or read is left out, with the reason."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from audit.corpus.documents import DOCUMENT_SUFFIXES, read_document
from audit.corpus.extraction.identity import Identity, IdentityOptions, identity_of, read_catalog
from audit.corpus.extraction.run import pdf_files
from audit.errors import ConfigError, DocumentError
from audit.pipeline.config import Config
from audit.pipeline.shop import Book, Work

Found = tuple[str, Book | str]
"""The name of a file, and the handbook in it, or why there is none."""


def books_of(config: Config, work: Work) -> tuple[list[Book], dict[str, str]]:
    """The handbooks by id, and the files that are none: name -> why. Raises AuditError where there is nothing to read at all."""
    books: dict[str, Book] = {}
    left_out: dict[str, str] = {}
    for name, found in _of_pdfs(config, work) if config.corpus.pdfs else _of_documents(config):
        if isinstance(found, str):
            left_out[name] = found
        elif found.handbook_id in books:
            left_out[name] = f"{name}: its handbook id '{found.handbook_id}' is that of {books[found.handbook_id].source.name}."
        else:
            books[found.handbook_id] = found
    return [books[handbook_id] for handbook_id in sorted(books)], left_out


def _of_pdfs(config: Config, work: Work) -> Iterator[Found]:
    assert config.corpus.pdfs is not None  # the caller has looked
    records = read_catalog(config.corpus.catalog) if config.corpus.catalog else None
    files = pdf_files([config.corpus.pdfs])
    for pdf in files:
        try:
            yield pdf.name, _book(pdf, identity_of(pdf, IdentityOptions(), records), work)
        except DocumentError as error:
            yield pdf.name, str(error)
    for name in set(records or {}) - {pdf.name for pdf in files}:
        yield name, f"{name}: the catalog has a row for it, but there is no such file."


def _book(pdf: Path, whose: Identity, work: Work) -> Book:
    return Book(whose.handbook_id, whose.organ, pdf, work.documents / f"{whose.handbook_id}.json", whose)


def _of_documents(config: Config) -> Iterator[Found]:
    folder = config.corpus.documents
    assert folder is not None
    paths = [folder] if folder.is_file() else sorted(path for path in folder.iterdir() if path.name.endswith(DOCUMENT_SUFFIXES))
    if not paths:
        raise ConfigError(f"{folder}: there are no documents (*.json, *.json.gz) in this folder. Nothing was done.")
    for path in paths:
        try:
            document = read_document(path)
            if not any(section.text.strip() for section in document.sections):
                raise DocumentError(f"{path}: no section has any text, so it would pass for silent on everything.")
            yield path.name, Book(document.handbook_id, document.organ, path, path)
        except DocumentError as error:
            yield path.name, str(error)
