"""What a judge hands over: pairs and answers as a release has them, from replies or from rules, and a summary of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from audit.judging.corpus import Corpus, Couple, Item
from audit.judging.parse import read_extract
from audit.judging.protocols import Asking, Protocol, Silence
from audit.judging.verdicts import Verdict
from audit.llm.calls import Reply
from audit.llm.tasks import Replies
from audit.vocabulary import DISAGREEING, Label, Parse

Rules = Callable[[str, str, str], Verdict]
"""(question, answer a, answer b) -> verdict, without asking anybody."""
Record = dict[str, Any]


@dataclass
class Summary:
    """What became of the pairs: judged (asked), prescreened, not asked (in no file); unscored by reason, read by how."""

    judged: int = 0
    prescreened: int = 0
    not_asked: int = 0
    unscored: Counter[str] = field(default_factory=Counter)
    parse: Counter[str] = field(default_factory=Counter)
    servers: set[str] = field(default_factory=set)

    @property
    def said(self) -> str:
        """The counts in a sentence."""
        return (
            f"{self.judged:,} pairs judged, {self.prescreened:,} ABSENT without asking, "
            f"{self.unscored.total():,} unscored, {self.not_asked:,} not asked."
        )

    def count(self, verdict: Verdict) -> None:
        """One judged pair."""
        self.judged += 1
        self.parse[str(verdict.parse)] += 1
        if verdict.label is None:
            self.unscored[verdict.reason or "unknown"] += 1


@dataclass
class ModelBench:
    """The pairs of a corpus as the replies to a protocol's calls judge them."""

    protocol: Protocol
    corpus: Corpus
    replies: Replies
    summary: Summary = field(default_factory=Summary)

    def silences(self, item: Item) -> Mapping[str, Silence]:
        """Handbook id -> whether its answer is absent."""
        return self.protocol.silences(item, self.replies)

    def pairs(self, item: Item) -> Iterator[Record]:
        """The records of a question's pairs; a pair that was not asked yet has none."""
        silences = self.silences(item)
        told = self._told(item, silences)
        for pair in item.pairs:
            if (settled := without_asking(pair, silences, self.summary)) is not None:
                yield settled
            elif pair in told and any(asking.kind is None for asking, _, _ in told[pair]):
                yield self._judged(item, pair, told[pair])
            else:
                self.summary.not_asked += 1

    def _told(self, item: Item, silences: Mapping[str, Silence]) -> dict[Couple, list[tuple[Asking, Reply, Verdict]]]:
        told: dict[Couple, list[tuple[Asking, Reply, Verdict]]] = defaultdict(list)
        for asking, reply, verdict in self.protocol.labelled(self.corpus, item, silences, self.replies):
            told[asking.pair].append((asking, reply, verdict))
        return told

    def _judged(self, item: Item, pair: Couple, told: list[tuple[Asking, Reply, Verdict]]) -> Record:
        reply, verdict = next((reply, verdict) for asking, reply, verdict in told if asking.kind is None)
        replies, prompts = [reply], [self.protocol.prompts[self.protocol.name].title]
        if self.protocol.name == "label_only" and verdict.label in DISAGREEING:
            more, verdict = self._extracted(item, pair, verdict)
            replies, prompts = replies + more, [*prompts, self.protocol.prompts["extract"].title]
        self.summary.count(verdict)
        self.summary.servers |= {
            f"{each.model or '?'} {each.server or ''}".strip() for each in replies if each.model or each.server
        }
        metadata = {**usage(replies), **reading(verdict), "prompt": " ".join(prompts)}
        checks = [check(asking, verdict) for asking, _, verdict in told if asking.kind is not None]
        return record(pair, verdict, metadata) | ({"checks": checks} if checks else {})

    def _extracted(self, item: Item, pair: Couple, verdict: Verdict) -> tuple[list[Reply], Verdict]:
        key = self.protocol.extract_call(item, pair, verdict.label or "").key
        reply = self.replies([key]).get(key)
        if reply is None:
            return [], verdict
        found = read_extract(reply)
        return [reply], Verdict(verdict.label, found.significance, found.topic, verdict.reasoning, verdict.parse)


@dataclass
class RuleBench:
    """The pairs of a corpus as plain rules judge them; the run's own absence flags count."""

    protocol: Protocol
    rules: Rules
    name: str
    summary: Summary = field(default_factory=Summary)

    def silences(self, item: Item) -> Mapping[str, Silence]:
        """Handbook id -> whether its answer is absent."""
        return self.protocol.silences(item, lambda _: {})

    def pairs(self, item: Item) -> Iterator[Record]:
        """The records of a question's pairs."""
        silences = self.silences(item)
        for pair in item.pairs:
            yield without_asking(pair, silences, self.summary) or self._judged(item, pair)

    def _judged(self, item: Item, pair: Couple) -> Record:
        a, b = (item.answers[handbook].text or "" for handbook in pair)
        verdict = self.rules(str(item.question["question"]), a, b)
        self.summary.count(verdict)
        return record(pair, verdict, {**reading(verdict), "prompt": self.name})


def without_asking(pair: Couple, silences: Mapping[str, Silence], summary: Summary) -> Record | None:
    """The record of a pair that no judge has to see, if it is one.

    An absent answer makes it ABSENT, pre-screened. Where it cannot be told whether an answer is absent, the pair is unscored.
    """
    sides = [silences[handbook] for handbook in pair]
    if any(side.absent for side in sides):
        summary.prescreened += 1
        return record(pair, Verdict(Label.ABSENT), None)
    reason = next((side.reason for side in sides if side.reason), None)
    if reason is None:
        return None
    verdict = Verdict(None, parse=Parse.NONE, reason=reason)
    summary.count(verdict)
    return record(pair, verdict, reading(verdict))


def record(pair: Couple, verdict: Verdict, metadata: Record | None) -> Record:
    """A pair's record; without metadata it says that nobody was asked."""
    return {
        "handbook_a": pair[0], "handbook_b": pair[1], "classification": verdict.label, "reasoning": verdict.reasoning,
        "divergence_topic": verdict.topic, "clinical_significance": verdict.significance, "judge_metadata": metadata,
    }  # fmt: skip


def check(asking: Asking, verdict: Verdict) -> Record:
    """A check's record."""
    return {
        "kind": asking.kind, "number": asking.number, "classification": verdict.label,
        "clinical_significance": verdict.significance, "parse": verdict.parse,
    }  # fmt: skip


def reading(verdict: Verdict) -> Record:
    """How a verdict was read, and why there is none."""
    return {"parse": verdict.parse, **({"unscored_reason": verdict.reason} if verdict.label is None else {})}


def usage(replies: list[Reply]) -> Record:
    """Tokens and seconds of some replies together; what none of them tells is left out."""
    names = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens", "cached_tokens": "cached_tokens"}
    told = {name: [reply.usage[own] for reply in replies if own in reply.usage] for name, own in names.items()}
    seconds = [reply.latency_s for reply in replies if reply.latency_s is not None]
    counted: Record = {name: sum(counts) for name, counts in told.items() if counts}
    return counted | ({"latency_s": round(sum(seconds), 3)} if seconds else {})
