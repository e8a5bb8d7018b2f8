"""What reviewers and forms write on a page is read at its place, or named as not read."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.pipeline.corpus.extraction.extract import extract
from audit.pipeline.corpus.extraction.identity import Identity
from audit.text.documents import HIDDEN, STRUCK, UNREAD, Document
from audit.text.statements import statements
from tests.support.pdfs import FILLER, shown, write_raw_pdf

IDENTITY = Identity("heart_alder_pre", "heart", "alder", "pre")
BODY = shown(FILLER, y=780) + shown(FILLER, y=766)


def read(path: Path, content: str, *annotations: str, **options: str) -> Document:
    return extract(write_raw_pdf(path / "book.pdf", BODY + content, annotations=annotations, **options), IDENTITY)


def text_of(document: Document) -> str:
    return document.full_text.removeprefix(f"{FILLER} {FILLER}\n\n")


def lost(document: Document, kind: str) -> list[tuple[int | None, str]]:
    return [(loss.page, loss.example) for loss in document.lost if loss.kind == kind]


def text_field(rect: str, value: str, more: str = "") -> str:
    return f"/Subtype /Widget /FT /Tx /T (f{len(rect)}{rect[:3]}) /V ({value}) /Rect [{rect}] /F 4 /DA (/F1 11 Tf 0 g) {more}"


def check_box(name: str, rect: str, state: str) -> str:
    return f"/Subtype /Widget /FT /Btn /T ({name}) /V /{state} /AS /{state} /Rect [{rect}] /F 4"


def test_the_value_of_a_field_is_text_behind_its_label(tmp_path):
    document = read(tmp_path, shown("Weigh yourself if you gain"), text_field("200 695 300 712", "2.5 kg a week"))
    assert text_of(document) == "Weigh yourself if you gain 2.5 kg a week"
    assert document.lost == ()


def test_a_field_between_words_is_read_between_them(tmp_path):
    content = shown("Drink") + shown("of water a day.", x=180)
    assert text_of(read(tmp_path, content, text_field("95 695 170 712", "2 litres"))) == "Drink 2 litres of water a day."


def test_an_empty_field_says_nothing(tmp_path):
    assert text_of(read(tmp_path, shown("Your nurse:"), text_field("130 695 300 712", ""))) == "Your nurse:"


def test_a_field_of_several_lines_is_read_line_by_line(tmp_path):
    text = text_of(read(tmp_path, "", text_field("60 600 300 700", "Rest at noon.\\rWalk at night.")))
    assert text.splitlines() == ["Rest at noon. Walk at night."] or text.splitlines() == ["Rest at noon.", "Walk at night."]


def test_a_field_that_is_not_displayed_is_named(tmp_path):
    document = read(tmp_path, shown("Your plan"), text_field("130 695 300 712", "Swim at once", "/F 2").replace("/F 4", ""))
    assert "Swim" not in document.full_text
    assert lost(document, HIDDEN) == [(1, "Swim at once")]


def test_the_chosen_entry_of_a_list_is_read(tmp_path):
    entries = "/Opt [[(a) (once a day)] [(b) (twice a day)]]"
    field = f"/Subtype /Widget /FT /Ch /Ff 131072 /T (c) /V (b) {entries} /Rect [110 695 250 712] /F 4"
    assert text_of(read(tmp_path, shown("Take it"), field)) == "Take it twice a day"


def test_ticked_and_unticked_boxes_are_told_apart_and_stay_items_of_their_own(tmp_path):
    content = shown("A dentist must see you first", x=80) + shown("You may keep your cat", x=80, y=680)
    document = read(tmp_path, content, check_box("a", "60 698 72 710", "Off"), check_box("b", "60 678 72 690", "Yes"))
    said = [statement.text for statement in statements(document.sections[0].text)]
    assert any("[ ] A dentist must see you first" in text and "cat" not in text for text in said)
    assert any("[x] You may keep your cat" in text and "dentist" not in text for text in said)


def test_of_a_group_of_radio_buttons_the_chosen_one_is_ticked(tmp_path):
    group = "/Subtype /Widget /FT /Btn /Ff 49152 /T (group) /V /Weekly"
    states = "/MK << /CA (l) >> /AP << /N << /{0} null /Off null >> >>"
    weekly = f"{group} /AS /Weekly /Rect [60 698 72 710] /F 4 {states.format('Weekly')}"
    daily = f"{group.replace('(group)', '(other)')} /V /Off /AS /Off /Rect [160 698 172 710] /F 4 {states.format('Daily')}"
    assert text_of(read(tmp_path, shown("weekly", x=76) + shown("daily", x=176), weekly, daily)) == "• [x] weekly\n\n• [ ] daily"


def test_text_under_a_strike_out_note_is_withdrawn_and_the_note_is_named(tmp_path):
    quad = "/QuadPoints [60 710 215 710 60 697 215 697]"
    note = f"/Subtype /StrikeOut /Rect [60 697 215 710] {quad} /Contents (Ask Dr Fox) /F 4"
    document = read(tmp_path, shown("You may eat raw fish now.") + shown("Cook all fish.", y=660), note)
    assert text_of(document) == "Cook all fish."
    assert lost(document, STRUCK) == [(1, "You may eat raw fish now.")]
    assert lost(document, UNREAD) == [(1, "Ask Dr Fox")]


@pytest.mark.parametrize("kind", ["Line /L [58 703 216 703]", "Ink /InkList [[58 703 216 704]]"])
def test_a_line_that_a_reviewer_drew_through_text_withdraws_it(tmp_path, kind):
    document = read(tmp_path, shown("You may eat raw fish now."), f"/Subtype /{kind} /Rect [58 701 216 706] /F 4")
    assert lost(document, STRUCK) == [(1, "You may eat raw fish now.")]


def test_a_free_text_is_read_on_its_own(tmp_path):
    note = "/Subtype /FreeText /Rect [60 640 300 660] /Contents (New: no raw fish for a year.) /DA (/F1 11 Tf) /F 4"
    document = read(tmp_path, shown("You may eat cooked fish"), note)
    assert text_of(document) == "You may eat cooked fish\n\nNew: no raw fish for a year."
    assert document.lost == ()


@pytest.mark.parametrize("kind", ["Text", "Highlight", "Stamp", "Square", "Caret"])
def test_a_comment_is_named_as_not_read_and_its_window_is_not_named_again(tmp_path, kind):
    comment = f"/Subtype /{kind} /Rect [300 640 320 660] /Contents (Is this still right?) /F 4"
    document = read(tmp_path, shown("Rest."), comment, "/Subtype /Popup /Rect [300 600 400 640] /Contents (Is this still right?)")
    assert text_of(document) == "Rest."
    assert lost(document, UNREAD) == [(1, "Is this still right?")]


def test_the_description_of_a_link_is_not_text_of_the_page(tmp_path):
    link = "/Subtype /Link /Rect [60 695 100 712] /Contents (Opens our web site)"
    assert read(tmp_path, shown("Visit us."), link).lost == ()


def test_a_form_on_a_page_that_is_turned_is_read_beside_its_label(tmp_path):
    document = read(tmp_path, shown("Call us at"), text_field("130 695 250 712", "555-0199"), page="/Rotate 270")
    assert text_of(document) == "Call us at 555-0199"
