"""Trust: how reliable the judge's labels are, in sentences, and how that affects the figures of the run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import chain, combinations, repeat
from pathlib import Path

import streamlit as st

from annotation.agreement.sentences import figure, people_sentence, share_words, undefined
from annotation.agreement.tables import BY_LABEL_TABLE
from annotation.prevalence.estimates import CORRECTED_TABLE, by_label, prevalence
from annotation.ratings.table import GOLD, JUDGE
from annotation.studies.accounts import Role
from audit.charts.search import search_curves_figure
from audit.charts.style import interval, percent
from audit.evaluation.retrieval_measures import search_curves
from audit.exports.sections.pairs import DECISIONS
from audit.exports.table_model import with_population_column
from audit.metrics.labels import disagreement_bounds
from audit.stats.intervals import wilson
from audit.stats.misclassification import ErrorCounts
from audit.store.runs import Run
from audit.vocabulary import PASSAGES_GENERATOR
from pages._blinded.access import current_account
from pages._blinded.frame import escaped
from pages._blinded.option_labels import distinct_labels
from pages._shared import sections
from pages._shared.disputed_share import disputed_share
from pages._shared.found_states import errors_of
from pages._shared.judge_sentences import chance_sentence, judge_sentence, reference_of
from pages._shared.judge_story import checks_story
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.pickers import choose, named_by
from pages._shared.rating_sources import RatingSource, corrected_rate, rates_in_open_study, rating_sources
from pages._shared.widgets import chart, counts, csv_button, footer, link, say, table
from pages.trust.confirmed import confirmed_html, rates_html

CSS = Path(__file__).with_name("trust.css")
TITLE, UNLABELLED_TITLE = "How far to trust the labels", "How far to trust what was found"
UNLABELLED = (
    "No model has compared these {handbooks} yet, so there are no labels to trust or to doubt: only what was found in them."
)
ONLY_ANSWERS = "Nothing is measured of this run: nobody has compared its {handbooks}, and how often its answers err is not known."
LEAD = "Do raters agree with each other, and with the judge? How does that affect the figures of this run?"
STILL_RATING = (
    "You are rating pairs of this run in a study that is not closed. This page shows how the judge labels them, so you can "
    "open it once the study is closed."
)
NOBODY = (
    "Nobody has rated pairs of this run, so it is not known how far anybody agrees with the judge. Its errors in the figure "
    "below are measured in another way or assumed, as it says. An investigator can draw a sample on *Studies*; a release can "
    "bring ratings."
)
NO_DESIGN = "It is not stated how the rated pairs were drawn, so no figure of the whole run can be corrected by them."
RATES = (
    "Of the pairs in which both {handbooks} answer, the judge calls **{judge}** a disagreement. Corrected by {n} rated pairs it "
    "is **{value}** (95 % interval {span}, for these pairs)."
)
DRAWN_FROM = "The rated pairs were drawn at random, label by label, from {pairs} of the {all} pairs of the run."
NARROWER = "How many more ratings would halve the interval?"
VIEWS = {
    "all": "In short", "tests": "Tests", "raters": "Raters", "rates": "Counted in other ways",
    "lists": "What a list finds", "search": "The search",
}  # fmt: skip


def pick_source(sources: list[RatingSource]) -> RatingSource:
    """The ratings to show; a choice only where there are several."""
    if len(sources) == 1:
        return sources[0]
    titles = [source.title for source in sources]
    numbered = distinct_labels(range(len(titles)), titles.__getitem__, numbered=True)
    return sources[st.selectbox("Ratings", range(len(titles)), format_func=numbered, key="ratings")]


def headline(run: Run, source: RatingSource) -> None:
    """The disagreement rate by the judge and corrected, and who rated."""
    rate = corrected_rate(source)
    if rate is None:
        st.info(NO_DESIGN)
    elif not math.isnan(rate.value):
        span, every = interval(rate.low, rate.high), run.report.get("totals", {}).get("pair", {}).get("loaded", 0)
        values = {"judge": percent(rate.judge), "n": f"{rate.n:,}", "value": percent(rate.value), "span": span}
        st.markdown(say(run, RATES, **values))
        st.html(rates_html(rate))
        counts(run, DRAWN_FROM, pairs=f"{rate.pairs:,}", all=f"{every:,}")
    st.caption(escaped(f"{source.title}: {source.raters}{'' if source.final else ' Not final: the study goes on.'}"))
    if rate is not None and source.study_id and getattr(current_account(), "role", None) is Role.PI:
        link("studies/prevalence", NARROWER, run, icon=":material/tune:", study=source.study_id)


def raters(run: Run, source: RatingSource) -> None:
    """Raters with raters."""
    st.header(f"Do {source.kind.words} agree with each other?", anchor=False)
    for sentence in rater_sentences(source):
        st.markdown(say(run, "{sentence}", sentence=sentence))


def corrected_table(run: Run, source: RatingSource) -> None:
    """How common each label is, by the judge and corrected."""
    if source.ratings.design is None:
        return
    st.header("How common is each label, corrected?", anchor=False)
    shares = by_label(prevalence(source.ratings))
    table(shares, "corrected", CORRECTED_TABLE.named("label", "judge", "value", "n"), digits=2)
    for note in filter(None, shares["note"].unique()):  # one note applies to all labels
        st.caption(escaped(f"{note[:1].upper()}{note[1:].rstrip('.')}."))
    with st.container(horizontal=True):
        exported = with_population_column(shares, CORRECTED_TABLE.population, source.ratings.intervals)
        csv_button(exported, "corrected", f"{run.run_id}_corrected.csv")
        with st.popover("How this is computed", icon=":material/functions:"):
            for note in (*CORRECTED_TABLE.notes, *BY_LABEL_TABLE.notes):
                st.text(note)


def counted_otherwise(run: Run) -> None:
    """The disagreement rate with every unscored pair on either side, and as a mean over questions."""
    st.header(disagreement_bounds.table.for_run(run).title, anchor=False)
    bounds = load(disagreement_bounds, run)
    table(bounds, "bounds", disagreement_bounds.table.pick(run))
    footer(bounds, "disagreement-bounds", run, "disagreement_bounds")


def asked_again(run: Run) -> None:
    """What tests without raters found, in sentences with pass, fail or not measured."""
    st.header("Does the judge pass tests that need no raters?", anchor=False)
    checks_story(run)
    link("judge", "Read every check in full", run, icon=":material/gavel:")


def heading_of(run: Run) -> str:
    """What is to be trusted: labels, or what was found where nothing has labelled it."""
    return TITLE if run.has_pairs else UNLABELLED_TITLE


def unlabelled_trust(run: Run) -> None:
    """How far to trust the answers of a run that nothing has compared."""
    if run.manifest.get("generator") == PASSAGES_GENERATOR:
        search_section(run)
    else:
        st.info(say(run, ONLY_ANSWERS))


# -- How often the search misses an answer -------------------------------------------------------------------


WAYS = {"minilm": "With the sentence model MiniLM", "words": "Without a sentence model"}
NOT_MEASURED = "The answers of this run are the passages closest to each question. How often such a search errs was not measured."
MISSED = (
    "The answers of this run are the passages closest to each question; no model has read them. Of {answered} questions that a "
    "document answers, such a search called {missed} “not found” ({share}; 95 % interval {span})."
)
FOUND = "Of {unanswered} questions that the document does not answer, it showed passages for {found} ({share}; {span})."
EXPLAINED = (
    "Each point of a line is a score: the lower the score that is accepted, the more answers are quoted, and the more other "
    "passages. Down to the first mark an answer is *stated*, down to the second it is *perhaps* there, below that *not found*. "
    "In *Ask*, a sentence model and words both have to call an answer *stated*, or *not found*. "
    "{questions} questions, {answered} of them answered in their document, to ten documents of US health institutes that the "
    "thresholds were not chosen on. A language model wrote and graded the questions, not a clinician."
)


def search_section(run: Run) -> None:
    """The measured errors of the search behind the answers, and the curve that its thresholds were chosen from."""
    st.header("How often does the search miss an answer?", anchor=False)
    sentences = list(error_sentences(run, errors_of(run).rates))
    for sentence in sentences:
        st.markdown(sentence)
    if not sentences:
        st.markdown(say(run, NOT_MEASURED))
    curves = search_curves()
    alt = "Share of questions with the answer quoted against that with other passages quoted, for each score."
    chart(search_curves_figure(curves, WAYS), "search_curves", alt)
    questions, answered = (f"{curves[name].iloc[0]:,}" for name in ("questions", "answered"))
    st.caption(say(run, EXPLAINED, questions=questions, answered=answered))


def error_sentences(run: Run, rates: ErrorCounts | None) -> Iterator[str]:
    """What is known of the errors of the search; nothing where it was not measured."""
    if rates is None:
        return
    for template, part, whole in ((MISSED, "missed", "answered"), (FOUND, "found", "unanswered")):
        count, total = getattr(rates, part), getattr(rates, whole)
        low, high = wilson(count, total)
        values = {part: f"{count:,}", whole: f"{total:,}"}
        yield say(run, template, share=percent(count / total), span=interval(float(low), float(high)), **values)


def rater_sentences(source: RatingSource) -> Iterator[str]:
    """How far raters agree with each other, and with themselves where they read pairs twice."""
    for first, second in combinations(source.ratings.annotators, 2):
        yield people_sentence(source.report, first, second)
    retest = source.report.retest
    repeated = retest[retest["name"] == "agreement"].to_dict("records") if len(retest) else []
    # Not by name: readers of a run need not know who rates
    who = chain(["one rater"], repeat("another rater"))
    for row in repeated:
        if not undefined(row):
            same = round(row["value"] * row["n"])
            yield f"Shown the same pair again, {next(who)} gave the same label to {same:,} of {row['n']:,} ({share_words(row)})."


def counted_sentence(source: RatingSource) -> str:
    """Which of the rated pairs the figures about the judge count."""
    counted = figure(source.report, reference_of(source), JUDGE, "accuracy")["n"]
    left_out = source.rated - counted
    settled = "a label after adjudication" if reference_of(source) == GOLD else "a label on which the raters agree"
    words = (
        f"Counted for all labels, and for what the judge finds: {counted:,} pairs that have {settled} and a verdict of the judge."
    )
    return f"{words} {left_out:,} other rated pairs lack one of the two." if left_out else words


def in_short(run: Run, source: RatingSource) -> None:
    """The rate, and whether raters confirm the judge."""
    headline(run, source)
    st.header(f"Do {source.kind.words} agree with the judge?", anchor=False)
    st.html(confirmed_html(source))
    st.markdown(say(run, "**All labels.** {sentence}", sentence=judge_sentence(source)))
    st.caption(escaped(counted_sentence(source)))


def between_raters(run: Run, source: RatingSource) -> None:
    """Raters with raters, and what their labels make of the judge's shares."""
    raters(run, source)
    st.markdown(say(run, "{sentence}", sentence=chance_sentence(source)))
    corrected_table(run, source)


def views_of(run: Run, source: RatingSource | None) -> dict[str, Callable[[], object]]:
    """What each view draws, of those for which the run has something."""
    by_raters = {"all": lambda: in_short(run, source), "raters": lambda: between_raters(run, source)} if source else {}
    searched = {"search": lambda: search_section(run)} if run.manifest.get("generator") == PASSAGES_GENERATOR else {}
    return {
        **by_raters, "tests": lambda: asked_again(run), "rates": lambda: counted_otherwise(run),
        "lists": lambda: sections.show(run, DECISIONS), **searched,
    }  # fmt: skip


with page(TITLE, LEAD, unlabelled=UNLABELLED, headed=heading_of) as run:
    if not run.has_pairs:
        unlabelled_trust(run)
        st.stop()
    if rates_in_open_study(current_account(), run):
        st.info(STILL_RATING)
        st.stop()
    st.html(CSS)
    sources = rating_sources(run)
    source = pick_source(sources) if sources else None
    if source is None:
        st.info(NOBODY)
        disputed_share(run)
    drawn = views_of(run, source)
    drawn[choose("Show", tuple(drawn), "view", named_by(VIEWS), show_label=False)]()
