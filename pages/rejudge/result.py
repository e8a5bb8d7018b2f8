"""The result of judging again: old and new verdicts, what changed, and saving it as a run."""

from __future__ import annotations

from typing import cast

import pandas as pd
import streamlit as st

from audit.charts.style import coefficient, coefficient_interval, handbook_names
from audit.charts.transitions import STATE_WORDS, transitions_figure
from audit.jobs.rejudging import MAX_REPLIES, job_journal, job_replies, proposed_title, request_of, result_run, save_result
from audit.jobs.table import Job
from audit.metrics.transitions import ALL, CHANGED, SAME, rejudged, run_agreement, transitions
from audit.queries.aligned_runs import NOT_THERE
from audit.queries.lookup import handbook_list
from audit.queries.pair_view import pair
from audit.release.journal_files import Reply, journal_plan
from audit.settings import Settings
from audit.store.runs import Run
from pages._blinded.frame import escaped
from pages._shared.loaders import load, load_two, loaded_runs
from pages._shared.pickers import choose
from pages._shared.rejudge_request import pairs
from pages._shared.side_by_side import CSS, answers_html, pair_html, verdict_html
from pages._shared.widgets import chart, clicked_row, counts, footer, link, listed, say

SUBSETS = {ALL: "All", CHANGED: "Changed", SAME: "Unchanged"}
HEADINGS = {
    "first": "Old label", "second": "New label", "question_text": "Question", "a": "Handbook A", "b": "Handbook B",
    "significance_first": "Old significance", "significance_second": "New significance",
    "reasoning_first": "Old reasoning", "reasoning_second": "New reasoning",
}  # fmt: skip
MAX_LISTED, MAX_TITLE = 2_000, 200
SELECTED = (
    "These pairs were selected and not drawn at random, so the figures are true of this selection and not of the run: pairs "
    "that were selected because they disagree can only move towards agreement. A random sample represents the run."
)


def result(run: Run, job: Job) -> None:
    """The result of a job, compared with the run that its pairs come from."""
    new, selected_pair = result_run(job), request_of(job).pair
    names = handbook_names(load(handbook_list, run))
    if selected_pair:
        _side_by_side(run, new, selected_pair, names)
        _replies(job)
    else:
        _outcome(run, job)
        _changes(run, new, job)
        _pair_table(run, new, names)
    _save(run, job)


def _outcome(run: Run, job: Job) -> None:
    figures, unscored = job.progress, job.progress["unscored"]
    reasons = f" ({listed(f'{reason}: {count:,}' for reason, count in unscored.items())})" if unscored else ""
    counts(
        run,
        "Judged: **{judged}**. Unscored: **{unscored}**{reasons}. ABSENT without a call: **{prescreened}**. "
        "Not asked: **{not_asked}**.",
        judged=f"{figures['judged']:,}", unscored=f"{sum(unscored.values()):,}", reasons=reasons,
        prescreened=f"{figures['prescreened']:,}", not_asked=f"{figures['not_asked']:,}",
    )  # fmt: skip


def _changes(run: Run, new: Run, job: Job) -> None:
    """The transition matrix, and kappa."""
    cells = load_two(transitions, run, new)
    kappa = cast(pd.Series, load_two(run_agreement, run, new).set_index("figure").loc["kappa"])
    # The new run has only the pairs that were judged again, so shares are recomputed without all the others.
    cells = cells[cells["second"] != NOT_THERE]
    total = cells.groupby("first")["pairs"].transform("sum")
    cells = cells.assign(share=cells["pairs"] / total.where(total > 0))
    chart(
        transitions_figure(cells, "The old judge", "The new judge"), "moves", "The old label of each pair against its new label."
    )
    counts(
        run, "Framed: the same label twice. For the {n} pairs that both labelled, kappa is **{value}** (95 % interval {span}).",
        n=f"{kappa['of']:,}", value=coefficient(kappa["value"]),
        span=coefficient_interval(kappa["value_low"], kappa["value_high"]),
    )  # fmt: skip
    if request_of(job).pairs == "file":  # a list of pairs, and neither a random sample nor all of them
        st.caption(SELECTED)
    footer(cells, "moves", run, "transitions", "run_agreement")


def _pair_table(run: Run, new: Run, names: dict[str, str]) -> None:
    """The pairs; the one that is clicked is shown with both verdicts and both answers."""
    st.header("Pair by pair", anchor=False)
    subset = choose("Show", tuple(SUBSETS), "shown", lambda name: SUBSETS[name], show_label=False)
    frame = load_two(rejudged, run, new, which=subset, limit=MAX_LISTED)
    if frame.empty:
        counts(run, "None.")
        return
    total = int(frame["total"].iloc[0])
    counts(
        run, "**{total}** {word}{cut}. Click a row to read both verdicts.",
        total=f"{total:,}", word=pairs(total),
        cut=f", the first {MAX_LISTED} listed" if total > MAX_LISTED else "",
    )  # fmt: skip
    shown = frame.assign(
        first=frame["first"].map(STATE_WORDS), second=frame["second"].map(STATE_WORDS),
        a=frame["handbook_a"].map(names), b=frame["handbook_b"].map(names),
    )  # fmt: skip
    picked = clicked_row(shown, f"rejudged_{subset}", HEADINGS, rows=8)
    footer(frame.drop(columns="total"), "rejudged", run, "rejudged")
    if picked is not None:
        _side_by_side(run, new, (picked["question_id"], picked["handbook_a"], picked["handbook_b"]), names)


def _side_by_side(run: Run, new: Run, pair_ids: tuple[str, str, str], names: dict[str, str]) -> None:
    """One pair: the old and the new verdict side by side, then both answers."""
    keys = dict(zip(("question_id", "handbook_a", "handbook_b"), pair_ids, strict=True))
    old_pair, new_pair = load(pair, run, **keys), load(pair, new, **keys)
    st.html(CSS)
    st.header(escaped(old_pair.question.text), anchor=False)
    sides = (("Old", run, old_pair), ("New", new, new_pair))
    for column, (heading, judged_run, judged_pair) in zip(st.columns(2), sides, strict=True):
        with column:
            judge = judged_run.manifest.get("judge") or "the release does not name the judge"
            st.markdown(f"**{heading}** · {escaped(judge)}")
            st.html(pair_html(verdict_html(run, judged_pair)))
    st.html(pair_html(answers_html(new, new_pair, names, "all")))


def _replies(job: Job) -> None:
    """The raw replies of the model, and the prompt."""
    replies = job_replies(job)
    if not replies:
        return
    prompts = (journal_plan(job_journal(job)) or {}).get("prompts", {})
    st.caption(escaped(f"Prompt: {', '.join(map(str, prompts.values()))}."))
    with st.expander("Raw reply" if len(replies) == 1 else f"Raw replies ({len(replies)}, at most {MAX_REPLIES})"):
        for reply in replies:
            details = (reply.outcome, f"attempt {reply.attempt}", reply.model, reply.server, _usage_text(reply))
            st.caption(escaped(" · ".join(filter(None, details))))
            st.code(reply.text or reply.error or "empty", language=None, wrap_lines=True)


def _usage_text(reply: Reply) -> str:
    usage = reply.usage
    tokens = (
        f"{usage['prompt_tokens']:,} tokens read, {usage['completion_tokens']:,} written, " if "prompt_tokens" in usage else ""
    )
    return f"{tokens}{reply.latency_s or 0:.1f} s"


def _save(run: Run, job: Job) -> None:
    """Save the result as a run; where it is saved already, the links to that run."""
    st.header("Save the result", anchor=False)
    saved = next((loaded for loaded in loaded_runs() if loaded.key == job.result), None)
    if saved is not None:
        st.success(say(run, "Saved as the run **{title}** ({key}).", title=saved.title, key=saved.key))
        with st.container(horizontal=True):
            link("start", "Open the run", saved, icon=":material/open_in_new:")
            link("judge", "Compare both judges", run, icon=":material/compare_arrows:", against=saved.key)
        return
    if job.result:
        st.info(escaped(f"The result was saved as {job.result}, which is no longer loaded."))
        return
    with st.form("keep", border=False):
        title = st.text_input("Title of the run", proposed_title(job)[:MAX_TITLE], max_chars=MAX_TITLE)
        if st.form_submit_button("Save as a run", type="primary", icon=":material/save:"):
            with st.spinner("Writing and loading the release ..."):
                save_result(Settings(), job, title)
            st.rerun()
