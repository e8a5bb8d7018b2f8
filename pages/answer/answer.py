"""Answer: where one answer comes from, or two next to each other: passages in their sections, and the search by layers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import streamlit as st
from markupsafe import Markup, escape

from audit.charts.style import handbook_names
from audit.formatting import shortened
from audit.metrics.position_groups import position_groups
from audit.queries.answer_view import Answer, AnswerSection, ShownPassage, answer, passages_by_section
from audit.queries.citations import citations
from audit.queries.lookup import handbook_list
from audit.queries.pair_view import pair
from audit.store.runs import Run
from audit.terms import fill, terms
from pages._blinded.templates import rendered
from pages._shared.found_states import miss_sentence
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.pickers import named_by, pick_one, pick_question
from pages._shared.side_by_side import CSS as PAIR_CSS
from pages._shared.side_by_side import answer_head, pair_html, verdict_html
from pages._shared.source_links import citation_links_html, public_link_html, source_address
from pages._shared.widgets import counts, link

LEAD = "Where an answer comes from: how it was found, its passages in the {handbook}, and the results of each search step."


def pick_answers(run: Run, names: dict[str, str]) -> tuple[str, str, str | None]:
    """Question, handbook, and a second handbook or None, each kept in the address."""
    question_id = pick_question(run)
    first_column, second_column = st.columns(2)
    with first_column:
        default = first_answering(run, question_id, names)
        handbook_id = pick_one(fill(run, "{Handbook}"), list(names), "handbook", default=default, format_func=named_by(names))
    with second_column:
        others = [other for other in names if other != handbook_id]
        other_id = pick_one("Compare with", others, "other", placeholder="None", format_func=named_by(names))
    return question_id, handbook_id or default, other_id


def first_answering(run: Run, question_id: str, names: dict[str, str]) -> str:
    """The first handbook that answers the question."""
    # By default, the page does not open with an empty answer.
    table = load(position_groups, run, question_id=question_id)
    answering = set(table.loc[table["state"] == "answers", "handbook_id"])
    return next((handbook_id for handbook_id in names if handbook_id in answering), next(iter(names)))


def answer_details(run: Run, question_id: str, details: Answer, name: str, key: str) -> None:
    """One answer, how it was found and the passages behind it."""
    handbook_id = details.side.handbook_id
    cited = load(citations, run, question_id=question_id).get(handbook_id, ())
    links = citation_links_html(run, question_id, handbook_id, cited)
    st.html(answer_html(run, details, name, key, links))
    if details.layers:
        with st.expander("How the search went, step by step", key=f"search_{key}"):
            st.html(layers_html(details))
            if details.seconds is not None:
                counts(run, f"It took {details.seconds:.2f} s of computing.")
    elif details.recorded:
        counts(run, "The run does not record the steps of this search.")


def verdict(run: Run, question_id: str, handbook_id: str, other_id: str) -> None:
    """The judge's verdict on the two answers."""
    st.html(PAIR_CSS)
    judged = load(pair, run, question_id=question_id, handbook_a=handbook_id, handbook_b=other_id)
    st.html(pair_html(verdict_html(run, judged)))


# -- Where an answer comes from, as safe HTML ----------------------------------------------------------------


CSS = Path(__file__).with_name("passages.css")
MODES = {
    "passages": "The answer was written from the best passages of the {handbook}.",
    "full_document": "The {handbook} is short, so the answer was written from its full text.",
    "full_document_fallback": "Too little was found, so the answer was written from the full text of the {handbook}.",
}
ORIGINS = {
    "hit": "found by the search", "parent": "section around a search result", "neighbour": "next to a search result",
    "document": "from the full text of the {handbook}",
}  # fmt: skip
LAYERS = {
    "dense": "Search by meaning (dense)", "bm25": "Search by words (BM25)", "bm25_chunks": "Search by words (BM25)",
    "bm25_bodies": "Search by words in full sections (BM25)", "bm25_headings": "Search by words in headings (BM25)",
    "fused": "All searches combined", "reranked": "Reranked", "expanded": "Expanded to full sections",
    "mmr": "Chosen to differ from each other", "closest": "Closest passages",
}  # fmt: skip
RETRIEVERS = {
    "dense": "by meaning", "bm25": "by words", "bm25_chunks": "by words", "bm25_bodies": "by words in full sections",
    "bm25_headings": "by words in headings", "closest": "closest",
}  # fmt: skip
NO_TEXTS = {
    "none": "This run does not include the texts of its {handbooks} (sections.jsonl), so passages cannot be shown in context.",
    "others": "This run includes texts, but not the text of this {handbook}.",
}
MARK, UNKNOWN_MARK = Markup("<mark>{}</mark>"), Markup('<mark class="unknown">{}</mark>')
AROUND = Markup('<span class="around">{}</span>')
MAX_AROUND = 280  # characters of a section that are shown before its first and after its last passage
MAX_BETWEEN = 600  # characters that are shown between two passages; a longer stretch is cut to its last `MAX_AROUND`


def answer_html(run: Run, details: Answer, name: str, key: str, links: Markup) -> Markup:
    """The answer with its cited parts marked and `links` to the pages cited; how it was found; every passage in its section.

    `key` keeps the anchors of two answers on one page apart.
    """
    asked = details.side.state not in ("not asked", "unknown")
    return rendered(
        "answer/answer.html", details=details, head=answer_head(details.side, name), links=links, key=key,
        cited=Markup().join(_cited_fragments(details, key)), search=_search_words(run, details) if asked else "",
        missing=NO_TEXTS.get(details.texts, "").format(**terms(run)) if asked else "", sections=passages_by_section(details),
        page_range=_page_range, source=_source_html,
        open_page=lambda passage: _page_link(run, details, passage),
        facts=lambda passage: ", ".join(_passage_facts(run, passage)),
        marked=lambda section, passages: Markup().join(_text_fragments(section, passages)),
    )  # fmt: skip


def _cited_fragments(details: Answer, key: str) -> Iterator[str]:
    """The answer's text; each cited part is in `<mark>`, preceded by the numbers of its passages."""
    text = details.side.answer or ""
    done = 0
    for cited in details.supported:
        yield text[done : cited.start]
        yield from (_passage_number(number, key, known=number not in cited.unknown) for number in cited.numbers)
        mark = UNKNOWN_MARK if set(cited.numbers) == set(cited.unknown) else MARK
        yield mark.format(text[cited.start : cited.end])
        done = cited.end
    yield shortened(text[done:])


def _passage_number(number: int, key: str, *, known: bool) -> Markup:
    if not known:
        return Markup('<span class="number unknown" title="this passage was not given">{}</span>').format(number)
    link = Markup('<a class="number" href="#{key}-{number}" target="_self" title="go to passage {number}">{number}</a>')
    return link.format(key=key, number=number)


def _search_words(run: Run, details: Answer) -> str:
    """How the answer was found, in sentences."""
    if not details.recorded:
        return "The run has no record of how this answer was found."
    sentences = [_mode_sentence(run, details.side.mode or "")]
    sentences += [f"Reason: {details.reason}."] if details.reason else []
    sentences += [f"Strategy: {details.strategy}."] if details.strategy else []
    sentences += [f"Searched for: {'; '.join(details.queries).rstrip('.?!')}."] if details.queries else []
    return " ".join(sentences)


def _mode_sentence(run: Run, mode: str) -> str:
    if mode in MODES:
        return MODES[mode].format(**terms(run))
    # A mode of the release's own is untrusted text: it is never used as a template.
    return f"Retrieval mode: {mode.replace('_', ' ')}." if mode else "The run does not record the retrieval mode."


def _page_link(run: Run, details: Answer, passage: ShownPassage) -> Markup:
    """A link to the page of a passage that a search found, with it marked; empty for a model's passages, which it cites."""
    if details.side.found is None or passage.section is None:
        return Markup()
    page = passage.section.page_at(passage.start)
    address = source_address(run, details.side.handbook_id, passage.section_id, passage.start, passage.end, page)
    words = f"page {page}" if page else "open its page"
    return Markup(' · <a href="{}" target="_blank">{}</a>').format(address, words)


def _page_range(section: AnswerSection) -> str:
    first, last = (section.pages[0], section.pages[-1]) if section.pages else (0, 0)
    return "" if not first else f"page {first}" if first == last else f"pages {first} to {last}"


def _passage_facts(run: Run, passage: ShownPassage) -> Iterator[str]:
    if passage.origin:
        yield ORIGINS[passage.origin].format(**terms(run)) if passage.origin in ORIGINS else passage.origin
    for name, (rank, _) in passage.retrievers.items():
        yield RETRIEVERS.get(name, name) + (f" at rank {rank}" if rank is not None else "")
    if passage.section is not None and passage.start is None:
        yield "position not found in the text"


def _text_fragments(section: AnswerSection, passages: list[ShownPassage]) -> Iterator[Markup]:
    """The section's text with its passages marked; dots stand for text that is far from any of them."""
    spans = sorted((p.start, p.end) for p in passages if p.start is not None and p.end is not None)
    done = 0
    for start, end in spans:
        begin = max(start, done)  # passages may overlap, and text is shown once
        if end <= begin:
            continue
        yield _context_html(section.text[done:begin], first=not done)
        yield MARK.format(section.text[begin:end])
        done = end
    rest = section.text[done:]
    yield AROUND.format(rest[:MAX_AROUND] + " ..." if spans and len(rest) > MAX_AROUND else shortened(rest))


def _context_html(text: str, *, first: bool) -> Markup:
    limit = MAX_AROUND if first else MAX_BETWEEN
    return AROUND.format(text if len(text) <= limit else f"... {text[-MAX_AROUND:]}")


def _source_html(url: str, page: int | None = None) -> Markup:
    return public_link_html(url, page) or escape(url)


def layers_html(details: Answer) -> Markup:
    """The search layer by layer."""
    named = [(LAYERS.get(layer.name, layer.name.replace("_", " ") or "Unnamed layer"), layer) for layer in details.layers]
    return rendered("answer/layers.html", layers=named)


with page("Answer", LEAD, unlabelled=LEAD) as run:
    names = handbook_names(load(handbook_list, run))
    question_id, handbook_id, other_id = pick_answers(run, names)
    st.html(CSS)
    if other_id and run.has_pairs:
        verdict(run, question_id, handbook_id, other_id)
    with st.container(horizontal=True, vertical_alignment="center"):
        link("question", "See all {handbooks} on this question", run, icon=":material/grid_on:", question=question_id)
        if other_id and run.has_pairs:
            link(
                "disagreements", "See the differences marked", run, icon=":material/compare_arrows:",
                question=question_id, a=handbook_id, b=other_id,
            )  # fmt: skip
    handbook_ids = [handbook_id, *([other_id] if other_id else [])]
    answers = [load(answer, run, question_id=question_id, handbook_id=handbook_id) for handbook_id in handbook_ids]
    with st.container(key="behind"):
        for key, column, details in zip("ab", st.columns(len(answers), gap="medium"), answers, strict=False):
            with column:
                answer_details(run, question_id, details, names[details.side.handbook_id], key)
    if any(details.side.found for details in answers):
        counts(run, "Coloured: the passages nearest to the {question}, word for word.")
        st.caption(miss_sentence(run))
    elif any(details.passages for details in answers):
        counts(run, "Coloured: what the answer was written from. A number leads from a part of the answer to its passage.")
