"""The retrieved context: chunks with the text around them, or the full document, and whether it suffices to answer from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from audit.pipeline.retrieval.fusion import Ranking, first_row_per_section
from audit.pipeline.retrieval.index import HandbookIndex
from audit.pipeline.retrieval.merged import home_of
from audit.pipeline.retrieval.model import FULL_DOCUMENT_FALLBACK, PASSAGES, Mode, Passage, RetrieverRank
from audit.pipeline.retrieval.settings import RetrievalSettings
from audit.text.documents import Document
from audit.text.words import PIECE

# Layers that rank the hits of the first-stage retrievers.
SECOND_STAGE = ("fused", "reranked")


def passages_of(index: HandbookIndex, ranking: Ranking, rankings: Mapping[str, Ranking]) -> tuple[Passage, ...]:
    """The chunks of `ranking` as passages, each with its rank in the first-stage retrievers among `rankings`."""
    retriever_ranks = {
        name: {row: RetrieverRank(rank, score) for rank, (row, score) in enumerate(scores.items(), start=1)}
        for name, scores in rankings.items()
        if name not in SECOND_STAGE
    }
    return tuple(
        _passage(index, row, score, rank, {name: ranks[row] for name, ranks in retriever_ranks.items() if row in ranks})
        for rank, (row, score) in enumerate(ranking.items(), start=1)
    )


def _passage(index: HandbookIndex, row: int, score: float, rank: int, retrievers: Mapping[str, RetrieverRank]) -> Passage:
    chunk = index.chunks[row]
    section = index.document.sections[chunk.section]
    text = section.text[chunk.start : chunk.end]
    return Passage(section.section_id, chunk.start, chunk.end, text, float(score), rank, "hit", retrievers)


def with_parents(index: HandbookIndex, passages: Iterable[Passage]) -> tuple[Passage, ...]:
    """Each hit as its full section if that is short, else with the chunks before and after it."""
    return tuple(_parent_or_neighbours(index, passage) for passage in passages)


def _parent_or_neighbours(index: HandbookIndex, passage: Passage) -> Passage:
    section = index.document.by_id[passage.section_id]
    # A section is a unit of meaning; a window within a short one would lose context.
    if len(PIECE.findall(section.text)) <= index.settings.parent_words:
        return replace(passage, start=0, end=len(section.text), text=section.text, origin="parent")
    chunks = [index.chunks[row] for row in _rows_around(index, passage)]
    start, end = chunks[0].start, chunks[-1].end
    return replace(passage, start=start, end=end, text=section.text[start:end], origin="neighbour")


def _rows_around(index: HandbookIndex, passage: Passage) -> range:
    rows = index.rows_by_section[passage.section_id]
    row = next(row for row in rows if index.chunks[row].start == passage.start)
    neighbours = index.settings.neighbours
    return range(max(row - neighbours, rows.start), min(row + neighbours + 1, rows.stop))


def with_neighbour_sections(index: HandbookIndex, passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """The passages, and after them the sections on either side of theirs that are not among them, ranked after the last hit.

    An answer often goes on under the next heading. Without text a section adds nothing.
    """
    sections, distance = index.document.sections, index.settings.neighbour_sections
    number_of = {section.section_id: number for number, section in enumerate(sections)}
    near = [
        sections[number]
        for passage in passages
        for number in range(number_of[passage.section_id] - distance, number_of[passage.section_id] + distance + 1)
        # In a corpus the next section may be of another handbook
        if 0 <= number < len(sections) and home_of(sections[number].section_id)[0] == home_of(passage.section_id)[0]
    ]
    known = {passage.section_id for passage in passages}
    added = {section.section_id: section.text for section in near if section.section_id not in known and section.text.strip()}
    last = max((passage.rank for passage in passages), default=0)
    return *passages, *(
        Passage(section_id, 0, len(text), text, 0.0, rank, "neighbour")
        for rank, (section_id, text) in enumerate(added.items(), start=last + 1)
    )


def full_document_passages(index: HandbookIndex, ranking: Ranking, rankings: Mapping[str, Ranking]) -> tuple[Passage, ...]:
    """Every section that has text, in full and in reading order; `rank` is the order by `ranking`, then that of reading."""
    first_rows = first_row_per_section(index, [*ranking, *(rows.start for rows in index.rows_by_section.values())])
    by_merit = passages_of(index, {row: ranking.get(row, 0.0) for row in first_rows}, rankings)
    position = {section.section_id: number for number, section in enumerate(index.document.sections)}
    in_reading_order = sorted(by_merit, key=lambda passage: position[passage.section_id])
    sections = (_full_section(index, passage) for passage in in_reading_order)
    return tuple(passage for passage in sections if passage.text.strip())


def _full_section(index: HandbookIndex, passage: Passage) -> Passage:
    text = index.document.by_id[passage.section_id].text
    return replace(passage, start=0, end=len(text), text=text, origin="document")


def section_titles(index: HandbookIndex, passages: Iterable[Passage]) -> dict[str, str]:
    """Section id -> title, for the sections of the passages."""
    return {passage.section_id: index.document.by_id[passage.section_id].title for passage in passages}


def fits_full_document(document: Document, settings: RetrievalSettings) -> bool:
    """Whether the handbook is short enough for full-document mode."""
    return len(document.full_text) <= settings.whole_characters


def question_coverage(index: HandbookIndex, question: str, passages: Iterable[Passage]) -> float:
    """Share of the question's words that the passages contain, weighted by rarity in the handbook; in [0, 1].

    A word that the handbook lacks weighs most. 0 for a question of stop words only.
    """
    question_tokens = set(index.tokens(question))
    # Titles count, because the generator sees them above each passage.
    titles = index.document.by_id
    passage_tokens = {
        token for passage in passages for token in index.tokens(f"{titles[passage.section_id].title} {passage.text}")
    }
    weight = {token: index.bm25["chunks"].idf(token) for token in question_tokens}
    total = sum(weight.values())
    return sum(weight[token] for token in sorted(question_tokens & passage_tokens)) / total if total else 0.0


def assess_sufficiency(index: HandbookIndex, question: str, passages: tuple[Passage, ...]) -> tuple[Mode, str | None]:
    """The mode to answer in, and the reason where the passages do not suffice."""
    settings = index.settings
    coverage = question_coverage(index, question, passages)
    if coverage >= settings.sufficient or not settings.uses("sufficiency"):
        return PASSAGES, None
    length = len(index.document.full_text)
    share = f"{coverage:.0%} of the question's words, weighted by rarity"
    reason = f"the passages contain {share}; {settings.sufficient:.0%} are needed"
    # More text costs tokens and distracts a model, so there is a limit even if the passages do not suffice.
    if length <= settings.fallback_characters:
        return FULL_DOCUMENT_FALLBACK, f"{reason}: the full document was used"
    limit = settings.fallback_characters
    return PASSAGES, f"{reason}, but {length:,} characters are too many to use the full document (limit {limit:,})"
