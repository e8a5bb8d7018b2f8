"""What `audit judge align` needs from below the wall, called by name: a checked version, and rules that a model proposes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from audit.pipeline.cli.model_calls import ask_all, model_of
from audit.pipeline.judging.versions import rules_in, rules_task
from audit.pipeline.llm.journal import Journal
from audit.pipeline.stages.build_cache import digest_of
from audit.settings import Settings


def proposed_rules(settings: Settings, folder: Path, pairs: Sequence[Mapping[str, str]]) -> tuple[str, list[str]]:
    """The model that is set, and the rules that it proposes; the reply is kept in `folder`, and is not asked for again.

    Raises AuditError where the endpoint cannot be used.
    """
    task = rules_task(model_of(settings, None), pairs)
    folder.mkdir(parents=True, exist_ok=True)
    with Journal(folder / f"rules-{digest_of(task.plan())}.journal", task.plan()) as journal:
        ask_all(settings, task, journal)
        replies = [reply for _, _, reply in task.results(journal.latest) if reply]
    return task.model, [rule for reply in replies for rule in rules_in(reply) or ()]
