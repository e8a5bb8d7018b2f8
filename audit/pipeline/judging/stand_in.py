"""The stand-in judge of a made-up example: it reads labels off the example's own table of truths, and no text.

A truth table has a row for each rule and a column for each handbook; a cell is what the handbook states, empty where it states
nothing. A column `rule` in the file of questions names the rule that a question turns on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from audit.errors import AuditError
from audit.people_tables import CSV, TableSource, csv_table, read_bytes, visible
from audit.pipeline.judging.corpus import HandbookPair, QuestionToJudge
from audit.pipeline.judging.protocols import AbsenceFinding, findings_of_run
from audit.pipeline.judging.verdict_sources import JudgingSummary, Record, pair_record, parse_status, record_without_asking
from audit.pipeline.verdict import Verdict
from audit.text.quantity import find_quantities
from audit.vocabulary import ABSTAINED, DISAGREEING, STAND_IN_JUDGE, Label, Parse

RULE, QUESTION = "rule", "question_id"
OPPOSITES = {"yes", "no"}
Values = Mapping[str, str]
"""Handbook -> what it states, "" where it states nothing."""


@dataclass(frozen=True)
class TruthTable:
    """What each handbook of an example states.

    values    rule -> handbook -> what it states
    rule_of   question -> its rule; a question without one is in no table
    """

    values: Mapping[str, Values]
    rule_of: Mapping[str, str]

    def verdict(self, question_id: str, pair: HandbookPair) -> Verdict:
        """The label of a pair by what both handbooks state; none where the table does not know."""
        rule = self.rule_of.get(question_id, "")
        values = self.values.get(rule, {})
        if not all(handbook in values for handbook in pair):
            return Verdict(None, parse=Parse.RULES, reason=f"{ABSTAINED}: the truth table says nothing of it")
        a, b = (values[handbook] for handbook in pair)
        topic = rule.replace("_", " ")
        label = _label(a, b)
        return Verdict(
            label,
            topic=topic if label in DISAGREEING else None,
            reasoning=f"The truth table of this example says on {topic}: A {_said(a)}, and B {_said(b)}.",
            parse=Parse.RULES,
        )


def _label(a: str, b: str) -> Label:
    if not a or not b:
        return Label.ABSENT
    if a == b or any(one.agrees(other) for one in find_quantities(a) for other in find_quantities(b)):
        return Label.CONSISTENT
    return Label.CONTRADICTORY if {a, b} == OPPOSITES else Label.DIVERGENT


def _said(value: str) -> str:
    # A verb that tells nothing: the words of a judge are looked for in the answers, and "states" is in "the state bank"
    return f'gives "{value}"' if value else "gives nothing"


def read_truth(table: Path, questions: Path) -> TruthTable:
    """The truth table of an example with the rules of its questions, both CSV files.

    Raises AuditError where a file cannot be read or lacks the column that connects them.
    """
    rules = _rows(table, (RULE,))
    values = {row.pop(RULE): row for row in rules}
    return TruthTable(values, {row[QUESTION]: row[RULE] for row in _rows(questions, (RULE, QUESTION)) if row[RULE]})


def _rows(path: Path, needed: tuple[str, ...]) -> list[dict[str, str]]:
    source = TableSource(str(path), "Nothing was judged.")
    table = csv_table(read_bytes(path, source, CSV), source, lambda _: True)
    for name in needed:
        if name not in table.columns:
            raise source.refusal("row 1", f"there is no column '{name}'", f"Required columns: {', '.join(needed)}.")
    return [{name: visible(cell) for name, cell in row.cells.items()} for row in table.rows]


@dataclass
class StandInVerdicts:
    """The pairs of a corpus as a truth table labels them; an absent answer makes a pair ABSENT, as with any judge."""

    truth: TruthTable
    summary: JudgingSummary = field(default_factory=JudgingSummary)

    def absence_findings(self, item: QuestionToJudge) -> Mapping[str, AbsenceFinding]:
        """Handbook id -> whether its answer is absent."""
        return findings_of_run(item)

    def pairs(self, item: QuestionToJudge) -> Iterator[Record]:
        """The records of a question's pairs."""
        findings = self.absence_findings(item)
        for pair in item.pairs:
            yield record_without_asking(pair, findings, self.summary) or self._labelled_record(item, pair)

    def _labelled_record(self, item: QuestionToJudge, pair: HandbookPair) -> Record:
        verdict = self.truth.verdict(item.question_id, pair)
        self.summary.count_verdict(verdict)
        return pair_record(pair, verdict, {**parse_status(verdict), "prompt": STAND_IN_JUDGE})


def check_handbooks(truth: TruthTable, handbooks: list[str], path: Path) -> None:
    """Raise AuditError where no handbook of the run is in the table: it is that of another example."""
    known = {handbook for values in truth.values.values() for handbook in values}
    if not known.intersection(handbooks):
        raise AuditError(
            f"{path} has a column for none of the handbooks of this run ({', '.join(handbooks[:3])}, ...). Nothing was judged. "
            'The stand-in judge is for the example that the table was written for; leave out judge, or set judge = "model".'
        )
