"""Questions of the run like one that somebody asks: who answers them."""

from __future__ import annotations

import os
from pathlib import Path

from audit.queries.nearest_questions import _KEPT, question_index
from audit.queries.questions_like import questions_like
from audit.store.connection import open_store
from tests.support.loading import load
from tests.support.tiny import handbook, release_from
from tests.support.tiny_store import store_from


def test_a_passage_that_is_perhaps_about_it_is_no_answer(tmp_path: Path) -> None:
    con = store_from(tmp_path, "q1 kidney ab=CONSISTENT", [handbook("a"), handbook("b")])
    con.execute("update answers set found = 'perhaps' where handbook = (select handbook from handbooks where handbook_id = 'b')")
    (alike,) = questions_like(con, "What about q1?")
    assert alike.is_alike
    assert alike.answered_by == ("a",)


def test_the_index_of_a_store_is_made_once(tmp_path: Path) -> None:
    release = release_from(tmp_path, "q1 kidney ab=CONSISTENT", [handbook("a"), handbook("b")])
    path = load(release, tmp_path / "data").run.path
    with open_store(path) as one, open_store(path) as other:
        assert question_index(one) is question_index(other)
    os.utime(path, ns=(1, 1))
    with open_store(path) as again:
        assert question_index(again) is question_index(again)
        assert len(_KEPT) >= 2, "a store that was written again has another"
