"""Sources: which sources systems ask, how much of the evidence each gives, and how one question came to its evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd
import streamlit as st
from markupsafe import Markup

from audit.charts.dark_mode import DARK_COLOURS, light_dark
from audit.charts.routing import dominance_dots, route_picture, source_colours
from audit.charts.style import BLACK, GENERAL_COLOUR, handbook_names, ink_on
from audit.exports.sections.routing import CHOICE, CHOICE_BY_KIND, DIFFERENCES, SHARES, SHARES_BY_KIND, budgets_by_kind
from audit.formatting import fixed, shortened
from audit.queries.lookup import handbook_list
from audit.queries.routes import RoutedPassage, RoutedQuestionView, RoutedView, routed_question, stored_sources
from audit.queries.routing_trace import (
    LinkingTerm,
    TracedStatement,
    linking_terms,
    routed_question_list,
    routing_notes,
    statements_of,
)
from audit.queries.system_answers import ANSWERED, NOT_ASKED, SystemAnswerView, system_question
from audit.store.runs import Run
from audit.terms import fill
from pages._blinded.frame import is_phone
from pages._blinded.templates import rendered
from pages._shared import sections
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.pickers import choose, named_by, pick_one
from pages._shared.side_by_side import CSS as PAIR_CSS
from pages._shared.source_links import source_address
from pages._shared.system_answers import answer_head
from pages._shared.widgets import chart, counts, link, say, table, title_of

LEAD = "Several sources can answer {a_question}. Which of them are asked, and how much of the evidence comes from each?"
NO_ROUTES = (
    "In this run no system chose between sources, so there is nothing to show here (not measured, which is not the same as "
    "zero). A release has it in sources.jsonl and routes.jsonl, next to systems.jsonl."
)
VIEWS = {
    "all": "Choice of sources", "shares": "Shares of the evidence", "details": "By kind of {question}",
    "differences": "Differences", "one": "One {question}",
}  # fmt: skip
READ_DRAWING = (
    "From left to right: the sources, best first, with their authority; how many of the passages that were probed are taken; the "
    "evidence that is kept, numbered from the best; and the terms that link it, those of the {question} in bold."
)
ROUTE_COLUMNS = {"source": "Source", "facts": "About it", "budget": "Passages taken", "probed": "Of", "share": "Of all taken"}
MORE_SOURCES = "{n} further sources gave no evidence and are not drawn."


def pick_organ(run: Run, questions: pd.DataFrame) -> str | None:
    """The organ whose questions are counted, where there are several; None: all."""
    organs = sorted(questions["organ"].dropna().unique())
    needed = len(organs) > 1 or "organ" in st.query_params
    return pick_one(title_of(run, "organ"), organs, "organ") if needed else None


def differences(run: Run, organ: str | None) -> None:
    """Paired differences to the first system, on the same questions."""
    frame = load(DIFFERENCES.metric, run, organ=organ)
    if frame.empty:
        counts(run, "Fewer than two systems chose between sources for the same {questions}, so there is nothing to compare.")
    else:
        against = frame["against"].iloc[0]
        st.header(say(run, "Each compared with {against}, on the same {questions}", against=against), anchor=False)
        sections.body(run, DIFFERENCES, frame)


def dominance(run: Run, organ: str | None, sources: list[str]) -> None:
    """Each source's share of the evidence next to its share of all text."""
    sections.heading(run, SHARES)
    frame = load(SHARES.metric, run, organ=organ)
    alt = "The share of the evidence that is from each source, per system with 95 % intervals, over its share of all text."
    chart(dominance_dots(frame, sources), "dominance", alt)
    words = " The release has no texts, so that shares of text are not known." if frame["text"].isna().all() else ""
    counts(
        run,
        "Where a dot is to the right of the grey bar, the source's share of evidence is the larger one: it is dense or preferred."
        + words,
    )
    ordered = frame.sort_values("source_id", key=lambda names: names.map(sources.index), kind="stable", ignore_index=True)
    sections.listing(run, SHARES, ordered)


def by_kind(run: Run, organ: str | None, sources: list[str]) -> None:
    """Budgets and coverage by how many sources a question needs."""
    sections.heading(run, SHARES_BY_KIND)
    frame = load(SHARES_BY_KIND.metric, run, by="kind", organ=organ)
    if frame["budget"].notna().any():
        alt = "How each system divides its budget between sources, by how many sources the questions need."
        chart(budgets_by_kind(run, frame, sources), "budgets", alt)
    else:
        counts(run, "The release does not say how many passages each system takes from each source.")
    sections.listing(run, SHARES_BY_KIND, frame)
    sections.show(run, CHOICE_BY_KIND, by="kind", organ=organ)


def all_questions(run: Run, questions: pd.DataFrame, view: str) -> None:
    """The views over all questions: measures, dominance, kinds of questions, and differences between systems."""
    organ = pick_organ(run, questions)
    sources = [source.source_id for source in load(stored_sources, run)]
    matching = questions if organ is None else questions[questions["organ"] == organ]
    counts(run, "{Questions} that were routed: {n}. Sources: {sources}.", n=f"{len(matching):,}", sources=len(sources))
    if view == "all":
        sections.show(run, CHOICE, organ=organ)
    elif view == "shares":
        dominance(run, organ, sources)
    elif view == "details":
        by_kind(run, organ, sources)
    else:
        differences(run, organ)


def one_question(run: Run, questions: pd.DataFrame) -> None:
    """One question's way through probe, budgets, graph and packing."""
    texts = dict(zip(questions["question_id"], questions["text"], strict=True))
    label = fill(run, "{Question} (type to search; those that need several sources come first)")
    question_id = pick_one(label, list(texts), "question", default=next(iter(texts)), format_func=named_by(texts)) or next(
        iter(texts)
    )
    question = load(routed_question, run, question_id=question_id)
    views = {view.system_id: view for view in question.systems}
    names = {view.system_id: view.name for view in question.systems}
    view = views[choose("System", list(views), "system", named_by(names))]
    needed = "It needs: {required}." if question.required_sources else "The sources that it needs are not stated."
    counts(run, "{needed}", needed=needed.format(required=", ".join(question.required_sources)))
    way(run, question_id, question, view)
    st.header("The answer", anchor=False)
    answers = load(system_question, run, question_id=question_id).answers
    own = next((answer for answer in answers if answer.system_id == view.system_id), None)
    st.html(sourced_answer_html(own, statements_of(view), handbook_names(load(handbook_list, run))))
    link("system_answers", "Compare it with other systems' answers", run, icon=":material/compare:", question=question_id)


def way(run: Run, question_id: str, question: RoutedQuestionView, view: RoutedView) -> None:
    """The drawing, its notes and the passages."""
    books = handbook_names(load(handbook_list, run))
    colours = source_colours([source.source_id for source in load(stored_sources, run)])
    routes, terms = routes_frame(view, question), linking_terms(view)
    shown = drawn_sources(routes, view)
    if routes.empty and not view.evidence:
        counts(run, "This system found no passage for this {question} in any source.")
        return
    alt = f"{len(shown)} sources, the {len(view.evidence)} passages kept from them, and the terms that link the passages."
    if is_phone():  # the passages and their terms are below
        table(shown.astype({"budget": "Int64", "probed": "Int64"}), "route", ROUTE_COLUMNS, shares=("share",))
    else:
        chart(route_picture(shown, passages_frame(view, books), terms_frame(terms), colours), "route", alt)
    sentences = [READ_DRAWING] * (not is_phone()) + [MORE_SOURCES] * (len(shown) < len(routes))
    counts(run, " ".join(sentences), n=len(routes) - len(shown))
    for note in routing_notes(view):
        counts(run, "{note}", note=note)
    st.header("The evidence", anchor=False)
    st.html(evidence_html(run, question_id, view, terms, books, colours))


# -- One question's way to its sources -----------------------------------------------------------------------


CSS = Path(__file__).with_name("routed_question.css")
MAX_DRAWN_SOURCES, MAX_DRAWN_TERMS = 12, 12
NO_SOURCE = "of no source"
NO_ANSWER_HERE = (
    "The release has no answer of this system to this question: its evidence was gathered, and nothing was written from it."
)


def routes_frame(view: RoutedView, question: RoutedQuestionView) -> pd.DataFrame:
    """The sources as `route_picture` draws them, best first: those that gave evidence or got a budget, then others."""
    counted = [
        {"source": one.source_id, "facts": _source_facts(one.source_id, one.authority, question), "probed": one.probed,
         "budget": one.budget, "share": one.share}
        for one in view.routes
    ]  # fmt: skip
    routed = {one["source"] for one in counted}
    # A merged search has evidence of sources that it never ranked
    extra = dict.fromkeys(one.source_id for one in view.evidence if one.source_id and one.source_id not in routed)
    counted += [{"source": name, "facts": _source_facts(name, None, question)} for name in extra]
    frame = pd.DataFrame(counted, columns=["source", "facts", "probed", "budget", "share"])
    frame = frame.astype({"probed": float, "budget": float, "share": float})
    total = frame["budget"].sum()
    return frame.assign(share=frame["budget"] / total if total else frame["share"])


def drawn_sources(routes: pd.DataFrame, view: RoutedView) -> pd.DataFrame:
    """The sources that are drawn where there are many: those with evidence, then the best ranked."""
    with_evidence = routes["source"].isin([one.source_id for one in view.evidence])
    drawn = [*routes.index[with_evidence], *routes.index[~with_evidence]][:MAX_DRAWN_SOURCES]
    return routes.loc[sorted(drawn)]


def _source_facts(source_id: str, authority: float | None, question: RoutedQuestionView) -> str:
    facts = [f"authority {fixed(authority, 2)}"] if authority is not None else []
    if source_id == question.primary_source:
        facts.append("primary")
    elif source_id in question.required_sources:
        facts.append("required")
    return ", ".join(facts)


def passages_frame(view: RoutedView, names: Mapping[str, str]) -> pd.DataFrame:
    """The evidence as `route_picture` draws it, best first."""
    rows = [
        {"rank": one.rank, "source": one.source_id, "bridged": one.bridged, "title": _title(one, names)} for one in view.evidence
    ]
    return pd.DataFrame(rows, columns=["rank", "source", "bridged", "title"]).astype({"bridged": bool, "source": object})


def terms_frame(terms: tuple[LinkingTerm, ...]) -> pd.DataFrame:
    """The terms as `route_picture` draws them: those that link at least two passages, or that the search started from."""
    drawn = [term for term in terms if len(term.ranks) > 1 or term.is_seed][:MAX_DRAWN_TERMS]
    rows = [{"name": term.name, "is_seed": term.is_seed, "ranks": term.ranks} for term in drawn]
    return pd.DataFrame(rows, columns=["name", "is_seed", "ranks"])


def _title(passage: RoutedPassage, names: Mapping[str, str]) -> str:
    book = names.get(passage.handbook_id, passage.handbook_id)
    return " · ".join(filter(None, (book, passage.heading or passage.section_id)))


def evidence_html(
    run: Run,
    question_id: str | None,
    view: RoutedView,
    terms: tuple[LinkingTerm, ...],
    names: Mapping[str, str],
    colours: Mapping[str, str],
) -> Markup:
    """Each passage under its number, best first, with its text on demand.

    question_id  of the run; None for a question that the run does not have
    """

    def title(passage: RoutedPassage) -> str:
        how = "bridged" if passage.bridged else ""
        return " · ".join(filter(None, (passage.source_id or NO_SOURCE, _title(passage, names), how)))

    def style(passage: RoutedPassage) -> str:
        fill = colours.get(passage.source_id or "", GENERAL_COLOUR)
        ink = f"light-dark({ink_on(fill, BLACK)}, {ink_on(DARK_COLOURS.get(fill, fill), BLACK)})"
        return f"background:{light_dark(fill)};color:{ink}"

    def section_address(passage: RoutedPassage) -> str:
        if not (passage.section_id and run.has_handbooks):
            return ""
        return source_address(run, passage.handbook_id, passage.section_id, passage.start, passage.end, None, question_id)

    return rendered(
        "_shared/evidence.html", passages=view.evidence, terms=terms, title=title, style=style, section_address=section_address,
        scores=_scores,
    )  # fmt: skip


def _scores(passage: RoutedPassage) -> Iterator[str]:
    for name, value in (("search", passage.base), ("support", passage.support), ("together", passage.final)):
        if value is not None:
            yield f"{name} {fixed(value, 2)}"


def sourced_answer_html(
    answer: SystemAnswerView | None, statements: tuple[TracedStatement, ...], names: Mapping[str, str]
) -> Markup:
    """What the system wrote from this evidence, by statements where these are known; else why there is nothing."""
    if answer is None or answer.state == NOT_ASKED:
        return Markup('<div class="faint">{}</div>').format(NO_ANSWER_HERE)
    return rendered(
        "_shared/sourced_answer.html", head=answer_head(answer)._replace(about=""), text=shortened(answer.text or ""),
        statements=statements if answer.state == ANSWERED else (), names=names,
    )  # fmt: skip


with page("Sources", LEAD, without_pairs=LEAD) as run:
    if not run.has_routes:
        st.info(say(run, NO_ROUTES))
        st.stop()
    st.html(PAIR_CSS)
    st.html(CSS)
    questions = load(routed_question_list, run)
    view = choose("Show", tuple(VIEWS), "view", lambda name: fill(run, VIEWS[name]), show_label=False)
    if view == "one":
        one_question(run, questions)
    else:
        all_questions(run, questions, view)
