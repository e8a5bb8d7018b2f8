"""Masking of names, contacts and credits: every way to write them that a reader would recognise, and nothing else."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.text.blinding import Masker, masker_of

HANDBOOKS = (
    {"center": "Mayo Clinic", "handbook_id": "kidney_mayo_pre", "url": "https://www.mayoclinic.org/transplant"},
    {"center": "St. Jude's", "title": "The Jude Family Guide to Your New Heart"},
    {"center": "Cedars-Sinai"},
    {"center": "Universitätsmedizin Göttingen", "url": "https://www.umg.eu/patienten"},
    {"center": "University of California, San Francisco (UCSF)"},
    {"center": "Alder", "aliases": ["Old Mill House", "AOH"]},
    {"center": "Yew"},
    {"center": "National Heart, Lung, and Blood Institute", "handbook_id": "general_nhlbi_combined"},
    {"center": "Children's Hospital of Philadelphia", "title": "Kidney Transplant"},
)


@pytest.fixture(scope="module")
def masker() -> Masker:
    return masker_of(HANDBOOKS)


VARIANTS = [
    # as printed, and with other white space: all of it is what text from a PDF looks like
    ("call Mayo Clinic first", "call [name] first"),
    ("call Mayo\nClinic first", "call [name] first"),
    ("call Mayo  Clinic first", "call [name] first"),
    ("call Mayo\u00a0Clinic first", "call [name] first"),
    ("call Mayo Cli-\nnic first", "call [name] first"),
    ("call Ma\u00adyo Clinic first", "call [name] first"),
    # quotes, hyphens, marks over letters
    ("at St. Jude\u2019s they", "at [name] they"),
    ("at St Jude's they", "at [name] they"),
    ("at Cedars Sinai they", "at [name] they"),
    ("at Cedars\u2010Sinai they", "at [name] they"),
    ("in Go\u0308ttingen they", "in [name] they"),
    ("in Goettingen they", "in [name] they"),
    ("in Gottingen they", "in [name] they"),
    # a part of the name, possessive, plural, capitals
    ("Mayo's team meets", "[name]'s team meets"),
    ("Mayo\u2019s team meets", "[name]\u2019s team meets"),
    ("patients at Mayo wait", "patients at [name] wait"),
    ("ALDERS patients wait", "[name] patients wait"),
    ("the alder team", "the [name] team"),
    ("the Alder Transplant Center", "the [name]"),
    # abbreviations
    ("the U.C.S.F. team", "the [name] team"),
    ("the UCSF team", "the [name] team"),
    ("the CHOP team", "the [name] team"),
    ("by the N.H.L.B.I.", "by the [name]"),
    ("our AOH nurse", "our [name] nurse"),
    # inside addresses
    ("see mayoclinic.org/transplant now", "see [contact] now"),
    ("see https://www.mayoclinic.org.", "see [contact]."),
    ("write to nurse@mayo.edu today", "write to [contact] today"),
    ("the MayoClinic app", "the [name] app"),
    # evasions
    ("at Ma\u200byo Clinic they", "at [name] they"),
    ("at \uff2d\uff41\uff59\uff4f they", "at [name] they"),
    ("at M\u0430y\u043e they", "at [name] they"),
    # other names
    ("come to Yew early", "come to [name] early"),
    ("the national heart, lung and blood institute", "the [name]"),
    ("the Old Mill House nurses", "the [name] nurses"),
    ("in The Jude Family Guide to Your New Heart.", "in The [name]."),
]


@pytest.mark.parametrize(("text", "masked"), VARIANTS)
def test_a_name_is_masked_however_it_is_written(masker: Masker, text: str, masked: str):
    assert masker.mask(text) == masked
    assert masker.words_left(masked) == []


CONTACTS = [
    ("Call 555-0110 at night.", "Call [contact] at night."),
    ("Questions? 555-0110.", "Questions? [contact]."),
    ("Our line is +1 (507) 284-2511.", "Our line is [contact]."),
    ("Our line is (507) 284-2511.", "Our line is [contact]."),
    ("Our line is 507-284-2511, day and night.", "Our line is [contact], day and night."),
    ("Our line is 507.284.2511.", "Our line is [contact]."),
    ("Our line is 507 284 2511.", "Our line is [contact]."),
    ("Our line is 1-800-555-0110.", "Our line is [contact]."),
    ("Our line is 5072842511.", "Our line is [contact]."),
    ("Our line is 1-800-4-CANCER.", "Our line is [contact]."),
    ("Our line is 507-284-2511 ext. 42.", "Our line is [contact]."),
    ("Our line is 507-284-2511 x4211.", "Our line is [contact]."),
    ("Our line is 555\u20110110.", "Our line is [contact]."),
    ("Our line is \uff15\uff15\uff15\uff0d\uff10\uff11\uff11\uff10.", "Our line is [contact]."),
    ("Our line is +49 551 39-12345.", "Our line is [contact]."),
    ("Our line is 0551 39-12345.", "Our line is [contact]."),
    ("Our line is 020 7188 7188.", "Our line is [contact]."),
    ("Our line is 01 23 45 67 89.", "Our line is [contact]."),
    ("Tel. 39 12345", "[contact]"),
    ("Ask for ext. 4521 there.", "Ask for [contact] there."),
    ("Write to nurse (at) alder (dot) org.", "Write to [contact]."),
    ("See www.example.org/a?b=1 or http://x.test/.", "See [contact] or [contact]."),
    ("We are at 200 First Street SW, Rochester, MN 55905.", "We are at [contact]."),
    ("Send it to P.O. Box 123, Alder, MN 55905.", "Send it to [contact]."),
]


@pytest.mark.parametrize(("text", "masked"), CONTACTS)
def test_telephone_numbers_and_addresses_are_masked_as_contacts(masker: Masker, text: str, masked: str):
    assert masker.mask(text) == masked


CREDITS = [
    ("Drink water.\nSource: National Kidney Foundation, 2019.\nRest.", "Drink water.\n[source]\nRest."),
    ("Drink water. Reprinted with permission of the Northern Trust. Rest.", "Drink water. [source] Rest."),
    ("Drink water. Copyright 2019 Northern Trust", "Drink water. [source]"),
    ("Drink water. \u00a9 2019 Northern Trust", "Drink water. [source]"),
    ("This page is used with permission from the Northern Trust.", "This page is [source]"),
    ("Drink water. NIH: National Institute on Deafness and Other Communication Disorders", "Drink water. [source]"),
    ("Drink water. Source: Mayo Clinic", "Drink water. [source]"),
]


@pytest.mark.parametrize(("text", "masked"), CREDITS)
def test_lines_that_name_a_source_are_masked(masker: Masker, text: str, masked: str):
    assert masker.mask(text) == masked


KEPT = [
    "Call 911 if your temperature is 100.4 \u00b0F (38 \u00b0C) or higher.",
    "Call if your level is 100-1500 for two days.",
    "Take 500-1000 mg twice a day; 250-1250 mg in children; 100-1125 mL of water.",
    "Come on 05/12/2024, 2024-05-12, 12.05.2024 or 01-02-2024.",
    "A count of 1,000,000 copies, 1500000 cells or 150 000 platelets.",
    "Blood pressure 120/80, from 8:00 to 12:30, in 2019-2020, at 06 12 18 24.",
    "Between 1993-1994 and 2005 it grew; 988 is the crisis line and 112 the emergency number.",
    "No mayo and no alders in the salad.",
    "Have a heart, a kidney transplant and a lung; the institute is open.",
    "Calcium sources: milk, yogurt and cheese. Sources: Milk, eggs, fish.",
    "Take it with food e.g. yogurt, i.e. daily.No alcohol, mL.min and mg/kg/day.",
    "CMV, EBV, BMI, GFR and HLA are checked in the ICU on day 10.",
    "Reviewed by your doctor, taken by mouth, taken from a vein, adapted to you.",
    "Extension 120 degrees; 5 Drive slowly; 2 tablets (c) 1 capsule.",
    "Your copyright question, (c) call, and a source of iron: beans.",
]


@pytest.mark.parametrize("text", KEPT)
def test_doses_dates_and_ordinary_words_stay(masker: Masker, text: str):
    assert masker.mask(text) == text


def test_words_that_contain_a_word_of_a_name_are_listed():
    masker = masker_of([{"center": "Hazel Hospital"}])
    assert masker.words_left("Avoid hazelnuts and HAZEL-wood, ask [name].") == ["hazelnuts", "HAZEL"]


def test_a_part_of_an_id_that_most_handbooks_share_is_not_a_name():
    masker = masker_of([{"center": f"Center {n}", "handbook_id": f"nih_{n}_pre"} for n in ("gard", "cdcx", "nci")])
    assert masker.mask("The NIH and the GARD agree.") == "The NIH and the [name] agree."


def test_masking_twice_changes_nothing(masker: Masker):
    for text, masked in (*VARIANTS, *CONTACTS, *CREDITS):
        assert masker.mask(masker.mask(text)) == masked


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("Mayo Clinc.'-5 0(+)@\n\u00a0\u200bо©é[]"), max_size=60))
def test_whatever_is_masked_the_rest_is_unchanged(masker: Masker, text: str):
    kept = re.split(r"\[(?:name|contact|source)\]", masker.mask(text))
    place = 0
    for part in kept:
        place = text.index(part, place) + len(part)


@pytest.mark.parametrize("unit", ["-", "a.", "A ", "NIH: Aa ", "0 ", "555-", "a@", "(", "Mayo ", "Source: "])
def test_long_and_hostile_texts_are_masked_in_time_that_grows_with_their_length(masker: Masker, unit: str):
    started = time.process_time()
    masker.mask(unit * (40_000 // len(unit)))
    assert time.process_time() - started < 5  # CPU seconds: some 0.1 where they grow with the length, 15 with its square


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("As Llama 3.1 70B, I advise rest.", "As [name], I advise rest."),
        ("LLAMA-3.1 says: rest.", "[name] says: rest."),
        ("As llama3 says, rest.", "As [name] says, rest."),
        ("Ask our closed-book Assistant.", "Ask our [name]."),
        ("A model alone at home needs a search.", "A model alone at home needs a search."),
        ("Instruct the patient to rest.", "Instruct the patient to rest."),
    ],
)
def test_names_of_answering_systems_and_their_models_are_masked_and_words_of_the_trade_are_not(text: str, masked: str) -> None:
    masker = masker_of([], ["meta-llama/Llama-3.1-70B-Instruct", "closed_book_assistant", "Model", "alone", "search"])
    assert masker.mask(text) == masked
