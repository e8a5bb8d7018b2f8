"""An answer that a model writes from the passages that were found for a question, each statement with checked quotes."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, zip_longest

from audit.errors import AuditError
from audit.jobs.asking import Asked, AskedHandbook, AskedPassage
from audit.pipeline.cli.model_calls import ask_all, model_of
from audit.pipeline.generation.several_sources_model import model_answers, passages_in_prompt, sourced_task
from audit.pipeline.generation.source_passages import SourceReader
from audit.pipeline.generation.system_answers import AnsweringSystem, SystemQuestion
from audit.pipeline.llm.journal import Journal
from audit.pipeline.retrieval.model import Query
from audit.pipeline.stages.build_cache import digest_of
from audit.pipeline.stages.system_options import SOURCED_TOKENS
from audit.queries.run_texts import run_documents
from audit.release.sourced_answers import SourcedAnswer, StoredEvidence
from audit.settings import Settings
from audit.store.connection import open_store
from audit.store.runs import Run
from audit.text.documents import Document
from audit.vocabulary import Found, SystemMode

SYSTEM = "asked"
PASSAGES = 16
"""In the prompt: the best of each handbook, then the second best of each, as long as there are fewer."""
CONTEXT = 32_768


def write_from_run(settings: Settings, run: Run, asked: Asked) -> SourcedAnswer:
    """`write_answer` from the texts of a run."""
    with open_store(run.path) as con:
        return write_answer(settings, run_documents(con), asked)


def write_answer(settings: Settings, documents: Iterable[Document], asked: Asked) -> SourcedAnswer:
    """The model's answer; a call with the same question and passages is not repeated.

    Raises AuditError where no passage is near enough to answer from, without an endpoint, and where no reply came.
    """
    evidence = evidence_of(asked)
    if not evidence.record()["evidence"]:
        raise AuditError("No passage is close to the question, so there is nothing to answer from. No model was called.")
    reader = SourceReader({document.handbook_id: document for document in documents}, ())
    system = AnsweringSystem(model_of(settings, None), SystemMode.MULTI_SOURCE, max_tokens=SOURCED_TOKENS)
    question = SystemQuestion(Query(SYSTEM, asked.question), passages_in_prompt(reader.passages(evidence)))
    task = sourced_task(system, system.prompt(), lambda: [question], CONTEXT)
    path = settings.data_dir.resolve() / "asked" / f"{digest_of(task.plan())[:12]}.journal"
    path.parent.mkdir(parents=True, exist_ok=True)
    with Journal(path, task.plan()) as journal:
        ask_all(settings, task, journal)
        ((_, answer),) = model_answers(task, journal.latest, {SYSTEM: evidence}, reader)
    if answer is None:
        raise AuditError("The model gave no reply. Nothing was written. Ask again, or check the model's server.")
    return answer


def evidence_of(asked: Asked) -> StoredEvidence:
    """The passages of the handbooks in which something was found, as the evidence of a system that asks several sources."""
    found = [book for book in asked.handbooks if book.found in (Found.STATED, Found.PERHAPS)]
    by_rank = zip_longest(*([(book, passage) for passage in book.passages] for book in found))
    best = [one for one in chain.from_iterable(by_rank) if one is not None][:PASSAGES]
    records = [_record(rank, book, passage) for rank, (book, passage) in enumerate(best, 1)]
    return StoredEvidence(asked.question, {"routes": [], "evidence": records, "trace": {"notes": []}}, {})


def _record(rank: int, book: AskedHandbook, passage: AskedPassage) -> dict[str, object]:
    return {
        "rank": rank, "source_id": book.center, "handbook_id": book.handbook_id, "section_id": passage.section_id,
        "start": passage.start, "end": passage.end, "text": passage.text, "final": passage.score,
    }  # fmt: skip
