"""Papers: the printed tables of a source paper beside this run's, and where the program departs from the paper."""

import pandas as pd
import streamlit as st

from audit.exports.published.comparison import AGREES, DIFFERS, UNKNOWN
from audit.exports.published.reproduction import MEASURES, STANDS_IN, stored_reproduction
from audit.papers.departures import CITATIONS, Paper, departures
from pages._blinded.frame import escaped
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.pickers import choose
from pages._shared.widgets import counts, footer, table

LEAD = "Do the figures of four source papers come out on this run, and where does this program do something else?"
FIGURES = {
    "title": "Figure", "published": "Printed", "own": "This run", "verdict": "Verdict", "how": "Criterion, or why not",
}  # fmt: skip
DEPARTURES = {
    "step": "Step", "theirs": "The paper", "ours": "This program", "why": "Why", "way_back": "To follow the paper",
}  # fmt: skip
NAMES = {
    Paper.S0: "TransplantQA", Paper.S1: "Chen et al. (sources)", Paper.S2: "Fensore et al. (consumer health)", Paper.S3: "MedRGB",
}  # fmt: skip
NONE = "no system"
ALIKE = (
    "{citation}. {agree} of {n} printed figures agree, {differ} differ, {unknown} cannot be computed here. A figure agrees if "
    "it is equal in the printed digits, or if the printed one is within the 95 % interval of this run."
)


def headed(title: str) -> str:
    """A title with a capital letter; others, as of an appendix, stay."""
    return title[:1].upper() + title[1:]


with page("Papers", LEAD, without_pairs=LEAD) as run:
    paper = Paper(choose("Paper", list(map(str, Paper)), "paper", format_func=lambda name: NAMES[Paper(name)]))
    found = load(stored_reproduction, run, paper=str(paper), path=str(run.path))
    stand_in = ""
    if found.own and paper in (Paper.S2, Paper.S3):
        stand_in = choose(
            "In the place of the paper's systems", ["", *found.own], "stand_in", format_func=lambda name: name or NONE
        )
    if stand_in:
        found = load(stored_reproduction, run, paper=str(paper), path=str(run.path), stand_in=stand_in)
        st.info(escaped(STANDS_IN.format(system=stand_in)))
    verdicts = found.verdicts
    counts(
        run, ALIKE, citation=CITATIONS[paper], n=sum(verdicts.values()), agree=verdicts.get(AGREES, 0),
        differ=verdicts.get(DIFFERS, 0), unknown=verdicts.get(UNKNOWN, 0),
    )  # fmt: skip
    for printed in (printed for printed in found.tables if not printed.reason):
        st.header(escaped(headed(printed.title)), anchor=False)
        table(printed.frame, f"printed-{printed.title}", FIGURES, rows=20)
        footer(printed.frame, f"{paper}-{printed.title}", run)
    if len(found.others):
        st.header("Systems of this run that the paper does not have", anchor=False)
        st.caption(MEASURES[paper])
        table(
            found.others,
            "others",
            {name: headed(name) if name == "measure" else name for name in map(str, found.others)},
            rows=20,
        )
        footer(found.others, f"{paper}-others", run)
    missing = [printed for printed in found.tables if printed.reason]
    if missing:
        st.header("Not on this run", anchor=False)
        st.markdown("\n".join(f"- {escaped(headed(one.title))}: {escaped(one.reason)}" for one in missing))
    st.header("Where this program departs from the paper", anchor=False)
    rows = pd.DataFrame([{name: getattr(row, name) for name in DEPARTURES} for row in departures(paper)])
    counts(run, "{n} deliberate differences. A test of the program proves each way back.", n=len(rows))
    table(rows, "departures", DEPARTURES, rows=25)
    footer(rows, f"{paper}-departures", run)
