"""Which two runs are compared, in which direction, and what they share."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from audit.exports.changed import told_apart
from audit.metrics.run_overlap import left_out
from audit.store.runs import Run
from pages._shared.loaders import load_two, runs
from pages._shared.pickers import choose, pick_one
from pages._shared.tables import table
from pages._shared.widgets import counts, footer
from pages._shared.words import say, title_of

ONLY_RUN = "Only this run is loaded. Judge it again, or load another release over the same questions, to compare the two:"
AGAIN = "audit judge {run} --out rejudged --load"
COMMAND = "audit metrics runs --run {first} --against {second}"
FORWARD, BACK = "forward", "back"


@dataclass(frozen=True)
class Two:
    """Two runs, read from the first to the second; `run` is the one that the page is on, in whose words it speaks."""

    run: Run
    first: Run
    second: Run

    @property
    def names(self) -> tuple[str, str]:
        """What each is called in a chart or a heading."""
        return told_apart(self.first, self.second)

    @property
    def id(self) -> str:
        """For the keys of widgets."""
        return f"{self.first.key}_{self.second.key}"


def pick_two(run: Run) -> Two | None:
    """The run and another one, from the one loaded earlier to the later one unless it is turned round; None without another."""
    loaded = runs()
    others = {other.key: other for other in loaded if other.key != run.key}
    if not others:
        st.info(ONLY_RUN)
        st.code(AGAIN.format(run=run.key), language="bash", wrap_lines=True)
        return None
    left, right = st.columns(2, vertical_alignment="bottom")
    with left:
        other = others[_other(loaded, run, others)]
    older, newer = sorted((run, other), key=lambda each: each.loaded_at)
    ways = {FORWARD: Two(run, older, newer), BACK: Two(run, newer, older)}
    with right:
        way = choose("Read", list(ways), "read", format_func=lambda name: "from {} to {}".format(*ways[name].names))
    return ways[way]


def _other(loaded: list[Run], run: Run, others: dict[str, Run]) -> str:
    """The key of the other run, kept in the address: the next older one to begin with, else the next newer."""
    place = [each.key for each in loaded].index(run.key)
    default = loaded[place + 1 if place + 1 < len(loaded) else place - 1].key
    key = pick_one("Compare with", list(others), "against", default, format_func=lambda name: f"{others[name].title} ({name})")
    if "against" not in st.query_params:
        st.query_params["against"] = str(key)
    return str(key) if key in others else default


def nothing_shared(run: Run, in_common: pd.DataFrame) -> bool:
    """Whether the runs have no pair in common; then it is said."""
    shares = bool(in_common.set_index("what")["in_both"]["pairs"])
    if not shares:
        st.info(say(run, "The two runs share no pair: no {question} with two {handbooks} of the same ids stands in both."))
    return not shares


def what_is_shared(two: Two, in_common: pd.DataFrame) -> None:
    """How much both runs have, and what is left out because only one has it."""
    words = {"questions": two.run.term("question", 2), "handbooks": two.run.term("handbook", 2), "pairs": "pairs"}
    told = []
    for what, both, here, there in in_common.itertuples(index=False, name=None):
        alone = [f"{count:,} only in {name}" for count, name in zip((here, there), two.names, strict=True) if count]
        told.append(", ".join([f"{both:,} {words[what]} in both", *alone]))
    counts(two.run, "{shared}. What only one run has is compared with nothing.", shared="; ".join(told))
    listed = load_two(left_out, two.first, two.second)
    if not listed.empty:
        with st.expander(f"What is left out, name by name ({len(listed):,})"):
            _list_left_out(two, listed)


def _list_left_out(two: Two, listed: pd.DataFrame) -> None:
    names = dict(zip(("first", "second"), two.names, strict=True))
    kinds = {what: title_of(two.run, what) for what in ("question", "handbook")}
    headings = {"what": "Kind", "run": "Only in", "id": "Id", "name": "Text or name", "organ": title_of(two.run, "organ")}
    table(listed.assign(what=listed["what"].map(kinds), run=listed["run"].map(names)), f"left_out_{two.id}", headings)
    footer(listed, "left-out", two.run, "left_out", "shared")
