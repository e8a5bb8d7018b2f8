"""One question's way to its sources: frames for the drawing, the passages as HTML, and the answer that was given from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd
from markupsafe import Markup

from audit.charts.dark_mode import DARK_COLOURS, light_dark
from audit.charts.style import BLACK, GENERAL_COLOUR, ink_on
from audit.formatting import fixed
from audit.queries.routes import RoutedPassage, RoutedQuestionView, RoutedView
from audit.queries.routing_trace import LinkingTerm, TracedStatement
from audit.queries.system_answers import ANSWERED, NOT_ASKED, SystemAnswerView
from audit.store.runs import Run
from pages._blinded.templates import rendered, shortened
from pages._shared.source_links import source_address
from pages._shared.system_answers import answer_head

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
        "_shared/sourced_answer.html",
        head=answer_head(answer)._replace(about=""),
        text=shortened(answer.text or ""),
        statements=statements if answer.state == ANSWERED else (),
        names=names,
    )
