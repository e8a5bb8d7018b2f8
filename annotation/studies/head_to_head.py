"""Draws a head-to-head study from a run: questions that two answering systems both answered, spread over the types of question.

Refusals are answers too, and the rubric says how to compare them. Unreadable replies are counted and not drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from itertools import combinations

from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.studies import RATINGS_PER_ITEM
from annotation.label_store.study_creation import NewStudy, check_study_id
from annotation.schemes import HEAD_TO_HEAD
from annotation.studies.sample_plan import MAX_STUDY_ITEMS, Plan, StratumPlan, apportion, check_counts, check_size
from annotation.studies.sampling import DrawnSample, create_drawn_study, draw_from_strata
from annotation.studies.verdict_store import SampleOrigin
from audit.store.connection import Connection, open_store, rows
from audit.store.runs import Run
from audit.vocabulary import Raters, nearest

QUESTIONS_PER_COUPLE = 40
DECLINED = "The system declined to answer."
"""Shown where a system refused without a text."""
NO_TYPE = "no type"

# Numbers and positions count in a fixed order of questions, so a seed draws the same items from every copy of a run.
ASKED = """
with couples as (
    select unnest($systems_a) as id_a, unnest($systems_b) as id_b
), asked as (
    select a.question, id_a || ' and ' || id_b as couple, coalesce(t.question_type, $no_type) as question_type, id_a, id_b,
           coalesce(x.name, id_a) as name_a, coalesce(y.name, id_b) as name_b,
           coalesce(nullif(trim(a.answer), ''), case when a.refused then $declined end) as answer_a,
           coalesce(nullif(trim(b.answer), ''), case when b.refused then $declined end) as answer_b
    from couples
    join systems x on x.system_id = id_a
    join systems y on y.system_id = id_b
    join system_answers a on a.system = x.system
    join system_answers b on b.system = y.system and b.question = a.question
    left join question_types t on t.question = a.question
), answered as (
    select * from asked where answer_a is not null and answer_b is not null
)
"""
POPULATION = (
    ASKED
    + """
select couple, question_type, (select count(*) from asked), count(*)
from answered group by all order by couple, question_type
"""
)
CHOSEN_QUESTIONS = (
    ASKED
    + """
, wanted as (
    select unnest($labels) as couple, unnest($seconds) as question_type, unnest($positions) as position
), numbered as (
    select *, row_number() over (partition by couple, question_type order by question) - 1 as position from answered
)
select n.couple, n.question_type, n.position, q.question_id, q.text, n.id_a, n.id_b, n.name_a, n.name_b, n.answer_a, n.answer_b,
       r.answer, null, null, null
from wanted w
join numbered n using (couple, question_type, position)
join questions q on q.question = n.question
left join reference_answers r on r.question = n.question and r.place = 0
"""
)


@dataclass(frozen=True, kw_only=True)
class HeadToHeadPlan(Plan):
    """The plan of a sample from the answers of systems.

    systems    ids of two systems or more; each two of them are compared
    questions  study items for each two systems, at least one of each type of question; fewer where they have fewer
    """

    systems: tuple[str, ...]
    questions: int = QUESTIONS_PER_COUPLE
    calibration: int = 5
    repeats: int = 5


def draw_head_to_head_study(
    store: LabelStore,
    run: Run,
    plan: HeadToHeadPlan,
    *,
    study_id: str,
    title: str,
    annotators: Sequence[str],
    now: datetime,
    max_items: int | None = MAX_STUDY_ITEMS,
    ratings_per_item: int = RATINGS_PER_ITEM,
    raters: Raters = Raters.UNKNOWN,
) -> DrawnSample:
    """Draw the questions and create the study, in one transaction.

    Raises StudyError when the plan is not possible, or the study cannot be created.
    """
    drawn = draw_head_to_head(run, plan, study_id, max_items)
    new = NewStudy(
        study_id, title, annotators, drawn.items, plan.seed, scheme=HEAD_TO_HEAD, ratings_per_item=ratings_per_item, raters=raters
    )
    create_drawn_study(store, run, plan, drawn, new, now)
    return drawn


def draw_head_to_head(run: Run, plan: HeadToHeadPlan, study_id: str, max_items: int | None = MAX_STUDY_ITEMS) -> DrawnSample:
    """Draw the questions without creating a study. The same run, plan and study id give the same items.

    A stratum is a type of question for two systems; inside it the draw is a simple random sample without replacement.

    Raises StudyError when the plan is not possible: a system is unknown, or no question was answered by both of two systems.
    """
    check_study_id(study_id)
    with open_store(run.path) as con:
        _check_plan(plan, run, systems_of(con))
        couples = list(combinations(plan.systems, 2))
        values = {
            "systems_a": [a for a, _ in couples],
            "systems_b": [b for _, b in couples],
            "no_type": NO_TYPE,
            "declined": DECLINED,
        }
        population = rows(con, POPULATION, values)
        strata = _allocate(plan, {(couple, kind): n for couple, kind, _, n in population})
        check_size(sum(stratum.study for stratum in strata), max_items)
        asked = population[0][2]
        origin = SampleOrigin(run.key, run.digest, asked, asked - sum(n for *_, n in population), asdict(plan))
        return draw_from_strata(con, plan, study_id, strata, origin, CHOSEN_QUESTIONS, values)


def systems_of(con: Connection) -> dict[str, str]:
    """The answering systems of a run: id -> name."""
    return dict(rows(con, "select system_id, coalesce(name, system_id) from systems order by system"))


def systems_in(run: Run) -> dict[str, str]:
    """The answering systems of a run that is not open."""
    with open_store(run.path) as con:
        return systems_of(con)


def _allocate(plan: HeadToHeadPlan, population: Mapping[tuple[str, str], int]) -> list[StratumPlan]:
    """How many items come from each type of question of each two systems."""
    strata: list[StratumPlan] = []
    for first, second in combinations(plan.systems, 2):
        couple = f"{first} and {second}"
        sizes = {kind: n for (name, kind), n in population.items() if name == couple}
        if not sizes:
            raise StudyError(f"No question was answered by both {couple}, so nothing can be compared. Nothing was drawn.")
        study = apportion(plan.questions, list(sizes.values()), least=1)
        strata += [StratumPlan(couple, kind, size, n, 0) for (kind, size), n in zip(sizes.items(), study, strict=True)]
    left = [stratum.population - stratum.study for stratum in strata]
    calibration = apportion(plan.calibration, left, least=0) if any(left) else left
    return [replace(stratum, calibration=n) for stratum, n in zip(strata, calibration, strict=True)]


def _check_plan(plan: HeadToHeadPlan, run: Run, known: Mapping[str, str]) -> None:
    unknown = [system for system in plan.systems if system not in known]
    checks = {
        f"run {run.key} has no answering systems": not known,
        f"run {run.key} has no system '{', '.join(unknown)}'{nearest(unknown[0], tuple(known)) if unknown else ''} "
        f"(it has: {', '.join(known)})": bool(known and unknown),
        "it needs two different systems": len(set(plan.systems)) < 2 or len(set(plan.systems)) != len(plan.systems),
    }
    check_counts(plan, [plan.questions], checks)
