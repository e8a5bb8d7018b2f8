"""What a trace says of the graph, whatever its shape; and the order of the routed questions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from audit.queries.routes import RoutedPassage, RoutedView
from audit.queries.routing_trace import LinkingTerm, linking_terms, routed_question_list, routing_notes
from audit.store.connection import Connection
from tests.support.routes import routes_store


@pytest.fixture(scope="module")
def con(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    with routes_store(tmp_path_factory.mktemp("routes")) as con:
        yield con


def view(**trace: Any) -> RoutedView:
    """Three passages: two of one section, the second of them widened, and a whole section whose ids have marks in them."""

    def passage(rank: int, handbook: str, section: str, start: int | None, end: int | None) -> RoutedPassage:
        return RoutedPassage(rank, None, handbook, section, start, end, None, None, None, False, None, None)

    evidence = (passage(1, "a", "s1", 0, 100), passage(2, "a", "s1", 100, 300), passage(3, "b/c", "s#2", None, None))
    return RoutedView("x", "X", (), evidence, trace)


def edge(chunk: str, name: str) -> dict[str, str]:
    return {"chunk": chunk, "kind": "organ", "name": name}


def test_a_passage_is_recognised_by_a_chunk_that_lies_inside_it():
    edges = [edge("a/s1#0", "spleen"), edge("a/s1#150", "spleen"), edge("b/c/s#2#7", "liver"), edge("a/s1#300", "heart")]
    seeds = [{"kind": "organ", "name": "liver"}]
    assert linking_terms(view(edges=edges, seeds=seeds)) == (
        LinkingTerm("organ", "spleen", False, (1, 2)), LinkingTerm("organ", "liver", True, (3,)),
    )  # fmt: skip


@pytest.mark.parametrize(
    "trace", [{}, {"edges": "a"}, {"edges": [3, {}, {"chunk": ["a"], "name": "x"}, {"chunk": "a/s1"}], "seeds": {}, "notes": 4}]
)
def test_a_trace_of_any_other_shape_has_no_terms_and_no_notes(trace: dict[str, Any]):
    assert linking_terms(view(**trace)) == ()
    assert routing_notes(view(**trace)) == ()


def test_notes_are_those_of_the_trace():
    assert routing_notes(view(notes=["Source 'x' has no text.", None])) == ("Source 'x' has no text.",)


def test_questions_that_need_several_sources_come_first_and_then_those_routed_wrongly(con: Connection):
    listed = routed_question_list(con)
    assert listed["question_id"].tolist() == ["q2", "q1", "q3"]
    # `all` ranks Dense first everywhere, and q3 needs Dense; it did not route q3
    assert listed["required"].tolist() == [2, 1, 1]
    assert listed["missed"].tolist() == [1, 1, 0]
    assert listed["systems"].tolist() == [2, 2, 1]
