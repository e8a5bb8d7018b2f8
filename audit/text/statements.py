"""A section's text as statements: sentences, list items and table rows, each with the lead that gives it its meaning.

The text of a section is plain, with this structure (`audit extract` writes it, data/README.md describes it):

- blocks (paragraphs, lists, tables) are separated by an empty line;
- a list is one block: its lead on the first line ("Never smoke:"), then one item a line, beginning with "• "; an item below
  another item has two more spaces in front, and is led by that one, which is also a statement where it ends a sentence;
- a table is one block: one row a line, its cells separated by " | ", each cell with its column's head where the table has
  heads ("Medicine: Ibuprofen | Allowed: no"), so a row can be read alone. A line without cells above rows is their label;
- columns of lists side by side (DO and DON'T) are one list each, led by the column's head.

"cigarettes" alone may be quoted as advice to smoke. So whatever quotes an item or a row takes `Statement.quoted`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from audit.text.sentences import sentence_spans

ITEM_MARK = "• "
CELL_SEPARATOR = " | "
INDENT = 2
BLOCK_GAP = re.compile(r"\n\s*\n")
LINE = re.compile(r"[^\n]+")
ITEM = re.compile(r"(?P<indent> *)(?:[•◦▪●○‣■□*–-]|\(?\d{1,2}[.)])\s+(?P<text>\S.*)")
# The beginning of a lead that means nothing without the sentence before it
POINTS_BACK = re.compile(
    r"(?:these|they|this|those|such|it|examples?|for example|the following|following|including|here)\b", re.I
)


class Statement(NamedTuple):
    """One sentence, list item or row of a section's text.

    start, end  its position in the text, in characters from 0
    leads       the lines that introduce it, outermost first: ("Avoid the following:",)
    """

    text: str
    start: int
    end: int
    kind: Literal["sentence", "item", "row"] = "sentence"
    leads: tuple[str, ...] = ()

    @property
    def quoted(self) -> str:
        """The statement with its leads: `Never smoke: cigarettes`."""
        return " ".join((*self.leads, self.text))


def statements(text: str) -> Iterator[Statement]:
    """The statements of a section's text, in reading order. A lead with items below it is no statement of its own, unless it is
    an item that ends a sentence ("Do not leave her alone.").

    Of a paragraph above a list, the lead is the last sentence; those before it are statements.
    """
    start = 0
    for gap in [*BLOCK_GAP.finditer(text), None]:
        end = gap.start() if gap else len(text)
        yield from _of_block(text, start, end)
        start = gap.end() if gap else end


def leads_at(text: str, start: int) -> tuple[str, ...]:
    """The leads of the list in whose middle a part of a text begins, outermost first; () where it begins elsewhere.

    start  the part's first character
    """
    first = next((statement for statement in statements(text) if statement.end > start), None)
    if first is None:
        return ()
    return tuple(lead for lead in first.leads if lead in text[:start] and lead not in text[start : first.start])


def _of_block(text: str, start: int, end: int) -> Iterator[Statement]:
    lines = list(LINE.finditer(text, start, end))
    if any(ITEM.fullmatch(line.group()) for line in lines):
        yield from _of_list(lines)
    else:
        yield from _of_rows(lines)


def _of_rows(lines: list[re.Match[str]]) -> Iterator[Statement]:
    label: tuple[str, ...] = ()
    for line, following in zip(lines, [*lines[1:], None], strict=False):
        if CELL_SEPARATOR in line.group():
            yield Statement(line.group().strip(), line.start(), line.end(), "row", label)
        elif following is not None and CELL_SEPARATOR in following.group():
            label = (line.group().strip(),)
        else:
            yield from _sentences(line.group(), line.start(), "sentence", ())


def _of_list(lines: list[re.Match[str]]) -> Iterator[Statement]:
    # The leads that are open, each with its depth: that of the block's first line is less than any item's
    open_leads: list[tuple[int, str]] = []
    for line, following in zip(lines, [*lines[1:], None], strict=True):
        item = ITEM.fullmatch(line.group())
        depth, content = (len(item["indent"]), item["text"]) if item else (-1, line.group())
        open_leads = [(level, lead) for level, lead in open_leads if level < depth]
        if following is not None and item_depth(following.group()) > depth:
            before, lead = _split_lead(content)
            open_leads.append((depth, lead))
            content = content if item and content.rstrip().endswith((".", "!", "?")) else before
        leads = tuple(lead for level, lead in open_leads if level < depth)
        offset = line.start() + (item.start("text") if item else 0)
        yield from _sentences(content, offset, "item" if item else "sentence", leads)


def item_depth(line: str) -> int:
    """How far the item of a list is indented, in characters; -1 for a line that is not one."""
    item = ITEM.fullmatch(line)
    return len(item["indent"]) if item else -1


def _split_lead(content: str) -> tuple[str, str]:
    """The sentences of a line that stand before its lead, and the lead: the last sentence, with those that it points back to."""
    sentences = list(sentence_spans(content))
    first = len(sentences) - 1
    # "Some foods are not safe. These include:" would lose its "not"
    while first > 0 and POINTS_BACK.match(content, sentences[first].start):
        first -= 1
    start = sentences[first].start if sentences else 0
    return content[:start], content[start:].strip()


def _sentences(content: str, offset: int, kind: Literal["sentence", "item"], leads: tuple[str, ...]) -> Iterator[Statement]:
    for start, end in sentence_spans(content):
        yield Statement(content[start:end].strip(), offset + start, offset + end, kind, leads)
