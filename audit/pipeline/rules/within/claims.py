"""The claims of a handbook, statement by statement: each amount, permission and prohibition, with its conditions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from audit.pipeline.rules.labels.directions import direction_of
from audit.pipeline.rules.labels.reading import GENERIC_STEMS, MEASURE_STEMS
from audit.text.comparison import find_negations
from audit.text.documents import Document, Section
from audit.text.quantity import Quantity, find_quantities
from audit.text.statements import Statement, statements
from audit.text.tokens import content_words, stem
from audit.text.units import CLOCK, COUNT

# Words that limit a statement to some patients, times or forms of a medicine. Two statements that differ in one of them are about
# different cases: 500 mg for adults and 250 mg for children are no contradiction.
_CASES = """
adult child infant baby toddler teenager adolescent pediatric paediatric elderly men man male woman women female girl boy
pregnant pregnancy breastfeeding diabetic diabetes donor recipient caregiver parent sibling living deceased
morning noon afternoon evening night bedtime monday tuesday wednesday thursday friday saturday sunday weekend
first second third fourth fifth sixth last initial final before early late start stop
mild moderate severe low high normal minimum maximum average goal target ideal usual total additional extra further
tablet capsule liquid oral intravenous iv injection cream ointment inhaler patch generic brand
systolic diastolic upper lower resting fasting meal breakfast lunch dinner snack
kidney liver heart lung pancreas bone marrow autologous allogeneic
inpatient outpatient hospital emergency weekday raw cooked frozen fresh canned smoked opened unopened refrigerated leftover
"""
CASE_STEMS = frozenset(map(stem, _CASES.split()))
# Headings of these words alone do not name the thing that the statements below them are about.
_SITUATIONS = """
home recover recovery discharge leave return life live living daily care caring look everyday activity activities routine check
checks watch sign signs symptom symptoms problem problems question questions tip tips instruction instructions information
important guideline guidelines rule rules do don't what when how before after during introduction overview summary reminder
reminders operation procedure tell learn understand chapter part section continued
"""
SITUATION_STEMS = frozenset(map(stem, _SITUATIONS.split()))
# Hepatitis B, type 2, day 5, phase II
LABELLED = re.compile(
    r"\b(?:[a-z]+ (?:[A-HJ-Z]|II|III|IV)\b(?!['’.])|(?:type|stage|grade|class|group|phase|step|day|week|month|dose) \d+\b)"
)
# "Your child" is a way of naming the patient, and limits nothing.
ADDRESSED = re.compile(r"\b(?:your|the|my) (?:child(?:ren)?|baby|teen(?:ager)?|son|daughter)(?:['’]s)?\b", re.I)
# Between an amount and the same amount in another unit: 100.4 °F or 38 °C, 100.4 °F (38 °C), 10 pounds / 4.5 kg
OTHER_UNIT = re.compile(r"\s*(?:,?\s*or\s+|[,/=(\[]|,?\s*(?:which is|that is|about|i\.e\.,?)\s+)?\s*")
# Counts have too many meanings ("2 tablets", a page number), and times of day are office hours, nearly always.
NOT_COMPARED = (COUNT, CLOCK)
# "Record your daily weight" does not say how often, as "twice a day" does.
FIGURE = re.compile(
    r"\d|[½¼¾⅓⅔]|\b(?:once|twice|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty|half)\b", re.I
)
# Words that make advice conditional: it permits in one case what it forbids in another.
CONDITION = re.compile(r"\b(?:if|unless|until|without|except|when|while|before|after|only|instead|ask|check with)\b", re.I)
WORDS = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class ComparedPassage:
    """A statement of a handbook, with what it depends on.

    quoted      the statement with its leads
    stems       the stems of its words, without words that only measure and words of any handbook
    heading     those of the heading over it, without words of situations ("after surgery")
    cases       what limits it: the words of CASE_STEMS, "type 2" and the like, in the statement, its leads and the headings
    conditions  the amounts in its leads
    in_heading  the amounts in the heading
    negated     whether it denies or forbids something
    """

    section: Section
    statement: Statement
    quoted: str
    stems: frozenset[str]
    heading: frozenset[str]
    cases: frozenset[str]
    amounts: tuple[Quantity, ...]
    conditions: tuple[Quantity, ...]
    in_heading: tuple[Quantity, ...]
    negated: bool

    @property
    def page(self) -> int | None:
        """The page on which it begins; None where the document does not tell."""
        return self.section.page_at(self.statement.start)


@dataclass(frozen=True)
class Claim:
    """One thing that a passage states: an amount, or (`permits`) that something is allowed or not allowed."""

    passage: ComparedPassage
    amount: Quantity | None = None
    permits: bool | None = None

    @property
    def kind(self) -> str:
        """The kind within which claims are compared: the dimension of the amount, or `advice`."""
        return self.amount.dimension if self.amount else "advice"

    @property
    def value(self) -> str:
        """What it states, as the passage has it."""
        return self.amount.text if self.amount else "allowed" if self.permits else "not allowed"

    @cached_property
    def other_amounts(self) -> tuple[Quantity, ...]:
        """The other amounts of the passage, and its conditions; bare counts may be anything, and are left out."""
        amounts = (*(amount for amount in self.passage.amounts if amount is not self.amount), *self.passage.conditions)
        return tuple(amount for amount in amounts if amount.dimension != COUNT)


def passages_of(document: Document) -> Iterator[ComparedPassage]:
    """Every statement of a handbook, in reading order."""
    for section in document.sections:
        heading = _subject(section.heading) - SITUATION_STEMS
        of_heading, cases = tuple(filter(_is_figure, find_quantities(section.heading))), _cases(section.title)
        for statement in statements(section.text):
            quoted = statement.quoted
            yield ComparedPassage(
                section, statement, quoted, _subject(quoted), heading, cases | _cases(quoted), _each_once(statement.text),
                find_quantities(" ".join(statement.leads)), of_heading, bool(find_negations(quoted)),
            )  # fmt: skip


def claims_of(passage: ComparedPassage) -> Iterator[Claim]:
    """The comparable claims of a passage: its amounts, each the only one of its kind there, and its advice."""
    counts = Counter(amount.dimension for amount in passage.amounts)
    for amount in passage.amounts:
        # Two amounts of one kind are two cases ("100.4 °F for an hour, or 101 °F once")
        if counts[amount.dimension] == 1 and amount.dimension not in NOT_COMPARED and _is_figure(amount):
            yield Claim(passage, amount)
    permits = None if CONDITION.search(passage.quoted) else direction_of(passage.quoted)
    if permits is not None:
        yield Claim(passage, permits=permits)


def _is_figure(amount: Quantity) -> bool:
    return not amount.vague and FIGURE.search(amount.text) is not None


def _subject(text: str) -> frozenset[str]:
    return frozenset(word.stem for word in content_words(text)) - MEASURE_STEMS - GENERIC_STEMS


def _cases(text: str) -> frozenset[str]:
    # Not `content_words`, which leaves out "before" and "first"
    words = frozenset(map(stem, WORDS.findall(ADDRESSED.sub(" ", text).lower())))
    return (words & CASE_STEMS) | frozenset(LABELLED.findall(text))


def _each_once(text: str) -> tuple[Quantity, ...]:
    """The amounts of a statement; one that is the amount before it in another unit is part of that."""
    amounts: list[Quantity] = []
    for amount in find_quantities(text):
        if amounts and _is_other_unit(amounts[-1], amount, text[amounts[-1].end : amount.start]):
            # "100.4 °F or 38 °C or higher": the bound at the end is that of both
            amounts[-1] = replace(amounts[-1], bound=amounts[-1].bound or amount.bound, end=amount.end)
        else:
            amounts.append(amount)
    return tuple(amounts)


def _is_other_unit(first: Quantity, second: Quantity, between: str) -> bool:
    # Also where the two do not agree: a slip in the conversion is not a second amount
    return first.dimension == second.dimension and first.system != second.system and OTHER_UNIT.fullmatch(between) is not None
