"""Applies what people corrected (`audit.text.corrections`) to the lines of a PDF, and to the blocks of other sources.

Lines are corrected in reading order, before they become headings and paragraphs, so a corrected lead makes a list of what is
below it, and a kept title is a heading like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, groupby
from typing import Generic, Literal, NamedTuple, Protocol, TypeVar

from audit.pipeline.corpus.extraction.flow import Aside, Flow
from audit.pipeline.corpus.extraction.headings import Heading
from audit.pipeline.corpus.extraction.layout import Block, LeftOut, Line, TextCell
from audit.text.corrections import DROP, HEADING, KEEP, LEAD, ORDER, Correction, digest_of_corrections, find_words
from audit.text.documents import CORRECTED, Corrected
from audit.text.statements import ITEM_MARK

# Corrected lines belong to no paragraph with others; parts of pages have lower numbers
FIRST_PART = 1_000_000
ASIDE = "these words are beside the text of their page: say with order before or after which line they are read"


class OnPage(Protocol):
    """A line of a page."""

    @property
    def page(self) -> int | None:
        """Counted from 1; None where the source has no pages."""

    @property
    def text(self) -> str:
        """Its words."""


Unit = TypeVar("Unit", bound=OnPage)


def with_colon(text: str) -> str:
    """The words of a lead as they end above a list."""
    return text if text.endswith((":", "?", "…")) else f"{text.rstrip('. ')}:"


@dataclass
class Corrections:
    """The corrections of one handbook while it is read, and what became of each."""

    given: tuple[Correction, ...] = ()
    applied: set[int] = field(default_factory=set)
    missed: dict[int, str] = field(default_factory=dict)
    levels: dict[int, int] = field(default_factory=dict)
    """Of corrected headings: the part of their line -> level; 0: no heading."""

    @property
    def result(self) -> Corrected | None:
        """What they did; None without any."""
        if not self.given:
            return None
        missed = {number: reason for number, reason in self.missed.items() if number not in self.applied}
        sentences = (
            f"The correction {self.given[number].name} was not applied: {reason}." for number, reason in sorted(missed.items())
        )
        return Corrected(digest_of_corrections(self.given), len(self.applied), tuple(sentences))

    def of(self, *deeds: str) -> list[tuple[int, Correction]]:
        """Those that do one of these things, with their numbers."""
        return [(number, one) for number, one in enumerate(self.given) if one.do in deeds]

    def find(self, number: int, texts: Sequence[str], words: str = "") -> range | None:
        """The place of a correction's words among the texts of its page; None where there is none, which is noted."""
        one = self.given[number]
        found = find_words(texts, words or one.words, None if words else one.which)
        if isinstance(found, str):
            self.missed[number] = f"{found} (the other line is meant)" if words else found
            return None
        return found

    def keep(self, page: int, left_out: Sequence[Line]) -> list[Line]:
        """Of what is left out of a page, what a correction keeps."""
        kept: list[Line] = []
        for number, one in self.of(KEEP):
            if one.page in (page, None) and (found := self.find(number, [line.text for line in left_out])):
                self.applied.add(number)
                kept += [left_out[place] for place in found]
        return kept


class Places(Generic[Unit]):
    """Where the words of each correction are among lines that earlier corrections have dropped, moved or changed.

    Which of several places is meant is decided on the lines as they were read, so that one correction changes no other.
    """

    def __init__(self, corrections: Corrections, lines: Sequence[Unit]) -> None:
        self.corrections = corrections
        # A line is known by its identity, for which it must stay alive
        self.known: list[Unit] = list(lines)
        self.read_as = {id(line): number for number, line in enumerate(lines)}
        self.meant: dict[int, set[int]] = {}
        for number, one in enumerate(corrections.given):
            on_page = [place for place, line in enumerate(lines) if line.page == one.page]
            found = find_words([lines[place].text for place in on_page], one.words, one.which)
            self.meant[number] = set() if isinstance(found, str) else {on_page[place] for place in found}

    def changed(self, line: Unit, before: Unit) -> Unit:
        """A line that takes the place of another one."""
        self.known.append(line)
        self.read_as[id(line)] = self.read_as.get(id(before), -1)
        return line

    def find(self, number: int, lines: Sequence[Unit]) -> range | None:
        """The lines that a correction means; None where there are none, which is noted."""
        own = [place for place, line in enumerate(lines) if self.read_as.get(id(line)) in self.meant[number]]
        if own and own[-1] - own[0] == len(own) - 1:
            return range(own[0], own[-1] + 1)
        return self.by_words(number, lines)

    def by_words(self, number: int, lines: Sequence[Unit], words: str = "") -> range | None:
        """The lines of the correction's page with its words, or with those of the line before or after which it is read."""
        on_page = [place for place, line in enumerate(lines) if line.page == self.corrections.given[number].page]
        found = self.corrections.find(number, [lines[place].text for place in on_page], words)
        return None if found is None else range(on_page[found.start], on_page[found.stop - 1] + 1)

    def moved(self, number: int, lines: list[Unit], own: Sequence[Unit]) -> list[Unit] | None:
        """The lines with some more before or after the line that a correction names; None where that line is not there."""
        one = self.corrections.given[number]
        anchor = self.by_words(number, lines, one.before or one.after or "")
        if anchor is None:
            return None
        place = anchor.start if one.before else anchor.stop
        return [*lines[:place], *own, *lines[place:]]


# -- the lines of a PDF ------------------------------------------------------------------------------------------------


class CorrectedLines(NamedTuple):
    """The lines of all pages and their asides."""

    lines: list[Line]
    asides: list[Aside]


def without_kept(corrections: Corrections, stretches: Sequence[list[Line]]) -> tuple[list[Line], list[list[Line]]]:
    """Of the lines that would be left out of a page (its header, its footer), those to keep, and the others."""
    if not corrections.given or not any(stretches):
        return [], list(stretches)
    page = next(line.page for stretch in stretches for line in stretch)
    kept = [line for stretch in stretches for line in corrections.keep(page, stretch)]
    return kept, [[line for line in stretch if line not in kept] for stretch in stretches]


def kept_of_contents(
    corrections: Corrections, lines: Sequence[Line], remaining: list[Line], removed: Sequence[Line]
) -> list[Line]:
    """The lines without the contents, apart from those of the contents that are to be kept."""
    pages = sorted({line.page for line in removed}) if corrections.of(KEEP) else []
    kept = [line for page in pages for line in corrections.keep(page, [one for one in removed if one.page == page])]
    wanted = {id(line) for line in (*remaining, *kept)}
    return [line for line in lines if id(line) in wanted] if kept else remaining


def corrected_lines(corrections: Corrections, lines: list[Line], flow: Flow) -> CorrectedLines:
    """The lines as people corrected them; what they drop is added to what the flow left out."""
    asides, parts, places = list(flow.asides), count(FIRST_PART), Places(corrections, lines)
    for number, one in enumerate(corrections.given):
        found, part = places.find(number, lines), next(parts)
        if found is None:
            lines, asides = _beside(places, number, lines, asides, flow, part)
            continue
        own, rest = lines[found.start : found.stop], [*lines[: found.start], *lines[found.stop :]]
        if one.do == DROP:
            flow.left_out[one.page or 0] += [LeftOut(CORRECTED, line.text) for line in own]
            lines = rest
        elif one.do == ORDER:
            # What was made a heading stays one where it goes
            apart = [places.changed(line if line.part in corrections.levels else replace(line, part=part), line) for line in own]
            ordered = places.moved(number, rest, apart)
            if ordered is None:
                continue
            lines = ordered
        elif one.do != KEEP:
            lines = [*lines[: found.start], places.changed(_as(one, own, part, corrections), own[0]), *lines[found.stop :]]
        corrections.applied.add(number)
    return CorrectedLines(lines, asides)


def _as(one: Correction, lines: Sequence[Line], part: int, corrections: Corrections) -> Line:
    """The lines as one: a heading, text that is no heading, or a lead."""
    first, text = lines[0], " ".join(line.text for line in lines)
    if one.do == HEADING:
        corrections.levels[part] = one.level or 0
    lead = one.do == LEAD
    cell = TextCell(with_colon(text) if lead else text, first.x0, max(line.x1 for line in lines))
    return replace(first, cells=(cell,), is_lead=lead, part=part, table=())


def _beside(
    places: Places[Line], number: int, lines: list[Line], asides: list[Aside], flow: Flow, part: int
) -> tuple[list[Line], list[Aside]]:
    """The same for words beside the text of their page, and for those that are left out of it already."""
    corrections = places.corrections
    one = corrections.given[number]
    for place, aside in enumerate(asides):
        found = find_words([line.text for line in aside.lines], one.words, one.which) if aside.page == one.page else ""
        if isinstance(found, str):
            continue
        own, rest = aside.lines[found.start : found.stop], [*aside.lines[: found.start], *aside.lines[found.stop :]]
        others = [*asides[:place], *([aside._replace(lines=rest)] if rest else []), *asides[place + 1 :]]
        ordered = places.moved(number, lines, [replace(line, part=part) for line in own]) if one.do == ORDER else None
        if one.do in (HEADING, LEAD) or (one.do == ORDER and ordered is None):
            corrections.missed[number] = corrections.missed[number] if one.do == ORDER else ASIDE
            return lines, asides
        corrections.applied.add(number)
        if one.do == DROP:
            flow.left_out[aside.page] += [LeftOut(CORRECTED, line.text) for line in own]
        return (lines, asides) if one.do == KEEP else (ordered or lines, others)
    left_out = [each.text for each in flow.left_out.get(one.page or 0, ())]
    if one.do == DROP and not isinstance(find_words(left_out, one.words, one.which), str):
        corrections.applied.add(number)
    return lines, asides


def corrected_headings(corrections: Corrections, headings: Iterable[Heading], lines: Sequence[Line]) -> list[Heading]:
    """The headings of the lines, with those that people made, and without those that are none."""
    places = {place: corrections.levels[line.part] for place, line in enumerate(lines) if line.part in corrections.levels}
    if not places:
        return list(headings)
    others = [heading for heading in headings if places.keys().isdisjoint(range(heading.start, heading.end))]
    made = [
        Heading(line.text, place, place + 1, (line.size, line.bold), line.page, level, line.color)
        for place, level in places.items()
        if level
        for line in [lines[place]]
    ]
    return sorted([*others, *made], key=lambda heading: heading.start)


# -- the blocks of other sources ---------------------------------------------------------------------------------------


class TextLine(NamedTuple):
    """A line of a block: a paragraph, the lead or an item of a list, a row, or a heading.

    block  the number of the block that it is in; lines of one block that stay together are one again
    page   None where the source has no pages
    """

    kind: Literal["heading", "text", "row"]
    text: str
    block: int
    level: int = 0
    page: int | None = None


class CorrectedText(NamedTuple):
    """The lines of each block that there is now, in order, and what was dropped."""

    blocks: list[list[TextLine]]
    dropped: list[TextLine]


def corrected_text(corrections: Corrections, lines: Sequence[TextLine]) -> CorrectedText:
    """The lines of a source that is read as blocks, as people corrected them."""
    left, dropped, blocks = list(lines), list[TextLine](), count(1 + max((line.block for line in lines), default=0))
    places = Places(corrections, left)
    for number, one in enumerate(corrections.given):
        found = places.find(number, left)
        if found is None:
            continue
        own, rest = left[found.start : found.stop], [*left[: found.start], *left[found.stop :]]
        if one.do == DROP:
            left, dropped = rest, dropped + own
        elif one.do == ORDER:
            ordered = places.moved(number, rest, own)
            if ordered is None:
                continue
            left = ordered
        elif one.do != KEEP:
            new = places.changed(_line_as(one, own, next(blocks), left[found.stop : found.stop + 1]), own[0])
            left = [*left[: found.start], new, *left[found.stop :]]
        corrections.applied.add(number)
    return CorrectedText([list(group) for _, group in groupby(left, key=lambda line: (line.block, line.kind))], dropped)


def _line_as(one: Correction, lines: Sequence[TextLine], block: int, below: Sequence[TextLine]) -> TextLine:
    text = " ".join(line.text.strip().removeprefix(ITEM_MARK) for line in lines)
    if one.do == HEADING and one.level:
        return TextLine("heading", text, block, one.level, lines[0].page)
    if one.do == HEADING:
        return TextLine("text", text, block, 0, lines[0].page)
    # The list below takes its lead into its block
    leads = bool(below) and below[0].kind == "text" and below[0].text.lstrip().startswith(ITEM_MARK)
    return TextLine("text", with_colon(text), below[0].block if leads else block, 0, lines[0].page)


def corrected_blocks(corrections: Corrections, blocks: Sequence[Block]) -> tuple[Block, ...]:
    """The blocks of pages, as people corrected them; each is on one page."""
    if not corrections.given:
        return tuple(blocks)
    lines = [
        TextLine(block.kind, text, number, block.level, block.page)
        for number, block in enumerate(blocks)
        for text in block.text.split("\n")
    ]
    return tuple(
        Block(first.kind, "\n".join(line.text for line in own), first.page or 1, first.page or 1, first.level)
        for own in corrected_text(corrections, lines).blocks
        for first in own[:1]
    )
