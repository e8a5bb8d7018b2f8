"""Papers: the printed tables of a source paper beside this run's, and where the program departs from the paper."""

import pandas as pd
import streamlit as st

from audit.exports.published.comparison import AGREES, DIFFERS, UNKNOWN
from audit.exports.published.reproduction import MEASURES, STANDS_IN, Reproduction, stored_reproduction
from audit.papers.departures import CITATIONS, Paper, departures
from audit.store.runs import Run
from pages._blinded.frame import escaped
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.pickers import choose, named_by, pick_one
from pages._shared.widgets import counts, footer, say, table

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
WORDS = {AGREES: "agree", DIFFERS: "differ", UNKNOWN: "unknown"}
ALIKE = (
    "{citation}. {agree} of {n} printed figures agree, {differ} differ, {unknown} cannot be computed here. A figure agrees if "
    "it is equal in the printed digits, or if the printed one is within the 95 % interval of this run."
)


def papers_of(run: Run) -> list[str]:
    """All papers, those first whose kind of data the run has."""
    has = {Paper.S0: run.has_pairs, Paper.S1: run.has_routes, Paper.S2: run.has_systems, Paper.S3: run.has_stress}
    return sorted(map(str, Paper), key=lambda name: not has[Paper(name)])


def headed(title: str) -> str:
    """A title with a capital letter; others, as of an appendix, stay."""
    return title[:1].upper() + title[1:]


def printed_table(run: Run, paper: Paper, found: Reproduction) -> None:
    """One printed table beside the run's figures."""
    tables = {one.title: one for one in found.tables if not one.reason}
    if not tables:
        counts(run, "No printed table can be computed on this run; *Not on this run* says why.")
        return
    title = pick_one("Table", list(tables), "table", default=next(iter(tables)), format_func=headed) or next(iter(tables))
    table(tables[title].frame, f"printed-{title}", FIGURES)
    footer(tables[title].frame, f"{paper}-{title}", run)


def other_systems(run: Run, paper: Paper, found: Reproduction) -> None:
    """Systems that the paper does not have."""
    if found.others.empty:
        counts(run, "This run has no system besides those of the paper.")
        return
    st.caption(MEASURES[paper])
    table(found.others, "others", {name: headed(name) if name == "measure" else name for name in map(str, found.others)})
    footer(found.others, f"{paper}-others", run)


def not_here(run: Run, _: Paper, found: Reproduction) -> None:
    """What cannot be computed, and why."""
    missing = [f"- {escaped(headed(one.title))}: {escaped(one.reason)}" for one in found.tables if one.reason]
    st.markdown("\n".join(missing) or say(run, "Every printed table can be computed on this run."))


def departures_section(run: Run, paper: Paper, _: Reproduction) -> None:
    """Where the program does something else than the paper."""
    rows = pd.DataFrame([{name: getattr(row, name).replace("`", "") for name in DEPARTURES} for row in departures(paper)])
    counts(run, "{n} deliberate differences. A test of the program proves each way back.", n=len(rows))
    table(rows, "departures", DEPARTURES)
    footer(rows, f"{paper}-departures", run)


VIEWS = {"all": "Printed figures", "others": "Other systems", "missing": "Not on this run", "departures": "What we do otherwise"}
DRAWN = {"all": printed_table, "others": other_systems, "missing": not_here, "departures": departures_section}
"""What each view draws."""

with page("Papers", LEAD, without_pairs=LEAD) as run:
    paper = Paper(choose("Paper", papers_of(run), "paper", format_func=lambda name: NAMES[Paper(name)]))
    found = load(stored_reproduction, run, paper=str(paper), path=str(run.path))
    stand_in = ""
    if found.own and paper in (Paper.S2, Paper.S3):
        stand_in = choose(
            "In the place of the paper's systems", ["", *found.own], "stand_in", format_func=lambda name: name or NONE
        )
    if stand_in:
        found = load(stored_reproduction, run, paper=str(paper), path=str(run.path), stand_in=stand_in)
        st.info(escaped(STANDS_IN.format(system=stand_in)))
    numbers = {word: f"{found.verdicts.get(which, 0):,}" for which, word in WORDS.items()}
    counts(run, ALIKE, citation=CITATIONS[paper].removesuffix("?"), n=f"{sum(found.verdicts.values()):,}", **numbers)
    DRAWN[choose("Show", tuple(VIEWS), "view", named_by(VIEWS), show_label=False)](run, paper, found)
