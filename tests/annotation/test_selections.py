"""Saved selections: who may save, replace and delete one."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.selections import list_selections
from annotation.studies.accounts import Account, Role
from annotation.studies.selections import MAX_NAME, delete_selection, save_selection
from tests.support.studies import people

NOW = datetime(2026, 11, 1, tzinfo=UTC)
VERA, VIC = Account("vera", "Vera", Role.VIEWER), Account("vic", "Vic", Role.VIEWER)
PETRA, ANA = Account("petra", "Petra", Role.PI), Account("ana", "Ana", Role.ANNOTATOR)


@pytest.fixture
def shared(store: LabelStore) -> LabelStore:
    for name, role in (("vera", "viewer"), ("vic", "viewer"), ("petra", "pi")):
        people(store, name, role=role)
    save_selection(store, VERA, "  Grave on \n heart ", "organ=heart&significance=high", NOW)
    return store


def stored(store: LabelStore) -> dict[str, tuple[str, str]]:
    return {selection.name: (selection.address, selection.author) for selection in list_selections(store)}


def test_a_selection_is_kept_by_name_and_its_author_may_replace_it(shared: LabelStore) -> None:
    assert stored(shared) == {"Grave on heart": ("organ=heart&significance=high", "vera")}
    save_selection(shared, VERA, "Grave on heart", "organ=heart", NOW)
    save_selection(shared, VIC, "O'Brien; drop table users --", "words=%25", NOW)
    assert stored(shared) == {
        "Grave on heart": ("organ=heart", "vera"), "O'Brien; drop table users --": ("words=%25", "vic"),
    }  # fmt: skip


def test_nobody_replaces_or_deletes_what_is_somebody_elses_but_a_pi(shared: LabelStore) -> None:
    with pytest.raises(StudyError, match="is vera's"):
        save_selection(shared, VIC, "Grave on heart", "organ=lung", NOW)
    with pytest.raises(StudyError, match="is vera's"):
        delete_selection(shared, VIC, "Grave on heart")
    assert stored(shared)["Grave on heart"] == ("organ=heart&significance=high", "vera")
    delete_selection(shared, PETRA, "Grave on heart")
    assert stored(shared) == {}


@pytest.mark.parametrize(
    ("account", "name", "address", "words"),
    [
        (ANA, "Mine", "organ=heart", "you are annotator"),
        (VERA, "  ", "organ=heart", "needs a name of 1 to 80 characters"),
        (VERA, "x" * (MAX_NAME + 1), "organ=heart", "needs a name"),
        (VERA, "Everything", "", "Choose at least one filter"),
    ],
)
def test_what_cannot_be_saved_is_refused_in_a_sentence(
    lite: LabelStore, account: Account, name: str, address: str, words: str
) -> None:
    with pytest.raises(StudyError, match=words):
        save_selection(lite, account, name, address, NOW)
    assert stored(lite) == {}
