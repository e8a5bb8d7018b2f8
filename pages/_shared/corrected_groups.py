"""*Organs*, *Topics* and *Centers*: the disagreement of each row corrected for the judge's errors, where people rated pairs."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from annotation.prevalence.by_group import GROUPS_TABLE
from annotation.studies.item_groups import corrected_parts
from annotation.studies.study_tables import labels_table
from audit.exports.table_model import with_population_column
from audit.queries.human_ratings import human_ratings
from audit.store.connection import open_store
from audit.store.runs import Run
from audit.terms import display_name
from pages._blinded.access import label_store
from pages._shared.loaders import load
from pages._shared.rating_sources import RatingSource, rating_sources
from pages._shared.widgets import counts, csv_button, table, title_of

TITLE = "Corrected for the judge's errors"
MEANING = (
    "{title}: {n} rated pairs show how often raters confirm each of the judge's labels. The figures of each row are "
    "corrected accordingly; a row with few rated pairs of its own is corrected like the whole run."
)
SHOWN = GROUPS_TABLE.named("group", "judge", "corrected", "present", "n")


def corrected_groups(run: Run, by: str) -> None:
    """The table, if pairs of the run were sampled by design and rated; else nothing. `by`: organ, topic or center."""
    source = next((one for one in rating_sources(run) if one.ratings.design is not None), None)
    if source is None:
        return
    parts = _cached_parts(run.digest, run.loaded_at, by, source.title, _labels(source), _run=run, _source=source)
    if parts["corrected"].isna().all():
        return
    st.header(TITLE, anchor=False)
    counts(run, MEANING, title=source.title, n=f"{source.rated:,}")
    columns = [replace(column, heading=title_of(run, by)) if column.name == "group" else column for column in SHOWN]
    table(parts.assign(group=parts["group"].map(display_name)), f"corrected_{by}", columns)
    with st.container(horizontal=True):
        csv_button(with_population_column(parts, GROUPS_TABLE.population), f"corrected_{by}", f"{run.run_id}_corrected_{by}.csv")
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
