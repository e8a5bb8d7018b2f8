"""Draws a study's sample from a run: stratified by the judge's label, without replacement, reproducible by its seed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

import numpy as np

from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.studies import ItemKind
from annotation.label_store.study_creation import NewItem, NewStudy, check_study_id, create_study
from annotation.studies.verdict_store import SampleOrigin, StoredVerdict, Stratum, store_sample
from audit.store.connection import Connection, open_store, rows
from audit.store.runs import Run
from audit.text.blinding import Masker, masker_of
from audit.vocabulary import LABELS, NOT_ADDRESSED, Label

ITEMS_PER_LABEL = 40
MAX_STUDY_ITEMS = 5_000
"""Above this, draw only on request: at five minutes an item, 5,000 items are ten weeks of work for each of two people."""
# The column of the seed is a 32-bit integer in PostgreSQL.
MAX_CALIBRATION_ITEMS, MAX_SEED = 1_000, 2**31 - 1
SECOND_CRITERIA = ("organ",)
"""Allowed second criteria: each question has exactly one value of such a property."""

POPULATION = """
select p.label::varchar as label, case when $organ then q.organ end as second, count(*) as pairs
from pairs p join questions q using (question)
where p.label is not null
group by all
order by label, second
"""
# Positions count in a fixed order of pairs, so that a seed draws the same pairs from every copy of a run.
CHOSEN_PAIRS = """
with wanted as (
    select unnest($labels) as label, unnest($seconds) as second, unnest($positions) as position
), numbered as (
    select p.question, p.handbook_a, p.handbook_b, p.label::varchar as label, case when $organ then q.organ end as second,
           row_number() over (partition by p.label, second order by p.question, p.handbook_a, p.handbook_b) - 1 as position
    from pairs p join questions q using (question)
    where p.label is not null
)
select n.label, n.second, n.position, q.question_id, q.text, a.handbook_id, b.handbook_id,
       coalesce(a.title, a.handbook_id), coalesce(b.title, b.handbook_id),
       answer_a.answer, answer_b.answer,
       p.significance::varchar, p.divergence_topic, p.reasoning
from wanted w
join numbered n on n.label = w.label and n.second is not distinct from w.second and n.position = w.position
join pairs p on (p.question, p.handbook_a, p.handbook_b) = (n.question, n.handbook_a, n.handbook_b)
join questions q on q.question = n.question
join handbooks a on a.handbook = n.handbook_a
join handbooks b on b.handbook = n.handbook_b
left join answers answer_a on answer_a.question = n.question and answer_a.handbook = n.handbook_a
left join answers answer_b on answer_b.question = n.question and answer_b.handbook = n.handbook_b
"""
NAME_COLUMNS = ("handbook_id", "organ", "phase", "center", "title", "url", "aliases")
NAMES = f"select {', '.join(NAME_COLUMNS)} from handbooks order by handbook"
RUN_COUNTS = "select has_answers, (select count(*) from pairs), (select count(*) from pairs where label is null) from run"

PairKey = tuple[str, str | None, int]
"""(label, second criterion, position in the stratum)."""


@dataclass(frozen=True)
class SamplePlan:
    """What to draw.

    per_label    study items per label of the judge; a stratum with fewer pairs is used in full
    second       None, or `organ`: each label's items are then spread over the organs in proportion to their pairs, with at
                 least two from each organ that has any
    calibration  items of the calibration round, spread over the labels, separate from the study and not counted
    repeats      study items that are silently shown again, for intra-rater agreement
    names_shown  whether annotators see which handbook an answer is from; if not, names, contacts and credits are also masked
                 in the answers
    """

    seed: int = 1
    per_label: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(map(str, LABELS), ITEMS_PER_LABEL))
    second: str | None = None
    calibration: int = 15
    repeats: int = 10
    names_shown: bool = False


@dataclass(frozen=True)
class StratumPlan:
    """One stratum before the draw: its population, and how many study and calibration items come from it."""

    label: str
    second: str | None
    population: int
    study: int
    calibration: int

    @property
    def name(self) -> str:
        """The label, or `label/second`."""
        return self.label if self.second is None else f"{self.label}/{self.second}"


@dataclass(frozen=True)
class DrawnSample:
    """A sample: the items as annotators see them, the judge's verdict on each, the strata, and the sample's origin.

    names_left  item id -> words of its masked answers that contain a word of an institution's name; repeats excluded
    """

    items: list[NewItem]
    verdicts: list[StoredVerdict]
    strata: list[Stratum]
    origin: SampleOrigin
    names_left: Mapping[str, list[str]] = field(default_factory=dict)

    def names_left_text(self) -> str:
        """What is left of names in the answers, in words for the principal investigator; "" where names are shown."""
        if self.origin.plan["names_shown"]:
            return ""
        if not self.names_left:
            return "No answer still holds a word of an institution's name."
        listed = "; ".join(f"{item_id}: {', '.join(words)}" for item_id, words in sorted(self.names_left.items()))
        count = f"{len(self.names_left):,} {'item still holds' if len(self.names_left) == 1 else 'items still hold'}"
        return f"{count} a word of an institution's name. Read them before the study begins: {listed}."


def draw_study(
    store: LabelStore,
    run: Run,
    plan: SamplePlan,
    *,
    study_id: str,
    title: str,
    annotators: Sequence[str],
    now: datetime,
    max_items: int | None = MAX_STUDY_ITEMS,
) -> DrawnSample:
    """Draw a sample from a run and create the study, in one transaction.

    Raises StudyError when the plan is not possible, the run has no answers, or the study cannot be created.
    """
    drawn = draw_sample(run, plan, study_id, max_items)
    new = NewStudy(study_id, title, annotators, drawn.items, plan.seed, plan.names_shown, dict(run.terms), run.synthetic)
    with store.begin() as tx:
        create_study(tx, new, now)
        store_sample(tx, study_id, drawn.origin, drawn.strata, drawn.verdicts)
    return drawn


def draw_sample(run: Run, plan: SamplePlan, study_id: str, max_items: int | None = MAX_STUDY_ITEMS) -> DrawnSample:
    """Draw the sample without creating a study. The same run, plan and study id give the same sample.

    max_items  refuse a larger number of study items; None: no limit

    Every stratum is a simple random sample without replacement of all pairs of the run with its label, pre-screened ABSENT
    pairs included, so that its weight N_h / n_h is exact. Unscored pairs are in no stratum; they are counted.
    """
    check_study_id(study_id)
    _check_plan(plan)
    with open_store(run.path) as con:
        return _draw(con, run, plan, study_id, max_items)


def _draw(con: Connection, run: Run, plan: SamplePlan, study_id: str, max_items: int | None) -> DrawnSample:
    ((has_answers, pairs, unscored),) = rows(con, RUN_COUNTS)
    if not has_answers:
        raise StudyError(f"Run {run.key} has no answers, so annotators would have nothing to read. Nothing was drawn.")
    rng = np.random.default_rng(plan.seed)
    sizes = {(label, second): int(n) for label, second, n in rows(con, POPULATION, {"organ": plan.second == "organ"})}
    strata = allocate_items(sizes, plan)
    _check_size(sum(stratum.study for stratum in strata), max_items)
    positions = [_draw_positions(stratum, rng) for stratum in strata]
    texts = _pair_texts(con, plan, strata, positions)
    order = rng.permutation(sum(map(len, positions)))  # item ids in randomised order, so that none reveals a stratum
    masker = None if plan.names_shown else masker_of(dict(zip(NAME_COLUMNS, row, strict=True)) for row in rows(con, NAMES))
    items, verdicts = _items_and_verdicts(study_id, strata, positions, texts, order.tolist(), masker)
    names_left = _names_left(items, masker) if masker else {}
    items, verdicts = _with_repeats(study_id, items, verdicts, plan.repeats, rng)
    drawn = [Stratum(s.name, s.label, s.second, s.population, s.study) for s in strata]
    requested = {**asdict(plan), "per_label": dict(plan.per_label)}
    origin = SampleOrigin(run.key, run.digest, int(pairs), int(unscored), requested)
    return DrawnSample(items, verdicts, drawn, origin, names_left)


def _check_plan(plan: SamplePlan) -> None:
    unknown = [label for label in plan.per_label if label not in LABELS]
    checks = {
        f"'{', '.join(unknown)}' is not a label (allowed: {', '.join(LABELS)})": bool(unknown),
        "a count is below 0": min([plan.calibration, plan.repeats, plan.seed, *plan.per_label.values()]) < 0,
        f"the calibration round has more than {MAX_CALIBRATION_ITEMS:,} items": plan.calibration > MAX_CALIBRATION_ITEMS,
        f"the seed is above {MAX_SEED:,}": plan.seed > MAX_SEED,
        "no items are requested": sum(plan.per_label.values()) == 0,
        f"'{plan.second}' is not a second criterion (allowed: {', '.join(SECOND_CRITERIA)})": plan.second
        not in (None, *SECOND_CRITERIA),
    }
    faults = [fault for fault, failed in checks.items() if failed]
    if faults:
        raise StudyError(f"This sample cannot be drawn: {'; '.join(faults)}. Nothing was drawn.")


def _check_size(items: int, max_items: int | None) -> None:
    if max_items is not None and items > max_items:
        raise StudyError(
            f"This sample has {items:,} study items, each to be read by two people; more than {max_items:,} need confirmation. "
            "Nothing was drawn. Request fewer, or confirm the number (in a terminal: --yes)."
        )


def allocate_items(population: Mapping[tuple[str, str | None], int], plan: SamplePlan) -> list[StratumPlan]:
    """How many items come from each stratum, in label order, then by name.

    Strata from which nothing is drawn are listed too: no figure covers them, and a report has to say so.
    """
    strata = []
    for label in LABELS:
        sizes = {second: count for (stratum_label, second), count in population.items() if stratum_label == label}
        study = apportion(plan.per_label.get(label, 0), list(sizes.values()))
        strata += [StratumPlan(label.value, second, size, n, 0) for (second, size), n in zip(sizes.items(), study, strict=True)]
    return _with_calibration(strata, plan.calibration)


def apportion(wanted: int, sizes: Sequence[int], least: int = 2) -> list[int]:
    """`wanted` items over strata of these sizes: in proportion, at least `least` from each, never more than it has.

    A variance inside a stratum needs two items, so `wanted` is exceeded where there are many small strata. Remaining items go
    to the largest remainders.
    """
    if wanted == 0 or len(sizes) < 2:
        return [min(wanted, size) for size in sizes]
    total = sum(sizes)
    exact = [min(wanted, total) * size / total for size in sizes]
    # The sum of the floors may exceed the number wanted, because each stratum gets at least two.
    given = [min(size, max(least, math.floor(share))) for size, share in zip(sizes, exact, strict=True)]
    for index in sorted(range(len(sizes)), key=lambda i: math.floor(exact[i]) - exact[i]):
        if sum(given) < min(wanted, total) and given[index] < sizes[index]:
            given[index] += 1
    return given


def _with_calibration(strata: Sequence[StratumPlan], wanted: int) -> list[StratumPlan]:
    """Deal out calibration items label by label, one at a time, from the pairs that the study leaves over."""
    dealt = [0] * len(strata)
    while sum(dealt) < wanted:
        available = [i for i, stratum in enumerate(strata) if stratum.study + dealt[i] < stratum.population]
        if not available:
            break
        per_label = {label: sum(n for n, s in zip(dealt, strata, strict=True) if s.label == label) for label in LABELS}
        dealt[min(available, key=lambda i: (per_label[Label(strata[i].label)], dealt[i], i))] += 1
    return [replace(stratum, calibration=n) for stratum, n in zip(strata, dealt, strict=True)]


def _draw_positions(stratum: StratumPlan, rng: np.random.Generator) -> list[int]:
    # Study items first, so that changing the calibration round does not change which study items are drawn.
    drawn: list[int] = rng.choice(stratum.population, stratum.study + stratum.calibration, replace=False).tolist()
    return drawn


def _pair_texts(
    con: Connection, plan: SamplePlan, strata: Sequence[StratumPlan], positions: Sequence[Sequence[int]]
) -> dict[PairKey, tuple[Any, ...]]:
    keys = [(stratum.label, stratum.second, position) for stratum, own in zip(strata, positions, strict=True) for position in own]
    labels, seconds, numbers = ([key[i] for key in keys] for i in range(3))
    values = {"labels": labels, "seconds": seconds, "positions": numbers, "organ": plan.second == "organ"}
    return {(row[0], row[1], row[2]): tuple(row[3:]) for row in rows(con, CHOSEN_PAIRS, values)}


def _items_and_verdicts(
    study_id: str,
    strata: Sequence[StratumPlan],
    positions: Sequence[Sequence[int]],
    texts: Mapping[PairKey, tuple[Any, ...]],
    order: Sequence[int],
    masker: Masker | None,
) -> tuple[list[NewItem], list[StoredVerdict]]:
    number = iter(order)
    items, verdicts = [], []
    for stratum, own in zip(strata, positions, strict=True):
        for rank, position in enumerate(own):
            item_id = f"{study_id}-{next(number) + 1:04}"
            kind = ItemKind.STUDY if rank < stratum.study else ItemKind.CALIBRATION
            *shown, significance, topic, reasoning = texts[stratum.label, stratum.second, position]
            items.append(_new_item(item_id, kind, shown, masker))
            verdicts.append(StoredVerdict(item_id, stratum.name, stratum.label, significance, topic, reasoning))
    return items, verdicts


def _new_item(item_id: str, kind: ItemKind, shown: Sequence[Any], masker: Masker | None) -> NewItem:
    question_id, question, handbook_a, handbook_b, name_a, name_b, *answers = shown
    # A generator may omit the text of an absent answer; annotators then read the words that mark absence.
    texts = (answer or f"{NOT_ADDRESSED}." for answer in answers)
    first, second = (masker.mask(text) if masker else text for text in texts)
    return NewItem(item_id, kind, question_id, question, handbook_a, handbook_b, name_a, name_b, first, second)


def _names_left(items: Sequence[NewItem], masker: Masker) -> dict[str, list[str]]:
    words = {item.item_id: masker.words_left(f"{item.answer_a}\n{item.answer_b}") for item in items}
    return {item_id: found for item_id, found in words.items() if found}


def _with_repeats(
    study_id: str, items: list[NewItem], verdicts: list[StoredVerdict], repeats: int, rng: np.random.Generator
) -> tuple[list[NewItem], list[StoredVerdict]]:
    verdict_of = {verdict.item_id: verdict for verdict in verdicts}
    study = [item for item in items if item.kind is ItemKind.STUDY]
    chosen = [study[index] for index in rng.choice(len(study), min(repeats, len(study)), replace=False).tolist()]
    ids = [f"{study_id}-{number:04}" for number in range(len(items) + 1, len(items) + 1 + len(chosen))]
    again = [
        replace(item, item_id=item_id, kind=ItemKind.REPEAT, repeat_of=item.item_id)
        for item, item_id in zip(chosen, ids, strict=True)
    ]
    # A repeat has the verdict of its original, so that tables need no special case.
    copies = [replace(verdict_of[item.item_id], item_id=item_id) for item, item_id in zip(chosen, ids, strict=True)]
    return [*items, *again], [*verdicts, *copies]
