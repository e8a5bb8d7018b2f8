"""What a handbook answers, beside its peers."""

from __future__ import annotations

import math

import pytest

from audit.errors import NotInRunError
from audit.metrics.coverage import profile
from audit.metrics.records import findings
from tests.support.tiny import handbook
from tests.support.tiny_store import store_from

TABLE = """
    q1 kidney   topics=diet,work  ab=CONSISTENT  ac=CONSISTENT  bc=CONSISTENT  d=absent
    q2 kidney   topics=diet       ab=CONSISTENT  c=absent  d=absent
    q3 general  topics=work       bc=CONSISTENT  a=absent  d=notasked
"""
HANDBOOKS = [handbook("a"), handbook("b"), handbook("c"), handbook("d", "lung")]


def test_answers_are_counted_by_question_organ_beside_handbooks_of_the_same_organ(tmp_path):
    kidney, general = profile(store_from(tmp_path, TABLE, HANDBOOKS), "a").itertuples()
    assert (kidney.name, kidney.asked, kidney.answered) == ("kidney", 2, 2)
    # Peers are b and c, not d: they answer q1 twice and q2 once.
    assert (kidney.peers_asked, kidney.peers_answered) == (4, 3)
    assert (general.asked, general.answered, general.peers_share) == (1, 0, 1.0)


def test_a_question_with_two_topics_counts_in_both(tmp_path):
    diet, work = profile(store_from(tmp_path, TABLE, HANDBOOKS), "a", by="topic").itertuples()
    assert (diet.name, diet.asked, diet.answered) == ("diet", 2, 2)
    assert (work.name, work.asked, work.answered) == ("work", 2, 1)


def test_not_asked_is_no_share_and_a_handbook_alone_has_no_peers(tmp_path):
    kidney, general = profile(store_from(tmp_path, TABLE, HANDBOOKS), "d").itertuples()
    assert (general.asked, math.isnan(general.share)) == (0, True)
    assert (kidney.asked, kidney.share) == (2, 0.0)
    assert math.isnan(kidney.peers_share)


def test_an_unknown_handbook_and_a_release_without_answers_are_refused(tmp_path):
    with pytest.raises(NotInRunError, match="'z' is not in this run"):
        profile(store_from(tmp_path, TABLE, HANDBOOKS), "z")
    with pytest.raises(NotInRunError, match="unknown"):
        profile(store_from(tmp_path, TABLE, HANDBOOKS, answers=False), "a")


def test_quarantined_findings_stand_first(tmp_path):
    con = store_from(tmp_path, TABLE)
    con.execute("insert into findings values ('f', '1', 'noted', 'x', 'm', null), ('g', '2', 'quarantined', 'y', 'n', '{}')")
    assert list(findings(con)["outcome"]) == ["quarantined", "noted"]
