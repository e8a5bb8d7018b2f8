"""Protocols: which calls the pairs of a question need, in the order that suits a prefix cache, and how replies are used.

A protocol asks in stages, each over all questions: absence (if it is checked), then structured, or label and extract. It
needs no network: it gets the replies so far, and lists the calls that are still open.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from audit.pipeline.judging.corpus import AnswerToJudge, Corpus, HandbookPair, QuestionToJudge
from audit.pipeline.judging.parse import CENTERS, is_readable, read_presence, read_verdict
from audit.pipeline.llm.calls import Call
from audit.pipeline.llm.prompts import Prompt
from audit.pipeline.llm.tasks import LlmTask, Replies, batches
from audit.pipeline.verdict import Verdict
from audit.release.journal_files import Reply
from audit.text.blinding import HIDDEN_NAME
from audit.vocabulary import WITH_TOPIC, CheckKind

ABSENCE, STRUCTURED, LABEL, EXTRACT = "absence", "structured", "label", "extract"
STAGES = {"structured": (STRUCTURED,), "label_first": (STRUCTURED,), "label_only": (LABEL, EXTRACT)}
REPLY_TOKENS = {ABSENCE: 8.0, STRUCTURED: 210.0, LABEL: 10.0, EXTRACT: 25.0}
"""The rough number of tokens of one reply, for estimates without a server."""
ABSENCE_NOTE = "Fewer if answers turn out to be absent: pairs with one of them need no verdict."
EXTRACT_NOTE = "extract needs one more call for each pair that turns out to differ in something."
KEEP, CHECK = "keep", "check"
NO_ANSWER, ABSENCE_UNKNOWN = "no answer text", "absence unknown"


@dataclass(frozen=True)
class AbsenceFinding:
    """Whether an answer is absent and how that was found; None if that is unknown, for the `reason`."""

    absent: bool | None
    method: str | None = None
    reason: str | None = None


@dataclass(frozen=True)
class JudgeRequest:
    """One request for a verdict on a pair: `kind` is None for the verdict that counts, or else the check that it is part of."""

    pair: HandbookPair
    kind: CheckKind | None
    number: int
    call: Call


@dataclass(frozen=True)
class Protocol:
    """How a model is asked about pairs.

    name      structured: reasoning, label, topic and significance in one call; label_first: the same, the label before its
              reasoning (arXiv:2605.29084, section 4); label_only: the label alone, then topic and
              significance of the pairs that differ in something (arXiv:2605.29084, section 5.2)
    absence   keep: the run's own flags count; check: the canonical prefix counts, and the model is asked once about every
              other answer
    swap, blind, repeats   further verdicts on each pair: in the other order; with the names of centers and handbooks masked;
              this many times more
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
        """The purposes of its calls, in order."""
        return (*((ABSENCE,) if self.absence == CHECK else ()), *STAGES[self.name])

    @property
    def stage_prompts(self) -> dict[str, Prompt]:
        """Stage -> its prompt."""
        return {stage: self.prompts[self.name if stage in (STRUCTURED, LABEL) else stage] for stage in self.stages}

    def task(self, corpus: Corpus) -> JudgingTask:
        """The calls of this protocol on a corpus."""
        tokens = {stage: REPLY_TOKENS[stage] for stage in self.stages}
        return JudgingTask(self.stage_prompts, self.model, self, corpus, tokens=tokens)

    def calls(self, stage: str, corpus: Corpus, item: QuestionToJudge, replies: Replies) -> Iterator[Call]:
        """All calls of one stage for one question, answered or not, in prefix order: question, first answer, second answer."""
        if stage == ABSENCE:
            yield from self._absence_calls(item)
        elif stage == EXTRACT:
            yield from self._extract_calls(corpus, item, replies)
        else:
            findings = self.absence_findings(item, replies)
            yield from (request.call for request in self.judge_requests(corpus, item, findings))

    def absence_findings(self, item: QuestionToJudge, replies: Replies) -> dict[str, AbsenceFinding]:
        """Handbook id -> whether its answer is absent, for every handbook in a pair."""
        if self.absence == KEEP:
            return findings_of_run(item)
        calls = {handbook: self._absence_call(item, handbook) for handbook in item.in_pairs}
        keys = {handbook: call.key for handbook, call in calls.items() if call}
        latest = replies(keys.values())
        return {handbook: _checked_finding(item.answers.get(handbook), latest.get(keys.get(handbook, ""))) for handbook in calls}

    def expected_findings(self, item: QuestionToJudge, replies: Replies) -> dict[str, AbsenceFinding]:
        """Handbook id -> whether its answer is absent; of an answer that is not checked yet, what the run's own flag says."""
        unchecked, checked = findings_of_run(item), self.absence_findings(item, replies)
        # Without a reply to the check there is neither a finding nor a reason why there is none.
        return {name: unchecked[name] if finding == AbsenceFinding(None) else finding for name, finding in checked.items()}

    def judge_requests(
        self, corpus: Corpus, item: QuestionToJudge, findings: Mapping[str, AbsenceFinding]
    ) -> Iterator[JudgeRequest]:
        """Every request for a verdict on a pair of two present answers, sorted by the first answer.

        A check that would repeat the request of the verdict adds nothing and is left out.
        """
        present = [pair for pair in item.pairs if all(findings[handbook].absent is False for handbook in pair)]
        rank = {handbook: number for number, handbook in enumerate(item.answers)}
        swapped = [(b, a) for a, b in present] if self.swap else []
        # Pairs with the same first answer follow one another: the server's prefix cache then holds question and first answer.
        for first, second in sorted([*present, *swapped], key=lambda pair: (rank[pair[0]], rank[pair[1]])):
            yield from self._requests_in_order(item, first, second, swapped=rank[first] > rank[second])
        if self.blind:
            yield from self._blind_requests(corpus, item, present)

    def _requests_in_order(self, item: QuestionToJudge, first: str, second: str, *, swapped: bool) -> Iterator[JudgeRequest]:
        a, b = (self._text(item.answers[handbook]) for handbook in (first, second))
        if swapped:
            # Equal answers in the other order are the same request.
            if a != b:
                yield self._request(item, (second, first), CheckKind.SWAP, 1, (a, b))
            return
        yield self._request(item, (first, second), None, 0, (a, b))
        for number in range(1, self.repeats + 1):
            yield self._request(item, (first, second), CheckKind.REPEAT, number, (a, b), number)

    def _blind_requests(self, corpus: Corpus, item: QuestionToJudge, present: list[HandbookPair]) -> Iterator[JudgeRequest]:
        texts = {handbook: self._text(item.answers[handbook]) for pair in present for handbook in pair}
        masked = {handbook: corpus.masker.mask(item.answers[handbook].text or "") for handbook in texts}
        for a, b in present:
            # Without a name to mask it would repeat the request for the verdict.
            if (masked[a], masked[b]) != (texts[a], texts[b]):
                yield self._request(item, (a, b), CheckKind.BLIND, 1, (masked[a], masked[b]))

    def _text(self, answer: AnswerToJudge) -> str:
        """The answer, below the name of its center unless the template has a place for that."""
        return answer.text or "" if self.prompts[self.name].names(CENTERS[0]) else answer.shown

    def _request(
        self,
        item: QuestionToJudge,
        pair: HandbookPair,
        kind: CheckKind | None,
        number: int,
        texts: tuple[str, str],
        repeat: int = 0,
    ) -> JudgeRequest:
        fields = {"question": str(item.question["question"]), "answer_a": texts[0], "answer_b": texts[1]}
        for field, handbook in zip(CENTERS, pair, strict=True):
            # Without --name-centers, and where names are masked, a template that asks for a name gets none
            fields[field] = ("" if kind is CheckKind.BLIND else item.answers[handbook].center) or HIDDEN_NAME
        return JudgeRequest(pair, kind, number, self.prompts[self.name].call(self.model, item.question_id, fields, repeat))

    def _absence_calls(self, item: QuestionToJudge) -> Iterator[Call]:
        in_pairs = set(item.in_pairs)
        calls = (self._absence_call(item, handbook) for handbook in item.answers if handbook in in_pairs)
        yield from (call for call in calls if call)

    def _absence_call(self, item: QuestionToJudge, handbook: str) -> Call | None:
        answer = item.answers.get(handbook)
        # Settled without asking: the words of an absence, or no text at all.
        if answer is None or answer.text is None or answer.says_absence:
            return None
        fields = {"question": str(item.question["question"]), "answer": answer.text or ""}
        return self.prompts[ABSENCE].call(self.model, item.question_id, fields)

    def _extract_calls(self, corpus: Corpus, item: QuestionToJudge, replies: Replies) -> Iterator[Call]:
        for request, _, verdict in self.verdicts(corpus, item, self.absence_findings(item, replies), replies):
            if request.kind is None and verdict.label in WITH_TOPIC:
                yield self.extract_call(item, request.pair, verdict.label or "")

    def extract_call(self, item: QuestionToJudge, pair: HandbookPair, label: str) -> Call:
        """The call that asks for the topic of a pair with this label."""
        a, b = (item.answers[handbook].shown for handbook in pair)
        fields = {"question": str(item.question["question"]), "answer_a": a, "answer_b": b, "label": label}
        return self.prompts[EXTRACT].call(self.model, item.question_id, fields)

    def verdicts(
        self, corpus: Corpus, item: QuestionToJudge, findings: Mapping[str, AbsenceFinding], replies: Replies
    ) -> Iterator[tuple[JudgeRequest, Reply, Verdict]]:
        """Every request that has a reply, with the reply and its verdict."""
        for batch in batches(self.judge_requests(corpus, item, findings)):
            keyed = [(request, request.call.key) for request in batch]
            latest = replies([key for _, key in keyed])
            for request, key in keyed:
                if reply := latest.get(key):
                    yield request, reply, read_verdict(reply, self.name, request.call.instructions)


def findings_of_run(item: QuestionToJudge) -> dict[str, AbsenceFinding]:
    """Handbook id -> whether its answer is absent by the run's own flags, for every handbook in a pair."""
    return {handbook: _finding_of_run(item.answers.get(handbook)) for handbook in item.in_pairs}


def pairs_to_ask(items: Iterable[QuestionToJudge]) -> tuple[int, int]:
    """(all pairs, pairs of two answers that are present by the run's own flags): the others need no call."""
    pairs, to_ask = 0, 0
    for item in items:
        findings = findings_of_run(item)
        pairs += len(item.pairs)
        to_ask += sum(all(findings[handbook].absent is False for handbook in pair) for pair in item.pairs)
    return pairs, to_ask


def _finding_of_run(answer: AnswerToJudge | None) -> AbsenceFinding:
    if answer is None or answer.absent is None or not (answer.absent or (answer.text or "").strip()):
        return AbsenceFinding(None, reason=NO_ANSWER)
    return AbsenceFinding(answer.absent, answer.method if answer.absent else None)


def _checked_finding(answer: AnswerToJudge | None, reply: Reply | None) -> AbsenceFinding:
    if answer is None or (answer.text is None and not answer.absent):
        return AbsenceFinding(None, reason=NO_ANSWER)
    if answer.text is None:
        return AbsenceFinding(True, answer.method)
    if answer.says_absence:
        return AbsenceFinding(True, "prefix" if answer.text.strip() else answer.method or "empty")
    # Not asked yet: without a reason, its pairs count as not asked and not as unscored.
    if reply is None:
        return AbsenceFinding(None)
    presence = read_presence(reply)
    if presence.addressed is None:
        return AbsenceFinding(None, reason=f"{ABSENCE_UNKNOWN}: {presence.reason}")
    return AbsenceFinding(not presence.addressed, None if presence.addressed else "check")


# -- a protocol as a task ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class JudgingTask(LlmTask):
    """A protocol and the corpus that it is used on; made by `Protocol.task`."""

    protocol: Protocol
    corpus: Corpus

    def plan(self) -> dict[str, Any]:
        """The settings that must match for a journal to be resumed."""
        protocol = self.protocol
        return {
            "protocol": protocol.name,
            "model": protocol.model,
            "absence": protocol.absence,
            "swap": protocol.swap,
            "blind_centers": protocol.blind,
            "repeat": protocol.repeats,
            "prompts": {stage: prompt.title for stage, prompt in self.prompts.items()},
            **self.corpus.source,
            "pairs": self.corpus.selection,
            # Only where it is so: journals written before it could be are still resumed.
            **({"name_centers": True} if self.corpus.names_centers else {}),
        }

    def parts(self, stage: str, replies: Replies, *, expected: bool = False) -> Iterator[Iterable[Call]]:
        """The calls of a stage, question by question; pairs whose answers are not checked yet are expected to need a judge.

        Of `extract` only calls on pairs with a label are expected: how many will have one is not known.
        """
        for item in self.corpus.items():
            if expected and stage not in (ABSENCE, EXTRACT):
                findings = self.protocol.expected_findings(item, replies)
                yield (request.call for request in self.protocol.judge_requests(self.corpus, item, findings))
            else:
                yield self.protocol.calls(stage, self.corpus, item, replies)

    def readable(self, call: Call, reply: Reply) -> bool:
        """Whether a reply contains what its call asked for."""
        return is_readable(call, reply)

    @property
    def cost_note(self) -> str:
        """What depends on replies: calls of `extract` on labels, and pairs on the check of absence."""
        notes = {ABSENCE: ABSENCE_NOTE, EXTRACT: EXTRACT_NOTE}
        return " ".join(note for stage, note in notes.items() if stage in self.stages)
