"""The list of questions whose pairs match, the gravest first."""

from audit.metrics.disagreements import Filters
from audit.metrics.disputed_questions import counts_on, disputed_questions
from audit.queries.lookup import question_list
from tests.support.tiny import handbook
from tests.support.tiny_store import store_from

TABLE = """
    q1 kidney  ab=DIVERGENT/low       ac=DIVERGENT/high  bc=COMPLEMENTARY  d=absent
    q2 heart   ab=CONTRADICTORY/low   ac=DIVERGENT/high  bc=UNSCORED       d=absent
    q3 kidney  ab=DIVERGENT/high      cd=DIVERGENT/high
    q4 general ab=CONTRADICTORY       c=absent           d=absent
    q5 general ab=CONSISTENT          c=absent           d=absent
"""


def listed(con, order="significance", **filters):
    rows = disputed_questions(con, Filters(**filters), order=order)
    return [(row.question_id, row.label, row.significance, row.pairs, row.handbooks) for row in rows.itertuples()]


def test_a_question_shows_its_gravest_pair_and_how_many_pairs_and_handbooks_match(tmp_path):
    con = store_from(tmp_path, TABLE)
    rows = listed(con)
    # q3 has four handbooks in dispute; q2's contradiction is of low significance, so it does not lead
    assert rows[:3] == [("q3", "DIVERGENT", "high", 2, 4), ("q1", "DIVERGENT", "high", 2, 3), ("q2", "DIVERGENT", "high", 2, 3)]
    assert rows[3][:2] == ("q4", "CONTRADICTORY")
    assert rows[3][2] != rows[3][2]  # not stated
    assert next(row[:3] for row in listed(con, "label")) == ("q2", "CONTRADICTORY", "low")
    assert [row[0] for row in listed(con, "handbooks")] == ["q3", "q1", "q2", "q4"]
    assert [row[0] for row in listed(con, "release")] == ["q1", "q2", "q3", "q4"]
    # The pickers of a question offer them in the same order, then those without a dispute.
    assert question_list(con)["question_id"].tolist() == ["q3", "q1", "q2", "q4", "q5"]


def test_filters_choose_pairs_and_pages_carry_the_whole_count(tmp_path):
    con = store_from(tmp_path, TABLE)
    assert [row[0] for row in listed(con, organs=("kidney",), significances=("low",))] == ["q1"]
    assert [(row[0], row[3]) for row in listed(con, labels=("UNSCORED",))] == [("q2", 1)]
    second = disputed_questions(con, limit=3, offset=3)
    assert second[["total", "total_pairs", "rank"]].values.tolist() == [[4, 7, 4]]
    assert disputed_questions(con, limit=3, offset=300)["rank"].tolist() == [4]
    assert disputed_questions(con, Filters(organs=("liver",))).empty


def test_one_question_is_counted_without_a_rate(tmp_path):
    con = store_from(tmp_path, TABLE + "    q6 general ab=DIVERGENT ac=UNSCORED bc=ABSENT d=notasked")
    assert counts_on(con, "q1") == {
        "asked": 4, "answering": 3, "not_addressing": 1, "elsewhere": 0, "unread": 0,
        "present": 3, "disagreeing": 2, "unscored": 0,
    }  # fmt: skip
    assert counts_on(con, "q6") == {
        "asked": 3, "answering": 3, "not_addressing": 0, "elsewhere": 0, "unread": 0,
        "present": 1, "disagreeing": 1, "unscored": 1,
    }  # fmt: skip


def test_a_handbook_of_another_organ_is_not_silent_on_a_question_that_it_need_not_answer(tmp_path):
    organs = {"a": "kidney", "b": "kidney", "c": "liver", "d": "general", "e": "kidney"}
    con = store_from(tmp_path, "q1 kidney ae=CONSISTENT b=absent c=absent d=absent", [handbook(*one) for one in organs.items()])
    counts = counts_on(con, "q1")
    assert (counts["answering"], counts["not_addressing"], counts["elsewhere"]) == (2, 2, 1)
