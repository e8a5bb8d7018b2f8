"""The figures of a run that the source paper also prints, by the names of figures.csv."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pandas as pd

from audit.errors import AuditError
from audit.exports.context import ExportContext
from audit.exports.published.comparison import RunFigure, RunFigures, comparison_table, published_figures, row_figure
from audit.exports.table_model import Table
from audit.queries.lookup import handbook_list
from audit.queries.pair_counts import ALL_HANDBOOKS
from audit.stats.intervals import with_wilson
from audit.store.connection import rows
from audit.store.runs import LABEL_ONLY, STRUCTURED
from audit.terms import ALL
from audit.vocabulary import GENERAL, LABELS, PHASES, Label

CITATION = "arXiv:2605.29084"
TOPICS = "select count(divergence_topic), count(distinct divergence_topic) from pairs"
LEVELS = "select (select count(distinct topic) from topics), (select count(distinct subtopic) from subtopics)"
SIZES = """
select (select count(*) from answers), (select avg(len(regexp_extract_all(text, '\\S+'))) from questions),
       count(*) filter (prescreened), count(*) filter (not prescreened)
from pairs
"""
SECONDS = "select (select round(avg(latency_s), 9) from this.pairs), (select round(avg(latency_s), 9) from other.pairs)"
PROTOCOLS_DIFFER = "The two runs were judged by different protocols, so a change between them is not due to the pipeline alone."
NO_ABLATION = (
    "Neither run was judged by the other protocol: it takes a second run, judged with `audit judge --protocol label_only`."
)
OF_ALL_QUESTIONS = "of all {questions}, asked or not"
NO_SECONDS = "One of the runs does not report how long a verdict took."
ABLATION = tuple(
    f"ablation.{name}"
    for name in ("kappa", "significance_kappa", "significance_pairs", "divergent_kept", "divergent_to_complementary", "speed")
)
# A lowest and a highest organ need at least two
MIN_ORGANS = 2


def pair_comparison(figures_of_run: RunFigures) -> Table:
    """The figures of a run, and of a study of it, next to those of the source paper."""
    return comparison_table("published", CITATION, figures_of_run, published_figures("pairs"))


def run_figures(context: ExportContext) -> RunFigures:
    """Every figure of a run that is also published."""
    makers: tuple[Callable[[ExportContext], RunFigures], ...] = (
        _handbooks, _questions, _sizes, _labels, _replies, _absence, _organs, _strings, _rank_correlations,
        *((_changes, _ablation) if context.both is not None else ()),
    )  # fmt: skip
    return {name: figure for maker in makers for name, figure in maker(context).items()}


def _handbooks(context: ExportContext) -> RunFigures:
    handbooks = handbook_list(context.con)
    by_organ = {f"handbooks.{organ}": RunFigure(float(n)) for organ, n in handbooks["organ"].value_counts().items()}
    by_phase = {f"handbooks.{phase.value}": RunFigure(float((handbooks["phase"] == phase.value).sum())) for phase in PHASES}
    totals = {"handbooks": RunFigure(float(len(handbooks))), "centers": RunFigure(float(handbooks["center"].nunique()))}
    return {**by_organ, **by_phase, **totals}


def _questions(context: ExportContext) -> RunFigures:
    frame = context.frame("organs", scope=ALL_HANDBOOKS).set_index("organ")
    ((topics, subtopics),) = rows(context.con, LEVELS)
    general = frame["questions"].get(GENERAL, 0)
    counts = {
        "questions": frame["questions"][ALL],
        "questions.general": general,
        "pairs": frame["pairs"][ALL],
        "topics": topics,
        "subtopics": subtopics,
    }
    return {name: RunFigure(float(count)) for name, count in counts.items()}


def _sizes(context: ExportContext) -> RunFigures:
    ((answers, words, prescreened, judged),) = rows(context.con, SIZES)
    counts = {"answers": answers, "questions.words": words, "pairs.prescreened": prescreened, "pairs.judged": judged}
    return {name: RunFigure(float("nan") if number is None else float(number)) for name, number in counts.items()}


def _replies(context: ExportContext) -> RunFigures:
    """Of the pairs that the judge was asked about, the share with a verdict that could be read."""
    total = context.frame("organs", scope=ALL_HANDBOOKS).set_index("organ").loc[ALL]
    asked = total["pairs"] - total["prescreened"]
    return {"replies.read": RunFigure((asked - total["unscored"]) / asked if asked else float("nan"))}


def _rank_correlations(context: ExportContext) -> RunFigures:
    return {f"rho.{row['level']}": row_figure(row, "rho") for row in context.frame("severity_rho").to_dict("records")}


def _changes(context: ExportContext) -> RunFigures:
    """Means over organs of this run less those of the earlier one."""
    assert context.other is not None
    if context.other.judge_protocol != context.run.judge_protocol:
        return dict.fromkeys(("runs.r_abs", "runs.r_div", "runs.pct_any_div"), PROTOCOLS_DIFFER)
    changes = context.frame("runs_mean").to_dict("records")
    # The metric counts from this run, the first, to the other
    return {f"runs.{row['rate']}": RunFigure(-row["change"], -row["change_high"], -row["change_low"]) for row in changes}


def _ablation(context: ExportContext) -> RunFigures:
    """The other run as the judge that is asked for the label first and for an explanation afterwards."""
    assert context.other is not None
    if (context.run.judge_protocol, context.other.judge_protocol) != (STRUCTURED, LABEL_ONLY):
        return dict.fromkeys(ABLATION, NO_ABLATION)
    agreement = {row["figure"]: row for row in context.frame("run_agreement").to_dict("records")}
    moved = context.frame("transitions").set_index(["first", "second"])["share"]
    assert context.both is not None
    ((first, second),) = rows(context.both, SECONDS)
    return {
        "ablation.kappa": row_figure(agreement["kappa"], "value"),
        "ablation.significance_kappa": row_figure(agreement["significance kappa"], "value"),
        "ablation.significance_pairs": RunFigure(float(agreement["significance kappa"]["of"])),
        "ablation.divergent_kept": row_figure(agreement["DIVERGENT kept"], "value"),
        "ablation.divergent_to_complementary": RunFigure(float(moved.get((Label.DIVERGENT, Label.COMPLEMENTARY), float("nan")))),
        "ablation.speed": RunFigure(first / second) if first and second else NO_SECONDS,
    }


def _labels(context: ExportContext) -> RunFigures:
    frame = context.frame("labels").set_index(["how", "label"])
    judged = {f"judged.{label.value}": _first_row(frame.loc[[("judged", label.value)]], "share_of_judged") for label in LABELS}
    return {"prescreened": _first_row(frame.loc[[("pre-screened", Label.ABSENT.value)]], "share"), **judged}


def _absence(context: ExportContext) -> RunFigures:
    """Of all questions, the share that a handbook does not answer, because it does not address it or was not asked.

    The paper prints absence that way: with organ questions put to the handbooks of their organ, a mean of 0.74 is not possible
    among the questions that were asked (data/README.md).
    """
    try:
        handbooks = context.frame("handbooks").dropna(subset=["absence"])
    except AuditError as reason:
        return dict.fromkeys(("absence.least", "absence.mean", "absence.most"), str(reason))
    ((total,),) = rows(context.con, "select count(*) from questions")
    unanswered = with_wilson(
        pd.DataFrame({"count": total - handbooks["asked"] + handbooks["absent"], "of": total}).assign(
            absence=lambda table: table["count"] / table["of"]
        ),
        "absence", "count", "of",
    ).sort_values("absence")  # fmt: skip
    population = context.fill(OF_ALL_QUESTIONS)
    figures = {
        "absence.least": _first_row(unanswered, "absence"),
        "absence.mean": RunFigure(float(unanswered["absence"].mean())),
        "absence.most": _first_row(unanswered.iloc[::-1], "absence"),
    }
    return {name: replace(figure, population=population) for name, figure in figures.items()}


def _organs(context: ExportContext) -> RunFigures:
    frame = context.frame("organs")
    organs = frame[frame["organ"] != ALL]
    figures: RunFigures = {}
    for rate in ("r_abs", "r_div", "pct_any_div"):
        # "Within the matching-organ subsets" (section 6.2): general questions, which every handbook is asked, are in none
        compared = organs[organs["organ"] != GENERAL] if rate == "r_abs" else organs
        with_rate = compared.dropna(subset=[rate]).sort_values(rate)
        if len(with_rate) < MIN_ORGANS:
            why = context.fill("Fewer than two {organs} have one.")
            figures |= dict.fromkeys((f"{rate}.least", f"{rate}.most"), why)
        else:
            figures |= {f"{rate}.least": _first_row(with_rate, rate), f"{rate}.most": _first_row(with_rate.iloc[::-1], rate)}
    return figures


def _strings(context: ExportContext) -> RunFigures:
    ((strings, unique),) = rows(context.con, TOPICS)
    figures: RunFigures = {"topic_strings": RunFigure(float(strings)), "topic_strings.unique": RunFigure(float(unique))}
    try:
        return figures | {"themes": RunFigure(float(len(context.themes.leaves)))}
    except AuditError as reason:
        return figures | {"themes": str(reason)}


def _first_row(table: pd.DataFrame, name: str) -> RunFigure:
    return row_figure(table.iloc[0].to_dict(), name)
