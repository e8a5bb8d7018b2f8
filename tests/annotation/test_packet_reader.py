"""No completed packet can exhaust the server: each is read in a process of its own, within limits of rows, memory and time."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import xlsxwriter

from annotation.label_store.engine import LabelStore
from annotation.studies import packet_reader
from annotation.studies.packet_reader import UnreadablePacketError, read_lines
from annotation.studies.packets import PacketImport, import_packet, packet_csv
from tests.support.studies import NOW, rating_history, study_of

SHEET, SHARED = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml"
ROWS_END = b"</sheetData>"


@pytest.fixture
def packet(lite: LabelStore) -> bytes:
    """An empty packet with three items as a spreadsheet program saves it, with its texts in a member of their own."""
    study_of(lite, 3)
    out = io.BytesIO()
    with xlsxwriter.Workbook(out) as book:
        sheet = book.add_worksheet("packet")
        for number, line in enumerate(read_lines("p.csv", packet_csv(lite, "s", "ana"))):
            sheet.write_row(number, 0, line)
    return out.getvalue()


def changed(packet: bytes, change: Callable[[bytes], bytes], member: str = SHEET) -> bytes:
    """The packet with one member of its archive changed."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(packet)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, change(old.read(name)) if name == member else old.read(name))
    return out.getvalue()


def with_dimension(reference: bytes, last_row: int) -> Callable[[bytes], bytes]:
    def change(sheet: bytes) -> bytes:
        start = sheet.index(b'<dimension ref="') + len(b'<dimension ref="')
        sheet = sheet[:start] + reference + sheet[sheet.index(b'"', start) :]
        row = b'<row r="%d"><c r="A%d" t="inlineStr"><is><t>x</t></is></c></row>' % (last_row, last_row)
        return sheet.replace(ROWS_END, row + ROWS_END)

    return change


def fault(data: bytes, name: str = "p.xlsx") -> str:
    with pytest.raises(UnreadablePacketError) as caught:
        read_lines(name, data)
    assert "No rating was stored." in str(caught.value)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_sheet_that_declares_every_cell_there_is_is_read_to_its_last_packet_row(lite: LabelStore, packet: bytes) -> None:
    huge = changed(packet, with_dimension(b"A1:XFD1048576", 60_000))
    assert import_packet(lite, "s", "ana", "p.xlsx", huge, NOW) == PacketImport(stored=0, unchanged=0, empty=3)


def test_a_fill_to_the_end_of_a_column_is_read_to_the_last_packet_row(lite: LabelStore, packet: bytes) -> None:
    filled = changed(packet, with_dimension(b"A1:K1048576", 1_048_576))
    assert import_packet(lite, "s", "ana", "p.xlsx", filled, NOW) == PacketImport(stored=0, unchanged=0, empty=3)


@pytest.mark.slow
def test_a_million_formatted_rows_without_text_are_not_read(packet: bytes) -> None:
    rows = b"".join(b'<row r="%d"><c r="A%d" s="1"/></row>' % (n, n) for n in range(5, 1_000_000))
    lines = read_lines("p.xlsx", changed(packet, lambda sheet: sheet.replace(ROWS_END, rows + ROWS_END)))
    assert len(lines) <= 4 + packet_reader.MAX_EMPTY_ROWS


@pytest.mark.parametrize("member", [SHEET, SHARED, "xl/workbook.xml", "[Content_Types].xml"])
def test_xml_cut_in_half_is_a_sentence(packet: bytes, member: str) -> None:
    assert "p.xlsx cannot be read as a workbook" in fault(changed(packet, lambda xml: xml[: len(xml) // 2], member))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("member", [SHEET, SHARED])
def test_a_document_type_is_refused_before_any_entity_is_read(packet: bytes, member: str, encoding: str) -> None:
    def with_entities(xml: bytes) -> bytes:
        body = xml.decode().partition("?>")[2] if xml.startswith(b"<?xml") else xml.decode()
        bomb = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
        document_type = f'<!-- {"x" * 100_000} --><!DOCTYPE x [<!ENTITY e0 "lol">{bomb}]>'
        return f'<?xml version="1.0" encoding="{encoding}"?>{document_type}{body.replace("x", "&e9;", 1)}'.encode(encoding)

    assert "contains a document type declaration" in fault(changed(packet, with_entities, member))


def test_an_archive_that_unpacks_to_gigabytes_is_refused(packet: bytes) -> None:
    assert "unpacks to more than 200 MB" in fault(changed(packet, lambda xml: xml + b" " * (201 * 2**20), SHARED))


def test_an_archive_that_states_a_smaller_size_than_it_has_is_a_sentence(packet: bytes) -> None:
    bomb = bytearray(changed(packet, lambda xml: xml + b" " * (50 * 2**20), SHARED))
    # The size as the central directory states it.
    entry = bomb.rindex(b"PK\x01\x02", 0, bomb.rindex(SHARED.encode()))
    bomb[entry + 24 : entry + 28] = (100).to_bytes(4, "little")
    assert "p.xlsx cannot be read as a workbook" in fault(bytes(bomb))


def test_cells_that_share_one_long_text_are_counted_at_their_length(packet: bytes) -> None:
    cells = b'<c t="s"><v>0</v></c>' * 40
    rows = b"".join(b'<row r="%d">%s</row>' % (n, cells) for n in range(5, 1_000))
    data = changed(packet, lambda sheet: sheet.replace(ROWS_END, rows + ROWS_END))
    long = changed(data, lambda xml: xml.replace(b"<t>item</t>", b"<t>" + b"x" * 32_000 + b"</t>"), SHARED)
    assert "has more than 20,000 rows or 50,000,000 characters" in fault(long)


def test_more_rows_than_any_packet_has_are_refused(packet: bytes) -> None:
    rows = b"".join(b'<row r="%d"><c><v>1</v></c></row>' % n for n in range(5, packet_reader.MAX_ROWS + 2))
    assert "more than 20,000 rows" in fault(changed(packet, lambda sheet: sheet.replace(ROWS_END, rows + ROWS_END)))


def test_a_file_that_needs_more_memory_than_allowed_is_refused(packet: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packet_reader, "MAX_MEMORY_BYTES", 160 * 2**20)
    text = b"<si><t>%s</t></si></sst>" % (b"x" * 60 * 2**20)
    message = fault(changed(packet, lambda xml: xml.replace(b"</sst>", text), SHARED))
    assert message == "p.xlsx needs more than 160 MB of memory to be read, so it is not a packet. No rating was stored."


def test_a_file_that_takes_too_long_is_given_up(packet: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packet_reader, "MAX_SECONDS", 0.001)
    assert fault(packet) == "p.xlsx could not be read within 0.001 seconds. No rating was stored."


READS_AND_PRINTS_THE_MOST_MEMORY = """
import resource, sys
from annotation.studies.packet_reader import UnreadablePacketError, read_lines
try:
    read_lines("p.xlsx", sys.stdin.buffer.read())
except UnreadablePacketError:
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def test_a_large_damaged_file_takes_little_memory(lite: LabelStore, packet: bytes) -> None:
    damaged = changed(packet, lambda xml: xml + b" " * (150 * 2**20), SHARED)[:-1]
    # In a process of its own, because the figure is that of all children that a process ever had
    reader = [sys.executable, "-c", READS_AND_PRINTS_THE_MOST_MEMORY]
    largest_kib = int(subprocess.run(reader, input=damaged, capture_output=True, check=True).stdout)
    assert largest_kib * 1024 < packet_reader.MAX_MEMORY_BYTES
    assert rating_history(lite, "s") == []


def test_a_packet_is_read_wherever_the_program_was_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    assert read_lines("p.csv", b"item\n") == [["item"]]


@pytest.mark.parametrize("name", ["-c.csv", "a\0b.csv", "half a pair \ud83d.csv", "line\nline.csv"])
def test_the_name_of_an_upload_is_only_a_name(name: str) -> None:
    assert read_lines(name, b"item,label\n1,absent\n") == [["item", "label"], ["1", "absent"]]
