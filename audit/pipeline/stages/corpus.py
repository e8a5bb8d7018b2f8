"""The texts that a run starts from: files of handbooks into documents, and any file of questions into its questions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from audit.atomic_io import write_atomic
from audit.errors import ConfigError, DocumentError
from audit.pipeline.corpus.extraction.engines import engine_named
from audit.pipeline.corpus.extraction.extract import extract
from audit.pipeline.corpus.extraction.formats import format_of
from audit.pipeline.corpus.extraction.identity import Identity, IdentityOptions, catalog_key, identity_of, read_catalog
from audit.pipeline.corpus.extraction.ocr import Ocr
from audit.pipeline.corpus.extraction.source_files import SUPPORTED, source_files, without_handbook
from audit.pipeline.corpus.questions.checks import make_screen, read_tag_taxonomy
from audit.pipeline.corpus.questions.importing import import_questions
from audit.pipeline.corpus.questions.near_duplicates import decisions_path
from audit.pipeline.embedding.encoders import encoder_factory
from audit.pipeline.stages.build_cache import Task, code_digest
from audit.pipeline.stages.config import Config
from audit.pipeline.stages.context import Figures, SourceDocument, TaskByTask, Workspace
from audit.text.corrections import SUFFIX, corrections_path, read_corrections
from audit.text.documents import document_files, read_document, write_document

# -- the handbooks that a config names ----------------------------------------------------------------------------------

FileResult = tuple[str, SourceDocument | str]
"""The name of a file, and the handbook in it or the reason why there is none."""


def find_sources(config: Config, workspace: Workspace) -> tuple[list[SourceDocument], dict[str, str]]:
    """The handbooks by id, and the files left out: name -> reason; none where the config has no corpus.

    Raises AuditError where there is nothing to read at all.
    """
    if not (config.corpus.pdfs or config.corpus.documents):
        return [], {}
    sources: dict[str, SourceDocument] = {}
    left_out: dict[str, str] = {}
    for name, result in _from_files(config, workspace) if config.corpus.pdfs else _from_documents(config):
        if isinstance(result, str):
            left_out[name] = result
        elif result.handbook_id in sources:
            other = sources[result.handbook_id].file.name
            left_out[name] = f"{name}: its handbook id '{result.handbook_id}' is also that of {other}."
        else:
            sources[result.handbook_id] = result
    return [sources[handbook_id] for handbook_id in sorted(sources)], left_out


def _from_files(config: Config, workspace: Workspace) -> Iterator[FileResult]:
    assert config.corpus.pdfs is not None  # checked by the caller
    catalog = read_catalog(config.corpus.catalog) if config.corpus.catalog else None
    others = {path.resolve() for path in (config.path, config.corpus.catalog, config.questions.file) if path}
    files = source_files([config.corpus.pdfs], frozenset(catalog or ()), others)
    identities: list[Identity] = []
    for file in files.sources:
        try:
            identity = identity_of(file, IdentityOptions(), catalog)
            identities.append(identity)
            document = workspace.documents / f"{identity.handbook_id}.json"
            yield file.name, SourceDocument(identity.handbook_id, identity.organ, file, document, identity)
        except DocumentError as error:
            yield file.name, str(error)
    folder = config.corpus.corrections
    ids = {identity.handbook_id for identity in identities}
    for sentence in without_handbook(sorted(folder.glob(f"*{SUFFIX}")) if folder else files.corrections, ids):
        yield sentence, sentence
    for file in files.unsupported:
        yield file.name, f"{file.name}: it is a link, or its format is not supported. Save it as one of {', '.join(SUPPORTED)}."
    # A misspelled file name in the catalog would otherwise lose a handbook without a word.
    for name in set(catalog or {}) - {catalog_key(file.name) for file in files.sources}:
        yield name, f"{name}: the catalog has a row for it, but the file does not exist."


def _from_documents(config: Config) -> Iterator[FileResult]:
    folder = config.corpus.documents
    assert folder is not None  # a config has either PDFs or documents
    paths = document_files(folder)
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


def corrections_of(source: SourceDocument, config: Config) -> Path:
    """The file of a handbook's corrections, whether it exists or not."""
    return corrections_path(source.file, source.handbook_id, config.corpus.corrections)


# -- the stages ---------------------------------------------------------------------------------------------------------

EXTRACTION_CODE = (
    "pipeline/corpus/extraction",
    "pipeline/corpus/quality.py",
    "text/corrections.py",
    "text/documents.py",
    "text/language.py",
    "text/statements.py",
)
QUESTIONS_CODE = ("people_tables.py", "pipeline/corpus/questions", "pipeline/embedding")


@dataclass
class ExtractStage(TaskByTask):
    """A task is a file, or a folder of pages; handbooks that come as documents need none."""

    name = "extract"

    def tasks(self) -> list[Task]:
        """Each file with its handbook, what reads it, and its version."""
        return [self._task(source) for source in self.context.present if source.identity]

    def _task(self, source: SourceDocument) -> Task:
        assert source.identity is not None
        inputs = {
            "pdf": self.context.cache.digest(source.file),
            "identity": asdict(source.identity),
            "file": source.file.name,
            "engine": self._reader(source),
            "corrections": self.context.cache.digest(corrections_of(source, self.context.config)) or "",
            "code": code_digest(*EXTRACTION_CODE),
        }
        return Task(self.name, source.handbook_id, inputs, (source.document,), source.handbook_id)

    def _reader(self, source: SourceDocument) -> str:
        file_format, ocr = format_of(source.file), self._ocr()
        if file_format:
            return file_format.version
        engine = engine_named(self.context.config.corpus.engine or None)
        return f"{engine.version}, {ocr.name}" if ocr else engine.version

    def _ocr(self) -> Ocr | None:
        options = self.context.config.corpus
        return Ocr(self.context.settings.data_dir / "ocr", options.ocr_language) if options.ocr else None

    def run_task(self, task: Task) -> Figures:
        """Extract one handbook."""
        source = self.context.source(task.handbook)
        assert source.identity is not None
        document = extract(
            source.file,
            source.identity,
            self.context.config.corpus.engine or None,
            lambda done, total: self.context.progress(source.file.name, done, total),
            self._ocr(),
            read_corrections(corrections_of(source, self.context.config)),
        )
        source.document.parent.mkdir(parents=True, exist_ok=True)
        write_document(document, source.document)
        return {"pages": document.pages or 0, "sections": len(document.sections)}


@dataclass
class QuestionsStage(TaskByTask):
    """One task: all questions, imported as by `audit questions`."""

    name = "questions"

    def tasks(self) -> list[Task]:
        """The file, its taxonomy and how near-duplicates are found. The table of decisions is an output that people fill in."""
        options, digest = self.context.config.questions, self.context.cache.digest
        assert options.file is not None  # the config reader refuses a config without it
        # An empty taxonomy must not become Path(""), which is the current folder.
        taxonomy = options.taxonomy and (digest(Path(options.taxonomy)) or options.taxonomy)
        inputs = {
            "file": digest(options.file),
            "taxonomy": taxonomy,
            "screen": options.screen,
            "encoder": options.encoder,
            "code": code_digest(*QUESTIONS_CODE),
        }
        return [Task(self.name, options.file.name, inputs, (self.context.workspace.questions, self._decisions))]

    @property
    def _decisions(self) -> Path:
        return self.context.config.questions.decisions or decisions_path(self.context.workspace.questions)

    def run_task(self, task: Task) -> Figures:
        """Import the questions and keep the full report next to them."""
        options, out = self.context.config.questions, self.context.workspace.questions
        assert options.file is not None
        report = import_questions(
            options.file,
            out,
            decisions=self._decisions,
            taxonomy=read_tag_taxonomy(options.taxonomy) if options.taxonomy else None,
            screen=make_screen() if options.screen else None,
            encoder_of=encoder_factory(options.encoder, self.context.settings.data_dir / "vectors"),
            max_bytes=self.context.settings.max_object_bytes,
            progress=self.context.progress,
        )
        path = out.with_name("questions.report.json")
        write_atomic(path, json.dumps(report.as_dict(), indent=1, ensure_ascii=False) + "\n")
        return {
            "questions": len(report.questions),
            "findings": report.quarantined,
            "message": f"{report.verdict()} {'' if report.clean else f'See {path}.'}".strip(),
        }
