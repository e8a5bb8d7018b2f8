"""My items: an annotator's own items of a study, to come back to one; blind like the labelling board that it opens."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from annotation.label_store.assignments import list_tasks
from annotation.label_store.studies import Study
from annotation.studies.accounts import Role
from pages._blinded.access import label_store
from pages._blinded.frame import escaped, study_page, synthetic_notice
from pages._blinded.labelling.open_study import ITEM, NO_STUDY, PARAM, opaque_id, open_study
from pages._blinded.scripts import script_path
from pages.studies.my_items.own_items import BEGUN, LABELLED, OwnItem, item_grid, own_items

LEAD = "Your items of the study, in your order. Click one to open it on the labelling board."
BOARD = script_path("studies/annotate")
SHOWN: dict[str, Callable[[OwnItem], bool]] = {
    "All": lambda item: True,
    "To do": lambda item: item.state != LABELLED,
    "Unsure": lambda item: item.unsure,
    "With a comment": lambda item: bool(item.comment),
    "Not saved": lambda item: item.state == BEGUN,
    "Labelled": lambda item: item.state == LABELLED,
}
NOTE = (
    "The question of an item is shown once you mark the item: unsure, or with a comment. Items that are still to come open in "
    "their order. Where several annotators share the items, those that you have not taken yet are not listed."
)


def pick_shown(items: Sequence[OwnItem]) -> list[OwnItem]:
    """The items of the chosen kind; each choice says how many it has."""
    counted = {name: sum(map(shows, items)) for name, shows in SHOWN.items()}
    chosen = st.segmented_control(
        "Show", list(SHOWN), default="All", format_func=lambda name: f"{name} ({counted[name]:,})", key="shown",
        label_visibility="collapsed", required=True,
    )  # fmt: skip
    return [item for item in items if SHOWN[chosen](item)]


def grid(study: Study, annotator: str) -> None:
    """The items, and the way back to the board."""
    items = own_items(list_tasks(label_store(), study.study_id, annotator), study.scheme)
    if st.button("Label the next item", shortcut="G", icon=":material/edit:"):
        st.switch_page(BOARD, query_params={PARAM: opaque_id(study.study_id)})
    shown = pick_shown(items)
    if not shown:
        st.info("No item is of this kind.")
    clicked = item_grid(shown)
    if clicked is not None:
        st.switch_page(BOARD, query_params={PARAM: opaque_id(study.study_id), ITEM: clicked.assignment})
    st.caption(NOTE)


with study_page("My items", LEAD, Role.ANNOTATOR) as account:
    study = open_study(account.username)
    if study is None:
        st.info(escaped(NO_STUDY))
    else:
        synthetic_notice(study)
        st.header(escaped(study.title), anchor=False)
        grid(study, account.username)
