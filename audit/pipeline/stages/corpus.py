"""The texts that a run starts from: PDF files into documents, and any file of questions into the questions of the run."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from audit.atomic_io import write_atomic
from audit.corpus.documents import write_document
from audit.corpus.extraction.engines import engine_named
from audit.corpus.extraction.run import extract
from audit.corpus.questions.checks import make_screen, read_tag_taxonomy
from audit.corpus.questions.importing import import_questions
from audit.corpus.questions.near_duplicates import decisions_path
from audit.embedding.encoders import encoder_factory
from audit.pipeline.build_cache import Task, code_digest
from audit.pipeline.context import Figures, SourceDocument, TaskByTask

EXTRACTION_CODE = ("corpus/extraction", "corpus/documents.py")
QUESTIONS_CODE = ("corpus/questions", "embedding")


@dataclass
class ExtractStage(TaskByTask):
    """A task is a PDF; handbooks that come as documents need none."""

    name = "extract"

    def tasks(self) -> list[Task]:
        """Each PDF with its handbook, the engine and its version."""
        return [self._task(source) for source in self.context.present if source.identity]

    def _task(self, source: SourceDocument) -> Task:
        assert source.identity is not None
        inputs = {
            "pdf": self.context.cache.digest(source.file), "identity": asdict(source.identity), "file": source.file.name,
            "engine": engine_named(self.context.config.corpus.engine or None).version, "code": code_digest(*EXTRACTION_CODE),
        }  # fmt: skip
        return Task(self.name, source.handbook_id, inputs, (source.document,), source.handbook_id)

    def carry(self, task: Task) -> Figures:
        """Extract one PDF."""
        source = self.context.source(task.handbook)
        assert source.identity is not None
        document = extract(
            source.file, source.identity, self.context.config.corpus.engine or None,
            lambda done, total: self.context.progress(source.file.name, done, total),
        )  # fmt: skip
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
            "file": digest(options.file), "taxonomy": taxonomy, "screen": options.screen, "encoder": options.encoder,
            "code": code_digest(*QUESTIONS_CODE),
        }  # fmt: skip
        return [Task(self.name, options.file.name, inputs, (self.context.workspace.questions, self._decisions))]

    @property
    def _decisions(self) -> Path:
        return self.context.config.questions.decisions or decisions_path(self.context.workspace.questions)

    def carry(self, task: Task) -> Figures:
        """Import the questions and keep the full report next to them."""
        options, out = self.context.config.questions, self.context.workspace.questions
        assert options.file is not None
        report = import_questions(
            options.file, out,
            decisions=self._decisions,
            taxonomy=read_tag_taxonomy(options.taxonomy) if options.taxonomy else None,
            screen=make_screen() if options.screen else None,
            encoder_of=encoder_factory(options.encoder, self.context.settings.data_dir / "vectors"),
            max_bytes=self.context.settings.max_object_bytes, progress=self.context.progress,
        )  # fmt: skip
        path = out.with_name("questions.report.json")
        write_atomic(path, json.dumps(report.as_dict(), indent=1, ensure_ascii=False) + "\n")
        return {
            "questions": len(report.questions),
            "findings": report.quarantined,
            "message": f"{report.verdict()} {'' if report.clean else f'See {path}.'}".strip(),
        }
