"""What the pages behind Explore share: every row, bar and dot opens the pairs behind it on Disagreements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd
import streamlit as st

from annotation.prevalence.by_group import GROUPS_TABLE
from annotation.studies.item_groups import corrected_parts
from annotation.studies.study_tables import labels_table
from audit.charts.funnel import funnel
from audit.charts.style import Figure, cut
from audit.exports.table_model import with_population_column
from audit.metrics import Metric
from audit.queries.human_ratings import human_ratings
from audit.store.connection import open_store
from audit.store.runs import Run
from audit.tables import Column
from audit.terms import display_name, fill
from audit.vocabulary import Label
from pages._blinded.access import label_store
from pages._blinded.frame import escaped_label
from pages._shared.findings import LONGEST
from pages._shared.loaders import load
from pages._shared.rating_sources import RatingSource, rating_sources
from pages._shared.widgets import (
    clicked_point,
    counts,
    csv_button,
    figure_frame,
    go_to,
    linked_rows,
    table,
    title_of,
)

LABELS_OF_RATE: Mapping[str, Label] = {"r_abs": Label.ABSENT, "absence": Label.ABSENT, "r_con": Label.CONSISTENT}
"""A rate that is not about disagreement -> the label of the pairs that it counts."""
CLICK = "Click a row to read its disagreements."
MAX_SUBJECTS = 3


@dataclass(frozen=True)
class RowFilter:
    """What tells the rows of a page apart, and how Disagreements is asked for one of them.

    column  of the frame, with the id of each row
    param   the filter of Disagreements that takes it
    whole   the id of the row of the whole run, which needs no filter
    """

    column: str
    param: str
    whole: str = ""

    def params(self, name: str) -> dict[str, str]:
        """What the address of Disagreements says of one row."""
        return {} if name == self.whole else {self.param: name}

    def open(self, run: Run, name: str, label: Label | None = None) -> None:
        """Open Disagreements on the pairs of one row; without a label, on those that disagree."""
        go_to("disagreements", run, **self.params(name), **({"label": label.value} if label else {}))


def clickable_rates(run: Run, figure: Figure, key: str, alt: str, rows: RowFilter, title: str = "") -> None:
    """Draw a figure of `rate_dots(..., opens=rows.column)`; a click on a dot opens the pairs that it counts."""
    if (clicked := clicked_point(figure, key, alt, title)) is not None:
        name, rate = clicked
        rows.open(run, str(name), LABELS_OF_RATE.get(rate))


def rates_frame(
    run: Run, frame: pd.DataFrame, key: str, title: str, drawing: tuple[Callable[[], Figure], str], rows: RowFilter,
    columns: tuple[Sequence[Column], Sequence[Column]], file: str, *metrics: str,
) -> None:  # fmt: skip
    """The rates of a page as a list with their intervals, and as the figure, in one frame: a row or a dot opens its pairs.

    title    what they show, in a sentence
    drawing  makes the figure of `rate_dots`, and what is drawn
    columns  the few that fit, and every one
    """
    list_tab, chart_tab = figure_frame(run, key, frame, file, *metrics, title=title, tabs=("List", "Chart"))
    if list_tab.open:
        with list_tab:
            clickable_table(run, frame, key, rows, *columns)
    if chart_tab.open:
        with chart_tab:
            clickable_rates(run, drawing[0](), f"{key}_rates", drawing[1], rows, title)


def clickable_table(
    run: Run, frame: pd.DataFrame, key: str, rows: RowFilter, columns: Sequence[Column], every: Sequence[Column]
) -> None:
    """A list of the few `columns` that fit, each row a link to its disagreements; the rest of `every` is one click away."""
    rest = [column for column in every if column.name not in {shown.name for shown in columns}]
    linked_rows(
        run, frame, f"{key}_table", (*columns, *rest), "disagreements", lambda row: rows.params(str(row[rows.column])), rows=14
    )
    counts(run, CLICK)


def listed_subjects(subjects: Sequence[str]) -> str:
    """The first subjects, and how many more there are."""
    more = len(subjects) - MAX_SUBJECTS
    return "; ".join(subjects[:MAX_SUBJECTS]) + (f"; {more} more" if more > 0 else "")


TITLE = "Corrected for the judge's errors"
MEANING = (
    "{title}: {n} rated pairs show how often raters confirm each of the judge's labels. The figures of each row are "
    "corrected accordingly; a row with few rated pairs of its own is corrected like the whole run."
)
SHOWN = ("group", "judge", "corrected", "elsewhere", "present", "n")
ELSEWHERE = "other {questions} and {handbooks}"


def corrected_groups(run: Run, by: str) -> None:
    """The table, if pairs of the run were sampled by design and rated; else nothing. `by`: organ, topic or center."""
    source = next((one for one in rating_sources(run) if one.ratings.design is not None), None)
    if source is None:
        return
    parts = _cached_parts(run.digest, run.loaded_at, by, source.title, _labels(source), _run=run, _source=source)
    if parts["corrected"].isna().all():
        return
    with st.expander(TITLE, on_change="rerun", key=f"corrected_by_{by}") as opened:
        if opened.open:
            _corrected_table(run, by, source, parts)


def _corrected_table(run: Run, by: str, source: RatingSource, parts: pd.DataFrame) -> None:
    counts(run, MEANING, title=source.title, n=f"{source.rated:,}")
    group, *columns = GROUPS_TABLE.pick(run, *SHOWN)
    columns = [replace(one, unit=fill(run, ELSEWHERE)) if one.name == "elsewhere" else one for one in columns]
    columns = [replace(group, heading=title_of(run, by)), *columns]
    table(parts.assign(group=parts["group"].map(display_name)), f"corrected_{by}", columns)
    with st.container(horizontal=True):
        exported = with_population_column(parts, GROUPS_TABLE.population, source.ratings.intervals)
        csv_button(exported, f"corrected_{by}", f"{run.run_id}_corrected_{by}.csv")
        with st.popover("How this is computed", icon=":material/functions:"):
            for note in GROUPS_TABLE.notes:
                st.text(note)


def _labels(source: RatingSource) -> bytes:
    """All labels of a source, which distinguish two states of an open study."""
    return b"".join(codes.tobytes() for codes in source.ratings.labels.values())


@st.cache_data(show_spinner=False, max_entries=30)
def _cached_parts(
    digest: str, loaded_at: str, by: str, title: str, labels: bytes, *, _run: Run, _source: RatingSource
) -> pd.DataFrame:
    with open_store(_run.path) as con:
        return corrected_parts(_source.ratings, _rated_pairs(_run, _source), con, (by,))


def _rated_pairs(run: Run, source: RatingSource) -> pd.DataFrame:
    return labels_table(label_store(), source.study_id) if source.study_id else load(human_ratings, run)


CASE_MIX_TITLE = "More or less disagreement than expected"
CASE_MIX_MEANING = (
    "Answering many disputed {questions} leads to many disagreements. Each dot is one {one}: its number of "
    "disagreeing pairs, divided by the number expected if it disagreed as often as the others do on the same {questions}. If all "
    "were equal, nearly all dots would lie between the lines. Click a dot to read its disagreements."
)
FOUND = "{n} of {total} {many} {differ} from the others more than chance allows: {named}."
CHANCE = "In a run where none differs, one is marked one time in twenty."
NONE = "No {one} differs from the others more than chance allows, so none of the {total} has a rank."
CASE_MIX_SHOWN = ("disagreeing", "expected", "alone", "ratio", "shrunken", "rank", "flag")


def case_mix_section(run: Run, metric: Metric[...], frame: pd.DataFrame, names: pd.Series, rows: RowFilter, word: str) -> None:
    """The funnel, what stands out in a sentence, and the table.

    frame  that of `metric` with a column of the ids that `rows` opens; names  what a reader calls its rows
    word   handbook or center
    """
    if frame["ratio"].notna().sum() < 2:
        return
    own = frame.assign(name=names)
    one, many = run.term(word), run.term(word, 2)
    st.header(fill(run, CASE_MIX_TITLE), anchor=False)
    marked = own.loc[own["flag"] != "", "name"].map(lambda name: cut(display_name(name), LONGEST))
    n = len(marked)
    words = {"one": one, "many": many, "differ": "differs" if n == 1 else "differ", "named": listed_subjects(list(marked))}
    title = fill(run, FOUND if n else NONE, n=n, total=len(own), **words)
    if n:
        _case_mix_frame(run, metric, own, rows, one, title)
        counts(run, CHANCE)
        return
    with st.expander(escaped_label(title), on_change="rerun", key=f"{metric.name}_none") as opened:
        if opened.open:
            _case_mix_frame(run, metric, own, rows, one, "")


def _case_mix_frame(run: Run, metric: Metric[...], own: pd.DataFrame, rows: RowFilter, one: str, title: str) -> None:
    """The funnel and the table; without a title where nobody stands out, which was said before."""
    columns = [column for column in metric.table.pick(run) if column.name in (CASE_MIX_SHOWN if title else CASE_MIX_SHOWN[:-2])]
    name = metric.table.pick(run, rows.column)[0]
    file = metric.name.replace("_", "-")
    frame_key = f"{metric.name}_frame"
    # A funnel in which nobody stands out shows less than the list
    tabs = ("Chart", "Table") if title else ("Table", "Chart")
    drawn = dict(
        zip(tabs, figure_frame(run, frame_key, own.drop(columns="name"), file, metric.name, title=title, tabs=tabs), strict=True)
    )
    if drawn["Chart"].open:
        with drawn["Chart"]:
            alt = f"Disagreements of each {one} over those expected, by how many are expected, with the lines of a funnel."
            clickable_rates(run, funnel(own, "name", opens=rows.column), f"{metric.name}_funnel", alt, rows, title)
            counts(run, CASE_MIX_MEANING, one=one)
    if drawn["Table"].open:
        with drawn["Table"]:
            table(own.assign(**{rows.column: own["name"]}), f"{metric.name}_table", [name, *columns])
