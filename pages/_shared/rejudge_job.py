"""One re-judging as it stands: estimated, at work, stopped, done; and the list of those there are."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from audit.charts.style import handbook_names
from audit.cli.judge_jobs import Job, State, cancel, discard, estimate, find_job, list_jobs, start
from audit.cli.judge_status import LOADING, WRITING
from audit.errors import AuditError
from audit.judging import baseline
from audit.llm.journal import count_answered_calls
from audit.queries.picker_options import handbook_list
from audit.settings import Settings
from audit.store.runs import Run
from pages._shared.loaders import load, loaded_runs
from pages._shared.pair_list import PARAMS
from pages._shared.rejudge_order import pairs
from pages._shared.rejudge_result import result
from pages._shared.rejudge_rights import only_for_the_owner
from pages._shared.tables import clicked_row, table
from pages._shared.terms import escaped
from pages._shared.widgets import counts

OUTCOMES = ("answered", "unreadable", "cut", "refused", "failed")
STOPPING = "asked to stop"
MOST_LISTED = 50
STAGES = {"stage": "Step", "calls": "Calls", "prompt_tokens": "Tokens read", "reply_tokens": "Tokens written"}
LIST = {"ordered": "Ordered (UTC)", "state": "State", "count": "Pairs", "chosen": "Which", "judge": "Judge", "by": "By"}
AT_WORK = (
    "It goes on when this page is closed, and when the dashboard is stopped. One choice of pairs is judged at a time, and one "
    "single pair beside it."
)


def job_view(job: Job) -> None:
    """The job of the address, with what can be done in its state."""
    run = next((run for run in loaded_runs() if run.digest == job.order.run), None)
    st.button("Judge other pairs", on_click=_leave, icon=":material/arrow_back:")
    _heading(job, run)
    if job.said:
        (st.info if job.said == "Stopped." else st.error)(escaped(job.said))
    if job.state in (State.RUNNING, State.ESTIMATING):
        _watched(job.name)
    elif job.state in (State.JUDGED, State.SAVED):
        if run is None:
            raise AuditError("The run that these pairs came from is no longer loaded, so there is nothing to hold them against.")
        result(run, job)
        _discard(job)
    else:
        _before(job)


def earlier(run: Run) -> None:
    """The re-judgings there are, newest first; a click opens one. Above them, the one at work."""
    listed = list_jobs(Settings())
    if not listed:
        return
    st.header("Earlier", anchor=False)
    frame = pd.DataFrame([_row(job) for job in listed[:MOST_LISTED]])
    picked = clicked_row(frame, f"jobs_{len(listed)}_{listed[0].name}", LIST, rows=8)
    counts(run, "Click one to open it.")
    if picked is not None:
        for name in PARAMS:
            st.query_params.pop(name, None)
        st.query_params["job"] = str(picked["name"])
        st.rerun()


def judge_of(job: Job) -> str:
    """The judge of a job and how it is asked, in words."""
    if job.order.baseline:
        return baseline.NAME
    order = job.order
    checks = [word for word, asked in (("swapped", order.swap), ("names masked", order.blind)) if asked]
    checks += [f"{order.repeats} x more"] if order.repeats else []
    return ", ".join([order.model or "model", order.protocol.replace("_", " "), *checks])


def _row(job: Job) -> dict[str, Any]:
    stamp = job.name.split("-")
    ordered = f"{stamp[1][:4]}-{stamp[1][4:6]}-{stamp[1][6:]} {stamp[2][:2]}:{stamp[2][2:4]}"
    return {
        "name": job.name, "ordered": ordered, "chosen": job.order.chosen, "count": job.order.count, "judge": judge_of(job),
        "state": str(job.state), "by": job.order.by or "-",
    }  # fmt: skip


def _leave() -> None:
    for name in ("job", "shown", *PARAMS):
        st.query_params.pop(name, None)


def _heading(job: Job, run: Run | None) -> None:
    told = f"{job.order.count:,} {pairs(job.order.count)} ({job.order.chosen})"
    if job.order.pair and run is not None:
        names = handbook_names(load(handbook_list, run))
        told = " and ".join(names.get(handbook, handbook) for handbook in job.order.pair[1:])
    st.header(escaped(told), anchor=False)
    row = _row(job)
    by = f" by {row['by']}" if job.order.by else ""
    st.caption(escaped(f"Of {job.order.title} · {row['judge']} · ordered {row['ordered']} UTC{by} · {job.state}"))


# -- before and after the work --------------------------------------------------------------------------------------------


def _before(job: Job) -> None:
    """What it would cost, and the buttons that begin it, go on with it, or drop it."""
    if job.state is State.ESTIMATED:
        _estimated(job)
    if stored := count_answered_calls(job.journal):
        st.caption(f"{stored:,} replies are stored. Going on asks for none of them again.")
    label = "Go on" if job.state is State.STOPPED else f"Judge {job.order.count:,} {pairs(job.order.count)}"
    with st.container(horizontal=True):
        if st.button(label, type="primary", icon=":material/gavel:"):
            start(Settings(), job)
            st.rerun()
        asks = job.state is not State.STOPPED and not job.order.baseline and not job.order.pair
        if asks and st.button("Try the endpoint for tokens and time"):
            estimate(Settings(), job, trial=True)
            st.rerun()
        _discard(job)


def _estimated(job: Job) -> None:
    found = job.estimate
    stages = pd.DataFrame(found["stages"])
    st.markdown(
        f"**{int(stages['calls'].sum()):,} calls**, about {stages['prompt_tokens'].sum():,} tokens read and "
        f"{stages['reply_tokens'].sum():,} written. **{found['without_call']:,}** of {found['pairs']:,} pairs need no call: "
        "an answer is absent, or not there. Where two pairs have the same two answers, one call does for both."
    )
    if found["seconds"] is None:
        told = "Tokens are estimated from the length of the texts. How long it takes is not known until the endpoint is tried."
    else:
        told = (
            f"From a few calls to the endpoint: {found['latency_s']:.2f} s a call. About {lasting(found['seconds'])} in all, if "
            f"{found['concurrency']} calls at once take no longer each than one alone."
        )
    table(stages, "stages", STAGES)
    st.caption(told)
    if job.order.protocol == "label_only":
        st.caption("The second step needs one call for each pair that turns out to disagree; it is not counted here.")


def _discard(job: Job) -> None:
    with st.popover("Discard", icon=":material/delete:"):
        st.markdown("Deletes its replies and its result. What was saved as a run stays.")
        if st.button("Delete it"):
            discard(Settings(), job)
            _leave()
            st.rerun()


# -- at work ------------------------------------------------------------------------------------------------------------


@st.fragment(run_every=1.0)
def _watched(name: str) -> None:
    """How far it is, each second; when it has ended, the whole page is drawn anew."""
    try:
        only_for_the_owner()
        job = find_job(Settings(), name)
    except AuditError:  # signed out, or discarded in another tab: the page says which
        st.rerun()
    if job.state not in (State.RUNNING, State.ESTIMATING):
        st.session_state.pop(STOPPING, None)
        st.rerun()
    if job.state is State.ESTIMATING:
        st.progress(0.0, "Counting calls and tokens ...")
    else:
        _progress(job)
    stopping = st.session_state.get(STOPPING) == name
    if st.button("Kill it: what came back is stored" if stopping else "Cancel", key="cancel", icon=":material/stop_circle:"):
        cancel(Settings(), job, at_once=stopping)
        st.session_state[STOPPING] = name
        st.rerun(scope="app")
    st.caption("Stopping ..." if stopping else AT_WORK)


def _progress(job: Job) -> None:
    told = job.status
    if told.get("phase") in (WRITING, LOADING):
        done, total = int(told.get("pairs", 0)), max(1, job.order.count)
        st.progress(min(1.0, done / total), f"{done:,} of {total:,} pairs written" if done < total else "Loading the result ...")
    elif "calls" not in told:
        st.progress(0.0, "Starting ..." if job.order.baseline else "Starting, and trying the endpoint ...")
    else:
        st.progress(min(1.0, told["done"] / max(1, told["calls"])), _how_far(told))
    if "calls" in told:
        _outcomes(told)


def _how_far(told: dict[str, Any]) -> str:
    done, calls, rate = told["done"], told["calls"], told["rate"]
    left = f", about {lasting((calls - done) / rate)} left" if rate > 0 and done < calls else ""
    return f"{done:,} of {calls:,} calls ({told['stage']}), {rate:,.1f} a second{left}"


def _outcomes(told: dict[str, Any]) -> None:
    """How the calls ended, and whether the endpoint has to be asked more slowly."""
    st.markdown(" · ".join(f"**{told[name]:,}** {name}" for name in OUTCOMES))
    slower = f" The endpoint was busy {told['busy']:,} times and is asked more slowly." if told["busy"] else ""
    again = f" {told['waiting_again']:,} wait to be asked again." if told["waiting_again"] else ""
    st.caption(
        f"{told['in_flight']:,} calls are open, {told['concurrency']:,} may be.{again}{slower} "
        f"{told['prompt_tokens']:,} tokens read, {told['completion_tokens']:,} written."
    )
    for lost in told["lost"]:
        st.warning(escaped(lost))


def lasting(seconds: float) -> str:
    """A time in words."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5_400 else f"{seconds / 3_600:.1f} hours"
