"""What a search found, counted by hand; and the share that is silent in truth."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from audit.errors import NotInRunError
from audit.metrics.coverage import gaps
from audit.metrics.handbooks import handbooks
from audit.metrics.silence import silence
from audit.queries.search_errors import error_counts
from audit.store.connection import open_store
from tests.support.loading import load
from tests.support.tiny import handbook, release_from
from tests.support.unlabelled import ERRORS

# a and b are about the kidney, c about the lung. By letter: s stated, p perhaps, n not found.
STATES = {"q1": "ssn", "q2": "npn", "q3": "nnp"}
TABLE = """
    q1 general topics=diet,travel  ab=CONSISTENT c=absent
    q2 kidney  topics=diet         b=present a=absent c=absent
    q3 lung                        c=present a=absent b=absent
"""
WORDS = {"s": "stated", "p": "perhaps", "n": "not found"}


@pytest.fixture
def searched(tmp_path):
    """The store of that run, as a search made it; `errors` of the search as the manifest states them."""

    def store(errors=ERRORS):
        places = [handbook("a", "kidney"), handbook("b", "kidney"), handbook("c", "lung")]
        release = release_from(tmp_path, TABLE, places, generator_errors=errors)
        answers = [json.loads(line) for line in (release / "answers.jsonl").read_text().splitlines()]
        for answer in answers:
            answer["found"] = WORDS[STATES[answer["question_id"]]["abc".index(answer["handbook_id"])]]
        (release / "answers.jsonl").write_text("".join(json.dumps(answer) + "\n" for answer in answers))
        return open_store(load(release, tmp_path / "data").run.path)

    return store


def counted(table):
    return {row.name: (row.asked, row.stated, row.perhaps, row.not_found) for row in table.itertuples(index=False)}


def test_only_questions_that_a_handbook_should_answer_are_counted_in_three_states(searched):
    con = searched()
    # q1 of all three, q2 of a and b, q3 of c
    assert counted(silence(con)) == {"(all)": (6, 2, 2, 2)}
    assert counted(silence(con, by="handbook")) == {"a": (2, 1, 0, 1), "b": (2, 1, 1, 0), "c": (2, 0, 1, 1)}
    assert counted(silence(con, by="organ")) == {"kidney": (2, 0, 1, 1), "lung": (1, 0, 1, 0), "general": (3, 2, 0, 1)}
    # q1 is on two topics, q3 on none
    assert counted(silence(con, by="topic")) == {"diet": (5, 2, 1, 2), "travel": (3, 2, 0, 1), "(none)": (1, 0, 1, 0)}


def test_the_share_that_is_silent_takes_off_the_errors_of_the_search(searched):
    (row,) = silence(searched()).itertuples()
    assert row.silent == pytest.approx((2 / 6 - 14 / 100) / (1 - 20 / 100 - 14 / 100))
    # Six answers leave every share possible
    assert math.isnan(row.silent_low)


def test_without_known_errors_the_share_is_unknown_and_the_counts_stay(searched):
    con = searched(None)
    assert silence(con)[["silent", "silent_low", "silent_high"]].isna().all(axis=None)
    assert counted(silence(con)) == {"(all)": (6, 2, 2, 2)}


@pytest.mark.parametrize(
    "stated", [None, [], {"missed": 1}, ERRORS | {"missed": 101}, ERRORS | {"found": -1}, ERRORS | {"unanswered": 0}]
)
def test_errors_that_cannot_be_counts_are_not_known(stated):
    assert error_counts(stated) is None


def test_a_run_that_a_model_answered_has_no_search_to_correct(store):
    with pytest.raises(NotInRunError, match="nothing is corrected"):
        silence(store(TABLE))


def test_a_gap_is_what_was_not_found_and_most_peers_state_and_a_perhaps_is_neither(searched):
    con = searched()
    # c lacks q1, which a and b state. a lacks q2, of which b says perhaps, so it is no gap.
    assert list(gaps(con, "c")["question_id"]) == ["q1"]
    assert gaps(con, "a").empty


def test_absence_of_a_handbook_counts_what_it_should_answer_or_all_that_it_was_asked(store):
    con = store(TABLE, [handbook("a", "kidney"), handbook("b", "kidney"), handbook("c", "lung")])
    every, matching = (handbooks(con, scope=scope).set_index("handbook_id") for scope in ("all", "matching"))
    assert every.loc["a", ["asked", "absent"]].tolist() == [3, 2]
    assert matching.loc["a", ["asked", "absent"]].tolist() == [2, 1]
    # ab of q1, ac and bc of q1, and ab of q2
    assert matching["pairs"].tolist() == [3, 3, 2]
    assert not np.isnan(matching.loc["a", "absence_low"])
