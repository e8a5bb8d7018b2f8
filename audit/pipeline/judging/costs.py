"""The cost of judging, as far as the calls themselves do not tell it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from audit.pipeline.judging.corpus import Corpus
from audit.pipeline.judging.parse import read_presence
from audit.pipeline.judging.protocols import ABSENCE, EXTRACT, findings_of_run
from audit.pipeline.llm.tasks import StageCost
from audit.release.journal_files import Reply

EXTRACT_NOTE = "extract needs one more call for each pair that turns out to differ in something."


def share_left(cost: StageCost, replies: Sequence[Reply]) -> float:
    """The share of the later stages' calls that remain, given the replies of a few calls of this stage.

    An answer that the check finds absent takes its pairs with it: of pairs of two unchecked answers, the square of the share
    that is addressed is left.
    """
    findings = [finding.addressed for finding in map(read_presence, replies) if finding.addressed is not None]
    if cost.stage != ABSENCE or not findings:
        return 1.0
    unchecked = cost.calls / (cost.calls + cost.done)
    addressed = 1 - unchecked + unchecked * sum(findings) / len(findings)
    return addressed**2


def cost_notes(stages: Iterable[str]) -> str:
    """A note on costs that the estimate omits."""
    return EXTRACT_NOTE if EXTRACT in stages else ""


def pairs_to_ask(corpus: Corpus) -> tuple[int, int]:
    """(all pairs, pairs of two answers that are present by the run's own flags): the others need no call."""
    pairs, to_ask = 0, 0
    for item in corpus.items():
        findings = findings_of_run(item)
        pairs += len(item.pairs)
        to_ask += sum(all(findings[handbook].absent is False for handbook in pair) for pair in item.pairs)
    return pairs, to_ask
