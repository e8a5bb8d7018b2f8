"""Judges planted changes: the required calls, and the records of planted.jsonl from the verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from audit.evaluation.planted_changes import expected_labels
from audit.pipeline.judging.parse import is_readable, read_verdict
from audit.pipeline.judging.protocols import LABEL, STRUCTURED
from audit.pipeline.llm.calls import Call, usage_record
from audit.pipeline.llm.item_task import ItemTask
from audit.pipeline.llm.prompts import Prompt
from audit.pipeline.llm.summary import Summary
from audit.pipeline.llm.tasks import Replies, batches
from audit.pipeline.stress.planted.changes import PlantedChange
from audit.pipeline.stress.planted.planting import item_id
from audit.pipeline.verdict import Verdict
from audit.vocabulary import Label

PROMPTS = {"structured": STRUCTURED, "label_only": LABEL}
"""Protocol, which is also the name of its prompt -> the purpose of its calls."""
REPLY_TOKENS = {STRUCTURED: 130, LABEL: 10}
WORDS = "{judged:,} planted changes judged, {not_asked:,} not asked about."
Record = dict[str, Any]


def planted_task(prompt: Prompt, model: str, changes: Sequence[PlantedChange]) -> ItemTask[PlantedChange]:
    """Each pair before its change and after it, with the judge's own prompt.

    A pair that is the same before several changes is judged once.
    """

    def calls_of(change: PlantedChange) -> list[Call]:
        start = change.start
        return [
            prompt.call(model, start.question_id, {"question": start.question, "answer_a": a, "answer_b": b})
            for a, b in (change.before, change.after)
        ]

    purpose = prompt.form.purpose
    return ItemTask(
        {purpose: prompt},
        model,
        "planted changes",
        # The calls of a question together, for the server's prefix cache
        lambda: sorted(changes, key=lambda change: change.start.question_id),
        calls_of,
        is_readable,
        tokens={purpose: REPLY_TOKENS[purpose]},
    )


def model_records(
    task: ItemTask[PlantedChange], changes: Sequence[PlantedChange], replies: Replies, summary: Summary
) -> Iterator[Record]:
    """The records of planted.jsonl from a model's replies; a change without both replies has none. `summary` counts both."""
    (prompt,) = task.prompts.values()
    # In the order of the changes, and not of the questions
    results = replace(task, items=lambda: changes).results(replies)
    for (change, _, reply_before), (_, _, reply_after) in batches(results, 2):
        if reply_before is None or reply_after is None:
            summary.count(not_asked=1)
            continue
        before, after = (read_verdict(reply, prompt.name, prompt.system) for reply in (reply_before, reply_after))
        _count(summary, before, after)
        usage = {**usage_record([reply_after]), "prompt": prompt.title}
        yield planted_record(change, before, after, task.model) | {"usage": usage}


def _count(summary: Summary, *verdicts: Verdict) -> None:
    summary.count(judged=1, reason=next((verdict.reason for verdict in verdicts if verdict.label is None), None))


def planted_record(change: PlantedChange, before: Verdict, after: Verdict, judge: str) -> Record:
    """The record of planted.jsonl of one change, from a judge's verdicts before and after it."""
    label_before = Label(before.label) if before.label else None
    edit: Mapping[str, Any] = change.edit.record() if change.edit else {}
    return {
        "item_id": item_id(change),
        "question_id": change.start.question_id,
        "handbook_a": change.start.handbook_a,
        "handbook_b": change.start.handbook_b,
        "kind": change.kind,
        "variant": change.variant,
        "ordered": change.ordered,
        "expected": list(expected_labels(change.kind, label_before)),
        "change": {**{name: edit.get(name) for name in ("before", "after", "start")}, "side": change.side},
        "answer_a": change.after[0],
        "answer_b": change.after[1],
        "label_before": before.label,
        "label": after.label,
        "reasoning": after.reasoning,
        "unscored_reason": after.reason if after.label is None else before.reason if before.label is None else None,
        "judge": judge,
    }
