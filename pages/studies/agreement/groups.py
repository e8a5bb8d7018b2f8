"""*Agreement*: the judge by groups of items, and how it fails. For those who may see the judge's labels."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from annotation.agreement.clustered_agreement import CLUSTERED_TABLE, clustered_agreement
from annotation.agreement.subgroups import FAILURE_MODES_TABLE, SUBGROUPS_TABLE, failure_modes, subgroups
from annotation.label_store.engine import LabelStore
from annotation.ratings.table import Ratings
from annotation.studies.item_groups import item_groups
from annotation.studies.study_part import opened_run
from annotation.studies.study_tables import labels_table
from audit.exports.table_model import with_population_column
from audit.store.runs import Run
from pages._blinded.access import label_store
from pages._blinded.frame import escaped
from pages._shared.loaders import loaded_runs
from pages._shared.widgets import csv_button, table

NOT_LOADED = "The run that this study was drawn from is not loaded here, so organ, topic and phase of its items are not known."


@st.cache_data(show_spinner=False, max_entries=20)
def _cached_groups(url: str, study_id: str, runs: tuple[str, ...], _store: LabelStore, _runs: list[Run]) -> pd.DataFrame:
    # No ledger in the key: a study's items and their groups never change.
    with opened_run(_store, study_id, _runs) as con:
        return item_groups(_store, study_id, con)


def judge_by_groups(study_id: str, ratings: Ratings) -> None:
    """Tables behind a click: errors by kind, agreement by group of items, and where items share a question or a handbook."""
    store, runs = label_store(), loaded_runs()
    groups = _cached_groups(str(store.engine.url), study_id, tuple(run.digest for run in runs), store, runs)
    with st.expander(FAILURE_MODES_TABLE.title):
        table(failure_modes(ratings), "failure_modes", FAILURE_MODES_TABLE.columns, rows=14)
        st.caption(escaped(" ".join(FAILURE_MODES_TABLE.notes)))
    with st.expander(SUBGROUPS_TABLE.title):
        by_group = subgroups(ratings, groups)
        table(by_group, "subgroups", SUBGROUPS_TABLE.columns, rows=14)
        st.caption(escaped(" ".join(SUBGROUPS_TABLE.notes)))
        if "organ" not in set(by_group["by"]):
            st.caption(NOT_LOADED)
        csv_button(with_population_column(by_group, SUBGROUPS_TABLE.population), "subgroups", f"{study_id}_subgroups.csv")
    with st.expander(CLUSTERED_TABLE.title):
        clustered = clustered_agreement(ratings, labels_table(store, study_id))
        table(clustered, "clustered", CLUSTERED_TABLE.columns)
        st.caption(escaped(" ".join(CLUSTERED_TABLE.notes)))
