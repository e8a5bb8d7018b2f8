"""Theme: one thing that the sources disagree about. What the judge wrote, who says what, and the pairs behind it."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from audit.charts.rates import Rate, rate_dots
from audit.charts.style import LABEL_WORDS, handbook_names, interval, percent
from audit.metrics.disagreements import Filters, disagreements
from audit.metrics.position_groups import MAX_QUESTIONS, positions
from audit.metrics.theme import theme_mix, theme_places, theme_topics
from audit.metrics.themes import one_theme, themes
from audit.queries.picker_options import handbook_list
from audit.queries.theme_pairs import NO_THEME
from audit.store.runs import Run
from audit.terms import display_name
from audit.themes.taxonomy import Taxonomy, Theme
from audit.vocabulary import LABELS, Label
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.pickers import pick_one
from pages._shared.tables import clicked_row, table
from pages._shared.terms import escaped, say, title_of
from pages._shared.theme_edit_form import curation_controls
from pages._shared.theme_edits import CONTROLS, Themes, curation_list, what_came_of_it
from pages._shared.themes import theme_names, themes_or_stop
from pages._shared.widgets import chart, counts, footer, go_to, link

LEAD = "One thing that {handbooks} disagree about: what the judge wrote, who says what, and the pairs behind it."
ANSWERED = tuple(label.value for label in reversed(LABELS) if label is not Label.ABSENT)
LISTED = 12
COUNTS = {"pairs": "Pairs", "disagreeing": "Disagreeing", "questions": "Questions"}
SUMMARY = (
    "**{pairs}** pairs with {topics} divergence topics, on {questions} {question_word}, between {handbooks_n} {handbook_word} of "
    "{centers_n} {center_word}. **{disagreeing}** of them disagree: {share} of all disagreement of the run "
    "(95 % interval {span})."
)
WITHIN = "Dots are shares, lines their 95 % intervals: questions and {handbooks} resampled."
TOO_FEW = "Dots are shares. They have no interval: one takes pairs of two questions and three {handbooks} at least."
PAIRS = {
    "label": "Label",
    "significance": "Significance",
    "topic": "What about",
    "question_text": "Question",
    "a": "One",
    "b": "The other",
}


def picked_theme(run: Run, found: Themes) -> str:
    """The id of the theme of the address, or of the gravest one; one that was merged leads to the other."""
    names = theme_names(found.taxonomy)
    asked = st.query_params.get("theme")
    if asked and found.find(asked) != asked:
        counts(run, "That theme was merged into this one.")
        st.query_params["theme"] = found.find(asked)
    ranked = [theme_id for theme_id in load(themes, run, taxonomy=found.taxonomy)["theme_id"] if theme_id in names]
    options = list(dict.fromkeys([*ranked, *names]))
    label = "Theme (type to search; the gravest come first)"
    return (
        pick_one(label, options, "theme", default=options[0], format_func=lambda name: display_name(names.get(name, name)))
        or options[0]
    )


def counted(run: Run, taxonomy: Taxonomy, theme_id: str) -> pd.Series:
    """The theme's row of `themes`; that of one with others below it is counted here."""
    everything = load(themes, run, taxonomy=taxonomy)
    own = everything[everything["theme_id"] == theme_id]
    has_others_below = any(theme.parent_id == theme_id for theme in taxonomy.themes)
    if own.empty or has_others_below:
        found: pd.Series = load(one_theme, run, taxonomy=taxonomy, theme_id=theme_id)
        return found
    row: pd.Series = own.iloc[0]
    return row


def summary(run: Run, taxonomy: Taxonomy, theme: Theme | None, row: pd.Series) -> None:
    """Name, terms, what it stands under and how much of the disagreement it is."""
    st.header(escaped(display_name(row["name"])), anchor=False)
    above = {each.theme_id: each.name for each in taxonomy.themes}
    words = []
    if theme is not None and theme.parent_id in above:
        words.append(say(run, "Under **{name}**", name=display_name(above[theme.parent_id])))
    if theme is not None and theme.terms:
        words.append(say(run, "Words that set it apart: {terms}", terms=", ".join(theme.terms)))
    if words:
        st.markdown("  \n".join(words))
    st.markdown(
        say(
            run, SUMMARY, pairs=f"{row['pairs']:,}", topics=f"{row['topics']:,}", disagreeing=f"{row['disagreeing']:,}",
            questions=f"{row['questions']:,}", question_word=run.term("question", row["questions"]),
            handbooks_n=row["handbooks"], handbook_word=run.term("handbook", row["handbooks"]),
            centers_n=row["centers"], center_word=run.term("center", row["centers"]),
            share=percent(row["share"]), span=interval(row["share_low"], row["share_high"]) or "unknown",
        )
    )  # fmt: skip


def themes_below(run: Run, taxonomy: Taxonomy, theme_id: str) -> None:
    """The themes that stand under this one; a click opens one."""
    children = {theme.theme_id for theme in taxonomy.themes if theme.parent_id == theme_id}
    if not children:
        return
    everything = load(themes, run, taxonomy=taxonomy)
    frame = everything[everything["theme_id"].isin(children)]
    headings = {"name": "Theme below it", **COUNTS, "burden": "Weight", "share": "Of all disagreement"}
    if (
        picked := clicked_row(
            frame.assign(name=frame["name"].map(display_name)), f"below_{theme_id}", headings, ("share",), rows=8
        )
    ) is not None:
        go_to("theme", run, theme=str(picked["theme_id"]))


def in_the_judge_s_words(run: Run, taxonomy: Taxonomy, theme_id: str) -> None:
    """Every divergence topic of the theme, its exemplars first."""
    frame = load(theme_topics, run, taxonomy=taxonomy, theme_id=theme_id)
    ordered = frame.sort_values("exemplar", ascending=False, kind="stable")
    said = ordered.assign(exemplar=ordered["exemplar"].map({True: "exemplar", False: ""}))
    table(said, f"topics_{theme_id}", {"topic": "Divergence topic", "exemplar": "", **COUNTS}, rows=8)
    if theme_id != NO_THEME:
        counts(run, "Exemplars come first: they span the theme, and new divergence topics are held against them.")
    footer(frame, "theme-topics", run, "theme_topics")


def who_says_what(run: Run, taxonomy: Taxonomy, theme_id: str) -> None:
    """Positions per question: the camps, named by the value they hold, and the centers in each."""
    frame = load(positions, run, taxonomy=taxonomy, theme_id=theme_id)
    for question_id, held in frame.groupby("question_id", sort=False):
        with st.container(border=True):
            st.markdown(say(run, "**{text}**", text=held["question_text"].iloc[0]))
            for _, camp in held.groupby("group", sort=False):
                st.markdown(say(run, "**{position}**: {who}", position=camp["position"].iloc[0], who=_members(camp)))
            link("question", "All {handbooks} on this question", run, icon=":material/grid_on:", question=str(question_id))
    counts(
        run,
        "Positions are camps: {handbooks} that agree by the judge's labels, named by what their answers say and the others "
        "seldom do; in brackets, how many {handbooks} of {a_center}. At most {n} questions, the most disputed first.",
        n=MAX_QUESTIONS,
    )
    footer(frame, "positions", run, "positions", "position_groups")


def _members(camp: pd.DataFrame) -> str:
    ordered = zip(camp["center"], camp["handbooks"], strict=True)
    return ", ".join(f"{display_name(center)} ({count})" if count > 1 else display_name(center) for center, count in ordered)


def pairs_behind(run: Run, taxonomy: Taxonomy, theme_id: str, row: pd.Series) -> None:
    """The gravest pairs; a click opens one among the disagreements, with the theme as the filter."""
    labels = [] if row["disagreeing"] else list(ANSWERED)
    told = load(theme_topics, run, taxonomy=taxonomy, theme_id=theme_id)["topic"]
    wanted = Filters(labels=ANSWERED, divergence_topics=tuple(told))
    frame = load(disagreements, run, filters=wanted, limit=LISTED)
    if frame.empty:
        counts(run, "No pair of this run belongs to it.")
        return
    names = handbook_names(load(handbook_list, run))
    readable = frame.assign(
        label=frame["label"].map(LABEL_WORDS), topic=frame["divergence_topic"], a=frame["handbook_a"].map(names),
        b=frame["handbook_b"].map(names),
    )  # fmt: skip
    picked = clicked_row(readable, f"behind_{theme_id}", PAIRS, rows=8)
    if picked is not None:
        opened = {"question": str(picked["question_id"]), "a": str(picked["handbook_a"]), "b": str(picked["handbook_b"])}
        go_to("disagreements", run, theme=theme_id, label=labels, **opened)
    counts(
        run, "{shown_n} of {n} pairs, the worst first. Click one to read both answers.", shown_n=len(frame), n=f"{row['pairs']:,}"
    )
    link(
        "disagreements", "All its pairs among the disagreements", run, icon=":material/call_split:", theme=theme_id, label=labels
    )


def mix(run: Run, taxonomy: Taxonomy, theme_id: str) -> None:
    """Labels and significance with intervals."""
    frame = load(theme_mix, run, taxonomy=taxonomy, theme_id=theme_id)
    for part, title, unit in (("label", "Label", "pairs of the theme"), ("significance", "Significance", "disagreeing pairs")):
        mine = frame[(frame["part"] == part) & ((frame["pairs"] > 0) | (frame["name"] != "unstated"))]
        named = mine.assign(name=mine["name"].map(LABEL_WORDS).fillna(mine["name"]))
        if len(mine) and mine["of"].iloc[0]:
            chart(
                rate_dots(named, "name", (Rate("share", title, "of", unit, "#c77700"),)), f"mix_{part}", f"{title} of its pairs."
            )
    counts(run, WITHIN if frame["share_low"].notna().any() else TOO_FEW)
    footer(frame, "theme-mix", run, "theme_mix")


def where(run: Run, taxonomy: Taxonomy, theme_id: str) -> None:
    """Organs, centers and handbooks involved."""
    frame = load(theme_places, run, taxonomy=taxonomy, theme_id=theme_id)
    names = handbook_names(load(handbook_list, run))
    for kind in ("organ", "center", "handbook"):
        mine = frame[frame["kind"] == kind]
        table(
            mine.assign(name=[names.get(name, display_name(name)) for name in mine["name"]]),
            f"where_{kind}",
            {"name": title_of(run, kind), **COUNTS},
            rows=6,
        )
    counts(run, "{Organ} is that of the question. A pair counts for both of its {handbooks}.")
    footer(frame, "theme-places", run, "theme_places")


with page("Theme", LEAD) as run:
    found = themes_or_stop(run)
    taxonomy = found.taxonomy
    theme_id = picked_theme(run, found)
    theme = next((each for each in taxonomy.themes if each.theme_id == theme_id), None)
    row = counted(run, taxonomy, theme_id)
    summary(run, taxonomy, theme, row)
    if theme_id in found.now.set_aside:
        st.warning("Set aside: not clinically meaningful. It is counted as before.")
    what_came_of_it(CONTROLS)
    if theme is not None or (theme_id == NO_THEME and taxonomy.no_theme):
        curation_controls(run, found, theme)
    themes_below(run, taxonomy, theme_id)
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.header("Who says what", anchor=False)
        who_says_what(run, taxonomy, theme_id)
    with right:
        st.header("How it was labelled", anchor=False)
        mix(run, taxonomy, theme_id)
    st.header("In the judge's words", anchor=False)
    in_the_judge_s_words(run, taxonomy, theme_id)
    st.header("Pairs behind it", anchor=False)
    pairs_behind(run, taxonomy, theme_id, row)
    st.header("Where", anchor=False)
    where(run, taxonomy, theme_id)
    if theme is not None:
        curation_list(run, found, theme_id)
