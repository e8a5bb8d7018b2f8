"""Settings that a PI changes: stored, logged, weaker than the environment, and without keys."""

import pytest

from annotation.label_store.access_log import Actor, list_log
from annotation.label_store.app_settings import stored_settings
from annotation.label_store.engine import LabelStore, StudyError
from annotation.studies.app_settings import change_browsing, change_judge, with_stored
from audit.settings import Settings
from tests.support.studies import NOW

PETRA = Actor("petra", "192.0.2.1")
URLS = ("http://127.0.0.1:8000/v1", "https://judge.example/v1")


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AUDIT_BROWSING", "AUDIT_JUDGE_URL", "AUDIT_JUDGE_MODEL"):
        monkeypatch.delenv(name, raising=False)


def in_force(store: LabelStore) -> tuple[str, tuple[str, ...], str]:
    settings = with_stored(Settings(), stored_settings(store))
    return settings.browsing, settings.judge_urls, settings.judge_model


def test_what_a_pi_sets_is_in_force_and_logged_with_hosts_only(store: LabelStore) -> None:
    change_browsing(store, "signed-in", PETRA, NOW)
    change_judge(store, [*URLS, URLS[0] + "/", " "], " qwen3 ", PETRA, NOW)
    assert in_force(store) == ("signed-in", URLS, "qwen3")
    assert [(entry.account, entry.event, entry.detail) for entry in list_log(store)] == [
        ("petra", "setting-changed", "judge: qwen3 at 127.0.0.1:8000, judge.example"),
        ("petra", "setting-changed", "who may browse runs: viewers and PIs who are signed in"),
    ]


def test_a_setting_that_is_taken_back_has_its_default(store: LabelStore) -> None:
    change_browsing(store, "open", PETRA, NOW)
    change_judge(store, URLS, "", PETRA, NOW)
    change_browsing(store, "", PETRA, NOW)
    change_judge(store, [], "qwen3", PETRA, NOW)
    assert in_force(store) == ("", (), "")
    assert stored_settings(store) == {}
    assert len(list_log(store)) == 4


def test_the_environment_is_stronger(store: LabelStore, monkeypatch: pytest.MonkeyPatch) -> None:
    change_browsing(store, "open", PETRA, NOW)
    change_judge(store, URLS, "qwen3", PETRA, NOW)
    monkeypatch.setenv("AUDIT_BROWSING", "signed-in")
    monkeypatch.setenv("AUDIT_JUDGE_URL", "http://own.example/v1")
    assert in_force(store) == ("signed-in", ("http://own.example/v1",), "")  # no model of other endpoints
    monkeypatch.delenv("AUDIT_JUDGE_URL")
    monkeypatch.setenv("AUDIT_JUDGE_MODEL", "own")
    assert in_force(store) == ("signed-in", URLS, "own")


WRONG = {
    "no scheme": "judge.example", "ftp": "ftp://judge.example", "a file": "file:///etc/passwd", "no host": "http://",
    "a space": "http://a b", "port": "http://x:99999", "bracket": "http://[::1", "long": "http://judge.example/" + "x" * 300,
    "password": "http://user:hidden@judge.example/v1", "key": "http://judge.example/v1?key=hidden",
}  # fmt: skip


@pytest.mark.parametrize("kind", WRONG)
def test_an_address_that_is_none_or_has_a_key_in_it_is_refused_without_repeating_it(store: LabelStore, kind: str) -> None:
    with pytest.raises(StudyError, match=r"Address 2 .*Nothing was changed") as refused:
        change_judge(store, [URLS[0], WRONG[kind]], "", PETRA, NOW)
    assert "hidden" not in str(refused.value)
    assert stored_settings(store) == {}
    assert list_log(store) == []


def test_too_many_addresses_and_another_word_for_browsing_are_refused(store: LabelStore) -> None:
    with pytest.raises(StudyError, match="17 addresses"):
        change_judge(store, [f"http://judge.example:{port}" for port in range(1, 18)], "", PETRA, NOW)
    with pytest.raises(StudyError, match="'everybody' is unknown"):
        change_browsing(store, "everybody", PETRA, NOW)
