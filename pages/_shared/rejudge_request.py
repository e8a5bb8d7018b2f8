"""The request: which pairs are judged again, by which judge, and how."""

from __future__ import annotations

from dataclasses import asdict, replace

import streamlit as st

from annotation.studies.app_settings import host_of
from audit.charts.style import handbook_names
from audit.errors import AuditError
from audit.jobs.rejudging import JobRequest, estimate_judging, request_judging, start_judging
from audit.metrics.disagreements import Filters, disagreements, matching
from audit.queries.lookup import handbook_list
from audit.queries.pair_counts import judging_cost
from audit.queries.pair_view import pair
from audit.settings import Settings
from audit.store.runs import Run
from audit.terms import display_name
from audit.vocabulary import PairIds
from pages._blinded.access import current_account, current_settings, may_rejudge
from pages._blinded.frame import escaped
from pages._shared.loaders import load
from pages._shared.pair_filters import pick_filters
from pages._shared.pickers import choose, pick_many
from pages._shared.side_by_side import side_by_side
from pages._shared.widgets import counts, server_commands

SELECTIONS = {"filters": "Pairs that match filters", "lot": "Random sample", "all": "All pairs of the run"}
PROTOCOLS = {"structured": "Everything in one call", "label_only": "Label first"}
NO_POSITIONS = (
    "Positions are not offered here, because they need every answer to a {question} and not single pairs: "
    "run audit judge with --protocol positions."
)
CHECKS = {"swap": "Also in the other order", "blind": "Also with names masked", "repeat": "Repeat"}
NO_ENDPOINT = (
    "No language model is set, so nothing can judge these pairs; only an estimate needs none. A PI sets one on *People*, under "
    "*Settings*."
)
VARIABLES = """\
# Or start the dashboard again with these three variables (or three such lines in ~/.streamlit/secrets.toml, values in quotes):
AUDIT_JUDGE_URL=http://127.0.0.1:8000/v1    # any OpenAI-compatible endpoint; several with commas
AUDIT_JUDGE_MODEL=the-model                 # may be left out where the endpoint has only one
AUDIT_JUDGE_KEY=...                         # if the endpoint requires one; it is never shown or stored"""
COST = "To judge all pairs of this run would take {cost}. A pair with an answer that was not found needs no call."
DEFAULT_SAMPLE, MAX_REPEATS = 200, 9


def only_for_the_owner() -> None:
    """Raise AuditError where this session may not start a judge, for instance because its sign-in has ended."""
    if not may_rejudge(current_account()):
        raise AuditError("Only an investigator may have pairs judged again. Nothing was done. Sign in as an investigator.")


def request_pair(run: Run, question_id: str, a: str, b: str) -> None:
    """One pair: judged at once."""
    opened = load(pair, run, question_id=question_id, handbook_a=a, handbook_b=b)
    request = _pick_judge(run, replace(_empty_request(run), selection="one pair", count=1, pair=(question_id, a, b)))
    if st.button("Judge now", type="primary", icon=":material/gavel:", disabled=not request.model):
        # One pair needs a few calls, so there is nothing to estimate.
        _create_job(request, [(question_id, a, b)], at_once=True)
    side_by_side(run, opened, handbook_names(load(handbook_list, run)))


def request_selection(run: Run) -> None:
    """A selection of pairs: counted first, estimated next, and judged once that is confirmed."""
    st.header("Which pairs", anchor=False)
    # Filters are by label, which a run that nothing has compared does not have
    offered = {name: words for name, words in SELECTIONS.items() if run.has_pairs or name != "filters"}
    selection = choose("Which pairs", tuple(offered), "which", lambda name: offered[name], show_label=False)
    if selection == "filters":
        filters = pick_filters(run, handbook_names(load(handbook_list, run)))
        request = replace(_empty_request(run), selection=filters_text(filters), count=matching_count(run, filters))
    else:
        total = matching_count(run, Filters(labels=())) if run.has_pairs else load(judging_cost, run).pairs
        all_pairs = replace(_empty_request(run), count=total, selection="all", pairs="all")
        request = _pick_sample(run, total) if selection == "lot" else all_pairs
    if not run.has_pairs:
        counts(run, COST, cost=load(judging_cost, run).words)
    counts(run, "**{n}** {word}.", n=f"{request.count:,}", word=pairs(request.count))
    st.header("Which judge", anchor=False)
    request = _pick_judge(run, request)
    if st.button("Estimate calls, tokens and time", type="primary", disabled=not request.count):
        # Only for filters are the pairs listed here; the job itself draws a sample, and takes all pairs from the run.
        selected = list(load(matching, run, filters=filters).itertuples(index=False, name=None)) if selection == "filters" else []
        _create_job(request, selected, at_once=False)


def matching_count(run: Run, filters: Filters) -> int:
    """How many pairs match the filters."""
    first = load(disagreements, run, filters=filters, limit=1)
    return 0 if first.empty else int(first["total"].iloc[0])


def pairs(count: int) -> str:
    """`pair` after one, `pairs` after any other number."""
    return "pair" if count == 1 else "pairs"


def filters_text(filters: Filters) -> str:
    """The filters in words: `labels: divergent; organs: kidney`."""
    chosen = {
        name: ", ".join(display_name(value.lower()) for value in values) for name, values in asdict(filters).items() if values
    }
    return "; ".join(f"{name}: {values}" for name, values in chosen.items()) or "all"


def _empty_request(run: Run) -> JobRequest:
    account = current_account()
    return JobRequest(run.digest, run.title, "", 0, requested_by=account.name if account else "")


def _pick_sample(run: Run, total: int) -> JobRequest:
    size = int(st.number_input("How many", 1, max(1, total), min(DEFAULT_SAMPLE, max(1, total)), key="drawn", width=200))
    counts(run, "Drawn at random from the pairs that a judge was asked about; the same number always draws the same pairs.")
    return replace(_empty_request(run), selection=f"random sample of {size:,}", count=size, pairs=f"sample:{size}")


def _pick_judge(run: Run, request: JobRequest) -> JobRequest:
    """Judge, protocol and checks; without an endpoint, how to set one."""
    settings = current_settings()
    if not settings.judge_urls:
        st.info(NO_ENDPOINT)
        server_commands(VARIABLES)
        return request
    st.markdown(escaped(f"{model_text(settings)}."))
    left, right, last = st.columns([4, 5, 2])
    with left:
        protocol = choose("Protocol", tuple(PROTOCOLS), "protocol", lambda name: PROTOCOLS[name])
        counts(run, NO_POSITIONS)
    with right:
        checks = pick_many("Checks, one more call each", list(CHECKS), "check", lambda name: CHECKS[name], placeholder="None")
    repeats, model = 0, settings.judge_model or "the endpoint's only model"
    if "repeat" in checks:
        with last:
            repeats = int(st.number_input("Repeats", 1, MAX_REPEATS, 1, key="repeats"))
    return replace(request, model=model, protocol=protocol, swap="swap" in checks, blind="blind" in checks, repeats=repeats)


def model_text(settings: Settings) -> str:
    """The model and its host."""
    # Only the host is shown, because an address may contain a password.
    where = ", ".join(map(host_of, settings.judge_urls))
    return f"{settings.judge_model or 'The only model'} at {where}"


def _create_job(request: JobRequest, selected: list[PairIds], *, at_once: bool) -> None:
    settings = current_settings()
    with st.spinner("Saving the list of pairs ..."):
        job = request_judging(settings, request, selected)
    st.query_params["job"] = job.name
    if at_once:
        start_judging(settings, job)
    else:
        estimate_judging(settings, job)
    st.rerun()
