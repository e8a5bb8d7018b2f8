"""Where handbooks disagree with themselves: loaded, listed place by place, and never zero where nothing was compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from audit.errors import NotInRunError
from audit.metrics.within_handbook import within_handbook, within_handbook_counts
from audit.release.write import write_jsonl
from audit.store.connection import open_store
from tests.support.loading import BASE, load, messages, quarantined
from tests.support.tiny import release_from


def place(position: int, text: str, page: int | None = None, **more: Any) -> dict[str, Any]:
    return {"position": position, "text": text, "page": page, **more}


FEVER = {
    "handbook_id": "b", "question_id": None, "classification": "DIVERGENT", "clinical_significance": "high",
    "divergence_topic": "fever", "reasoning": "Two thresholds.", "judge": "judge-1",
    "places": [
        place(1, "Call for 100.4 °F.", 5, value="100.4 °F", section_id="s1", start=0, end=18),
        place(1, "Call for 38 °C.", 18, value="38 °C"),
        place(2, "Call above 101.4 °F.", 40, value="above 101.4 °F"),
    ],
}  # fmt: skip
CHEESE = {
    "handbook_id": "b", "label": "contradiction", "places": [place(1, "You may eat it."), place(2, "Do not eat it.")],
}  # fmt: skip
COUNTS = [
    {"handbook_id": "b", "judge": "judge-1", "statements": 90, "agreeing": 4, "compared": 3, "disagreeing": 3, "unscored": 5,
     "not_asked": 0},
    {"handbook_id": "c", "judge": "judge-1", "statements": 80, "agreeing": 0, "compared": 0, "disagreeing": 0, "unscored": 1,
     "not_asked": 0},
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = release_from(tmp_path / "releases", BASE)
    write_jsonl(root / "within_handbook.jsonl", [FEVER, CHEESE])
    write_jsonl(root / "within_handbook_counts.jsonl", COUNTS)
    return root


def test_each_place_is_a_row_the_gravest_disagreement_first(folder, tmp_path):
    with open_store(load(folder, tmp_path).run.path) as con:
        table = within_handbook(con)

    assert list(zip(table["number"], table["label"], table["position"], table["page"].fillna(0), strict=True)) == [
        (2, "CONTRADICTORY", 1, 0), (2, "CONTRADICTORY", 2, 0),
        (1, "DIVERGENT", 1, 5), (1, "DIVERGENT", 1, 18), (1, "DIVERGENT", 2, 40),
    ]  # fmt: skip
    assert list(table["value"].dropna()) == ["100.4 °F", "38 °C", "above 101.4 °F"]


def test_one_handbook_is_picked_and_an_unknown_one_is_an_error(folder, tmp_path):
    with open_store(load(folder, tmp_path).run.path) as con:
        assert within_handbook(con, "a").empty
        assert set(within_handbook(con, "b")["handbook_id"]) == {"b"}
        with pytest.raises(NotInRunError, match="zzz"):
            within_handbook(con, "zzz")


def test_a_handbook_that_was_not_compared_has_no_count_and_one_without_a_finding_has_zero(folder, tmp_path):
    with open_store(load(folder, tmp_path).run.path) as con:
        counts = within_handbook_counts(con).set_index("handbook_id")

    assert counts.loc["a", ["findings", "compared", "unscored"]].isna().all()
    assert tuple(counts.loc["b", ["findings", "compared", "disagreeing", "agreeing", "unscored"]]) == (2, 3, 3, 4, 5)
    assert tuple(counts.loc["c", ["findings", "compared", "unscored"]]) == (0, 0, 1)


def test_a_release_without_the_files_was_not_compared(tmp_path):
    with open_store(load(release_from(tmp_path / "releases", BASE), tmp_path).run.path) as con:
        assert within_handbook(con).empty
        assert within_handbook_counts(con)["findings"].isna().all()


def test_a_place_is_held_against_the_texts(folder, tmp_path):
    write_jsonl(folder / "sections.jsonl", [{"handbook_id": "b", "section_id": "s1", "heading": "Fever", "text": "Short."}])
    loaded = load(folder, tmp_path)

    assert [text for text in messages(loaded, "noted") if "places are not in sections" in text]
    with open_store(loaded.run.path) as con:
        assert list(within_handbook(con)["section"].dropna()) == ["Fever"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"handbook_id": "nobody"}, "unknown_handbook"),
        ({"question_id": "q9"}, "unknown_question"),
        ({"classification": "sort of"}, "unknown_classification"),
        ({"classification": None}, "missing_field"),
        ({"places": [place(1, "One."), place(1, "The same.")]}, "too_few_places"),
        ({"places": [place(1, "One."), {"position": 2}]}, "missing_field"),
        ({"places": "page 5"}, "wrong_type"),
    ],
)
def test_a_record_that_cannot_be_used_is_set_aside_and_the_others_are_loaded(folder, tmp_path, change, expected):
    write_jsonl(folder / "within_handbook.jsonl", [FEVER | change, CHEESE])
    loaded = load(folder, tmp_path)

    assert [code for _, _, code in quarantined(loaded)] == [expected]
    with open_store(loaded.run.path) as con:
        assert set(within_handbook(con)["label"]) == {"CONTRADICTORY"}


def test_counts_of_a_handbook_are_taken_once(folder, tmp_path):
    write_jsonl(folder / "within_handbook_counts.jsonl", [COUNTS[0], COUNTS[0] | {"compared": 99}, {"handbook_id": "c"}])
    loaded = load(folder, tmp_path)

    assert [code for _, _, code in quarantined(loaded)] == ["duplicate_self_comparison", "missing_field"]
    with open_store(loaded.run.path) as con:
        assert list(within_handbook_counts(con)["compared"].dropna()) == [3]


def test_another_label_is_loaded_and_not_listed_as_a_disagreement(folder, tmp_path):
    write_jsonl(folder / "within_handbook.jsonl", [FEVER | {"classification": "COMPLEMENTARY", "clinical_significance": None}])
    with open_store(load(folder, tmp_path).run.path) as con:
        assert within_handbook(con).empty
        assert within_handbook_counts(con).set_index("handbook_id").loc["b", "findings"] == 0
