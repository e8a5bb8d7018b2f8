"""Protocols: which calls a question's pairs need, in the order that a prefix cache likes, and what the replies make of them.

A protocol asks in stages, each over all questions: absence (if it is to be checked), then structured, or label and extract.
It needs no network: it is given the replies that there are, and says which calls are still open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from audit.judging.corpus import Answer, Corpus, Couple, Item
from audit.judging.parse import read_presence, read_verdict, readable
from audit.judging.verdicts import Verdict
from audit.llm.calls import Call, Reply
from audit.llm.prompts import Prompt
from audit.llm.tasks import Replies, batches, unsettled
from audit.text.names import hide_names
from audit.vocabulary import DISAGREEING, CheckKind

ABSENCE, STRUCTURED, LABEL, EXTRACT = "absence", "structured", "label", "extract"
STAGES = {"structured": (STRUCTURED,), "label_only": (LABEL, EXTRACT)}
KEEP, CHECK = "keep", "check"
NO_ANSWER, ABSENCE_UNKNOWN = "no answer text", "absence unknown"


@dataclass(frozen=True)
class Silence:
    """Whether an answer is absent and how that was found; None: it cannot be told, and `reason` says why."""

    absent: bool | None
    method: str | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Asking:
    """One time that a pair is put to the judge: `kind` is None for the verdict itself, or else the check that it is."""

    pair: Couple
    kind: CheckKind | None
    number: int
    call: Call


@dataclass(frozen=True)
class Protocol:
    """How pairs are put to a model.

    name      structured: reasoning, label, topic and significance in one call; label_only: the label alone, then topic and
              significance of the pairs that disagree
    absence   keep: the run's own flags count; check: the canonical prefix counts, and every other answer is asked about once
    swap, blind, repeats   further verdicts on each pair: in the other order; with the names of centers and handbooks masked;
              so many times more
    """

    name: str
    model: str
    prompts: Mapping[str, Prompt]
    absence: str = KEEP
    swap: bool = False
    blind: bool = False
    repeats: int = 0

    @property
    def stages(self) -> tuple[str, ...]:
        """The purposes of its calls, one after the other."""
        return (*((ABSENCE,) if self.absence == CHECK else ()), *STAGES[self.name])

    @property
    def used(self) -> dict[str, Prompt]:
        """The prompts of its stages, by stage."""
        return {stage: self.prompts["label_only" if stage == LABEL else stage] for stage in self.stages}

    def calls(self, stage: str, corpus: Corpus, item: Item, replies: Replies) -> Iterator[Call]:
        """All calls of one stage for one question, answered or not, in prefix order: question, first answer, second answer."""
        if stage == ABSENCE:
            yield from self._absence_calls(item)
        elif stage == EXTRACT:
            yield from self._extract_calls(corpus, item, replies)
        else:
            yield from (asking.call for asking in self.askings(corpus, item, self.silences(item, replies)))

    def silences(self, item: Item, replies: Replies) -> dict[str, Silence]:
        """Handbook id -> whether its answer is absent, for every handbook that stands in a pair."""
        wanted = dict.fromkeys(handbook for pair in item.pairs for handbook in pair)
        if self.absence == KEEP:
            return {handbook: _as_the_run_says(item.answers.get(handbook)) for handbook in wanted}
        calls = {handbook: self._absence_call(item, handbook) for handbook in wanted}
        keys = {handbook: call.key for handbook, call in calls.items() if call}
        found = replies(keys.values())
        return {handbook: _checked(item.answers.get(handbook), found.get(keys.get(handbook, ""))) for handbook in wanted}

    def askings(self, corpus: Corpus, item: Item, silences: Mapping[str, Silence]) -> Iterator[Asking]:
        """Every time that a pair of two present answers is put to the judge, equal first answers together.

        A check that would send the very request of the verdict (no name to mask, two equal answers) tells nothing and is none.
        """
        present = [pair for pair in item.pairs if all(silences[handbook].absent is False for handbook in pair)]
        rank = {handbook: place for place, handbook in enumerate(item.answers)}
        turned = [(b, a) for a, b in present] if self.swap else []
        for first, second in sorted([*present, *turned], key=lambda pair: (rank[pair[0]], rank[pair[1]])):
            yield from self._one_order(item, first, second, swapped=rank[first] > rank[second])
        if self.blind:
            yield from self._blinded(corpus, item, present)

    def _one_order(self, item: Item, first: str, second: str, *, swapped: bool) -> Iterator[Asking]:
        a, b = (item.answers[handbook].text or "" for handbook in (first, second))
        if swapped:
            if a != b:
                yield self._asking(item, (second, first), CheckKind.SWAP, 1, (a, b))
            return
        yield self._asking(item, (first, second), None, 0, (a, b))
        for number in range(1, self.repeats + 1):
            yield self._asking(item, (first, second), CheckKind.REPEAT, number, (a, b), number)

    def _blinded(self, corpus: Corpus, item: Item, present: list[Couple]) -> Iterator[Asking]:
        texts = {handbook: item.answers[handbook].text or "" for handbook in dict.fromkeys(h for pair in present for h in pair)}
        masked = {handbook: hide_names(text, corpus.names) for handbook, text in texts.items()}
        for a, b in present:
            if (masked[a], masked[b]) != (texts[a], texts[b]):
                yield self._asking(item, (a, b), CheckKind.BLIND, 1, (masked[a], masked[b]))

    def _asking(
        self, item: Item, pair: Couple, kind: CheckKind | None, number: int, texts: tuple[str, str], repeat: int = 0
    ) -> Asking:
        told = {"question": str(item.question["question"]), "answer_a": texts[0], "answer_b": texts[1]}
        return Asking(pair, kind, number, self.prompts[self.name].call(self.model, item.question_id, told, repeat))

    def _absence_calls(self, item: Item) -> Iterator[Call]:
        wanted = {handbook for pair in item.pairs for handbook in pair}
        calls = (self._absence_call(item, handbook) for handbook in item.answers if handbook in wanted)
        yield from (call for call in calls if call)

    def _absence_call(self, item: Item, handbook: str) -> Call | None:
        answer = item.answers.get(handbook)
        if answer is None or answer.silent or not (answer.text or "").strip():
            return None
        told = {"question": str(item.question["question"]), "answer": answer.text or ""}
        return self.prompts[ABSENCE].call(self.model, item.question_id, told)

    def _extract_calls(self, corpus: Corpus, item: Item, replies: Replies) -> Iterator[Call]:
        for asking, _, verdict in self.labelled(corpus, item, self.silences(item, replies), replies):
            if asking.kind is None and verdict.label in DISAGREEING:
                yield self.extract_call(item, asking.pair, verdict.label or "")

    def extract_call(self, item: Item, pair: Couple, label: str) -> Call:
        """The call that asks what a pair with this label differs on."""
        a, b = (item.answers[handbook].text or "" for handbook in pair)
        told = {"question": str(item.question["question"]), "answer_a": a, "answer_b": b, "label": label}
        return self.prompts[EXTRACT].call(self.model, item.question_id, told)

    def labelled(
        self, corpus: Corpus, item: Item, silences: Mapping[str, Silence], replies: Replies
    ) -> Iterator[tuple[Asking, Reply, Verdict]]:
        """Every asking that was replied to, the reply, and what it says."""
        for batch in batches(self.askings(corpus, item, silences)):
            keyed = [(asking, asking.call.key) for asking in batch]
            found = replies([key for _, key in keyed])
            for asking, key in keyed:
                if reply := found.get(key):
                    yield asking, reply, read_verdict(reply, self.name)


def open_calls(protocol: Protocol, stage: str, corpus: Corpus, replies: Replies) -> Iterator[Call]:
    """The calls of a stage that are still to be asked, each once, whole questions one after the other."""
    for item in corpus.items():
        yield from unsettled(protocol.calls(stage, corpus, item, replies), replies, readable)


def _as_the_run_says(answer: Answer | None) -> Silence:
    if answer is None or not (answer.absent or (answer.text or "").strip()):
        return Silence(None, reason=NO_ANSWER)
    return Silence(answer.absent, answer.method if answer.absent else None)


def _checked(answer: Answer | None, reply: Reply | None) -> Silence:
    if answer is None or not (answer.absent or (answer.text or "").strip()):
        return Silence(None, reason=NO_ANSWER)
    if answer.silent or not (answer.text or "").strip():
        return Silence(True, "prefix" if answer.silent else answer.method)
    if reply is None:
        return Silence(None)
    found = read_presence(reply)
    if found.addressed is None:
        return Silence(None, reason=f"{ABSENCE_UNKNOWN}: {found.reason}")
    return Silence(not found.addressed, None if found.addressed else "check")
