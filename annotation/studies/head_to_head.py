"""Draws a head-to-head study from a run: questions that two answering systems both answered, spread over the types of question.

Refusals are answers too, and the rubric says how to compare them. Unreadable replies are counted and not drawn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import chain, combinations
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.results import assignment_rows, rated_study_items
from annotation.label_store.studies import find_study
from annotation.label_store.study_creation import check_study_id
from annotation.schemes import HEAD_TO_HEAD
from annotation.studies.sample_plan import MAX_STUDY_ITEMS, Plan, StratumPlan, apportion, check_counts, check_size
from annotation.studies.sampling import DrawnSample, draw_from_strata, draw_study
from annotation.studies.verdict_store import SampleOrigin
from audit.evaluation.preferences import bradley_terry, share_of, side_effect
from audit.formatting import fixed
from audit.release.write import write_jsonl
from audit.store.connection import Connection, open_store, rows
from audit.store.runs import Run
from audit.tables import Column, TableSpec
from audit.vocabulary import SIDES, Preference, RaterKind, nearest

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


draw_head_to_head_study = partial(draw_study, scheme=HEAD_TO_HEAD, draw=lambda _, *drawn: draw_head_to_head(*drawn))
"""Draw the questions and create the study, as `draw_study`."""


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


# -- Results of a head-to-head study: as records of a release, and as tables ---------------------------------
# For PIs only: it names the systems. Nothing that annotators can reach may import this module.

SMALLEST_P = 0.001
COMPARISON_COLUMNS = ["question", "system_a", "system_b", "preference", "shown_first"]
COUPLES_TABLE = TableSpec(
    "Preferences of the annotators",
    (
        Column.text("first", "System"), Column.text("second", "Compared with"), Column.count("n", "n", "choices"),
        Column.count("a", "Better"), Column.count("b", "Worse"), Column.count("tie", "Ties"),
        Column.count("both_bad", "Both bad"), Column.share("share", "Better", "of those decided"),
    ),
    (
        "One choice per annotator and item; calibration items and silent repeats are excluded.",
        "Decided: neither a tie nor both bad. Intervals: 95 %, questions resampled.",
    ),
)  # fmt: skip
COUPLE_COLUMNS = [column.name for column in COUPLES_TABLE.columns]
STRENGTHS_TABLE = TableSpec(
    "Strengths of the systems (Bradley-Terry)",
    (
        Column.count("rank", "Rank"),
        Column.text("system", "System"),
        Column.count("comparisons", "n", "choices"),
        Column.decimal("strength", "Strength", "log scale"),
    ),
    (
        "The log odds that a system is preferred to another are the difference of their strengths; a tie, and both bad, count "
        "half for each. Intervals: 95 %, questions resampled. A dash: no finite strength fits, or too few questions.",
    ),
)


def preference_records(store: LabelStore, study_id: str) -> list[dict[str, str | None]]:
    """The choices as records of `preferences.jsonl`: one per annotator and study item, repeats and calibration items excluded.

    A preference is in terms of systems: A is system_a, whatever side its answer was on; shown_first is the side that was first.

    Raises StudyError when there is no such study, or it is not a head-to-head study.
    """
    if find_study(store, study_id).scheme is not HEAD_TO_HEAD:
        raise StudyError(f"Study '{study_id}' labels pairs of handbooks, so it has no preferences. Nothing was written.")
    return [
        {
            "question_id": row["question_id"], "system_a": row["handbook_a"], "system_b": row["handbook_b"],
            "preference": row["label"], "rater": row["annotator"], "rater_kind": RaterKind.HUMAN.value,
            "shown_first": str(SIDES[row["swapped"]]), "comment": row["comment"] or None,
        }
        for rows in rated_study_items(store, study_id).values()
        for row in rows
    ]  # fmt: skip


def preferences_jsonl(store: LabelStore, study_id: str) -> bytes:
    """The preference records as a file for the folder of the release that the systems are from. Raises as above."""
    records = preference_records(store, study_id)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "preferences.jsonl"
        write_jsonl(path, records)
        return path.read_bytes()


def system_names(store: LabelStore, study_id: str) -> dict[str, str]:
    """System id -> name, for the systems that a head-to-head study compares."""
    rows = assignment_rows(store, study_id)
    return dict(chain.from_iterable(((row["handbook_a"], row["name_a"]), (row["handbook_b"], row["name_b"])) for row in rows))


def comparisons_of(store: LabelStore, study_id: str) -> pd.DataFrame:
    """The choices as `audit.evaluation` takes them, one row each: COMPARISON_COLUMNS. Raises as `preference_records`."""
    frame = pd.DataFrame(preference_records(store, study_id), columns=["question_id", *COMPARISON_COLUMNS[1:]])
    return frame.set_axis(COMPARISON_COLUMNS, axis=1)


def couples_frame(comparisons: pd.DataFrame, names: dict[str, str]) -> pd.DataFrame:
    """One row for each two systems that were compared, with the columns of COUPLES_TABLE."""
    rows = []
    for (first, second), own in comparisons.groupby(["system_a", "system_b"], sort=False):
        counts = {preference.value.lower(): int((own["preference"] == preference).sum()) for preference in Preference}
        share = share_of(own["question"], own["preference"] == Preference.A, own["preference"].isin(SIDES))
        ends = {"share": share.value, "share_low": share.low, "share_high": share.high}
        rows.append({"first": names[str(first)], "second": names[str(second)], "n": len(own), **counts, **ends})
    return pd.DataFrame(rows, columns=[*COUPLE_COLUMNS, "share_low", "share_high"])


def strengths_frame(comparisons: pd.DataFrame, names: dict[str, str]) -> pd.DataFrame:
    """One row per system, strongest first, with the columns of STRENGTHS_TABLE."""
    frame = bradley_terry(comparisons, list(names))
    return frame.assign(system=frame["system_id"].map(names)).sort_values("rank", kind="stable")


def side_sentence(comparisons: pd.DataFrame) -> str:
    """Whether the answer on side A is preferred because it is on side A, in one sentence."""
    effect = side_effect(comparisons, "shown_first")
    if not effect.comparisons:
        return "No choice is decided yet, so the effect of the side is unknown."
    won = f"Answer A of the screen was preferred in {effect.won} of {effect.comparisons} decided choices"
    if math.isnan(effect.p_value):
        return f"{won}; each system was on one side only, or one always won, so the effect of the side is not known."
    adjusted = f"With the systems held equal: {fixed(100 * effect.adjusted, 0)} %, where 50 % means that the side has no effect"
    p_value = "p < 0.001" if effect.p_value < SMALLEST_P else f"p = {fixed(effect.p_value, 3)}"
    return f"{won}. {adjusted} ({p_value})."
