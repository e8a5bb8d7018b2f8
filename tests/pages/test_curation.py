"""Curating a theme on a page: who may, what is shown, two at once, undoing, and the themes as they were built."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest
from streamlit.testing.v1 import AppTest

from annotation.label_store.engine import LabelStore, open_label_store
from annotation.label_store.theme_edits import count_edits
from annotation.studies.accounts import find_account, open_session
from annotation.theme_edits.edits import EditKind, ThemeChange
from annotation.theme_edits.record import NewEdit, list_edits, record_edit
from audit.queries.themes import require_taxonomy, taxonomy_path
from audit.release.taxonomy import Taxonomy, Theme, write_taxonomy
from audit.settings import Settings
from audit.store.runs import Run
from tests.pages.conftest import TOKEN, lists, pick_row, words_on
from tests.pages.test_themes import POINTS, TAXONOMY
from tests.support.curating import merge, rename, small, split, undo
from tests.support.studies import people

SCRIPT = """
import streamlit as st
from pages._shared.theme_edits import FORM, edit_form, edit_list, show_result
from pages._shared.themes import theme_view
from pages._shared.loaders import loaded_runs
from tests.support.curating import outline, small

(run,) = loaded_runs()
view = theme_view(run, small())
theme_id = view.current_id(st.query_params.get("theme", "t-teeth"))
theme = next((theme for theme in view.taxonomy.themes if theme.theme_id == theme_id), None)
st.title(theme.name if theme else "no theme")
st.text(sorted(theme.topics if theme else view.taxonomy.no_theme))
show_result(FORM)
edit_form(run, view, theme)
edit_list(run, view, theme_id if "theme" in st.query_params else None)
"""
"""What a page on one theme does, and no more."""

Open = Callable[..., AppTest]


@pytest.fixture
def store(run: Run) -> Iterator[LabelStore]:
    opened = open_label_store(Settings().studies_url)
    people(opened, "vera", role="viewer")
    people(opened, "petra", role="pi")
    yield opened
    opened.close()


@pytest.fixture
def themed(run: Run) -> Run:
    """The run with themes built for it: Salt and Fluids under one parent, each of two pairs, and two pairs without a theme."""
    write_taxonomy(TAXONOMY, POINTS, taxonomy_path(run, Settings().themes_dir))
    return run


@pytest.fixture
def open_theme(run: Run) -> Open:
    """The page as somebody sees it, or nobody; with the parameters of a link."""

    def opener(who: str | None = None, **params: str) -> AppTest:
        at = AppTest.from_string(SCRIPT, default_timeout=60)
        for name, value in params.items():
            at.query_params[name] = value
        if who is not None:
            store = open_label_store(Settings().studies_url)
            at.session_state[TOKEN] = open_session(store, who, datetime.now(UTC))
            store.close()
        return at.run()

    return opener


def curate(store: LabelStore, run: Run, who: str, change: ThemeChange, taxonomy: Taxonomy | None = None) -> None:
    """An edit made elsewhere, a moment ago."""
    seen, person = count_edits(store, run.digest), find_account(store, who)
    assert person is not None
    record_edit(
        store, run.digest, taxonomy or small(), person, NewEdit(change, "clearer", f"{who}/{seen}", seen), datetime.now(UTC)
    )


def choose(at: AppTest, action: str) -> AppTest:
    (group,) = [group for group in at.get("button_group") if group.proto.label == "What to do"]
    return group.set_value(action).run()


def save(at: AppTest, reason: str = "they mean the same", theme: str = "t-teeth", **fields: object) -> AppTest:
    """Fill in what is given and press Save."""
    for field, value in fields.items():
        element = {"name": at.text_input, "into": at.selectbox, "phrases": at.multiselect}[field]
        element(key=f"curate_{field}_{theme}").set_value(value)
    at.text_input(key=f"curate_reason_{theme}").set_value(reason)
    return at.button(key=f"curate_save_{theme}").click().run()


def said(at: AppTest) -> str:
    return "\n".join(str(element.value) for kind in ("success", "error") for element in at.get(kind)).replace("\\", "")


def test_without_an_account_nobody_curates_and_the_page_says_how_to_get_one(open_theme: Open):
    at = open_theme()
    assert not at.exception
    assert "audit account add NAME --role viewer" in words_on(at)
    assert "Nobody has edited these themes" in words_on(at)
    assert [button for button in at.button if button.label == "Save"] == []


def test_who_is_not_signed_in_is_told_who_may(store: LabelStore, open_theme: Open):
    at = open_theme()
    assert "after signing in" in words_on(at)
    assert [button for button in at.button if button.label == "Save"] == []


@pytest.mark.parametrize("who", ["vera", "petra"])
def test_a_clinician_or_a_pi_renames_a_theme(who: str, store: LabelStore, run: Run, open_theme: Open):
    at = save(open_theme(who), name="Dental care")
    assert not at.exception
    assert at.title[0].value == "Dental care"
    assert f"Saved as edit 1: {who} renamed 'teeth' to 'Dental care'" in said(at)
    (edit,) = list_edits(store, run.digest)
    assert (edit.author, edit.reason) == (who, "they mean the same")
    assert f"1 edit, the last by {who}" in words_on(at)
    assert at.text_input(key="curate_name_t-teeth").value == ""


def test_a_theme_is_merged_and_its_address_leads_to_the_other(store: LabelStore, open_theme: Open):
    at = save(choose(open_theme("vera", theme="t-teeth"), "Merge"), into="lifting (body)")
    assert not at.exception
    assert at.title[0].value == "lifting"
    assert "pulling teeth" in words_on(at)
    assert "merged 'teeth' into 'lifting'" in said(at)


def test_phrases_are_split_off_and_moved(store: LabelStore, run: Run, open_theme: Open):
    at = choose(open_theme("vera"), "Split")
    at = save(at, phrases=["pulling teeth", "soft toothbrush"], name="Surgery")
    at = save(choose(at, "Move phrases"), phrases=["dental cleaning"], into="No theme")
    assert not at.exception
    assert words_on(at).count("check-up before listing") == 1
    assert [edit.change.phrases for edit in list_edits(store, run.digest)] == [
        ("pulling teeth", "soft toothbrush"),
        ("dental cleaning",),
    ]


def test_a_phrase_without_a_theme_is_given_one(store: LabelStore, run: Run, open_theme: Open):
    at = open_theme("vera", theme="-1")
    (group,) = [group for group in at.get("button_group") if group.proto.label == "What to do"]
    assert [option.content for option in group.proto.options] == ["Move phrases"]
    at = save(at, theme="-1", phrases=["parking"], into="sun (outdoors)")
    assert not at.exception
    assert list_edits(store, run.digest)[0].change.theme is None
    assert "parking" not in at.text[0].value


def test_a_theme_is_moved_to_the_top_and_set_aside_and_brought_back(store: LabelStore, run: Run, open_theme: Open):
    at = save(choose(open_theme("vera"), "Move theme"), into="None (top level)")
    at = save(choose(at, "Not meaningful"))
    at = save(choose(at, "Meaningful"))
    assert not at.exception
    assert [str(edit.change.kind) for edit in list_edits(store, run.digest)] == ["move theme", "set aside", "bring back"]


@pytest.mark.parametrize(
    ("action", "fields", "why"),
    [
        ("Rename", {"name": "Lifting"}, "taken by another theme"),
        ("Rename", {"name": "Dental", "reason": " "}, "needs a reason"),
        ("Merge", {}, "Choose a target theme"),
        ("Move phrases", {"phrases": ["pulling teeth"]}, "Choose a target theme"),
        ("Split", {"name": "Surgery"}, "Choose at least one phrase"),
    ],
)
def test_what_is_refused_keeps_what_was_typed(action, fields, why, store: LabelStore, run: Run, open_theme: Open):
    at = save(choose(open_theme("vera"), action), **{"reason": "my long reason", **fields})
    assert why in said(at)
    assert at.text_input(key="curate_reason_t-teeth").value == fields.get("reason", "my long reason")
    if "name" in fields:
        assert at.text_input(key="curate_name_t-teeth").value == fields["name"]
    assert list_edits(store, run.digest) == []


def test_of_two_at_once_the_second_is_told_and_loses_nothing_of_what_was_typed(store: LabelStore, run: Run, open_theme: Open):
    at = open_theme("vera")
    curate(store, run, "petra", rename("t-teeth", "Dental care"))
    at = save(at, name="Teeth and gums", reason="my long reason")
    assert "Since you looked, petra renamed 'teeth' to 'Dental care'" in said(at)
    assert at.title[0].value == "Dental care"
    assert at.text_input(key="curate_name_t-teeth").value == "Teeth and gums"
    at = save(at, name="Teeth and gums", reason="my long reason")
    assert at.title[0].value == "Teeth and gums"


def test_who_was_still_typing_when_the_page_was_drawn_anew_is_told_too(store: LabelStore, run: Run, open_theme: Open):
    at = open_theme("vera")
    at.text_input(key="curate_name_t-teeth").set_value("Teeth and gums").run()
    curate(store, run, "petra", rename("t-teeth", "Dental care"))
    at = at.run()
    assert at.title[0].value == "Dental care"
    assert "Since you looked, petra renamed 'teeth'" in said(save(at))
    assert at.text_input(key="curate_name_t-teeth").value == "Teeth and gums"
    assert save(at).title[0].value == "Teeth and gums"


def test_what_happened_before_anything_was_typed_is_no_surprise(store: LabelStore, run: Run, open_theme: Open):
    at = open_theme("vera")
    curate(store, run, "petra", rename("t-teeth", "Dental care"))
    assert save(at.run(), name="Teeth and gums").title[0].value == "Teeth and gums"


def test_who_was_signed_out_in_the_meantime_is_told_and_nothing_is_saved(store: LabelStore, run: Run, open_theme: Open):
    at = open_theme("vera")
    del at.session_state[TOKEN]
    at = save(at, name="Dental care")
    assert "Your session has ended" in said(at)
    assert list_edits(store, run.digest) == []


# -- the list ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def click_edit(monkeypatch: pytest.MonkeyPatch) -> Callable[[AppTest, int, int], AppTest]:
    """A click on an edit of the list of so many."""
    return lambda at, row, edits: pick_row(monkeypatch, at, f"curation_{edits}", row)


def test_an_edit_is_undone_with_a_reason_by_another_person_who_may(store: LabelStore, run: Run, open_theme: Open, click_edit):
    curate(store, run, "vera", rename("t-teeth", "Dental care"))
    at = click_edit(open_theme("petra"), 0, 1)
    assert ": vera renamed 'teeth' to 'Dental care'. Reason: clearer" in words_on(at)
    at.text_input(key="undo_reason_1").set_value("it was clear")
    at = at.button(key="undo_1").click().run()
    assert not at.exception
    assert at.title[0].value == "teeth"
    assert list_edits(store, run.digest)[1].reason == "it was clear"
    assert "curated" not in words_on(at).lower().replace("as curated", "")


def test_an_undo_that_would_pull_the_ground_away_is_refused_in_words(store: LabelStore, run: Run, open_theme: Open, click_edit):
    curate(store, run, "vera", split("t-teeth", ["pulling teeth"], "", "Surgery"))
    (edit,) = list_edits(store, run.digest)
    curate(store, run, "vera", rename(str(edit.change.into), "Oral surgery"))
    at = click_edit(open_theme("petra"), 1, 2)
    at.text_input(key="undo_reason_1").set_value("no")
    at = at.button(key="undo_1").click().run()
    assert "edit 2 (renamed 'Surgery' to 'Oral surgery') builds on it; undo that first" in said(at)
    assert at.text_input(key="undo_reason_1").value == "no"


def test_the_list_of_one_theme_has_the_edits_to_what_was_merged_into_it(store: LabelStore, run: Run, open_theme: Open):
    curate(store, run, "vera", rename("t-lift", "Weights"))
    curate(store, run, "vera", merge("t-lift", "t-teeth"))
    curate(store, run, "vera", rename("t-sun", "Sun"))
    at = open_theme(theme="t-lift")
    assert at.title[0].value == "teeth"
    assert lists(at)[0].value["act"].tolist() == [2, 1]
    assert lists(open_theme())[0].value["act"].tolist() == [3, 2, 1]
    assert "Nobody has edited this theme" in words_on(open_theme(theme="p-body"))


def test_the_themes_as_built_are_one_click_away_and_are_not_changed_there(store: LabelStore, run: Run, open_theme: Open):
    curate(store, run, "vera", rename("t-teeth", "Dental care"))
    at = open_theme("vera", version="as built")
    assert at.title[0].value == "teeth"
    assert "These are the original themes" in words_on(at)
    assert [button for button in at.button if button.label == "Save"] == []
    (group,) = [group for group in at.get("button_group") if group.proto.label == "Themes"]
    assert group.set_value("curated").run().title[0].value == "Dental care"


def test_after_everything_is_undone_the_themes_are_not_called_curated(store: LabelStore, run: Run, open_theme: Open):
    curate(store, run, "vera", rename("t-teeth", "Dental care"))
    curate(store, run, "petra", undo(1))
    at = open_theme()
    assert "the last by" not in words_on(at)
    assert lists(at)[0].value["standing"].tolist() == ["in effect", "undone by edit 2"]


def test_edits_that_no_longer_fit_the_themes_are_listed_with_the_reason(
    store: LabelStore, run: Run, open_theme: Open, click_edit
):
    earlier = Taxonomy((*small().themes, Theme("t-old", "parking", None, ("parking fees",))))
    curate(store, run, "vera", rename("t-old", "Parking"), earlier)
    curate(store, run, "vera", rename("t-teeth", "Dental care"), earlier)
    at = open_theme("petra")
    assert "1 edit no longer fits these themes" in words_on(at)
    assert "was not applied: the theme 'parking' (t-old) no longer exists" in words_on(at)
    assert lists(at)[0].value["standing"].tolist() == ["in effect", "not applied"]
    assert at.title[0].value == "Dental care"
    at = click_edit(at, 1, 2)
    at.text_input(key="undo_reason_1").set_value("there is no such theme now")
    assert "no longer" not in words_on(at.button(key="undo_1").click().run())


def test_a_name_is_never_taken_for_markdown(store: LabelStore, run: Run, open_theme: Open, click_edit):
    curate(store, run, "vera", rename("t-teeth", "**bold** [x](http://evil.test) <b>"))
    at = click_edit(open_theme("vera", theme="t-teeth"), 0, 1)
    raw = "\n".join(str(element.value) for kind in ("markdown", "caption", "success") for element in at.get(kind))
    assert "[x](http" not in raw
    assert "**bold**" not in raw


# -- the pages themselves ----------------------------------------------------------------------------------------------


def test_both_pages_count_the_themes_as_curated_and_say_so(store: LabelStore, themed: Run, open_page: Open):
    built = require_taxonomy(themed, Settings().themes_dir)
    curate(store, themed, "vera", ThemeChange(EditKind.RENAME, "t2", name="Drinks"), built)
    curate(store, themed, "vera", ThemeChange(EditKind.MERGE, "t1", "t2"), built)
    at = open_page("themes")
    assert not at.exception
    assert "2 edits, the last by vera" in words_on(at)
    assert list(lists(at)[0].value["name"]) == ["Drinks"]
    assert list(lists(at)[0].value["pairs"]) == [4]
    assert list(lists(open_page("themes", version="as built"))[0].value["name"]) == ["Salt", "Fluids"]
    at = open_page("theme", theme="t1")
    assert "The theme you asked for was merged into this one" in words_on(at)
    assert at.query_params["theme"] in ("t2", ["t2"])
    assert "Drinks" in words_on(at)


def test_a_theme_set_aside_is_counted_as_before_and_marked(store: LabelStore, themed: Run, open_page: Open):
    curate(store, themed, "vera", ThemeChange(EditKind.SET_ASIDE, "t2"), require_taxonomy(themed, Settings().themes_dir))
    shown = lists(open_page("themes"))[0].value
    assert list(shown["name"]) == ["Salt", "Fluids (set aside: not meaningful)"]
    assert list(shown["pairs"]) == [2, 2]
    assert "Set aside as not meaningful" in words_on(open_page("theme", theme="t2"))


def test_phrases_without_a_theme_are_given_one_on_their_own_page(store: LabelStore, themed: Run, open_page: Open):
    assert "Assign phrases to a theme" in [expander.label for expander in open_page("theme", theme="-1").expander]
