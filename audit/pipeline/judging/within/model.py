"""Judging pairs of passages of one handbook by a model: the required calls, and the parsing of replies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from audit.pipeline.judging.parse import is_readable, read_verdict
from audit.pipeline.judging.within.findings import Verdicts
from audit.pipeline.judging.within.pairs import Candidates, PassagePair, QuotedPlace
from audit.pipeline.llm.item_task import ItemTask
from audit.pipeline.llm.prompts import Prompt
from audit.pipeline.llm.tasks import Replies
from audit.pipeline.verdict import Verdict

PROMPT, STAGE = "within", "structured"
# Pairs of one handbook that a model is asked about; the others count as not asked. The two known contradictions of a binder of
# 220,000 letters are the 48th and the 179th of its 1,014 pairs.
DEFAULT_PAIRS = 300
REPLY_TOKENS = 130


@dataclass(frozen=True)
class StatementPair:
    """Two passages of a handbook that a model is asked about."""

    handbook_id: str
    pair: PassagePair

    @property
    def texts(self) -> dict[str, str]:
        """The texts of its prompt."""
        return {"subject": self.pair.subject, "passage_a": _shown(self.pair.first), "passage_b": _shown(self.pair.second)}


def within_task(
    prompt: Prompt, model: str, handbooks: Sequence[tuple[str, Candidates]], max_pairs: int = DEFAULT_PAIRS
) -> ItemTask[StatementPair]:
    """The pairs of passages of each handbook, given as (id, candidates): at most `max_pairs` of them each."""

    def items() -> Iterator[StatementPair]:
        for handbook, candidates in handbooks:
            yield from (StatementPair(handbook, pair) for pair in candidates.pairs[:max_pairs])

    return ItemTask(
        {STAGE: prompt},
        model,
        PROMPT,
        items,
        calls_of=lambda item: [prompt.call(model, item.handbook_id, item.texts)],
        is_read=is_readable,
        tokens={STAGE: REPLY_TOKENS},
        settings={"max_pairs": max_pairs},
        unit="handbooks",
    )


def within_verdicts(
    task: ItemTask[StatementPair], handbooks: Sequence[tuple[str, Candidates]], replies: Replies
) -> list[Verdicts]:
    """The verdict on each pair that has a reply, handbook by handbook."""
    verdicts: dict[str, dict[PassagePair, Verdict]] = defaultdict(dict)
    for item, call, reply in task.results(replies):
        if reply:
            verdicts[item.handbook_id][item.pair] = read_verdict(reply, PROMPT, call.instructions)
    return [verdicts[handbook] for handbook, _ in handbooks]


def _shown(place: QuotedPlace) -> str:
    """A passage below its headings: without them, "take it twice a day" says nothing."""
    return "\n".join(filter(None, (place.section.title, place.text)))
