"""One job of judging again: estimated, running, stopped, finished; and the list of all jobs."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from audit.charts.style import handbook_names
from audit.errors import AuditError
from audit.jobs.processes import STOPPED, cancel_job, discard_job, find_job, list_jobs
from audit.jobs.progress import LOADING, WRITING
from audit.jobs.rejudging import KIND, JobRequest, estimate_judging, job_journal, request_of, start_judging
from audit.jobs.table import Job, JobState
from audit.queries.lookup import handbook_list
from audit.release.journal_files import count_answered_calls
from audit.store.runs import Run
from audit.vocabulary import RULES_JUDGE
from pages._blinded.access import current_settings
from pages._blinded.frame import escaped
from pages._shared.loaders import load, loaded_runs
from pages._shared.pair_list import PARAMS
from pages._shared.rejudge_request import only_for_the_owner, pairs
from pages._shared.widgets import clicked_row, counts, csv_button, table
from pages.rejudge.result import result

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
    if request.baseline:
        return RULES_JUDGE
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
    if job.state is JobState.ESTIMATED:
        _estimate(job)
    if stored := count_answered_calls(job_journal(job)):
        st.caption(f"{stored:,} replies are stored. Continuing does not ask for any of them again.")
    label = "Continue" if job.state is JobState.STOPPED else f"Judge {request.count:,} {pairs(request.count)}"
    with st.container(horizontal=True):
        if st.button(label, type="primary", icon=":material/gavel:"):
            start_judging(current_settings(), job)
            st.rerun()
        calls_model = job.state is not JobState.STOPPED and not request.baseline and not request.pair
        if calls_model and st.button("Test the endpoint for tokens and time"):
            estimate_judging(current_settings(), job, trial=True)
            st.rerun()
        _discard(job)


def _estimate(job: Job) -> None:
    estimate = job.estimate
    stages = pd.DataFrame(estimate["stages"])
    st.markdown(
        f"**{int(stages['calls'].sum()):,} calls**, about {stages['prompt_tokens'].sum():,} tokens read and "
        f"{stages['reply_tokens'].sum():,} written. **{estimate['without_call']:,}** of {estimate['pairs']:,} pairs need no "
        "call, because an answer is absent or missing. Pairs with the same two answers share one call."
    )
    if estimate["seconds"] is None:
        caption = "Tokens are estimated from the length of the texts. The time is unknown until the endpoint is tested."
    else:
        caption = (
            f"From {estimate['source']}: {estimate['latency_s']:.2f} s a call. About {duration(estimate['seconds'])} in all, "
            f"with at most {estimate['at_once'] or estimate['concurrency']} calls at once."
        )
    table(stages, "stages", ESTIMATE_HEADINGS)
    csv_button(stages, "stages", f"{job.name}_estimate.csv")
    st.caption(caption)
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
        st.progress(0.0, "Starting ..." if request.baseline else "Starting, and testing the endpoint ...")
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


def duration(seconds: float) -> str:
    """A time in words."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5_400 else f"{seconds / 3_600:.1f} hours"
