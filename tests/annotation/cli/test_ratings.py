"""The command line: what is printed in each format, and how it ends."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from audit.cli.main import main

LABELS = """item_id,annotator_a,annotator_b,judge,design_weight
=1+1,DIVERGENT,DIVERGENT,CONSISTENT,1
a|b,DIVERGENT,CONSISTENT,DIVERGENT,2
x3,DIVERGENT,DIVERGENT,DIVERGENT,2
x4,CONSISTENT,CONSISTENT,CONSISTENT,1
"""


@pytest.fixture
def labels(tmp_path: Path) -> str:
    (tmp_path / "labels.csv").write_text(LABELS)
    return str(tmp_path / "labels.csv")


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(list(arguments)) == 0
    return capsys.readouterr().out


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_a_figure_is_the_same_in_every_format(labels: str, capsys: pytest.CaptureFixture[str]) -> None:
    key = {"first": "annotator_a", "second": "annotator_b", "scope": "population", "name": "agreement"}
    data = json.loads(printed(capsys, "agreement", "--labels", labels, "--format", "json"))
    (one,) = [row for row in data["figures"] if all(row[name] == value for name, value in key.items())]
    table = rows(printed(capsys, "agreement", "--labels", labels, "--format", "csv"))
    assert {row["95 % intervals speak of"] for row in table} == {"other items drawn like these"}
    (other,) = [row for row in table if all(row[name] == value for name, value in key.items())]
    assert one["value"] == pytest.approx(4 / 6)
    assert float(other["value"]) == pytest.approx(4 / 6)
    assert "| raw agreement | 4 | 0.750 \\[" in printed(capsys, "agreement", "--labels", labels)


@pytest.mark.usefixtures("in_demo")
def test_the_export_of_a_study_gives_the_figures_of_the_study(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exported = str(tmp_path / "ratings.csv")
    printed(capsys, "study", "export", "demo-finished", "--out", exported)
    for command in (("agreement",), ("agreement", "--table", "oneself"), ("prevalence",)):
        own = printed(capsys, *command, "--study", "demo-finished", "--format", "csv")
        assert printed(capsys, *command, "--labels", exported, "--format", "csv") == own


def test_rows_per_rating_without_a_judge_compare_the_annotators(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "long.csv").write_text("item,user,label\nx,ana,absent\nx,ben,absent\ny,ana,absent\ny,ben,divergent\n")
    assert main(["agreement", "--labels", str(tmp_path / "long.csv")]) == 0
    out, err = capsys.readouterr()
    assert "| raw agreement | 2 | 0.500" in out
    assert "judge" not in out
    assert "Annotators: A: ana; B: ben." in err


def test_an_undefined_figure_is_null_empty_or_explained(labels: str, capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(printed(capsys, "agreement", "--labels", labels, "--format", "json"))
    lost = [row for row in data["figures"] if row["name"] == "recall" and row["label"] == "ABSENT" and row["scope"] == "sample"]
    assert {row["value"] for row in lost} == {None}
    assert lost[0]["note"] == "undefined: majority never gave this label"
    assert "undefined: majority never gave this label" in printed(capsys, "agreement", "--labels", labels)


def test_sample_and_population_are_never_under_one_name(labels: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "| Figure | n (items) | Sample | Run (weighted) |" in printed(capsys, "agreement", "--labels", labels)


def test_time_and_drift_are_printed_where_the_table_has_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    header, *lines = LABELS.splitlines()
    more = [f"{header},seconds_a,order_a", *(f"{line},{10 * position},{position}" for position, line in enumerate(lines, 1))]
    (tmp_path / "labels.csv").write_text("\n".join(more))
    text = printed(capsys, "agreement", "--labels", str(tmp_path / "labels.csv"))
    assert "| annotator A | 4 | 25.0 | 13.0 | 37.0 | 10.0 | 40.0 |" in text
    assert "## Same label as others, by quarter of the work" in text


def test_the_items_behind_an_error_cannot_break_out_of_their_cell(labels: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "a\\|b" in printed(capsys, "agreement", "--labels", labels)
    table = rows(printed(capsys, "agreement", "--labels", labels, "--format", "csv", "--table", "errors"))
    assert [row["items"] for row in table if row["by"] == "majority"] == ["'=1+1"]


def test_confusion_is_a_table_too(labels: str, capsys: pytest.CaptureFixture[str]) -> None:
    table = rows(printed(capsys, "agreement", "--labels", labels, "--format", "csv", "--table", "confusion"))
    assert "95 % intervals speak of" not in table[0]  # counts have no intervals
    cells = {tuple(row.values())[1:-1]: float(row["count"]) for row in table}
    assert cells["majority", "judge", "sample", "DIVERGENT", "CONSISTENT"] == 1
    assert cells["majority", "judge", "population", "DIVERGENT", "DIVERGENT"] == pytest.approx(2)


def test_prevalence_prints_the_corrected_shares_and_the_judges(labels: str, capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(printed(capsys, "prevalence", "--labels", labels, "--format", "json", "--human", "annotator_a"))
    values = {(row["method"], row["label"]): row["value"] for row in data["rows"]}
    assert values["corrected", "disagrees"] == pytest.approx(5 / 6)
    assert values["judge", "disagrees"] == pytest.approx(4 / 6)
    assert "| Corrected | divergent | 0.833 \\[" in printed(capsys, "prevalence", "--labels", labels, "--human", "annotator_a")


def test_known_pairs_of_the_strata_may_come_from_a_file(labels: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "strata.csv").write_text("stratum,pairs\nCONSISTENT,10\nDIVERGENT,30\n")
    text = printed(capsys, "prevalence", "--labels", labels, "--strata", str(tmp_path / "strata.csv"), "--format", "csv")
    judge = {row["label"]: row["value"] for row in rows(text) if row["method"] == "judge"}
    assert float(judge["DIVERGENT"]) == 0.75


@pytest.mark.parametrize(
    "strata",
    ["", "stratum,n\nABSENT,3\n", "stratum,pairs\nABSENT,few\n", "stratum,pairs\nABSENT,1\nABSENT,2\n", "stratum,pairs\n"],
)
def test_a_malformed_strata_file_ends_with_exit_code_two(
    labels: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], strata: str
) -> None:
    (tmp_path / "strata.csv").write_text(strata)
    assert main(["prevalence", "--labels", labels, "--strata", str(tmp_path / "strata.csv")]) == 2
    assert "Allowed: a comma-separated file with columns stratum and pairs" in capsys.readouterr().err


def test_a_plan_says_how_many_more_ratings_each_stratum_needs(labels: str, capsys: pytest.CaptureFixture[str]) -> None:
    table = rows(printed(capsys, "prevalence", "--labels", labels, "--plan", "0.1", "--format", "csv"))
    assert [(row["stratum"], int(row["rated"])) for row in table] == [("CONSISTENT", 2), ("DIVERGENT", 2)]


def test_an_unreadable_file_ends_with_exit_code_two_and_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agreement", "--labels", str(tmp_path / "nowhere.csv")]) == 2
    assert capsys.readouterr().err.startswith(f"audit: {tmp_path / 'nowhere.csv'}: cannot be read as a CSV table")


def test_prevalence_without_a_design_says_what_to_add(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "labels.csv").write_text("item_id,annotator_a,annotator_b,judge\nx,ABSENT,ABSENT,ABSENT\n")
    assert main(["prevalence", "--labels", str(tmp_path / "labels.csv")]) == 2
    assert "it has no column design_weight" in capsys.readouterr().err


def test_the_share_if_annotators_are_wrong_together_is_printed_for_the_chosen_label(
    labels: str, capsys: pytest.CaptureFixture[str]
) -> None:
    table = rows(printed(capsys, "prevalence", "--labels", labels, "--wrong-together", "--label", "DIVERGENT", "--format", "csv"))
    assert [float(row["wrong"]) for row in table] == [0, 0.02, 0.05, 0.1]


def test_ratings_of_a_file_are_not_pooled_with_a_study(labels: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prevalence", "--labels", labels, "--pool", "v2"]) == 2
    assert "--pool requires --study" in capsys.readouterr().err


def test_macro_f1_over_the_labels_in_play_has_an_interval(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = (
        ["CONSISTENT,CONSISTENT,CONSISTENT"] * 12 + ["DIVERGENT,DIVERGENT,DIVERGENT"] * 8 + ["DIVERGENT,DIVERGENT,CONSISTENT"] * 4
    )
    path = tmp_path / "two.csv"
    path.write_text("item_id,annotator_a,annotator_b,judge\n" + "\n".join(f"i{n},{line}" for n, line in enumerate(lines)))

    def macro(*options: str) -> dict[str, str]:
        table = rows(printed(capsys, "agreement", "--labels", str(path), "--format", "csv", *options))
        return next(row for row in table if row["name"] == "f1_macro" and row["first"] == "majority")

    expected = (24 / 28 + 16 / 20) / 2  # F1 of CONSISTENT and of DIVERGENT
    every, declared = macro(), macro("--in-play", "consistent,divergent")
    assert float(every["value"]) == float(declared["value"]) == pytest.approx(expected)
    assert (every["low"], declared["note"]) == ("", "")
    assert "never gave ABSENT, COMPLEMENTARY, CONTRADICTORY" in every["note"]
    assert float(declared["low"]) < expected < float(declared["high"])
    assert main(["agreement", "--labels", str(path), "--in-play", "SAME"]) == 2
    assert "'SAME' is not a label" in capsys.readouterr().err


def test_the_report_says_how_many_ratings_the_file_has_and_which_are_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "tasks.json"
    answer = [{"from_name": "label", "value": {"choices": ["ABSENT"]}}]
    annotations = [{"completed_by": name, "result": answer, "was_cancelled": name == "eve"} for name in ("ana", "ben", "eve")]
    file.write_text(json.dumps([{"id": 7, "data": {"ward": "north"}, "annotations": annotations}]))
    data = json.loads(printed(capsys, "agreement", "--labels", str(file), "--format", "json"))
    assert data["file"] == {"in_file": 3, "used": 2, "left_out": {"cancelled": 1}, "unused_columns": ["ward"]}
    text = printed(capsys, "agreement", "--labels", str(file))
    assert "Ratings: 3 in the file; 2 used; 1 left out: cancelled." in text
    assert "Columns that were not used: ward." in text
