"""Sources of verdicts: the records of pairs for a release, and a summary."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from typing import Protocol as Interface

from audit.pipeline.judging.corpus import Corpus, HandbookPair, QuestionToJudge
from audit.pipeline.judging.parse import read_details
from audit.pipeline.judging.protocols import AbsenceFinding, JudgeRequest, Protocol
from audit.pipeline.llm.calls import usage_record
from audit.pipeline.llm.summary import Summary
from audit.pipeline.llm.tasks import Replies
from audit.pipeline.verdict import Verdict
from audit.release.journal_files import Reply
from audit.release.pair_kinds import GROUNDS
from audit.release.record_kind import field_names
from audit.vocabulary import DISAGREEING, WITH_TOPIC, Label, Parse

Record = dict[str, Any]


@dataclass
class JudgingSummary(Summary):
    """Counts of pairs: judged; prescreened, which are ABSENT without asking; not asked, which are in no file.

    A pair without a label, unscored, has a reason: it could not be read, or the judge abstained.

    remark  a note about the judge for readers of the verdicts
    """

    servers: set[str] = field(default_factory=set)
    remark: str = ""

    @property
    def sentence(self) -> str:
        """The counts in one sentence."""
        abstained = f" (the judge abstained on {self.abstained:,})" if self.abstained else ""
        prose = f" (read from prose: {self.parse[Parse.PROSE]:,})" if self.parse[Parse.PROSE] else ""
        return (
            f"{self.counts['judged']:,} pairs judged{prose}, {self.counts['prescreened']:,} ABSENT without asking, "
            f"{self.reasons.total():,} unscored{abstained}, {self.not_asked:,} not asked."
        )

    def count_verdict(self, verdict: Verdict) -> None:
        """Count one judged pair."""
        self.count(judged=1, parse=verdict.parse, reason=None if verdict.label is not None else verdict.reason or "unknown")


class VerdictSource(Interface):
    """Any judge: the absence of answers, and the records of pairs."""

    summary: JudgingSummary

    def absence_findings(self, item: QuestionToJudge) -> Mapping[str, AbsenceFinding]:
        """Handbook id -> whether its answer is absent."""

    def pairs(self, item: QuestionToJudge) -> Iterator[Record]:
        """The records of a question's pairs."""


@dataclass
class ModelVerdicts:
    """Verdicts of a model: the pairs of a corpus as the replies to a protocol's calls judge them."""

    protocol: Protocol
    corpus: Corpus
    replies: Replies
    summary: JudgingSummary = field(default_factory=JudgingSummary)

    def absence_findings(self, item: QuestionToJudge) -> Mapping[str, AbsenceFinding]:
        """Handbook id -> whether its answer is absent."""
        return self.protocol.absence_findings(item, self.replies)

    def pairs(self, item: QuestionToJudge) -> Iterator[Record]:
        """The records of a question's pairs; a pair that was not asked yet has none."""
        findings = self.absence_findings(item)
        replied: dict[HandbookPair, list[tuple[JudgeRequest, Reply, Verdict]]] = defaultdict(list)
        for request, reply, verdict in self.protocol.verdicts(self.corpus, item, findings, self.replies):
            replied[request.pair].append((request, reply, verdict))
        for pair in item.pairs:
            if (record := record_without_asking(pair, findings, self.summary)) is not None:
                yield record
            # Checks alone are not a verdict: without the reply that counts, the pair is not asked.
            elif any(request.kind is None for request, _, _ in replied[pair]):
                yield self._judged_record(item, pair, replied[pair])
            else:
                self.summary.count(not_asked=1)

    def _judged_record(
        self, item: QuestionToJudge, pair: HandbookPair, replied: list[tuple[JudgeRequest, Reply, Verdict]]
    ) -> Record:
        reply, verdict = next((reply, verdict) for request, reply, verdict in replied if request.kind is None)
        replies, prompts = [reply], [self.protocol.prompts[self.protocol.name].title]
        # The label alone was asked for; topic and significance come from a call of their own.
        if self.protocol.name == "label_only" and verdict.label in WITH_TOPIC:
            detail_replies, verdict = self._with_details(item, pair, verdict)
            replies, prompts = replies + detail_replies, [*prompts, self.protocol.prompts["extract"].title]
        self.summary.count_verdict(verdict)
        self.summary.servers |= {f"{r.model or '?'} {r.server or ''}".strip() for r in replies if r.model or r.server}
        metadata = {**usage_record(replies), **parse_status(verdict), "prompt": " ".join(prompts)}
        checks = [_check_record(request, verdict) for request, _, verdict in replied if request.kind is not None]
        return pair_record(pair, verdict, metadata) | ({"checks": checks} if checks else {})

    def _with_details(self, item: QuestionToJudge, pair: HandbookPair, verdict: Verdict) -> tuple[list[Reply], Verdict]:
        key = self.protocol.extract_call(item, pair, verdict.label or "").key
        reply = self.replies([key]).get(key)
        if reply is None:
            return [], verdict
        details = read_details(reply)
        # What one answer adds has a topic, but no clinical significance
        significance = details.significance if verdict.label in DISAGREEING else None
        return [reply], replace(verdict, significance=significance, topic=details.topic)


def record_without_asking(pair: HandbookPair, findings: Mapping[str, AbsenceFinding], summary: JudgingSummary) -> Record | None:
    """The record of a pair that needs no judge; None if it needs one.

    An absent answer makes it ABSENT, pre-screened. If it is unknown whether an answer is absent, the pair is unscored.
    """
    pair_findings = [findings[handbook] for handbook in pair]
    if any(finding.absent for finding in pair_findings):
        summary.count(prescreened=1)
        return pair_record(pair, Verdict(Label.ABSENT), None)
    # The pair itself was never shown to the judge, so nothing but the reason is known.
    reason = next((finding.reason for finding in pair_findings if finding.reason), None)
    if reason is None:
        return None
    verdict = Verdict(None, parse=Parse.NONE, reason=reason)
    summary.count_verdict(verdict)
    return pair_record(pair, verdict, parse_status(verdict))


def pair_record(pair: HandbookPair, verdict: Verdict, metadata: Record | None) -> Record:
    """A pair's record; without metadata no model was asked."""
    values = (*verdict.quotes, verdict.difference, verdict.follow_both)
    grounds = dict(zip(field_names(GROUNDS), values, strict=True))
    return {
        "handbook_a": pair[0],
        "handbook_b": pair[1],
        "classification": verdict.label,
        "reasoning": verdict.reasoning,
        "divergence_topic": verdict.topic,
        "clinical_significance": verdict.significance,
        "judge_metadata": metadata,
        **{name: value for name, value in grounds.items() if value is not None},
    }


def _check_record(request: JudgeRequest, verdict: Verdict) -> Record:
    return {
        "kind": request.kind,
        "number": request.number,
        "classification": verdict.label,
        "clinical_significance": verdict.significance,
        "parse": verdict.parse,
    }


def parse_status(verdict: Verdict) -> Record:
    """The parse status of a verdict, and the reason why there is no label."""
    return {"parse": verdict.parse, **({"unscored_reason": verdict.reason} if verdict.label is None else {})}
