"""Adjudicate: decide where two annotators differ, without names and without the judge."""

from __future__ import annotations

import secrets
from html import escape

import streamlit as st

from annotation.label_store.results import NewDecision, submit_decision
from annotation.label_store.studies import Study, StudyState, list_studies
from annotation.schemes import PAIRS, Scheme
from annotation.studies.accounts import Account, Role
from annotation.studies.adjudication import BlindRating, Dispute, list_disputes
from audit.vocabulary import SIGNIFICANCES
from pages._blinded.access import label_store, now
from pages._blinded.frame import study_page, synthetic_notice
from pages._blinded.labelling import rubric_html
from pages._blinded.tour import tour

LEAD = (
    "Decide the items on which the two annotators chose different labels. Their names, the judge's verdict and, where systems "
    "are compared, the systems are hidden."
)
EMPTY = "There is nothing to decide now: no study is in adjudication."
CSS = """<style>
.dispute h2 { font-size: 1.2rem; font-weight: 600; margin: 0 0 0.6rem; padding: 0; overflow-wrap: anywhere; }
.dispute .two { display: grid; grid-template-columns: 1fr 1fr; gap: 0.8rem; margin-bottom: 0.8rem; }
.dispute .two > div { border: 1px solid var(--line); border-radius: 0.4rem; padding: 0.6rem 0.85rem; min-width: 0;
  line-height: 1.55; white-space: pre-wrap; overflow-wrap: anywhere; }
.dispute .ratings > div { background: light-dark(#f6f7f8, #1a1f26); line-height: 1.4; }
.dispute span { color: var(--quiet); font-size: 0.85rem; }
.rubric { font-size: 0.85rem; } .rubric td { vertical-align: top; }
</style>"""


def dispute_html(dispute: Dispute, scheme: Scheme) -> str:
    """Question, both answers, and both ratings with their comments."""
    sides = zip(scheme.sides, (dispute.first, dispute.second), strict=True)
    answers = "".join(f"<div><span>Answer {side}</span>\n{escape(text)}</div>" for side, text in sides)
    # Neutral headings, because a rating is about both answers and not about the one above it.
    what = ("label for the pair", "label") if scheme is PAIRS else ("choice", "choice")
    headed = zip((f"One annotator's {what[0]}:", f"The other annotator's {what[1]}:"), dispute.ratings, strict=True)
    ratings = "".join(f"<div><span>{heading}</span> {_rating_html(rating, dispute, scheme)}</div>" for heading, rating in headed)
    return (
        f'<div class="dispute"><h2>{escape(dispute.question)}</h2><div class="two">{answers}</div>'
        f'<div class="two ratings">{ratings}</div></div>'
    )


def _rating_html(rating: BlindRating, dispute: Dispute, scheme: Scheme) -> str:
    label = str(scheme.turned(rating.label, dispute.swapped))
    parts = [
        f"<b>{escape(scheme.names[label])}</b>",
        escape(f"{rating.significance} significance") if rating.significance else "",
        "unsure" if rating.flagged else "",
        f"<i>{escape(rating.comment)}</i>" if rating.comment else "",
    ]
    return " · ".join(part for part in parts if part)


def decision_form(dispute: Dispute, scheme: Scheme, account: Account) -> None:
    """The form for the final label, the significance where the label has one, and the reason."""
    name = dispute.item_id
    before = dispute.decision
    label = st.segmented_control(
        "Final label", scheme.words, key=f"label_{name}", format_func=scheme.names.__getitem__,
        default=scheme.turned(before.label, dispute.swapped) if before else None,
    )  # fmt: skip
    significance = None
    if label in scheme.graded:
        significance = st.segmented_control(
            "Clinical significance", list(map(str, SIGNIFICANCES)), key=f"significance_{name}",
            default=before.significance if before else None,
        )  # fmt: skip
    reason = st.text_area("Reason, in one sentence", value=before.reason if before else "", key=f"reason_{name}", max_chars=4000)
    click = st.session_state.setdefault(f"click_{name}", secrets.token_hex(8))
    if st.button("Decide", type="primary", key=f"decide_{name}", disabled=label is None):
        revises = before.revision if before else 0
        # One key per revision: a double click stores one decision, and a later revision is not mistaken for a repetition.
        key = f"{click}/{revises}"
        chosen = str(scheme.turned(label, dispute.swapped))
        submit_decision(label_store(), account.username, NewDecision(name, chosen, significance, reason, key, revises), now())
        st.rerun()


def queue(study: Study, account: Account) -> None:
    """The disputes of one study: the undecided ones, or on request the decided ones, to revise."""
    disputes = list_disputes(label_store(), study.study_id, open_only=False)
    undecided = [dispute for dispute in disputes if dispute.decision is None]
    decided = len(disputes) - len(undecided)
    st.progress(decided / len(disputes) if disputes else 1.0, f"{decided} of {len(disputes)} disputes decided")
    revising = st.toggle("Revise decided items", key="revising") if decided else False
    shown = [dispute for dispute in disputes if dispute.decision is not None] if revising else undecided
    if not shown:
        st.success("All disputes are decided. The investigator can close the study.")
        return
    number = st.pagination(len(shown), key=f"dispute_{study.study_id}_{revising}") if len(shown) > 1 else 1
    dispute = shown[min(number, len(shown)) - 1]
    st.html(dispute_html(dispute, study.scheme))
    if dispute.reference is not None:
        with st.expander("Reference answer"):
            st.text(dispute.reference)
    decision_form(dispute, study.scheme, account)
    with st.expander("Rubric"):
        st.html(f'<div class="rubric">{rubric_html(study.scheme)}</div>')


with study_page("Adjudicate", LEAD, Role.ADJUDICATOR, Role.PI) as account:
    if account.role is Role.ADJUDICATOR:  # the start page of a PI is another one, and has its own tour
        tour(account, {})
    st.html(CSS)
    open_studies = {study.study_id: study for study in list_studies(label_store()) if study.state is StudyState.ADJUDICATION}
    if not open_studies:
        st.info(EMPTY)
    else:
        chosen = st.selectbox("Study", list(open_studies), format_func=lambda name: open_studies[name].title, key="adjudicated")
        synthetic_notice(open_studies[chosen])
        queue(open_studies[chosen], account)
