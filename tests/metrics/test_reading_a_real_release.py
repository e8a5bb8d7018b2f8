"""The two reading pages' queries on real texts with real judgements."""

import pytest

from audit.metrics.disagreements import Filters, disagreements
from audit.metrics.position_groups import position_groups
from audit.queries.pair_view import pair
from audit.store.connection import open_store
from audit.text.comparison import DifferenceKind, differences
from tests.support.loading import load


@pytest.fixture(scope="module")
def con(nih, tmp_path_factory):
    with open_store(load(nih, tmp_path_factory.mktemp("nih")).run.path) as opened:
        yield opened


def test_the_64_disagreements_are_listed_contradictions_first_where_asked(con):
    assert disagreements(con)["total"].iloc[0] == len(disagreements(con)) == 64
    table = disagreements(con, order="label")
    assert table["label"].tolist() == ["CONTRADICTORY"] * 3 + ["DIVERGENT"] * 61


def test_words_are_found_in_answers_and_reasonings(con):
    found = disagreements(con, Filters(words=("warfarin", "ASPIRIN")))
    assert "nih-antiphospholipid-antibody-syndrome--treatment" in found["question_id"].tolist()


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("nih-hemochromatosis--treatment", ["every 24 months", "every few months"]),
        ("nih-alagille-syndrome--frequency", ["1 in 70,000", "one of every 30,000"]),
        ("nih-pituitary-tumors--treatment", ["Four types", "Three types"]),
    ],
)
def test_position_groups_go_by_the_values_that_the_judge_saw_differ(con, question, names):
    assert sorted(position_groups(con, question)["name"].dropna()) == names


def test_the_phlebotomy_interval_with_the_lost_dash_is_marked_on_both_sides(con):
    found = pair(con, "nih-hemochromatosis--treatment", "nih_nhlbi_combined", "nih_niddk_combined")
    texts = (found.a.answer, found.b.answer)
    marked = [
        [text[span.start : span.end] for span in spans if span.kind is DifferenceKind.NUMBER]
        for text, spans in zip(texts, differences(*texts), strict=True)
    ]
    assert "every 24 months" in marked[0]
    assert "every few months" in marked[1]
