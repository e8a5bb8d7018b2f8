"""About these data: when and with what a run was made, how its pairs were labelled, and whether every record of it loaded."""

import pandas as pd
import streamlit as st

from audit.charts.labels import two_step_bar
from audit.charts.style import LABEL_WORDS
from audit.metrics.labels import labels
from audit.metrics.questions import organs
from audit.queries.pair_counts import ALL_HANDBOOKS
from audit.store.runs import Run
from audit.vocabulary import LABELS
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.widgets import chart, counts, footer, link, say, table

LEAD = "Each {handbook} was asked {patient} questions, and a judge compared, in pairs, the answers to the same question."
WITHOUT_PAIRS = "This run has no pairs of {handbooks} to compare. It is about the systems that answered its {patient} questions."
OUTCOMES = {"pre-screened": "absent, pre-screened (the judge was not asked)", "unscored": "unscored (no readable verdict)"}


def run_facts(run: Run) -> None:
    """When and with what this run was made; a fact that the manifest lacks is left out."""
    facts = [
        (word, run.manifest[key])
        for key, word in (("date", "Date"), ("judge", "Judge"), ("generator", "Answers"), ("retriever", "Retrieval"))
        if run.manifest.get(key)
    ]
    st.markdown(say(run, "**Run**: {value} ({key})", value=run.title, key=run.key))
    st.markdown("  \n".join(say(run, f"**{word}**: {{value}}", value=value) for word, value in facts))


def with_outcome_names(outcomes: pd.DataFrame) -> pd.DataFrame:
    """The rows of the label metric, named so that pre-screened, judged absent and unscored stay three things."""
    judged = outcomes["label"].map(lambda label: f"{LABEL_WORDS.get(label, label)}, by the judge")
    return outcomes.assign(outcome=outcomes["how"].map(OUTCOMES).fillna(judged))


def labelled_pairs(run: Run) -> None:
    """How many pairs have which label, were pre-screened, or are unscored."""
    # The last row of `organs` counts the whole run.
    outcomes, total = load(labels, run), load(organs, run, scope=ALL_HANDBOOKS).iloc[-1]
    st.header("How the pairs were labelled", anchor=False)
    pairs = outcomes.set_index(["how", "label"])["pairs"]
    judged = {label.value: int(pairs["judged", label.value]) for label in LABELS}
    figure = two_step_bar(int(pairs["pre-screened"].sum()), judged, int(pairs["unscored"].sum()))
    chart(figure, "labels", "Share of pairs pre-screened as absent, judged and unscored, and the labels of the judged pairs.")
    counts(
        run,
        "{pairs} pairs from {asked} questions. The judge labelled {judged}; for {unscored} its verdict was not "
        "readable. The rest are absent because at least one of the two {handbooks} does not address the question.",
        pairs=f"{total['pairs']:,}", asked=f"{total['questions']:,}", judged=f"{sum(judged.values()):,}",
        unscored=f"{total['unscored']:,}",
    )  # fmt: skip
    shown_table = with_outcome_names(outcomes)
    table(
        shown_table, "label_table",
        {"outcome": "Outcome", "pairs": "Pairs", "share": "Of all pairs", "share_of_judged": "Of judged pairs"},
        shares=("share", "share_of_judged"), digits=2,
    )  # fmt: skip
    footer(shown_table, "labels", run, "labels", "organs")


def answering_systems(run: Run) -> None:
    """How many systems answered, and what there is to tell their answers apart."""
    loaded = {kind: f"{row['loaded']:,}" for kind, row in run.report.get("totals", {}).items()}
    st.header("Answering systems", anchor=False)
    counts(
        run,
        "{systems} systems gave {answers} answers to {asked} questions. There are {judged} evaluations on the eight criteria, "
        "and {preferences} comparisons of two answers.",
        systems=loaded.get("system", "0"), answers=loaded.get("system_answer", "0"), asked=loaded.get("question", "0"),
        judged=loaded.get("criteria", "0"), preferences=loaded.get("preference", "0"),
    )  # fmt: skip
    with st.container(horizontal=True):
        link("systems", "See which system answers better", run, icon=":material/balance:")
        link("system_answers", "Read their answers side by side", run, icon=":material/view_column:")


def completeness(run: Run) -> None:
    """What the load report concludes."""
    st.header("Is the data complete?", anchor=False)
    verdict = str(run.report.get("verdict", "This run has no load report."))
    st.markdown(say(run, "{verdict}", verdict=verdict))
    link("runs", "Read the load report", run, icon=":material/fact_check:")


with page("About these data", LEAD, without_pairs=WITHOUT_PAIRS) as run:
    run_facts(run)
    if run.has_pairs:
        labelled_pairs(run)
    if run.has_systems:
        answering_systems(run)
    completeness(run)
