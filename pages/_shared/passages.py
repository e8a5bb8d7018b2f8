"""What stands behind an answer, as safe HTML: its cited parts, its passages inside their sections, the search by layers.

Every character of a release is escaped before a tag goes round it.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path

from audit.queries.answer_view import Answer, AnswerSection, LayerResult, ShownPassage, passages_by_section
from audit.store.runs import Run
from pages._shared.side_by_side import HOW, SILENT, shortened
from pages._shared.terms import fill, terms

CSS = Path(__file__).with_name("passages.css")
MODES = {
    "passages": "The generator was given the best passages of the {handbook}.",
    "full_document": "The {handbook} is short, and the generator was given all of it.",
    "full_document_fallback": "The passages found were not enough, so the generator was given the whole {handbook}.",
}
ORIGINS = {
    "hit": "found by the search", "parent": "the section around what was found", "neighbour": "beside what was found",
    "document": "from the whole {handbook}",
}  # fmt: skip
LAYERS = {
    "dense": "Search by meaning (dense)", "bm25": "Search by words (BM25)", "bm25_chunks": "Search by words (BM25)",
    "bm25_bodies": "Search by words of whole sections (BM25)", "bm25_headings": "Search by words of headings (BM25)",
    "fused": "All searches fused", "reranked": "Ranked anew", "expanded": "Expanded to whole sections",
}  # fmt: skip
RETRIEVERS = {
    "dense": "by meaning", "bm25_chunks": "by words", "bm25_bodies": "by words of whole sections",
    "bm25_headings": "by words of headings",
}  # fmt: skip
NO_TEXTS = {
    "none": "This release does not bring the texts of its {handbooks} (sections.jsonl), so passages cannot be shown in them.",
    "others": "This release brings texts, but not that of this {handbook}.",
}
AROUND = 280
"""Characters of a section that are shown before its first and after its last passage."""
BETWEEN = 600


def said_html(run: Run, found: Answer, name: str, key: str) -> str:
    """The handbook, its answer with the cited parts marked, and what is wrong with its citations. `key` tells answers apart."""
    side = found.side
    words = SILENT.get(side.state, "").format(how=HOW.get(side.absence_method or "", ""), why=side.unread_reason)
    silent = f'<div class="silent">{escape(words)}</div>' if words else ""
    said = f'<div class="said">{"".join(_marked(found, key))}</div>' if side.answer else ""
    head = f'<div class="name">{escape(name)}</div><div class="faint">{escape(side.title or side.handbook_id)}</div>'
    return f'<div class="behind">{head}{silent}{said}{_citations_html(run, found)}</div>'


def _marked(found: Answer, key: str) -> Iterator[str]:
    """The answer's text, its cited parts in `<mark>` with the numbers of their passages before them."""
    text = found.side.answer or ""
    done = 0
    for rest in found.supported:
        yield escape(text[done : rest.start])
        numbers = "".join(_number(number, key, known=number not in rest.unknown) for number in rest.numbers)
        lost = ' class="unknown"' if set(rest.numbers) == set(rest.unknown) else ""
        yield f"{numbers}<mark{lost}>{escape(text[rest.start : rest.end])}</mark>"
        done = rest.end
    yield escape(shortened(text[done:]))


def _number(number: int, key: str, *, known: bool) -> str:
    if not known:
        return f'<span class="number unknown" title="this passage was not given">{number}</span>'
    return f'<a class="number" href="#{key}-{number}" target="_self" title="go to passage {number}">{number}</a>'


def _citations_html(run: Run, found: Answer) -> str:
    if found.unknown:
        listed = ", ".join(map(str, found.unknown))
        return f'<div class="warn">It cites what it was not given: passage {escape(listed)}.</div>'
    if found.side.state == "present" and found.passages and not found.cites:
        return f'<div class="faint">{escape(fill(run, "The answer cites none of its passages."))}</div>'
    return ""


def found_html(run: Run, found: Answer) -> str:
    """How the answer was found, in sentences."""
    if found.side.state in ("not asked", "unknown"):
        return ""
    if not found.recorded:
        return '<div class="behind"><div class="faint">The release has no record of how this answer was found.</div></div>'
    mode = found.side.mode or ""
    told = [MODES.get(mode, f"Retrieval mode: {mode.replace('_', ' ')}." if mode else "The mode of retrieval is not told.")]
    told = [told[0].format(**terms(run)) if mode in MODES else told[0]]
    told += [f"Why: {found.reason}."] if found.reason else []
    told += [f"Strategy: {found.strategy}."] if found.strategy else []
    told += [f"Searched for: {'; '.join(found.queries).rstrip('.?!')}."] if found.queries else []
    told += [f"{found.seconds:.3f} s of CPU."] if found.seconds is not None else []
    return f'<div class="behind"><div class="faint">{escape(" ".join(told))}</div></div>'


def passages_html(run: Run, found: Answer, key: str) -> str:
    """Every passage inside its section; or what is known where there is none."""
    sections = "".join(_section_html(run, section, name, mine, key) for section, name, mine in passages_by_section(found))
    missing = NO_TEXTS.get(found.texts, "").format(**terms(run)) if found.side.state not in ("not asked", "unknown") else ""
    notice = f'<div class="silent">{escape(missing)}</div>' if missing else ""
    return f'<div class="behind">{notice}{sections or _titles_html(found)}</div>'


def _titles_html(found: Answer) -> str:
    titles = "".join(f"<li>{escape(title)}</li>" for title in found.side.sections)
    listed = f'<div class="faint">Sections it names</div><ul>{titles}</ul>' if titles else ""
    return listed + (_link(found.side.url) if found.side.url else "")


def _section_html(run: Run, section: AnswerSection | None, name: str, passages: list[ShownPassage], key: str) -> str:
    about = "".join(_passage_html(run, passage, key) for passage in passages)
    if section is None:
        lost = f'<div class="silent">Section {escape(name or "without an id")}: its text is not in the release.</div>'
        return f'<div class="section">{lost}{about}</div>'
    pages = _pages(section)
    source = f" · {_link(section.url)}" if section.url else ""
    place = f'<span class="faint">{escape(pages)}{source}</span>' if pages or source else ""
    text = f'<div class="text">{"".join(_text(section, passages))}</div>'
    return f'<div class="section"><span class="title">{escape(section.title)}</span> {place}{about}{text}</div>'


def _pages(section: AnswerSection) -> str:
    first, last = (section.pages[0], section.pages[-1]) if section.pages else (0, 0)
    return "" if not first else f"page {first}" if first == last else f"pages {first} to {last}"


def _passage_html(run: Run, passage: ShownPassage, key: str) -> str:
    told = [ORIGINS.get(passage.origin or "", passage.origin or "").format(**terms(run))] if passage.origin else []
    told += [f"score {passage.score:.3g}"] if passage.score is not None else []
    told += [_by(name, *each) for name, each in passage.retrievers.items()]
    told += ["its place is not in the text"] if passage.section is not None and passage.start is None else []
    number = f'<span class="number" id="{key}-{passage.number}">{passage.number}</span>'
    return f'<div class="faint">{number}{escape(", ".join(told))}</div>'


def _by(name: str, rank: int | None, score: float | None) -> str:
    place = f" at place {rank}" if rank is not None else ""
    return f"{RETRIEVERS.get(name, name)}{place}" + (f" ({score:.3g})" if score is not None else "")


def _text(section: AnswerSection, passages: list[ShownPassage]) -> Iterator[str]:
    """The section's text with its passages marked; what is far from any of them is left out, and said so by dots."""
    places = sorted((p.start, p.end) for p in passages if p.start is not None and p.end is not None)
    done = 0
    for start, end in places:
        begin = max(start, done)
        if end <= begin:
            continue
        yield _around(section.text[done:begin], first=not done)
        yield f"<mark>{escape(section.text[begin:end])}</mark>"
        done = end
    rest = section.text[done:]
    cut = rest[:AROUND] + " ..." if places and len(rest) > AROUND else shortened(rest)
    yield f'<span class="around">{escape(cut)}</span>'


def _around(text: str, *, first: bool) -> str:
    most = AROUND if first else BETWEEN
    shown = text if len(text) <= most else f"... {text[-AROUND:]}"
    return f'<span class="around">{escape(shown)}</span>'


def _link(url: str) -> str:
    if not url.lower().startswith(("http://", "https://")):
        return escape(url)
    return f'<a href="{escape(url)}" target="_blank" rel="noopener noreferrer">source</a>'


def layers_html(found: Answer) -> str:
    """The search layer by layer; "" where the release does not tell."""
    return f'<div class="behind">{"".join(map(_layer_html, found.layers))}</div>' if found.layers else ""


def _layer_html(layer: LayerResult) -> str:
    name = LAYERS.get(layer.name, layer.name.replace("_", " ") or "a layer without a name")
    head = f'<div class="layer">{escape(name)}</div>'
    if layer.skipped:
        return f'{head}<div class="faint">Skipped: {escape(layer.skipped)}.</div>'
    rows = "".join(
        f'<tr><td class="n">{place}</td><td>{escape(title or section_id)}</td>'
        f'<td class="n">{"" if score is None else f"{score:.3g}"}</td></tr>'
        for place, (section_id, title, score) in enumerate(layer.top, 1)
    )
    kept = f'<div class="faint">{layer.kept:,} kept, the best {len(layer.top)} shown.</div>' if layer.kept is not None else ""
    titles = '<tr><th class="n">Rank</th><th>Section</th><th class="n">Score</th></tr>'
    return f"{head}{kept}<table>{titles}{rows}</table>" if layer.top else f'{head}{kept}<div class="faint">Nothing found.</div>'
