"""Which questions are put to which handbooks."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from audit.generation import meets, paired


@pytest.mark.parametrize(
    ("question", "handbook", "met"),
    [
        ("kidney", "kidney", True),
        ("kidney", "liver", False),
        ("general", "liver", True),
        ("kidney", "general", True),
        ("Kidney ", "kidney", True),
    ],
)
def test_a_question_meets_the_handbooks_of_its_organ_and_whatever_is_general(question, handbook, met):
    assert meets(SimpleNamespace(organ=question), SimpleNamespace(organ=handbook)) is met


def test_pairs_go_handbook_by_handbook_so_that_a_handbook_is_read_once():
    questions = [SimpleNamespace(id=n, organ=organ) for n, organ in enumerate(("kidney", "general", "liver"))]
    handbooks = [SimpleNamespace(id=organ, organ=organ) for organ in ("liver", "kidney", "general")]
    found = [(question.id, handbook.id) for question, handbook in paired(iter(questions), iter(handbooks))]
    assert found == [
        (1, "liver"), (2, "liver"), (0, "kidney"), (1, "kidney"), (0, "general"), (1, "general"), (2, "general"),
    ]  # fmt: skip
