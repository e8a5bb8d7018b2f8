"""The figures of an export that compare two runs: those of the page Compare."""

from __future__ import annotations

import pandas as pd

from audit.charts.rates import AUDIT_RATES, DISAGREEMENT_RATE, rate_dots
from audit.charts.run_changes import change_dots, change_steps
from audit.charts.transitions import flows_figure, transitions_figure
from audit.exports.changed import STEPS, disagreement_of_parts, told_apart
from audit.exports.contents.columns import ALL, named
from audit.exports.context import Material
from audit.exports.table_model import Picture


def steps(material: Material) -> list[Picture]:
    """Disagreeing pairs from one run to the other, and how often each part disagrees: absence against judgement."""
    names, rows = _names(material), _whole(material)
    shares = rate_dots(disagreement_of_parts(rows, *names), "name", (DISAGREEMENT_RATE,))
    return [
        Picture(
            "run_steps", "Disagreeing pairs from the first run to the second: what answers found or lost and other verdicts add; "
            "lines are 95 % intervals", change_steps(rows, *names, STEPS),
        ),
        Picture("run_parts", "How often the pairs that both runs have disagree, and those that came or went", shares),
    ]  # fmt: skip


def changes(material: Material) -> list[Picture]:
    """The four rates per organ, as changes with paired intervals."""
    everything, frame = material.say("all {organs}"), material.frame("runs")
    figure = change_dots(frame.assign(organ=named(frame["organ"], everything)), "organ", AUDIT_RATES, everything)
    title = "Change of the four rates from the first run to the second, by {organ}, in percentage points; filled: not 0"
    return [Picture("run_rates", material.say(title), figure)]


def transitions(material: Material) -> list[Picture]:
    """What the second run says of each pair of the first, as a matrix and as bands."""
    names, cells = _names(material), material.frame("transitions")
    return [
        Picture("transitions", "What two runs say of the same pairs", transitions_figure(cells, *names)),
        Picture(
            "flows", "From label to label; without pairs that are pre-screened in both, and the thinnest bands drawn thicker",
            flows_figure(cells, *names),
        ),
    ]  # fmt: skip


def _names(material: Material) -> tuple[str, str]:
    assert material.other is not None
    return told_apart(material.run, material.other)


def _whole(material: Material) -> pd.DataFrame:
    frame = material.frame("runs_change")
    return frame[frame["organ"] == ALL]
