"""Records of positions for a release, and the label of every pair from the positions of its two answers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from audit.pipeline.judging.corpus import HandbookPair, QuestionToJudge
from audit.pipeline.judging.positions.replies import AGAINST, FOR, MergedAspect
from audit.pipeline.judging.positions.task import HeldStatement, PositionsTask, QuestionReading
from audit.pipeline.judging.protocols import AbsenceFinding, findings_of_run
from audit.pipeline.judging.verdict_sources import JudgingSummary, Record, pair_record, parse_status, record_without_asking
from audit.pipeline.llm.calls import usage_record
from audit.pipeline.llm.tasks import Replies
from audit.pipeline.verdict import Verdict
from audit.text.position_quotes import most_typical
from audit.vocabulary import Label, Parse, PositionMethod, Significance

NOT_READ, NOT_SORTED, NOT_PLACED = "statements not read", "statements not sorted", "no statement in a position"
GRAVITY = {None: 0, Significance.LOW: 1, Significance.MEDIUM: 2, Significance.HIGH: 3}
Held = dict[str, dict[int, dict[int, HeldStatement]]]
"""Handbook id -> number of an aspect -> number of a position in it -> the statement that takes it."""


@dataclass
class PositionVerdicts:
    """Verdicts on pairs that follow from positions; a source of verdicts for `audit.pipeline.judging.release`.

    An answer that states nothing on the question makes its pairs ABSENT. Two answers with different positions on an aspect that
    both speak of are DIVERGENT, or CONTRADICTORY where one is for what the other is against; of several the gravest counts.
    Otherwise they are CONSISTENT where both speak of the same aspects, and COMPLEMENTARY where one says more. A pair is unscored
    where an answer or the sorting could not be read, or where no statement of an answer was sorted into a position.
    """

    task: PositionsTask
    replies: Replies
    summary: JudgingSummary = field(default_factory=JudgingSummary)
    invented: int = 0
    unsorted: int = 0

    def absence_findings(self, item: QuestionToJudge) -> Mapping[str, AbsenceFinding]:
        """Handbook id -> whether its answer is absent, by the run's own flags."""
        return findings_of_run(item)

    def positions(self, item: QuestionToJudge) -> Iterator[Record]:
        """The records of a question's positions; a statement alone is a position of its own."""
        reading = self.task.reading(item, self.replies)
        aspects = reading.merge.aspects if reading.merge else ()
        for aspect in aspects:
            for position in aspect.positions:
                yield self._position_record(item, aspect.aspect, [reading.statements[number] for number in position.members])
        if len(reading.statements) == 1:
            yield self._position_record(item, reading.statements[0].statement.aspect, list(reading.statements))

    def _position_record(self, item: QuestionToJudge, aspect: str, members: list[HeldStatement]) -> Record:
        # A handbook that makes a statement twice is one holder, with its first words
        first = {held.handbook_id: held.statement for held in reversed(members)}
        own = list(reversed(first.items()))
        quotes = [statement.quote for _, statement in own]
        values = Counter(statement.value for _, statement in own if statement.value)
        return {
            "question_id": item.question_id,
            "aspect": aspect or None,
            # The handbook's own words: readers never see a model's sentence
            "statement": quotes[most_typical(quotes, [0.0] * len(quotes))],
            "value": values.most_common(1)[0][0] if values else None,
            "holders": [
                {"handbook_id": handbook, "quote": one.quote, "start": one.start, "end": one.start + len(one.quote)}
                for handbook, one in own
            ],
            "method": PositionMethod.JUDGE,
        }

    def pairs(self, item: QuestionToJudge) -> Iterator[Record]:
        """The records of a question's pairs; a pair whose answers were not asked about yet has none."""
        findings, reading = self.absence_findings(item), self.task.reading(item, self.replies)
        self.invented += sum(one.invented for one in reading.answers.values() if one)
        if reading.merge and not reading.merge.reason:
            self.unsorted += len(reading.statements) - sum(len(p.members) for one in reading.merge.aspects for p in one.positions)
        held, records = _held(reading), []
        for pair in item.pairs:
            if (record := record_without_asking(pair, findings, self.summary)) is not None:
                records.append((record, False))
            elif verdict := self._verdict(pair, reading, held):
                self.summary.count_verdict(verdict)
                records.append((pair_record(pair, verdict, {**parse_status(verdict), "prompt": self._prompts}), True))
            else:
                self.summary.count(not_asked=1)
        self.summary.servers |= {f"{r.model or '?'} {r.server or ''}".strip() for r in reading.replies if r.model or r.server}
        yield from _with_usage(records, reading)

    @property
    def _prompts(self) -> str:
        return " ".join(self.task.prompts[stage].title for stage in self.task.stages)

    def _verdict(self, pair: HandbookPair, reading: QuestionReading, held: Held) -> Verdict | None:
        readings = [reading.answers.get(handbook) for handbook in pair]
        if None in readings:
            return None
        if reasons := [one.reason for one in readings if one and one.reason]:
            return Verdict(None, parse=Parse.NONE, reason=f"{NOT_READ}: {reasons[0]}")
        if not all(one and one.statements for one in readings):
            # Invented quotes do not mean absence: the model reported statements but gave no evidence
            if any(one and one.invented and not one.statements for one in readings):
                return Verdict(None, parse=Parse.NONE, reason=f"{NOT_READ}: quotes not in the answer")
            return Verdict(Label.ABSENT, reasoning="At least one of the answers states nothing on the question.")
        if reading.merge is None:
            return None
        if reading.merge.reason:
            return Verdict(None, parse=Parse.NONE, reason=f"{NOT_SORTED}: {reading.merge.reason}")
        a, b = (held.get(handbook, {}) for handbook in pair)
        if not a or not b:
            return Verdict(None, parse=Parse.NONE, reason=NOT_PLACED)
        return _compared(reading.merge.aspects, a, b)


def _held(reading: QuestionReading) -> Held:
    held: Held = defaultdict(lambda: defaultdict(dict))
    for number, aspect in enumerate(reading.merge.aspects if reading.merge else ()):
        for index, position in enumerate(aspect.positions):
            for member in position.members:
                statement = reading.statements[member]
                held[statement.handbook_id][number].setdefault(index, statement)
    return held


def _compared(
    aspects: tuple[MergedAspect, ...], a: dict[int, dict[int, HeldStatement]], b: dict[int, dict[int, HeldStatement]]
) -> Verdict:
    """The label of two answers, from aspect -> position -> statement of each."""
    apart = [number for number in a.keys() & b.keys() if not a[number].keys() & b[number].keys()]
    if not apart:
        return Verdict(Label.CONSISTENT if a.keys() == b.keys() else Label.COMPLEMENTARY)
    opposed = {number for number in apart if _opposed(aspects[number], a[number], b[number])}
    # The gravest: opposite before different, then by significance, then as the model lists them
    worst = min(apart, key=lambda n: (n not in opposed, -GRAVITY[_significance(aspects[n])], n))
    label = Label.CONTRADICTORY if worst in opposed else Label.DIVERGENT
    first, second = (next(iter(side[worst].values())).statement.quote for side in (a, b))
    reasoning = f"On {aspects[worst].aspect or 'one aspect'}, answer A says: “{first}” Answer B says: “{second}”"
    return Verdict(label, aspects[worst].significance, aspects[worst].aspect or None, reasoning)


def _opposed(aspect: MergedAspect, a: Iterable[int], b: Iterable[int]) -> bool:
    """Whether one answer takes a position for what the other takes a position against."""
    stances = [{aspect.positions[index].stance for index in side} for side in (a, b)]
    return any(FOR in one and AGAINST in other for one, other in (stances, stances[::-1]))


def _significance(aspect: MergedAspect) -> Significance | None:
    return Significance(aspect.significance) if aspect.significance else None


def _with_usage(records: list[tuple[Record, bool]], reading: QuestionReading) -> Iterator[Record]:
    """The records, with the question's tokens and seconds divided among its pairs, so they add up to the total."""
    judged = sum(by_model for _, by_model in records)
    totals, index = usage_record(reading.replies), 0
    for record, by_model in records:
        if by_model:
            shares = {name: _share(total, index, judged) for name, total in totals.items()}
            index += 1
            yield {**record, "judge_metadata": {**shares, **record["judge_metadata"]}}
        else:
            yield record


def _share(total: float, index: int, parts: int) -> float:
    if isinstance(total, int):
        return total * (index + 1) // parts - total * index // parts
    return round(total / parts, 6)
