"""Trust: how reliable the judge's labels are, in sentences, and how that affects the figures of the run."""

import math

import streamlit as st

from annotation.agreement.tables import BY_LABEL_TABLE
from annotation.prevalence.estimates import CORRECTED_TABLE, by_label, prevalence
from audit.charts.style import interval, percent
from audit.exports.table_model import with_population_column
from audit.metrics.disagreement_bounds import disagreement_bounds
from audit.metrics.judge import judge_checks
from audit.metrics.planted import BY_EFFECT, planted_changes
from audit.store.runs import Run
from audit.vocabulary import PASSAGES_GENERATOR
from pages._blinded.access import current_account
from pages._blinded.frame import escaped
from pages._blinded.option_labels import distinct_labels
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.rating_sources import RatingSource, corrected_rate, rates_in_open_study, rating_sources
from pages._shared.widgets import csv_button, footer, link, listed, say, table
from pages.trust.search import search_section
from pages.trust.sentences import (
    ORDER,
    check_sentences,
    counted_sentence,
    judge_sentence,
    label_sentence,
    planted_sentences,
    rater_sentences,
    unmeasured_checks,
)

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
    "Nobody has rated pairs of this run. So it is not known how far anybody agrees with the judge, nor "
    "what the figures would be without its errors. An investigator can draw a sample on *Studies*; a release can bring ratings."
)
NO_DESIGN = "It is not stated how the rated pairs were drawn, so no figure of the whole run can be corrected by them."
NOT_ASKED = (
    "Not measured: whether labels stay the same with {kinds}. The judge was not asked again in this way, which is not the same "
    "as labels that stay."
)
NOT_PLANTED = (
    "Not measured: whether the judge notices small changes with a known effect. None were planted in answers of this run."
)


def pick_source(sources: list[RatingSource]) -> RatingSource:
    """The ratings to show; a choice only where there are several."""
    if len(sources) == 1:
        return sources[0]
    titles = [source.title for source in sources]
    chosen = st.selectbox(
        "Ratings",
        range(len(titles)),
        format_func=distinct_labels(range(len(titles)), titles.__getitem__, numbered=True),
        key="ratings",
    )
    return sources[chosen]


def headline(run: Run, source: RatingSource) -> None:
    """The disagreement rate by the judge and corrected, and who rated."""
    rate = corrected_rate(source)
    if rate is None:
        st.info(NO_DESIGN)
    elif not math.isnan(rate.value):
        st.markdown(
            say(
                run,
                "Of the pairs in which both {handbooks} answer, the judge calls **{judge}** a disagreement. Corrected by {n} "
                "rated pairs it is **{value}** (95 % interval {span}).",
                judge=percent(rate.judge),
                n=f"{rate.n:,}",
                value=percent(rate.value),
                span=interval(rate.low, rate.high),
            )
        )
        st.caption(
            say(
                run,
                "The rated pairs were drawn at random, label by label, from {pairs} of the {all} pairs of the run.",
                pairs=f"{rate.pairs:,}",
                all=f"{run.report.get('totals', {}).get('pair', {}).get('loaded', 0):,}",
            )
        )
    st.caption(escaped(f"{source.title}: {source.raters}{'' if source.final else ' Not final: the study goes on.'}"))


def raters(run: Run, source: RatingSource) -> None:
    """Raters with raters."""
    st.header(f"Do {source.kind.words} agree with each other?", anchor=False)
    for sentence in rater_sentences(source):
        st.markdown(say(run, "{sentence}", sentence=sentence))


def judge(run: Run, source: RatingSource) -> None:
    """The judge with raters: precision and recall of each label first."""
    st.header(f"Do {source.kind.words} agree with the judge?", anchor=False)
    for label in ORDER:
        st.markdown(say(run, f"**{label.value.capitalize()}.** {{sentence}}", sentence=label_sentence(source, label)))
    st.markdown(say(run, "**All labels.** {sentence}", sentence=judge_sentence(source)))
    st.caption(escaped(counted_sentence(source)))


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
        csv_button(with_population_column(shares, CORRECTED_TABLE.population), "corrected", f"{run.run_id}_corrected.csv")
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
    """The judge asked again, one sentence per kind of check, and what was not measured."""
    st.header("Does the judge give the same label when it is asked again?", anchor=False)
    checks = load(judge_checks, run)
    effects = load(planted_changes, run, by=BY_EFFECT)
    own = effects[effects["judge"] == run.manifest.get("judge")]
    for sentence in (*check_sentences(run, checks), *planted_sentences(own)):
        st.markdown(say(run, "{sentence}", sentence=sentence))
    if missing := unmeasured_checks(run, checks):
        st.markdown(say(run, NOT_ASKED, kinds=listed(missing)))
    if not own["of"].sum():
        st.markdown(NOT_PLANTED)
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


with page(TITLE, LEAD, unlabelled=UNLABELLED, headed=heading_of) as run:
    if not run.has_pairs:
        unlabelled_trust(run)
        st.stop()
    if rates_in_open_study(current_account(), run):
        st.info(STILL_RATING)
        st.stop()
    sources = rating_sources(run)
    if sources:
        source = pick_source(sources)
        headline(run, source)
        judge(run, source)
        raters(run, source)
        corrected_table(run, source)
    else:
        st.info(NOBODY)
    if run.manifest.get("generator") == PASSAGES_GENERATOR:
        search_section(run)
    counted_otherwise(run)
    asked_again(run)
