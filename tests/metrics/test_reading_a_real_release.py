"""The two reading pages' queries on real texts with real judgements."""

import pytest

from audit.metrics.disagreements import Filters, disagreements
from audit.metrics.question_positions import positions_of
from audit.queries.pair_view import pair
from audit.store.connection import open_store
from audit.text.comparison import DifferenceKind, differences


@pytest.fixture(scope="module")
def con(nih_run):
    with open_store(nih_run.path) as opened:
        yield opened


def test_the_64_disagreements_are_listed_contradictions_first_where_asked(con):
    assert disagreements(con)["total"].iloc[0] == len(disagreements(con)) == 64
    table = disagreements(con, order="label")
    assert table["label"].tolist() == ["CONTRADICTORY"] * 3 + ["DIVERGENT"] * 61


def test_words_are_found_in_answers_and_reasonings(con):
    found = disagreements(con, Filters(words=("warfarin", "ASPIRIN")))
    assert "nih-antiphospholipid-antibody-syndrome--treatment" in found["question_id"].tolist()


def test_the_phlebotomy_interval_with_the_lost_dash_is_marked_on_both_sides(con):
    found = pair(con, "nih-hemochromatosis--treatment", "nih_nhlbi_combined", "nih_niddk_combined")
    texts = (found.a.answer, found.b.answer)
    marked = [
        [text[span.start : span.end] for span in spans if span.kind is DifferenceKind.NUMBER]
        for text, spans in zip(texts, differences(*texts), strict=True)
    ]
    assert "every 24 months" in marked[0]
    assert "every few months" in marked[1]


def test_the_two_handbooks_of_every_disagreeing_pair_hold_different_positions(con):
    table = disagreements(con)
    together = []
    for question, own in table.groupby("question_id"):
        held = [{holder.handbook_id for holder in position.holders} for position in positions_of(con, question).positions]
        pairs = own[["handbook_a", "handbook_b"]].itertuples(index=False, name=None)
        together += [(question, pair) for pair in pairs if any(set(pair) <= members for members in held)]
    assert together == []


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("nih-neuroblastoma--information", ["The exact cause of this tumor is not yet known.", "sometimes caused by a gene"]),
        ("nih-lung-cancer--information", ["sixties or seventies", "55 and 65"]),
        ("nih-wilson-disease--information", ["between the ages of 6 and 45", "between ages 5 and 35"]),
    ],
)
def test_a_position_is_named_by_the_sentence_that_clashes(con, question, words):
    statements = [position.statement for position in positions_of(con, question).positions]
    assert len(statements) == len(words)
    assert all(any(word in statement for statement in statements) for word in words)


def test_where_no_sentence_states_a_position_the_judge_s_own_words_are_kept(con):
    found = positions_of(con, "nih-amelogenesis-imperfecta--inheritance")
    assert found.positions == ()
    assert found.certain is not None
    assert "GARD says most cases are dominant ENAM" in found.certain.reasoning
