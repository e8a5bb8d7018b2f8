"""The cost of judging: the open calls of each stage, as far as the replies so far determine them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from audit.pipeline.judging.corpus import Corpus, QuestionToJudge
from audit.pipeline.judging.parse import is_readable, read_presence
from audit.pipeline.judging.protocols import ABSENCE, EXTRACT, KEEP, AbsenceFinding, Protocol
from audit.pipeline.llm.calls import Call
from audit.pipeline.llm.tasks import Replies, StageCost, cost_after_replies, no_replies, unsettled
from audit.release.journal_files import Reply

# The rough number of tokens of one reply, for estimates without a server.
REPLY_TOKENS = {"absence": 8, "structured": 130, "label": 10, "extract": 25}
EXTRACT_NOTE = "extract needs one more call for each pair that turns out to differ in something."


def stage_costs(protocol: Protocol, corpus: Corpus, replies: Replies) -> list[StageCost]:
    """The cost of the open calls, stage by stage. `extract` is counted only for pairs that have a label already."""
    return [
        cost_after_replies(stage, _each_once(protocol, stage, corpus, replies), replies, is_readable, REPLY_TOKENS[stage])
        for stage in protocol.stages
    ]


def _each_once(protocol: Protocol, stage: str, corpus: Corpus, replies: Replies) -> Iterator[Call]:
    for item in corpus.items():
        yield from unsettled(_expected_calls(protocol, stage, corpus, item, replies), no_replies, is_readable)


def _expected_calls(protocol: Protocol, stage: str, corpus: Corpus, item: QuestionToJudge, replies: Replies) -> Iterator[Call]:
    if stage in (ABSENCE, EXTRACT):
        return protocol.calls(stage, corpus, item, replies)
    findings = expected_findings(protocol, item, replies)
    return (request.call for request in protocol.judge_requests(corpus, item, findings))


def expected_findings(protocol: Protocol, item: QuestionToJudge, replies: Replies) -> Mapping[str, AbsenceFinding]:
    """Handbook id -> whether its answer is absent; of an answer that is not checked yet, what the run's own flag says."""
    unchecked = replace(protocol, absence=KEEP).absence_findings(item, replies)
    checked = protocol.absence_findings(item, replies)
    # Without an answer to the check there is neither a finding nor a reason why there is none.
    return {
        handbook: unchecked[handbook] if finding == AbsenceFinding(None) else finding for handbook, finding in checked.items()
    }


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


def cost_notes(costs: Sequence[StageCost]) -> str:
    """A note on costs that the estimate omits."""
    return EXTRACT_NOTE if any(cost.stage == EXTRACT for cost in costs) else ""


def pairs_to_ask(protocol: Protocol, corpus: Corpus) -> tuple[int, int]:
    """(all pairs, pairs of two answers that are present by the run's own flags): the others need no call."""
    unchecked, pairs, to_ask = replace(protocol, absence=KEEP), 0, 0
    for item in corpus.items():
        findings = unchecked.absence_findings(item, no_replies)
        pairs += len(item.pairs)
        to_ask += sum(all(findings[handbook].absent is False for handbook in pair) for pair in item.pairs)
    return pairs, to_ask
