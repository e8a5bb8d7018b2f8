"""About these data: what this run is, who answered what, how its pairs were labelled, and whether it is complete."""

import pandas as pd
import streamlit as st

from audit.charts.style import LABEL_WORDS, percent
from audit.exports.sections.pairs import label_counts
from audit.metrics.composition import NOT_STATED, composition, question_sources, used_columns
from audit.metrics.labels import labels
from audit.queries.about_run import RunCounts, described_handbooks, run_counts
from audit.store.runs import Run
from audit.terms import INTENDED_USE, display_name, fill, terms
from pages._shared.loaders import load
from pages._shared.page import OF_SYSTEMS, page
from pages._shared.pickers import choose
from pages._shared.widgets import chart, counts, footer, link, say, table

LEAD = "Who was asked what, how the answers were compared, and whether all records were loaded."
VIEWS = {"all": "What it is", "labels": "How the pairs were labelled", "handbooks": "{Handbooks} and {questions}"}
FACTS = {
    "date": "Date", "generator": "Answers written by", "retriever": "Passages chosen by", "judge": "Pairs compared by",
    "licence": "Licence",
}  # fmt: skip
ASKED = {
    True: "Each {question} was put to the {handbooks} of its {organ}, and one that concerns every {organ} to all of them.",
    False: "Each {question} was put to every {handbook}.",
}
OUTCOMES = {"pre-screened": "absent, pre-screened (the judge was not asked)", "unscored": "unscored (no readable verdict)"}
WHERE_TO_READ = "The load report, file by file and record by record, is on *Runs*."


def what_it_is(run: Run, size: RunCounts) -> None:
    """Which questions were put to which handbooks, in sentences."""
    counted = {"question": size.questions, "handbook": size.handbooks, "center": size.centers, "organ": size.organs}
    numbers = {f"n_{word}": f"{n:,} {display_name(run.term(word, n))}" for word, n in counted.items()}
    template = "**{run}**: {n_question}"
    if size.handbooks:
        template += ", {n_handbook} of {n_center}" + (", {n_organ}. " if size.organs else ". ") + ASKED[run.asked_by_organ]
    st.markdown(say(run, template, **numbers))
    share = percent(size.absent / size.answers) if size.answers else ""
    answers = {
        "n": f"{size.answers:,}", "absent": f"{size.absent:,}", "unread": f"{size.unread:,}", "share": share,
        "perhaps": f"{size.perhaps:,}",
    }  # fmt: skip
    if size.handbooks:
        st.markdown(say(run, answers_sentence(size), **answers))
    stated = [(words, run.manifest[key]) for key, words in FACTS.items() if run.manifest.get(key)]
    stated.append(("Run", run.key))
    st.markdown("  \n".join(say(run, f"**{word}**: {{value}}", value=value) for word, value in stated))
    st.markdown(say(run, f"**Intended use**: {INTENDED_USE if run.has_handbooks else OF_SYSTEMS}"))


SEARCHED = (
    "A search found its {n} answers, and no model has read them; {perhaps} are perhaps there, and {absent} ({share}) were not "
    "found, which does not prove that the {handbook} is silent."
)


def answers_sentence(size: RunCounts) -> str:
    """How many answers there are and how many are absences; a template of `say`."""
    if not size.answers:
        return "The run has no answers, only their comparison, so what each {handbook} says is not known here."
    unread = " {unread} could not be read; these count neither as answers nor as absences." if size.unread else ""
    if size.searched:
        return SEARCHED + unread
    return "It has {n} answers; in {absent} of them ({share}) the {handbook} does not address the {question}." + unread


def with_outcome_names(outcomes: pd.DataFrame) -> pd.DataFrame:
    """The rows of the label metric, named so that pre-screened, judged absent and unscored pairs remain distinct."""
    judged = outcomes["label"].map(lambda label: f"{LABEL_WORDS.get(label, label)}, by the judge")
    return outcomes.assign(outcome=outcomes["how"].map(OUTCOMES).fillna(judged))


def labelled_pairs(run: Run) -> None:
    """How many pairs were compared, and with what outcome."""
    outcomes = load(labels, run)
    counted = label_counts(outcomes)
    chart(
        counted.figure,
        "labels",
        "Share of pairs pre-screened as absent, judged and unscored, and the labels of the judged pairs.",
    )
    counts(
        run,
        "The answers of two {handbooks} to the same {question} are a pair. Of {all} pairs, {prescreened} are absent because at "
        "least one of the two does not address the {question}. The judge labelled {judged}; for {unscored} its verdict was not "
        "readable.",
        all=f"{int(outcomes['pairs'].sum()):,}", prescreened=f"{counted.prescreened:,}",
        judged=f"{sum(counted.judged.values()):,}", unscored=f"{counted.unscored:,}",
    )  # fmt: skip
    named = with_outcome_names(outcomes)
    table(
        named, "label_table",
        {"outcome": "Outcome", "pairs": "Pairs", "share": "Of all pairs", "share_of_judged": "Of judged pairs"},
        shares=("share", "share_of_judged"), digits=2,
    )  # fmt: skip
    footer(named, "labels", run, "labels")
    link("trust", "How far to trust these labels", run, icon=":material/balance:")


def sources_section(run: Run) -> None:
    """The table of handbooks."""
    words = terms(run)
    st.header(say(run, "The {handbooks}"), anchor=False)
    listed = load(described_handbooks, run)
    known = {name: heading for name, heading in (
        ("title", words["Handbook"]), ("organ", words["Organ"]), ("center", words["Center"]), ("phase", words["Phase"]),
        ("pages", "Pages"), ("language", "Language"), ("licence", "Licence"), ("url", "Address"),
    ) if listed[name].notna().any()}  # fmt: skip
    table(listed, "handbooks", known)
    footer(listed, "handbooks", run)


def composition_section(run: Run) -> None:
    """Handbooks by organ and phase, and where the questions come from."""
    st.header(say(run, "{Handbooks} and {questions} by {organ}"), anchor=False)
    frame = load(composition, run)
    table(frame, "composition", used_columns(frame, composition.table.pick(run)))
    footer(frame, "composition", run, "composition")
    origins = load(question_sources, run)
    if (origins["source"] != NOT_STATED).any():
        st.header(say(run, "Where the {questions} come from"), anchor=False)
        table(origins, "question_sources", question_sources.table.pick(run, "source", "questions", "share", "pairs", "r_div"))
        footer(origins, "question-sources", run, "question_sources")


def answering_systems(run: Run) -> None:
    """How many systems answered, and how their answers were evaluated."""
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
    """The conclusions of the load report, in sentences."""
    st.header("Were all records loaded?", anchor=False)
    report = run.report
    st.markdown(say(run, "{verdict}", verdict=report.get("verdict", "This run has no load report.")))
    set_aside = report.get("findings", {}).get("quarantined", 0)
    if set_aside:
        st.markdown(f"{set_aside:,} records were set aside with a reason and are counted nowhere.")
    differing = sum(check["ok"] is False for check in report.get("checks", []))
    if differing:
        st.markdown(f"{differing:,} counts differ from what was expected; the load report names each.")
    st.caption(WHERE_TO_READ)
    link("runs", "Read the load report", run, icon=":material/fact_check:")


with page("About these data", LEAD, without_pairs=LEAD) as run:
    size = load(run_counts, run)
    shown = [name for name, has in zip(VIEWS, (True, run.has_pairs, size.handbooks), strict=True) if has]
    view = choose("Show", shown, "view", lambda name: fill(run, VIEWS[name]), show_label=False) if len(shown) > 1 else "all"
    if view == "labels":
        labelled_pairs(run)
    elif view == "handbooks":
        composition_section(run)
        sources_section(run)
    else:
        what_it_is(run, size)
        if run.has_systems:
            answering_systems(run)
        completeness(run)
