"""Theme: one subject of disagreement. What the judge wrote, who says what, and the pairs behind it."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from audit.charts.rates import Rate, rate_dots
from audit.charts.style import LABEL_WORDS, handbook_names, interval, percent
from audit.metrics.disagreements import Filters, disagreements
from audit.metrics.theme import MAX_QUESTIONS, theme_mix, theme_places, theme_questions, theme_topics
from audit.metrics.themes import one_theme, themes
from audit.queries.lookup import handbook_list
from audit.queries.themes import NO_THEME
from audit.release.taxonomy import Taxonomy, Theme
from audit.store.runs import Run
from audit.terms import display_name
from audit.vocabulary import PRESENT_LABELS
from pages._blinded.frame import escaped
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.pickers import choose, named_by, pick_one
from pages._shared.position_cards import position_cards, positions_on
from pages._shared.theme_edits import FORM, edit_form, edit_list, show_result
from pages._shared.themes import ThemeView, theme_names, themes_or_stop
from pages._shared.widgets import chart, counts, footer, link, linked_rows, say, table, title_of

LEAD = "One subject on which {handbooks} disagree: what the judge wrote, who says what, and the pairs behind it."
VIEWS = {"who": "Who says what", "pairs": "Pairs behind it", "words": "In the judge's words", "where": "Where"}
ANSWERED = tuple(label.value for label in reversed(PRESENT_LABELS))
MAX_LISTED = 12
FIRST_SHOWN = 1  # question with its positions, which take a screen of their own
SUMMARY = (
    "**{pairs}** pairs with {topics}, on {questions} {question_word}, between {handbooks_n} {handbook_word} of "
    "{centers_n} {center_word}. **{disagreeing}** of these pairs disagree, which is {share} of all disagreement in the run "
    "(95 % interval {span})."
)
WITH_INTERVALS = "Dots are shares; lines are 95 % intervals for other {questions} and other {handbooks}."
WITHOUT_INTERVALS = (
    "Dots are shares. An interval needs pairs on at least two {questions} and four {handbooks}, so there is none here."
)


def picked_theme(run: Run, view: ThemeView) -> str:
    """The id of the theme in the address, else of the most serious one; a merged theme leads to the one it is now part of."""
    names = theme_names(view.taxonomy)
    requested = st.query_params.get("theme")
    if requested and view.current_id(requested) != requested:
        counts(run, "The theme you asked for was merged into this one.")
        st.query_params["theme"] = view.current_id(requested)
    ranked = [theme_id for theme_id in load(themes, run, taxonomy=view.taxonomy)["theme_id"] if theme_id in names]
    options = list(dict.fromkeys([*ranked, *names]))
    label = "Theme (type to search; the most serious come first)"
    return (
        pick_one(label, options, "theme", default=options[0], format_func=lambda name: display_name(names.get(name, name)))
        or options[0]
    )


def theme_counts(run: Run, taxonomy: Taxonomy, theme_id: str) -> pd.Series:
    """The theme's row of the metric `themes`; a theme with subthemes is counted together with them."""
    all_themes = load(themes, run, taxonomy=taxonomy)
    own = all_themes[all_themes["theme_id"] == theme_id]
    has_subthemes = any(theme.parent_id == theme_id for theme in taxonomy.themes)
    row: pd.Series = load(one_theme, run, taxonomy=taxonomy, theme_id=theme_id) if own.empty or has_subthemes else own.iloc[0]
    return row


def summary(run: Run, taxonomy: Taxonomy, theme: Theme | None, row: pd.Series) -> None:
    """Name, parent, distinctive words, and the theme's share of the disagreement."""
    st.header(escaped(display_name(row["name"])), anchor=False)
    names = {parent.theme_id: parent.name for parent in taxonomy.themes}
    lines = []
    if theme is not None and theme.parent_id in names:
        lines.append(say(run, "Part of **{name}**", name=display_name(names[theme.parent_id])))
    if theme is not None and theme.terms:
        lines.append(say(run, "Distinctive words: {terms}", terms=", ".join(theme.terms)))
    if lines:
        st.markdown("  \n".join(lines))
    st.markdown(
        say(
            run, SUMMARY, pairs=f"{row['pairs']:,}", disagreeing=f"{row['disagreeing']:,}",
            topics="1 phrase of the judge" if row["topics"] == 1 else f"{row['topics']:,} phrases of the judge",
            questions=f"{row['questions']:,}", question_word=run.term("question", row["questions"]),
            handbooks_n=row["handbooks"], handbook_word=run.term("handbook", row["handbooks"]),
            centers_n=row["centers"], center_word=run.term("center", row["centers"]),
            share=percent(row["share"]), span=interval(row["share_low"], row["share_high"]) or "unknown",
        )
    )  # fmt: skip


def subthemes(run: Run, taxonomy: Taxonomy, theme_id: str) -> None:
    """The themes within this one; a click opens one."""
    children = {theme.theme_id for theme in taxonomy.themes if theme.parent_id == theme_id}
    if not children:
        return
    all_themes = load(themes, run, taxonomy=taxonomy)
    frame = all_themes[all_themes["theme_id"].isin(children)]
    columns = themes.table.pick(run, "name", "pairs", "disagreeing", "questions", "burden", "share")
    linked_rows(run, frame, f"below_{theme_id}", columns, "theme", lambda row: {"theme": str(row["theme_id"])}, rows=8)


def divergence_topics(run: Run, taxonomy: Taxonomy, theme_id: str) -> None:
    """Every divergence topic of the theme, its exemplars first."""
    frame = load(theme_topics, run, taxonomy=taxonomy, theme_id=theme_id)
    ordered = frame.sort_values("exemplar", ascending=False, kind="stable")
    table(ordered, f"topics_{theme_id}", theme_topics.table.pick(run), rows=8)
    if theme_id == NO_THEME:
        counts(run, "Phrases with disagreements of high {significance} come first.")
    else:
        counts(run, "Exemplars come first: they represent the theme, and new divergence topics are compared with them.")
    footer(frame, "theme-topics", run, "theme_topics")


def who_says_what(run: Run, taxonomy: Taxonomy, theme_id: str) -> None:
    """The most disputed questions of the theme, each with its positions: a quoted sentence and who holds it."""
    frame = load(theme_questions, run, taxonomy=taxonomy, theme_id=theme_id)
    names = handbook_names(load(handbook_list, run))
    hidden = len(frame) - FIRST_SHOWN
    every = hidden > 0 and st.toggle(
        say(run, "Show {n} more {asked}", n=hidden, asked=run.term("question", hidden)), key=f"every_{theme_id}"
    )
    for question in (frame if every else frame.head(FIRST_SHOWN)).itertuples():
        with st.container(border=True):
            st.markdown(say(run, "**{text}**", text=question.question_text))
            position_cards(run, positions_on(run, str(question.question_id)), names)
            link(
                "question", "See all {handbooks} on this question", run, icon=":material/grid_on:",
                question=str(question.question_id),
            )  # fmt: skip
    if len(frame) > 1:
        counts(run, "The most disputed first, at most {n}.", n=MAX_QUESTIONS)
    footer(frame, "theme-questions", run, "theme_questions", "question_positions")


def shown_labels(row: pd.Series) -> list[str]:
    """Labels for Disagreements, which shows only disagreeing pairs by default: an empty list for a theme without any."""
    return [] if row["disagreeing"] else list(ANSWERED)


def who_and_how(run: Run, taxonomy: Taxonomy, theme_id: str) -> None:
    """The positions on its questions, and how its pairs were labelled."""
    left, right = st.columns([3, 2], gap="large")
    with left:
        who_says_what(run, taxonomy, theme_id)
    with right:
        st.header("How its pairs were labelled", anchor=False)
        mix(run, taxonomy, theme_id)


def pairs_behind(run: Run, taxonomy: Taxonomy, theme_id: str, row: pd.Series) -> None:
    """The most serious pairs; a click opens one on the page Disagreements, filtered by the theme."""
    topics = load(theme_topics, run, taxonomy=taxonomy, theme_id=theme_id)["topic"]
    filters = Filters(labels=ANSWERED, divergence_topics=tuple(topics))
    frame = load(disagreements, run, filters=filters, limit=MAX_LISTED)
    if frame.empty:
        counts(run, "No pair of this run belongs to this theme.")
        return
    names = handbook_names(load(handbook_list, run))
    with_names = frame.assign(a=frame["handbook_a"].map(names), b=frame["handbook_b"].map(names))
    columns = disagreements.table.pick(
        run, "label", "significance", "divergence_topic", "question_text", "handbook_a", "handbook_b"
    )
    shown_columns = (*columns[:4], replace(columns[4], name="a"), replace(columns[5], name="b"))
    here = {"theme": theme_id, "label": shown_labels(row)}
    linked_rows(
        run, with_names, f"behind_{theme_id}", shown_columns, "disagreements",
        lambda row: {**here, "question": row["question_id"], "a": row["handbook_a"], "b": row["handbook_b"]}, rows=8,
    )  # fmt: skip
    counts(
        run, "{shown_n} of {n} pairs, the most serious first. Click one to read both answers.", shown_n=len(frame),
        n=f"{row['pairs']:,}",
    )  # fmt: skip


def mix(run: Run, taxonomy: Taxonomy, theme_id: str) -> None:
    """Labels and significance with intervals."""
    frame = load(theme_mix, run, taxonomy=taxonomy, theme_id=theme_id)
    for part, title, unit in (("label", "Label", "pairs of the theme"), ("significance", "Significance", "disagreeing pairs")):
        rows = frame[(frame["part"] == part) & ((frame["pairs"] > 0) | (frame["name"] != "unstated"))]
        named = rows.assign(name=rows["name"].map(LABEL_WORDS).fillna(rows["name"]))
        if len(rows) and rows["of"].iloc[0] and set(rows.loc[rows["pairs"] > 0, "name"]) != {"unstated"}:
            figure = rate_dots(named, "name", (Rate("share", title, "of", unit, "#c77700"),))
            chart(figure, f"mix_{part}", f"{title} of the theme's pairs.", letters=30)  # in a narrow column
    counts(run, WITH_INTERVALS if frame["share_low"].notna().any() else WITHOUT_INTERVALS)
    footer(frame, "theme-mix", run, "theme_mix")


def where(run: Run, taxonomy: Taxonomy, theme_id: str) -> None:
    """Organs, centers and handbooks involved."""
    frame = load(theme_places, run, taxonomy=taxonomy, theme_id=theme_id)
    names = handbook_names(load(handbook_list, run))
    for kind in ("organ", "center", "handbook"):
        rows = frame[frame["kind"] == kind]
        name, *counted = theme_places.table.pick(run, "name", "pairs", "disagreeing", "questions")
        with_names = rows.assign(name=[names.get(name, display_name(name)) for name in rows["name"]])
        table(with_names, f"where_{kind}", (replace(name, heading=title_of(run, kind)), *counted), rows=6)
    counts(run, "The {organ} is that of the question. A pair counts for both of its {handbooks}.")
    footer(frame, "theme-places", run, "theme_places")


with page("Theme", LEAD) as run:
    view = themes_or_stop(run)
    taxonomy = view.taxonomy
    theme_id = picked_theme(run, view)
    theme = next((theme for theme in taxonomy.themes if theme.theme_id == theme_id), None)
    row = theme_counts(run, taxonomy, theme_id)
    summary(run, taxonomy, theme, row)
    if theme_id in view.curated.set_aside:
        st.warning("Set aside as not meaningful in practice. It is still counted.")
    show_result(FORM)
    if theme is not None or (theme_id == NO_THEME and taxonomy.no_theme):
        edit_form(run, view, theme)
    subthemes(run, taxonomy, theme_id)
    labels = shown_labels(row)
    link("disagreements", "See all its pairs on Disagreements", run, icon=":material/call_split:", theme=theme_id, label=labels)
    shown = choose("Show", tuple(VIEWS), "view", named_by(VIEWS), show_label=False)
    if shown == "pairs":
        pairs_behind(run, taxonomy, theme_id, row)
    else:
        {"who": who_and_how, "words": divergence_topics, "where": where}[shown](run, taxonomy, theme_id)
    if theme is not None:
        edit_list(run, view, theme_id)
