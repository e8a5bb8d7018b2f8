"""Saved selections on the page: used by everybody who browses, saved by those who are signed in."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from annotation.label_store.selections import list_selections
from annotation.studies.accounts import Account, Role
from annotation.studies.selections import save_selection
from pages._blinded.scripts import script_path
from pages.disagreements.saved_selections import selection_params
from tests.pages.conftest import words_on
from tests.pages.studies.conftest import SignIn


def on_disagreements(at, **params):
    at.switch_page(script_path("disagreements"))
    for name, value in params.items():
        at.query_params[name] = value
    return at.run()


def links_to_selections(at):
    return {link.proto.label: link.proto.query_string for link in at.get("page_link") if "organ=" in link.proto.query_string}


def test_a_selection_is_saved_used_and_deleted(run, folk, as_user: SignIn):
    at = on_disagreements(as_user("vera"), organ=["kidney"], words="q1", question="q1")
    (name,) = [field for field in at.text_input if field.label.startswith("Name for these filters")]
    name.input("*Kidney* [x](http://evil.test)")
    next(button for button in at.button if button.label == "Save this selection").click().run()
    (saved,) = list_selections(folk)
    assert (saved.address, saved.author) == ("words=q1&organ=kidney", "vera")  # not what is open, and not the run
    other = on_disagreements(as_user("petra"))
    ((label, query),) = links_to_selections(other).items()
    assert "[x](http" not in label
    assert "words=q1" in query
    assert "question" not in query
    other.button(key=f"delete_{saved.name}").click().run()
    assert list_selections(folk) == []


def test_a_visitor_uses_selections_and_saves_none(run, folk, open_page, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AUDIT_BROWSING", "open")
    save_selection(folk, Account("vera", "Vera", Role.VIEWER), "Hearts", "organ=heart&run=other&evil=1", datetime.now(UTC))
    at = open_page("disagreements")
    assert list(links_to_selections(at)) == ["Hearts"]
    assert "Sign in to save these filters" in words_on(at)
    assert not [button for button in at.button if button.label in ("Save this selection", "Delete")]


def test_only_what_a_selection_has_is_read_from_its_address():
    assert selection_params("organ=heart&organ=lung&run=other&evil=1&list=pairs") == {
        "organ": ["heart", "lung"],
        "list": ["pairs"],
    }
