"""Draws a study's sample from a run: stratified by the judge's label, without replacement, reproducible by its seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

import numpy as np

from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.exit_questions import record_institutions
from annotation.label_store.seals import record_study_event
from annotation.label_store.studies import RATINGS_PER_ITEM, ItemKind
from annotation.label_store.study_creation import NewItem, NewStudy, check_study_id, create_study
from annotation.ratings.design import PRESCREENED, UNSCORED
from annotation.schemes import PAIRS, Scheme
from annotation.studies.earlier_studies import RatedPair, pairs_of_studies
from annotation.studies.first_in_line import FIRST_IN_LINE, values_of
from annotation.studies.learnt import JUDGED_WITH, prompts_in
from annotation.studies.masking_preview import MaskingPreview, names_left_text, preview_masking, words_left
from annotation.studies.sample_plan import (
    MAX_STUDY_ITEMS,
    Plan,
    SamplePlan,
    StratumKey,
    StratumPlan,
    allocate_items,
    check_plan,
    check_size,
)
from annotation.studies.shown_answers import Presenter, presenter_of_run
from annotation.studies.verdict_store import SampleOrigin, StoredVerdict, Stratum, store_sample
from audit.formatting import shortened
from audit.store.connection import Connection, open_store, rows
from audit.store.runs import Run
from audit.vocabulary import Raters

# Pairs with their stratum; those without a label are in one only where the judge could not tell
STRATA = f"""
{FIRST_IN_LINE}, stratified as (
    select p.question, p.handbook_a, p.handbook_b, coalesce(p.label::varchar, '{UNSCORED}') as label,
           coalesce(f.reason, case when $organ then q.organ when $screened and p.prescreened then '{PRESCREENED}' end) as second
    from pairs p join questions q using (question)
    left join first_in_line f using (question, handbook_a, handbook_b)
    where p.label is not null or f.reason is not null
)
"""
POPULATION = f"with {STRATA} select label, second, count(*) as pairs from stratified group by all order by label, second"
EARLIER = """
earlier as (
    select question, a.handbook as handbook_a, b.handbook as handbook_b
    from (
        select unnest($questions::varchar[]) as question_id, unnest($firsts::varchar[]) as first,
               unnest($others::varchar[]) as other
    )
    join questions using (question_id)
    join handbooks a on a.handbook_id = first
    join handbooks b on b.handbook_id = other
)
"""
LEFT_OUT = f"""
with {STRATA}, {EARLIER}
select label, second, count(*) from stratified semi join earlier using (question, handbook_a, handbook_b) group by all
"""
# Positions count in a fixed order of pairs, so a seed draws the same pairs from every copy of a run.
CHOSEN_PAIRS = f"""
with {STRATA}, {EARLIER}, wanted as (
    select unnest($labels) as label, unnest($seconds) as second, unnest($positions) as position
), numbered as (
    select *, row_number() over (partition by label, second order by question, handbook_a, handbook_b) - 1 as position
    from stratified anti join earlier using (question, handbook_a, handbook_b)
)
select n.label, n.second, n.position, q.question_id, q.text, a.handbook_id, b.handbook_id,
       coalesce(a.title, a.handbook_id), coalesce(b.title, b.handbook_id),
       answer_a.answer, answer_b.answer, null,
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
CENTERS = "select handbook_id, center from handbooks order by handbook"
RUN_COUNTS = "select has_answers, (select count(*) from pairs) from run"

PairKey = tuple[str, str | None, int]
"""(label, second criterion, position in the stratum)."""


@dataclass(frozen=True)
class DrawnSample:
    """A sample: the items as annotators see them, the judge's verdict on each, the strata, and the sample's origin.

    names_left  item id -> words of its masked answers that contain a word of an institution's name; repeats excluded
    masking     what is masked in the answers; None where names are shown
    institutions  handbook id -> institution, of the handbooks in the sample, for the exit question; empty where names are shown
    """

    items: list[NewItem]
    verdicts: list[StoredVerdict]
    strata: list[Stratum]
    origin: SampleOrigin
    names_left: Mapping[str, list[str]] = field(default_factory=dict)
    # Not compared: it follows from the items, and has a table
    masking: MaskingPreview | None = field(default=None, compare=False)
    institutions: Mapping[str, str] = field(default_factory=dict, compare=False)

    def not_drawn_text(self) -> str:
        """The part of the run that is in no stratum, with the reason, in words."""
        unscored, pairs = f"{self.origin.unscored:,}", f"{self.origin.pairs:,}"
        if "systems" in self.origin.plan:
            return f"{unscored} of {pairs} comparisons lack an answer that could be read, and are in no stratum."
        return f"{unscored} of {pairs} pairs have no verdict and are in no stratum."

    def names_left_text(self) -> str:
        """The names that remain in the answers, in words for the principal investigator; "" if names are shown."""
        return names_left_text(self.names_left, names_shown=bool(self.origin.plan["names_shown"]))


def plan_of(origin: SampleOrigin) -> Plan:
    """What was planned of how answers are shown; studies of before an option have its default."""
    known = {name: origin.plan[name] for name in ("names_shown", "phrases_masked", "statements") if name in origin.plan}
    return Plan(**known, masked_words=tuple(origin.plan.get("masked_words", ())))


def preview_study(
    store: LabelStore, run: Run, plan: SamplePlan, study_id: str, max_items: int | None = MAX_STUDY_ITEMS
) -> DrawnSample:
    """The sample that `draw_study` would make a study of. Raises StudyError as it does."""
    return draw_sample(run, plan, study_id, max_items, pairs_of_studies(store, run, plan.after))


def draw_study(
    store: LabelStore,
    run: Run,
    plan: Plan,
    *,
    study_id: str,
    title: str,
    annotators: Sequence[str],
    now: datetime,
    max_items: int | None = MAX_STUDY_ITEMS,
    ratings_per_item: int = RATINGS_PER_ITEM,
    raters: Raters = Raters.UNKNOWN,
    scheme: Scheme = PAIRS,
    draw: Callable[[LabelStore, Run, Any, str, int | None], DrawnSample] = preview_study,
    present: Callable[[DrawnSample], DrawnSample] = lambda drawn: drawn,
) -> DrawnSample:
    """Draw a sample from a run and create the study, in one transaction.

    present  changes what raters read of the sample

    Raises StudyError when the plan is not possible, the run has no answers, or the study cannot be created.
    """
    drawn = present(draw(store, run, plan, study_id, max_items))
    new = NewStudy(
        study_id, title, annotators, drawn.items, plan.seed, scheme=scheme, ratings_per_item=ratings_per_item, raters=raters,
        names_shown=plan.names_shown, terms=dict(run.terms), synthetic=run.synthetic,
    )  # fmt: skip
    with store.begin() as tx:
        create_study(tx, new, now)
        store_sample(tx, new.study_id, drawn.origin, drawn.strata, drawn.verdicts)
        if prompts := prompts_in(run.manifest):
            record_study_event(tx, new.study_id, JUDGED_WITH, {"prompts": prompts}, now)
        record_institutions(tx, new.study_id, drawn.institutions, now)
    return drawn


def draw_sample(
    run: Run, plan: SamplePlan, study_id: str, max_items: int | None = MAX_STUDY_ITEMS, earlier: Sequence[RatedPair] = ()
) -> DrawnSample:
    """Draw the sample without creating a study. The same run, plan, study id and earlier pairs give the same sample.

    max_items  refuse a larger number of study items; None: no limit
    earlier    the pairs of the studies in `plan.after`

    Every stratum is a simple random sample without replacement of all pairs of the run with its label, pre-screened ABSENT
    pairs included unless the study is designed for a figure, so its weight N_h / n_h is exact. Unscored pairs are in no stratum
    unless the judge could not tell and they are first in line; they are counted.
    """
    check_study_id(study_id)
    check_plan(plan)
    with open_store(run.path) as con:
        return _draw(con, run, plan, study_id, max_items, earlier)


def stratum_sizes(con: Connection, *, by_organ: bool, screened: bool = False, first: bool = False) -> dict[StratumKey, int]:
    """Pairs of a run by the judge's label and a second criterion, else None.

    by_organ  the organ of the question; screened  whether the pair was pre-screened; first  why it is first in line, which
              precedes both
    """
    values = {"organ": by_organ, "screened": screened, **values_of(con, first=first)}
    return _sizes(con, POPULATION, values)


def _sizes(con: Connection, query: str, values: Mapping[str, object]) -> dict[StratumKey, int]:
    return {(label, second): int(n) for label, second, n in rows(con, query, values)}


def _draw(
    con: Connection, run: Run, plan: SamplePlan, study_id: str, max_items: int | None, earlier: Sequence[RatedPair]
) -> DrawnSample:
    ((has_answers, pairs),) = rows(con, RUN_COUNTS)
    if not has_answers:
        raise StudyError(f"Run {run.key} has no answers, so annotators would have nothing to read. Nothing was drawn.")
    questions, firsts, others = ([pair[i] for pair in earlier] for i in range(3))
    first = values_of(con, first=plan.first_in_line > 0)
    divided = {"organ": plan.second == "organ", "screened": bool(plan.design_for), **first}
    values = {**divided, "questions": questions, "firsts": firsts, "others": others}
    sizes, left_out = _sizes(con, POPULATION, divided), _sizes(con, LEFT_OUT, values) if earlier else {}
    strata = allocate_items(sizes, plan, left_out)
    check_size(sum(stratum.study for stratum in strata), max_items)
    requested = {**asdict(plan), "per_label": dict(plan.per_label)}
    origin = SampleOrigin(run.key, run.digest, int(pairs), int(pairs) - sum(sizes.values()), requested)
    return draw_from_strata(con, plan, study_id, strata, origin, CHOSEN_PAIRS, values)


def draw_from_strata(
    con: Connection,
    plan: Plan,
    study_id: str,
    strata: Sequence[StratumPlan],
    origin: SampleOrigin,
    query: str,
    values: Mapping[str, Any],
) -> DrawnSample:
    """Draw the items of each stratum, with their texts, in an order that reveals no stratum, and their silent repeats.

    query   label, second and position of the items wanted ($labels, $seconds, $positions), then what an item shows (question
            id and text; whose two answers, by id and by name; the two answers; the reference answer) and the judge's
            significance, topic and reasoning
    values  its other parameters
    """
    rng = np.random.default_rng(plan.seed)
    positions = [_draw_positions(stratum, rng) for stratum in strata]
    texts = _texts(con, query, values, strata, positions)
    order = rng.permutation(sum(map(len, positions)))  # item ids in randomised order, so none reveals a stratum
    presenter = presenter_of_run(con, plan)
    masker = presenter.masker
    items, verdicts = _items_and_verdicts(study_id, strata, positions, texts, order.tolist(), presenter)
    names_left = words_left(((item.item_id, item.answer_a, item.answer_b) for item in items), masker) if masker else {}
    answers, shown = [row[6:8] for row in texts.values()], (text for item in items for text in (item.answer_a, item.answer_b))
    masking = preview_masking(answers, shown, masker, presenter.left_out) if masker else None
    items, verdicts = _with_repeats(study_id, items, verdicts, plan.repeats, rng)
    drawn = [Stratum(s.name, s.label, s.second, s.population, s.study) for s in strata]
    in_sample = {handbook for item in items for handbook in (item.handbook_a, item.handbook_b)}
    institutions = {handbook: center for handbook, center in rows(con, CENTERS) if masker and handbook in in_sample}
    return DrawnSample(items, verdicts, drawn, origin, names_left, masking, institutions)


def _draw_positions(stratum: StratumPlan, rng: np.random.Generator) -> list[int]:
    # Study items first, so changing the calibration round does not change which study items are drawn.
    drawn: list[int] = rng.choice(stratum.available, stratum.study + stratum.calibration, replace=False).tolist()
    return drawn


def _texts(
    con: Connection, query: str, values: Mapping[str, Any], strata: Sequence[StratumPlan], positions: Sequence[Sequence[int]]
) -> dict[PairKey, tuple[Any, ...]]:
    keys = [(stratum.label, stratum.second, position) for stratum, own in zip(strata, positions, strict=True) for position in own]
    labels, seconds, numbers = ([key[i] for key in keys] for i in range(3))
    wanted = {"labels": labels, "seconds": seconds, "positions": numbers}
    return {(row[0], row[1], row[2]): tuple(row[3:]) for row in rows(con, query, {**wanted, **values})}


def _items_and_verdicts(
    study_id: str,
    strata: Sequence[StratumPlan],
    positions: Sequence[Sequence[int]],
    texts: Mapping[PairKey, tuple[Any, ...]],
    order: Sequence[int],
    presenter: Presenter,
) -> tuple[list[NewItem], list[StoredVerdict]]:
    number = iter(order)
    items, verdicts = [], []
    for stratum, own in zip(strata, positions, strict=True):
        for rank, position in enumerate(own):
            item_id = f"{study_id}-{next(number) + 1:04}"
            kind = ItemKind.STUDY if rank < stratum.study else ItemKind.CALIBRATION
            *shown, significance, topic, reasoning = texts[stratum.label, stratum.second, position]
            items.append(_new_item(item_id, kind, shown, presenter))
            verdicts.append(StoredVerdict(item_id, stratum.name, stratum.label, significance, topic, reasoning))
    return items, verdicts


def _new_item(item_id: str, kind: ItemKind, shown: Sequence[Any], presenter: Presenter) -> NewItem:
    question_id, question, handbook_a, handbook_b, name_a, name_b, *answers, reference = shown
    masker = presenter.masker
    first, second = presenter.pair(question, (handbook_a, handbook_b), (answers[0], answers[1]))
    question, reference = shortened(question), shortened(reference or "")
    known = (masker.mask(reference) if masker else reference) or None
    names = handbook_a, handbook_b, name_a, name_b
    asked = masker.mask(question) if masker else question
    return NewItem(item_id, kind, question_id, asked, *names, first, second, reference=known)


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
    # A repeat has the verdict of its original, so tables need no special case.
    copies = [replace(verdict_of[item.item_id], item_id=item_id) for item, item_id in zip(chosen, ids, strict=True)]
    return [*items, *again], [*verdicts, *copies]
