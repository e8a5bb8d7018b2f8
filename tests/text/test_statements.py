"""A section's text as statements: what gives an item or a row its meaning stays with it."""

from __future__ import annotations

from audit.text.statements import leads_at, statements

TEXT = """Wear a mask. Your dose is 2.5 mg, e.g. two pills.

Never smoke:
• cigarettes
• cigars or pipes

DON'T:
• eat raw food:
  • sushi
  • rare meat
• skip a dose. Call us first.

Ibuprofen | Allowed: no
Paracetamol | Allowed: yes"""


def test_an_item_is_quoted_with_its_lead() -> None:
    assert [statement.quoted for statement in statements(TEXT) if statement.kind == "item"] == [
        "Never smoke: cigarettes",
        "Never smoke: cigars or pipes",
        "DON'T: eat raw food: sushi",
        "DON'T: eat raw food: rare meat",
        "DON'T: skip a dose.",
        "DON'T: Call us first.",
    ]


def test_sentences_and_rows_stand_alone() -> None:
    others = [(statement.kind, statement.quoted) for statement in statements(TEXT) if statement.kind != "item"]
    assert others == [
        ("sentence", "Wear a mask."),
        ("sentence", "Your dose is 2.5 mg, e.g. two pills."),
        ("row", "Ibuprofen | Allowed: no"),
        ("row", "Paracetamol | Allowed: yes"),
    ]


def test_each_statement_knows_its_position() -> None:
    assert all(TEXT[statement.start : statement.end].strip() == statement.text for statement in statements(TEXT))


def test_a_lead_without_a_colon_and_a_lead_without_items() -> None:
    assert [statement.quoted for statement in statements("Do not take\n• aspirin\n\nAvoid:")] == ["Do not take aspirin", "Avoid:"]


def test_of_a_paragraph_above_a_list_the_last_sentence_is_the_lead() -> None:
    text = "Alcohol harms your liver. Do not drink it yet. Never smoke:\n• cigarettes\n• cigars"
    assert [statement.quoted for statement in statements(text)] == [
        "Alcohol harms your liver.",
        "Do not drink it yet.",
        "Never smoke: cigarettes",
        "Never smoke: cigars",
    ]
    assert all(text[statement.start : statement.end].strip() == statement.text for statement in statements(text))


def test_a_lead_keeps_the_sentence_that_it_points_back_to() -> None:
    text = "Wash your hands. Some foods are not safe. These include:\n• sprouts"
    assert [statement.quoted for statement in statements(text)] == [
        "Wash your hands.",
        "Some foods are not safe. These include: sprouts",
    ]


def test_an_item_that_ends_a_sentence_is_a_statement_and_leads_what_is_below_it() -> None:
    text = "• Do not leave her alone.\n  • Help her onto her side.\n• Rest."
    assert [statement.quoted for statement in statements(text)] == [
        "Do not leave her alone.",
        "Do not leave her alone. Help her onto her side.",
        "Rest.",
    ]


def test_the_rows_below_a_label_keep_it() -> None:
    text = "Food | Portion\nNot safe\nSushi | Portion: any\nSafe\nRice | Portion: 1 cup"
    assert [statement.quoted for statement in statements(text)] == [
        "Food | Portion",
        "Not safe Sushi | Portion: any",
        "Safe Rice | Portion: 1 cup",
    ]


def test_an_empty_text_has_no_statements() -> None:
    assert list(statements("")) == []


def test_a_part_that_begins_in_the_middle_of_a_list_has_the_leads_before_it() -> None:
    assert leads_at(TEXT, TEXT.index("• cigars")) == ("Never smoke:",)
    assert leads_at(TEXT, TEXT.index("• rare meat")) == leads_at(TEXT, TEXT.index("• sushi") + 4) == ("DON'T:", "eat raw food:")
    # The lead itself, or another block, is in the part
    assert (
        leads_at(TEXT, TEXT.index("Never smoke")) == leads_at(TEXT, TEXT.index("Paracetamol")) == leads_at(TEXT, len(TEXT)) == ()
    )
    assert leads_at(TEXT, TEXT.index("• eat raw food")) == ("DON'T:",)
