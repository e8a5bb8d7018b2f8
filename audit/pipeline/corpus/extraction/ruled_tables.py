"""Tables that ruling lines draw: the text of a page is put into their cells, and each becomes one line of the page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby, pairwise, permutations

from audit.pipeline.corpus.extraction.drawings import SNAP, Box, Grid, grids, smallest_at
from audit.pipeline.corpus.extraction.layout import Area, Line, PdfPage, TextCell, TextRun, lines_of
from audit.pipeline.corpus.extraction.list_columns import cell_in_columns
from audit.pipeline.corpus.extraction.lists import MARK
from audit.pipeline.corpus.extraction.panels import Panel, panel_of
from audit.pipeline.corpus.extraction.reading_order import in_reading_order
from audit.pipeline.corpus.extraction.row_rules import banded_tables
from audit.pipeline.corpus.extraction.table_columns import is_figure
from audit.pipeline.corpus.extraction.tagged_tables import tagged_grids

# So many lines of two cells that are alone in their table show that it is none
MIN_LONG = 10
# A cell with more lines is a column of the page, and its headings are the page's
MAX_CELL_LINES = 30
# Points: a side of cells that have drawings in them, and how far a word reaches on both sides of what it goes through
MIN_SIDE, WITHIN = 45.0, 2.0
SMALL = 100.0
# So many shorter lines are drawings
MIN_SHORT = 10
# So many lines of a cell may be rows of figures
MIN_LINES = 3
# In type sizes: words of one line are no farther apart
WORD_SPACE = 0.4
# Type of a title in the first row of a table, as a factor of the largest type below it
TITLE_SIZE = 1.2
# Rows that end in a page number, in a table of contents
MIN_CONTENTS_ROWS, CONTENTS_SHARE = 4, 0.7
# So many cells, each of so many lines at least, with a heading of its own are panels
MIN_PANELS, MIN_PANEL_LINES = 3, 3
Cell = tuple[Line, ...]
Row = tuple[Cell, ...]


def lines_and_tables(page: PdfPage, panels: Sequence[Panel] = ()) -> list[Line]:
    """The lines of a page, each with one cell, and its ruled tables, each as one line; the part of each is its panel's number."""
    runs, tables = with_drawn_bullets(page), list[Line]()
    boxes: list[Box] = []
    # What drawings in the cells leave no grid of is tried without their lines
    drawn = [*_by_size(grids(page.rulings, page.borders)), *_by_size(_of_long_lines(page))]
    tagged = list(tagged_grids(page.runs))
    # The head that a page repeats has lines and no tags
    shorter = [grid for grid in tagged if any(_is_longer(other, grid) for other in drawn)]
    for grid in (*(grid for grid in tagged if grid not in shorter), *drawn, *shorter):
        inside = [run for run in runs if _is_in(grid.box, run)]
        # Areas around tables place text on the page
        around = any(grid.box.contains((box.x0 + box.x1) / 2, (box.top + box.bottom) / 2) for box in boxes)
        table = [] if around or _is_drawing(grid.box, page.runs) else _table(grid, inside, page.number)
        if table:
            number = panel_of(inside[0], panels)
            tables += [replace(line, part=number) for line in table] if number else table
            boxes.append(grid.box)
            runs = [run for run in runs if not _is_in(grid.box, run)]
        elif not around:
            runs += _bullets_of_cells(grid, runs)
    for banded in banded_tables([*page.rulings, *page.borders], runs):
        rows = tuple(tuple(tuple(in_reading_order(lines_of(cell, page.number))) for cell in row) for row in banded.rows)
        own = {run for row in banded.rows for cell in row for run in cell}
        if _is_table(rows) and own.issubset(runs):
            number = panel_of(next(iter(own)), panels)
            tables += [replace(line, part=number) for line in _with_title(rows, banded.box, page.number)]
            runs = [run for run in runs if run not in own]
    inside_of: defaultdict[int, list[TextRun]] = defaultdict(list)
    for run in runs:
        inside_of[panel_of(run, panels)].append(run)
    lines = [replace(line, part=number) for number, inside in inside_of.items() for line in lines_of(inside, page.number)]
    return sorted([*lines, *tables], key=lambda line: (line.baseline, line.x0))


def _is_longer(grid: Grid, tagged: Grid) -> bool:
    x, y = (tagged.box.x0 + tagged.box.x1) / 2, (tagged.box.top + tagged.box.bottom) / 2
    longer = len(grid.rows) > len(tagged.rows) and len(grid.rows[0]) >= len(tagged.rows[0])
    return longer and grid.box.contains(x, y)


def _by_size(found: Iterable[Grid]) -> list[Grid]:
    return sorted(chain.from_iterable(map(_parted, found)), key=lambda grid: _size(grid.box))


def _parted(grid: Grid) -> Iterator[Grid]:
    """The tables of a grid: one, unless its columns are others below a row that is a single cell, as where bars and frames of
    several tables touch.
    """
    parts = [list(rows) for is_single, rows in groupby(grid.rows, key=lambda row: len({*row} - {None}) == 1) if not is_single]
    if len(parts) < 2 or len({_sides_of(row) for rows in parts for row in rows}) < 2 or _share_columns(parts):
        yield grid
        return
    for rows in parts:
        cells = [cell for row in rows for cell in row if cell is not None]
        lefts, tops, rights, bottoms = zip(*cells, strict=True)
        used = [column for column in range(len(rows[0])) if not column or any(row[column] != row[column - 1] for row in rows)]
        own = tuple(tuple(row[column] for column in used) for row in rows)
        yield Grid(Box(min(lefts), min(tops), max(rights), max(bottoms)), own)


def _share_columns(parts: Sequence[Sequence[tuple[Box | None, ...]]]) -> bool:
    """Whether all parts have the same sides of columns, or fewer of them."""
    sides = [frozenset().union(*map(_sides_of, rows)) for rows in parts]
    most = max(sides, key=len)
    return all(own <= most for own in sides)


def _sides_of(row: tuple[Box | None, ...]) -> frozenset[float]:
    return frozenset(cell.x0 for cell in row if cell is not None)


def _of_long_lines(page: PdfPage) -> Iterator[Grid]:
    """The grids of the long lines and sides of shades alone, where there are short ones, and no words go through."""
    lines = [*page.rulings, *page.borders]
    long = [line for line in lines if _length(line) >= MIN_SIDE and line.top >= 0 and not _is_under_text(line, page.runs)]
    if page.borders and len(lines) - len(long) >= MIN_SHORT:
        sides = [line for line in lines if _is_upright(line) and _length(line) < MIN_SIDE and _joins(line, long)]
        yield from grids([*long, *sides, *_open_ends(long)])


def _joins(upright: Area, lines: Sequence[Area]) -> bool:
    """Whether an upright line goes from one level line to another, as the sides of low cells do."""
    over = [line for line in lines if not _is_upright(line) and line.x0 - SNAP < upright.x0 < line.x1 + SNAP]
    return all(any(abs(line.top - y) < SNAP for line in over) for y in (upright.top, upright.bottom))


def _is_drawing(box: Box, runs: Iterable[TextRun]) -> bool:
    """Whether a grid is small and words go through its sides."""
    sides = [Area(x, box.top, x, box.bottom) for x in (box.x0, box.x1)]
    return box.x1 - box.x0 < SMALL and any(_is_under_text(side, runs) for side in sides)


def _length(line: Area) -> float:
    return max(line.x1 - line.x0, line.bottom - line.top)


def _is_upright(line: Area) -> bool:
    return line.bottom - line.top > line.x1 - line.x0


def _is_under_text(line: Area, runs: Iterable[TextRun]) -> bool:
    """Whether words go through an upright line: it is part of a drawing behind them, and divides no cells."""
    return _is_upright(line) and any(
        run.x0 + WITHIN < line.x0 < run.x1 - WITHIN and line.top < run.middle < line.bottom for run in runs
    )


def _open_ends(lines: Sequence[Area]) -> Iterator[Area]:
    """The lower sides of last rows that have none: where the line between their columns ends."""
    level = [line for line in lines if not _is_upright(line)]
    for upright in filter(_is_upright, lines):
        above, below = ([line for line in level if abs(line.top - y) < SNAP] for y in (upright.top, upright.bottom))
        if above and not below:
            yield Area(min(line.x0 for line in above), upright.bottom, max(line.x1 for line in above), upright.bottom)


def _is_in(box: Box, run: TextRun) -> bool:
    # Above the baseline: the letters stand on it, and a rule may touch it
    return box.contains((run.x0 + run.x1) / 2, run.middle)


def _size(box: Box) -> float:
    return (box.x1 - box.x0) * (box.bottom - box.top)


def _table(grid: Grid, runs: list[TextRun], page: int) -> list[Line]:
    """The lines of the table's title and the table as a line.

    Empty where the grid is a frame, a table of contents, or has a column of the page in a cell.
    """
    grid = _with_parted_heads(grid, runs, page)
    runs_of: dict[Box, list[TextRun]] = {cell: [] for row in grid.rows for cell in row if cell is not None}
    for run in runs:
        cell = smallest_at(runs_of, (run.x0 + run.x1) / 2, run.middle)
        if cell is None:
            return []
        runs_of[cell].append(run)
    if _divides_sentences(runs_of):
        return []
    lines_in = {cell: cell_in_columns(in_reading_order(lines_of(inside, page))) for cell, inside in runs_of.items()}
    rows = tuple(chain.from_iterable(map(_line_by_line, _with_wrapped_cells(_without_repeats(grid, lines_in)))))
    if not _is_table(rows) or (_is_mosaic(grid) and _are_panels(rows)):
        return []
    return _with_title(rows, grid.box, page)


def _with_parted_heads(grid: Grid, runs: list[TextRun], page: int) -> Grid:
    """The grid; where words of a first cell over several columns keep to these, each column has its own: a shade has no lines."""
    first, *others = grid.rows
    alone = [next((row[n] for row in others if row[n] is not None and row.count(row[n]) == 1), None) for n in range(len(first))]
    heads = list(first)
    for cell in filter(None, {*first}):
        over = {n: box for n, (own, box) in enumerate(zip(first, alone, strict=True)) if own == cell and box}
        pieces = lines_of([run for run in runs if len(over) > 1 and _is_in(cell, run)], page)
        places = [{n for n, box in over.items() if box.x0 - SNAP < piece.x0 and piece.x1 < box.x1 + SNAP} for piece in pieces]
        if all(places) and len(set().union(*places)) > 1:
            heads = [cell._replace(x0=over[n].x0, x1=over[n].x1) if n in over else own for n, own in enumerate(heads)]
    return Grid(grid.box, (tuple(heads), *others))


def _divides_sentences(runs_of: dict[Box, list[TextRun]]) -> bool:
    """Whether half of the cells beside each other hold the words of one line: shades behind lines of text make up the grid."""
    placed = sorted(((round(run.baseline), run.x0, run, cell) for cell, inside in runs_of.items() for run in inside), key=_place)
    pairs = [
        right.x0 - left.x1 < WORD_SPACE * left.size
        for (height, _, left, cell), (other_height, _, right, other) in pairwise(placed)
        if height == other_height and cell != other
    ]
    return bool(pairs) and 2 * sum(pairs) >= len(pairs)


def _place(placed: tuple[int, float, TextRun, Box]) -> tuple[int, float]:
    return placed[:2]


def _with_title(rows: tuple[Row, ...], box: Box, page: int) -> list[Line]:
    """The lines of a table's title, and the table as a line."""
    title = _title(rows)
    rows = rows[1:] if title else rows
    cells = dict.fromkeys(cell for row in rows for cell in row if cell)
    first = next(iter(cells))[0]
    text = " ".join(line.text for cell in cells for line in cell)
    # Below its title, however low that is; what stands between the side of the grid and its text is above it
    top = max([box.top, min(line.baseline - line.size for line in chain(*cells)), *(line.baseline + 1 for line in title)])
    return [*title, Line(page, top, first.size, first.bold, (TextCell(text, box.x0, box.x1),), table=rows)]


def _title(rows: tuple[Row, ...]) -> Cell:
    """The lines of a first row that is one cell in much larger type than all below: a heading of the page with a frame."""
    first, *others = rows
    below = [line for row in others for cell in row for line in cell]
    if (any(first[1:]) and len(set(first)) > 1) or not first[0] or not below:
        return ()
    return first[0] if min(line.size for line in first[0]) >= TITLE_SIZE * max(line.size for line in below) else ()


def _without_repeats(grid: Grid, lines_in: dict[Box, Cell]) -> Iterator[Row]:
    """The rows with text. A cell over several columns from the first is only in that, one over several rows in each of them; in
    the first row of a head of two, a cell is at each of its columns, and so are those of other rows, which belong to all of them,
    and the label that is the only cell of its row.
    """
    first_body = 0 if _has_two_heads(grid, lines_in) else 1
    rows = [
        tuple(
            () if cell is None or cell in row[: column if number < first_body else 1 if column else 0] else lines_in[cell]
            for column, cell in enumerate(row)
        )
        for number, row in enumerate(grid.rows)
    ]
    # Columns of spacing and of rules without text are none, nor are those whose cells are all over the column before
    used = [column for column in range(len(grid.rows[0])) if any(row[column] for row in rows)]
    used = [*used[:1], *(column for before, column in pairwise(used) if _has_own(grid, lines_in, before, column))]
    for cells, row in zip(grid.rows, rows, strict=True):
        kept = tuple(row[column] for column in used)
        if any(kept):
            yield (lines_in[label],) * len(kept) if len(set(cells)) == 1 and (label := cells[0]) else kept


def _has_own(grid: Grid, lines_in: dict[Box, Cell], before: int, column: int) -> bool:
    """Whether a column has a cell with text that is not over the column before too."""
    pairs = [(row[before], row[column]) for row in grid.rows]
    return any(cell != left and lines_in.get(cell) for left, cell in pairs if cell is not None)


def _has_two_heads(grid: Grid, lines_in: dict[Box, Cell]) -> bool:
    """Whether a cell of the first row is over several of the second: beside a corner that is empty or over both, or all bold."""
    if len(grid.rows) < 3:
        return False
    first, second = grid.rows[:2]
    spans = [column for column in range(2, len(first)) if first[column] is not None and first[column] == first[column - 1]]
    divided = any(second[column] != second[column - 1] for column in spans)
    texts = [line for cell in (*first, *second) if cell is not None for line in lines_in[cell]]
    has_corner = first[0] == second[0] or first[0] is None or not lines_in[first[0]]
    return divided and first[0] not in first[1:] and (has_corner or all(line.bold for line in texts))


def _with_wrapped_cells(rows: Iterable[Row]) -> Iterator[Row]:
    """The rows, one that only goes on with a cell of the row above ("red or green, raw," and "chopped") joined with it."""
    above: Row | None = None
    for row in rows:
        if above is not None and _goes_on(above, row):
            above = tuple(cell if cell == below else cell + below for cell, below in zip(above, row, strict=True))
            continue
        if above is not None:
            yield above
        above = row
    if above is not None:
        yield above


def _goes_on(above: Row, row: Row) -> bool:
    # Cells that span both rows are equal; foods or medicines that share such a cell have no comma between them
    different = [(cell, below) for cell, below in zip(above, row, strict=True) if cell != below]
    return len(row) > 1 and len(different) == 1 and all(different[0]) and different[0][0][-1].text.endswith(",")


def _line_by_line(row: Row) -> Iterator[Row]:
    """The rows in a row: where a cell of figures has at the same heights as many lines as each cell beside it."""
    cells = [cell for cell in row if cell]
    heights = {tuple(round(line.baseline) for line in cell) for cell in cells}
    figures = any(all(len(line.cells) == 1 and is_figure(line.cells[0]) for line in cell) for cell in cells)
    if len(cells) < 2 or len(set(cells)) < 2 or len(heights) > 1 or len(cells[0]) < MIN_LINES or not figures:
        yield row
        return
    yield from (tuple((cell[number],) if cell else () for cell in row) for number in range(len(cells[0])))


def _is_table(rows: tuple[Row, ...]) -> bool:
    full = [row for row in rows if len(set(filter(None, row))) > 1]
    longest = max((len({line.baseline for line in cell}) for row in rows for cell in row), default=0)
    # A single row of long cells is panels beside each other
    lengths = sorted(len({line.baseline for line in cell}) for cell in set(full[0])) if len(full) == len(rows) == 1 else [0, 0]
    return bool(full) and longest <= MAX_CELL_LINES and lengths[-2] < MIN_LONG and not _is_contents(full)


def _is_mosaic(grid: Grid) -> bool:
    """Whether, of two columns, each has cells over several of the other's, as those of no table."""
    over = {
        (one, other)
        for above, below in pairwise(grid.rows)
        for one, other in permutations(range(len(above)), 2)
        if above[one] == below[one] is not None and above[other] != below[other]
    }
    return any((other, one) in over for one, other in over)


def _are_panels(rows: Sequence[Row]) -> bool:
    """Whether most cells beside each other are texts with a heading of their own, as the panels of a poster that touch."""
    cells = {cell for row in rows if len(set(row)) > 1 for cell in row if cell}
    headed = sum(len(cell) >= MIN_PANEL_LINES and _is_headed(cell) for cell in cells)
    return headed >= MIN_PANELS and 2 * headed > len(cells)


def _is_headed(cell: Cell) -> bool:
    first, *others = cell
    return (
        first.bold
        and first.color != ()
        and not any(line.bold or line.color == first.color for line in others)
        and MARK.match(first.text) is None
    )


def _is_contents(rows: Iterable[Row]) -> bool:
    ends = [" ".join(line.text for line in [cell for cell in row if cell][-1]) for row in rows]
    numbers = [int(end) for end in ends if end.isdigit() and len(end) < 4]
    return len(ends) >= MIN_CONTENTS_ROWS and len(numbers) >= CONTENTS_SHARE * len(ends) and numbers == sorted(numbers)


# -- drawn bullets -------------------------------------------------------------------------------------------
# Bullets that are pictures or drawings, as the leaflets of designers have them, put into the text as
# bullets.

# In type sizes of the text behind it: the height and width of a bullet, and its distance
HEIGHT, WIDTH, DISTANCE = (0.2, 1.4), (0.15, 1.5), 2.0
# Points within which two bullets stand below each other; one alone is decoration
SAME_LEFT = 3.0
MIN_BULLETS = 2
MAX_ASPECT = 2.5
# Points: larger type is a title
MAX_SIZE = 16.0
# Of cells that are the items of a list, and how far above their frame the lead is at most, in its type sizes
CELL_MARKS, LEAD_GAP = "•▪■●", 3.0


def with_drawn_bullets(page: PdfPage) -> list[TextRun]:
    """The runs of the page, with a bullet before each text that a drawn one stands before."""
    bullets = [(area, run) for area in page.areas for run in [_text_behind(area, page.runs, page.areas)] if run is not None]
    lefts = [area.x0 for area, _ in bullets]
    kept = {run: area for area, run in bullets if sum(abs(area.x0 - left) < SAME_LEFT for left in lefts) >= MIN_BULLETS}
    return [*page.runs, *(_bullet(area, run) for run, area in kept.items())]


def _whole(area: Area, areas: Iterable[Area]) -> Area:
    """The drawing that an area is a part of: it with those that touch it."""
    parts = [
        part
        for part in areas
        if max(part.x0, area.x0) <= min(part.x1, area.x1) and max(part.top, area.top) <= min(part.bottom, area.bottom)
    ]
    lefts, tops, rights, bottoms = zip(*parts, strict=True)
    return Area(min(lefts), min(tops), max(rights), max(bottoms))


def _bullets_of_cells(grid: Grid, runs: Sequence[TextRun]) -> list[TextRun]:
    """A bullet for each cell of a column below a lead ("Do not take:"), since its cells are the items of a list.

    The page has no such bullet elsewhere, so these items are below the lead even where it is itself an item.
    """
    inside = [run for run in runs if _is_in(grid.box, run) and run.text.strip()]
    cells = {cell: [run for run in inside if _is_in(cell, run)] for cell in dict.fromkeys(chain(*grid.rows)) if cell is not None}
    over = [run for run in runs if run.baseline < grid.box.top + SNAP and run.x0 < grid.box.x1 and run.text.strip()]
    lead = max(over, key=lambda run: (run.baseline, run.x1), default=None)
    is_list = len(cells) >= MIN_LINES and len(cells) == len(grid.rows) and all(cells.values())
    if not is_list or lead is None or not lead.text.rstrip().endswith(":") or grid.box.top - lead.baseline > LEAD_GAP * lead.size:
        return []
    firsts = [min(own, key=lambda run: (round(run.baseline), run.x0)) for own in cells.values()]
    mark = next((mark for mark in CELL_MARKS if not any(run.text.startswith(mark) for run in runs)), None)
    if mark is None or any(MARK.match(f"{run.text} ") for run in firsts):
        return []
    return [
        TextRun(mark, cell.x0, run.x0, run.baseline, run.size, False, space_after=True)
        for cell, run in zip(cells, firsts, strict=True)
    ]


def _text_behind(area: Area, runs: Iterable[TextRun], areas: Iterable[Area]) -> TextRun | None:
    """The text that a small area is the bullet of: it is close behind it at its height, and nothing is before it."""
    on_line = [run for run in runs if run.text.strip() and _at_height(area, run)]
    behind = min((run for run in on_line if run.x0 >= area.x1 - 0.2 * run.size), key=lambda run: run.x0, default=None)
    if behind is None or behind.x0 - area.x1 > DISTANCE * behind.size or not _has_size(area, behind.size):
        return None
    if not _has_size(_whole(area, areas), behind.size):
        return None
    touching = any(run.x1 > area.x0 - 0.3 * behind.size and run.x0 < behind.x0 for run in on_line)
    return None if touching or not any(map(str.isalnum, behind.text)) else behind


def _at_height(area: Area, run: TextRun) -> bool:
    return run.baseline - run.size < (area.top + area.bottom) / 2 < run.baseline + 0.25 * run.size


def _has_size(area: Area, size: float) -> bool:
    height, width = (area.bottom - area.top) / size, (area.x1 - area.x0) / size
    # A piece of a rule or an underline is longer than it is wide
    round_enough = 1 / MAX_ASPECT <= (area.x1 - area.x0) / max(area.bottom - area.top, 0.01) <= MAX_ASPECT
    return round_enough and size <= MAX_SIZE and HEIGHT[0] <= height <= HEIGHT[1] and WIDTH[0] <= width <= WIDTH[1]


def _bullet(area: Area, run: TextRun) -> TextRun:
    return TextRun("•", area.x0, min(area.x1, run.x0), run.baseline, run.size, False, space_after=True)
