"""One job of judging again: estimated, running, stopped, finished; and the list of all jobs."""

from __future__ import annotations

from typing import Any, cast

import pandas as pd
import streamlit as st

from audit.charts.style import coefficient, coefficient_interval, handbook_names
from audit.charts.transitions import STATE_WORDS, transitions_figure
from audit.errors import AuditError
from audit.formatting import duration
from audit.jobs.processes import LOADING, STOPPED, WRITING, cancel_job, discard_job, find_job, list_jobs
from audit.jobs.rejudging import (
    KIND,
    MAX_REPLIES,
    JobRequest,
    estimate_judging,
    job_journal,
    job_replies,
    proposed_title,
    request_of,
    result_run,
    save_result,
    start_judging,
)
from audit.jobs.table import Job, JobState
from audit.metrics.labels import TABLE as LABELS_TABLE
from audit.metrics.labels import labels
from audit.metrics.transitions import ALL, CHANGED, SAME, rejudged, run_agreement, transitions
from audit.queries.aligned_runs import NOT_THERE
from audit.queries.lookup import handbook_list
from audit.queries.pair_view import pair
from audit.release.journal_files import Reply, count_answered_calls, journal_plan
from audit.settings import Settings
from audit.store.runs import Run
from pages._blinded.access import current_settings
from pages._blinded.frame import escaped
from pages._shared.loaders import load, load_two, loaded_runs
from pages._shared.pair_list import PARAMS
from pages._shared.pickers import choose
from pages._shared.rejudge_request import NO_ENDPOINT, only_for_the_owner, pairs
from pages._shared.side_by_side import CSS, answers_html, pair_html, verdict_html
from pages._shared.widgets import chart, clicked_row, counts, csv_button, footer, link, listed, say, table

# -- the result of judging again: old and new verdicts, what changed, and saving it as a run -----------------

SUBSETS = {ALL: "All", CHANGED: "Changed", SAME: "Unchanged"}
HEADINGS = {
    "first": "Old label", "second": "New label", "question_text": "Question", "a": "Handbook A", "b": "Handbook B",
    "significance_first": "Old significance", "significance_second": "New significance",
    "reasoning_first": "Old reasoning", "reasoning_second": "New reasoning",
}  # fmt: skip
MAX_PAIRS_LISTED, MAX_TITLE = 2_000, 200
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
        if run.has_pairs:
            _changes(run, new, job)
            _pair_table(run, new, names)
        else:
            _first_labels(new)
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


def _first_labels(new: Run) -> None:
    """The labels of pairs that nothing had judged before, so there is nothing to compare them with."""
    frame = load(labels, new)
    table(frame, "first_labels", LABELS_TABLE.columns)
    st.caption("These are the first labels of this run. Save them as a run to read each pair.")
    footer(frame, "first_labels", new, "labels")


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
    frame = load_two(rejudged, run, new, which=subset, limit=MAX_PAIRS_LISTED)
    if frame.empty:
        counts(run, "None.")
        return
    total = int(frame["total"].iloc[0])
    counts(
        run, "**{total}** {word}{cut}. Click a row to read both verdicts.", total=f"{total:,}", word=pairs(total),
        cut=f", the first {MAX_PAIRS_LISTED} listed" if total > MAX_PAIRS_LISTED else "",
    )  # fmt: skip
    shown = frame.assign(
        first=frame["first"].map(STATE_WORDS), second=frame["second"].map(STATE_WORDS), a=frame["handbook_a"].map(names),
        b=frame["handbook_b"].map(names),
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


OUTCOMES = ("answered", "unreadable", "cut", "refused", "failed")
STOPPING = "asked to stop"
MAX_LISTED = 50
ESTIMATE_HEADINGS = {"stage": "Step", "calls": "Calls", "prompt_tokens": "Tokens read", "reply_tokens": "Tokens written"}
LIST_HEADINGS = {
    "requested": "Requested (UTC)", "state": "State", "count": "Pairs", "selection": "Selection", "judge": "Judge",
    "requested_by": "By",
}  # fmt: skip
KEEPS_RUNNING = (
    "The job continues when this page is closed or the dashboard is stopped. Only one selection of pairs is judged at a time; a "
    "single pair can be judged at the same time."
)


def job_view(job: Job) -> None:
    """The job in the address, with what can be done in its state."""
    run = next((run for run in loaded_runs() if run.digest == request_of(job).run), None)
    st.button("Judge other pairs", on_click=_leave_job, icon=":material/arrow_back:")
    _heading(job, run)
    if job.message:
        (st.info if job.message == STOPPED else st.error)(escaped(job.message))
    if job.active:
        _watch(job.name)
    elif job.state in (JobState.FINISHED, JobState.SAVED):
        if run is None:
            raise AuditError("The run that these pairs come from is no longer loaded, so there is nothing to compare with.")
        result(run, job)
        _discard(job)
    else:
        _before_start(job)


def earlier_jobs(run: Run) -> None:
    """The jobs so far, newest first; a click opens one."""
    jobs = [job for job in list_jobs(current_settings()) if job.kind == KIND]
    if not jobs:
        return
    st.header("Earlier", anchor=False)
    frame = pd.DataFrame([_job_row(job) for job in jobs[:MAX_LISTED]])
    # A new job moves every row down, and the selected row must not move to another job, so the key changes.
    picked = clicked_row(frame, f"jobs_{len(jobs)}_{jobs[0].name}", LIST_HEADINGS, rows=8)
    csv_button(frame, "jobs", "rejudged_jobs.csv")
    counts(run, "Click a row to open it.")
    if picked is not None:
        for name in PARAMS:
            st.query_params.pop(name, None)
        st.query_params["job"] = str(picked["name"])
        st.rerun()


def judge_text(request: JobRequest) -> str:
    """The judge and its protocol, in words."""
    checks = [word for word, requested in (("swapped", request.swap), ("names masked", request.blind)) if requested]
    checks += [f"{request.repeats} repeats" if request.repeats > 1 else "1 repeat"] if request.repeats else []
    return ", ".join([request.model or "model", request.protocol.replace("_", " "), *checks])


def _job_row(job: Job) -> dict[str, Any]:
    request = request_of(job)
    date, clock = job.name.split("-")[1:3]  # a job is named after the time of its request
    return {
        "name": job.name, "requested": f"{date[:4]}-{date[4:6]}-{date[6:]} {clock[:2]}:{clock[2:4]}",
        "selection": request.selection, "count": request.count, "judge": judge_text(request), "state": str(job.state),
        "requested_by": request.requested_by or "-",
    }  # fmt: skip


def _leave_job() -> None:
    for name in ("job", "shown", *PARAMS):
        st.query_params.pop(name, None)


def _heading(job: Job, run: Run | None) -> None:
    request, row = request_of(job), _job_row(job)
    heading = f"{request.count:,} {pairs(request.count)} ({request.selection})"
    if request.pair and run is not None:
        names = handbook_names(load(handbook_list, run))
        heading = " and ".join(names.get(handbook, handbook) for handbook in request.pair[1:])
    st.header(escaped(heading), anchor=False)
    by = f" by {request.requested_by}" if request.requested_by else ""
    st.caption(escaped(f"From {request.title} · {row['judge']} · requested {row['requested']} UTC{by} · {job.state}"))


# -- before and after the work --------------------------------------------------------------------------------------------


def _before_start(job: Job) -> None:
    """What it would cost, and the buttons that start it, continue it, or discard it."""
    request = request_of(job)
    if job.estimate and job.state is not JobState.STOPPED:  # an earlier one is true after a later one has failed
        _estimate(job)
    unset = not current_settings().judge_urls
    if unset:
        st.info(NO_ENDPOINT)
    if stored := count_answered_calls(job_journal(job)):
        st.caption(f"{stored:,} replies are stored. Continuing does not ask for any of them again.")
    label = "Continue" if job.state is JobState.STOPPED else f"Judge {request.count:,} {pairs(request.count)}"
    with st.container(horizontal=True):
        if st.button(label, type="primary", icon=":material/gavel:", disabled=unset):
            start_judging(current_settings(), job)
            st.rerun()
        calls_model = job.state is not JobState.STOPPED and not request.pair
        if calls_model and st.button("Test the endpoint for tokens and time", disabled=unset):
            estimate_judging(current_settings(), job, trial=True)
            st.rerun()
        _discard(job)


def _estimate(job: Job) -> None:
    estimate = job.estimate
    stages = pd.DataFrame(estimate["stages"])
    read, written = stages["prompt_tokens"].sum(), stages["reply_tokens"].sum()
    st.markdown(
        f"**{int(stages['calls'].sum()):,} calls**, about {read:,} tokens read and {written:,} written. "
        f"**{estimate['without_call']:,}** of {estimate['pairs']:,} pairs need no "
        "call, because an answer is absent or missing. Pairs with the same two answers share one call."
    )
    if estimate["seconds"] is None:
        caption = "Tokens are estimated from the length of the texts. The time is unknown until the endpoint is tested."
    else:
        caption = (
            f"From {estimate['source']}: {estimate['latency_s']:.2f} s a call. About {duration(estimate['seconds'])} in all, "
            f"with at most {estimate['concurrency']} calls at once."
        )
    table(stages, "stages", ESTIMATE_HEADINGS)
    csv_button(stages, "stages", f"{job.name}_estimate.csv")
    st.caption(caption)
    fields = zip(st.columns(2), ("read", "written"), strict=True)
    price_read, price_written = (
        column.number_input(f"Price of a million tokens {which}", 0.0, value=None, key=which, placeholder="Not known")
        for column, which in fields
    )
    if price_read is None or price_written is None:
        st.caption("Without these two prices, what it costs is unknown. A model of your own costs no more than its hours.")
    else:
        st.markdown(f"At these prices about **{(read * price_read + written * price_written) / 1e6:,.2f}** in all.")
    if request_of(job).protocol == "label_only":
        st.caption("The second step needs one call for each pair that turns out to disagree; these calls are not included.")


def _discard(job: Job) -> None:
    with st.popover("Discard", icon=":material/delete:"):
        st.markdown("Deletes the replies and the result of this job. A run that was saved from it stays.")
        if st.button("Delete this job"):
            discard_job(current_settings(), job)
            _leave_job()
            st.rerun()


# -- running -------------------------------------------------------------------------------------------------------------


@st.fragment(run_every=1.0)
def _watch(name: str) -> None:
    """The progress, every second; when the process has ended, the whole page is drawn again."""
    # The sign-in is checked in each run: a fragment runs without the page around it.
    try:
        only_for_the_owner()
        job = find_job(current_settings(), name)
    except AuditError:  # signed out, or discarded in another tab: the page says which
        st.rerun()
    if not job.active:
        st.session_state.pop(STOPPING, None)
        st.rerun()
    if job.state is JobState.ESTIMATING:
        st.progress(0.0, "Counting calls and tokens ...")
    else:
        _progress(job)
    stopping = st.session_state.get(STOPPING) == name
    label = "Force stop (replies received so far are kept)" if stopping else "Cancel"
    if st.button(label, key="cancel", icon=":material/stop_circle:"):
        cancel_job(current_settings(), job, force=stopping)
        st.session_state[STOPPING] = name
        st.rerun(scope="app")
    st.caption("Stopping ..." if stopping else KEEPS_RUNNING)


def _progress(job: Job) -> None:
    figures, request = job.progress, request_of(job)
    if figures.get("phase") in (WRITING, LOADING):
        done, total = int(figures.get("pairs", 0)), max(1, request.count)
        st.progress(min(1.0, done / total), f"{done:,} of {total:,} pairs written" if done < total else "Loading the result ...")
    elif "calls" not in figures:
        st.progress(0.0, "Starting, and testing the endpoint ...")
    else:
        st.progress(min(1.0, figures["done"] / max(1, figures["calls"])), _calls_text(figures))
    if "calls" in figures:
        _outcomes(figures)


def _calls_text(figures: dict[str, Any]) -> str:
    done, calls, rate = figures["done"], figures["calls"], figures["rate"]
    left = f", about {duration((calls - done) / rate)} left" if rate > 0 and done < calls else ""
    return f"{done:,} of {calls:,} calls ({figures['stage']}), {rate:,.1f} per second{left}"


def _outcomes(figures: dict[str, Any]) -> None:
    """How the calls ended, and whether the endpoint is called more slowly."""
    st.markdown(" · ".join(f"**{figures[name]:,}** {name}" for name in OUTCOMES))
    slower = f" The endpoint was busy {figures['busy']:,} times, so calls are made more slowly." if figures["busy"] else ""
    retries = f" {figures['waiting_again']:,} are waiting to be repeated." if figures["waiting_again"] else ""
    st.caption(
        f"Open calls: {figures['in_flight']:,} of at most {figures['concurrency']:,}.{retries}{slower} "
        f"{figures['prompt_tokens']:,} tokens read, {figures['completion_tokens']:,} written."
    )
    for reason in figures["lost"]:
        st.warning(escaped(reason))
