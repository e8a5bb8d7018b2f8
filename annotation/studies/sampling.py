"""Drawing a study's sample from a run: stratified by the judge's label, without replacement, the same for the same seed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

import numpy as np

from annotation.label_store.engine import LabelStore
from annotation.label_store.errors import StudyError
from annotation.label_store.studies import ItemKind, NewItem, NewStudy, check_study_id, create_study
from annotation.studies.verdict_store import SampleOrigin, StoredVerdict, Stratum, store_sample
from audit.store.connection import Connection, open_store, rows
from audit.store.runs import Run
from audit.text.names import hide_names
from audit.vocabulary import LABELS, NOT_ADDRESSED, Label

ITEMS_PER_LABEL = 40
MAX_STUDY_ITEMS = 5_000
"""Items that are drawn without asking back: with five minutes an item, ten weeks of work for each of two people."""
MAX_CALIBRATION_ITEMS, MAX_SEED = 1_000, 2**31 - 1
SECOND_CRITERIA = ("organ",)
"""What may be a second criterion: a property that each question has once."""

POPULATION = """
select p.label::varchar as label, case when $organ then q.organ end as second, count(*) as pairs
from pairs p join questions q using (question)
where p.label is not null
group by all
order by label, second
"""
CHOSEN = """
with wanted as (
    select unnest($labels) as label, unnest($seconds) as second, unnest($places) as place
), numbered as (
    select p.question, p.handbook_a, p.handbook_b, p.label::varchar as label, case when $organ then q.organ end as second,
           row_number() over (partition by p.label, second order by p.question, p.handbook_a, p.handbook_b) - 1 as place
    from pairs p join questions q using (question)
    where p.label is not null
)
select n.label, n.second, n.place, q.question_id, q.text, a.handbook_id, b.handbook_id,
       coalesce(a.title, a.handbook_id), coalesce(b.title, b.handbook_id), a.center, b.center,
       said_a.answer, said_b.answer,
       p.significance::varchar, p.divergence_topic, p.reasoning
from wanted w
join numbered n on n.label = w.label and n.second is not distinct from w.second and n.place = w.place
join pairs p on (p.question, p.handbook_a, p.handbook_b) = (n.question, n.handbook_a, n.handbook_b)
join questions q on q.question = n.question
join handbooks a on a.handbook = n.handbook_a
join handbooks b on b.handbook = n.handbook_b
left join answers said_a on said_a.question = n.question and said_a.handbook = n.handbook_a
left join answers said_b on said_b.question = n.question and said_b.handbook = n.handbook_b
"""
COUNTS = "select has_answers, (select count(*) from pairs), (select count(*) from pairs where label is null) from run"


@dataclass(frozen=True)
class SamplePlan:
    """What to draw.

    per_label    study items per label of the judge; a stratum that holds fewer is taken whole
    second       None, or `organ`: each label's items are then spread over the organs in proportion to their pairs, at
                 least two from each that has any
    calibration  items of the calibration round, spread over the labels, apart from the study and not counted
    repeats      study items that come back silently, for intra-annotator agreement
    names_shown  whether annotators see whose answer it is; if not, names are taken out of the answers too
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
    """A sample: the items as annotators get them, what the judge said of each, the strata, where it comes from."""

    items: list[NewItem]
    verdicts: list[StoredVerdict]
    strata: list[Stratum]
    origin: SampleOrigin


def draw_study(
    store: LabelStore,
    run: Run,
    plan: SamplePlan,
    *,
    study_id: str,
    title: str,
    annotators: Sequence[str],
    now: datetime,
    most: int | None = MAX_STUDY_ITEMS,
) -> DrawnSample:
    """Draw a sample from a run and make the study, whole or not at all.

    Raises StudyError when the plan cannot be, the run has no answers to show, or the study cannot be made.
    """
    drawn = draw_sample(run, plan, study_id, most)
    new = NewStudy(study_id, title, annotators, drawn.items, plan.seed, plan.names_shown, dict(run.terms), run.synthetic)
    with store.begin() as tx:
        create_study(tx, new, now)
        store_sample(tx, study_id, drawn.origin, drawn.strata, drawn.verdicts)
    return drawn


def draw_sample(run: Run, plan: SamplePlan, study_id: str, most: int | None = MAX_STUDY_ITEMS) -> DrawnSample:
    """The sample alone. The same run, plan and study id give the same sample.

    most  study items at the most; None: however many the plan asks for

    Every stratum is a simple random sample without replacement of all pairs of the run that carry its label, pre-screened
    ABSENT pairs included, so that its weight N_h / n_h is exact. Unscored pairs are in no stratum; they are counted.
    """
    check_study_id(study_id)
    _check(plan)
    with open_store(run.path) as con:
        return _draw(con, run, plan, study_id, most)


def _draw(con: Connection, run: Run, plan: SamplePlan, study_id: str, most: int | None) -> DrawnSample:
    ((has_answers, pairs, unscored),) = rows(con, COUNTS)
    if not has_answers:
        raise StudyError(f"Run {run.key} came without answers, so there is nothing to read. Nothing was drawn.")
    chance = np.random.default_rng(plan.seed)
    cells = allocate_items(_population(con, plan), plan)
    _check_size(sum(cell.study for cell in cells), most)
    places = [_places(cell, chance) for cell in cells]
    records = _records(con, plan, cells, places)
    order = chance.permutation(sum(len(each) for each in places))  # ids in an order that tells no stratum
    items, said = _items(study_id, plan, cells, places, records, order.tolist())
    items, said = _with_repeats(study_id, items, said, plan.repeats, chance)
    strata = [Stratum(cell.name, cell.label, cell.second, cell.population, cell.study) for cell in cells]
    origin = SampleOrigin(run.key, run.digest, int(pairs), int(unscored), {**asdict(plan), "per_label": dict(plan.per_label)})
    return DrawnSample(items, said, strata, origin)


def _check(plan: SamplePlan) -> None:
    unknown = [label for label in plan.per_label if label not in LABELS]
    faults = {
        f"'{', '.join(unknown)}' is no label (allowed: {', '.join(LABELS)})": bool(unknown),
        "a count is below 0": min([plan.calibration, plan.repeats, plan.seed, *plan.per_label.values()]) < 0,
        f"the calibration round has more than {MAX_CALIBRATION_ITEMS:,} items": plan.calibration > MAX_CALIBRATION_ITEMS,
        f"the seed is above {MAX_SEED:,}": plan.seed > MAX_SEED,
        "no items are asked for": sum(plan.per_label.values()) == 0,
        f"there is no second criterion '{plan.second}' (allowed: {', '.join(SECOND_CRITERIA)})": plan.second
        not in (None, *SECOND_CRITERIA),
    }
    found = [fault for fault, wrong in faults.items() if wrong]
    if found:
        raise StudyError(f"This sample cannot be drawn: {'; '.join(found)}. Nothing was drawn.")


def _check_size(items: int, most: int | None) -> None:
    if most is not None and items > most:
        raise StudyError(
            f"This sample has {items:,} study items, each to be read by two people; more than {most:,} are not drawn unasked. "
            "Nothing was drawn. Ask for fewer, or say that you mean it (in a terminal: --yes)."
        )


def _population(con: Connection, plan: SamplePlan) -> dict[tuple[str, str | None], int]:
    counted = rows(con, POPULATION, {"organ": plan.second == "organ"})
    return {(label, second): int(pairs) for label, second, pairs in counted}


def allocate_items(population: Mapping[tuple[str, str | None], int], plan: SamplePlan) -> list[StratumPlan]:
    """How many items come from each stratum; strata stand in label order, then by name. Every stratum is listed, also those
    from which nothing is drawn: no figure speaks for them, and a report must be able to say so.
    """
    cells = []
    for label in LABELS:
        sizes = {second: count for (of, second), count in population.items() if of == label}
        study = apportion(plan.per_label.get(label, 0), list(sizes.values()))
        cells += [StratumPlan(label.value, second, size, n, 0) for (second, size), n in zip(sizes.items(), study, strict=True)]
    return _with_calibration(cells, plan.calibration)


def apportion(wanted: int, sizes: Sequence[int], least: int = 2) -> list[int]:
    """`wanted` items over strata of these sizes: in proportion, at least `least` from each, never more than it holds.

    Two are needed for a variance inside a stratum, so `wanted` is exceeded where there are many small strata. What the
    proportion leaves over goes to the largest remainders.
    """
    if wanted == 0 or len(sizes) < 2:
        return [min(wanted, size) for size in sizes]
    total = sum(sizes)
    exact = [min(wanted, total) * size / total for size in sizes]
    given = [min(size, max(least, math.floor(share))) for size, share in zip(sizes, exact, strict=True)]
    for place in sorted(range(len(sizes)), key=lambda i: math.floor(exact[i]) - exact[i]):
        if sum(given) < min(wanted, total) and given[place] < sizes[place]:
            given[place] += 1
    return given


def _with_calibration(cells: Sequence[StratumPlan], wanted: int) -> list[StratumPlan]:
    """Calibration items are dealt label by label, one at a time, from what the study leaves over."""
    dealt = [0] * len(cells)
    while sum(dealt) < wanted:
        open_ = [i for i, cell in enumerate(cells) if cell.study + dealt[i] < cell.population]
        if not open_:
            break
        labels = {label: sum(dealt[i] for i in range(len(cells)) if cells[i].label == label) for label in LABELS}
        dealt[min(open_, key=lambda i: (labels[Label(cells[i].label)], dealt[i], i))] += 1
    return [StratumPlan(c.label, c.second, c.population, c.study, n) for c, n in zip(cells, dealt, strict=True)]


def _places(cell: StratumPlan, chance: np.random.Generator) -> list[int]:
    """Places in the stratum: study items first, so that calibration takes nothing from their randomness."""
    drawn: list[int] = chance.choice(cell.population, cell.study + cell.calibration, replace=False).tolist()
    return drawn


def _records(
    con: Connection, plan: SamplePlan, cells: Sequence[StratumPlan], places: Sequence[Sequence[int]]
) -> dict[tuple[str, str | None, int], tuple[Any, ...]]:
    wanted = [(cell.label, cell.second, place) for cell, own in zip(cells, places, strict=True) for place in own]
    labels, seconds, numbers = ([key[i] for key in wanted] for i in range(3))
    values = {"labels": labels, "seconds": seconds, "places": numbers, "organ": plan.second == "organ"}
    return {(label, second, place): told for label, second, place, *told in rows(con, CHOSEN, values)}  # type: ignore[misc]


def _items(
    study_id: str,
    plan: SamplePlan,
    cells: Sequence[StratumPlan],
    places: Sequence[Sequence[int]],
    records: Mapping[tuple[str, str | None, int], tuple[Any, ...]],
    order: Sequence[int],
) -> tuple[list[NewItem], list[StoredVerdict]]:
    number = iter(order)
    items, said = [], []
    for cell, own in zip(cells, places, strict=True):
        for rank, place in enumerate(own):
            item_id = f"{study_id}-{next(number) + 1:04}"
            kind = ItemKind.STUDY if rank < cell.study else ItemKind.CALIBRATION
            *shown, significance, topic, reasoning = records[cell.label, cell.second, place]
            items.append(_item(item_id, kind, shown, not plan.names_shown))
            said.append(StoredVerdict(item_id, cell.name, cell.label, significance, topic, reasoning))
    return items, said


def _item(item_id: str, kind: ItemKind, shown: Sequence[Any], hidden: bool) -> NewItem:
    question_id, question, handbook_a, handbook_b, name_a, name_b, center_a, center_b, *answers = shown
    names = (name_a, name_b, center_a, center_b) if hidden else ()
    # A generator may leave the text of an absent answer out; the annotator reads what it stands for.
    first, second = (hide_names(answer or f"{NOT_ADDRESSED}.", names) for answer in answers)
    return NewItem(item_id, kind, question_id, question, handbook_a, handbook_b, name_a, name_b, first, second)


def _with_repeats(
    study_id: str, items: list[NewItem], said: list[StoredVerdict], repeats: int, chance: np.random.Generator
) -> tuple[list[NewItem], list[StoredVerdict]]:
    verdict = {each.item_id: each for each in said}
    study = [item for item in items if item.kind is ItemKind.STUDY]
    again = chance.choice(len(study), min(repeats, len(study)), replace=False).tolist()
    for number, place in enumerate(again, start=len(items) + 1):
        of = study[place]
        own = f"{study_id}-{number:04}"
        items = [*items, NewItem(**{**asdict(of), "item_id": own, "kind": ItemKind.REPEAT, "repeat_of": of.item_id})]
        said = [*said, StoredVerdict(**{**asdict(verdict[of.item_id]), "item_id": own})]
    return items, said
