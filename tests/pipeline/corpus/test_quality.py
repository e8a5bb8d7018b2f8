"""The quality report of a document: what was read, what was lost, and the same content under two names."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from audit.pipeline.corpus.duplicates import duplicates, sketch_of
from audit.pipeline.corpus.quality import (
    checks_sentence,
    page_list,
    quality_of,
    quality_table,
    shared_titles,
    with_quality,
    write_qualities,
)
from audit.text.documents import Corrected, Document, Doubt, Loss, Section, write_document
from tests.text.test_language import SHIFTED, TEXTS

ADVICE = [
    f"On day {number} walk {number} times around the ward, drink {number + 3} glasses of water, and rest for {number} hours."
    for number in range(1, 100)
]


def document(*texts: str, name: str = "heart_alder_pre", **fields) -> Document:
    sections = tuple(Section(f"s{number}", f"Part {number}", text) for number, text in enumerate(texts))
    return Document(name, "heart", "alder", "pre", sections, pages=10, **fields)


def test_a_readable_document_has_no_loss():
    quality = quality_of(document(TEXTS["en"], "Medicine | Dose: 5 mg\nOther | Dose: 2 mg\n\nA word.\n\nA | B: c"))
    assert (quality.unreadable, quality.glued, quality.losses) == (0, 0, [])
    assert (quality.language, quality.headings, quality.tables) == ("en", 2, 2)


@pytest.mark.parametrize(
    "text",
    [SHIFTED, "Ta\ufffde t\ufffdis pi\ufffdl", "\uf0a7\uf0a8x \uf0a9y", "(cid:12)(cid:4)a (cid:7)b", "W a s h y o u r h a n d s"],
)
def test_text_of_unknown_glyphs_or_shifted_or_set_apart_letters_is_unreadable(text):
    quality = quality_of(document(text, TEXTS["en"]))
    words = len(text.split())
    # "Part" of the heading counts with the text below it where all of that is unreadable
    assert words / (words + 19) - 0.02 <= quality.unreadable <= (words + 1) / (words + 19) + 0.02
    assert "are not readable text" in quality.losses[0]


def test_words_without_spaces_between_them_are_counted_but_names_are_not():
    quality = quality_of(document("The patientShould never take thisMedicine with grapefruit juice. Ask McDonald about it."))
    assert quality.glued == round(2 / 13, 4)
    assert "several words without spaces" in quality.losses[0]


def test_pages_without_text_are_named():
    (sentence,) = quality_of(document(TEXTS["en"], silent_pages=(2, 3, 4, 9))).losses
    assert sentence == (
        "4 of 10 pages are pictures without text (pages 2-4, 9): what they say is missing. "
        "Read them with --ocr (in a config: ocr = true)."
    )


def test_only_the_first_of_many_page_numbers_are_listed():
    assert page_list(range(1, 40, 2)) == "pages 1, 3, 5, 7, 9, 11, 13, 15, ..."


def test_what_was_told_at_extraction_is_kept():
    checked = with_quality(document(SHIFTED, TEXTS["es"]))
    assert checked.unreadable is not None
    assert quality_of(replace(checked, language="es")).unreadable == checked.unreadable


def test_the_report_keeps_the_lines_of_documents_that_still_exist(tmp_path):
    first, second = document(TEXTS["en"]), document(TEXTS["es"], name="heart_birch_pre")
    for each in (first, second):
        write_document(each, tmp_path / f"{each.handbook_id}.json")
        write_qualities(tmp_path, [quality_of(each)])
    (tmp_path / "heart_alder_pre.json").unlink()
    path = write_qualities(tmp_path, [quality_of(replace(second, handbook_id="heart_cedar_pre"))])
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(record["handbook_id"], record["language"]) for record in records] == [
        ("heart_birch_pre", "es"), ("heart_cedar_pre", "es"),
    ]  # fmt: skip


def test_the_table_has_a_line_for_each_document():
    lines = quality_table([quality_of(document(TEXTS["en"], silent_pages=(1,)))]).splitlines()
    assert lines[0].split() == [
        "handbook", "pages", "silent", "ocr", "unreadable", "glued", "language", "headings", "tables", "letters", "doubts",
        "corrections",
    ]  # fmt: skip
    assert lines[1].split() == ["heart_alder_pre", "10", "1", "0", "0.0%", "0.0%", "en", "1", "0", "-", "0", "-"]


def test_the_same_words_under_two_names_are_duplicates_whatever_their_case_and_punctuation():
    first, second = document(*ADVICE), document(*(text.upper().replace(",", ";") for text in ADVICE), name="heart_birch_pre")
    (duplicate,) = duplicates(map(sketch_of, (first, second)))
    assert duplicate.sentence == (
        "heart_alder_pre and heart_birch_pre have the same text: if they are one handbook, leave one of them out."
    )


def test_nearly_the_same_words_are_duplicates_and_other_words_are_not():
    near = document(*ADVICE[:-3], "A new last part about vaccines.", name="heart_birch_pre")
    other = document(*TEXTS.values(), name="heart_cedar_pre")
    (duplicate,) = duplicates(map(sketch_of, (document(*ADVICE), near, other)))
    assert (duplicate.first, duplicate.second) == ("heart_alder_pre", "heart_birch_pre")
    assert 0.8 <= duplicate.overlap < 1
    assert "nearly the same text" in duplicate.sentence


def test_what_stands_around_the_text_is_told_and_is_no_loss():
    around, struck = Loss("frame", 30, 2, "Home | Contact"), Loss("struck", 12, 3, "You may swim")
    quality = quality_of(document(TEXTS["en"], lost=(around, struck)))
    assert quality.frame.startswith("30 letters were left out (page 2)")
    assert quality.losses == ["12 letters were left out (page 3): struck through, so withdrawn. For example: “You may swim”."]
    assert quality.as_record()["frame"] == quality.frame


def test_a_title_that_several_handbooks_have_is_named_with_them():
    titles = {"a": "MSK Patient Education", "b": "MSK patient education", "c": "Food", "d": None, "e": None}
    qualities = [quality_of(document(TEXTS["en"], name=name, title=title)) for name, title in titles.items()]
    assert shared_titles(qualities) == [
        "2 handbooks have the title “MSK Patient Education”: a, b. Give each its own in the catalog."
    ]


def test_the_letters_of_the_sections_are_held_against_those_of_the_source():
    quality = quality_of(document("Do not eat: 9", letters=20))
    assert (quality.section_letters, quality.letters_share) == (len("Part0") + len("Donoteat9"), 0.7)
    assert quality_of(document("x")).letters_share is None


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Eat well.\n\n• bananas\n• kiwis", ["no lead"]),
        ("• bananas\n• kiwis", []),  # below its heading
        ("Eat well.\n\nAvoid:\n• bananas\n• kiwis", []),
        ("Avoid:\n\n• bananas\n• kiwis", ["no lead"]),  # its lead is a block of its own, and is not quoted with it
        ("Eat well.\n\n• Take your medicines with a glass of water.\n• Call us.", []),
        ("Eat well.\n\n• bananas", []),
        ("milk | rice\ncheese | bread\nyogurt | pasta\ncream", ["columns"]),
        ("Fruit: milk | Other: rice\nFruit: cheese | Other: bread\nFruit: x | Other: y", []),
        ("Food | Potassium (mg)\nMilk | 350\nBread | 120\nRice | 50", []),
        ("milk | rice\ncheese | bread", []),
        ("a" * 6_000, []),
        ("a" * 6_001, ["long"]),
    ],
)
def test_what_the_text_alone_shows_is_in_doubt(text, kinds):
    assert [doubt.kind for doubt in quality_of(document(text)).doubts] == kinds


def test_doubts_are_sentences_with_page_and_quote_and_no_findings():
    doubts = tuple(Doubt("repeated", words, pages) for words, pages in {"Foods To Leave Out": (2, 3, 4), "Clinic": ()}.items())
    quality = quality_of(document(TEXTS["en"], doubts=doubts))
    assert quality.to_check == [
        "2 × repeated at the top or bottom of pages, so left out there: check whether it gives the text its meaning: "
        "“Foods To Leave Out” (pages 2-4), “Clinic”."
    ]
    assert quality.losses == []
    assert quality.as_record()["doubts_by_kind"]["repeated"] == 2
    assert checks_sentence([quality, quality_of(document(TEXTS["en"]))]) == (
        "2 places in 1 of 2 handbooks should be checked against the page (repeated 2): quality.jsonl beside the documents "
        "quotes each."
    )
    assert checks_sentence([]) == ""


def test_corrections_that_were_not_applied_are_findings():
    quality = quality_of(document(TEXTS["en"], corrections=Corrected("d", 3, ("The correction drop “x” was not applied.",))))
    assert quality.losses == ["The correction drop “x” was not applied."]
    assert quality.corrected == (
        "3 of 4 corrections by people were applied; 1 was not, because the words are not there, or are there several times."
    )
