"""The tour on a start page: what the dashboard is, what to do here, the first three steps, and a picture.

The browser remembers that it was dismissed; the server stores nothing. "Tour" in the menu brings it back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from annotation.studies.accounts import Account, Role
from pages._blinded.templates import component

PARAM, REQUESTS = "tour", "number of requests for the tour"


@dataclass(frozen=True)
class Tour:
    """The texts for one role; `{handbook}` and the like are replaced with the run's own words."""

    lead: str
    steps: tuple[str, str, str]
    note: str


INTRODUCTION = "Every {handbook} was asked the same {patient} questions, and a judge compared the answers in pairs. "
VIEWER = Tour(
    INTRODUCTION + "Here you see where they disagree, and who says what.",
    (
        "Search for your topic (press /), or open one of the disputed questions: it shows who says what, in their own words.",
        "Open Disagreements to go through all of them by {organ}, topic or words, with both answers side by side.",
        "Open Explore for where advice differs most, and {Handbooks} for what each one leaves out.",
    ),
    "Copy link copies the address of exactly what you see.",
)
TOURS: dict[Role | None, Tour] = {
    None: VIEWER,
    Role.VIEWER: VIEWER,
    Role.ANNOTATOR: Tour(
        "You read two answers to the same question, and label how they relate or choose the better one. "
        "The judge's verdict, other annotators' labels and the sources of the answers are hidden.",
        (
            "Read the question and both answers.",
            "Press the key on the button: 1 to 5 for how they relate (for divergent and contradictory, also L, M or H for the "
            "significance), or A, B, T or X for which is better.",
            "The next item appears at once. U goes back, F marks an item as unsure, S lets you mark sentences, "
            "G lists your items, ? shows the rubric.",
        ),
        "Every label is saved at once: you can stop and come back at any time.",
    ),
    Role.ADJUDICATOR: Tour(
        "Annotators have labelled the same pairs of answers. You decide where they differ, without seeing their names or the "
        "judge's verdict.",
        (
            "Read both answers, both labels and the annotators' comments.",
            "Press the key of the final label, type the reason in one sentence, and press Enter.",
            "Open Agreement to see how far the two agree; the judge is included when every dispute is decided.",
        ),
        "You can revise a decision until the study is closed: U goes back, 6 to 0 open the last five.",
    ),
    Role.PI: Tour(
        INTRODUCTION + "Here you see where they disagree, and have annotators check how far the judge can be trusted.",
        (
            "Search for a topic (press /), or open one of the disputed questions: it shows who says what.",
            "Open Studies: draw a sample for annotators and watch their progress; Agreement and Prevalence show the results.",
            "Open Methods to compare runs and judges, and About for every table and figure as files.",
        ),
        "Copy link copies the address of exactly what you see.",
    ),
}

_tour = component("_blinded/tour/tour")


def tour(account: Account | None, words: Mapping[str, str]) -> None:
    """Draw the tour of a role: on this browser's first visit, and whenever the menu requests it.

    words  the run's words for handbook, organ and patient
    """
    if st.query_params.pop(PARAM, None):  # popped, so that a reload does not bring the tour back once more
        st.session_state[REQUESTS] = st.session_state.get(REQUESTS, 0) + 1
    texts = TOURS[account.role if account else None]
    _tour(
        key="tour",
        data={
            "user": _user_hash(account),
            "requests": st.session_state.get(REQUESTS, 0),
            "lead": texts.lead.format(**words),
            "steps": [step.format(**words) for step in texts.steps],
            "note": texts.note,
        },
    )


def tour_link(start: str) -> None:
    """The link in the menu that shows the tour on the start page again."""
    st.sidebar.page_link(start, label="Tour", icon=":material/explore:", query_params={PARAM: "1"})


def _user_hash(account: Account | None) -> str:
    # Stored in browsers that several people may use, so it must not show who has seen the tour.
    return hashlib.sha256(f"{account.role}/{account.username}".encode()).hexdigest()[:16] if account else "nobody"
