"""The passages closest to a question: how they are cut, scored against their own handbook, and quoted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from audit.pipeline.embedding.encoders import Encoder
from audit.pipeline.embedding.static import static_encoder
from audit.pipeline.embedding.vectors import Vectors, no_progress
from audit.pipeline.retrieval.closest import BY_CHANCE, USUAL, USUAL_COUNT, USUAL_SHARE, WORDS, ClosestPassages, passage_places
from audit.pipeline.retrieval.found import MOST_LETTERS, Thresholds, thresholds
from audit.text.documents import Document, Section, read_document
from audit.text.statements import statements
from audit.vocabulary import Found

ROOT = Path(__file__).parents[3]


def handbook(*sections: Section) -> Document:
    return Document("kidney_oak_post", "kidney", "Oak", "post", sections)


FOOD = Section(
    "s1",
    "Food",
    "Avoid:\n• raw fish\n• grapefruit\n\nYou may eat bread. You do not have to weigh yourself every day.",
    pages=(4, 4),
)


def test_a_passage_is_of_one_kind_under_one_lead_and_is_quoted_word_for_word() -> None:
    places = passage_places(handbook(FOOD))
    assert [FOOD.text[place.start : place.end] for place in places] == [
        "• raw fish\n• grapefruit",
        "You may eat bread. You do not have to weigh yourself every day.",
    ]
    assert [place.leads for place in places] == [("Avoid:",), ()]


def test_no_item_of_a_list_reads_as_the_lead_of_the_items_that_follow_it() -> None:
    """The rest of a long item is a passage of its own; one that begins with an item begins with its sign."""
    long = " ".join(f"You may drink juice number {number} all day." for number in range(12))
    text = f"1. {long} Avoid seeds for one week.\n2. Chill the laxative.\n3. Ask us about pills."
    quoted = [text[place.start : place.end] for place in passage_places(handbook(Section("s1", "", text)))]
    assert quoted[-1] == "2. Chill the laxative.\n3. Ask us about pills."
    read = [(one.leads, one.text) for part in quoted for one in statements(part)]
    assert {leads for leads, _ in read} == {()}
    assert [text for _, text in read] == [one.text for one in statements(text)]


def test_a_long_text_is_cut_at_the_end_of_statements() -> None:
    text = " ".join(f"This is sentence number {number} on the same thing." for number in range(40))
    places = passage_places(handbook(Section("s1", "", text)))
    assert len(places) > 3
    assert all(len(text[place.start : place.end].split()) <= WORDS for place in places)
    assert all(text[place.start : place.end].endswith(".") for place in places)


def test_every_sentence_of_the_question_is_read() -> None:
    passages = ClosestPassages(handbook(FOOD))
    (best,) = passages.closest("I feel heavy. Every day I weigh myself. Is that needed?", 1)
    assert best.text.startswith("You may eat bread")
    assert FOOD.text[slice(*best.statement)] == "You do not have to weigh yourself every day."
    assert best.page == 4


def by_letters(texts: Sequence[str], _progress: object) -> Vectors:
    rows = np.array([[text.count(letter) + 1e-9 for letter in "abcdefgh"] for text in texts])
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


LETTERS = Encoder("letters", "0" * 64, by_letters)


def test_the_score_takes_off_a_share_of_what_is_usual_in_the_handbook() -> None:
    sections = [Section(f"s{number}", "", "abcdefgh"[number % 8] * (number + 1) + " cab.") for number in range(20)]
    closest = ClosestPassages(handbook(*sections), LETTERS).closest("aaaa", 20)
    similarities = sorted((passage.similarity for passage in closest), reverse=True)
    assert closest[0].score == pytest.approx(similarities[0] - USUAL_SHARE * np.mean(similarities[USUAL]), abs=1e-5)


def test_a_passage_of_a_longer_handbook_scores_less_at_the_same_similarity() -> None:
    def best(count: int) -> float:
        sections = [Section("s0", "", "aaaa"), *(Section(f"s{number}", "", f"bcd {number}.") for number in range(1, count))]
        (passage,) = ClosestPassages(handbook(*sections), LETTERS).closest("aaaa", 1)
        return passage.score - passage.similarity

    assert best(USUAL_COUNT) - best(3 * USUAL_COUNT) == pytest.approx(BY_CHANCE * np.log(3), abs=1e-3)


@pytest.mark.parametrize("model", [LETTERS, None], ids=["sentence model", "static vectors"])
def test_stored_vectors_give_the_same_scores(model: Encoder | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = ClosestPassages(handbook(FOOD), model, tmp_path).closest("bread")
    kind = model or static_encoder()
    asked: list[int] = []

    def counted(texts: Sequence[str], progress: object) -> Vectors:
        asked.append(len(texts))
        return kind.encode(texts, no_progress)

    counting = Encoder(kind.name, kind.digest, counted)
    monkeypatch.setattr("audit.pipeline.retrieval.closest.static_encoder", lambda: counting)
    again = ClosestPassages(handbook(FOOD), model and counting, tmp_path).closest("bread")
    assert again == first
    assert asked == [1]  # the question alone


def test_a_handbook_without_text_has_no_passage() -> None:
    assert ClosestPassages(handbook()).closest("bread") == []
    assert thresholds("words").found(None) is Found.NOT_FOUND


@pytest.mark.parametrize(
    ("score", "found"), [(0.32, Found.STATED), (0.319, Found.PERHAPS), (0.25, Found.PERHAPS), (0.2, Found.NOT_FOUND)]
)
def test_a_score_is_one_of_three_states(score: float, found: Found) -> None:
    assert Thresholds(0.32, 0.25).found(score) is found


def test_what_a_handbook_says_twice_is_one_passage() -> None:
    twice = [Section(f"twice{number}", "Food", "You may eat bread.") for number in range(2)]
    first, second = ClosestPassages(handbook(*twice, FOOD)).closest("Is bread fine?", 2)
    assert first.section.section_id == "twice0"
    assert first.text != second.text


def test_nothing_is_stated_in_a_handbook_longer_than_those_that_were_measured() -> None:
    limits = thresholds("words")
    longest = handbook(Section("s1", "", "a" * MOST_LETTERS))
    longer = handbook(Section("s1", "", "a" * MOST_LETTERS), Section("s2", "", "b"))
    assert limits.of(longest).found(limits.stated) is Found.STATED
    assert limits.of(longer).found(0.99) is Found.PERHAPS
    assert limits.of(longer).found(limits.perhaps - 0.01) is Found.NOT_FOUND


def test_of_many_handbooks_the_first_is_stated_as_rarely_wrongly_as_of_one() -> None:
    limits = Thresholds(0.5, 0.3, more=0.03)
    assert limits.among(1) == limits
    assert limits.among(0) == limits
    assert limits.among(20).stated == pytest.approx(0.5 + 0.03 * 2.9957, abs=1e-4)
    assert limits.among(20).perhaps == 0.3


def test_a_handbook_of_few_passages_is_not_called_silent_for_its_length() -> None:
    limits = Thresholds(0.5, 0.3, shorter=0.01)
    three = handbook(*(Section(f"s{number}", "", f"You may eat bread number {number}.") for number in range(3)))
    many = handbook(*(Section(f"s{number}", "", f"You may eat bread number {number}.") for number in range(15)))
    assert limits.of(many) == limits
    assert limits.of(three) == Thresholds(0.5, pytest.approx(0.3 - 0.01 * 11), shorter=0.01)


def test_the_limit_is_a_quarter_above_the_longest_document_of_the_gold_set() -> None:
    documents = (read_document(path) for path in sorted((ROOT / "benchmarks" / "gold" / "documents").glob("*.json")))
    longest = max(sum(len(section.text) for section in document.sections) for document in documents)
    assert pytest.approx(1.25 * longest, rel=0.01) == MOST_LETTERS
