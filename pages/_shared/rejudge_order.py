"""Which pairs are put to which judge, and how: the order, before anything is asked."""

from __future__ import annotations

from dataclasses import asdict, replace
from urllib.parse import urlsplit

import streamlit as st

from audit.charts.style import handbook_names
from audit.cli.judge_jobs import Order, estimate, place, start
from audit.cli.judge_source import Triple
from audit.judging import baseline
from audit.metrics.disagreements import Filters, disagreements, matching
from audit.queries.pair_view import pair
from audit.queries.picker_options import handbook_list
from audit.settings import Settings
from audit.store.runs import Run
from audit.terms import display_name
from pages._blinded.access import current_account
from pages._shared.filters import pick_filters
from pages._shared.loaders import load
from pages._shared.pickers import choose, pick_many
from pages._shared.side_by_side import side_by_side
from pages._shared.widgets import counts

MODEL, BASELINE = "model", "baseline"
WAYS = {"filters": "Those that match filters", "lot": "Some, drawn by lot", "all": "All pairs of the run"}
PROTOCOLS = {"structured": "All in one call", "label_only": "Label first"}
CHECKS = {"swap": "In the other order too", "blind": "With names masked too", "repeat": "Again and again"}
NO_ENDPOINT = (
    "No language model is set, so only plain rules can judge. To set one, start the dashboard again with these three "
    "variables (or with three such lines in `~/.streamlit/secrets.toml`, values in quotes):"
)
VARIABLES = """\
AUDIT_JUDGE_URL=http://127.0.0.1:8000/v1    # any OpenAI-compatible endpoint; several with commas
AUDIT_JUDGE_MODEL=the-model                 # may be left out where the endpoint has only one
AUDIT_JUDGE_KEY=...                         # where it asks for one; it is shown and stored nowhere"""
RULES = (
    "The baseline judge looks for opposite advice, amounts that differ, and statements that only one answer makes. It reads no "
    "meaning: it is the floor that a language model must beat, and a way to try this page without one."
)
BY_LOT, MOST_REPEATS = 200, 9


def order_of_one(run: Run, question_id: str, a: str, b: str) -> None:
    """One pair: asked at once."""
    found = load(pair, run, question_id=question_id, handbook_a=a, handbook_b=b)
    how = _how(run, replace(_nothing(run), chosen="one pair", count=1, pair=(question_id, a, b)))
    if st.button("Ask now", type="primary", icon=":material/gavel:"):
        _carry_out(how, [(question_id, a, b)], at_once=True)
    side_by_side(run, found, handbook_names(load(handbook_list, run)))


def order_of_some(run: Run) -> None:
    """A choice of pairs: counted first, estimated next, and asked when that is confirmed."""
    st.header("Which pairs", anchor=False)
    way = choose("Which pairs", tuple(WAYS), "which", lambda name: WAYS[name], show_label=False)
    if way == "filters":
        filters = pick_filters(run, handbook_names(load(handbook_list, run)))
        order = replace(_nothing(run), chosen=in_words(filters), count=count_of(run, filters))
    else:
        everything = count_of(run, Filters(labels=()))
        order = _by_lot(run, everything) if way == "lot" else replace(_nothing(run), count=everything, chosen="all", pairs="all")
    counts(run, "**{n}** {word}.", n=f"{order.count:,}", word=pairs(order.count))
    st.header("Which judge", anchor=False)
    order = _how(run, order)
    label = "Choose these pairs" if order.baseline else "Estimate calls, tokens and time"
    if st.button(label, type="primary", disabled=not order.count):
        triples = matching_triples(run, filters) if way == "filters" else []
        _carry_out(order, triples, at_once=False)


def count_of(run: Run, filters: Filters) -> int:
    """How many pairs the filters let through."""
    found = load(disagreements, run, filters=filters, limit=1)
    return 0 if found.empty else int(found["total"].iloc[0])


def matching_triples(run: Run, filters: Filters) -> list[Triple]:
    """The pairs themselves."""
    return list(load(matching, run, filters=filters).itertuples(index=False, name=None))


def pairs(count: int) -> str:
    """`pair` of one, `pairs` of any other number."""
    return "pair" if count == 1 else "pairs"


def in_words(filters: Filters) -> str:
    """The filters as somebody would say them: `labels: divergent; organs: kidney`."""
    said = {
        name: ", ".join(display_name(value.lower()) for value in values) for name, values in asdict(filters).items() if values
    }
    return "; ".join(f"{name}: {values}" for name, values in said.items()) or "all"


def _nothing(run: Run) -> Order:
    account = current_account()
    return Order(run.digest, run.title, "", 0, by=account.name if account else "")


def _by_lot(run: Run, most: int) -> Order:
    drawn = int(st.number_input("How many", 1, max(1, most), min(BY_LOT, max(1, most)), key="drawn", width=200))
    counts(run, "Drawn from the pairs that a judge was asked about; the same ones for the same number.")
    return replace(_nothing(run), chosen=f"{drawn:,} drawn by lot", count=drawn, pairs=f"sample:{drawn}")


def _how(run: Run, order: Order) -> Order:
    """Judge, protocol and checks; without an endpoint, what to set for one."""
    settings = Settings()
    if not settings.judge_urls:
        st.info(NO_ENDPOINT)
        st.code(VARIABLES, language="bash", wrap_lines=True)
        counts(run, "Judged by the {name}. {rules}", name=baseline.NAME, rules=RULES)
        return replace(order, baseline=True)
    names = {MODEL: model_in_words(settings), BASELINE: baseline.NAME}
    if choose("Which judge", tuple(names), "judge", lambda name: names[name], show_label=False) == BASELINE:
        counts(run, RULES)
        return replace(order, baseline=True)
    left, right, last = st.columns([4, 5, 2])
    with left:
        protocol = choose("How it is asked", tuple(PROTOCOLS), "protocol", lambda name: PROTOCOLS[name])
    with right:
        checks = pick_many("Checks, each a call more", list(CHECKS), "check", lambda name: CHECKS[name], placeholder="None")
    repeats, model = 0, settings.judge_model or "the only model there"
    if "repeat" in checks:
        with last:
            repeats = int(st.number_input("Times more", 1, MOST_REPEATS, 1, key="repeats"))
    return replace(order, model=model, protocol=protocol, swap="swap" in checks, blind="blind" in checks, repeats=repeats)


def model_in_words(settings: Settings) -> str:
    """The model and where it is; an address may carry a password, so its host is all that is shown."""
    hosts = [urlsplit(url) for url in settings.judge_urls]
    where = ", ".join(f"{host.hostname}:{host.port}" if host.port else str(host.hostname) for host in hosts)
    return f"{settings.judge_model or 'the only model there'} at {where}"


def _carry_out(order: Order, pairs: list[Triple], *, at_once: bool) -> None:
    settings = Settings()
    with st.spinner("Writing down the pairs ..."):
        job = place(settings, order, pairs)
    st.query_params["job"] = job.name
    if at_once:
        start(settings, job)
    elif not order.baseline:
        estimate(settings, job)
    st.rerun()
