"""The tour of a start page: what this is, what one can do here, the first three steps, and one picture.

The browser draws it and remembers that it was put away, under a name that tells nobody who it was; the server keeps nothing.
A browser that keeps nothing shows it again in the next session. "Tour" in the menu brings it back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from annotation.studies.accounts import Account, Role

HERE = Path(__file__).parent
PARAM, ASKED = "tour", "how often the tour was asked for"
PICTURE = (HERE / "picture.svg").read_text(encoding="utf-8")
HTML = f"""
<section class="tour" aria-label="Tour" hidden>
<div class="head"><b>Welcome</b><span></span></div>
<p class="lead"></p>
<div class="picture">{PICTURE}</div>
<ol></ol>
<p class="note"></p>
<div class="ways"><button type="button" class="never">Do not show again</button>
<button type="button" class="later">Close for now</button></div>
</section>
"""


@dataclass(frozen=True)
class Tour:
    """What a role is told; `{handbook}` and the like are the run's own words."""

    lead: str
    steps: tuple[str, str, str]
    note: str


ASKING = "The same {patient} questions were put to every {handbook}, and a judge compared the answers two by two. "
VIEWER = Tour(
    ASKING + "Here you see where they disagree, what each leaves out, and what stands behind every figure.",
    (
        "Open Disagreements: filter by {organ}, topic or words, and read both answers side by side. N opens the next pair.",
        "Open Question: see who agrees with whom on one question. Click a cell to read its pair.",
        "Open Coverage: what each {handbook} leaves out. Click a row to see its gaps.",
    ),
    "Every filter stands in the address: copy the link, and a colleague sees what you see.",
)
TOURS: dict[Role | None, Tour] = {
    None: VIEWER,
    Role.VIEWER: VIEWER,
    Role.ANNOTATOR: Tour(
        "You read two answers to one patient question and say how they stand to each other. "
        "What the judge says, what your colleague says and whose answers they are is not shown.",
        (
            "Read the question and both answers.",
            "Press 1 to 5 for the label. For divergent and contradictory also L, M or H: how much it matters clinically.",
            "The next item comes at once. U goes back, F marks an item as unsure, ? shows the rubric.",
        ),
        "Everything is saved as you go: stop and come back whenever you like.",
    ),
    Role.ADJUDICATOR: Tour(
        "Two annotators have labelled the same pairs of answers. Where they differ, you decide, without their names and without "
        "the judge.",
        (
            "Read both answers, both labels and what the annotators noted.",
            "Pick the label that holds, say why in a sentence, and press Decide.",
            "Open Agreement to see how far the two agree; the judge's part opens when every difference is decided.",
        ),
        "A decision can be revised until the study is closed.",
    ),
    Role.PI: Tour(
        ASKING + "Here you see where they disagree, and check with people how far the judge can be trusted.",
        (
            "Open Disagreements: filter, and read both answers side by side. N opens the next pair.",
            "Open Studies: draw a sample for two annotators, watch them finish; Agreement and Prevalence say what it tells.",
            "Open Downloads: every table and figure, and a report to mail, in one click.",
        ),
        "Compare sets two runs side by side; every filter stands in the address.",
    ),
}  # fmt: skip

_tour = st.components.v2.component(
    "tour", html=HTML, css=(HERE / "tour.css").read_text(encoding="utf-8"), js=(HERE / "tour.js").read_text(encoding="utf-8")
)


def tour(account: Account | None, words: Mapping[str, str]) -> None:
    """Draw the tour of a role: at the first visit of this browser, and whenever the menu asked for it.

    words  what the texts call a handbook and an organ
    """
    if st.query_params.pop(PARAM, None):
        st.session_state[ASKED] = st.session_state.get(ASKED, 0) + 1
    told = TOURS[account.role if account else None]
    _tour(
        key="tour",
        data={
            "who": _nameless(account), "asked": st.session_state.get(ASKED, 0), "lead": told.lead.format(**words),
            "steps": [step.format(**words) for step in told.steps], "note": told.note,
        },
    )  # fmt: skip


def tour_link(start: str) -> None:
    """The menu's way back to the tour, on the start page."""
    st.sidebar.page_link(start, label="Tour", icon=":material/explore:", query_params={PARAM: "1"})


def _nameless(account: Account | None) -> str:
    """One and the same for an account in its role; who that is cannot be read from it at a glance."""
    return hashlib.sha256(f"{account.role}/{account.username}".encode()).hexdigest()[:16] if account else "nobody"
