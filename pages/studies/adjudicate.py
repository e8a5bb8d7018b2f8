"""Adjudicate: decide where two annotators differ, without names and without the judge."""

from __future__ import annotations

import secrets
from html import escape

import streamlit as st

from annotation.label_store.results import NewDecision, submit_decision
from annotation.label_store.studies import Study, StudyState, list_studies
from annotation.studies.accounts import Account, Role
from annotation.studies.adjudication import BlindRating, Dispute, list_disputes
from audit.vocabulary import DISAGREEING, LABELS, SIGNIFICANCES
from pages._blinded.access import label_store, now
from pages._blinded.frame import study_page, synthetic_notice
from pages._blinded.labelling.rubric import rubric_html
from pages._blinded.tour import tour

LEAD = "Where the two labels differ, a third person decides. Who said which, and what the judge said, is not shown."
EMPTY = "There is nothing to decide now: no study is in adjudication."
CSS = """<style>
.dispute h2 { font-size: 1.2rem; font-weight: 600; margin: 0 0 0.6rem; padding: 0; overflow-wrap: anywhere; }
.dispute .two { display: grid; grid-template-columns: 1fr 1fr; gap: 0.8rem; margin-bottom: 0.8rem; }
.dispute .two > div { border: 1px solid var(--line); border-radius: 0.4rem; padding: 0.6rem 0.85rem; min-width: 0;
  line-height: 1.55; white-space: pre-wrap; overflow-wrap: anywhere; }
.dispute .read > div { background: light-dark(#f6f7f8, #1a1f26); line-height: 1.4; }
.dispute .read span { color: var(--quiet); font-size: 0.85rem; }
.rubric { font-size: 0.85rem; } .rubric td { vertical-align: top; }
</style>"""


def dispute_html(dispute: Dispute) -> str:
    """Question, both answers, and both readings with their comments."""
    answers = "".join(f"<div>{escape(text)}</div>" for text in (dispute.first, dispute.second))
    spoken = zip(("One annotator says", "The other says"), dispute.ratings, strict=True)
    readings = "".join(f"<div><span>{who}</span> {_reading(reading)}</div>" for who, reading in spoken)
    return (
        f'<div class="dispute"><h2>{escape(dispute.question)}</h2><div class="two">{answers}</div>'
        f'<div class="two read">{readings}</div></div>'
    )


def _reading(reading: BlindRating) -> str:
    told = [
        f"<b>{escape(reading.label.capitalize())}</b>",
        escape(f"{reading.significance} significance") if reading.significance else "",
    ]
    told += ["unsure" if reading.flagged else "", f"<i>{escape(reading.comment)}</i>" if reading.comment else ""]
    return " · ".join(part for part in told if part)


def decision_form(dispute: Dispute, account: Account) -> None:
    """Label, significance where it belongs, and the reason."""
    name = dispute.item_id
    before = dispute.decision
    label = st.segmented_control(
        "The label that holds", [str(each) for each in LABELS], key=f"label_{name}", format_func=str.capitalize,
        default=before.label if before else None,
    )  # fmt: skip
    significance = None
    if label in DISAGREEING:
        significance = st.segmented_control(
            "Clinical significance", [str(each) for each in SIGNIFICANCES], key=f"significance_{name}",
            default=before.significance if before else None,
        )  # fmt: skip
    reason = st.text_area(
        "Why it holds, in a sentence", value=before.reason if before else "", key=f"reason_{name}", max_chars=4000
    )
    press = st.session_state.setdefault(f"press_{name}", secrets.token_hex(8))
    if st.button("Decide", type="primary", key=f"decide_{name}", disabled=label is None):
        revises = before.revision if before else 0
        key = f"{press}/{revises}"
        submit_decision(label_store(), account.username, NewDecision(name, str(label), significance, reason, key, revises), now())
        st.rerun()


def queue(study: Study, account: Account) -> None:
    """The differences of one study: those to decide, or on request those decided already, to revise."""
    everything = list_disputes(label_store(), study.study_id, open_only=False)
    left = [dispute for dispute in everything if dispute.decision is None]
    done = len(everything) - len(left)
    st.progress(done / len(everything) if everything else 1.0, f"{done} of {len(everything)} differences decided")
    revising = st.toggle("Revise decided ones", key="revising") if done else False
    shown = [dispute for dispute in everything if dispute.decision is not None] if revising else left
    if not shown:
        st.success("Every difference is decided. The investigator can close the study.")
        return
    place = st.pagination(len(shown), key=f"place_{study.study_id}_{revising}") if len(shown) > 1 else 1
    dispute = shown[min(place, len(shown)) - 1]
    st.html(dispute_html(dispute))
    decision_form(dispute, account)
    with st.expander("Rubric"):
        st.html(f'<div class="rubric">{rubric_html()}</div>')


with study_page("Adjudicate", LEAD, Role.ADJUDICATOR, Role.PI) as account:
    if account.role is Role.ADJUDICATOR:  # an investigator starts elsewhere
        tour(account, {})
    st.html(CSS)
    open_ = {study.study_id: study for study in list_studies(label_store()) if study.state is StudyState.ADJUDICATION}
    if not open_:
        st.info(EMPTY)
    else:
        chosen = st.selectbox("Study", list(open_), format_func=lambda name: open_[name].title, key="adjudicated")
        synthetic_notice(open_[chosen])
        queue(open_[chosen], account)
