"""How one question was routed, as the pages read it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from audit.errors import NotInRunError
from audit.queries.routes import RoutedQuestionView, routed_question, stored_sources
from audit.store.connection import Connection
from tests.support.routes import TEXT, routes_store


@pytest.fixture(scope="module")
def con(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    with routes_store(tmp_path_factory.mktemp("routes")) as con:
        yield con


def test_sources_have_their_handbooks(con: Connection) -> None:
    assert [(source.source_id, source.authority, source.handbook_ids) for source in stored_sources(con)] == [
        ("Dense", 0.2, ("dense-1",)), ("Long", 0.5, ("long-1", "long-2")),
    ]  # fmt: skip


def test_a_question_has_the_routes_and_the_evidence_of_each_system(con: Connection) -> None:
    view = routed_question(con, "q2")
    assert (view.primary_source, view.required_sources) == ("Long", ("Long", "Dense"))
    merged, daks = view.systems
    assert [route.source_id for route in merged.routes] == ["Dense", "Long"]
    assert [(route.source_id, route.share, route.budget) for route in daks.routes] == [("Long", 0.7, 14), ("Dense", 0.3, 6)]
    assert [(passage.source_id, passage.handbook_id, passage.section_id) for passage in daks.evidence] == [
        ("Long", "long-2", "s2"), ("Dense", "dense-1", "s1"),
    ]  # fmt: skip
    # The passage ends at character 26, its section later
    assert (daks.evidence[0].text, len(TEXT) > 26) == ("Call us before you travel.", True)
    assert daks.trace["settings"] == {"probe": 20}


def test_a_system_that_did_not_route_a_question_is_not_listed(con: Connection) -> None:
    assert [system.system_id for system in routed_question(con, "q3").systems] == ["daks"]


def test_a_question_without_routes_and_known_sources_has_none(tmp_path_factory: pytest.TempPathFactory) -> None:
    with routes_store(tmp_path_factory.mktemp("more"), questions=("q1", "q2", "q3", "q4")) as con:
        assert routed_question(con, "q4") == RoutedQuestionView(None, (), ())


def test_an_unknown_question_is_an_error(con: Connection) -> None:
    with pytest.raises(NotInRunError, match="q9"):
        routed_question(con, "q9")
