"""Where an answer comes from, as safe HTML: its cited parts, its passages in their sections, the search by layers.

Every character of a release is escaped before a tag is put around it.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path

from audit.queries.answer_view import Answer, AnswerSection, LayerResult, ShownPassage, passages_by_section
from audit.store.runs import Run
from audit.terms import fill, terms
from pages._shared.side_by_side import shortened, side_head_html
from pages._shared.source_links import public_link_html

CSS = Path(__file__).with_name("passages.css")
MODES = {
    "passages": "The generator was given the best passages of the {handbook}.",
    "full_document": "The {handbook} is short, so the generator was given its full text.",
    "full_document_fallback": "The passages found were not enough, so the generator was given the full text of the {handbook}.",
}
ORIGINS = {
    "hit": "found by the search", "parent": "section around a search result", "neighbour": "next to a search result",
    "document": "from the full text of the {handbook}",
}  # fmt: skip
LAYERS = {
    "dense": "Search by meaning (dense)", "bm25": "Search by words (BM25)", "bm25_chunks": "Search by words (BM25)",
    "bm25_bodies": "Search by words in full sections (BM25)", "bm25_headings": "Search by words in headings (BM25)",
    "fused": "All searches combined", "reranked": "Reranked", "expanded": "Expanded to full sections",
    "mmr": "Chosen to differ from each other",
}  # fmt: skip
RETRIEVERS = {
    "dense": "by meaning", "bm25": "by words", "bm25_chunks": "by words", "bm25_bodies": "by words in full sections",
    "bm25_headings": "by words in headings",
}  # fmt: skip
NO_TEXTS = {
    "none": "This release does not include the texts of its {handbooks} (sections.jsonl), so passages cannot be "
    "shown in context.",
    "others": "This release includes texts, but not the text of this {handbook}.",
}
MAX_AROUND = 280  # characters of a section that are shown before its first and after its last passage
MAX_BETWEEN = 600  # characters that are shown between two passages; a longer stretch is cut to its last `MAX_AROUND`


def answer_html(run: Run, details: Answer, name: str, key: str, links: str = "") -> str:
    """The handbook, its answer with the cited parts marked, links to the pages cited, and what is wrong with its citations.

    `key` keeps the anchors of two answers on one page apart.
    """
    answer = f'<div class="answer-text">{"".join(_cited_fragments(details, key))}</div>' if details.side.answer else ""
    return f'<div class="behind">{side_head_html(details.side, name)}{answer}{links}{_citations_html(run, details)}</div>'


def _cited_fragments(details: Answer, key: str) -> Iterator[str]:
    """The answer's text; each cited part is in `<mark>`, preceded by the numbers of its passages."""
    text = details.side.answer or ""
    done = 0
    for cited in details.supported:
        yield escape(text[done : cited.start])
        numbers = "".join(_passage_number(number, key, known=number not in cited.unknown) for number in cited.numbers)
        unknown = ' class="unknown"' if set(cited.numbers) == set(cited.unknown) else ""
        yield f"{numbers}<mark{unknown}>{escape(text[cited.start : cited.end])}</mark>"
        done = cited.end
    yield escape(shortened(text[done:]))


def _passage_number(number: int, key: str, *, known: bool) -> str:
    if not known:
        return f'<span class="number unknown" title="this passage was not given">{number}</span>'
    return f'<a class="number" href="#{key}-{number}" target="_self" title="go to passage {number}">{number}</a>'


def _citations_html(run: Run, details: Answer) -> str:
    if details.unknown:
        listed = ", ".join(map(str, details.unknown))
        return f'<div class="warn">The answer cites a passage that the generator was not given: {escape(listed)}.</div>'
    if details.side.state == "present" and details.passages and not details.cites:
        return f'<div class="faint">{escape(fill(run, "The answer cites none of its passages."))}</div>'
    return ""


def retrieval_html(run: Run, details: Answer) -> str:
    """How the answer was found, in sentences."""
    if details.side.state in ("not asked", "unknown"):
        return ""
    if not details.recorded:
        return '<div class="behind"><div class="faint">The release has no record of how this answer was found.</div></div>'
    sentences = [_mode_sentence(run, details.side.mode or "")]
    sentences += [f"Reason: {details.reason}."] if details.reason else []
    sentences += [f"Strategy: {details.strategy}."] if details.strategy else []
    sentences += [f"Searched for: {'; '.join(details.queries).rstrip('.?!')}."] if details.queries else []
    sentences += [f"CPU time: {details.seconds:.3f} s."] if details.seconds is not None else []
    return f'<div class="behind"><div class="faint">{escape(" ".join(sentences))}</div></div>'


def _mode_sentence(run: Run, mode: str) -> str:
    if mode in MODES:
        return MODES[mode].format(**terms(run))
    # A mode of the release's own is untrusted text: it is never used as a template.
    return f"Retrieval mode: {mode.replace('_', ' ')}." if mode else "The release does not record the retrieval mode."


def passages_html(run: Run, details: Answer, key: str) -> str:
    """Every passage in its section; without passages, the titles and the source that the release names."""
    sections = "".join(
        _section_html(run, section, name, passages, key) for section, name, passages in passages_by_section(details)
    )
    asked = details.side.state not in ("not asked", "unknown")
    missing = NO_TEXTS.get(details.texts, "").format(**terms(run)) if asked else ""
    notice = f'<div class="no-answer">{escape(missing)}</div>' if missing else ""
    return f'<div class="behind">{notice}{sections or _titles_html(details)}</div>'


def _titles_html(details: Answer) -> str:
    titles = "".join(f"<li>{escape(title)}</li>" for title in details.side.sections)
    listed = f'<div class="faint">Sections named by the release</div><ul>{titles}</ul>' if titles else ""
    return listed + (_source_html(details.side.url) if details.side.url else "")


def _section_html(run: Run, section: AnswerSection | None, name: str, passages: list[ShownPassage], key: str) -> str:
    facts = "".join(_passage_html(run, passage, key) for passage in passages)
    if section is None:
        missing = f'<div class="no-answer">Section {escape(name or "without an id")}: its text is not in the release.</div>'
        return f'<div class="section">{missing}{facts}</div>'
    pages = _page_range(section)
    source = f" · {_source_html(section.url, section.pages[0] if section.pages else None)}" if section.url else ""
    location = f'<span class="faint">{escape(pages)}{source}</span>' if pages or source else ""
    text = f'<div class="text">{"".join(_text_fragments(section, passages))}</div>'
    return f'<div class="section"><span class="title">{escape(section.title)}</span> {location}{facts}{text}</div>'


def _page_range(section: AnswerSection) -> str:
    first, last = (section.pages[0], section.pages[-1]) if section.pages else (0, 0)
    return "" if not first else f"page {first}" if first == last else f"pages {first} to {last}"


def _passage_html(run: Run, passage: ShownPassage, key: str) -> str:
    facts = [_origin_words(run, passage.origin)] if passage.origin else []
    facts += [f"score {passage.score:.3g}"] if passage.score is not None else []
    facts += [_retriever_words(name, rank, score) for name, (rank, score) in passage.retrievers.items()]
    facts += ["position not found in the text"] if passage.section is not None and passage.start is None else []
    number = f'<span class="number" id="{key}-{passage.number}">{passage.number}</span>'
    return f'<div class="faint">{number}{escape(", ".join(facts))}</div>'


def _origin_words(run: Run, origin: str) -> str:
    return ORIGINS[origin].format(**terms(run)) if origin in ORIGINS else origin


def _retriever_words(name: str, rank: int | None, score: float | None) -> str:
    at_rank = f" at rank {rank}" if rank is not None else ""
    return f"{RETRIEVERS.get(name, name)}{at_rank}" + (f" ({score:.3g})" if score is not None else "")


def _text_fragments(section: AnswerSection, passages: list[ShownPassage]) -> Iterator[str]:
    """The section's text with its passages marked; dots stand for text that is far from any of them."""
    spans = sorted((p.start, p.end) for p in passages if p.start is not None and p.end is not None)
    done = 0
    for start, end in spans:
        begin = max(start, done)  # passages may overlap, and text is shown once
        if end <= begin:
            continue
        yield _context_html(section.text[done:begin], first=not done)
        yield f"<mark>{escape(section.text[begin:end])}</mark>"
        done = end
    rest = section.text[done:]
    cut = rest[:MAX_AROUND] + " ..." if spans and len(rest) > MAX_AROUND else shortened(rest)
    yield f'<span class="around">{escape(cut)}</span>'


def _context_html(text: str, *, first: bool) -> str:
    limit = MAX_AROUND if first else MAX_BETWEEN
    shown = text if len(text) <= limit else f"... {text[-MAX_AROUND:]}"
    return f'<span class="around">{escape(shown)}</span>'


def _source_html(url: str, page: int | None = None) -> str:
    return public_link_html(url, page) or escape(url)


def layers_html(details: Answer) -> str:
    """The search layer by layer; "" where the release does not record it."""
    return f'<div class="behind">{"".join(map(_layer_html, details.layers))}</div>' if details.layers else ""


def _layer_html(layer: LayerResult) -> str:
    name = LAYERS.get(layer.name, layer.name.replace("_", " ") or "Unnamed layer")
    head = f'<div class="layer">{escape(name)}</div>'
    if layer.skipped:
        return f'{head}<div class="faint">Skipped: {escape(layer.skipped)}.</div>'
    rows = "".join(
        f'<tr><td class="n">{rank}</td><td>{escape(title or section_id)}</td>'
        f'<td class="n">{"" if score is None else f"{score:.3g}"}</td></tr>'
        for rank, (section_id, title, score) in enumerate(layer.top, 1)
    )
    count = (
        f'<div class="faint">{layer.passed_on:,} sections kept; the best {len(layer.top)} are shown.</div>'
        if layer.passed_on is not None
        else ""
    )
    titles = '<tr><th class="n">Rank</th><th>Section</th><th class="n">Score</th></tr>'
    return f"{head}{count}<table>{titles}{rows}</table>" if layer.top else f'{head}{count}<div class="faint">Nothing found.</div>'
