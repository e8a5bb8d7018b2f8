"""Compares each handbook with itself by the judge's model: disagreements and counts, written into the release."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from audit.pipeline.answers.evidence import meets
from audit.pipeline.embedding.encoders import cached_encoder, sentence_encoder
from audit.pipeline.judging.within.findings import Record, Verdicts, count_record, finding_records
from audit.pipeline.judging.within.pairs import Candidates, find_candidates
from audit.pipeline.retrieval.closest import ClosestPassages
from audit.pipeline.retrieval.model import Query
from audit.pipeline.stages.build_cache import Task, code_digest, digest_of, write_lines
from audit.pipeline.stages.config import MODEL
from audit.pipeline.stages.context import Figures, RunContext, TaskByTask
from audit.release.taxonomy import LEXICAL
from audit.settings import Settings
from audit.text.documents import Document, read_document

CODE = (
    "pipeline/embedding",
    "pipeline/judging",
    "pipeline/llm/reply_models.py",
    "pipeline/llm/reply_text.py",
    "pipeline/retrieval",
    "pipeline/verdict.py",
    "text",
    "pipeline/stages/within.py",
)
FILES = ("within_handbook.jsonl", "within_handbook_counts.jsonl")
HandbookCandidates = Sequence[tuple[str, Candidates]]
Compare = Callable[[RunContext, HandbookCandidates], tuple[str, Sequence[Verdicts]]]
"""(context, handbooks with their candidates) -> the judge's name, and the verdicts on each handbook's pairs."""


@dataclass
class WithinStage(TaskByTask):
    """One task: all handbooks, so a model is asked about them together; its replies are kept in a journal."""

    compare: Compare
    name = "within"

    def tasks(self) -> list[Task]:
        """The texts, the judge, and how many pairs it is asked about."""
        context, judge = self.context, self.context.config.judge
        # Only a model can read statements: without one nothing is compared
        if not (context.config.within.compare and judge.judge == MODEL):
            return []
        digests = [context.cache.digest(source.document) for source in context.present]
        inputs = {
            "documents": None if None in digests else digest_of([[source.handbook_id for source in context.present], digests]),
            "questions": digest_of(context.questions()),
            "encoder": context.config.retrieval.encoder,
            "options": context.config.within.model_dump(mode="json"),
            "model": [judge.model, context.model_settings],
            "templates": context.cache.digest(judge.templates) if judge.templates else "",
            "code": code_digest(*CODE),
        }
        # The judge's stage recreates the folder, so these files are made again after it.
        return [Task(self.name, "handbooks", inputs, tuple(context.workspace.release / name for name in FILES))]

    def run_task(self, task: Task) -> Figures:
        """Compare, and write both files."""
        handbooks = candidates_of(self.context)
        judge, verdicts = self.compare(self.context, handbooks)
        findings, counts = write_comparison(task.outputs, judge, handbooks, verdicts)
        return within_figures(findings, counts)


def write_comparison(
    paths: Sequence[Path], judge: str, handbooks: HandbookCandidates, verdicts: Sequence[Verdicts]
) -> tuple[int, list[Record]]:
    """Write the two files of FILES to `paths`; returns how many disagreements there are, and the counts of each handbook."""
    compared = list(zip(handbooks, verdicts, strict=True))
    findings = (record for (handbook, _), verdict in compared for record in finding_records(handbook, judge, verdict))
    counts = [count_record(handbook, judge, candidates, verdict) for (handbook, candidates), verdict in compared]
    written = write_lines(paths[0], findings)
    write_lines(paths[1], counts)
    return written, counts


def candidates_of(context: RunContext) -> HandbookCandidates:
    """The candidate pairs of each handbook with a text."""
    documents = (read_document(source.document) for source in context.present if source.document.is_file())
    queries = [Query.of(question) for question in context.questions()]
    return candidates_in(documents, queries, context.config.retrieval.encoder, context.settings)


def candidates_in(documents: Iterable[Document], queries: Sequence[Query], model: str, settings: Settings) -> HandbookCandidates:
    """The candidate pairs of each document, by the questions that concern it; `model` is a sentence model, or LEXICAL."""
    cache = settings.data_dir.resolve() / "retrieval"
    encoder = None if model == LEXICAL else cached_encoder(sentence_encoder(model), cache / "vectors")
    return [
        (
            document.handbook_id,
            find_candidates(
                ClosestPassages(document, encoder, cache / "indexes"), [query for query in queries if meets(query, document)]
            ),
        )
        for document in documents
    ]


def within_figures(findings: int, counts: Sequence[Figures]) -> Figures:
    """The results, in figures and a sentence; replies of the model that were unreadable or are missing count as findings."""
    totals = {name: sum(record[name] for record in counts) for name in ("compared", "agreeing", "unscored", "not_asked")}
    message = (
        f"Handbooks compared with themselves: {len(counts):,}, disagreements: {findings:,}. Pairs of passages: "
        f"{totals['compared']:,} judged, {totals['agreeing']:,} of the same words, {totals['unscored']:,} without a verdict, "
        f"{totals['not_asked']:,} not asked."
    )
    return {"disagreements": findings, **totals, "findings": totals["unscored"], "message": message}
