"""Glossary: the words of the audit in plain clinical English, under this run's own terms."""

import streamlit as st

from audit.charts.dark_mode import light_dark
from audit.charts.style import LABEL_COLOURS
from audit.store.runs import Run
from audit.vocabulary import LABELS
from pages._shared.page import page
from pages._shared.terms import say

LABEL_MEANINGS = {
    "ABSENT": "At least one of the two {handbooks} does not address the question. Nothing is compared.",
    "CONSISTENT": "Both give the same advice; {a_patient} would act the same way after either.",
    "COMPLEMENTARY": "They add to each other: one has details that the other lacks, and nothing conflicts.",
    "DIVERGENT": "Both answer, and the advice differs: another number, another time, another condition.",
    "CONTRADICTORY": "Both answer, and following one means going against the other.",
}

WORDS = {
    "What is compared": {
        "{handbook}": "One source of advice for {patients}, such as a book or a site. It belongs to one {center} and one "
        "{organ}, and covers the time before (pre), after (post) or both (combined).",
        "{question}": "A question that {a_patient} asks. It belongs to one {organ}, or is general, and to one or more {topics}.",
        "answer": "What was found in one {handbook} for one {question}. It is absent when the {handbook} does not address it.",
        "pair": "One {question} and two of its {handbooks}. With N {handbooks} asked, {a_question} has N(N-1)/2 pairs.",
        "label": "What the judge says of a pair: one of the five above.",
        "section": "A part of {a_handbook} under one heading; a passage is a place in its text.",
    },
    "Five things that are not the same": {
        "absent": "The {handbook} was asked, and does not address the {question}.",
        "unscored": "The judge was asked about the pair, and gave no verdict that could be read. It is no label, and counts in "
        "no rate.",
        "unread": "The {question} was put to the {handbook}, and the reply of the model that answers could not be read.",
        "not asked": "The {question} was never put to this {handbook}. It counts neither as answered nor as left out.",
        "zero": "Pairs were counted, and none was of this kind.",
    },
    "How pairs come to their label": {
        "pre-screened": "Labelled absent without asking the judge, because one of the two answers is absent.",
        "judged": "Both answers were read by the judge (a language model, or plain rules), which gave a label and its reasons.",
        "clinical significance": "How much a disagreement matters to {a_patient}, in the judge's view: low, medium or high.",
        "divergence topic": "In a few words, what the two answers differ about.",
        "theme": "Divergence topics that are about the same. Each belongs to one theme or to none; themes stand in groups.",
        "weight of a theme": "Its disagreeing pairs, each counting 1, 2 or 3 by clinical significance (low, medium, high); 1 "
        "where it was not stated.",
        "curated": "People have changed the themes: every change has an author and a reason, and can be undone. "
        "Packages hold the themes as they were built beside them.",
    },
    "How answers are found": {
        "passage": "A part of {a_handbook} that was given to the generator to answer from.",
        "citation": "Which passage a part of an answer rests on. One that names a passage which was not given is flagged.",
        "layer": "One step of a search: by meaning, by words, the fusion of both, another ranking, wider passages.",
        "fused": "Several searches made one: scores, each on a scale from 0 to 1, are weighed and added up; or places "
        "(reciprocal rank fusion, RRF), where every search gives a section 1 / (60 + its place).",
        "full document": "The {handbook} is short enough, so all of it was given to the generator and nothing was searched.",
        "fallback": "The passages found were not enough, so the whole {handbook} was given to the generator.",
        "extractive": "Answered without a language model: sentences of the {handbook}, word for word.",
        "strategy": "A way of searching; several are tried on the same {questions} to compare them.",
        "trial": "One search by one strategy: {a_question} in {a_handbook}, what was found and in which order.",
        "gold section": "A section of which somebody knows that it holds the answer.",
        "hit@k": "The share of searches with a gold section among the first k that were found.",
        "MRR": "One over the place of the first gold section, on average over searches; 0 where it was not found.",
        "nDCG@5": "How close the order of the first five sections comes to the best possible one, from 0 to 1.",
    },
    "How the judge is measured": {
        "check": "A further verdict of the same judge on the same pair. It measures the judge; the pair keeps its label.",
        "position swap": "A check with the two answers in the other order. A label that changes depended on the order.",
        "blinding": "A check with the names of {centers} hidden. A label that changes depended on who said it.",
        "repeat": "A check in which nothing is changed: what changes all the same is chance.",
        "across the line": "From agreeing (absent, consistent, complementary) to disagreeing (divergent, contradictory) or back.",
        "kappa": "How far two verdicts agree beyond chance: 1 always, 0 as often as if both had labelled blindly.",
        "not measured": "Nobody asked: there is no number, and it is not zero.",
        "token": "A word or a part of one, as a language model reads and writes it; what a model costs is counted in these.",
    },
    "How the numbers are made": {
        "silent (r_abs)": "Of all pairs with a verdict, the share that is absent.",
        "disagree (R_div)": "Of the pairs in which both {handbooks} answer, the share that is divergent or contradictory.",
        "agree fully (R_con)": "Of the pairs in which both {handbooks} answer, the share that is consistent.",
        "any disagreement (pct_any_div)": "Of the {questions} with a verdict on any pair, the share on which at least one "
        "disagrees. The more {handbooks} answer, the more pairs there are, so this share rises with their number.",
        "95 % interval": "The range in which the share would probably lie if other {questions} (and, where pairs are pooled, "
        "other {handbooks}) of the same kind had been taken. A wide interval means few data.",
        "Wilson's interval": "A 95 % interval of a share from its two counts alone, where nothing can be drawn anew.",
        "Spearman's rho": "How far two rankings agree: 1 the same order, 0 no connection, -1 the reverse.",
        "severity score": "Disagreements weighed by significance (low or not stated 1, medium 2, high 3), per pair in "
        "which both answer.",
        "gap": "{A_question} that one {handbook} leaves out and most of its peers answer.",
        "camp": "A group of {handbooks} whose answers to one {question} agree with each other.",
    },
    "How two runs are compared": {
        "revealed": "A pair that is absent in the first run and present in the second: an answer was found that was missed.",
        "lost": "The reverse: a pair that is present in the first run and absent in the second.",
        "judged otherwise": "A pair present in both runs that disagrees in one of them only.",
        "paired interval": "The 95 % interval of a change. Both runs have the same {questions}, so what makes these unlike each "
        "other drops out.",
    },
    "Where the data comes from": {
        "release": "The files of one such comparison, as they were published or produced.",
        "run": "A release that was loaded here. Its digest is a fingerprint: the same digest means the very same data.",
        "re-judged": "A pair that was put to a judge once more. Its new label stands in a run of its own; the old one stays.",
        "package": "Every table and figure of a run as files, a report to mail, and a manifest of what they were made from.",
        "quarantined": "A record that could not be used and was set aside. It counts nowhere; Runs lists it with the reason.",
    },
}


def define(run: Run, words: dict[str, str]) -> None:
    """Words and their meanings, one a paragraph."""
    for word, meaning in words.items():
        st.markdown(say(run, f"**{word}**  \n{meaning}"))


def define_labels(run: Run) -> None:
    """The five labels, each beside its colour."""
    for label in LABELS:
        swatch, text = st.columns([1, 40], vertical_alignment="center", gap="small")
        swatch.html(f'<div style="width:18px;height:18px;border-radius:3px;background:{light_dark(LABEL_COLOURS[label])}"></div>')
        text.markdown(say(run, f"**{label.value.lower()}**: {LABEL_MEANINGS[label]}"))


with page("Glossary", "One word, one meaning, on every page.") as run:
    st.header("The five labels", anchor=False)
    define_labels(run)
    for heading, words in WORDS.items():
        st.header(heading, anchor=False)
        define(run, words)
