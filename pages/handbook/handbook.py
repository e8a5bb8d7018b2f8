"""Handbook: what one handbook answers, its gaps next to comparable ones, with whom it disagrees, where it contradicts itself."""

import pandas as pd
import streamlit as st

from audit.charts.found_states import state_bars
from audit.charts.style import handbook_names, interval, percent
from audit.metrics.coverage import gaps, profile
from audit.metrics.handbooks import handbooks, pairs
from audit.metrics.silence import silence
from audit.metrics.within_handbook import was_read, within_handbook, within_handbook_counts
from audit.queries.citations import section_titles, source_file
from audit.queries.handbook_view import disagreement_subjects, handbook_text
from audit.queries.lookup import handbook_list
from audit.queries.pair_counts import MATCHING
from audit.store.runs import Run
from audit.tables import Column
from audit.terms import counted, display_name
from audit.text.language import language_name
from audit.vocabulary import GENERAL, same_name
from pages._blinded.templates import rendered
from pages._shared.explore import listed_subjects
from pages._shared.found_states import counted_sentence, errors_of, miss_sentence
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.pickers import choose, named_by, pick_one
from pages._shared.self_disagreements import NOT_CHECKED, draw_self_disagreements
from pages._shared.widgets import chart, counts, footer, link, linked_rows, say, title_of
from pages.handbook.profile import CSS, profile_rows

FACTS = {"organ": "{Organ}", "center": "{Center}", "phase": "{Phase}"}
LEAVES_OUT = (
    "It does not address **{absence}** of the {asked} that it should answer: those of its {organ}, and general ones (95 % "
    "interval {absence_span})."
)
FOUND = (
    "Of what it should answer ({asked}: {questions} of its {organ}, and general ones): **{stated}** stated, **{perhaps}** "
    "perhaps there, **{not_found}** not found. "
)
NOTHING_ASKED = "It was asked nothing that it should answer."
DISAGREES = (
    "In **{r_div}** of {present} pairs in which another {handbook} should answer too and does, they disagree (95 % interval "
    "{div_span})."
)
LEAD = "One {handbook}: what it answers, what it does not address, and which others it disagrees with."
UNLABELLED = "One {handbook}: what was found in it, and what was not."
OTHER_ORGANS = "{Questions} about another {organ} do not count as gaps. "
GAPS = "Gaps: not addressed here, answered by most comparable {handbooks}"
GAPS_FOUND = "Gaps: not found here, stated by most comparable {handbooks}"
NO_GAP = "No {question} that most comparable {handbooks} answer is left unanswered here."
NO_GAP_FOUND = "There is no {question} on which most comparable {handbooks} state something and nothing was found here."


def summary(run: Run, row: pd.Series, overall: pd.DataFrame) -> None:
    """Organ, center and phase, where they tell handbooks apart, then the two rates of this handbook in one sentence each."""
    told = (name for name in FACTS if overall[name].nunique() > 1 and not (name == "center" and overall[name].is_unique))
    facts = " · ".join(say(run, f"{FACTS[name]}: **{{value}}**", value=display_name(row[name])) for name in told)
    sentences = [_answered_sentence(run, row)]
    if run.has_pairs:
        span = interval(row["r_div_low"], row["r_div_high"]) or "unknown"
        sentences.append(say(run, DISAGREES, r_div=percent(row["r_div"]), present=f"{row['present']:,}", div_span=span))
    st.markdown(f"{facts}  \n{' '.join(sentences)}")


def _answered_sentence(run: Run, row: pd.Series) -> str:
    """How much it leaves out of what it should answer; of a search, what was found, and how often it errs."""
    if errors_of(run).searched:
        states = load(silence, run, by="handbook").set_index("name")
        handbook_id = row["handbook_id"]
        return counted_sentence(run, states.loc[handbook_id], FOUND) if handbook_id in states.index else say(run, NOTHING_ASKED)
    span = interval(row["absence_low"], row["absence_high"]) or "unknown"
    asked = counted(run, "question", int(row["asked"]))
    return say(run, LEAVES_OUT, absence=percent(row["absence"]), asked=asked, absence_span=span)


def text_section(run: Run, handbook_id: str) -> None:
    """Parts of the handbook that could not be read, which would otherwise appear as not addressed."""
    text = load(handbook_text, run, handbook_id=handbook_id)
    if text.silent_pages:
        st.warning(
            say(
                run,
                "{silent} of {pages} pages of this {handbook} are pictures without text: what they say is missing here.",
                silent=f"{text.silent_pages:,}",
                pages=f"{text.pages:,}" if text.pages else "its",
            )
        )
    if text.is_noticeably_unreadable:
        st.warning(say(run, "**{share}** of the words of this {handbook} are not readable text.", share=percent(text.unreadable)))
    for reason, count in text.unread:
        number = "1 {question} has" if count == 1 else "{n} {questions} have"
        st.warning(
            say(run, f"{number} neither an answer nor an absence here: {{reason}}.", n=f"{count:,}", reason=reason.rstrip("."))
        )
    if text.language and text.usual and text.is_in_another_language:
        st.info(
            say(
                run,
                "This {handbook} is in {language}, most others in {usual}.",
                language=language_name(text.language),
                usual=language_name(text.usual),
            )
        )


def pairs_with_others(table: pd.DataFrame, handbook_id: str, names: dict[str, str]) -> pd.DataFrame:
    """The pairs of handbooks that include this one: one row per other handbook with which it shares an answered question."""
    a, b = table["handbook_a_id"], table["handbook_b_id"]
    own = table[((a == handbook_id) | (b == handbook_id)) & (table["present"] > 0)]
    other = own["handbook_b_id"].where(own["handbook_a_id"] == handbook_id, own["handbook_a_id"])
    # By the lower end of the interval, so that a handbook with few shared answers does not lead the list.
    return own.assign(other=other, name=other.map(names)).sort_values(
        ["r_div_low", "present"], ascending=False, ignore_index=True
    )


def gap_section(run: Run, handbook_id: str, organ: str) -> None:
    """Questions not addressed here and answered by most peers; a click opens the question."""
    searched = errors_of(run).searched
    st.header(say(run, GAPS_FOUND if searched else GAPS), anchor=False)
    frame = load(gaps, run, handbook_id=handbook_id)
    if searched:
        st.caption(miss_sentence(run))
    if frame.empty:
        st.info(say(run, NO_GAP_FOUND if searched else NO_GAP))
        return
    number = "1 {question}" if len(frame) == 1 else "{n} {questions}, the clearest gap first"
    counts(
        run,
        f"{number}. {OTHER_ORGANS if organ != GENERAL else ''}Click a row to see what all {{handbooks}} say on it.",
        n=len(frame),
    )
    columns = gaps.table.pick(run, "text", "topics", "share")
    linked_rows(run, frame, "gap_table", columns, "question", lambda row: {"question": row["question_id"]}, rows=3)
    footer(frame, "gaps", run, "gaps")


def disagreement_section(run: Run, handbook_id: str, names: dict[str, str]) -> None:
    """The other handbooks, the most certain disagreement first; a click opens the disagreements."""
    st.header(say(run, "Which {handbooks} it disagrees with, and about what"), anchor=False)
    frame = pairs_with_others(load(pairs, run), handbook_id, names)
    if frame.empty:
        st.info(say(run, "No other {handbook} answers any of the questions that this one answers."))
        return
    counts(
        run,
        "Ranked by the lower end of the interval, so that {handbooks} with few shared answers do not top the list. "
        "Click a row to read the pairs.",
    )
    subjects = load(disagreement_subjects, run, handbook_id=handbook_id)
    frame = frame.assign(about=[listed_subjects(subjects.get(other, ())) for other in frame["other"]])
    columns = pairs.table.pick(run, "disagreeing")
    about = (Column.text("name", title_of(run, "handbook")), Column.text("about", "About, the gravest first"))
    both = lambda row: {"handbook": [handbook_id, row["other"]]}  # noqa: E731
    linked_rows(run, frame, "other_table", (*about, *columns), "disagreements", both, rows=4)
    footer(frame, "disagrees-with", run, "pairs")


def self_section(run: Run, handbook_id: str) -> None:
    """Its contradictions with itself, each with all places; a handbook that was not compared may have some."""
    st.header(say(run, "Where this {handbook} contradicts itself"), anchor=False)
    compared = load(within_handbook_counts, run)
    own = compared[compared["handbook_id"] == handbook_id]
    row = own.iloc[0]
    if not was_read(own).all():
        st.info(say(run, NOT_CHECKED))
        return
    frame = load(within_handbook, run, handbook_id=handbook_id)
    if frame.empty:
        st.info(say(run, "{n} pairs of passages compared: none differs.", n=f"{row['compared']:,}"))
    draw_self_disagreements(run, frame)
    counts(run, self_counts(row))
    footer(frame, "within-handbook", run, "within_handbook", "within_handbook_counts")


def self_counts(row: pd.Series) -> str:
    """The counts of compared statements in one line: a template of `say`."""
    words = {
        "compared": "compared ({disagreeing} of them disagree)", "agreeing": "in the same words, not compared",
        "unscored": "without a verdict", "not_asked": "not asked about",
    }  # fmt: skip
    numbers = {name: f"{row[name]:,}" for name in (*words, "disagreeing") if pd.notna(row[name])}
    parts = [f"{numbers[name]} {phrase.format(**numbers)}" for name, phrase in words.items() if name in numbers]
    return f"Pairs of passages that may be about one thing: {', '.join(parts)}. Pairs without a verdict may disagree."


def answered_section(run: Run, handbook_id: str) -> None:
    """What it answers by organ or topic of the question: beside its peers, or in the three states of a search."""
    st.header("What it answers", anchor=False)
    by = choose("By", ("organ", "topic"), "by", format_func=lambda word: title_of(run, word))
    answered = load(profile, run, handbook_id=handbook_id, by=by)
    if errors_of(run).searched:
        counted = answered.assign(
            called=answered["name"].map(display_name), stated=answered["answered"] - answered["perhaps"],
            not_found=answered["asked"] - answered["answered"], silent=float("nan"),
        )  # fmt: skip
        chart(state_bars(counted[counted["asked"] > 0].reset_index(drop=True)), "profile", "What was found, in three states.")
    else:
        st.html(CSS)
        peers = f"comparable {run.term('handbook', 2)}, on average"
        st.html(rendered("handbook/profile.html", rows=profile_rows(answered), peers=peers))
    footer(answered, f"profile-{by}", run, "profile")


def by_name(names: dict[str, str]) -> list[str]:
    """The ids of the handbooks in the order of their names."""
    return sorted(names, key=lambda handbook_id: names[handbook_id].casefold())


def heading_of(run: Run) -> str:
    """The name of the handbook in the address, else of the first; of a run without handbooks, the page's own title."""
    names = handbook_names(load(handbook_list, run))
    shown = same_name(st.query_params.get("handbook") or "", names) or next(iter(by_name(names)), "")
    return names.get(shown, title_of(run, "handbook"))


with page("{Handbook}", LEAD, unlabelled=UNLABELLED, headed=heading_of) as run:
    overall = load(handbooks, run, scope=MATCHING)
    names = handbook_names(overall)
    ordered = by_name(names)
    chosen = pick_one(title_of(run, "handbook"), ordered, "handbook", default=ordered[0], format_func=named_by(names))
    handbook_id = chosen or ordered[0]
    summary(run, overall[overall["handbook_id"] == handbook_id].iloc[0], overall)
    text_section(run, handbook_id)
    with st.container(horizontal=True):
        if run.has_pairs:
            link("disagreements", "See its disagreements", run, icon=":material/call_split:", handbook=handbook_id)
        if load(source_file, run, handbook_id=handbook_id).digest or load(section_titles, run, handbook_id=handbook_id):
            link("source", "See its pages", run, icon=":material/menu_book:", handbook=handbook_id)
            link("as_read", "Check how it was read", run, icon=":material/fact_check:", handbook=handbook_id)

    answered_section(run, handbook_id)
    gap_section(run, handbook_id, str(overall.set_index("handbook_id").loc[handbook_id, "organ"]))
    if run.has_pairs:
        disagreement_section(run, handbook_id, names)
    self_section(run, handbook_id)
