"""Start: what is disputed and who says what, three figures in plain words, and how far the judge can be trusted."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from audit.charts.style import interval, percent
from audit.jobs.asking import prepare
from audit.metrics.disputed_questions import disputed_questions, disputed_shares
from audit.metrics.questions import organs
from audit.previews import PRELIMINARY, preview_notice
from audit.queries.pair_counts import MATCHING
from audit.queries.run_texts import has_texts
from audit.settings import Settings
from audit.store.runs import Run
from audit.terms import display_name, fill, terms
from audit.vocabulary import Raters
from pages._blinded.access import current_account
from pages._blinded.tour import tour
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.rating_sources import Confirmed, confirmations, headline_pair, rating_sources
from pages._shared.search import search
from pages._shared.self_disagreements import within_line
from pages._shared.widgets import counts, how_counted, link, say
from pages.start.disputes import disputes
from pages.start.mine import my_handbook
from pages.start.systems_start import LEAD as SYSTEMS
from pages.start.systems_start import TITLE as SYSTEMS_TITLE
from pages.start.systems_start import systems_start
from pages.start.unlabelled import LEAD as UNLABELLED
from pages.start.unlabelled import TITLE as UNLABELLED_TITLE
from pages.start.unlabelled import not_found_figure, unlabelled_start

LEAD = "Each {handbook} was asked {patient} questions, and a judge compared the answers in pairs."
TITLE = "What {handbooks} disagree about"
NONE_DISPUTED = "The judge calls no two answers different advice. That is its reading, and no proof that the {handbooks} agree."
LISTED = 3  # counted when a large run is loaded: see audit.result_cache
FIGURES = {
    "r_div": ("In **{share}** of pairs where both {handbooks} should answer and do, the advice differs.", "present", "pairs"),
    "pct_any_div": (
        "On **{share}** of {questions}, at least two {handbooks} that should answer give different advice.",
        "questions_scored",
        "{questions}",
    ),
    "r_abs": (
        "In **{share}** of pairs where both {handbooks} should answer, at least one does not address the {question}.",
        "scored",
        "pairs",
    ),
}
"""Rate -> its sentence, the count it is a share of, and what is counted."""
CORRECTED = (
    "Corrected by {who} of {n} pairs it is **{corrected}** over all pairs of the run (95 % interval {span}{note}), where the "
    "judge alone says {judge}."
)
CONFIRMED = "in {confirmed} of {rated} {pairs} that the judge calls {label}, {who} agree that the advice differs"
DIVIDED = " (they are divided on {divided})"
LISTED_TOO = (
    "That is {counted}. The list of {listed} disputed {questions} also has those on which {a_handbook} of another {organ}, which "
    "need not answer, disagrees."
)
NOT_CHECKED = "Nobody has labelled pairs of this run yet, so these figures are the judge's alone."


def figures(run: Run, total: pd.Series) -> None:
    """Three rates of the questions that handbooks should answer, in plain words, each with its interval and its denominator."""
    for rate, (sentence, of, unit) in FIGURES.items():
        if rate == "r_abs" and not_found_figure(run):
            continue
        with st.container(gap="xsmall", key=f"figure_{rate}"):
            st.markdown(say(run, sentence, share=percent(total[rate])))
            if preview_notice(run.manifest):
                st.markdown(f":orange-badge[{PRELIMINARY}]")
            span = interval(total[f"{rate}_low"], total[f"{rate}_high"]) or "unknown"
            population = (disputed_shares if rate == "pct_any_div" else organs).table.population
            counts(run, f"Of {{n}} {unit}; 95 % interval {{span}}, for {population}.", n=f"{total[of]:,}", span=span)
            if rate == "pct_any_div":
                _listed_beside(run, int(total["questions_any"]))
            if rate == "r_div":
                corrected(run)


def _listed_beside(run: Run, counted: int) -> None:
    """Why *Disagreements* lists more questions than the share counts: it has those that only other organs' handbooks dispute."""
    questions = load(disputed_questions, run, limit=LISTED)
    listed = 0 if questions.empty else int(questions["total"].iloc[0])
    if listed > counted:
        counts(run, LISTED_TOO, counted=f"{counted:,}", listed=f"{listed:,}")


def corrected(run: Run) -> None:
    """The same rate corrected by the labels of raters, where there are any of this run's pairs."""
    if pair := headline_pair(run):
        rate = pair.rate
        span = interval(rate.low, rate.high) or "unknown"
        note = "" if pair.final else ", labelling is not finished"
        shares = {"corrected": percent(rate.value), "judge": percent(rate.judge), "span": span}
        st.markdown(say(run, CORRECTED, **shares, n=f"{rate.n:,}", note=note, who=labels_of(pair.kind)))


def raters_and_judge(run: Run) -> None:
    """How far raters agree with the judge, in a sentence."""
    source = next(iter(rating_sources(run)), None)
    sentences = [_in_words(run, label, source.kind) for label in confirmations(source.ratings)] if source else []
    sentence = ", and ".join(sentences)
    st.markdown(f"{sentence[0].upper()}{sentence[1:]}." if sentence else NOT_CHECKED)
    link("trust", "How far to trust the judge", run, icon=":material/balance:")


def labels_of(kind: Raters) -> str:
    """Whose labels, in a sentence: the labels of clinicians."""
    return f"the labels of {kind.words}" + (" (who they are is not stated)" if kind is Raters.UNKNOWN else "")


def _in_words(run: Run, label: Confirmed, kind: Raters) -> str:
    values = {**label._asdict(), "label": label.label.lower(), "pairs": "pair" if label.rated == 1 else "pairs"}
    values["who"] = kind.words
    return say(run, CONFIRMED + (DIVIDED if label.divided else ""), **values)


def most_disputed(run: Run) -> None:
    """The gravest questions with their positions."""
    questions = load(disputed_questions, run, limit=LISTED)
    st.header("Most disputed", anchor=False)
    if questions.empty:
        st.markdown(say(run, NONE_DISPUTED))
        st.markdown(within_line(run))
        return
    disputes(run, questions)
    total = int(questions["total"].iloc[0])
    label = f"See all {total:,} disputed {{questions}}" if total > 1 else "See it among the disagreements"
    link("disagreements", label, run, icon=":material/call_split:")
    st.markdown(within_line(run))


def what_the_data_are(run: Run) -> None:
    """The data in one line."""
    loaded = {kind: f"{row['loaded']:,}" for kind, row in run.report.get("totals", {}).items()}
    made = "; ".join(str(run.manifest[fact]) for fact in ("date", "judge") if run.manifest.get(fact))
    counts(
        run, "{run}: " + ("{n} {handbooks}, " if run.has_handbooks else "") + "{asked} {questions}"
        + (", {pairs} pairs" if run.has_pairs else "") + (" ({made})." if made else "."), made=made,
        n=loaded.get("handbook", "?"), asked=loaded.get("question", "?"), pairs=loaded.get("pair", "0"),
    )  # fmt: skip
    with st.container(horizontal=True):
        link("about", "About these data", run, icon=":material/dataset:")
        how_counted(*(("organs", "disputed_questions", "question_positions") if run.has_pairs else ("questions",)))


def heading_of(run: Run) -> str:
    """What the run is about, in its own terms."""
    title = TITLE if run.has_pairs else UNLABELLED_TITLE if run.has_handbooks else SYSTEMS_TITLE
    return display_name(fill(run, title))


with page(TITLE, LEAD, without_pairs=SYSTEMS, unlabelled=UNLABELLED, headed=heading_of) as run:
    search(run, "search", large=True)
    if load(has_texts, run):
        # In another process, so that the first question finds the handbooks read
        prepare(run, Settings().data_dir)
    if run.has_handbooks and not run.has_pairs:
        unlabelled_start(run)
        what_the_data_are(run)
        st.stop()
    if not run.has_pairs:
        systems_start(run)
        what_the_data_are(run)
        st.stop()
    left, right = st.container(key="answers").columns([5, 3], gap="large")
    with left:
        most_disputed(run)
    with right:
        my_handbook(run)
        st.header("How often", anchor=False)
        # The last row counts the whole run.
        figures(run, load(organs, run, scope=MATCHING).iloc[-1])
        st.header("Can the judge be trusted?", anchor=False)
        raters_and_judge(run)
    what_the_data_are(run)
    tour(current_account(), terms(run))
