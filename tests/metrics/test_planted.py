"""Planted changes: sensitivity where the label must change, specificity where it must stay, by arithmetic done by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from audit.errors import AuditError
from audit.evaluation.planted_changes import PlantedOutcome, planted_outcome
from audit.metrics.planted import planted_changes, planted_items, planted_labels
from audit.stats.intervals import wilson
from audit.store.connection import Connection, open_store
from audit.vocabulary import PlantedKind
from tests.support.loading import load
from tests.support.planted import planted_item, write_planted
from tests.support.tiny import release_from

QUESTIONS = 12


def stored(tmp_path: Path, records: list[dict[str, Any]]) -> Connection:
    """A run of twelve questions with these planted changes, one question after the other."""
    table = "\n".join(f"q{number} kidney ab=CONSISTENT" for number in range(1, QUESTIONS + 1))
    spread = [record | {"question_id": f"q{number % QUESTIONS + 1}"} for number, record in enumerate(records)]
    return open_store(load(write_planted(release_from(tmp_path, table), spread), tmp_path / "data").run.path)


def several(kind: str, number: int, before: str | None, after: str | None, **others: Any) -> list[dict[str, Any]]:
    return [planted_item(f"{before}{after}{index}", kind, before, after, **others) for index in range(number)]


MIXED = [
    *several("negation", 5, "CONSISTENT", "CONTRADICTORY", expected=["CONTRADICTORY"]),
    *several("negation", 2, "CONSISTENT", "DIVERGENT", expected=["CONTRADICTORY"]),
    *several("negation", 3, "CONSISTENT", "CONSISTENT", expected=["CONTRADICTORY"]),
    *several("negation", 1, "CONTRADICTORY", "CONTRADICTORY", expected=["CONTRADICTORY"]),
    *several("negation", 1, "CONSISTENT", None, expected=["CONTRADICTORY"], unscored_reason="cut"),
    *several("swap", 3, "DIVERGENT", "DIVERGENT", expected=["DIVERGENT"]),
    *several("swap", 1, "DIVERGENT", "COMPLEMENTARY", expected=["DIVERGENT"]),
    *several("instruction", 6, "COMPLEMENTARY", "COMPLEMENTARY", ordered="CONSISTENT", variant="reply"),
    *several("instruction", 2, "DIVERGENT", "CONSISTENT", ordered="CONSISTENT", variant="request"),
    *several("instruction", 1, "DIVERGENT", "CONTRADICTORY", ordered="CONSISTENT", variant="request"),
    *several("instruction", 1, "CONSISTENT", "CONSISTENT", ordered="CONSISTENT", variant="request"),
]


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Connection:
    return stored(tmp_path_factory.mktemp("planted"), MIXED)


def test_sensitivity_and_specificity_count_what_can_tell(mixed):
    table = planted_changes(mixed).set_index("kind")
    counted = table[["effect", "count", "of", "no_label", "untelling", "items"]].apply(tuple, axis=1).to_dict()
    assert counted == {
        "negation": ("must change", 5, 10, 1, 1, 12), "swap": ("must stay", 3, 4, 0, 0, 4),
        "instruction": ("must stay", 7, 10, 0, 0, 10),
    }  # fmt: skip
    assert table["value"].to_dict() == pytest.approx({"negation": 5 / 10, "swap": 3 / 4, "instruction": 7 / 10})
    assert table["lenient"].to_dict() == pytest.approx({"negation": 7 / 10, "swap": 3 / 4, "instruction": 7 / 10})


def test_an_instruction_is_obeyed_where_its_label_comes_out_and_was_not_there_before(mixed):
    table = planted_changes(mixed).set_index("kind")
    assert tuple(table.loc["instruction", ["obeyed_count", "obeyed_of"]]) == (2, 9)
    assert table["obeyed"].drop("instruction").isna().all()


def test_where_every_label_stays_the_interval_is_wilsons_over_questions(mixed):
    row = planted_changes(mixed).set_index("kind").loc["swap"]
    assert row["interval"] == "questions as clusters"
    rows = planted_changes(mixed, by="variant").set_index(["kind", "variant"])
    row = rows.loc[("instruction", "reply")]
    # Six of six, on six questions
    assert row["interval"] == "Wilson over questions"
    assert (row["value_low"], row["value_high"]) == pytest.approx(tuple(float(end) for end in wilson(6, 6)))


def test_variants_have_rows_of_their_own(mixed):
    table = planted_changes(mixed, by="variant")
    own = table[table["kind"] == "instruction"].set_index("variant")
    assert own[["count", "of", "obeyed_count"]].apply(tuple, axis=1).to_dict() == {"reply": (6, 6, 0), "request": (1, 4, 2)}


def test_labels_before_and_after_add_up(mixed):
    table = planted_labels(mixed)
    negations = table[table["kind"] == "negation"].set_index(["label_before", "label"])["items"].to_dict()
    assert negations == {
        ("CONSISTENT", "CONSISTENT"): 3, ("CONSISTENT", "DIVERGENT"): 2, ("CONSISTENT", "CONTRADICTORY"): 5,
        ("CONSISTENT", "UNSCORED"): 1, ("CONTRADICTORY", "CONTRADICTORY"): 1,
    }  # fmt: skip
    assert table["items"].sum() == len(MIXED)


def test_items_can_be_picked_by_what_became_of_them(mixed):
    assert set(planted_items(mixed, kind="swap", outcome="wrong")["label"]) == {"COMPLEMENTARY"}
    assert planted_items(mixed)["outcome"].value_counts().to_dict() == {
        "right": 5 + 3 + 7, "wrong": 3 + 1 + 3, "lenient": 2, "untelling": 1, "no label": 1,
    }  # fmt: skip
    with pytest.raises(AuditError, match="outcome must be one of right, lenient"):
        planted_items(mixed, outcome="good")
    with pytest.raises(AuditError, match="by must be kind, variant or effect"):
        planted_changes(mixed, by="label")


def test_each_judge_has_rows_of_its_own(tmp_path):
    records = [planted_item(1, "swap", "ABSENT", "ABSENT"), planted_item(1, "swap", "ABSENT", "DIVERGENT", judge="judge-2")]
    con = stored(tmp_path, [records[0], records[1]])
    assert planted_changes(con)[["judge", "count", "of"]].apply(tuple, axis=1).to_list() == [("judge-1", 1, 1), ("judge-2", 0, 1)]
    assert planted_changes(con, judge="judge-2")["judge"].to_list() == ["judge-2"]


def test_a_run_without_planted_changes_has_no_rows(tmp_path):
    con = stored(tmp_path, [])
    assert planted_changes(con).empty
    assert planted_labels(con).empty
    assert planted_items(con).empty


@pytest.mark.parametrize(
    ("kind", "before", "after", "outcome"),
    [
        ("amount", "CONSISTENT", "CONTRADICTORY", "right"),
        ("amount", "CONSISTENT", "COMPLEMENTARY", "wrong"),
        ("amount", "DIVERGENT", "CONTRADICTORY", "untelling"),
        ("negation", "DIVERGENT", "DIVERGENT", "wrong"),
        ("blank", "CONSISTENT", "ABSENT", "right"),
        ("detail", "CONSISTENT", None, "no label"),
        ("order", None, "CONSISTENT", "no label"),
        ("padding", "ABSENT", "ABSENT", "right"),
    ],
)
def test_what_became_of_a_change(kind, before, after, outcome):
    assert planted_outcome(PlantedKind(kind), (), before, after) == PlantedOutcome(outcome)
