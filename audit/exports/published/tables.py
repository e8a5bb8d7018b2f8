"""A run next to the figures of every source that is about something that it has."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from audit.errors import AuditError
from audit.evaluation.criteria import REFERENCE, Incomplete
from audit.evaluation.reference_metrics import REFERENCE_MEASURES
from audit.evaluation.retrieval_measures import JUDGED_MEASURES
from audit.exports.context import ExportContext
from audit.exports.published.comparison import (
    NOTES,
    PublishedFigure,
    PublishedSource,
    RunFigure,
    RunFigures,
    comparison_table,
    published_figures,
    row_figure,
)
from audit.exports.published.stress import STRESS_SOURCE
from audit.exports.table_model import Table
from audit.metrics._systems import COMPOSITE, COUNT
from audit.metrics.routing import SEVERAL
from audit.queries.lookup import handbook_list
from audit.queries.pair_counts import ALL_HANDBOOKS
from audit.stats.intervals import with_wilson
from audit.store.connection import rows
from audit.store.runs import LABEL_FIRST, LABEL_ONLY, STRUCTURED
from audit.terms import ALL
from audit.vocabulary import GENERAL, LABELS, PHASES, Label, SystemMode, plain

# -- the figures of a run that the source paper also prints, by the names of figures.csv ---------------------

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
    # In both, one call gives the label with its reasons
    if context.run.judge_protocol not in (STRUCTURED, LABEL_FIRST) or context.other.judge_protocol != LABEL_ONLY:
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
        "absence",
        "count",
        "of",
    ).sort_values("absence")
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


# -- a run that routes questions to sources next to the figures of Chen et al. (2026) ------------------------
# Names of figures: table/measure/method. A system is one of their methods where its settings say so (`"method": "daks"`), or
# where its id is the name of one.

END, ROUTING, CROSS = "end", "routing", "several"
"""How the names of the figures of their three tables begin."""
METHODS = {
    "merged": ("mergedindex", "mergedkb"), "concatenation": ("naiveconcatenation",), "uniform": ("uniformbudget",),
    "daks": ("daksonly",), "graph_fusion": ("graphfusiononly",), "daks_graph_fusion": ("daksandgraphfusion", "both"),
    "score_only": ("scoreonlyrerank",), "graph_support": ("graphsupportfusion",),
    "graph_retrieval": ("graphretrievalfusion", "graphretrievalandfusion"),
}  # fmt: skip
"""Published method -> other spellings of it."""
SPELLINGS = {plain(word): name for name, others in METHODS.items() for word in (name, *others)}
SYSTEMS = "select system_id, settings ->> '$.method' from systems order by system"
OTHER_READING = (
    "Their table of whole answers has CrossEv@5 for single sources too, which cannot cover two, so its meaning must be different."
)
OTHER_QUESTIONS = "Other {questions}, sources and language: a difference reflects the two settings, not an error in either."


def methods_in(context: ExportContext) -> dict[str, str]:
    """System id -> published method, of the run's systems that are one."""
    if not context.run.has_systems:
        return {}
    named = {system: SPELLINGS.get(plain(method or system)) for system, method in rows(context.con, SYSTEMS)}
    return {system: method for system, method in named.items() if method}


def routing_figures(context: ExportContext, names: Mapping[str, str]) -> RunFigures:
    """Every figure of the run's systems that is also published."""
    figures: RunFigures = {f"{END}/CrossEv@5/{method}": OTHER_READING for method in names.values()}
    for row in context.frame("system_measures").to_dict("records"):
        if row["system_id"] in names and row["measure"] in JUDGED_MEASURES:
            name = f"{END}/{row['measure']}/{names[row['system_id']]}"
            figures[name] = row_figure(row, "mean", f"{int(row['answers']):,} answers")
    by_kind = context.frame("routing", by="kind")
    for table, frame in ((ROUTING, context.frame("routing")), (CROSS, by_kind[by_kind["kind"] == SEVERAL])):
        for row in frame.to_dict("records"):
            if row["system_id"] in names:
                name = f"{table}/{row['measure']}/{names[row['system_id']]}"
                figures[name] = row_figure(row, "mean", f"{int(row['measured']):,} questions")
    return figures


ROUTING_SOURCE = PublishedSource(
    key="routing",
    citation="Chen et al., Traceable Cross-Source RAG for Chinese Tibetan Medicine Question Answering (2026)",
    table="published_routing",
    notes=(NOTES[0], OTHER_QUESTIONS),
    subjects=methods_in,
    figures=routing_figures,
    subject=lambda figure: figure.name.rpartition("/")[2],
)


# -- a run's answering systems next to those that Fensore, Carrillo-Larco, Shah and Ho report ----------------
# Names of figures: of one system measure/model/mode, of no specific one fewer parts.

MODELS = {
    "llama-3.1-8b": ("llama", "3.1", "8b"),
    "llama-3.1-70b": ("llama", "3.1", "70b"),
    "mixtral-8x7b": ("mixtral", "8x7b"),
    "meditron-70b": ("meditron", "70b"),
}
"""Published model -> what the name of a release's model must contain to match it."""
MODES = (SystemMode.CLOSED_BOOK.value, SystemMode.RETRIEVAL.value)
ALL_SYSTEMS = len(MODELS) * len(MODES)
QUESTIONS = """
select (select count(distinct question) from system_answers),
       (select count(distinct question_type) from question_types where question in (select question from system_answers))
"""
NOT_SHARED = "It is over the questions that all eight systems have, and the run has not all of them."
COUNTED = {"answers": "answers", "answered": "answers", "of": "comparisons", "questions": "questions"}
"""The unit of a metric's rows, by the column that counts it."""


def published_system(model: object, mode: object) -> str | None:
    """`model/mode` of the published system that a system of a release is; None where it is not one of them."""
    words = model.lower() if isinstance(model, str) else ""
    known = next((name for name, parts in MODELS.items() if all(part in words for part in parts)), None)
    return f"{known}/{mode}" if known and mode in MODES else None


def systems_in(context: ExportContext) -> dict[str, str]:
    """System id -> `model/mode`, of the run's systems that are published ones."""
    if not context.run.has_systems:
        return {}
    systems = context.frame("systems").to_dict("records")
    return {row["system_id"]: name for row in systems if (name := published_system(row["model"], row["mode"]))}


def system_stand_ins(context: ExportContext, system: str, missing: Iterable[str]) -> Iterator[Mapping[str, str]]:
    """A system of the run in place of each published one that has passages as it does, or has none as it does."""
    modes = {row["system_id"]: row["mode"] for row in context.frame("systems").to_dict("records")}
    yield from ({system: name} for name in sorted(missing) if name.endswith(f"/{modes.get(system)}"))


def system_figures(context: ExportContext, names: Mapping[str, str]) -> RunFigures:
    """Every figure of the run's systems that is also published, for the systems that the source has."""
    ((questions, types),) = rows(context.con, QUESTIONS)
    figures: RunFigures = dict.fromkeys(("questions", "question_types"), "No system of this run has answered a question.")
    if questions:
        figures = {"questions": RunFigure(questions), "question_types": RunFigure(types)}
    return figures | _measures(context, names) | _composites(context, names) | _preferences(context) | _downstream(context)


def system_of(figure: PublishedFigure) -> str | None:
    """The published system, `model/mode`, that a figure is about; None for one about all of them."""
    measure, _, system = figure.name.partition("/")
    return system if system.count("/") == 1 and measure != "preferences" else None


def _measures(context: ExportContext, names: Mapping[str, str]) -> RunFigures:
    figures: RunFigures = {
        f"{row['measure']}/{names[row['system_id']]}": _figure(row, "mean")
        # The paper's means are over all questions, refusals among them
        for row in context.frame("system_measures", refusals=COUNT).to_dict("records")
        if row["system_id"] in names and row["measure"] in REFERENCE_MEASURES
    }
    for row in context.frame("systems").to_dict("records"):
        if row["system_id"] == REFERENCE:
            figures |= {"reference/words": _figure(row, "words"), "reference/words_sd": RunFigure(row["words_sd"])}
    return figures


def _composites(context: ExportContext, names: Mapping[str, str]) -> RunFigures:
    figures: RunFigures = {}
    for row in context.frame(COMPOSITE, incomplete=Incomplete.ZERO).to_dict("records"):
        if name := names.get(row["system_id"]):
            figures |= {f"composite/{name}": _figure(row, "mean"), f"composite_sd/{name}": RunFigure(row["sd"])}
    # The paper counts what could not be read as 0 points in the table of systems, and leaves it out of that of the references
    for row in context.frame(COMPOSITE, incomplete=Incomplete.EXCLUDE).to_dict("records"):
        if row["system_id"] == REFERENCE:
            figures |= {"reference/composite": _figure(row, "mean"), "reference/complete": RunFigure(row["complete"])}
    complete = len(set(names.values())) == ALL_SYSTEMS
    for row in context.frame(COMPOSITE, shared=True).to_dict("records"):
        if name := names.get(row["system_id"]):
            figures[f"composite_shared/{name}"] = _figure(row, "mean") if complete else NOT_SHARED
    return figures


def _preferences(context: ExportContext) -> RunFigures:
    frame, figures = context.frame("preferences"), RunFigures()
    for kind, own in frame.groupby("rater_kind"):
        figures |= {f"preferences/{kind}/{choice}": RunFigure(float(own[choice].sum())) for choice in ("a", "b", "tie")}
        figures[f"preferences/{kind}"] = RunFigure(float(own["comparisons"].sum()))
    aligned = context.frame("preference_alignment").to_dict("records")
    return figures | {f"alignment/{row['rule']}": _figure(row, "share") for row in aligned if row["judge"] != COMPOSITE}


def _downstream(context: ExportContext) -> RunFigures:
    frame = context.frame("downstream")
    own = frame[(frame["outcome"] == COMPOSITE) & (frame["measure"] == "p_at_5")].dropna(subset=["pearson"])
    if own.empty:
        return {}
    return {"downstream/p_at_5": _figure(own.sort_values("pearson").to_dict("records")[-1], "pearson")}


def _figure(row: Mapping[Hashable, Any], name: str) -> RunFigure:
    number = next((f"{int(row[count]):,} {words}" for count, words in COUNTED.items() if count in row), "")
    return row_figure(row, name, number)


SYSTEMS_SOURCE = PublishedSource(
    key="systems",
    citation="Fensore, Carrillo-Larco, Shah and Ho, Does Domain-Specific RAG Help LLMs Answer Consumer Health Questions?",
    table="published_systems",
    notes=NOTES[:1],
    subjects=systems_in,
    figures=system_figures,
    subject=system_of,
    stand_ins=system_stand_ins,
)


# -- all of them ---------------------------------------------------------------------------------------------

SOURCES = (SYSTEMS_SOURCE, ROUTING_SOURCE, STRESS_SOURCE)
"""Sources of figures about systems."""


def published_tables(context: ExportContext, study: Mapping[str, RunFigure | str]) -> Iterator[Table]:
    """The run next to the sources of its kinds: pairs (with the figures of a study), answering systems, routing, stress tests."""
    if context.run.has_pairs:
        yield pair_comparison({**run_figures(context), **study})
    for source in SOURCES:
        if subjects := source.subjects(context):
            yield source.comparison(source.figures(context, subjects), subjects)
