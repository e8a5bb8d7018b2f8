"""The ranked list of pairs and its filters."""

from itertools import product

import pytest

from audit.errors import AuditError, NotInRunError
from audit.metrics.disagreements import Filters, disagreements, matching
from audit.queries.pair_view import pair
from tests.support.tiny import handbook
from tests.support.tiny_store import store_from

HANDBOOKS = [
    handbook("a", center="Alder", phase="pre"),
    handbook("b", center="Birch", phase="post"),
    handbook("c", center="Cedar"),
]
TABLE = """
    q1 kidney  topics=diet subtopics=salt  ab=DIVERGENT/low  ac=DIVERGENT/high  bc=COMPLEMENTARY
    q2 heart   topics=travel               ab=CONTRADICTORY/medium  ac=DIVERGENT  bc=UNSCORED
    q3 kidney  topics=diet,travel          ab=DIVERGENT/high  ac=DIVERGENT/high  bc=CONSISTENT
    q4 general                             ab=ABSENT  c=absent
"""


@pytest.fixture
def con(tmp_path):
    return store_from(tmp_path, TABLE, HANDBOOKS)


def listed(con, **filters):
    table = disagreements(con, Filters(**filters))
    return [f"{row.question_id} {row.handbook_a}{row.handbook_b}" for row in table.itertuples()]


def ordered(con, order):
    return [f"{row.question_id} {row.handbook_a}{row.handbook_b}" for row in disagreements(con, order=order).itertuples()]


def test_the_gravest_come_first_and_every_question_has_its_turn(con):
    # high: q1 and q3 give one each before q3 gives its second; then medium, low, unstated
    assert listed(con) == ["q1 ac", "q3 ab", "q3 ac", "q2 ab", "q1 ab", "q2 ac"]


def test_the_reader_chooses_what_comes_first(tmp_path):
    # q5 has four handbooks in dispute, the others three
    con = store_from(tmp_path, f"{TABLE.rstrip()}\n    q5 kidney ab=DIVERGENT/low cd=DIVERGENT/low", [*HANDBOOKS, handbook("d")])
    assert ordered(con, "label") == ["q2 ab", "q1 ac", "q3 ab", "q3 ac", "q5 ab", "q1 ab", "q5 cd", "q2 ac"]
    assert ordered(con, "handbooks") == ["q5 ab", "q5 cd", "q1 ac", "q3 ab", "q3 ac", "q2 ab", "q1 ab", "q2 ac"]
    assert ordered(con, "release") == ["q1 ab", "q1 ac", "q2 ab", "q2 ac", "q3 ab", "q3 ac", "q5 ab", "q5 cd"]
    with pytest.raises(AuditError, match="Order 'alphabet' is not available"):
        ordered(con, "alphabet")


def test_unscored_pairs_are_no_label_and_are_listed_only_when_asked_for(con):
    assert listed(con, labels=("UNSCORED",)) == ["q2 bc"]
    assert "q2 bc" not in listed(con, labels=("ABSENT", "CONSISTENT", "COMPLEMENTARY", "DIVERGENT", "CONTRADICTORY"))
    assert listed(con, labels=())[-1] == "q2 bc"


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"organs": ("heart",)}, ["q2 ab", "q2 ac"]),
        ({"topics": ("travel",)}, ["q3 ab", "q3 ac", "q2 ab", "q2 ac"]),
        ({"subtopics": ("salt",)}, ["q1 ac", "q1 ab"]),
        ({"significances": ("low", "medium")}, ["q2 ab", "q1 ab"]),
        ({"centers": ("Cedar",)}, ["q1 ac", "q3 ac", "q2 ac"]),
        ({"handbooks": ("b",)}, ["q3 ab", "q2 ab", "q1 ab"]),
        ({"phases": ("post",)}, ["q3 ab", "q2 ab", "q1 ab"]),
        ({"handbooks": ("a", "c")}, ["q1 ac", "q3 ac", "q2 ac"]),  # several: both handbooks are of them
        ({"centers": ("Alder", "Birch")}, ["q3 ab", "q2 ab", "q1 ab"]),
        ({"phases": ("post", "combined")}, []),
        ({"organs": ("kidney",), "topics": ("travel",), "centers": ("Cedar",)}, ["q3 ac"]),
        ({"organs": ("liver",)}, []),
        ({"questions": ("q2", "q1")}, ["q1 ac", "q2 ab", "q1 ab", "q2 ac"]),
    ],
)
def test_filters_narrow_the_list_together(con, filters, expected):
    assert listed(con, **filters) == expected


def with_texts(tmp_path):
    con = store_from(tmp_path, TABLE, HANDBOOKS)
    con.execute("update questions set text = 'Puis-je manger des ŒUFS à l''École?' where question_id = 'q1'")
    con.execute("update answers set answer = 'Avoid 100% juice' where question = 0 and handbook = 0")
    con.execute("update answers set answer = 'Take a_b daily' where question = 1 and handbook = 1")
    con.execute("update pairs set reasoning = 'Doses differ' where question = 2 and handbook_b = 2")
    con.execute("update pairs set divergence_topic = 'Tacrolimus dose' where question = 2 and handbook_a = 0 and handbook_b = 1")
    return con


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("ecole",), ["q1 ac", "q1 ab"]),  # the question; case and accents folded
        (("ÉCOLE", "juice"), ["q1 ac", "q1 ab"]),  # question and answer together
        (("take",), ["q2 ab"]),  # an answer of one side
        (("dose",), ["q3 ab", "q3 ac"]),  # divergence topic, reasoning
        (("dose", "tacrolimus"), ["q3 ab"]),
        (("dose", "ecole"), []),
        (("100%",), ["q1 ac", "q1 ab"]),
        (("1%",), []),  # % is no wildcard
        (("a_b",), ["q2 ab"]),
        (("t_ke",), []),  # nor is _
        (("'; drop table pairs; --",), []),
    ],
)
def test_every_word_must_stand_in_the_question_an_answer_or_the_judgement(tmp_path, words, expected):
    assert listed(with_texts(tmp_path), words=words) == expected


def test_pages_of_the_list_carry_the_whole_count_and_the_rank(con):
    first, second = disagreements(con, limit=4), disagreements(con, limit=4, offset=4)
    assert first["rank"].tolist() == [1, 2, 3, 4]
    assert second["rank"].tolist() == [5, 6]
    assert {*first["total"], *second["total"]} == {6}


def test_past_the_end_the_last_page_is_given(con):
    assert disagreements(con, limit=4, offset=400)["rank"].tolist() == [5, 6]


def test_a_filter_never_lets_in_more(con):
    everything = set(listed(con, labels=()))
    for organ, topic, word in product(("kidney", "heart", ""), ("diet", ""), ("handbook", "")):
        filters = {"organs": (organ,) if organ else (), "topics": (topic,) if topic else (), "words": (word,) if word else ()}
        assert set(listed(con, labels=(), **filters)) <= everything


def test_a_pair_has_its_sides_in_the_order_asked_for(con):
    found = pair(con, "q1", "c", "a")
    assert (found.a.handbook_id, found.b.handbook_id, found.a.center) == ("c", "a", "Cedar")
    assert (found.judgement.status, found.judgement.label, found.judgement.significance) == ("judged", "DIVERGENT", "high")
    assert (found.question.topics, found.question.subtopics) == (("diet",), ("salt",))


def test_a_pair_says_how_it_came_by_its_label(con):
    assert pair(con, "q2", "b", "c").judgement.status == "unscored"
    assert pair(con, "q4", "a", "b").judgement == pair(con, "q4", "b", "a").judgement
    assert pair(con, "q4", "a", "b").judgement.status == "judged"
    prescreened = pair(con, "q4", "a", "c")
    assert (prescreened.judgement.status, prescreened.judgement.label, prescreened.b.state) == ("prescreened", "ABSENT", "absent")


def test_a_pair_that_was_never_asked_says_so_and_has_no_label(tmp_path):
    found = pair(store_from(tmp_path, "q1 kidney ab=DIVERGENT c=notasked"), "q1", "a", "c")
    assert (found.judgement.status, found.judgement.label) == ("not in the release", None)
    assert (found.a.state, found.b.state, found.b.answer) == ("present", "not asked", None)


def test_without_answers_the_answers_are_unknown_not_absent(tmp_path):
    assert pair(store_from(tmp_path, TABLE, HANDBOOKS, answers=False), "q1", "a", "b").a.state == "unknown"


@pytest.mark.parametrize("asked", [("q9", "a", "b"), ("q1", "a", "z"), ("q1", "a", "a")])
def test_a_pair_that_cannot_be_names_what_is_wrong(con, asked):
    with pytest.raises(NotInRunError):
        pair(con, *asked)


@pytest.mark.parametrize(
    "filters", [Filters(), Filters(labels=()), Filters(organs=("kidney",), significances=("high",)), Filters(words=("q2",))]
)
def test_all_pairs_that_match_are_those_of_the_list_in_release_order(con, filters):
    named = list(matching(con, filters).itertuples(index=False, name=None))
    listed = disagreements(con, filters)[["question_id", "handbook_a", "handbook_b"]].itertuples(index=False, name=None)
    assert named == sorted(listed)
    assert named
    by_gravity = [row[0] + row[1] + row[2] for row in matching(con, filters, "significance").itertuples(index=False, name=None)]
    assert sorted(by_gravity) == sorted("".join(row) for row in named)


def test_divergence_topics_narrow_the_list_and_none_of_them_is_not_any(con):
    assert listed(con, divergence_topics=("topic of ab",)) == [pair for pair in listed(con) if pair.endswith("ab")]
    assert listed(con, divergence_topics=("topic of ab", "topic of ac"), topics=("travel",)) == listed(con, topics=("travel",))
    assert listed(con, divergence_topics=()) == []
    assert listed(con, divergence_topics=None) == listed(con)
