"""The page As read: the picture beside the text, doubts first, and corrections for a PI alone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from annotation.label_store.access_log import Event, list_log
from annotation.studies.accounts import sign_out_everywhere
from audit.release.write import write_jsonl
from audit.text.corrections import Correction, digest_of_corrections, read_corrections
from tests.pages.conftest import HANDBOOKS, TABLE, Open, words_on
from tests.pages.studies.conftest import SignIn, as_user, folk, store  # noqa: F401 - fixtures
from tests.pages.test_answer import html_on
from tests.support.loading import load
from tests.support.pdfs import FILLER, column, write_pdf
from tests.support.tiny import release_from

TITLE = "Foods <to> Leave Out"
DOUBTS = [
    {"kind": "repeated", "quote": TITLE, "pages": [1, 2]},
    {"kind": "no lead", "quote": "• bananas", "pages": [2]},
    {"kind": "of a later version", "quote": "x", "pages": [2]},
]
TEXT = f"{FILLER}\n\n• bananas\n• kiwis\n\nMilk | Yes\nMedicine: Ibuprofen | Allowed: no\n\nbananas"
SECTIONS = [
    {"handbook_id": "a", "section_id": "s1", "heading": "Fever", "text": "Call us.", "pages": [1, 1]},
    {"handbook_id": "a", "section_id": "s2", "heading": "Fruit", "text": TEXT, "pages": [2, 2]},
]

Loaded = Callable[..., Path]


@pytest.fixture
def loaded(tmp_path: Path, data_dir: Path) -> Loaded:
    """Load a run with the text of a handbook, and return the folder of sources, which has its PDF."""

    def loader(extraction: dict[str, Any] | None = None) -> Path:
        sources = data_dir / "sources"
        sources.mkdir(parents=True)
        pages = [column([TITLE, "# Fever", "Call us."]), column([TITLE, "# Fruit", FILLER, "• bananas", "• kiwis"])]
        digest = hashlib.sha256(write_pdf(sources / "book.pdf", pages).read_bytes()).hexdigest()
        books = [HANDBOOKS[0] | {"digest": digest, "extraction": extraction or {"doubts": DOUBTS}}, *HANDBOOKS[1:]]
        folder = release_from(tmp_path / "releases", TABLE, books)
        write_jsonl(folder / "sections.jsonl", SECTIONS)
        load(folder, data_dir)
        return sources

    return loader


def opened_by(as_user: SignIn, name: str, **params: str) -> AppTest:  # noqa: F811
    at = as_user(name)
    at.switch_page("pages/as_read/as_read.py")
    for key, value in {"handbook": "a", **params}.items():
        at.query_params[key] = value
    return at.run()


def button(at: AppTest, label: str) -> Any:
    return next(button for button in at.button if button.label == label)


def success(at: AppTest) -> str:
    return str(at.success[0].value).replace("\\", "")


def saved(sources: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (sources / "a.corrections.jsonl").read_text().splitlines()]


def test_the_page_opens_where_something_is_to_check_and_shows_it_before_the_text(loaded: Loaded, open_page: Open):
    loaded()
    at = open_page("as_read", handbook="a")
    html = html_on(at)
    assert not at.exception
    assert 'alt="Page 1 of' in html
    assert "2 places to check, on 2 of 2 pages." in words_on(at)
    assert html.index("Foods &lt;to&gt; Leave Out") < html.index("Call us.")
    assert "Repeated at the top or bottom of pages" in html
    assert 'class="spot"' in html  # the words are marked on the picture
    button(at, "Next page to check: 2").click().run()
    html = html_on(at)
    assert "A list without a line that introduces it" in html
    assert html.count("<li class=") == len(["Fruit", FILLER, "bananas", "kiwis", "Milk", "Medicine", "bananas"])
    assert "Next page to check" not in " ".join(each.label for each in at.button)


def test_without_the_file_the_text_is_shown_and_nothing_can_be_corrected(loaded: Loaded, folk, as_user: SignIn):  # noqa: F811
    (loaded() / "book.pdf").unlink()
    at = opened_by(as_user, "petra", pdf_page="2")
    assert not at.exception
    assert "only its text is shown" in words_on(at)
    assert "once the file of this handbook is in the folder for sources" in words_on(at)
    assert "bananas" in html_on(at)


@pytest.mark.parametrize(
    ("extraction", "sentence"),
    [
        ({"corrections": None}, "Nobody looked for doubtful places"),
        ({"doubts": []}, "Nothing is marked in this handbook."),
        ({"doubts": DOUBTS[1:]}, "Nothing is marked on this page."),
        ({"doubts": 7, "corrections": {"applied": "x"}}, "Nothing is marked in this handbook."),
    ],
)
def test_no_doubt_is_not_said_to_be_no_mistake(loaded: Loaded, open_page: Open, extraction: dict[str, Any], sentence: str):
    loaded(extraction)
    at = open_page("as_read", handbook="a", pdf_page="1")
    assert not at.exception
    assert sentence in words_on(at)


def test_a_handbook_without_text_and_a_page_that_is_none(loaded: Loaded, open_page: Open):
    loaded()
    assert "does not have the text" in words_on(open_page("as_read", handbook="b"))
    at = open_page("as_read", handbook="a", pdf_page="x")
    assert not at.exception
    assert "Call us." in html_on(at)
    assert "it has no such page" in words_on(open_page("as_read", handbook="a", pdf_page="9"))


# -- corrections -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["vera", ""])
def test_others_than_a_pi_have_no_button(loaded: Loaded, open_page: Open, folk, as_user: SignIn, name: str):  # noqa: F811
    loaded()
    at = opened_by(as_user, name) if name else open_page("as_read", handbook="a")
    assert "An investigator (PI) who is signed in can correct lines here." in words_on(at)
    assert not {"Keep", "Drop", "Heading"} & {each.label for each in at.button}


def test_a_pi_corrects_lines_into_the_file_beside_the_source(loaded: Loaded, folk, as_user: SignIn):  # noqa: F811
    sources = loaded()
    at = opened_by(as_user, "petra", pdf_page="2")
    button(at, "Keep").click().run()
    assert "Saved: keep “Foods <to> Leave Out” on page 2. The next `audit extract` or `audit run` uses it." in success(at)
    line = at.selectbox(key="line a.corrections.jsonl 2")
    assert line.options == [
        "Left out: Foods <to> Leave Out", "1: Fruit", f"2: {FILLER[:58]}…", "3: bananas (1 of 2)", "4: kiwis", "5: Milk | Yes",
        "7: bananas (2 of 2)",
    ]  # fmt: skip
    line.select_index(3).run()
    button(at, "Move down").click().run()
    at.selectbox(key="line a.corrections.jsonl 2").select_index(1).run()
    button(at, "No heading").click().run()
    keep, order, heading = saved(sources)
    assert keep.items() >= {"do": "keep", "page": 2, "words": TITLE, "by": "petra"}.items()
    assert (order["do"], order["words"], order["which"], order["after"]) == ("order", "bananas", [1, 2], "kiwis")
    assert (heading["do"], heading["words"], heading["level"]) == ("heading", "Fruit", 0)
    assert len(keep["digest"]) == 64
    assert str(at.subheader[0].value) == "3 corrections of this handbook"
    assert "does not follow these corrections yet" in words_on(at)
    events = [entry for entry in list_log(folk) if entry.event == Event.TEXT_CORRECTED]
    assert [(entry.account, entry.detail) for entry in events] == [("petra", "a.corrections.jsonl")] * 3


def test_the_words_of_one_line_inside_a_paragraph_are_moved_before_the_chosen_line(loaded: Loaded, folk, as_user: SignIn):  # noqa: F811
    sources = loaded()
    at = opened_by(as_user, "petra", pdf_page="2")
    at.selectbox(key="line a.corrections.jsonl 2").select_index(1).run()
    at.text_input(key="words a.corrections.jsonl 2").input("before you touch").run()
    button(at, "Move before the line").click().run()
    (order,) = saved(sources)
    assert (order["words"], order["before"]) == ("before you touch", "Fruit")


def test_a_correction_is_withdrawn_and_one_of_somebody_else_stays(loaded: Loaded, folk, as_user: SignIn):  # noqa: F811
    sources = loaded()
    at = opened_by(as_user, "petra", pdf_page="2")
    button(at, "Keep").click().run()
    other = '{"do": "drop", "words": "Somewhere else", "page": 1}'
    path = sources / "a.corrections.jsonl"
    path.write_text(f"{path.read_text()}{other}\n")
    button(at, "Withdraw").click().run()
    assert "Withdrawn: keep" in success(at)
    assert path.read_text() == f"{other}\n"


def test_whose_session_has_ended_since_the_page_was_drawn_writes_nothing(loaded: Loaded, folk, as_user: SignIn):  # noqa: F811
    sources = loaded()
    at = opened_by(as_user, "petra")
    sign_out_everywhere(folk, "petra", datetime.now(UTC))
    button(at, "Keep").click().run()
    assert not (sources / "a.corrections.jsonl").exists()


def test_a_file_that_cannot_be_read_is_one_sentence_and_stays(loaded: Loaded, folk, as_user: SignIn):  # noqa: F811
    path = loaded() / "a.corrections.jsonl"
    path.write_text("no correction\n")
    at = opened_by(as_user, "petra")
    assert not at.exception
    assert "a.corrections.jsonl, line 1: it cannot be read as JSON" in words_on(at)
    assert path.read_text() == "no correction\n"


def test_a_run_that_follows_the_corrections_says_so_and_names_those_that_were_not_applied(
    loaded: Loaded,
    folk,  # noqa: F811
    as_user: SignIn,  # noqa: F811
):
    given = (Correction("drop", "Clinic", 1),)
    missed = "The correction drop “Clinic” on page 1 was not applied."
    sources = loaded({"doubts": [], "corrections": {"digest": digest_of_corrections(given), "applied": 0, "missed": [missed]}})
    (sources / "a.corrections.jsonl").write_text('{"do": "drop", "words": "Clinic", "page": 1}\n')
    assert digest_of_corrections(read_corrections(sources / "a.corrections.jsonl")) == digest_of_corrections(given)
    words = words_on(opened_by(as_user, "petra"))
    assert "The text of this run follows these corrections." in words
    assert f"Not applied in this run: {missed}" in words
