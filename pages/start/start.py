"""Start: what is disputed and who says what, three figures in plain words, and how far the judge can be trusted."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd
import streamlit as st

from annotation.ratings.gold import human_labels
from annotation.ratings.table import JUDGE, Ratings
from audit.charts.style import PLAIN_LABELS, interval, percent
from audit.jobs.asking import prepare
from audit.metrics.disputed_questions import disputed_questions
from audit.metrics.questions import organs
from audit.previews import PRELIMINARY, preview_notice
from audit.queries.pair_counts import MATCHING
from audit.queries.run_texts import has_texts
from audit.settings import Settings
from audit.store.runs import Run
from audit.terms import counted, display_name, fill, terms
from audit.vocabulary import DISAGREEING, Raters
from pages._blinded.access import current_account
from pages._blinded.tour import tour
from pages._shared.disagreement_rate import disagreement_rate
from pages._shared.disputed_share import disputed_share
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.rating_sources import rating_sources
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
LISTED = 5  # counted when a large run is loaded: see audit.result_cache
TWO_COUNTS = (
    "The first figure says how many {questions} are disputed at all, the second how often two given {handbooks} differ: "
    "{a_question} on which one pair of many differs counts fully in the first, and little in the second."
)
NOT_ADDRESSED = "In **{share}** of pairs where both {handbooks} should answer, at least one does not address the {question}."
CONFIRMED = "in {confirmed} of {rated} {pairs} that the judge calls {label}, {who} agree that the advice differs"
DIVIDED = " (they are divided on {divided})"
NOT_CHECKED = "Nobody has labelled pairs of this run yet, so these figures are the judge's alone."


def figures(run: Run, total: pd.Series) -> None:
    """What a run says in plain words: two rates of pairs and the share of disputed questions, each with its denominator."""
    counts(run, TWO_COUNTS)
    with st.container(gap="xsmall", key="figure_disputed"):
        disputed_share(run)
        _preliminary(run)
    with st.container(gap="xsmall", key="figure_r_div"):
        disagreement_rate(run, total)
        _preliminary(run)
    if not not_found_figure(run):
        with st.container(gap="xsmall", key="figure_r_abs"):
            _not_addressed(run, total)
            _preliminary(run)


def _preliminary(run: Run) -> None:
    if preview_notice(run.manifest):
        st.markdown(f":orange-badge[{PRELIMINARY}]")


def _not_addressed(run: Run, total: pd.Series) -> None:
    st.markdown(say(run, NOT_ADDRESSED, share=percent(total["r_abs"])))
    span = interval(total["r_abs_low"], total["r_abs_high"]) or "unknown"
    counts(
        run, f"Of {{n}} pairs; 95 % interval {{span}}, for {organs.table.population}.", n=f"{total['scored']:,}", span=span
    )  # fmt: skip


class Confirmed(NamedTuple):
    """Of the rated pairs to which the judge gave a label, how many raters say differ; on some they are divided."""

    label: str
    rated: int
    confirmed: int
    divided: int


def confirmations(ratings: Ratings) -> list[Confirmed]:
    """For each label by which the judge says that two answers disagree: how often the raters say so too.

    Their label is the adjudicated one, else what the raters agree on. Counts rated items as they were sampled within the
    label, not weighted to the run.
    """
    disagree = human_labels(ratings)[:, [label.code for label in DISAGREEING]].sum(axis=1)  # NaN where nobody rated
    by_label = [(label, disagree[ratings.labels[JUDGE] == label.code]) for label in DISAGREEING]
    return [
        Confirmed(label.value, int((shares >= 0).sum()), int((shares > 1 / 2).sum()), int((shares == 1 / 2).sum()))
        for label, shares in by_label
        if (shares >= 0).any()
    ]


def raters_and_judge(run: Run) -> None:
    """How far raters agree with the judge, in a sentence."""
    source = next(iter(rating_sources(run)), None)
    sentences = [_in_words(run, label, source.kind) for label in confirmations(source.ratings)] if source else []
    sentence = ", and ".join(sentences)
    st.markdown(f"{sentence[0].upper()}{sentence[1:]}." if sentence else NOT_CHECKED)
    link("trust", "How far to trust the judge", run, icon=":material/balance:")


def _in_words(run: Run, label: Confirmed, kind: Raters) -> str:
    values = {**label._asdict(), "label": PLAIN_LABELS[label.label], "pairs": "pair" if label.rated == 1 else "pairs"}
    values["who"] = kind.words
    return say(run, CONFIRMED + (DIVIDED if label.divided else ""), **values)


def most_disputed(run: Run) -> None:
    """The gravest questions with their positions."""
    questions = load(disputed_questions, run, limit=LISTED)
    st.header("Gravest disagreements", anchor=False)
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
    loaded = {kind: int(row["loaded"]) for kind, row in run.report.get("totals", {}).items()}
    sizes = ["handbook"] * run.has_handbooks + ["question"] + ["pair"] * run.has_pairs
    counted_sizes = ", ".join(counted(run, kind, loaded[kind]) for kind in sizes if kind in loaded)
    made = "; ".join(str(run.manifest[fact]) for fact in ("date", "judge") if run.manifest.get(fact))
    counts(run, "{run}: {sizes}" + (" ({made})." if made else "."), made=made, sizes=counted_sizes)
    with st.container(horizontal=True):
        link("about", "About these data", run, icon=":material/dataset:")
        how_counted(
            *(
                ("organs", "disputed_share_corrected", "disputed_questions", "question_positions")
                if run.has_pairs
                else ("questions",)
            )
        )


def heading_of(run: Run) -> str:
    """What the run is about, in its own terms."""
    title = TITLE if run.has_pairs else UNLABELLED_TITLE if run.has_handbooks else SYSTEMS_TITLE
    return display_name(fill(run, title))


with page(TITLE, LEAD, without_pairs=SYSTEMS, unlabelled=UNLABELLED, headed=heading_of) as run:
    # Its list of all that can be found is larger than the findings, so that a browser gets these first
    box = st.container()
    if load(has_texts, run):
        # In another process, so that the first question finds the handbooks read
        prepare(run, Settings().data_dir)
    if not run.has_pairs:
        (unlabelled_start if run.has_handbooks else systems_start)(run)
        with box:
            search(run, "search", large=True)
        what_the_data_are(run)
        st.stop()
    left, right = st.container(key="answers").columns([5, 3], gap="large")
    with left:
        most_disputed(run)
    with box:
        search(run, "search", large=True)
    with right:
        my_handbook(run)
        st.header("How often", anchor=False)
        # The last row counts the whole run.
        figures(run, load(organs, run, scope=MATCHING).iloc[-1])
        st.header("Can the judge be trusted?", anchor=False)
        raters_and_judge(run)
    what_the_data_are(run)
    tour(current_account(), terms(run))
