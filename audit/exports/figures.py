"""The figures of an export: the charts of the pages, on the same frames as its tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from audit.charts.coverage import coverage_figure, coverage_rows
from audit.charts.funnel import funnel
from audit.charts.labels import share_heatmap, two_step_bar
from audit.charts.rates import ANY_DISAGREEMENT_RATE, AUDIT_RATES, DISAGREEMENT_RATE, NOT_ADDRESSED_RATE, Rate, rate_dots
from audit.charts.run_changes import change_dots, change_steps
from audit.charts.style import ACCENT, handbook_names
from audit.charts.themes import SEVERITY, theme_treemap
from audit.charts.transitions import flows_figure, transitions_figure
from audit.exports.context import ExportContext
from audit.exports.retrieval_tables import trials_with_gold
from audit.exports.table_model import Picture
from audit.exports.two_run_tables import distinct_names
from audit.metrics.judge import CHECK_WORDS
from audit.metrics.retrieval import MEANS, MEASURE_TITLES
from audit.metrics.runs import BOTH, LOST, REVEALED, STEPS
from audit.queries.themes import tops
from audit.release.taxonomy import Taxonomy
from audit.terms import ALL, display_name
from audit.vocabulary import LABELS, PRESENT_LABELS

RETRIEVAL_RATES = tuple(Rate(name, title, "trials", "searches", index=name in MEANS) for name, title in MEASURE_TITLES.items())
# A figure with more rows than this is taller than a page: handbooks are then drawn organ by organ
MAX_ROWS = 40
MAX_TOPICS = 30
SHARES = {"changed": ("Another label", ACCENT), "crossed": ("Across the line", DISAGREEMENT_RATE.colour)}


def labels(context: ExportContext) -> list[Picture]:
    """All pairs, with the judged pairs enlarged."""
    pairs = context.frame("labels").set_index(["how", "label"])["pairs"]
    judged = {label.value: int(pairs["judged", label.value]) for label in LABELS}
    figure = two_step_bar(int(pairs["pre-screened"].sum()), judged, int(pairs["unscored"].sum()))
    return [Picture("labels", "How pairs were labelled: all pairs, with the judged pairs enlarged", figure)]


def _organ_rates(context: ExportContext) -> tuple[pd.DataFrame, str]:
    everything, frame = context.fill("all {organs}"), context.frame("organs")
    return frame.assign(organ=_with_total_name(frame["organ"], everything)), everything


def organs(context: ExportContext) -> list[Picture]:
    """The four rates per organ."""
    frame, everything = _organ_rates(context)
    title = context.fill("The four rates by {organ} of the {question}, with 95 % intervals; dashed: the whole run")
    return [Picture("organs", title, rate_dots(frame, "organ", AUDIT_RATES, overall=everything))]


def organ_labels(context: ExportContext) -> list[Picture]:
    """Label shares per organ."""
    frame, _ = _organ_rates(context)
    figure = share_heatmap(frame, "organ", PRESENT_LABELS, "pairs in which both answer")
    return [Picture("organ_labels", context.fill("Labels of the pairs in which both answer, by {organ}"), figure)]


def topics(context: ExportContext) -> list[Picture]:
    """Three rates per topic, the most disagreement first."""
    frame = context.frame("topics", level="topic").sort_values("r_div", ascending=False, ignore_index=True).head(MAX_TOPICS)
    figure = rate_dots(
        frame.assign(topic=frame["topic"].map(display_name)),
        "topic",
        (DISAGREEMENT_RATE, ANY_DISAGREEMENT_RATE, NOT_ADDRESSED_RATE),
    )
    return [Picture("topics", context.fill("Three rates by {topic}, with 95 % intervals"), figure)]


def coverage(context: ExportContext) -> list[Picture]:
    """Absence of each handbook, by organ of the question; one figure per organ if there are many handbooks."""
    books, cells, word = context.frame("handbooks"), context.frame("coverage"), context.run.term("handbook")
    title = context.fill(
        "Percentage of {questions} that each {handbook} does not address; pale: not addressed, hatched: not asked"
    )
    if len(books) <= MAX_ROWS:
        return [Picture("coverage", title, coverage_figure(coverage_rows(books, "organ"), cells, word))]
    return [
        Picture(
            f"coverage_{organ}", f"{title}; {display_name(organ)}", coverage_figure(coverage_rows(own, "absence"), cells, word)
        )
        for organ, own in books.groupby("organ")
    ]


def disagreement(context: ExportContext) -> list[Picture]:
    """Disagreement of each handbook, the most first, as many as fit on a page."""
    books = context.frame("handbooks").sort_values("r_div", ascending=False, ignore_index=True).head(MAX_ROWS)
    names = handbook_names(context.frame("handbooks"))
    figure = rate_dots(books.assign(name=books["handbook_id"].map(names)), "name", (DISAGREEMENT_RATE,))
    return [Picture("handbooks", context.fill("Disagreement of each {handbook} with others, with 95 % intervals"), figure)]


def case_mix(context: ExportContext) -> list[Picture]:
    """Disagreement of each center over the number expected from its questions, where two centers can be compared."""
    table = context.frame("center_case_mix")
    if table["ratio"].notna().sum() < 2:
        return []
    title = context.fill("Disagreement of each {center} with others over the number expected from its {questions}, as a funnel")
    return [Picture("center_case_mix", title, funnel(table, "center"))]


def judge_checks(context: ExportContext) -> list[Picture]:
    """What changes when pairs are judged again; nothing if no check was made."""
    frame = context.frame("judge_checks")
    measured = frame[(frame["figure"].isin(SHARES)) & (frame["of"] > 0)]
    if measured.empty:
        return []
    wide = pd.concat([_figure_columns(measured, name) for name in SHARES], axis=1)
    kinds = [context.fill(CHECK_WORDS[kind]) for kind in wide.index]
    panels = [Rate(name, words, f"{name}_of", "checks", colour) for name, (words, colour) in SHARES.items()]
    figure = rate_dots(wide.assign(kind=kinds).reset_index(drop=True), "kind", panels)
    return [Picture("judge_checks", "What changes when the same pair is judged again", figure)]


def _figure_columns(measured: pd.DataFrame, name: str) -> pd.DataFrame:
    """One figure of the checks by their kind, its columns named after it."""
    own = measured[measured["figure"] == name].set_index("kind")
    ends = {f"{name}{end}": own[f"value{end}"] for end in ("", "_low", "_high")}
    return pd.DataFrame({**ends, f"{name}_of": own["of"]})


def strategies(context: ExportContext) -> list[Picture]:
    """The measures of each strategy as dots."""
    title = "How well each strategy of retrieval finds the section that contains the answer, with 95 % intervals"
    return [Picture("retrieval", title, rate_dots(trials_with_gold(context), "strategy", RETRIEVAL_RATES))]


def theme_areas(context: ExportContext) -> list[Picture]:
    """Themes as they were built, as areas."""
    return [_theme_areas(context, "themes", ", as they were built" if context.curation else "", context.themes)]


def curated_theme_areas(context: ExportContext) -> list[Picture]:
    """Themes as people curated them, as areas."""
    return [_theme_areas(context, "themes_curated", ", as people curated them", context.curated.taxonomy, curated=True)]


def _theme_areas(context: ExportContext, name: str, variant: str, taxonomy: Taxonomy, *, curated: bool = False) -> Picture:
    frame, groups = context.frame("themes", curated=curated), context.frame("themes", curated=curated, level="parent")
    above = tops(taxonomy)
    with_top = frame.assign(top=[above.get(theme_id, theme_id) for theme_id in frame["theme_id"]])
    title = f"Themes{variant}: area is the number of pairs, colour the severity per pair"
    return Picture(name, title, theme_treemap(with_top, groups, SEVERITY))


def steps(context: ExportContext) -> list[Picture]:
    """Disagreeing pairs from one run to the other, and how often each part disagrees: absence against judgement."""
    names, rows = _run_names(context), _all_organs(context)
    shares = rate_dots(disagreement_of_parts(rows, *names), "name", (DISAGREEMENT_RATE,))
    return [
        Picture(
            "run_steps",
            "Disagreeing pairs from the first run to the second: contributions of answers found or lost and of changed verdicts; "
            "lines are 95 % intervals",
            change_steps(rows, *names, STEPS),
        ),
        Picture("run_parts", "Disagreement among pairs present in both runs, and among those found or lost", shares),
    ]


def changes(context: ExportContext) -> list[Picture]:
    """The four rates per organ, as changes with paired intervals."""
    everything, frame = context.fill("all {organs}"), context.frame("runs")
    figure = change_dots(frame.assign(organ=_with_total_name(frame["organ"], everything)), "organ", AUDIT_RATES, everything)
    title = "Change of the four rates from the first run to the second, by {organ}, in percentage points; filled: not 0"
    return [Picture("run_rates", context.fill(title), figure)]


def transitions(context: ExportContext) -> list[Picture]:
    """The label of each pair in the second run by its label in the first, as a matrix and as bands."""
    names, cells = _run_names(context), context.frame("transitions")
    return [
        Picture("transitions", "How two runs label the same pairs", transitions_figure(cells, *names)),
        Picture(
            "flows",
            "From label to label; without pairs that are pre-screened in both, with the thinnest bands thickened",
            flows_figure(cells, *names),
        ),
    ]


def _with_total_name(names: pd.Series, everything: str) -> pd.Series:
    """Names as a person reads them; the row of the whole run is called `everything`."""
    return names.replace(ALL, everything).map(display_name)


def _run_names(context: ExportContext) -> tuple[str, str]:
    assert context.other is not None
    return distinct_names(context.run, context.other)


def _all_organs(context: ExportContext) -> pd.DataFrame:
    frame = context.frame("runs_change")
    return frame[frame["organ"] == ALL]


def disagreement_of_parts(rows: pd.DataFrame, first: str, second: str) -> pd.DataFrame:
    """R_div of the pairs present in both runs, in either run, and of what was revealed or lost, where there is any.

    rows           one organ of audit.metrics.runs
    first, second  what the runs are called

    name (str), present (int, pairs), r_div, r_div_low, r_div_high.
    """
    parts_of_runs = [
        (BOTH, "first", f"in both, according to {first}"),
        (BOTH, "second", f"in both, according to {second}"),
        (REVEALED, "second", "newly found"),
        (LOST, "first", "no longer found"),
    ]
    by_part: dict[Any, dict[Any, Any]] = rows.set_index("part").to_dict("index")
    return pd.DataFrame(
        [
            _part_share(by_part[part], *side_and_name)
            for part, *side_and_name in parts_of_runs
            if part == BOTH or by_part[part]["pairs"]
        ]
    )


def _part_share(row: Mapping[Any, Any], side: str, name: str) -> dict[str, Any]:
    ends = {f"r_div{end}": row[f"r_div_{side}{end}"] for end in ("", "_low", "_high")}
    return {"name": f"{name} ({row['pairs']:,} {'pair' if row['pairs'] == 1 else 'pairs'})", "present": int(row["pairs"]), **ends}
