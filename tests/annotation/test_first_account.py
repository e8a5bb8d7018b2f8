"""The first account: whoever has the server's code makes it, once."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from annotation.label_store.access_log import list_log
from annotation.label_store.engine import LabelStore, SignInError, StudyError
from annotation.label_store.stored_values import to_timestamp
from annotation.studies.accounts import Role, account_of_token, list_account_states, list_accounts
from annotation.studies.signing_in import TAKEN, WRONG_CODE, code_issued, create_first_account, issue_code, sign_in, withdraw_code
from tests.support.studies import CHEAP, NOW, PASSWORD, later, people


@pytest.fixture
def code() -> Iterator[str]:
    yield issue_code()
    withdraw_code()


def create(store: LabelStore, code: str, name: str = "Petra", at: float = 0.0, password: str = PASSWORD) -> str:
    return create_first_account(store, name, password, code, later(at), CHEAP, name="Petra Pine", address="192.0.2.1")


def test_whoever_has_the_code_becomes_a_pi_and_is_signed_in(store: LabelStore, code: str) -> None:
    token = create(store, code)
    account = account_of_token(store, token, NOW)
    assert account is not None
    assert (account.username, account.name, account.role) == ("petra", "Petra Pine", Role.PI)
    assert [state.last_sign_in_at for state in list_account_states(store, NOW)] == [to_timestamp(NOW)]
    sign_in(store, "petra", PASSWORD, NOW, CHEAP)
    assert [(entry.event, entry.account, entry.address) for entry in list_log(store)][1:] == [
        ("sign-in", "petra", "192.0.2.1"), ("account-added", "petra", "192.0.2.1"),
    ]  # fmt: skip
    assert code not in repr(list_log(store))


def test_case_spaces_and_hyphens_do_not_matter(store: LabelStore, code: str) -> None:
    create(store, f" {code.upper().replace('-', ' ')} ")
    assert len(list_accounts(store)) == 1


@pytest.mark.parametrize("typed", ["", "-", "k7qm-2hva-x9tc-p4re", "é" * 500])
def test_a_wrong_code_creates_nothing_and_is_logged(store: LabelStore, code: str, typed: str) -> None:
    with pytest.raises(SignInError, match=WRONG_CODE):
        create(store, typed)
    assert list_accounts(store) == []
    assert [entry.event for entry in list_log(store)] == ["sign-in-failed"]


def test_without_a_code_nothing_is_the_right_one(store: LabelStore) -> None:
    withdraw_code()
    with pytest.raises(SignInError, match=WRONG_CODE):
        create(store, "")


def test_after_five_wrong_codes_each_attempt_waits_the_right_code_too(store: LabelStore, code: str) -> None:
    for _ in range(5):
        with pytest.raises(SignInError, match=WRONG_CODE):
            create(store, "wrong")
    with pytest.raises(SignInError, match=r"Too many wrong codes\. Try again in 1 seconds"):
        create(store, code)
    create(store, code, at=2)


def test_the_code_is_dead_once_there_is_an_account_however_it_was_made(store: LabelStore, code: str) -> None:
    people(store, "ana")
    with pytest.raises(SignInError, match=TAKEN):
        create(store, code)
    assert len(list_accounts(store)) == 1


def test_the_code_is_withdrawn_with_the_account_that_it_made(store: LabelStore, code: str) -> None:
    create(store, code)
    assert not code_issued()
    with pytest.raises(SignInError, match=WRONG_CODE):
        create(store, code, "paul")


@pytest.mark.parametrize(("name", "password"), [("!", PASSWORD), ("petra", "short")])
def test_a_name_or_password_that_is_not_allowed_leaves_the_code(store: LabelStore, code: str, name: str, password: str) -> None:
    for _ in range(8):  # more than wrong codes would be let through
        with pytest.raises(StudyError, match="Nothing was"):
            create(store, code, name, password=password)
    create(store, code)


def test_of_two_who_have_the_code_at_once_one_gets_the_account(store: LabelStore, code: str) -> None:
    def attempt(name: str) -> bool:
        try:
            create(store, code, name)
        except SignInError:
            return False
        return True

    with ThreadPoolExecutor(2) as both:
        assert sorted(both.map(attempt, ("petra", "paul"))) == [False, True]
    assert len(list_accounts(store)) == 1
