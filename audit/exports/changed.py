"""What changed between two runs: words and rows that the page Compare and the exported package share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from audit.metrics.runs_change import BOTH, HIDES, JUDGES, LOST, NOTHING, REVEALED, REVEALS
from audit.store.runs import Run

VERDICTS = {
    REVEALS: "{second} reveals disagreement; it does not make it.",
    HIDES: "{second} finds fewer answers, and so hides disagreement; it does not settle it.",
    JUDGES: "Verdicts changed where both runs have both answers: another judge, or other words in what was found.",
    NOTHING: "No change that could not be chance.",
}
"""What audit.metrics.runs_change.verdict comes to, in a sentence."""
STEPS = {REVEALED: "newly found answers", LOST: "answers no longer found", BOTH: "judged otherwise"}
"""The bars between the disagreeing pairs of two runs."""


def told_apart(first: Run, second: Run) -> tuple[str, str]:
    """What each of two runs is called in a chart or a heading: its id, or its key where both have the same id."""
    return (first.key, second.key) if first.run_id == second.run_id else (first.run_id, second.run_id)


def disagreement_of_parts(rows: pd.DataFrame, first: str, second: str) -> pd.DataFrame:
    """R_div of the pairs present in both runs, in either run, and of what was revealed or lost, where there is any.

    rows           one organ of audit.metrics.runs_change
    first, second  what the runs are called

    name (str), present (int, pairs), r_div, r_div_low, r_div_high.
    """
    wanted = [(BOTH, "first", f"in both, says {first}"), (BOTH, "second", f"in both, says {second}"),
              (REVEALED, "second", "newly found"), (LOST, "first", "no longer found")]  # fmt: skip
    by_part: dict[Any, dict[Any, Any]] = rows.set_index("part").to_dict("index")
    return pd.DataFrame([_share(by_part[part], *said) for part, *said in wanted if part == BOTH or by_part[part]["pairs"]])


def _share(row: Mapping[Any, Any], side: str, name: str) -> dict[str, Any]:
    ends = {f"r_div{end}": row[f"r_div_{side}{end}"] for end in ("", "_low", "_high")}
    return {"name": f"{name} ({row['pairs']:,} {'pair' if row['pairs'] == 1 else 'pairs'})", "present": int(row["pairs"]), **ends}
