"""The handbooks that a config names, and whose they are; unreadable or ambiguous files are left out, with the reason."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from audit.corpus.documents import DOCUMENT_SUFFIXES, read_document
from audit.corpus.extraction.identity import Identity, IdentityOptions, identity_of, read_catalog
from audit.corpus.extraction.run import pdf_files
from audit.errors import ConfigError, DocumentError
from audit.pipeline.config import Config
from audit.pipeline.context import SourceDocument, Workspace

FileResult = tuple[str, SourceDocument | str]
"""The name of a file, and the handbook in it or the reason why there is none."""


def find_sources(config: Config, workspace: Workspace) -> tuple[list[SourceDocument], dict[str, str]]:
    """The handbooks by id, and the files left out: name -> reason. Raises AuditError where there is nothing to read at all."""
    sources: dict[str, SourceDocument] = {}
    left_out: dict[str, str] = {}
    for name, result in _from_pdfs(config, workspace) if config.corpus.pdfs else _from_documents(config):
        if isinstance(result, str):
            left_out[name] = result
        elif result.handbook_id in sources:
            other = sources[result.handbook_id].file.name
            left_out[name] = f"{name}: its handbook id '{result.handbook_id}' is also that of {other}."
        else:
            sources[result.handbook_id] = result
    return [sources[handbook_id] for handbook_id in sorted(sources)], left_out


def _from_pdfs(config: Config, workspace: Workspace) -> Iterator[FileResult]:
    assert config.corpus.pdfs is not None  # checked by the caller
    catalog = read_catalog(config.corpus.catalog) if config.corpus.catalog else None
    files = pdf_files([config.corpus.pdfs])
    for pdf in files:
        try:
            yield pdf.name, _pdf_source(pdf, identity_of(pdf, IdentityOptions(), catalog), workspace)
        except DocumentError as error:
            yield pdf.name, str(error)
    for name in set(catalog or {}) - {pdf.name for pdf in files}:
        yield name, f"{name}: the catalog has a row for it, but the file does not exist."


def _pdf_source(pdf: Path, identity: Identity, workspace: Workspace) -> SourceDocument:
    document = workspace.documents / f"{identity.handbook_id}.json"
    return SourceDocument(identity.handbook_id, identity.organ, pdf, document, identity)


def _from_documents(config: Config) -> Iterator[FileResult]:
    folder = config.corpus.documents
    assert folder is not None  # a config has either PDFs or documents
    paths = [folder] if folder.is_file() else sorted(path for path in folder.iterdir() if path.name.endswith(DOCUMENT_SUFFIXES))
    if not paths:
        raise ConfigError(f"{folder}: this folder has no documents (*.json, *.json.gz). Nothing was done.")
    for path in paths:
        try:
            document = read_document(path)
            if not any(section.text.strip() for section in document.sections):
                raise DocumentError(f"{path}: no section has any text, so the handbook would seem not to address anything.")
            yield path.name, SourceDocument(document.handbook_id, document.organ, path, path)
        except DocumentError as error:
            yield path.name, str(error)
