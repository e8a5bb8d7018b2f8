"""Tables as text: rows with their column's head in each cell, and lists where a cell or a column is one.

A row can be read alone: `Medicine: Ibuprofen | Allowed: no`; the first column's head may be what matters most ("Do not give").
Columns of lists beside each other (DO and DON'T) become one list each, led by the column's head, so that nothing of one column
stands in the other's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from audit.pipeline.corpus.extraction import bullets
from audit.pipeline.corpus.extraction.layout import Block, Line, TextCell
from audit.pipeline.corpus.extraction.lists import MARK, Part, Wording, block_of, joined_text, paragraphs
from audit.text.statements import CELL_SEPARATOR, INDENT, ITEM_MARK

Cell = tuple[Line, ...]
Row = tuple[Cell, ...]
# Rows of a head at most, and rows below a head that shows by nothing but what is in them
MAX_HEADS, MIN_BODY = 2, 4
# Figures in a column of figures: the others are words such as "none"
MOST_FIGURES = 0.7
# A head, and the label of a group of rows, has at most this many characters
MAX_HEAD, MAX_LABEL = 120, 80
# Words of a cell in the median: in two columns of whole advice the first does not label the second
ADVICE_WORDS, HEAD_WORDS = 3, 3
# With one in front, a row would be read as an item
BULLETS = set(bullets.SIGNS).difference(bullets.MEANT)
TEXT_END = re.compile(r"[.,;]$")
LEAD_IN_SENTENCES = re.compile(r"[.!?]\s+\S[^.!?]*:$")


class Head(NamedTuple):
    """The texts above the columns of a table, and whether its own line is still to be written."""

    texts: tuple[str, ...] = ()

    def of(self, column: int) -> str:
        """The head of a column; "" without one."""
        return self.texts[column] if column < len(self.texts) else ""


NO_HEAD = Head()


def texts_of_row(row: Row, wording: Wording) -> tuple[str, ...]:
    """The text of each cell of a row."""
    return tuple(joined_text(cell, wording) for cell in row)


def table_blocks(
    rows: Sequence[Row], wording: Wording, before: Head = NO_HEAD, *, is_repeated: bool = False
) -> tuple[list[Block], Head]:
    """The blocks of a table, and its head, which a table that continues it on the next page takes over as `before`.

    is_repeated  another table begins with the same row, so it is a head
    """
    rows = list(rows)
    head = before
    blocks: list[Block] = []
    if before.texts and texts_of_row(rows[0], wording) == before.texts:
        # The head, repeated on the next page
        rows, is_repeated = rows[1:], False
    title = _title(rows)
    if title:
        rows = rows[1:]
    heads = _head_rows([row for row in rows if not _is_label(row)], wording, is_repeated=is_repeated)
    heads = 0 if rows and _is_label(rows[0]) else heads
    parts = list(_parts_with_heads(rows, heads))
    for above, below in parts:
        if above:
            head = Head(tuple(_head_text(column, above, wording) for column in range(len(rows[0]))))
            if not _are_columns(below, head, wording):
                blocks.append(Block("row", CELL_SEPARATOR.join(filter(None, head.texts)), *_pages_of(above)))
        rows = _with_labels(_spans_once(below, wording), head)
        blocks += _labelled_blocks(rows, head, title, wording, keeps_head=len(parts) == 1)
        title = None
    return list(_joined(blocks)), head


def _parts_with_heads(rows: list[Row], heads: int) -> Iterator[tuple[list[Row], list[Row]]]:
    """The rows of each head and those below it: a table in which all of a later row is as bold as the first has several."""
    starts = [
        number
        for number in range(heads + 1, len(rows) - 1)
        if heads and _is_bold_head(rows[number]) and not _is_bold_head(rows[number + 1]) and _is_bold_head(rows[heads - 1])
    ]
    yield rows[:heads], rows[heads : starts[0] if starts else None]
    for start, end in zip(starts, [*starts[1:], None], strict=False):
        yield [rows[start]], rows[start + 1 : end]


def _is_bold_head(row: Row) -> bool:
    bold = all(cell and all(line.bold for line in cell) for cell in row)
    return (
        bold
        and not _is_label(row)
        and _is_short_row(row)
        and not any(character.isdigit() for cell in row[1:] for character in cell[0].text)
    )


def _labelled_blocks(rows: list[Row], head: Head, title: Row | None, wording: Wording, *, keeps_head: bool) -> Iterator[Block]:
    """The rows below each label.

    keeps_head  a bold label is below the head of the columns; where the head changes, it takes its place
    """
    label = title
    for is_label, group in groupby(rows, key=_is_label):
        if is_label:
            # A title, or a label without rows, is a text of its own
            *others, label = ([] if label is None else [label]) + list(group)
            yield from (_row_block(row[:1], NO_HEAD, wording) for row in others)
            head = head if keeps_head or not all(line.bold for line in label[0]) else NO_HEAD
            continue
        yield from _group_blocks(list(group), head, label, wording)
        label = None
    if label is not None:
        yield from _texts_of(label, wording)


def _spans_once(rows: list[Row], wording: Wording) -> list[Row]:
    """The rows, a long cell that spans several of them in a row of its own, with the labels of them all: not once for each."""
    for column in range(1, len(rows[0]) if rows else 0):
        new: list[Row] = []
        for _, group in groupby(rows, key=lambda row: row[column]):
            members = list(group)
            cell, labels = members[0][column], [row[0] for row in members]
            long = sum(len(line.text) for line in cell) > MAX_LABEL or _is_list(cell, wording)
            if len(members) < 2 or not long or not all(labels) or len(set(labels)) < len(labels):
                new += members
                continue
            rest = [(*row[:column], (), *row[column + 1 :]) for row in members]
            new += [row for row in rest if any(row[1:])]
            label = _line_like(labels[0][0], ", ".join(joined_text(each, wording) for each in labels))
            new.append(((label,), *(() for _ in range(1, column)), cell, *(() for _ in members[0][column + 1 :])))
        rows = new
    return rows


def _joined(blocks: list[Block]) -> Iterator[Block]:
    """Rows below each other as one block."""
    for are_rows, group in groupby(blocks, key=lambda block: block.kind == "row"):
        members = list(group)
        if are_rows:
            yield Block("text", "\n".join(row.text for row in members), members[0].page, members[-1].page)
        else:
            yield from members


def _title(rows: list[Row]) -> Row | None:
    return rows[0] if len(rows) > 1 and (_is_label(rows[0]) or _has_first_only(rows[0])) else None


def _is_label(row: Row) -> bool:
    """Whether a row has one cell over all columns: the label of the rows below, or a text."""
    return len(row) > 1 and bool(row[0]) and all(cell == row[0] for cell in row)


def _has_first_only(row: Row) -> bool:
    return len(row) > 1 and bool(row[0]) and not any(row[1:])


def _with_labels(rows: Sequence[Row], head: Head) -> list[Row]:
    """The rows; of those with a first cell only the labels as cells over all columns.

    Below heads, one in the type of the other rows says no label but that a column has nothing for it.
    """
    kinds = Counter(_kind_of(row[0]) for row in rows if row[0] and any(row[1:]) and not _is_label(row))
    second = min((cell[0].x0 for row in rows for cell in row[1:2] if cell and not _is_label(row)), default=float("inf"))

    def is_label(row: Row) -> bool:
        text = row[0][-1]
        other = not kinds or _kind_of(row[0]) != kinds.most_common(1)[0][0]
        return other or text.text.endswith(":") or text.x1 > second or not any(head.texts)

    return [row[:1] * len(row) if _has_first_only(row) and is_label(row) else row for row in rows]


def _kind_of(cell: Cell) -> tuple[object, ...]:
    return all(line.bold for line in cell), cell[0].size, cell[0].color


def _pages_of(rows: Sequence[Row]) -> tuple[int, int]:
    pages = [line.page for row in rows for cell in row for line in cell]
    return pages[0], pages[-1]


def _head_text(column: int, rows: Sequence[Row], wording: Wording) -> str:
    """The head of a column: of two rows both, unless one cell is in both."""
    return ", ".join(dict.fromkeys(filter(None, (joined_text(row[column], wording) for row in rows))))


def _head_rows(rows: Sequence[Row], wording: Wording, *, is_repeated: bool) -> int:
    """How many of the first rows are the head: two where a cell of the first is over several of the second."""
    if len(rows) > 2 and any(cell and cell == beside for cell, beside in pairwise(rows[0])):
        return 2
    if tagged := _tagged_heads(rows):
        return tagged
    return int(is_repeated or _has_head(rows) or _is_of_another_kind(rows, wording) or _is_above_lists(rows, wording))


def _is_above_lists(rows: Sequence[Row], wording: Wording) -> bool:
    """Whether a row of titles ("Minor", "Severe") is above cells that are all lists or texts of several paragraphs."""
    titles, below = [cell for cell in rows[0] if cell], [cell for row in rows[1:] for cell in row[1:] if cell]
    short = all(len(cell) == 1 and not _has_mark(cell) and not TEXT_END.search(cell[-1].text) for cell in titles)
    return len(titles) > 1 and bool(below) and short and _is_short_row(rows[0]) and all(_is_list(cell, wording) for cell in below)


def _tagged_heads(rows: Sequence[Row]) -> int:
    """How many of the first rows the maker tagged as heads; 0 where no other row is untagged, or more are than heads may be."""
    tagged = [all(line.tag.kind == "head" for cell in row for line in cell) for row in rows]
    first = tagged.index(False) if False in tagged else 0
    return first if first <= MAX_HEADS and (sum(map(bool, rows[0])) > 1 or not rows[0][0]) else 0


def _has_head(rows: Sequence[Row]) -> bool:
    """Whether the first row is a head: bold where the others are not, in a color of its own, or with an empty corner."""
    if len(rows) < 2 or sum(map(bool, rows[0])) < 2:
        return False
    first, others = rows[0], [cell for row in rows[1:] for cell in row[1:] if cell]
    # What is in brackets below it may be plain
    bolds = (lambda cell: all(line.bold for line in cell)), (lambda cell: cell[0].bold)
    bold = any(all(is_bold(cell) for cell in first if cell) and 2 * sum(map(is_bold, others)) < len(others) for is_bold in bolds)
    corner = not first[0] and all(row[0] for row in rows[1:])
    colors = {line.color for cell in first for line in cell}
    below = Counter(line.color for row in rows[1:] for cell in row for line in cell)
    # A line of several colors has a link or a word in one of its own
    colored = len(colors) == 1 and () not in colors and 2 * below[()] < below.total() and not colors & below.keys()
    return _is_short_row(first) and (bold or corner or colored)


def _is_short_row(row: Row) -> bool:
    return all(sum(len(line.text) for line in cell) <= MAX_HEAD for cell in row)


def _is_of_another_kind(rows: Sequence[Row], wording: Wording) -> bool:
    """Whether the first row differs in kind from what is below it, in several columns: words above figures only, or a text
    above a few that are repeated ("allowed", "not allowed"). In one column, or above few rows, it may be a row like the others.
    """
    first, below = rows[0], rows[1:]
    headed = [column for column in range(1, len(first)) if first[column]]
    if len(below) < MIN_BODY or not first[0] or not _is_short_row(first):
        return False
    columns = [[joined_text(row[column], wording).casefold() for row in below if row[column]] for column in headed]
    heads = [joined_text(first[column], wording).casefold() for column in headed]
    return len(columns) > 1 and all(
        _are_figures_below(head, texts) or _are_repeated_below(head, texts) for head, texts in zip(heads, columns, strict=True)
    )


def _are_figures_below(head: str, texts: list[str]) -> bool:
    figures = sum(any(map(str.isdigit, text)) for text in texts)
    return figures >= MOST_FIGURES * len(texts) > 0 and not any(map(str.isdigit, head)) and head not in texts


def _are_repeated_below(head: str, texts: list[str]) -> bool:
    return len(texts) >= MIN_BODY and 2 * len(set(texts)) <= len(texts) and head not in texts


def _group_blocks(rows: list[Row], head: Head, label: Row | None, wording: Wording) -> Iterator[Block]:
    """The rows below one label, which leads them."""
    if label is not None and not _is_short(label):
        yield from _texts_of(label, wording)
        label = None
    lead = [Part("", list(label[0]))] if label is not None else []
    titles = rows[:1] if not any(head.texts) and _is_above_lists(rows, wording) else []
    if titles:
        head, rows = Head(texts_of_row(rows[0], wording)), rows[1:]
    are_texts = titles and any(row[0] and len(joined_text(row[0], wording)) > MAX_LABEL for row in rows)
    if are_texts or _are_columns(rows, head, wording):
        rows = [_once(row, head)[0] for row in rows]
        if lead and not any(head.texts) and all(_leads_itself(parts) for parts in _columns(rows, wording)):
            yield block_of(lead, wording)
            lead = []
        yield from _column_blocks(rows, head, lead, wording)
        return
    if titles:
        yield Block("row", CELL_SEPARATOR.join(filter(None, head.texts)), *_pages_of(titles))
    if lead:
        yield Block("row", block_of(lead, wording).text, lead[0].lines[0].page, lead[-1].lines[-1].page)
    for row in rows:
        yield from _row_or_lists(*_once(row, head), wording)


def _once(row: Row, head: Head) -> tuple[Row, Head]:
    """A row with a cell over several columns once, and the heads without theirs: it is said of none of them alone."""
    over = [column for column in range(1, len(row)) if row[column] and row[column] in (*row[1:column], *row[column + 1 :])]
    cells = tuple(() if column in over and cell in row[1:column] else cell for column, cell in enumerate(row))
    texts = tuple("" if column in over else text for column, text in enumerate(head.texts))
    return (cells, Head(texts)) if over else (row, head)


def _is_short(row: Row) -> bool:
    return sum(len(line.text) for line in row[0]) <= MAX_LABEL and len(row[0]) <= 2 and not _has_items(row[0])


def _texts_of(row: Row, wording: Wording) -> Iterator[Block]:
    return (block_of(parts, wording) for cell in dict.fromkeys(row) if cell for parts in paragraphs(cell, wording.pitch))


def _are_columns(rows: Sequence[Row], head: Head, wording: Wording) -> bool:
    """Whether the columns are lists, not rows: the first has items, or the heads are short above whole advice."""
    firsts = [row[0] for row in rows if row[0]]
    if any(map(_has_items, firsts)):
        return True
    if firsts and all(_has_mark(cell) for cell in firsts):
        return not (_have_values(rows, wording) or _are_numbered(rows))
    if len(head.texts) != 2 or any(not text or len(text.split()) > HEAD_WORDS for text in head.texts):
        return False
    words = [sorted(sum(len(line.text.split()) for line in row[column]) for row in rows if row[column]) for column in (0, 1)]
    first, second = (counts[len(counts) // 2] if counts else 0 for counts in words)
    return first >= ADVICE_WORDS and second >= ADVICE_WORDS and max(first, second) <= 2 * min(first, second)


def _are_numbered(rows: Sequence[Row]) -> bool:
    """Whether the labels of rows are numbered: what is beside most of them has no mark."""
    marks = [MARK.match(row[0][0].text) for row in rows if row[0]]
    beside = [[cell for cell in row[1:] if cell] for row in rows if row[0]]
    plain = not any(_has_mark(cell) for cells in beside for cell in cells)
    return plain and 2 * sum(map(bool, beside)) > len(beside) and all(mark and mark["number"] for mark in marks)


def _have_values(rows: Sequence[Row], wording: Wording) -> bool:
    """Whether each item of a first column has short words without a mark beside it, an amount for instance."""
    values = [cell for row in rows if row[0] for cell in row[1:] if cell]
    beside = sum(bool(row[0]) and any(row[1:]) for row in rows)
    short = all(not _has_mark(cell) and len(joined_text(cell, wording)) <= MAX_LABEL for cell in values)
    return short and 2 * beside > len(rows)


def _is_list(cell: Cell, wording: Wording) -> bool:
    """Whether a cell has several items or paragraphs."""
    blocks = list(paragraphs(cell, wording.pitch))
    return len(blocks) > 1 or sum(part.is_item for parts in blocks for part in parts) > 1


def _has_items(cell: Cell) -> bool:
    # Without marks, the lines of a label below its colon would be items
    return sum(MARK.match(line.text) is not None for line in cell) > 1


def _has_mark(cell: Cell) -> bool:
    return any(part.is_item for parts in paragraphs(cell[:1], 1.2) for part in parts)


def _column_blocks(rows: Sequence[Row], head: Head, lead: list[Part], wording: Wording) -> Iterator[Block]:
    for column, parts in enumerate(_columns(rows, wording)):
        own_lead = _lead_of(lead, head.of(column), parts[0].lines[0]) if parts else []
        if parts:
            yield block_of([*own_lead, *parts] if own_lead or not _leads_itself(parts) else _below_first(parts), wording)


def _columns(rows: Sequence[Row], wording: Wording) -> Iterator[list[Part]]:
    """The items of each column."""
    for column in range(max(map(len, rows))):
        cells = [row[column] for row in rows if column < len(row)]
        yield [part for cell in cells for part in _as_items(cell, wording, 0)]


def _leads_itself(parts: list[Part]) -> bool:
    """Whether a column says in whole sentences what its items are: "Some foods are safe. They include:"."""
    # A mere "Fruits, such as:" could mean the opposite without the label above ("Do not eat")
    if not parts:
        return True
    text = " ".join(line.text for line in parts[0].lines)
    return len(parts) > 1 and LEAD_IN_SENTENCES.search(text) is not None and all(map(_is_nested, parts[1:]))


def _is_nested(part: Part) -> bool:
    return part.prefix.startswith(" " * INDENT)


def _below_first(parts: list[Part]) -> list[Part]:
    first, *items = parts
    return [Part("", first.lines), *(item._replace(prefix=item.prefix[INDENT:]) for item in items)]


def _lead_of(lead: list[Part], head: str, near: Line) -> list[Part]:
    """The line above a column's items: the label of the group and the column's head."""
    texts = [" ".join(line.text for part in lead for line in part.lines), head]
    text = CELL_SEPARATOR.join(filter(None, texts))
    return [Part("", [_line_like(near, _with_colon(text))])] if text else []


def _with_colon(text: str) -> str:
    return text if text.endswith((":", "?", "!", ".")) else f"{text}:"


def _line_like(near: Line, text: str) -> Line:
    return Line(near.page, near.baseline, near.size, near.bold, (TextCell(text, near.x0, near.x1),))


def _as_items(cell: Cell, wording: Wording, depth: int) -> Iterator[Part]:
    """The paragraphs of a cell as items, those of its lists below their leads."""
    for parts in paragraphs(cell, wording.pitch):
        led = not parts[0].is_item and len(parts) > 1
        ends_open = not led and not parts[0].is_item and parts[0].lines[-1].text.endswith(":")
        for number, part in enumerate(parts):
            deeper = depth + (1 if led and number else 0)
            prefix = part.prefix if part.is_item else ITEM_MARK
            yield Part(" " * INDENT * deeper + prefix, part.lines)
        # "They include:" leads what follows in its cell, however far below it stands
        depth += ends_open


def _row_or_lists(row: Row, head: Head, wording: Wording) -> Iterator[Block]:
    """A row on one line; each of its cells that is a list as a block of its own, led by the row's label and the column's head."""
    lists = [column for column, cell in enumerate(row) if column and _is_list(cell, wording)]
    plain = tuple(() if column in lists else cell for column, cell in enumerate(row))
    if sum(map(bool, plain)) > 1 or not lists:
        yield _row_block(plain, head, wording)
    for column in lists:
        label = [Part("", list(row[0]))] if row[0] and 0 not in lists else []
        parts = list(_as_items(row[column], wording, 0))
        yield block_of([*_lead_of(label, head.of(column), parts[0].lines[0]), *parts], wording)


def _without_bullet(text: str) -> str:
    return text[2:] if text[:1] in BULLETS and text[1:2] == " " else text


def _row_block(row: Row, head: Head, wording: Wording) -> Block:
    texts = [(column, _without_bullet(joined_text(cell, wording))) for column, cell in enumerate(row) if cell]
    cells = (f"{head.of(column).removesuffix(':')}: {text}" if head.of(column) else text for column, text in texts)
    lines = [line for cell in row for line in cell]
    # A line of one cell would be read as the label of the rows below it
    is_row = len(texts) > 1 or len(row) == 1
    return Block("row" if is_row else "text", CELL_SEPARATOR.join(cells), lines[0].page, lines[-1].page)
