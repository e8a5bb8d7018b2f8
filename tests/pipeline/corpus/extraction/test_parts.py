"""Long sections in parts: where they are divided, what each repeats, and the pages of each."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from audit.pipeline.corpus.extraction.parts import MAX_LETTERS, in_parts
from audit.text.documents import Document, Section, read_document, write_document
from audit.text.statements import ITEM_MARK, statements

SENTENCES = "Wash the grapes in cold water. Peel each of them, and cut them into halves. "
PARAGRAPH = (SENTENCES * 4).strip()
FOODS = [f"dish {number} of the old kitchen, with {'much ' * 20}salt" for number in range(100)]


def parts_of(text: str, **fields: object) -> list[Section]:
    return list(in_parts([Section("s00007", "Meals", text, above=("Home",), **fields)]))  # type: ignore[arg-type]


def test_a_section_that_can_be_cited_stays_as_it_is() -> None:
    section = Section("s00001", "Meals", "x" * MAX_LETTERS)
    assert list(in_parts([section])) == [section]


def test_a_long_section_ends_at_paragraphs_and_loses_nothing() -> None:
    text = "\n\n".join([PARAGRAPH] * 60)
    parts = parts_of(text, url="https://example.org#meals")
    assert [part.section_id for part in parts][:3] == ["s00007", "s00007.2", "s00007.3"]
    assert {(part.heading, part.above, part.url) for part in parts} == {("Meals", ("Home",), "https://example.org#meals")}
    assert [part.part for part in parts] == [(number, len(parts)) for number in range(1, len(parts) + 1)]
    assert parts[1].name == f"Home > Meals (part 2 of {len(parts)})"
    assert "\n\n".join(part.text for part in parts) == text
    lengths = [len(part.text) for part in parts]
    assert max(lengths) <= MAX_LETTERS
    assert min(lengths) > 0.7 * max(lengths)


@pytest.mark.parametrize("lead", ["Never eat:", "Some dishes are not safe. These include:"])
def test_each_item_of_a_divided_list_keeps_its_lead(lead: str) -> None:
    text = f"{PARAGRAPH}\n\n{lead}\n" + "\n".join(ITEM_MARK + food for food in FOODS) + f"\n\n{PARAGRAPH}"
    parts = parts_of(text)
    found = [statement for part in parts for statement in statements(part.text) if statement.kind == "item"]
    assert [statement.text for statement in found] == FOODS
    assert {statement.leads for statement in found} == {(lead,)}
    assert all(len(part.text) <= MAX_LETTERS for part in parts)


def test_an_inner_list_keeps_every_lead_above_it() -> None:
    inner = "\n".join(f"  {ITEM_MARK}{food}" for food in FOODS)
    text = f"Until you are well, do not:\n{ITEM_MARK}Eat:\n{inner}\n{ITEM_MARK}smoke"
    for before, part in pairwise(parts_of(text)):
        assert part.text.startswith(f"Until you are well, do not:\n{ITEM_MARK}Eat:\n  {ITEM_MARK}dish"), before.text[-80:]
    found = [statement for part in parts_of(text) for statement in statements(part.text)]
    assert [statement.leads for statement in found[:-1]] == [("Until you are well, do not:", "Eat:")] * len(FOODS)
    assert found[-1].quoted == "Until you are well, do not: smoke"


def test_the_sentences_of_an_item_that_is_divided_are_items_of_the_same_lead() -> None:
    text = f"Do not:\n{ITEM_MARK}{SENTENCES * 120}"
    assert {statement.leads for part in parts_of(text) for statement in statements(part.text)} == {("Do not:",)}


def test_the_rows_of_a_divided_table_keep_their_label() -> None:
    rows = "\n".join(f"Food: {food} | Allowed: no" for food in FOODS)
    found = [statement for part in parts_of(f"Forbidden\n{rows}") for statement in statements(part.text)]
    assert len(found) == len(FOODS)
    assert {statement.leads for statement in found} == {("Forbidden",)}


def test_no_part_ends_with_what_introduces_the_next_one() -> None:
    text = "\n\n".join([PARAGRAPH, "Foods to leave out", PARAGRAPH, "Keep away from:", PARAGRAPH] * 20)
    for part in parts_of(text):
        assert part.text.endswith("halves.")


def test_each_part_has_its_own_pages() -> None:
    paragraphs = [f"Never eat:\n{ITEM_MARK}" + f"\n{ITEM_MARK}".join(FOODS)]
    text = paragraphs[0]
    starts = ((4, 0), (5, text.index("dish 40 ")), (6, text.index("dish 90 ")))
    parts = parts_of(text, pages=(4, 6), page_starts=starts)
    whole = Section("s", "", text, pages=(4, 6), page_starts=starts)
    for part in parts:
        for statement in statements(part.text):
            assert part.page_at(statement.start) == whole.page_at(text.index(statement.text)), statement.text
        # The lead stands on page 4
        assert part.page_at(0) == 4
        assert part.pages == (4, max(part.page_at(statement.start) or 0 for statement in statements(part.text)))


def test_pages_without_known_beginnings_are_those_of_the_whole_section() -> None:
    assert {part.pages for part in parts_of(PARAGRAPH * 40, pages=(3, 9))} == {(3, 9)}


@pytest.mark.parametrize("text", ["x" * 20_000, "word " * 5_000, "。".join(["字" * 70] * 300), "a\n\n" * 9_000])
def test_text_without_sentences_is_divided_too(text: str) -> None:
    parts = parts_of(text)
    assert max(len(part.text) for part in parts) <= MAX_LETTERS
    assert "".join("".join(part.text for part in parts).split()) == "".join(text.split())


def test_parts_are_stored_and_a_document_without_them_is_read(tmp_path: Path) -> None:
    document = Document("h", "kidney", "c", "combined", tuple(parts_of("\n\n".join([PARAGRAPH] * 60))))
    path = write_document(document, tmp_path / "h.json")
    assert read_document(path).sections == document.sections
    record = json.loads(path.read_text())
    for section in record["sections"]:
        del section["part"]
    path.write_text(json.dumps(record))
    assert {section.part for section in read_document(path).sections} == {()}


def test_a_heading_is_once_in_the_text_of_the_document() -> None:
    document = Document("h", "kidney", "c", "combined", tuple(parts_of("\n\n".join([PARAGRAPH] * 60))))
    assert document.full_text.count("Meals") == 1
