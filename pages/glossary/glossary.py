"""Glossary: the words of the audit in plain English, using the run's own terms."""

import pandas as pd
import streamlit as st
from markupsafe import Markup

from audit.charts.dark_mode import light_dark
from audit.charts.style import LABEL_COLOURS
from audit.metrics import glossary
from audit.metrics.questions import organs
from audit.queries.pair_counts import ALL_HANDBOOKS, MATCHING
from audit.store.runs import Run
from audit.terms import fill
from audit.vocabulary import LABELS, Label
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.pickers import type_words
from pages._shared.rating_sources import first_source
from pages._shared.widgets import say, table

LEAD = "Each word has the same meaning on every page."
LABEL_MEANINGS = {
    "ABSENT": "At least one of the two {handbooks} does not address the question, so there is nothing to compare.",
    "CONSISTENT": "Both give the same advice; {a_patient} would do the same after reading either.",
    "COMPLEMENTARY": "One has details that the other lacks, and nothing conflicts.",
    "DIVERGENT": "Both answer, but the advice differs: another number, another time, another condition.",
    "CONTRADICTORY": "Both answer, and following one means going against the other.",
}

SECTIONS = {
    "What is compared": (
        "{handbook}", "{question}", "answer", "pair", "label", "section",
    ),
    "Five things to keep apart": (
        "absent", "unscored", "unread", "not asked", "zero",
    ),
    "How pairs get their label": (
        "pre-screened", "judged", "abstained", "{significance}", "divergence topic", "theme", "weight of a theme",
        "curated",
    ),
    "How answers are found": (
        "passage", "citation", "source page", "layer", "fused", "full document", "fallback", "closest passages",
        "strategy", "trial", "gold section", "hit@k", "MRR", "nDCG@5",
    ),
    "How the judge is measured": (
        "check", "position swap", "blinding", "repeat", "across the line", "kappa", "not measured", "token",
    ),
    "How people compare systems": (
        "head-to-head", "reference answer", "both bad",
    ),
    "How the numbers are calculated": (
        "not addressed (r_abs)", "disagreement (R_div)", "same advice (R_con)",
        "disputed {questions} (pct_any_div)", "95 % interval", "related pairs", "Wilson's interval", "Spearman's rho",
        "severity score", "gap", "position group", "label entropy", "length effect", "comparable", "position",
    ),
    "How two runs are compared": (
        "revealed", "lost", "paired interval", "in both runs", "excluded from a comparison", "changed pair",
        "changed verdict", "transition",
    ),
    "Where the data comes from": (
        "release", "run", "preview", "re-judged", "package", "quarantined",
    ),
}  # fmt: skip
"""Heading -> words in their order. A word of a metric that is in no section is listed under MORE."""
MORE = "More words"
DEFINED_LABEL = Markup(
    '<div style="display:flex;gap:0.7rem" dir="auto"><span style="flex:none;width:18px;height:18px;margin-top:3px;'
    'border-radius:3px;background:{colour}"></span><span><b>{word}</b>: {meaning}</span></div>'
)

CORE_MEANINGS = {
    "{handbook}": "One source of advice for {patients}, such as a book or a website. It belongs to one {center} and "
    "one {organ}, and covers the time before (pre), after (post) or both (combined).",
    "answer": "The text with which one {handbook} answers one {question}. It is absent when the {handbook} does not "
    "address the {question}.",
    "label": "How the judge classifies a pair: one of the five labels above.",
    "section": "A part of {a_handbook} under one heading. A passage is a stretch of its text.",
    "absent": "The {handbook} was asked and does not address the {question}.",
    "unread": "The {handbook} was asked the {question}, but the reply of the model, or the {handbook} itself, could not be read.",
    "abstained": "The judge said that it could not decide. The pair is unscored.",
    "preview": "A run whose answers or labels no language model has read: answers are quoted passages, or labels come from "
    "the truth table of a made-up example. Its figures show what a run looks like, and are not findings.",
    "zero": "Pairs were counted, and none of them was of this kind.",
    "curated": "People have edited the themes. Every edit has an author and a reason and can be undone. Exports "
    "contain both the curated and the original themes.",
    "passage": "A part of {a_handbook} that was given to the generator to answer from.",
    "source page": "The page of {a_handbook} on which a cited sentence is printed, drawn from a copy of the file that the text "
    "was taken from. The copy is recognised by its digest, so another file of the same name is never shown.",
    "layer": "One step of a search: by meaning, by words, the combination of both, a reranking, wider passages.",
    "fused": "Several searches combined into one. Either scores, scaled from 0 to 1, are weighted and added up; or "
    "ranks are (reciprocal rank fusion, RRF), where each search gives a section 1 / (60 + its rank).",
    "full document": "The {handbook} is short, so its full text was given to the generator and nothing was searched.",
    "fallback": "The passages found were not enough, so the full text of the {handbook} was given to the generator.",
    "closest passages": "Quoted without a language model: the passages of the {handbook} that are closest to the question. "
    "From which closeness one is *stated*, or *perhaps* an answer, was measured; in *Ask* a sentence model and words must agree.",
    "head-to-head": "A study in which people read two systems' answers to one {question} and choose the better one, without "
    "knowing which system gave which. Each person sees each system's answer on a side that was drawn at random.",
    "reference answer": "An answer to {a_question} that counts as right. In a study it is shown on request, which is recorded.",
    "both bad": "A choice between two answers: neither can be given to {a_patient}. It is not a tie, which says equally good.",
    "token": "A word or part of a word as a language model reads and writes it. The cost of a model is counted in tokens.",
    "95 % interval": "The range in which the share would probably lie for other {questions} of the same kind (and, "
    "where pairs are pooled, for other {handbooks}). A wide interval means few data.",
    "Wilson's interval": "A 95 % interval of a share that is computed from two counts alone: the events and the trials.",
    "related pairs": "Two pairs that share {a_question} or {a_handbook}. Their information overlaps, so intervals of pooled "
    "pairs are wider than those of as many unrelated pairs.",
    "release": "The files of one comparison, as they were published or produced.",
    "run": "A release that was loaded here. Its digest is a fingerprint: equal digests mean identical data.",
    "package": "All tables and figures of a run as files, with a report and a manifest that lists what they were made from.",
}
"""Words that no metric defines; `audit.metrics.glossary` has the others, each defined with the metric that uses it."""


COUNTED_PAIRS = {
    "all pairs": ("Every two answers to the same {question}.", "About, Runs, Downloads"),
    "labelled pairs": ("Those of them whose verdict could be read.", "{Organs} and Topics of all {handbooks}, {Centers}"),
    "pairs that both answer": ("Labelled; neither is absent.", "Start (corrected), {Question}, {Handbook}, Topics, Prevalence"),
    "pairs that should answer": (
        "Labelled, and the {question} is general or of the {organ} of both {handbooks}.", "Start (not addressed), {Organs}",
    ),
    "pairs that should answer and do": ("Both at once.", "Start (not corrected), {Organs}"),
    "rated pairs": ("Drawn from all pairs, a number from each label of the judge.", "Trust, Agreement"),
}  # fmt: skip
"""The denominators of pages: which pairs, and where."""
COUNTED_HEADINGS = {"word": "Pairs", "n": "In this run", "which": "Which they are", "pages": "Where they are counted"}


def counted_pairs(run: Run, wanted: str) -> None:
    """The denominators that match, each with its number of pairs in the run."""
    shown = matching(run, {word: " ".join(words) for word, words in COUNTED_PAIRS.items()}, wanted)
    if not shown or not run.has_pairs:
        return
    every, own = (load(organs, run, scope=scope).iloc[-1] for scope in (ALL_HANDBOOKS, MATCHING))
    source = first_source(run)
    numbers = (every["pairs"], every["scored"], every["present"], own["scored"], own["present"], source.rated if source else 0)
    rows = [
        (word, int(n), fill(run, which), fill(run, pages))
        for (word, (which, pages)), n in zip(COUNTED_PAIRS.items(), numbers, strict=True)
        if word in shown
    ]
    st.header("Which pairs a figure counts", anchor=False)
    table(pd.DataFrame(rows, columns=list(COUNTED_HEADINGS)), "counted_pairs", COUNTED_HEADINGS)


def sections() -> dict[str, dict[str, str]]:
    """Heading -> word -> meaning, both templates of `say`."""
    meanings = {**glossary(), **CORE_MEANINGS}
    listed = {word for words in SECTIONS.values() for word in words}
    more = {word: meaning for word, meaning in meanings.items() if word not in listed}
    known = {heading: {word: meanings[word] for word in words if word in meanings} for heading, words in SECTIONS.items()}
    return {**known, MORE: more}


def matching(run: Run, definitions: dict[str, str], wanted: str) -> dict[str, str]:
    """The definitions whose word or meaning contains `wanted`, in the run's own terms and in any case."""
    needle = wanted.strip().casefold()
    return {word: meaning for word, meaning in definitions.items() if needle in fill(run, f"{word} {meaning}").casefold()}


def define(run: Run, definitions: dict[str, str]) -> None:
    """One paragraph per word."""
    for word, meaning in definitions.items():
        st.markdown(say(run, f"**{word}**  \n{meaning}"))


def define_labels(run: Run, wanted: str) -> None:
    """The labels that match, each next to its colour."""
    shown = matching(run, {label.value: LABEL_MEANINGS[label] for label in LABELS}, wanted)
    if shown:
        st.header("The five labels", anchor=False)
    for label in map(Label, shown):
        colour, meaning = light_dark(LABEL_COLOURS[label]), fill(run, LABEL_MEANINGS[label])
        st.html(DEFINED_LABEL.format(colour=colour, word=label.value.lower(), meaning=meaning))


with page("Glossary", LEAD, without_pairs=LEAD, without_run=True) as run:
    wanted = type_words("Search the glossary", "word", "A word, or part of its meaning")
    define_labels(run, wanted)
    counted_pairs(run, wanted)
    matches = {heading: matching(run, definitions, wanted) for heading, definitions in sections().items()}
    for heading, definitions in matches.items():
        if definitions and wanted:
            st.header(heading, anchor=False)
            define(run, definitions)
        elif definitions:
            with st.expander(f"{heading} ({len(definitions)})"):
                define(run, definitions)
    if not any(matches.values()):
        st.markdown(say(run, "No other word contains {wanted}. Search for a shorter part of it.", wanted=f"“{wanted}”"))
