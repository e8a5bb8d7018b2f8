"""An account belongs to the user of the identity provider who signed in first, whatever e-mail address they have later."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from annotation.label_store.access_log import TERMINAL
from annotation.label_store.engine import LabelStore, StudyError, open_label_store
from annotation.studies.accounts import add_account, normal_username
from annotation.studies.signing_in import bound_username, is_of_another, rebind

NOW = datetime(2026, 7, 1, tzinfo=UTC)
PETRA, MALLORY = "https://id.example 7", "https://id.example mallory"


@pytest.fixture
def store(tmp_path: Path) -> LabelStore:
    store = open_label_store(f"sqlite:///{tmp_path / 'studies.db'}")
    add_account(store, "petra@alder.example", "pi", None, NOW)
    return store


def found(store: LabelStore, user: str, email: str = "Petra@alder.example", *, verified: bool = True) -> str:
    return bound_username(store, user, email, NOW, verified=verified)


def test_the_first_verified_sign_in_binds_and_no_other_user_of_the_same_address_enters(store: LabelStore) -> None:
    assert found(store, MALLORY, verified=False) == ""
    assert found(store, PETRA) == "petra@alder.example"
    assert found(store, MALLORY) == ""
    assert is_of_another(store, MALLORY, "petra@alder.example")
    assert found(store, PETRA, "petra@new.example", verified=False) == "petra@alder.example"


def test_the_operator_can_let_the_next_one_in(store: LabelStore) -> None:
    found(store, PETRA)
    rebind(store, "petra@alder.example", NOW, TERMINAL)
    assert found(store, MALLORY) == "petra@alder.example"
    with pytest.raises(StudyError, match="No account 'ben'"):
        rebind(store, "ben", NOW, TERMINAL)


@pytest.mark.parametrize("name", ["petra@alder.ex\u0430mple", "\uff50etra@alder.example", "kir\u017f", "\u212aim", "o\ufb03ce"])
def test_letters_that_look_alike_are_not_folded_into_ascii(store: LabelStore, name: str) -> None:
    assert not normal_username(name).isascii()
    assert found(store, MALLORY, name) == ""
