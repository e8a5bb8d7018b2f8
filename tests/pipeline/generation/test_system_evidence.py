"""The passages of an answering system, from several handbooks."""

from __future__ import annotations

from audit.pipeline.generation.system_evidence import best_passages
from tests.pipeline.generation.leaflets import ALDER, BIRCH, found


def test_the_best_of_each_handbook_come_first_and_are_numbered() -> None:
    alder, birch = found(ALDER, "s1", "s2"), found(BIRCH, "s1", "s2")
    for number, (a, b) in enumerate(zip(alder["passages"], birch["passages"], strict=True), 1):
        a.update(rank=number, score=1.0 / number)
        b.update(rank=number, score=2.0 / number)
    given = best_passages([(ALDER, alder), (BIRCH, birch)], 3)
    assert [(one.handbook_id, one.passage.section_id, one.passage.number) for one in given] == [
        (BIRCH.handbook_id, "s1", 1), (ALDER.handbook_id, "s1", 2), (BIRCH.handbook_id, "s2", 3),
    ]  # fmt: skip
    assert given[0].record() == {
        "handbook_id": BIRCH.handbook_id, "section_id": "s1", "rank": 1, "score": 2.0, "text": given[0].passage.text,
    }  # fmt: skip
    assert given[0].passage.text in BIRCH.by_id["s1"].text


def test_what_finds_nothing_gives_nothing() -> None:
    assert best_passages([(ALDER, {"passages": []}), (BIRCH, {})], 5) == ()
    assert best_passages([], 5) == ()
