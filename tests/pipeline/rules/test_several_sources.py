"""One answer from several sources: what is said once, who says it, who says otherwise, and when nothing is said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from audit.pipeline.retrieval.across.evidence import gather
from audit.pipeline.retrieval.across.library import Library
from audit.pipeline.rules.marks.several_sources import NEAR, LibraryReader, answer_from_sources
from audit.pipeline.rules.marks.statement_labels import statement_label
from audit.pipeline.rules.marks.statement_marks import marked
from audit.release.route_kinds import ROUTE
from audit.release.sourced_answers import SourceCitation, SourcedAnswer, SourcedStatement
from audit.release.system_kinds import SYSTEM_ANSWER
from audit.vocabulary import Label
from tests.pipeline.generation.sourced import LIFT, SIX, TWELVE, handbook, library_of, lifting_library


@pytest.fixture(scope="module")
def library() -> Library:
    return lifting_library()


def asked(library: Library, question: str) -> SourcedAnswer:
    return answer_from_sources(gather(library, question), LibraryReader(library), statement_label)


def test_what_two_sources_say_is_said_once_and_what_a_third_says_otherwise_stands_beside_it(library: Library) -> None:
    answer = asked(library, LIFT)
    by_weeks = {("12" if "12 weeks" in statement.text else "6"): statement for statement in answer.statements}
    assert len(answer.statements) == 2
    assert set(by_weeks["6"].supported_by) == {"alder", "birch"}
    assert by_weeks["12"].supported_by == ("cedar",)
    assert {citation.source_id for citation in by_weeks["6"].contradicted_by} == {"cedar"}
    assert {citation.source_id for citation in by_weeks["12"].contradicted_by} == {"alder", "birch"}
    assert all(citation.quote in SIX + TWELVE for statement in answer.statements for citation in statement.citations)


def test_every_quote_stands_in_its_section(library: Library) -> None:
    for citation in (citation for statement in asked(library, LIFT).statements for citation in statement.citations):
        section = library.indexes[citation.handbook_id].document.by_id[citation.section_id]
        assert section.text[citation.start : citation.end] == citation.quote


def test_where_no_source_says_anything_the_answer_is_refused(library: Library) -> None:
    answer = asked(library, "When may I drive a car again?")
    assert answer.refused
    assert answer.text.startswith("NOT ADDRESSED")


def test_a_question_without_words_is_refused_with_a_note(library: Library) -> None:
    answer = asked(library, "What is it?")
    assert answer.refused
    assert "no words to search for" in answer.notes[0]


def test_a_handbook_in_another_language_is_not_read_and_a_note_says_so() -> None:
    german = "Heben: " + "Heben Sie nach der Operation sechs Wochen lang nichts, was mehr als fünf Kilogramm wiegt. " * 12
    library = library_of(handbook("alder", SIX), replace(handbook("eiche", german, SIX), language="de"))
    answer = asked(library, f"{LIFT} I was told that it matters how heavy the things are that I lift in the first months.")
    assert {source for statement in answer.statements for source in statement.supported_by} <= {"alder"}
    assert any("heart_eiche_post was not read" in note for note in answer.notes)


def test_the_records_are_valid_in_a_release(library: Library) -> None:
    answer = asked(library, LIFT)
    record = SYSTEM_ANSWER.read(answer.record("q1", "sources"), [])
    assert (record["refused"], record["answer"]) == (False, answer.text)
    route = answer.route_record("q1", "sources")
    assert ROUTE.read(route, [])["question_id"] == "q1"
    cited = [(answer.text[one["start"] : one["end"]], one["quote"]) for one in answer.record("q1", "sources")["citations"]]
    assert {part for part, _ in cited} == {statement.text for statement in answer.statements}
    assert all("Avoid lifting" in part and "Avoid lifting" in quote for part, quote in cited)
    assert [statement["supported_by"] for statement in route["trace"]["statements"]] == [
        list(statement.supported_by) for statement in answer.statements
    ]


# -- marks by hand -------------------------------------------------------------------------------------------------------


def statement(text: str, source: str, confidence: float) -> SourcedStatement:
    return SourcedStatement(
        text, (SourceCitation(1, source, f"handbook-{source}", "s0", 0, 1, text, text),), confidence=confidence
    )


def by_first_word(_question: str, one: str, other: str) -> Label:
    """The first letter is what is said, the second which side is taken."""
    if one[0] != other[0]:
        return Label.COMPLEMENTARY
    return Label.CONSISTENT if one[1] == other[1] else Label.CONTRADICTORY


def test_marks_are_kept_when_statements_merge() -> None:
    drafts = [
        statement("a+", "one", 0.9),
        statement("a-", "two", 0.8),
        statement("a+", "three", 0.7),
        statement("b+", "four", 0.6),
    ]
    first, second, third = marked("q", drafts, by_first_word)
    assert (first.supported_by, [c.source_id for c in first.contradicted_by]) == (("one", "three"), ["two"])
    assert (second.supported_by, [c.source_id for c in second.contradicted_by]) == (("two",), ["one", "three"])
    assert (third.supported_by, third.contradicted_by) == (("four",), ())


def test_two_places_of_one_handbook_are_not_two_sources() -> None:
    drafts = [statement("a+", "one", 0.9), statement("a-", "one", 0.8)]
    first, second = marked("q", drafts, by_first_word)
    assert first.contradicted_by == second.contradicted_by == ()


def test_statements_that_disagree_without_two_sentences_that_clash_are_not_marked() -> None:
    def by_length(_question: str, one: str, other: str) -> Label:
        return Label.DIVERGENT if len(one) > 9 and len(other) > 9 else Label.COMPLEMENTARY

    one = SourcedStatement("a long statement", (SourceCitation(1, "one", "handbook-one", "s0", 0, 5, "short", "short"),))
    other = SourcedStatement("another long one", (SourceCitation(2, "two", "handbook-two", "s0", 0, 5, "brief", "brief"),))
    assert [statement.mark for statement in marked("q", [one, other], by_length)] == ["supported", "supported"]


def test_each_sentence_has_a_mark_of_its_own_and_what_covers_clearly_less_is_left_out() -> None:
    twice = f"{TWELVE} Lifting over 10 pounds should be avoided by drivers after surgery."
    answer = asked(library_of(handbook("alder", SIX), handbook("cedar", twice)), LIFT)
    cited = [statement.citations for statement in answer.statements]
    assert all(len({citation.start for citation in citations if citation.source_id == "cedar"}) <= 1 for citations in cited)
    assert min(one.confidence for one in answer.statements) >= NEAR * max(one.confidence for one in answer.statements)
