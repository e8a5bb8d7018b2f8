"""Glossary: the words of the audit in plain clinical English, using the run's own terms."""

import streamlit as st

from audit.charts.dark_mode import light_dark
from audit.charts.style import LABEL_COLOURS
from audit.metrics import glossary
from audit.store.runs import Run
from audit.vocabulary import LABELS
from pages._shared.page import page
from pages._shared.terms import say

LABEL_MEANINGS = {
    "ABSENT": "At least one of the two {handbooks} does not address the question, so there is nothing to compare.",
    "CONSISTENT": "Both give the same advice; {a_patient} would do the same after reading either.",
    "COMPLEMENTARY": "One has details that the other lacks, and nothing conflicts.",
    "DIVERGENT": "Both answer, but the advice differs: another number, another time, another condition.",
    "CONTRADICTORY": "Both answer, and following one means going against the other.",
}

DEFINITIONS = {
    "What is compared": {
        "{handbook}": "One source of advice for {patients}, such as a book or a website. It belongs to one {center} and one "
        "{organ}, and covers the time before (pre), after (post) or both (combined).",
        "{question}": "A question that {a_patient} asks. It belongs to one {organ}, or is general, and to one or more {topics}.",
        "answer": "What one {handbook} says on one {question}. It is absent when the {handbook} does not address the {question}.",
        "pair": "Two {handbooks} and one {question}. Where N {handbooks} were asked, {a_question} has N(N-1)/2 pairs.",
        "label": "How the judge classifies a pair: one of the five labels above.",
        "section": "A part of {a_handbook} under one heading. A passage is a stretch of its text.",
    },
    "Five things to keep apart": {
        "absent": "The {handbook} was asked and does not address the {question}.",
        "unscored": "The judge was asked about the pair, and its verdict could not be read. Unscored is not a label, "
        "and the pair "
        "counts in no rate.",
        "unread": "The {question} was put to the {handbook}, and the reply of the answering model could not be read.",
        "not asked": "The {question} was never put to this {handbook}. It counts neither as answered nor as not addressed.",
        "zero": "Pairs were counted, and none of them was of this kind.",
    },
    "How pairs get their label": {
        "pre-screened": "Labelled absent without asking the judge, because at least one of the two answers is absent.",
        "judged": "The judge (a language model, or plain rules) read both answers and gave a label and its reasons.",
        "clinical significance": "How much a disagreement matters to {a_patient}, in the judge's view: low, medium or high.",
        "divergence topic": "What the two answers differ about, in a few words.",
        "theme": "A group of divergence topics with the same subject. Each topic belongs to at most one theme, and themes are "
        "arranged in groups.",
        "weight of a theme": "Its disagreeing pairs, each counted 1, 2 or 3 by clinical significance (low, medium, high), and 1 "
        "where no significance was stated.",
        "curated": "People have edited the themes. Every edit has an author and a reason and can be undone. Exports contain both "
        "the curated and the original themes.",
    },
    "How answers are found": {
        "passage": "A part of {a_handbook} that was given to the generator to answer from.",
        "citation": "Which passage a part of an answer is based on. A citation of a passage that was not given is flagged.",
        "layer": "One step of a search: by meaning, by words, the combination of both, a reranking, wider passages.",
        "fused": "Several searches combined into one. Either scores, scaled from 0 to 1, are weighted and added up; or ranks are "
        "(reciprocal rank fusion, RRF), where each search gives a section 1 / (60 + its rank).",
        "full document": "The {handbook} is short, so its full text was given to the generator and nothing was searched.",
        "fallback": "The passages found were not enough, so the full text of the {handbook} was given to the generator.",
        "extractive": "Answered without a language model, with sentences of the {handbook} word for word.",
        "strategy": "A way of searching. Several are tried on the same {questions} to compare them.",
        "trial": "One search by one strategy: {a_question} in {a_handbook}, the sections found, and their order.",
        "gold section": "A section that is known to contain the answer.",
        "hit@k": "The share of searches with a gold section among the first k results.",
        "MRR": "Mean reciprocal rank: one divided by the rank of the first gold section, averaged over searches; 0 "
        "where none was "
        "found.",
        "nDCG@5": "How close the order of the first five sections comes to the best possible order, from 0 to 1.",
    },
    "How the judge is measured": {
        "check": "Another verdict of the same judge on the same pair. It measures the judge; the pair keeps its label.",
        "position swap": "A check with the two answers in the other order. If the label changes, it depended on the order.",
        "blinding": "A check with the names of {centers} hidden. If the label changes, it depended on whose answer it was.",
        "repeat": "A check in which nothing is changed, so every change of label is chance.",
        "across the line": "From agreement (absent, consistent, complementary) to disagreement (divergent, "
        "contradictory) or back.",
        "kappa": "Agreement of two verdicts beyond chance: 1 is perfect, 0 is no better than chance.",
        "not measured": "No check was made, so there is no number. This is not the same as zero.",
        "token": "A word or part of a word as a language model reads and writes it. The cost of a model is counted in tokens.",
    },
    "How the numbers are calculated": {
        "not addressed (r_abs)": "The share of absent pairs among all pairs with a verdict.",
        "disagreement (R_div)": "The share of divergent or contradictory pairs among those in which both {handbooks} answer.",
        "same advice (R_con)": "The share of consistent pairs among those in which both {handbooks} answer.",
        "disputed {questions} (pct_any_div)": "The share of {questions} with at least one disagreeing pair, "
        "among those with "
        "a verdict on any pair. More {handbooks} mean more pairs, so this share rises with their number.",
        "95 % interval": "The range in which the share would probably lie for other {questions} of the same kind "
        "(and, where pairs "
        "are pooled, for other {handbooks}). A wide interval means few data.",
        "Wilson's interval": "A 95 % interval of a share, computed from its two counts alone where resampling is not possible.",
        "Spearman's rho": "How far two rankings agree: 1 for the same order, 0 for no relation, -1 for the reverse order.",
        "severity score": "Disagreements weighted by significance (low or not stated 1, medium 2, high 3), per pair in which "
        "both answer.",
        "gap": "{A_question} that one {handbook} does not address and most of its peers answer.",
        "position group": "{Handbooks} whose answers to one {question} agree with each other.",
    },
    "How two runs are compared": {
        "revealed": "A pair that is absent in the first run and present in the second: a missed answer was found.",
        "lost": "A pair that is present in the first run and absent in the second.",
        "judged differently": "A pair that is present in both runs and disagrees in only one of them.",
        "paired interval": "The 95 % interval of a change. Both runs have the same {questions}, so differences "
        "between {questions} "
        "cancel out.",
    },
    "Where the data comes from": {
        "release": "The files of one comparison, as they were published or produced.",
        "run": "A release that was loaded here. Its digest is a fingerprint: equal digests mean identical data.",
        "re-judged": "A pair that a judge was asked about again. The new label goes into a run of its own; the old one stays.",
        "package": "All tables and figures of a run as files, with a report and a manifest that lists what they were made from.",
        "quarantined": "A record that could not be used and was set aside. It is not counted; the page Runs lists it "
        "with the reason.",
    },
}


def define(run: Run, definitions: dict[str, str]) -> None:
    """One paragraph per word."""
    for word, meaning in definitions.items():
        st.markdown(say(run, f"**{word}**  \n{meaning}"))


def define_labels(run: Run) -> None:
    """The five labels, each next to its colour."""
    for label in LABELS:
        swatch, text = st.columns([1, 40], vertical_alignment="center", gap="small")
        swatch.html(f'<div style="width:18px;height:18px;border-radius:3px;background:{light_dark(LABEL_COLOURS[label])}"></div>')
        text.markdown(say(run, f"**{label.value.lower()}**: {LABEL_MEANINGS[label]}"))


def of_the_metrics(defined: dict[str, dict[str, str]]) -> dict[str, str]:
    """The words that metrics define, without those that are defined above."""
    above = {word for definitions in defined.values() for word in definitions}
    return {word: meaning for word, meaning in glossary().items() if word not in above}


with page("Glossary", "Each word has the same meaning on every page.") as run:
    st.header("The five labels", anchor=False)
    define_labels(run)
    for heading, definitions in DEFINITIONS.items():
        st.header(heading, anchor=False)
        define(run, definitions)
    st.header("More words, from the tables", anchor=False)
    define(run, of_the_metrics(DEFINITIONS))
