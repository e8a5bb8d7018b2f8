"""Packets: an annotator's items as CSV or XLSX, to be rated without the dashboard and imported again.

A packet contains what its annotator sees on the page and nothing else: no verdict, no stratum, nobody else's rating.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from openpyxl import Workbook
from openpyxl.cell import Cell
from openpyxl.styles import Alignment, Font, PatternFill, Protection
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.worksheet import Worksheet

import annotation
from annotation.label_store.assignments import Choice, LabellingTask, list_tasks
from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.ratings import PACKET, NewRating, add_rating, check_choice
from annotation.label_store.rationales import MarkedSentence
from annotation.label_store.stored_values import MAX_COMMENT_LENGTH, storable_text
from annotation.label_store.studies import find_study
from annotation.schemes import HEAD_TO_HEAD, PAIRS, Scheme
from annotation.studies.packet_reader import MAX_PACKET_BYTES, NOTHING_STORED, UnreadablePacketError, read_lines
from audit.formatting import safe_cell
from audit.people_tables import TableSource, table_of, visible
from audit.text.sentences import SentenceSpan, sentence_spans
from audit.vocabulary import DIFFERENCE_SPELLINGS, DIFFERENCES, EMPTY_WORDS, SIGNIFICANCE_SPELLINGS, SIGNIFICANCES, nearest, plain

# -- workbook ------------------------------------------------------------------------------------------------
# What annotators fill in is unlocked and has menus, all else is locked, and the rubric is next to it.

# -- rubric --------------------------------------------------------------------------------------------------
# The tables of PROTOCOL.md on what a study asks, for the labelling page and for packets.

# Page, packet and protocol share one text, so they cannot differ.
PROTOCOL = Path(annotation.__file__).with_name("PROTOCOL.md")
RubricTable = list[list[str]]
"""Rows of cells, the headings first; `**` marks what is bold."""


def protocol_text() -> str:
    """The protocol as Markdown, without its title."""
    return PROTOCOL.read_text(encoding="utf-8").partition("\n")[2]


def rubric_tables(scheme: Scheme) -> list[RubricTable]:
    """The tables of the protocol's sections on what a study of this scheme asks."""
    sections = re.split(r"^(?=## )", protocol_text(), flags=re.MULTILINE)
    own = "".join(section for section in sections if section.startswith(scheme.rubric))
    return [_cells(table) for table in re.findall(r"(?:^\|.*\n)+", own, flags=re.MULTILINE)]


def _cells(markdown: str) -> RubricTable:
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in markdown.strip().splitlines()]
    return [rows[0], *rows[2:]]  # the second line of a table in Markdown is a rule


MAX_XLSX_CELL = 32_767
"""Characters that fit into a cell of a spreadsheet."""
# A workbook writes control characters as _xHHHH_, so a text that looks like that has to be escaped as well.
XLSX_ESCAPE = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)|[\x00-\x08\x0b-\x1f\ufffe\uffff]")
WIDTHS = {"question": 40, **dict.fromkeys(("answer_1", "answer_2", "answer_a", "answer_b", "reference"), 70), "comment": 40}
WIDTHS |= dict.fromkeys(("marked_1", "marked_2", "marked_a", "marked_b"), 50)
WIDTHS |= {"label": 18, "significance": 14, "difference": 18}
PACKET_SHEET, RUBRIC_SHEET = "packet", "rubric"
TO_FILL = PatternFill("solid", fgColor="FFF7DC")
RUBRIC_WIDTHS = {"A": 60, "B": 90}
HOW_TO_FILL = (
    "Fill in the yellow columns of the sheet 'packet'. Each has a menu of the allowed words; the other columns are locked.",
    "To show what a label rests on, copy whole sentences of an answer into its column 'marked', one a line. It may stay empty.",
    "Do not merge cells, and do not move texts between rows: the entire file would be rejected.",
    "An item that you leave empty stays open. Save the file as .xlsx and send it back.",
)


def workbook_bytes(
    columns: Sequence[str], rows: Sequence[Sequence[str]], filled: Mapping[str, Sequence[str]], scheme: Scheme
) -> bytes:
    """The workbook.

    filled  column that annotators fill in -> the words of its menu; none: any text
    """
    book = Workbook()
    sheet = book.active
    assert isinstance(sheet, Worksheet)
    sheet.title = PACKET_SHEET
    for row in (columns, *rows):
        sheet.append([xlsx_text(value) for value in row])
    _format_columns(sheet, filled)
    # Without a password: it keeps texts from being overwritten by mistake, and an import checks what matters.
    sheet.protection.enable()
    sheet.protection.formatColumns = sheet.protection.formatRows = False
    _write_rubric(book.create_sheet(RUBRIC_SHEET), scheme)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def xlsx_text(text: str) -> str:
    """The text as a cell of a workbook stores it."""
    return XLSX_ESCAPE.sub(lambda match: f"_x{ord(match[0]):04X}_", text)


def _format_columns(sheet: Worksheet, filled: Mapping[str, Sequence[str]]) -> None:
    sheet.freeze_panes = "A2"
    for number, cells in enumerate(sheet.iter_cols(), start=1):
        name, letter = str(cells[0].value), get_column_letter(number)
        cells[0].font = Font(bold=True)
        sheet.column_dimensions[letter].width = WIDTHS.get(name, 12)
        for cell in cells[1:]:
            assert isinstance(cell, Cell)  # nothing is merged here
            _format_cell(cell, name in filled)
        if menu := filled.get(name):
            sheet.add_data_validation(_menu(name, menu, f"{letter}2:{letter}{max(sheet.max_row, 2)}"))


def _format_cell(cell: Cell, unlocked: bool) -> None:
    cell.data_type = "s"  # text, so a spreadsheet never reads it as a formula, a number or a date
    cell.number_format = "@"
    cell.alignment = Alignment(wrap_text=True, vertical="top")
    if unlocked:
        cell.protection, cell.fill = Protection(locked=False), TO_FILL


def _menu(name: str, words: Sequence[str], cells: str) -> DataValidation:
    listed = ",".join(map(str, words))
    menu = DataValidation(type="list", formula1=f'"{listed}"', allow_blank=True, showErrorMessage=True)
    menu.errorTitle, menu.error = f"Not a word for {name}", f"Choose one of: {listed.replace(',', ', ')}. Or leave it empty."
    menu.add(cells)
    return menu


def _write_rubric(sheet: Worksheet, scheme: Scheme) -> None:
    for line in (*HOW_TO_FILL, "", f"{scheme.asks} The label is one of these:"):
        sheet.append([line])
    for option in scheme.options:
        sheet.append([option.word, option.meaning])
    for table in rubric_tables(scheme):
        sheet.append([])
        for number, row in enumerate(table):
            sheet.append([cell.replace("**", "").replace("*", "") for cell in row])
            for cell in sheet[sheet.max_row]:
                cell.font = Font(bold=number == 0)
    for letter, width in RUBRIC_WIDTHS.items():
        sheet.column_dimensions[letter].width = width
    for number, cells in enumerate(sheet.iter_rows(), start=1):
        for cell in cells:
            cell.data_type = "s"
            # The lines above the tables have no second column, so they run on over it
            cell.alignment = Alignment(wrap_text=number > len(HOW_TO_FILL) + 2, vertical="top")
    sheet.protection.enable()


# -- marked sentences ----------------------------------------------------------------------------------------
# The sentences that a label rests on: copied from the answers, one a line, and found there again.

MAX_QUOTED = 40
# U+2028 and others are characters of an answer; only a line feed or carriage return ends a line of a cell
LINE_END = re.compile(r"\r\n|\r|\n")


def marked_lines(rationale: Sequence[MarkedSentence], answers: Sequence[str]) -> list[str]:
    """For each of the two answers as shown, its marked sentences, one a line."""
    return [
        "\n".join(" ".join(text[one.start : one.end].split()) for one in sorted(rationale) if one.side == side)
        for side, text in enumerate(answers)
    ]


def sentences_of_lines(lines: str, answer: str, side: int) -> list[MarkedSentence]:
    """The sentences of an answer that were copied into a cell; a line may have several that follow each other.

    side  of the answer, as in MarkedSentence

    Raises StudyError for a line that is not made of whole sentences of the answer. Spaces do not matter.
    """
    spans = list(sentence_spans(answer))
    texts = [" ".join(answer[start:end].split()) for start, end in spans]
    taken: set[int] = set()
    for line in filter(None, (" ".join(line.split()) for line in LINE_END.split(lines))):
        match = next((run for run in _runs(spans, texts, line) if not taken & set(run)), None)
        if match is None:
            raise StudyError(f"'{line[:MAX_QUOTED]}' is not a sentence of this answer. Copy whole sentences, one a line.")
        taken |= set(match)
    return [MarkedSentence(side, *spans[index]) for index in sorted(taken)]


def _runs(spans: Sequence[SentenceSpan], texts: Sequence[str], line: str) -> list[range]:
    """Sentences in a row whose texts together are the line."""
    runs = []
    for first in range(len(spans)):
        last, joined = first, texts[first]
        while len(joined) < len(line) and last + 1 < len(spans):
            last += 1
            joined = f"{joined} {texts[last]}"
        if joined == line:
            runs.append(range(first, last + 1))
    return runs


MARKED_COLUMNS = {PAIRS.name: ("marked_1", "marked_2"), HEAD_TO_HEAD.name: ("marked_a", "marked_b")}
"""The sentences of each answer that a label rests on, one a line."""
FILLED_COLUMNS = {
    PAIRS.name: ("label", "significance", "difference", "unsure", "comment", *MARKED_COLUMNS[PAIRS.name]),
    HEAD_TO_HEAD.name: ("label", "unsure", "comment", *MARKED_COLUMNS[HEAD_TO_HEAD.name]),
}
COLUMNS = {
    PAIRS.name: ("item", "order", "question", "answer_1", "answer_2", "name_1", "name_2", *FILLED_COLUMNS[PAIRS.name]),
    HEAD_TO_HEAD.name: ("item", "order", "question", "answer_a", "answer_b", "reference", *FILLED_COLUMNS[HEAD_TO_HEAD.name]),
}
"""The columns of a packet, by scheme. Packets of earlier versions lack `difference`, why the advice differs.

On paper nobody can note who opened a reference answer, so it has a column.
"""
YES, NO = ("yes", "y", "x", "1", "true"), ("no", "n", "0", "false")
MAX_FAULTS_LISTED = 20
ENDINGS = (".csv", ".xlsx")
PacketRows = list[tuple[str, dict[str, str]]]
"""(place in the file, such as `row 2`; column -> text)."""
NUMBER = re.compile(r"[\d.,\s]+(?:E[+-]?\d+)?", re.IGNORECASE)
"""What a spreadsheet makes of an id of digits, such as those of studies that are older than ids with a letter in front."""


@dataclass(frozen=True)
class PacketImport:
    """Result of an import: ratings stored, rows whose rating was already stored, rows left empty."""

    stored: int
    unchanged: int
    empty: int

    @property
    def rows(self) -> int:
        """The rows of the file that have a text."""
        return self.stored + self.unchanged + self.empty


def packet_csv(store: LabelStore, study_id: str, annotator: str) -> bytes:
    """The annotator's packet as UTF-8 CSV with a byte order mark: the open round in their own order, with their ratings."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\r\n")
    columns = COLUMNS[find_study(store, study_id).scheme.name]
    writer.writerow(columns)
    for task in list_tasks(store, study_id, annotator):
        writer.writerow([safe_cell(value) for value in _packet_row(task, columns)])
    return buffer.getvalue().encode("utf-8-sig")


def packet_xlsx(store: LabelStore, study_id: str, annotator: str) -> bytes:
    """The annotator's packet as a workbook: menus of the allowed words, only the columns to fill in unlocked, and the rubric on a
    second sheet.

    Raises StudyError when a text does not fit into a cell; CSV has no such limit.
    """
    scheme = find_study(store, study_id).scheme
    columns = COLUMNS[scheme.name]
    tasks = list_tasks(store, study_id, annotator)
    for task in tasks:
        _check_lengths(task, columns)
    menus = {"label": scheme.words, "significance": SIGNIFICANCES, "difference": DIFFERENCES, "unsure": (YES[0], NO[0])}
    rows = [[str(safe_cell(value)) for value in _packet_row(task, columns)] for task in tasks]
    return workbook_bytes(columns, rows, {name: menus.get(name, ()) for name in FILLED_COLUMNS[scheme.name]}, scheme)


def _check_lengths(task: LabellingTask, columns: Sequence[str]) -> None:
    longest = max(len(xlsx_text(value)) for value in _packet_row(task, columns))
    if longest > MAX_XLSX_CELL:
        raise StudyError(
            f"Item {task.assignment_id} has a text of {longest:,} characters; a cell of a workbook can have {MAX_XLSX_CELL:,}. "
            "No packet was written. Export it as CSV."
        )


def _packet_row(task: LabellingTask, columns: Sequence[str]) -> list[str]:
    rated = task.rated or Choice()
    cells = {
        "item": task.assignment_id, "order": str(task.position), "question": task.question,
        "answer_1": task.first, "answer_2": task.second, "name_1": task.first_name, "name_2": task.second_name,
        "answer_a": task.first, "answer_b": task.second, "reference": task.reference,
        "label": rated.label, "significance": rated.significance, "difference": rated.difference,
        "unsure": "yes" if rated.flagged else "", "comment": rated.comment,
    }  # fmt: skip
    marked = marked_lines(rated.rationale, (task.first, task.second))
    cells |= dict(zip(("marked_1", "marked_2"), marked, strict=True)) | dict(zip(("marked_a", "marked_b"), marked, strict=True))
    return [cells[column] or "" for column in columns]


# -- reading back ------------------------------------------------------------------------------------------------------


def import_packet(store: LabelStore, study_id: str, annotator: str, name: str, data: bytes, now: datetime) -> PacketImport:
    """Store the ratings of a filled packet: all of them, or none if any row has a fault.

    name  the file's name, ending in .csv or .xlsx; messages quote it

    Rows may be in any order, rows without a label are skipped, and a rating that differs from the stored one is a revision.
    Importing the same packet twice changes nothing. Offline ratings have no time per item.

    Raises StudyError naming file, row and column of every fault (the first twenty), and UnreadablePacketError when the file
    cannot be read at all.
    """
    scheme = find_study(store, study_id).scheme
    rows = _read_rows(name, data, COLUMNS[scheme.name])
    tasks = {task.assignment_id: task for task in list_tasks(store, study_id, annotator)}
    faults: list[str] = []
    filled = [_new_rating(name, place, row, tasks, scheme, faults) for place, row in rows]
    faults += _duplicate_items(name, rows)
    if faults:
        more = f"\n... and {len(faults) - MAX_FAULTS_LISTED} more." if len(faults) > MAX_FAULTS_LISTED else ""
        listed = "\n".join(faults[:MAX_FAULTS_LISTED])
        raise StudyError(f"{listed}{more}\nNo rating was stored. Correct the file and import it again.")
    ratings = [rating for rating in filled if rating is not None]
    changed = [rating for rating in ratings if rating.choice != tasks[rating.assignment_id].rated]
    with store.begin() as tx:
        for rating in changed:
            add_rating(tx, annotator, rating, now)
    return PacketImport(len(changed), len(ratings) - len(changed), len(filled) - len(ratings))


def _read_rows(name: str, data: bytes, columns: Sequence[str]) -> PacketRows:
    if not name.lower().endswith(ENDINGS):
        raise StudyError(f"{name} is not a packet. Allowed: {' and '.join(ENDINGS)} files. No rating was stored.")
    if len(data) > MAX_PACKET_BYTES:
        raise StudyError(f"{name} is larger than {MAX_PACKET_BYTES >> 20} MB, so it is not a packet. No rating was stored.")
    # Cells that are missing at the end of a row are empty: spreadsheets leave them out
    table = table_of(read_lines(name, data), TableSource(name, NOTHING_STORED, UnreadablePacketError), fill=True)
    if fault := _header_fault(table.columns, columns):
        raise StudyError(f"{name}, row 1: {fault}. Needed: {', '.join(columns)}. {NOTHING_STORED}")
    return [(row.place, dict(row.cells)) for row in table.rows]


def _header_fault(header: Mapping[str, str], columns: Sequence[str]) -> str:
    """The fault in the column names; empty if there is none."""
    if missing := [column for column in columns if column not in header and column != "difference"]:
        return f"column '{missing[0]}' is missing"
    foreign = [written for column, written in header.items() if column not in columns]
    # Text in an annotator's own column would otherwise be lost silently.
    return f"column '{foreign[0][:40]}' is not one of a packet" if foreign else ""


def _unknown_item(item: str) -> str:
    if NUMBER.fullmatch(item):
        return (
            f"'{item}' is a number: a spreadsheet took the item's id for one when it opened the CSV file, and saved it so. "
            "Copy the ids from the packet as it was sent, or fill in the packet as XLSX, which keeps them."
        )
    return f"'{item[:40]}' is not an item of this packet."


def _new_rating(
    name: str, place: str, row: dict[str, str], tasks: dict[str, LabellingTask], scheme: Scheme, faults: list[str]
) -> NewRating | None:
    """The rating of one row; None where the label is empty, or where a fault was added to `faults`."""
    before = len(faults)

    def fault(column: str, problem: str) -> None:
        faults.append(f"{name}, {place}, column {column}: {problem}")

    task = tasks.get(visible(row["item"]))
    if task is None:
        fault("item", _unknown_item(visible(row["item"])))
    elif row["question"].split() != task.question.split():  # a spreadsheet may change line breaks, but not words
        fault("question", "this is not the question of the item; were cells moved?")
    choice = _filled_choice(row, scheme, fault)
    if task is None or choice is None or len(faults) > before:
        return None
    choice = replace(choice, rationale=_marked_sentences(row, scheme, task, fault))
    if "difference" not in row and task.rated and task.rated.label == choice.label:
        choice = replace(choice, difference=task.rated.difference)
    if len(faults) > before:
        return None
    # The key follows from the content, so two imports of the same packet at the same time store each rating once.
    key = hashlib.sha256(repr((task.assignment_id, task.revision, choice)).encode()).hexdigest()
    return NewRating(task.assignment_id, choice, f"packet/{key}", task.revision, PACKET)


def _marked_sentences(
    row: dict[str, str], scheme: Scheme, task: LabellingTask, fault: Callable[[str, str], None]
) -> tuple[MarkedSentence, ...]:
    marked: list[MarkedSentence] = []
    for side, (column, answer) in enumerate(zip(MARKED_COLUMNS[scheme.name], (task.first, task.second), strict=True)):
        try:
            marked += sentences_of_lines(row.get(column, ""), answer, side)
        except StudyError as error:
            fault(column, str(error))
    return tuple(sorted(marked))


def _filled_choice(row: dict[str, str], scheme: Scheme, fault: Callable[[str, str], None]) -> Choice | None:
    label = _vocabulary_word(row, "label", scheme.spellings, scheme.words, fault)
    significance = _vocabulary_word(row, "significance", SIGNIFICANCE_SPELLINGS, SIGNIFICANCES, fault) if scheme.graded else None
    flagged = visible(row["unsure"]).casefold()
    if flagged not in ("", *YES, *NO):
        fault("unsure", f"'{row['unsure'][:40]}' is not yes or no.")
    if len(row["comment"]) > MAX_COMMENT_LENGTH:
        fault("comment", f"it has {len(row['comment']):,} characters; at most {MAX_COMMENT_LENGTH:,} are allowed.")
    if label is None:
        if any(row.get(column, "").strip() for column in FILLED_COLUMNS[scheme.name][1:]) and plain(row["label"]) in EMPTY_WORDS:
            fault("label", "it is empty, but another column is filled in.")
        return None
    choice = Choice(label, significance, flagged in YES, storable_text(row["comment"]))
    difference = _vocabulary_word(row, "difference", DIFFERENCE_SPELLINGS, DIFFERENCES, fault) if "difference" in row else None
    for column, checked in (("significance", choice), ("difference", replace(choice, difference=difference))):
        try:
            check_choice(checked, scheme)
        except StudyError as error:
            fault(column, str(error).removesuffix(" Nothing was saved."))
            break
    return checked


def _vocabulary_word(
    row: dict[str, str], column: str, spellings: Mapping[str, str], allowed: Sequence[str], fault: Callable[[str, str], None]
) -> str | None:
    word = plain(visible(row[column]))
    if word in EMPTY_WORDS:
        return None
    if word not in spellings:
        hint = nearest(row[column], tuple(allowed))
        fault(column, f"'{row[column][:40]}' is not in the vocabulary.{hint} Allowed: {', '.join(allowed)}.")
        return None
    return str(spellings[word])


def _duplicate_items(name: str, rows: PacketRows) -> list[str]:
    seen: dict[str, str] = {}
    faults = []
    for place, row in rows:
        item = visible(row["item"])
        if item in seen:
            faults.append(f"{name}, {place}, column item: '{item[:40]}' already appears in {seen[item]}.")
        seen.setdefault(item, place)
    return faults
