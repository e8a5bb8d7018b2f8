"""What is accepted as a table of labels, and the errors for what is not."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from annotation.ratings.design import MISSING
from annotation.ratings.labels_file import read_labels
from annotation.ratings.table import ratings_from
from audit.errors import AuditError
from tests.annotation.tables import ratings

GOOD = {
    "item_id": ["x", "y"],
    "annotator_a": ["ABSENT", "divergent"],
    "annotator_b": ["0", ""],
    "judge": ["absence", "Divergence"],
}


def refused(frame: pd.DataFrame | dict[str, list[str]]) -> str:
    with pytest.raises(AuditError) as error:
        ratings_from(pd.DataFrame(frame), "labels.csv")
    return str(error.value)


def test_every_spelling_of_the_vocabulary_is_a_label_and_an_empty_cell_is_not() -> None:
    table = ratings_from(pd.DataFrame(GOOD))
    assert table.labels["annotator_a"].tolist() == [0, 3]
    assert table.labels["annotator_b"].tolist() == [0, MISSING]
    assert table.labels["judge"].tolist() == [0, 3]
    assert table.design is None


def test_annotators_are_the_columns_named_so_in_their_order() -> None:
    more = pd.DataFrame(GOOD).assign(annotator_d="1", annotator_c="2", annotator_a_seconds="12", gold="3")
    parsed = ratings_from(more)
    assert parsed.annotators == ("annotator_a", "annotator_b", "annotator_d", "annotator_c")
    assert list(parsed.labels) == [*parsed.annotators, "judge", "gold"]


def test_significance_is_found_under_either_name() -> None:
    graded = pd.DataFrame(GOOD).assign(significance_a=["", "High"], judge_significance=["", "medium"])
    parsed = ratings_from(graded).significance
    assert {rater: codes.tolist() for rater, codes in parsed.items()} == {"annotator_a": [MISSING, 2], "judge": [MISSING, 1]}


def test_missing_columns_are_named_beside_those_that_exist() -> None:
    text = refused({"item_id": ["x"], "annotator_a": ["ABSENT"], "verdict": ["ABSENT"]})
    assert text.startswith("labels.csv: columns annotator_b, judge are missing; the columns are item_id, annotator_a, verdict.")
    assert "Nothing was computed." in text


def test_an_unknown_label_is_named_with_its_row_its_column_and_a_suggestion() -> None:
    text = refused({**GOOD, "annotator_b": ["ABSENT", "Divergant"]})
    assert text.startswith("labels.csv, row 3 (item 'y'), annotator_b: label 'Divergant' is not in the vocabulary.")
    assert "Did you mean 'DIVERGENT'?" in text
    assert "Allowed: ABSENT, CONSISTENT, COMPLEMENTARY, DIVERGENT, CONTRADICTORY" in text


def test_an_unknown_significance_is_refused_too() -> None:
    assert "significance 'hgh' is not in the vocabulary. Did you mean 'high'?" in refused({**GOOD, "significance_a": ["", "hgh"]})


@pytest.mark.parametrize(("ids", "fault"), [(["x", "x"], "item 'x' has two rows"), (["x", " "], "row 3 has no item_id")])
def test_an_item_appears_once_and_has_an_id(ids: list[str], fault: str) -> None:
    assert fault in refused({**GOOD, "item_id": ids})


def test_a_table_without_rows_is_refused() -> None:
    assert "the table has column names and no rows" in refused(pd.DataFrame(GOOD).iloc[:0])


def test_an_empty_file_a_missing_file_and_an_image_are_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").touch()
    (tmp_path / "picture.csv").write_bytes(b"\x89PNG\r\n\x1a\n\xff\xfe")
    for name in ("empty.csv", "picture.csv", "nowhere.csv"):
        with pytest.raises(AuditError, match=f"{name}: cannot be read as a CSV table .* Nothing was computed"):
            read_labels(tmp_path / name)


def test_a_file_from_excel_is_read(tmp_path: Path) -> None:
    pd.DataFrame(GOOD).to_csv(tmp_path / "labels.csv", index=False, encoding="utf-8-sig")
    assert ratings_from(read_labels(tmp_path / "labels.csv").frame).items.tolist() == ["x", "y"]


def test_a_stratum_has_as_many_pairs_as_its_weights_add_up_to() -> None:
    design = ratings("""
        annotator_a annotator_b judge         design_weight times
        ABSENT      ABSENT      ABSENT        7.9125        80
        DIVERGENT   DIVERGENT   DIVERGENT     1.525         40
        DIVERGENT   -           -             3             1
    """).design
    assert design is not None
    assert dict(zip(design.strata, design.pairs, strict=True)) == {"ABSENT": 633, "DIVERGENT": 61, "unscored": 3}


@pytest.mark.parametrize("weight", ["0.5", "0", "-1", "many", "", "inf"])
def test_a_weight_is_at_least_one(weight: str) -> None:
    text = refused({**GOOD, "design_weight": ["2", weight]})
    assert text.startswith(f"labels.csv, row 3: design_weight must be a number of at least 1, not '{weight}':")


def test_a_stratum_has_one_weight() -> None:
    text = refused({**GOOD, "judge": ["ABSENT", "ABSENT"], "design_weight": ["2", "3"]})
    assert "items of stratum 'ABSENT' have design weights from 2 to 3" in text


def test_known_pairs_per_stratum_replace_weights() -> None:
    design = ratings_from(pd.DataFrame(GOOD), pairs={"ABSENT": 10, "CONSISTENT": 5, "DIVERGENT": 4}).design
    assert design is not None
    assert (design.strata, design.pairs.tolist(), design.stratum.tolist()) == (
        ("ABSENT", "CONSISTENT", "DIVERGENT"),
        [10, 5, 4],
        [0, 2],
    )


def test_known_pairs_must_name_every_stratum_and_be_no_fewer_than_its_sample() -> None:
    with pytest.raises(AuditError, match="stratum 'DIVERGENT' is not among the strata with a known number of pairs"):
        ratings_from(pd.DataFrame(GOOD), pairs={"ABSENT": 10})
    with pytest.raises(AuditError, match="1 items come from stratum 'ABSENT', which has only 0 pairs"):
        ratings_from(pd.DataFrame(GOOD), pairs={"ABSENT": 0, "DIVERGENT": 4})
