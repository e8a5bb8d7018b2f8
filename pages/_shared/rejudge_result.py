"""What a re-judging has brought: old and new side by side, what moved where, and the way to keep it as a run."""

from __future__ import annotations

import streamlit as st

from audit.charts.style import coefficient, coefficient_interval, handbook_names
from audit.charts.transitions import STATE_WORDS, transitions_figure
from audit.cli.judge_jobs import Job
from audit.cli.judge_results import MOST_REPLIES, proposed_title, raw_replies, result_of, save
from audit.llm.calls import Reply
from audit.llm.journal import journal_plan
from audit.metrics.run_agreement import run_agreement
from audit.metrics.transitions import ALL, CHANGED, SAME, rejudged, transitions
from audit.queries.aligned_runs import NOT_THERE
from audit.queries.pair_view import pair
from audit.queries.picker_options import handbook_list
from audit.settings import Settings
from audit.store.runs import Run
from pages._shared.loaders import load, load_two, loaded_runs
from pages._shared.pickers import choose
from pages._shared.side_by_side import CSS, answers_html, verdict_html
from pages._shared.tables import clicked_row
from pages._shared.terms import escaped, listed, say
from pages._shared.widgets import chart, counts, footer, link

WHICH = {ALL: "All", CHANGED: "Changed", SAME: "Unchanged"}
HEADINGS = {
    "first": "Old label", "second": "New label", "question_text": "Question", "a": "One", "b": "The other",
    "significance_first": "Old significance", "significance_second": "New significance",
    "reasoning_first": "Old reasons", "reasoning_second": "New reasons",
}  # fmt: skip
MOST_LISTED, LONGEST = 2_000, 200
CHOSEN = (
    "These pairs were chosen and not drawn, so the figures hold for this choice and not for the run: pairs chosen because they "
    "disagreed can only move towards agreement. A sample by lot speaks for the run."
)


def result(run: Run, job: Job) -> None:
    """The result of a job, held against the run that its pairs came from."""
    new = result_of(job)
    names = handbook_names(load(handbook_list, run))
    if job.order.pair:
        _side_by_side(run, new, job.order.pair, names)
        _replies(job)
    else:
        _became(run, job)
        _moves(run, new, job)
        _pairs(run, new, names)
    _keep(run, job)


def _became(run: Run, job: Job) -> None:
    told = job.status
    unscored = told["unscored"]
    why = f" ({listed(f'{reason}: {count:,}' for reason, count in unscored.items())})" if unscored else ""
    counts(
        run,
        "Judged: **{judged}**. Unscored: **{unscored}**{why}. ABSENT without asking: **{prescreened}**. Not asked: **{rest}**.",
        judged=f"{told['judged']:,}", unscored=f"{sum(unscored.values()):,}", why=why, prescreened=f"{told['prescreened']:,}",
        rest=f"{told['not_asked']:,}",
    )  # fmt: skip


def _moves(run: Run, new: Run, job: Job) -> None:
    """The transition matrix, and kappa."""
    cells, agreed = load_two(transitions, run, new), load_two(run_agreement, run, new).set_index("figure").loc["kappa"]
    cells = cells[cells["second"] != NOT_THERE]
    whole = cells.groupby("first")["pairs"].transform("sum")
    cells = cells.assign(share=cells["pairs"] / whole.where(whole > 0))
    chart(transitions_figure(cells, "The old judge", "The new judge"), "moves", "The old label of each pair against its new one.")
    counts(
        run, "Framed: the same twice. Over the {n} pairs that both labelled, kappa is **{value}** (95 % interval {span}).",
        n=f"{agreed['of']:,}", value=coefficient(agreed["value"]),
        span=coefficient_interval(agreed["value_low"], agreed["value_high"]),
    )  # fmt: skip
    if job.order.pairs == "file":
        st.caption(CHOSEN)
    footer(cells, "moves", run, "transitions", "run_agreement")


def _pairs(run: Run, new: Run, names: dict[str, str]) -> None:
    """Pair by pair; the one that is clicked, with both verdicts and both answers."""
    st.header("Pair by pair", anchor=False)
    which = choose("Show", tuple(WHICH), "shown", lambda name: WHICH[name], show_label=False)
    found = load_two(rejudged, run, new, which=which, limit=MOST_LISTED)
    if found.empty:
        counts(run, "None.")
        return
    total = int(found["total"].iloc[0])
    counts(
        run, "**{total}** {word}{cut}. Click one to read both verdicts.",
        total=f"{total:,}", word="pair" if total == 1 else "pairs",
        cut=f", the first {MOST_LISTED} listed" if total > MOST_LISTED else "",
    )  # fmt: skip
    shown = found.assign(
        first=found["first"].map(STATE_WORDS), second=found["second"].map(STATE_WORDS),
        a=found["handbook_a"].map(names), b=found["handbook_b"].map(names),
    )  # fmt: skip
    picked = clicked_row(shown, f"rejudged_{which}", HEADINGS, rows=8)
    footer(found.drop(columns="total"), "rejudged", run, "rejudged")
    if picked is not None:
        _side_by_side(run, new, (picked["question_id"], picked["handbook_a"], picked["handbook_b"]), names)


def _side_by_side(run: Run, new: Run, chosen: tuple[str, str, str], names: dict[str, str]) -> None:
    """One pair: the old verdict and the new one beside each other, then both answers."""
    asked = dict(zip(("question_id", "handbook_a", "handbook_b"), chosen, strict=True))
    old, now = load(pair, run, **asked), load(pair, new, **asked)
    st.html(CSS)
    st.header(escaped(old.question.text), anchor=False)
    for column, heading, found in zip(st.columns(2), ("Old", "New"), (old, now), strict=True):
        with column:
            judge = (run if found is old else new).manifest.get("judge") or "the release does not say which judge"
            st.markdown(f"**{heading}** · {escaped(judge)}")
            st.html(f'<div class="pair">{verdict_html(run, found)}</div>')
    st.html(f'<div class="pair">{answers_html(now, names, "all")}</div>')


def _replies(job: Job) -> None:
    """What the model wrote, as it came, and by which prompt."""
    replies = raw_replies(job)
    if not replies:
        return
    prompts = (journal_plan(job.journal) or {}).get("prompts", {})
    st.caption(escaped(f"Prompt: {', '.join(map(str, prompts.values()))}."))
    with st.expander("The raw reply" if len(replies) == 1 else f"The raw replies ({len(replies)}, {MOST_REPLIES} at most)"):
        for reply in replies:
            told = (reply.outcome, f"attempt {reply.attempt}", reply.model, reply.server, _took(reply))
            st.caption(escaped(" · ".join(filter(None, told))))
            st.code(reply.text or reply.error or "nothing", language=None, wrap_lines=True)


def _took(reply: Reply) -> str:
    used = reply.usage
    tokens = f"{used['prompt_tokens']:,} tokens read, {used['completion_tokens']:,} written, " if "prompt_tokens" in used else ""
    return f"{tokens}{reply.latency_s or 0:.1f} s"


def _keep(run: Run, job: Job) -> None:
    """Save the result as a run, or where it was saved, the ways to it."""
    st.header("Keep it", anchor=False)
    saved = next((each for each in loaded_runs() if each.key == job.saved), None)
    if saved is not None:
        st.success(say(run, "Saved as the run **{title}** ({key}).", title=saved.title, key=saved.key))
        with st.container(horizontal=True):
            link("overview", "Open it", saved, icon=":material/open_in_new:")
            link("judge", "Both judges beside each other", run, icon=":material/compare_arrows:", against=saved.key)
        return
    if job.saved:
        st.info(escaped(f"It was saved as {job.saved}, which is no longer loaded."))
        return
    with st.form("keep", border=False):
        title = st.text_input("Title of the run", proposed_title(job)[:LONGEST], max_chars=LONGEST)
        if st.form_submit_button("Save as a run", type="primary", icon=":material/save:"):
            with st.spinner("Writing and loading the release ..."):
                save(Settings(), job, title)
            st.rerun()
