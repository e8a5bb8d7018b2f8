"""Two long texts are compared by another process, and pages show them without marks where that takes too long."""

from __future__ import annotations

import subprocess
import time

import pytest

from audit.own_process import TooMuchError
from audit.text.clashing import clashing_sentences
from audit.text.comparison import differences
from pages._shared.long_texts import SHORT_LETTERS, UNMARKED, compared
from pages._shared.side_by_side import LONG, legend_html
from pages._shared.system_answers import marked_texts

SLOW = "".join(f"{number} mg, " for number in range(3_000))[:6_000]


@pytest.fixture(autouse=True)
def none_kept():
    compared.cache_clear()


def test_what_two_long_texts_differ_in_is_found_elsewhere_and_kept():
    texts = SLOW, SLOW.replace("1 mg", "one dose")
    before = time.process_time()
    found = compared(differences, *texts)
    assert time.process_time() - before < 0.3, "this process, which all pages share, took part"
    assert found == differences(*texts)
    assert compared(differences, *texts) is found


def test_short_texts_are_compared_here(monkeypatch):
    monkeypatch.setattr(subprocess, "run", None)
    half = "a " * (SHORT_LETTERS // 4)
    assert compared(differences, half, half) == ([], [])
    assert compared(clashing_sentences, "q", "Wait 3 days.", "Wait 4 days.") is not None


def test_texts_that_take_too_long_are_shown_without_marks(monkeypatch):
    def slow(*arguments, timeout, **named):
        raise subprocess.TimeoutExpired("", timeout)

    monkeypatch.setattr(subprocess, "run", slow)
    with pytest.raises(TooMuchError):
        marked_texts({"a": SLOW, "b": SLOW}, "a", ())
    assert "<mark" not in marked_texts({"a": SLOW, "b": SLOW}, None, ())["a"]
    assert UNMARKED in legend_html(LONG)
