"""How far the judge can be trusted: asked again, its replies, the length of answers, and changes planted in answers."""

from __future__ import annotations

from typing import Any

import pandas as pd

from audit.charts.rates import Rate, rate_dots
from audit.charts.style import LABEL_COLOURS, SEVERE
from audit.exports.context import ExportContext
from audit.exports.sections.model import SectionSpec, TableMaker, if_empty, listed_as, most_of, own_table
from audit.exports.table_model import Picture
from audit.metrics import Metric
from audit.metrics.doubted_labels import doubted_labels
from audit.metrics.grounds import differences, judge_quotes
from audit.metrics.judge import CHECK_WORDS, FIGURE_WORDS, chosen_pairs_note, judge_checks, judge_length, judge_reading
from audit.metrics.planted import BY_VARIANT, planted_changes, planted_items, planted_labels
from audit.metrics.prompts import prompts
from audit.metrics.second_judge import judge_drift, rates_by_both, second_judge
from audit.store.runs import Run
from audit.terms import fill
from audit.vocabulary import Label

NO_PLANTED = (
    "Run {key} has no planted changes: how its judge reacts to them is unknown. A release has them in "
    "planted.jsonl; `audit stress judge` writes it."
)
NO_QUOTES = "Run {key} has no quotes of its judge: whether its verdicts rest on the answers is unknown."
NO_SECOND = "No second judge has read pairs of run {key}."
NO_PANEL = "No panel of pairs of run {key} was asked again at a later date."
NO_PROMPTS = "Run {key} has no prompts in full."
NO_DIFFERENCES = "The judge of run {key} was not asked why advice differs."
CHECK_RATES = (
    Rate("changed", FIGURE_WORDS["changed"], "of", "checks"),
    Rate("crossed", FIGURE_WORDS["crossed"], "of", "checks", "#c77700"),
    Rate("to disagreement", FIGURE_WORDS["to disagreement"], "of", "checks", SEVERE),
    Rate("to agreement", FIGURE_WORDS["to agreement"], "of", "checks", LABEL_COLOURS[Label.CONSISTENT]),
)
READING = SectionSpec(
    judge_reading,
    key="read",
    heading="How the judge's replies were read",
    columns=("name", "count", "of", "value", "interval"),
    digits=2,
)
QUOTES = SectionSpec(
    judge_quotes,
    key="quotes",
    heading="Do the judge's verdicts rest on what the answers say?",
    empty="Not measured: the verdicts of this run quote nothing. `audit judge` asks for quotes.",
    columns=("label", "value", "count", "of"),
    sentence="A verdict whose quotes do not stand in the answers keeps its label, and is marked wherever it is shown.",
)
DIFFERENCES = SectionSpec(
    differences,
    key="differences",
    heading="Why the advice differs, as the judge says",
    columns=("part", "name", "value", "count", "of"),
)
DOUBTED = SectionSpec(
    doubted_labels,
    key="doubted",
    heading="Which labels do the other labels of their {question} contradict?",
    empty="No label of this run is more likely wrong than right, by the other labels of its {question}.",
    sentence="Read these pairs first: nothing is changed in the run, and no rate leaves them out.",
    rows=8,
)
SECOND = SectionSpec(
    second_judge,
    key="second_judge",
    heading="Does a second judge agree?",
    empty="Not measured: no other model has read pairs of this run. Set one with AUDIT_JUDGE_URL and AUDIT_JUDGE_MODEL, then: "
    "`audit judge RUN --second-judge --out RELEASE --load`.",
    columns=("figure", "value", "count", "of"),
    rows=14,
)
BY_BOTH = SectionSpec(
    rates_by_both,
    key="rates_by_both",
    heading="Which rate changes if both judges must agree?",
    below=True,
    columns=("figure", "value", "of"),
    digits=2,
)
DRIFT = SectionSpec(
    judge_drift,
    key="judge_drift",
    heading="Does the judge change over time?",
    empty="Not measured: no panel of pairs was asked again. `audit judge RUN --recheck --out RELEASE --load` draws one "
    "and asks it, and asks the same pairs whenever it is run again.",
    columns=("date", "figure", "value", "count", "of", "judge", "revision"),
)
PROMPTS = SectionSpec(
    prompts,
    key="prompts",
    heading="What the models were asked",
    empty="The release of this run does not have the prompts in full: what made it did not write them.",
    columns=("prompt", "used_for", "max_tokens"),
)
PLANTED = SectionSpec(
    planted_changes,
    key="planted",
    heading="Does the judge see what changes the label, and only that?",
    empty="Not measured. A command plants changes with a known effect and asks the judge before and after each.",
    columns=("kind", "value", "of", "effect", "lenient", "no_label", "untelling"),
    rows=10,
)


def one_row_per_check(run: Run, frame: pd.DataFrame) -> pd.DataFrame:
    """The metric `judge_checks` with one row per kind of check; one column per figure and per end of its interval.

    kind (in the run's words), made (checks), of (those readable twice).
    """
    by_kind = frame.set_index(["kind", "figure"]).unstack("figure")
    figures = {f"{figure}{end}": by_kind[f"value{end}", figure] for figure in FIGURE_WORDS for end in ("", "_low", "_high")}
    denominators = {"made": by_kind["of", "unread"], "of": by_kind["of", "changed"]}
    kinds = {kind: fill(run, words) for kind, words in CHECK_WORDS.items()}
    wide = pd.DataFrame(denominators | figures).reindex(list(kinds)).astype(dict.fromkeys(denominators, int))
    return wide.rename(kinds).rename_axis("kind").reset_index()


# -- export ------------------------------------------------------------------------------------------------------------


def _checks(context: ExportContext, frame: pd.DataFrame) -> str:
    return f"{frame.loc[frame['figure'] == 'unread', 'of'].sum():,} checks"


def _planted(metric: Metric[...], stem: str = "", **options: Any) -> TableMaker:
    def items(context: ExportContext, frame: pd.DataFrame) -> str:
        return f"{len(context.frame('planted_items')):,} planted changes"

    def needs(context: ExportContext) -> str:
        return "" if len(context.frame("planted_items")) else NO_PLANTED.format(key=context.run.key)

    return own_table(metric, items, stem=stem, needs=needs, **options)


JUDGE_TABLES: tuple[TableMaker, ...] = (
    own_table(judge_checks, _checks, finish=lambda context, table: table.noted(chosen_pairs_note(context.run.manifest))),
    own_table(READING.metric, most_of("of", "pairs that the judge was asked about")),
    own_table(QUOTES.metric, most_of("of", "pairs with quotes"), missing=if_empty(NO_QUOTES)),
    own_table(DIFFERENCES.metric, most_of("of", "disagreeing pairs"), missing=if_empty(NO_DIFFERENCES)),
    own_table(SECOND.metric, most_of("of", "pairs read by both judges"), missing=if_empty(NO_SECOND)),
    own_table(BY_BOTH.metric, most_of("of", "pairs in which both answer"), missing=if_empty(NO_SECOND)),
    own_table(DRIFT.metric, most_of("of", "pairs of the panel"), missing=if_empty(NO_PANEL)),
    own_table(prompts, lambda _, frame: f"{len(frame):,} prompts", missing=if_empty(NO_PROMPTS)),
    own_table(judge_length, most_of("of", "pairs in which both answer")),
    _planted(PLANTED.metric),
    _planted(PLANTED.metric, "planted_variants", by=BY_VARIANT),
    _planted(planted_labels),
    _planted(planted_items),
)
"""Every table about the judge, in order."""


@listed_as("judge_checks")
def checks(context: ExportContext) -> list[Picture]:
    """What changes when pairs are judged again; nothing if no check was made."""
    wide = one_row_per_check(context.run, context.frame("judge_checks"))
    measured = wide[wide["of"] > 0].reset_index(drop=True)
    if measured.empty:
        return []
    title = "What changes when the same pair is judged again"
    return [Picture("judge_checks", title, rate_dots(measured, "kind", CHECK_RATES[:2]))]
