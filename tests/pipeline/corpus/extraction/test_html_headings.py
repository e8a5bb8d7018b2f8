"""What of a page is a heading and how far it reaches, and what introduces lists that no tag marks."""

from __future__ import annotations

import pytest

from audit.pipeline.corpus.extraction.formats import FORMATS
from audit.pipeline.corpus.extraction.html_reader import read_html
from audit.text.statements import statements
from tests.pipeline.corpus.extraction.test_formats import docx
from tests.pipeline.corpus.extraction.test_formats import paragraph as docx_paragraph

REST = "<p>Rest for two days. Ask us when you are not sure.</p>"
FEVER = "<p>Call us when you have a fever. Do not wait.</p>"


def headings(markup: str) -> list[str]:
    return [block.text for block in read_html(markup).blocks if block.kind == "heading"]


def outline(markup: str) -> dict[str, str]:
    """The text under each heading, all of it that stands there."""
    found: dict[str, str] = {}
    heading = ""
    for block in read_html(markup).blocks:
        heading = block.text if block.kind == "heading" else heading
        if block.kind == "text":
            found[heading] = f"{found.get(heading, '')} {block.text}".strip()
    return found


def quoted(markup: str) -> list[str]:
    """The items of a page as they are quoted."""
    found = (statement for block in read_html(markup).blocks if block.kind == "text" for statement in statements(block.text))
    return [statement.quoted for statement in found if statement.kind == "item"]


# -- headings and lists in other tags ---------------------------------------------------------------------------------


@pytest.mark.parametrize("heading", ["<div><a name='x'></a>{}</div>", "<p>{}</p>", "<div><div>{}</div></div>"])
def test_a_box_in_a_heading_is_part_of_it(heading: str) -> None:
    assert outline(f"<h2>{heading.format('Diet')}</h2>{REST}<h2>Fever</h2>{FEVER}") == outline(
        f"<h2>Diet</h2>{REST}<h2>Fever</h2>{FEVER}"
    )


def test_a_title_beside_the_main_part_that_names_the_file_is_its_title() -> None:
    page = "<title>{} | Clinic</title><body><h1>{}</h1><div>By A. B.</div><article>{}{}</article>"
    assert headings(page.format("After the transplant", "After the transplant", REST, FEVER)) == ["After the transplant"]
    assert headings(page.format("After the transplant", "Clinic", REST, FEVER)) == []


def test_an_unknown_element_beside_text_stands_in_the_line() -> None:
    markup = f"<body><p>Do not take it (<x-note><a href='/1'>1</a></x-note>) with food.</p>{REST}"
    assert read_html(markup).blocks[0].text == "Do not take it (1) with food."


def test_items_in_an_unknown_tag_are_a_list_and_lead_the_lists_in_them() -> None:
    markup = "<body><ui><li>Do not eat<ul><li>grapefruit</li></ul></li><li>You may eat…<ul><li>apples</li></ul></li></ui>"
    assert quoted(markup) == ["Do not eat: grapefruit", "You may eat… apples"]


@pytest.mark.parametrize("label", ["<b>Fat</b>—", "<strong>Fat:</strong> "])
def test_an_emphatic_label_of_an_item_leads_the_list_in_it(label: str) -> None:
    other = "<li><b>Low</b>-salt food.<ul><li>rice</li></ul></li>"
    markup = f"<body><ul><li>{label}do not count it.<ul><li>oils</li></ul></li>{other}</ul>"
    assert quoted(markup) == ["Fat: do not count it.", "Fat: oils", "Low-salt food.", "Low-salt food. rice"]


# -- headings by style ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "marked",
    [
        "<p><b>{}</b></p>",
        "<div><strong>{}</strong></div>",
        '<div style="font-weight:700">{}</div>',
        '<p style="font-size:22px">{}</p>',
        '<style>.big {{font-size: 1.5em}}</style><div class="big">{}</div>',
    ],
)
def test_a_short_block_in_another_type_is_a_heading(marked: str) -> None:
    page = f"{marked.format('Going home')}{REST}{marked.format('Fever')}{FEVER}"
    assert headings(page) == ["Going home", "Fever"]


def test_bold_text_of_a_page_with_headings_stays_text() -> None:
    assert headings(f"<h1>Leaflet</h1><h2>Going home</h2>{REST}<p><b>Mind</b></p>{FEVER}") == ["Leaflet", "Going home"]


def test_a_class_that_is_repeated_above_text_is_that_of_headings() -> None:
    names = ("Going home", "Fever", "Meals")
    page = "".join(f'<div class="t4">{name}</div>{REST}' for name in names)
    assert headings(page) == list(names)
    assert headings('<div class="t4">Going home</div>' + REST) == []


def test_questions_of_their_own_are_headings() -> None:
    names = ("When can I drive?", "May I swim?", "What can I eat?")
    assert headings("".join(f"<p>{name}</p>{REST}" for name in names)) == list(names)


def test_lines_that_an_author_set_are_paragraphs_and_the_name_of_what_follows_a_heading() -> None:
    long = "The nurse comes in the morning and in the evening, and looks at the wound. " * 3
    lines = [long, "Going home", long, "Where do I ask?", long, "If you feel ill,", "call us at once.", long]
    page = "<p>" + "\n".join(lines) + "</p>"
    assert headings(page) == ["Going home", "Where do I ask?"]
    assert "If you feel ill, call us at once." in outline(page)["Where do I ask?"]


def test_lines_that_an_editor_wrapped_stay_one_paragraph() -> None:
    page = "<p>Going home takes a\nwhile. Rest for two\ndays, and ask us when\nyou are not sure. Be\npatient with it</p>"
    assert [block.text for block in read_html(page).blocks] == [
        "Going home takes a while. Rest for two days, and ask us when you are not sure. Be patient with it"
    ]


# -- no headings ------------------------------------------------------------------------------------------------------


def test_a_sentence_in_a_call_out_is_text() -> None:
    sentence = "Never stop your tablets without asking the team, even when you feel well."
    page = f"<h1>Tablets</h1>{REST}<div class='box'><h3>{sentence}</h3></div><h2>Fever</h2>{FEVER}"
    assert outline(page)["Tablets"].endswith(sentence)


def test_links_to_other_pages_are_no_headings_nor_is_what_stands_above_nothing_else() -> None:
    links = '<ul><li><a href="/a">Kidneys</a></li><li><a href="/b">Lungs</a></li></ul>'
    page = f'<h1>Tablets</h1>{REST}<h2>Related</h2>{links}<h3><a href="/c">More on livers</a></h3><h2>Fever</h2>{FEVER}'
    assert headings(page) == ["Tablets", "Fever"]
    assert "Related" in outline(page)["Tablets"]
    assert "More on livers" in outline(page)["Tablets"]


def test_a_link_to_a_place_of_the_same_page_may_be_a_heading() -> None:
    assert headings(f'<h1>Tablets</h1><h2><a href="#top">Fever</a></h2>{FEVER}') == ["Tablets", "Fever"]


# -- how far a heading reaches ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "card",
    [
        '<div class="card"><h3>{}</h3>{}</div>',
        '<div class="card"><div class="head">{}</div><div class="body">{}</div></div>',
        '<section class="zone"><p><b>{}</b></p>{}</section>',
    ],
)
def test_a_heading_of_a_card_reaches_to_its_end(card: str) -> None:
    cards = card.format("Stop at once", "<p>Your lips are blue.</p>") + card.format("Safe at home", "<p>You cough a little.</p>")
    page = f"<h1>Zones</h1><h2>Which zone?</h2>{REST}{cards}<p>Carry this card with you.</p>"
    found = outline(page)
    assert (found["Stop at once"], found["Safe at home"]) == ("Your lips are blue.", "You cough a little.")
    assert found["Which zone?"].endswith("Carry this card with you.")


def test_cells_with_headings_are_cards() -> None:
    cells = "".join(f"<td><h3>{name}</h3><ul><li>{item}</li></ul></td>" for name, item in (("Do", "walk"), ("Do not", "lift")))
    page = f"<h1>Home</h1><table><tr>{cells}</tr></table>"
    assert quoted(page) == ["Do: walk", "Do not: lift"]
    assert outline(f"{page}{REST}")["Home"].startswith("Rest for two days.")


# -- leads ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "markup",
    [
        "<p>Never eat:</p><p>raw fish</p><p>raw meat</p>",
        "<p>Never eat:<br>raw fish<br>raw meat</p>",
        "<p><b>Never eat</b><br>raw fish<br>raw meat</p>",
        "<p>Never eat:</p><p>• raw fish<br>• raw meat</p>",
        "<div><b>Never eat</b><div>raw fish</div><div>raw meat</div></div>",
        "<h2>Never eat</h2><ul><li>raw fish</li><li>raw meat</li></ul>",
        "<h2>Never eat</h2><p>raw fish</p><p>raw meat</p>",
        "<dl><dt>Never eat</dt><dd>raw fish</dd><dd>raw meat</dd></dl>",
        "<details><summary>Never eat</summary><ul><li>raw fish</li><li>raw meat</li></ul></details>",
        "<div style='display:flex'><div><b>Never eat</b><ul><li>raw fish</li><li>raw meat</li></ul></div><div></div></div>",
    ],
)
def test_each_item_stays_with_its_lead(markup: str) -> None:
    found = quoted(f"<h1>Meals</h1><h2>Now</h2>{REST}{markup}")
    assert [text.replace(":", "") for text in found] == ["Never eat raw fish", "Never eat raw meat"]


def test_what_follows_the_fragments_is_not_under_their_lead() -> None:
    found = quoted(f"<p>Never eat:</p><p>raw fish</p><p>raw meat</p>{FEVER}")
    assert found == ["Never eat: raw fish", "Never eat: raw meat"]


def test_a_line_break_in_a_narrow_column_makes_no_items() -> None:
    page = "<p>Please note:<br>You may go home as soon as the nurse has seen your<br>wound and your family is there</p>"
    assert quoted(page) == []


def test_columns_of_short_lines_are_lists_under_their_heads() -> None:
    page = "<table><tr><th>Do</th><th>Don't</th></tr><tr><td>walk<br>wash</td><td><p>smoke</p><p>lift</p></td></tr></table>"
    assert quoted(page) == ["Do: walk", "Do: wash", "Don't: smoke", "Don't: lift"]


def test_a_list_of_terms_is_not_led_by_the_paragraph_above() -> None:
    page = "<h2>Food</h2><p>Never without salt</p><dl><dt>Allowed</dt><dd>apples</dd></dl>"
    assert quoted(page) == ["Allowed: apples"]


def test_markdown_and_docx_keep_their_leads_too() -> None:
    markdown = FORMATS[".md"].read(b"# Meals\n\n**Never eat**\n\n- raw fish\n- raw meat\n", ())
    assert [block.text for block in markdown.blocks][-1] == "Never eat:\n• raw fish\n• raw meat"
    page_break = '<w:p><w:r><w:br w:type="page"/></w:r></w:p>'
    body = docx_paragraph("Never eat:") + docx_paragraph("raw fish", item=0) + page_break + docx_paragraph("raw meat", item=0)
    assert [block.text for block in FORMATS[".docx"].read(docx(body), ()).blocks] == ["Never eat:\n• raw fish\n• raw meat"]


# -- titles -----------------------------------------------------------------------------------------------------------


def test_of_several_outermost_headings_the_title_is_the_one_that_the_file_names() -> None:
    assert read_html(f"<title>Fever | Elm Site</title><h1>Elm Site</h1><h1>Fever</h1>{FEVER}").title == "Elm Site"
    assert read_html(f"<title>Fever at home</title><h1>Elm Site</h1><h1>Fever</h1>{FEVER}").title == "Fever"


def test_a_title_and_its_first_paragraph_in_front_of_the_main_part_are_text() -> None:
    page = f"<header><h1>Fever</h1><p>Read this first. It is short.</p></header><main><h2>Call us</h2>{FEVER * 4}</main>"
    found = read_html(page)
    assert found.title == "Fever"
    assert [block.text for block in found.blocks][:3] == ["Fever", "Read this first. It is short.", "Call us"]
    assert found.lost == ()


def test_what_is_above_teasers_and_links_to_other_pages_is_no_heading() -> None:
    teaser = '<div><a href="/video" onclick="count()">The truth about teeth</a></div><div style="display:none">Watch</div>'
    menus = f'<h3>Now playing</h3>{teaser}<h3>More from us</h3><a href="/a">Skin</a>|<a href="/b">Bones</a> and more'
    page = f'<h1>Teeth</h1><a href="/print">Print this page</a><h2>Care</h2><p>Brush them twice a day.</p>{menus}'
    assert headings(page) == ["Teeth", "Care"]


def test_a_label_and_the_paragraph_behind_it_in_its_box_are_one():
    box = "<div><strong>Four days before:</strong><p>Stop the tablets.</p></div><div><p>Eat.</p></div>"
    assert outline(f"<h1>Before</h1>{box}")["Before"] == "Four days before: Stop the tablets. Eat."


def test_lines_between_two_line_breaks_are_paragraphs_and_their_names_headings():
    parts = ["Root canal", "Crowns", "Fillings"]
    text = "<br><br>".join(f"{part}<br><br>You may be sore after the {part.lower()} for two days." for part in parts)
    page = f"<h1>After</h1><h2>What to know</h2><p>Follow these rules.<br><br>{text}</p><h2>Ask us</h2><p>Call.</p>"
    assert headings(page) == ["After", "What to know", *parts, "Ask us"]


def test_an_item_with_a_bullet_of_its_own_has_one():
    assert quoted("<p>You cannot have:</p><ul><li>• any solid food</li><li>• nuts</li></ul>") == [
        "You cannot have: any solid food",
        "You cannot have: nuts",
    ]


def test_boxes_of_one_kind_below_a_colon_are_its_items() -> None:
    boxes = "".join(f"<div class=card><i></i><p><b>{name}</b></p><p>around it</p></div>" for name in ("Redness", "Pus"))
    page = f"<h2>Wound</h2><div><p>Call us if you notice:</p><div class=row>{boxes}</div></div>{REST}"
    assert quoted(page) == [f"Call us if you notice: {name} around it" for name in ("Redness", "Pus")]
    numbered = page.replace("<b>Redness", "<b>1. Redness").replace("<b>Pus", "<b>2. Pus")
    assert "Call us if you notice:\n1. Redness around it\n2. Pus around it" in outline(numbered)["Wound"]
    # Boxes that lead to other pages are a menu
    assert "Call us" not in " ".join(quoted(page.replace("<i></i>", "<a href=/pus>more</a>")))


def test_what_opens_is_read_as_it_looks_when_it_is_open() -> None:
    style = "<style>.qa details>div {opacity: 0} .qa details[open]>div {opacity: 1} .old {opacity: 0}</style>"
    answer = "<details><summary>May I drive?</summary><div><p>Do not drive for a week.</p></div></details>"
    page = f"<html><head>{style}</head><body><div class=qa>{answer}</div>{REST}<p class=old>Drive at once.</p></body></html>"
    assert outline(page)["May I drive?"] == "Do not drive for a week."
    assert "Drive at once" not in str(read_html(page).blocks)
