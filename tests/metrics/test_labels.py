import pytest

from audit.metrics.labels import labels

TABLE = """
    q1 kidney  ab=DIVERGENT/high ac=COMPLEMENTARY bc=ABSENT d=absent
    q2 kidney  ab=CONSISTENT ac=CONTRADICTORY bc=UNSCORED
    q3 general ab=CONSISTENT c=absent
"""
FOUR = TABLE + "q4 heart ab=DIVERGENT ac=CONSISTENT ad=COMPLEMENTARY bc=CONTRADICTORY bd=CONSISTENT cd=ABSENT"


def test_pre_screened_judged_and_unscored_pairs_are_counted_apart(store):
    found = labels(store(TABLE))
    assert [tuple(row) for row in found[["label", "how", "pairs"]].itertuples(index=False)] == [
        ("ABSENT", "pre-screened", 3 + 2), ("ABSENT", "judged", 1), ("CONSISTENT", "judged", 2), ("COMPLEMENTARY", "judged", 1),
        ("DIVERGENT", "judged", 1), ("CONTRADICTORY", "judged", 1), ("UNSCORED", "unscored", 1),
    ]  # fmt: skip


def test_unscored_pairs_are_part_of_all_pairs_and_of_no_judged_share(store):
    found = labels(store(TABLE))
    assert found["share"].tolist() == pytest.approx([5 / 12, 1 / 12, 2 / 12, 1 / 12, 1 / 12, 1 / 12, 1 / 12])
    assert found["share_of_judged"].iloc[1:6].tolist() == pytest.approx([1 / 6, 2 / 6, 1 / 6, 1 / 6, 1 / 6])
    assert found["share_of_judged"].iloc[[0, 6]].isna().all()
    assert found["share_of_judged_low"].iloc[[0, 6]].isna().all()


def test_every_share_lies_in_its_interval(store):
    found = labels(store(FOUR))
    assert (found["share_low"] <= found["share"]).all()
    assert (found["share"] <= found["share_high"]).all()
    assert (found["share_of_judged_high"] > found["share_of_judged_low"]).sum() == 4  # one would be 0 to 1: not known


def test_a_run_without_pairs_has_counts_of_zero_and_no_shares(store):
    found = labels(store("q1 kidney a=absent"))
    assert found["pairs"].tolist() == [0] * 7
    assert found[["share", "share_low", "share_of_judged"]].isna().all(axis=None)
