"""Measuring the answers of systems: texts against references, evidence against gold sections, and measures.jsonl written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from audit.evaluation.reference_metrics import REFERENCE_MEASURES, ReferenceScorer
from audit.evaluation.retrieval_measures import QUOTE_CHECK, retrieval_measures
from audit.pipeline.judging.cited_texts import CitedTexts
from audit.pipeline.judging.system_records import MEASURES_FILE, Key, SystemAnswer, SystemRecords
from audit.pipeline.release_tables import write_table
from audit.pipeline.value_cache import ValueCache, key_of

# Answers scored at a time: after each batch, what is done is kept
BATCH = 64
Progress = Callable[[str, int, int], None]
"""(measure, answers done, answers in all)"""
Values = dict[tuple[str, str, str], float]
"""(question id, system id, measure) -> value."""


@dataclass(frozen=True)
class ScoredCounts:
    """How many answers were measured, and why the others were not."""

    scored: int
    refused: int
    unread: int
    without_reference: int


def counts_of(records: SystemRecords) -> ScoredCounts:
    """Counts of a release's answers by outcome; the four counts add up to its answers."""
    fates = Counter(_fate(question, answer, records) for (question, _), answer in records.answers.items())
    return ScoredCounts(**{name: fates[name] for name in ("scored", "refused", "unread", "without_reference")})


def _fate(question: str, answer: SystemAnswer, records: SystemRecords) -> str:
    if answer.refused is None:
        return "unread"
    return "refused" if answer.refused else "scored" if question in records.references else "without_reference"


def reference_values(records: SystemRecords, scorer: ReferenceScorer, cache: ValueCache, progress: Progress) -> Values:
    """The scorer's measures of every reply that has a text and a reference; of refusals too, which only some means count."""
    texts = {
        (question, system): (answer.text, records.references[question])
        for (question, system), answer in records.answers.items()
        if answer.text is not None and answer.refused is not None and question in records.references
    }
    keys = {where: key_of(scorer.recipe, *pair) for where, pair in texts.items()}
    computed = _computed(dict(zip(keys.values(), texts.values(), strict=True)), scorer, cache, progress)
    return {
        (*where, measure): value
        for where, key in keys.items()
        for measure, value in zip(scorer.measures, computed[key], strict=True)
    }


def _computed(
    texts: dict[str, tuple[str, str]], scorer: ReferenceScorer, cache: ValueCache, progress: Progress
) -> dict[str, list[float]]:
    known = cache.stored(list(texts))
    new = [key for key in texts if key not in known]
    for start in range(0, len(new), BATCH):
        batch = new[start : start + BATCH]
        answers, references = zip(*(texts[key] for key in batch), strict=True)
        values = dict(zip(batch, scorer.score(answers, references).tolist(), strict=True))
        cache.store(values)
        known |= values
        progress(scorer.measures[0], len(texts) - len(new) + start + len(batch), len(texts))
    return known


def retrieval_values(records: SystemRecords) -> Values:
    """The measures of retrieval of every answer whose question has gold sections, for the systems that bring evidence.

    A reply that could be read and brings no evidence, of a system that brings some elsewhere, found nothing: its measures are
    0. For an unread reply the result of the search is unknown. A gold section is named by its id, or as handbook_id/section_id.
    """
    values: Values = {}
    for system in dict.fromkeys(system for _, system in records.answers):
        own = {question: answer for (question, name), answer in records.answers.items() if name == system}
        if any(answer.evidence for answer in own.values()):
            ranked = {
                question: [_gold_name(section, records.gold.get(question, frozenset())) for section in answer.evidence]
                for question, answer in own.items()
                if answer.evidence or answer.refused is not None
            }
            measured = retrieval_measures(ranked, records.gold)
            values |= {(question, system, name): value for question, own in measured.items() for name, value in own.items()}
    return values


def quote_values(records: SystemRecords, texts: CitedTexts) -> Values:
    """The share of each answer's quotes that are in the text that they cite, word for word; of answers with quotes alone."""
    checked = {key: texts.quote_check(key) for key, answer in records.answers.items() if answer.text is not None}
    return {(*key, QUOTE_CHECK): value for key, value in checked.items() if value is not None}


def _gold_name(section: Key, gold: frozenset[str]) -> str:
    """The name under which a section is gold; with its handbook where it is not."""
    handbook, section_id = section
    return section_id if section_id in gold else f"{handbook}/{section_id}"


def write_measures(records: SystemRecords, values: Values) -> int:
    """Write measures.jsonl with `values` and the earlier measures, and return how many records it has.

    A new value of a measure replaces all earlier values of that measure and system, so none of an answer that has
    changed stays. Where the manifest declares a count of measures, it is corrected. Raises OSError.
    """
    replaced = {(system, measure) for _, system, measure in values}
    unchanged = (record for record in records.measures if (record["system_id"], record["measure"]) not in replaced)
    return write_table(records.folder, MEASURES_FILE, "measures", [*unchanged, *_as_records(values)])


def _as_records(values: Values) -> Iterator[dict[str, Any]]:
    for (question, system, measure), value in values.items():
        yield {"question_id": question, "system_id": system, "measure": measure, "value": round(value, 6)}


def without_refusals(records: SystemRecords, values: Values) -> Values:
    """The values without the reference measures of refusals."""
    return {
        key: value for key, value in values.items() if key[2] not in REFERENCE_MEASURES or not records.answers[key[:2]].refused
    }


def means(values: Values, measures: Sequence[str]) -> Iterable[tuple[str, str, int, float]]:
    """System, measure, answers and mean value, in the order of the answers and of `measures`."""
    for system in dict.fromkeys(system for _, system, _ in values):
        for measure in measures:
            own = [value for (_, name, kind), value in values.items() if (name, kind) == (system, measure)]
            if own:
                yield system, measure, len(own), sum(own) / len(own)
