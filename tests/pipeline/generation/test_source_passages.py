"""The closest passages of several sources as an answer: whole, with their place, and a refusal where none is close."""

from __future__ import annotations

import pytest

from audit.pipeline.generation.source_passages import SourceQuoter
from audit.pipeline.retrieval.across.evidence import gather
from audit.pipeline.retrieval.across.library import Library
from audit.release.route_kinds import ROUTE
from audit.release.sourced_answers import SourcedAnswer
from audit.release.system_kinds import SYSTEM_ANSWER
from tests.pipeline.generation.sourced import DIET, SIX, TWELVE, handbook, library_of
from tests.support.other_subjects import OTHER_SUBJECTS

ASKED = "Should I avoid lifting anything over 10 pounds after surgery?"


@pytest.fixture(scope="module")
def library() -> Library:
    others = [f"{heading}: {text}" for heading, text in OTHER_SUBJECTS.items()]
    texts = {"alder": SIX, "birch": SIX, "cedar": TWELVE, "dogwood": DIET}
    return library_of(*(handbook(center, text, *others) for center, text in texts.items()))


def asked(library: Library, question: str) -> SourcedAnswer:
    return SourceQuoter(library).answer(gather(library, question))


def test_each_source_that_answers_is_quoted_once_and_whole_and_nothing_is_marked(library: Library) -> None:
    answer = asked(library, ASKED)
    assert sorted(statement.text for statement in answer.statements) == sorted(text.partition(": ")[2] for text in (SIX, TWELVE))
    # Alder and Birch have the same words: one of them is in the evidence, the other beside it
    assert {statement.supported_by for statement in answer.statements} == {("alder", "birch"), ("cedar",)}
    assert {statement.mark for statement in answer.statements} == {"supported"}


def test_every_quote_stands_in_its_section(library: Library) -> None:
    for citation in (citation for statement in asked(library, ASKED).statements for citation in statement.citations):
        section = library.indexes[citation.handbook_id].document.by_id[citation.section_id]
        assert section.text[citation.start : citation.end] == citation.quote


@pytest.mark.parametrize("question", ["When may I drive a car again?", "What is it?"])
def test_where_no_source_is_close_the_answer_is_refused(library: Library, question: str) -> None:
    answer = asked(library, question)
    assert answer.refused
    assert answer.text.startswith("NOT ADDRESSED")


def test_the_records_are_valid_in_a_release(library: Library) -> None:
    answer = asked(library, ASKED)
    record = SYSTEM_ANSWER.read(answer.record("q1", "sources"), [])
    assert (record["refused"], record["answer"]) == (False, answer.text)
    route = answer.route_record("q1", "sources")
    assert ROUTE.read(route, [])["question_id"] == "q1"
    cited = [(answer.text[one["start"] : one["end"]], one["quote"]) for one in answer.record("q1", "sources")["citations"]]
    assert {part for part, _ in cited} == {quote for _, quote in cited} == {statement.text for statement in answer.statements}
