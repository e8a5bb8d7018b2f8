"""Results of a head-to-head study: as records of a release, and as tables.

For PIs only: it names the systems. Nothing that annotators can reach may import this module.
"""

from __future__ import annotations

import math
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.results import assignment_rows, rated_study_items
from annotation.label_store.studies import find_study
from annotation.schemes import HEAD_TO_HEAD
from audit.evaluation.bradley_terry import bradley_terry
from audit.evaluation.preferences import share_of
from audit.evaluation.side_effects import side_effect
from audit.formatting import fixed
from audit.release.write import write_jsonl
from audit.tables import Column, TableSpec
from audit.vocabulary import SIDES, Preference, RaterKind

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
