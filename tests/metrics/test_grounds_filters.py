"""Pairs by what the judge and a second judge say of them."""

from __future__ import annotations

import pandas as pd
import pytest

from audit.exports.pair_files import pair_batches
from audit.metrics.disagreements import Filters, matching
from audit.metrics.disputed_questions import disputed_questions
from audit.queries.lookup import filter_values
from audit.queries.pair_view import pair
from tests.metrics.test_second_judge import read

TABLE = "q1 kidney ab=DIVERGENT/high ac=CONTRADICTORY bc=CONSISTENT"


@pytest.fixture
def con(store):
    con = store(TABLE)
    con.execute("update pairs set difference = 'time', follow_both = 'no' where handbook_b = 1")
    con.execute("update pairs set quote_a = 'nobody wrote this', quote_b = 'nor this' where handbook_a = 0 and handbook_b = 2")
    read(con, "0 ba DIVERGENT", "0 ac DIVERGENT")
    return con


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"differences": ("time",)}, ["ab"]),
        ({"follow_both": ("no",)}, ["ab"]),
        ({"follow_both": ("yes",)}, []),
        ({"quotes": ("unsupported",)}, ["ac"]),
        ({"second": ("confirmed",)}, ["ab"]),
        ({"second": ("another label",)}, ["ac"]),
        ({"second": ("confirmed", "another label"), "differences": ("time",), "words": ("q1",)}, ["ab"]),
    ],
)
def test_pairs_are_selected_by_reason_quotes_and_second_judge(con, filters, found):
    table = matching(con, Filters(**filters))
    assert [row.handbook_a + row.handbook_b for row in table.itertuples()] == found
    assert len(disputed_questions(con, Filters(**filters))) == bool(found)


def test_what_a_run_does_not_record_cannot_be_chosen(con, store):
    assert [filter_values(con)[name] for name in ("difference", "follow", "quotes")] == [["time"], ["no"], ["unsupported"]]
    assert filter_values(con)["second"] == ["another label", "confirmed", "unscored"]
    assert not any(filter_values(store(TABLE))[name] for name in ("difference", "follow", "quotes", "second"))


def test_the_pair_and_the_file_say_whether_two_judges_agree(con):
    second = pair(con, "q1", "c", "a").judgement
    assert (second.second, second.second_label, second.second_judge) == ("another label", "DIVERGENT", "other")
    (batch,) = pair_batches(con, Filters(), "release", 10)
    assert batch["second"].tolist() == ["confirmed", "another label"]
    assert batch["difference"].tolist()[0] == "time"
    assert pd.isna(batch["difference"].tolist()[1])
