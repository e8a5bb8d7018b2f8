"""The calibration round for the PI: agreement, the protocol's threshold, and the differing items to talk through."""

from __future__ import annotations

import streamlit as st

from annotation.label_store.engine import LabelStore
from annotation.label_store.studies import Study
from annotation.schemes import HEAD_TO_HEAD, Scheme
from annotation.studies.calibration import CalibrationItem, CalibrationRating, calibration_of
from pages._blinded.frame import escaped

HOW_TO = (
    "Read these items together with the annotators, with the rubric at hand, and write down in one sentence each what to do in "
    "such a case. The judge's label is not shown here, so that the page can be shared."
)


def calibration_section(store: LabelStore, study: Study) -> None:
    """Agreement on the calibration items, and those that differ; nothing for a study without such a round."""
    calibration = calibration_of(store, study.study_id)
    if calibration is None:
        return
    st.header("Calibration", anchor=False)
    show = {None: st.info, True: st.success, False: st.warning}[calibration.met]
    show(escaped(calibration.sentence()))
    differing = calibration.differing
    if not differing:
        st.caption("No calibration item has different labels.")
        return
    count = f"{len(differing)} of {len(calibration.items)}"
    with st.expander(f"Talk through the items that differ ({count})", expanded=False):
        st.markdown(HOW_TO)
        number = st.pagination(len(differing), key=f"talk_{study.study_id}") if len(differing) > 1 else 1
        _talk_item(differing[min(number, len(differing)) - 1], calibration.scheme)


def _talk_item(item: CalibrationItem, scheme: Scheme) -> None:
    st.text(item.question)
    for column, text, name in zip(st.columns(2), (item.answer_a, item.answer_b), "AB", strict=True):
        with column.container(border=True):
            st.caption(f"Answer {name}")
            st.text(text)
    for rating in item.ratings:
        st.text(_in_words(rating, scheme))


def _in_words(rating: CalibrationRating, scheme: Scheme) -> str:
    if rating.label is None:
        return f"{rating.annotator}: not rated"
    label = scheme.names[rating.label]
    preferred = " (answer preferred)" if scheme is HEAD_TO_HEAD and rating.label in scheme.mirrored else ""
    parts = [f"{rating.annotator}: {label}{preferred}", rating.significance or "", rating.comment]
    return ", ".join(part for part in parts if part)
