"""What `audit extract` keeps of two real PDFs of the US government, and how that is counted."""

import pytest

from benchmarks.extract_real import PUBLIC_DOMAIN, available, counts_of, pages_of
from benchmarks.real_measures import (
    RealDocument,
    lost_leads,
    order_pairs,
    page_words,
    real_documents,
    score_headings,
    torn_rows,
    words,
)


def document(**parts) -> RealDocument:
    texts = dict.fromkeys(("title", "repository", "path", "sha256", "licence", "language", "layout"), "")
    return RealDocument(**{"file": "leaflet.pdf", **texts, "pages": (1, 1), "headings": {}, **parts})


# -- how it is counted -------------------------------------------------------------------------------------------------


def test_a_heading_counts_without_its_spaces_and_marks_and_with_a_letter_lost():
    leaflet = document(headings={"1": ["What To Do, Day by Day", "Warning Signs"], "2": ["Fever"]})
    score = score_headings(leaflet, [("WHAT TO DO DAYBY DAY:", ""), ("Warnin Signs", ""), ("Call 911", "")])
    assert (score.expected, score.extracted, score.missed, score.false) == (3, 3, (("2", "Fever"),), ("Call 911",))


def test_a_repeated_heading_is_found_once_and_an_optional_line_is_never_false():
    leaflet = document(headings={"1": ["Fever"]}, optional=["Table 1"])
    assert score_headings(leaflet, [("Fever", ""), ("Fever", ""), ("Table 1", "")]).false == ("Fever",)


def test_paragraphs_are_in_order_when_each_begins_after_the_one_before():
    leaflet = document(order={"1": ["Wash your hands", "Cook the meat", "Store it cold"]})
    pairs = order_pairs(leaflet, [("", "Wash your hands well."), ("", "Store it cold. Cook the meat through.")])
    assert [right for *_, right in pairs] == [True, False]


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("Banana | Portion: 1 medium | Potassium: 467", True),
        ("|Banana|1 medium|467|", True),
        ("Banana | Portion: 1 medium\n467", False),
        ("Banana | 467 | 1 medium", False),
        ("Banana Green apple | 1 medium 1 small | 467 159", False),
    ],
)
def test_a_row_is_whole_on_one_line_that_has_no_other_rows_label(text, whole):
    leaflet = document(rows=[["Banana", "1 medium", "467"], ["Green apple", "1 small", "159"]])
    assert (["Banana", "1 medium", "467"] not in torn_rows(leaflet, [("", text)])) is whole


@pytest.mark.parametrize(
    ("sections", "kept"),
    [
        ([("Diarrhea", "DON'T:\n• Drink alcohol.")], True),
        ([("Diarrhea", "**DON'T:**\n\n- Drink alcohol.")], True),
        ([("Diarrhea", "|DO|DON'T|\n|---|---|\n|Rest.|Drink alcohol.|")], True),
        ([("DON'T", "Drink alcohol.")], True),
        ([("Diarrhea", "DON'T:\n\nDrink alcohol.")], False),
        ([("Diarrhea", "DO: DON'T:\n\n• Drink alcohol.")], False),
        ([("Diarrhea", "DO:\n• Drink alcohol.")], False),
    ],
)
def test_an_item_keeps_its_lead_when_no_other_is_nearer(sections, kept):
    leaflet = document(leads=[["DON'T", "Drink alcohol"], ["DO", "Rest"]])
    assert (["DON'T", "Drink alcohol"] not in lost_leads(leaflet, sections)) is kept


def test_words_are_read_without_ligatures_case_and_tags():
    assert words("Conﬁrm <b>Prograf</b>® at 38.5") == ("confirm", "prograf", "at", "38", "5")


# -- two documents that are here ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shipped() -> dict[str, RealDocument]:
    return {each.file: each for each in real_documents() if (PUBLIC_DOMAIN / each.file).exists()}


def test_documents_that_are_not_there_are_named_with_their_origin(tmp_path, capsys, shipped):
    assert [each.file for each in available(tmp_path, [])] == list(shipped)
    told = capsys.readouterr().out
    assert "heart-transplant-manual.pdf is not in" in told
    assert "adiaz0511/transplant-education-rag" in told


def test_a_document_is_cut_to_its_pages_with_gold(tmp_path, shipped):
    source = PUBLIC_DOMAIN / "cdc-mmwr-7047a3.pdf"
    part = pages_of(document(file="part.pdf", pages=(2, 3)), source, tmp_path)
    assert part == tmp_path / "part.pdf"
    body = page_words(part, []).body
    assert body["hispanic"] > 0
    assert body["acknowledgments"] == 0


@pytest.mark.parametrize("file", ["cdc-ckd-2021.pdf", "cdc-mmwr-7047a3.pdf"])
def test_real_documents_of_two_columns_keep_their_words_and_order(file, shipped):
    pytest.importorskip("pypdfium2")
    pytest.importorskip("pdfplumber")
    from benchmarks.extract import pdfium

    pdf = PUBLIC_DOMAIN / file
    counts = counts_of(shipped[file], pdfium()(pdf), pdf)
    assert counts["order"][0] == counts["order"][1]
    assert counts["lost"][0] <= 0.06 * counts["lost"][1]
