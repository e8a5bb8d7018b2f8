"""Metric `themes`, and those of one theme: counts by hand, and every disagreement somewhere."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest

from audit.errors import AuditError, NotInRunError
from audit.metrics.theme import theme_mix, theme_places, theme_questions, theme_search, theme_topics
from audit.metrics.themes import one_theme, themes
from audit.queries.themes import NO_THEME, NO_TOPIC
from audit.release.taxonomy import Taxonomy, Theme
from audit.store.connection import frame, open_store
from tests.support.loading import load
from tests.support.tiny import handbook

TABLE = """
    q1 kidney  ab=DIVERGENT/high  ac=COMPLEMENTARY         bc=CONSISTENT
    q2 general ab=DIVERGENT/low   ac=CONTRADICTORY/medium  bc=CONSISTENT
    q3 lung    ab=UNSCORED        ac=ABSENT                bc=DIVERGENT
"""
"""The judge wrote `topic of ab` on both pairs of a and b, and so on; nothing on consistent and unscored ones."""


def theme(theme_id: str, *topics: str, parent: str | None = None) -> Theme:
    return Theme(theme_id, f"name of {theme_id}", parent, topics, exemplars=topics[:1])


TAXONOMY = Taxonomy(
    (theme("p"), theme("t1", "topic of ab", parent="p"), theme("t2", "topic of ac", parent="p")), ("topic of bc",)
)  # fmt: skip


def test_pairs_questions_and_sources_of_each_theme(store):
    found = themes(store(TABLE), TAXONOMY).set_index("theme_id")
    counted = ["rank", "topics", "questions", "handbooks", "centers", "organs", "pairs", "disagreeing"]
    assert found.loc["t1", counted].tolist() == [1, 1, 2, 2, 2, "general, kidney", 2, 2]
    assert found.loc["t2", counted].tolist() == [2, 1, 2, 2, 2, "general, kidney", 2, 1]
    assert found.loc["t2", ["name", "parent_id", "parent"]].tolist() == ["name of t2", "p", "name of p"]


def test_labels_significances_and_their_weights(store):
    found = themes(store(TABLE), TAXONOMY).set_index("theme_id")
    assert found.loc["t1", ["divergent", "contradictory", "complementary", "low", "high", "burden"]].tolist() == [
        2,
        0,
        0,
        1,
        1,
        1 + 3,
    ]
    assert found.loc["t2", ["divergent", "contradictory", "complementary", "medium", "burden"]].tolist() == [0, 1, 1, 1, 2]
    assert found.loc["t1", "severity"] == (1 + 3) / 2
    assert found.loc["t2", "severity"] == 2 / 2


def test_shares_are_of_all_disagreeing_pairs_of_the_run(store):
    found = themes(store(TABLE), TAXONOMY).set_index("theme_id")
    assert found["share"].to_dict() == {"t1": 2 / 4, "t2": 1 / 4, NO_THEME: 1 / 4}


def test_with_three_handbooks_no_two_pairs_are_unrelated_and_shares_have_no_interval(store):
    found = themes(store(TABLE), TAXONOMY).set_index("theme_id")
    assert found.loc["t1", "share"] == 2 / 4
    assert found.loc["t1", ["share_low", "share_high"]].isna().all()


def test_what_has_no_theme_is_a_row_of_its_own_without_a_rank_and_last(store):
    found = themes(store(TABLE), TAXONOMY)
    assert list(found["theme_id"]) == ["t1", "t2", NO_THEME]
    assert found["name"].iloc[-1] == "no theme"
    assert pd.isna(found["rank"].iloc[-1])
    assert found["unstated"].iloc[-1] == 1


def test_a_topic_that_the_taxonomy_does_not_know_has_no_theme(store):
    found = themes(store(TABLE), Taxonomy((theme("t1", "topic of ab"),))).set_index("theme_id")
    # The complementary pair of a and c is no disagreement, so that it has no theme is nothing to report.
    assert found.loc[NO_THEME, ["topics", "pairs", "disagreeing"]].tolist() == [2, 2, 2]


def test_one_grave_disagreement_ranks_before_many_trifles(store):
    found = themes(
        store("""
        q1 kidney ab=DIVERGENT/low ac=DIVERGENT/high bc=DIVERGENT/medium
        q2 kidney ab=DIVERGENT/low ac=COMPLEMENTARY  bc=DIVERGENT/medium
        q3 kidney ab=DIVERGENT/low ac=COMPLEMENTARY  bc=COMPLEMENTARY
        q4 kidney ab=DIVERGENT/low ac=COMPLEMENTARY  bc=COMPLEMENTARY
        """),
        Taxonomy((theme("low", "topic of ab"), theme("high", "topic of ac"), theme("medium", "topic of bc"))),
    )
    assert list(found["theme_id"]) == ["high", "medium", "low"]
    assert list(found["rank"]) == [1, 2, 3]
    assert found.set_index("theme_id")["burden"].to_dict() == {"high": 3, "medium": 4, "low": 4}


def test_a_disagreement_without_a_divergence_topic_is_counted_apart(store):
    con = store(TABLE)
    con.execute("update pairs set divergence_topic = ' ' where question = 1 and label = 'DIVERGENT'")
    found = themes(con, TAXONOMY).set_index("theme_id")
    assert found.loc[NO_TOPIC, ["name", "topics", "pairs", "disagreeing"]].tolist() == ["no divergence topic stated", 0, 1, 1]
    assert found["share"].sum() == 1


def test_a_theme_without_a_pair_in_this_run_is_listed_with_zeros(store):
    taxonomy = Taxonomy((*TAXONOMY.themes, theme("t3", "something else", parent="p")))
    found = themes(store(TABLE), taxonomy).set_index("theme_id")
    assert found.loc["t3", ["pairs", "disagreeing", "burden", "share"]].fillna(0).tolist() == [0, 0, 0, 0]
    assert np.isnan(found.loc["t3", "severity"])


def test_parents_count_what_stands_below_them(store):
    con = store(TABLE)
    found = themes(con, TAXONOMY, "parent").set_index("theme_id")
    assert list(found.index) == ["p", NO_THEME]
    assert found.loc["p", ["topics", "questions", "pairs", "disagreeing", "burden"]].tolist() == [2, 2, 4, 3, 6]
    assert one_theme(con, TAXONOMY, "p")[["pairs", "share"]].tolist() == [4, 3 / 4]
    with pytest.raises(AuditError, match="theme, parent"):
        themes(con, TAXONOMY, "organ")


def test_a_search_needs_every_word_in_a_name_or_in_one_divergence_topic(store):
    con = store(TABLE)
    assert theme_search(con, TAXONOMY, "topic AB")[["theme_id", "found"]].to_numpy().tolist() == [["t1", 1]]
    assert theme_search(con, TAXONOMY, "name t2")[["theme_id", "found"]].to_numpy().tolist() == [["t2", 0]]
    assert set(theme_search(con, TAXONOMY, "topic")["theme_id"]) == {"t1", "t2", NO_THEME}
    assert theme_search(con, TAXONOMY, "topic zinc").empty


def test_centers_and_handbooks_are_counted_once(store):
    books = [handbook("a", center="x"), handbook("b", center="x"), handbook("c", center="y")]
    found = themes(store(TABLE, books), TAXONOMY).set_index("theme_id")
    assert found.loc["t1", ["handbooks", "centers"]].tolist() == [2, 1]


def test_the_mix_of_a_theme(store):
    con = store(TABLE)
    found = theme_mix(con, TAXONOMY, "p").set_index(["part", "name"])
    assert found["pairs"].to_dict() == {
        ("label", "CONSISTENT"): 0, ("label", "COMPLEMENTARY"): 1, ("label", "DIVERGENT"): 2, ("label", "CONTRADICTORY"): 1,
        ("significance", "low"): 1, ("significance", "medium"): 1, ("significance", "high"): 1, ("significance", "unstated"): 0,
    }  # fmt: skip
    assert found.loc[("label", "DIVERGENT"), "share"] == 2 / 4
    assert found.loc[("significance", "high"), "share"] == 1 / 3
    assert theme_mix(con, Taxonomy((theme("t3", "else"),)), "t3")["share"].isna().all()


def test_the_topics_of_a_theme_commonest_first_with_its_exemplars(store):
    con = store(TABLE)
    found = theme_topics(con, TAXONOMY, "t1")
    (row,) = found.to_dict("records")
    assert row == {"topic": "topic of ab", "pairs": 2, "disagreeing": 2, "high": 1, "questions": 2, "exemplar": True}
    assert list(theme_topics(con, TAXONOMY)["topic"]) == ["topic of bc"]
    none = theme_topics(con, Taxonomy(()))
    assert list(none["topic"]) == ["topic of ab", "topic of ac", "topic of bc"], "the one with a pair of high significance first"
    with pytest.raises(NotInRunError, match="'t9'"):
        theme_topics(con, TAXONOMY, "t9")


def test_a_pair_counts_once_for_its_organ_and_its_center_and_for_both_of_its_handbooks(store):
    books = [handbook("a", center="x"), handbook("b", center="x"), handbook("c", center="y")]
    found = theme_places(store(TABLE, books), TAXONOMY, "t1").set_index(["kind", "name"])["pairs"]
    assert found.to_dict() == {
        ("center", "x"): 2, ("handbook", "a"): 2, ("handbook", "b"): 2, ("organ", "general"): 1, ("organ", "kidney"): 1,
    }  # fmt: skip


def test_the_most_disputed_questions_of_a_theme(store):
    con = store("q1 kidney ab=DIVERGENT ac=CONSISTENT bc=DIVERGENT\nq2 kidney ab=DIVERGENT/high ac=DIVERGENT bc=CONSISTENT")
    both = Taxonomy((theme("t1", "topic of ab", "topic of ac"),))
    found = theme_questions(con, both, "t1")
    assert found[["question_id", "disagreeing", "pairs"]].to_numpy().tolist() == [["q2", 2, 2], ["q1", 1, 1]]
    assert theme_questions(con, Taxonomy((theme("t3", "else"),)), "t3").empty


@pytest.mark.slow
def test_on_the_simulator_every_disagreement_stands_under_the_policy_it_is_about(written_demo, tmp_path):
    """The truth: a question asks for a policy, and all its divergence topics are about that."""
    run = load(written_demo(), tmp_path).run
    truth = pd.read_json(written_demo() / "truth.jsonl", lines=True).set_index("question_id")["policy"]
    with open_store(run.path) as con:
        told = frame(
            con,
            "select question_id, divergence_topic as topic, label in ('DIVERGENT', 'CONTRADICTORY') as disagrees "
            "from pairs join questions using (question) where topic is not null",
        )
        policy = told["question_id"].map(truth)
        topics = told.groupby(policy)["topic"].unique()
        taxonomy = Taxonomy(tuple(theme(name, *found) for name, found in topics.items()))
        found = themes(con, taxonomy)
    counted = found.set_index("theme_id")["disagreeing"]
    assert counted[counted > 0].to_dict() == Counter(policy[told["disagrees"]])
    assert found["share"].sum() == pytest.approx(1)
    assert (found["share_low"] <= found["share"]).all()
    assert (found["share"] <= found["share_high"]).all()
