"""Planted changes of a run: the pairs that they can start from, and each planted change with both texts."""

from __future__ import annotations

from dataclasses import dataclass

from audit.evaluation.planted_changes import StartPair
from audit.store.connection import Connection, rows
from audit.vocabulary import Label

# Enough of each label for as many changes as anybody would read, few enough for memory at any size of run
MOST_PAIRS = 2_000
# The random order is the md5 of the seed and the pair, so the same seed draws the same pairs on every machine.
START_PAIRS = """
with present as (
    select question, handbook, answer from answers where absent is not true and length(trim(answer)) > 0
)
select q.question_id, q.text, a.handbook_id, b.handbook_id, first.answer, second.answer, a.center, b.center, p.label::varchar
from pairs p
join questions q using (question)
join handbooks a on a.handbook = p.handbook_a
join handbooks b on b.handbook = p.handbook_b
join present first on first.question = p.question and first.handbook = p.handbook_a
join present second on second.question = p.question and second.handbook = p.handbook_b
where not p.prescreened and p.label is not null
qualify row_number() over (
    partition by p.label order by md5(concat_ws(chr(31), $seed, q.question_id, a.handbook_id, b.handbook_id))
) <= $most
order by p.question, p.handbook_a, p.handbook_b
"""
ITEM_FIELDS = """item_id, q.question_id, q.text, a.handbook_id, b.handbook_id, kind::varchar, variant, ordered::varchar,
       expected::varchar[], side, before, after, start, answer_a, answer_b, label_before::varchar, label::varchar, reasoning,
       unscored_reason, judge"""
ITEM = f"""
select {ITEM_FIELDS}
from planted join questions q using (question)
join handbooks a on a.handbook = handbook_a join handbooks b on b.handbook = handbook_b
where item_id = $item
order by judge
"""


@dataclass(frozen=True)
class PlantedItem:
    """One planted change as the judge saw it; the texts are those after the change."""

    item_id: str
    question_id: str
    question: str
    handbook_a: str
    handbook_b: str
    kind: str
    variant: str | None
    ordered: str | None
    expected: list[str]
    side: str | None
    before: str | None
    after: str | None
    start: int | None
    answer_a: str | None
    answer_b: str | None
    label_before: str | None
    label: str | None
    reasoning: str | None
    unscored_reason: str | None
    judge: str | None


def start_pairs(con: Connection, seed: int = 1, most: int = MOST_PAIRS) -> list[StartPair]:
    """Pairs of two answers with the run's label, at most `most` of each label, drawn at random by the seed."""
    records = rows(con, START_PAIRS, {"seed": str(seed), "most": most})
    return [StartPair(*(*fields, Label(label))) for *fields, label in records]


def planted_item(con: Connection, item_id: str) -> list[PlantedItem]:
    """A planted change as each judge saw it; empty where the run has none of this id."""
    return [PlantedItem(*fields) for fields in rows(con, ITEM, {"item": item_id})]
