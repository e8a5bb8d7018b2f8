"""The baseline judge on answers that a clinician can read."""

import pytest

from audit.judge.baseline import judge

DRIVE = "When can I drive after my transplant?"


@pytest.mark.parametrize(
    ("question", "a", "b", "label"),
    [
        (DRIVE, "NOT ADDRESSED: the handbook is silent on driving.", "Do not drive for 6 weeks.", "ABSENT"),
        (DRIVE, "Do not drive for 6 weeks.", "  ", "ABSENT"),
        (DRIVE, "Do not drive for 6 weeks.", "You may drive again after eight weeks.", "DIVERGENT"),
        (DRIVE, "Do not drive for 6 weeks.", "Do not drive for six weeks.", "CONSISTENT"),
        (DRIVE, "Do not drive for 6 weeks.", "Do not drive for 6 weeks. Wear the seat belt over a small towel.", "COMPLEMENTARY"),
        ("Can I eat grapefruit?", "Do not eat grapefruit.", "You may eat a little grapefruit.", "CONTRADICTORY"),
    ],
)
def test_each_label_has_its_rule(question, a, b, label):
    assert judge(question, a, b).label == judge(question, b, a).label == label
