import pytest

from audit.errors import NotInRunError
from audit.metrics.coverage import gaps
from tests.support.tiny import handbook

KIDNEYS = [handbook(letter) for letter in "abcd"]
TABLE = """
    q1 kidney topics=work,diet a=absent bc=CONSISTENT bd=CONSISTENT
    q2 kidney a=absent bc=CONSISTENT d=absent
    q3 kidney a=absent b=absent c=absent d=absent
    q4 kidney ab=CONSISTENT c=absent
    q5 kidney a=notasked bc=CONSISTENT d=absent
"""


def test_a_gap_is_a_question_left_out_that_most_peers_answer(store):
    found = gaps(store(TABLE, KIDNEYS), "a")
    assert found[["question_id", "peers_answering", "peers_asked"]].values.tolist() == [["q1", 3, 3], ["q2", 2, 3]]
    assert found["share"].tolist() == [1, 2 / 3]
    assert found["topics"].tolist() == ["diet, work", ""]


def test_half_of_the_peers_is_not_most_of_them(store):
    assert gaps(store("q1 kidney a=absent b=absent c=absent de=CONSISTENT"), "a").empty


def test_a_question_not_asked_of_the_handbook_is_no_gap_of_its(store):
    assert "q5" not in gaps(store(TABLE, KIDNEYS), "a")["question_id"].tolist()


def test_peers_are_of_the_same_organ_where_there_are_three(store):
    mixed = [*(handbook(letter) for letter in "abcd"), *(handbook(letter, "liver") for letter in "ef")]
    own = gaps(store("q1 kidney a=absent bc=CONSISTENT bd=CONSISTENT e=absent f=absent", mixed), "a").iloc[0]
    assert (own["peers"], own["peers_answering"], own["peers_asked"]) == ("same organ", 3, 3)


def test_all_handbooks_are_peers_where_fewer_than_three_share_the_organ(store):
    mixed = [handbook("a", "heart"), handbook("b", "heart"), handbook("c"), handbook("d")]
    every = gaps(store("q1 general a=absent b=absent cd=CONSISTENT", mixed), "a").iloc[0]
    assert (every["peers"], every["peers_answering"], every["peers_asked"]) == ("all", 2, 3)


def test_many_peers_who_answer_outrank_few_who_all_do(store):
    table = "q1 kidney a=absent bc=CONSISTENT\nq2 kidney a=absent n=absent " + " ".join(f"b{x}=CONSISTENT" for x in "cdefghijklm")
    found = gaps(store(table), "a")
    assert found["question_id"].tolist() == ["q2", "q1"]
    assert found["share"].tolist() == [12 / 13, 1]


def test_an_unknown_handbook_is_named_with_the_nearest(store):
    with pytest.raises(NotInRunError, match=r"Handbook 'alde' is not in this run\. Did you mean 'alder'\?"):
        gaps(store("q1 kidney a=absent", [{**handbook("a"), "handbook_id": "a"}, handbook("alder")]), "alde")


def test_a_release_without_answers_is_told_so(store):
    with pytest.raises(NotInRunError, match="Load a release with answers"):
        gaps(store(TABLE, KIDNEYS, answers=False), "a")


def test_a_question_of_another_organ_is_no_gap(store):
    table = "\n".join(
        f"q{n} {organ} a=absent bc=CONSISTENT bd=CONSISTENT" for n, organ in enumerate(("kidney", "heart", "general"))
    )
    assert set(gaps(store(table, KIDNEYS), "a")["question_id"]) == {"q0", "q2"}
    for_everybody = [{**KIDNEYS[0], "organ": "general"}, *KIDNEYS[1:]]
    assert set(gaps(store(table, for_everybody), "a")["question_id"]) == {"q0", "q1", "q2"}
