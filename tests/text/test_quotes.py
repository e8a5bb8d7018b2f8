"""A quote stands in a text if its words do, in order; two homes of the rule, Python and the store, agree."""

from __future__ import annotations

from functools import cache

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.store.tables import JUDGED_PAIRS
from audit.text.quotes import find_quote

TEXT = "Do not drink \u2014 \u201cgrapefruit\u201d juice.\nWait  6\u201312 weeks (Alder). Cafe\u0301 is fine: 0.5 or 1.5 mg."


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("do NOT drink grapefruit juice", "Do not drink \u2014 \u201cgrapefruit\u201d juice"),
        ("6-12 weeks", "6\u201312 weeks"),
        ("caf\u00e9", "Cafe\u0301"),
        ("weeks, alder", "weeks (Alder"),
        ("grapefruit juice.”", "grapefruit\u201d juice."),
        ("5 mg", None),
        ("1,5 mg", "1.5 mg"),
        ("not grapefruit", None),
        ("rink", None),
        ("wait 12 weeks", None),
        ("do drink", None),
        ("", None),
        (" \u2026 ", None),
    ],
)
def test_every_word_of_a_quote_must_stand_there_one_after_the_other(quote: str, found: str | None) -> None:
    span = find_quote(quote, TEXT)
    assert (span and TEXT[slice(*span)]) == found


WORDS = st.lists(
    st.sampled_from(
        ["do", "NOT", "6", "6-12", "caf\u00e9", "cafe\u0301", "\u201cjuice\u201d", "\n", "it's", "\u2014", "\u00b5g"]
    ),
    max_size=8,
)


@settings(max_examples=60, deadline=None)
@given(WORDS.map(" ".join), WORDS.map(" ".join))
def test_the_store_counts_by_the_same_rule(quote: str, text: str) -> None:
    assert _stands_in(quote, text) is (find_quote(quote, text) is not None)


@cache
def _store() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    for statement in JUDGED_PAIRS.split(";"):
        if "create macro" in statement:
            con.execute(statement[statement.index("create macro") :])
    return con


def _stands_in(quote: str, text: str) -> bool:
    return _store().execute("select stands_in($quote, $text)", {"quote": quote, "text": text}).fetchone() == (True,)
