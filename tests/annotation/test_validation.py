"""What a study adds to an export: the validation tables, through the one command."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from audit.charts.figure_files import NoPicturesError
from audit.cli.main import main
from tests.support.llm.fault_server import fault_server

STUDY = "demo-finished"


@pytest.fixture(autouse=True)
def _without_pictures(in_demo: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: object) -> None:
        raise NoPicturesError("no Chromium here")

    monkeypatch.setattr("audit.exports.package.pictures", none)


@pytest.fixture(scope="module")
def exported(demo: Path) -> Path:
    return export(demo, demo / "exported", "--compare", "paper")


@pytest.fixture(scope="module")
def limited(demo: Path) -> Path:
    """The validation alone."""
    return export(demo, demo / "limited", "--only", "validation")


def export(demo: Path, out: Path, *options: str) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUDIT_DATA_DIR", str(demo))
        patch.setattr("audit.exports.package.pictures", lambda _: ({}, {}))
        assert main(["export", "--study", STUDY, *options, "--out", str(out)]) == 0
    return out


def table(exported: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(exported / "tables" / "csv" / f"{name}.csv")


def test_every_table_with_intervals_says_in_a_column_what_they_speak_of(exported: Path):
    tables = {path.stem: pd.read_csv(path) for path in (exported / "tables" / "csv").glob("*.csv")}
    with_intervals = {name for name, frame in tables.items() if any(column.endswith(", 95 % low") for column in frame)}
    silent = {name for name in with_intervals if not any("speak" in column for column in tables[name])}
    assert len(with_intervals) > 20
    # Its two columns of intervals are there to be compared, and their headings say of what each speaks.
    assert silent == set()


def test_the_sample_table_has_the_sizes_and_weight_of_every_stratum(exported: Path):
    frame = table(exported, "study_sample")
    size, items = frame["N_h (pairs of the run)"], frame["n_h (items)"]
    assert items.sum() == 200
    assert (size / items).tolist() == pytest.approx(frame["Weight (N_h / n_h)"].tolist())
    assert frame["Share (of the pairs)"].sum() == pytest.approx(1)


def test_the_matrix_of_the_run_is_that_of_the_sample_weighted(exported: Path):
    sample, run = (table(exported, f"study_confusion_gold_judge{end}").set_index("gold") for end in ("", "_run"))
    weights = table(exported, "study_sample").set_index("Stratum (judge's label)")["Weight (N_h / n_h)"]
    assert sample.to_numpy().sum() == 200
    assert run["divergent"].tolist() == [round(n * weights["divergent"]) for n in sample["divergent"]]


def test_every_number_of_the_paragraphs_is_in_the_tables(exported: Path):
    text = (exported / "methods_and_results.md").read_text("utf-8").replace("\N{NO-BREAK SPACE}", " ")
    assert all(heading in (exported / "report.html").read_text("utf-8") for heading in ("<h3>Methods</h3>", "<h3>Results</h3>"))
    for row in table(exported, "study_sample").itertuples(index=False):
        assert f"{row[2]:,} of {row[1]:,} {row[0]}" in text
    steps = table(exported, "study_flow").set_index("Step")["n (items)"]
    agreed, decided = steps["agreed"], steps["adjudicated"]
    assert f"Of {steps['drawn']} items drawn, {steps['rated by at least two annotators']} were rated" in text
    assert f"agreed on {agreed}; {decided} were adjudicated." in text
    assert steps["drawn"] == agreed + decided
    for name, figure, words in (
        ("study_agreement", "raw agreement", "gave the same label to"),
        ("study_agreement_gold", "accuracy", "gave the gold label to"),
    ):
        own = table(exported, name).set_index("Figure")
        raw, kappa = (own.loc[[key]].iloc[0] for key in (figure, "Cohen's kappa, quadratic weights"))
        assert f"{words} {round(raw['Sample'] * raw['n (items)'])} of {raw['n (items)']} items (" in text
        # Of the run, because the mixture of labels in the sample is that of its design
        value, low, high = (kappa[f"Run (weighted){end}"] for end in ("", ", 95 % low", ", 95 % high"))
        assert (
            f"Weighted to the run: Cohen's kappa, quadratic weights {value:.2f} (95 % interval {low:.2f} to {high:.2f})" in text
        )
    assert "Cohen's kappa, disagrees or not" in text
    assert not any(word in text for word in ("almost perfect", "substantial", "moderate"))
    calibrated = table(exported, "study_calibration").iloc[0]
    share, kappa = calibrated["Same label"], calibrated["Kappa"]
    assert f"Same label: {100 * share:.0f} % of {calibrated['n (items)']} calibration items" in text
    assert f"quadratic weights {kappa:.2f} (95 % interval {calibrated['Kappa, 95 % low']:.2f} to" in text
    assert "The protocol asks for 70 % and a kappa of 0.6: " in text
    calls = table(exported, "study_by_label_gold").query("Figure == 'precision'")
    worst = calls.loc[calls["Sample"].idxmin()]
    assert f"where it says {worst['Label']}: {round(worst['Sample'] * worst['n (items)'])} of {worst['n (items)']}" in text
    share = table(exported, "study_prevalence").set_index("Label").loc["disagrees"]
    low, high = (100 * share[f"Corrected (share of the run), 95 % {end}"] for end in ("low", "high"))
    assert f"{100 * share['Corrected (share of the run)']:.1f} % of all pairs of the run disagree" in text
    assert f"95 % interval {low:.1f} to {high:.1f} %" in text
    judge = share["Judge's own (share)"]
    assert f"The judge says {100 * judge:.1f} %" in text


def test_no_table_mixes_the_majority_with_gold(exported: Path):
    for path in (exported / "tables" / "csv").glob("study_*.csv"):
        frame = pd.read_csv(path)
        named = frame.get("Reference standard", frame.get("Between", pd.Series(dtype=str))).astype(str)
        assert not (named.str.contains("gold").any() and named.str.contains("majority").any()), path.name
    assert [name for name in table(exported, "study_statistics").columns if "majority" in name] == []


def test_the_package_can_be_limited_to_the_validation(limited: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    names = {path.name for path in (limited / "tables" / "csv").iterdir()}
    assert all(name.startswith("study_") for name in names)
    assert {"study_flow.csv", "study_ratings.csv", "study_codebook.csv", "study_calibration.csv", "study_repeats.csv"} <= names
    assert "--only validation --out" in json.loads((limited / "manifest.json").read_text())["command"]
    assert [path.name for path in limited.rglob("*.xlsx")] == ["all_tables.xlsx"]
    assert [path.name for path in limited.rglob("plotly*.js")] == ["plotly.min.js"]
    assert main(["export", "--only", "validation", "--out", str(tmp_path / "none")]) == 2
    assert "--only validation requires --study" in capsys.readouterr().err


def test_the_errors_by_kind_are_those_off_the_diagonal(exported: Path):
    errors, matrix = table(exported, "study_errors"), table(exported, "study_confusion_majority_judge")
    cells = matrix.set_index("the majority")
    off = cells.to_numpy().sum() - sum(cells.loc[label, label] for label in cells.columns)
    assert errors.loc[errors["Reference standard"] == "the majority", "n (items)"].sum() == off


def test_the_tables_match_the_agreement_command(exported: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["agreement", "--study", STUDY, "--format", "json"]) == 0
    figures = pd.DataFrame(json.loads(capsys.readouterr().out)["figures"])
    chosen = figures[(figures["first"] == "majority") & (figures["name"] == "accuracy")].set_index("scope")["value"]
    frame = table(exported, "study_agreement")
    row = frame[(frame["Between"] == "the majority and the judge") & (frame["Figure"] == "accuracy")].iloc[0]
    assert (row["Sample"], row["Run (weighted)"]) == pytest.approx((chosen["sample"], chosen["population"]))


def test_the_corrected_shares_add_up_and_are_listed_with_the_judges_own(exported: Path):
    frame = table(exported, "study_prevalence").set_index("Label")
    labels = frame.drop("disagrees")
    assert labels["Corrected (share of the run)"].sum() == pytest.approx(1)
    assert labels["Judge's own (share)"].sum() == pytest.approx(1)


def test_the_published_validation_figures_are_listed_with_those_of_the_study(exported: Path):
    frame = table(exported, "published").set_index("Figure")
    assert frame.loc["Validation sample, items", "Verdict"] == "agrees"
    unknown = frame[(frame["Printed in"] == "section 5.1") & (frame["Verdict"] == "cannot be computed")]
    assert unknown.index.tolist() == ["Judge and annotators on clinical significance, Cohen's kappa"]
    assert unknown.iloc[0]["Criterion or reason"].startswith("Each annotator has a figure")


def test_the_manifest_names_the_study_its_seed_and_its_ledger_heads(exported: Path):
    manifest = json.loads((exported / "manifest.json").read_text("utf-8"))
    assert manifest["command"].startswith(f"audit export --study {STUDY} --run demo@")
    assert manifest["study"]["study_id"] == STUDY
    assert manifest["study"]["plan"]["seed"] >= 0
    assert all(len(head["last"]) == 64 for head in manifest["study"]["ledgers"].values() if head["entries"])
    assert manifest["study"]["ledgers"]["study_events"]["entries"] == 6  # created, sampled, 3 changes of state, leakage


def test_the_study_is_verified_against_the_package(exported: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["study", "verify", STUDY, "--against", str(exported)]) == 0
    assert "sealed is there and unchanged" in capsys.readouterr().out


def test_no_annotator_is_named_in_the_package(exported: Path):
    texts = [path.read_text("utf-8") for path in exported.rglob("study_*.md")] + [(exported / "report.html").read_text("utf-8")]
    assert not any("Ana (" in text or "Ben (" in text for text in texts)
    rated = table(exported, "study_ratings")
    assert set(rated["Annotator"]) == {"A", "B"}
    assert len(rated) == 2 * (200 + 10 + 10)


def test_an_unfinished_study_says_that_its_figures_are_not_final(tmp_path: Path):
    assert main(["export", "--study", "demo-running", "--only", "validation", "--out", str(tmp_path / "out")]) == 0
    assert "not final" in (tmp_path / "out" / "tables" / "markdown" / "study_agreement.md").read_text("utf-8")
    assert "these figures are not final" in (tmp_path / "out" / "methods_and_results.md").read_text("utf-8")


def test_a_study_is_not_exported_with_another_run(
    demo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    again = tmp_path / "again"
    with fault_server() as server:
        monkeypatch.setenv("AUDIT_JUDGE_URL", server.url)
        assert main(["judge", "demo", "--pairs", "sample:3", "--out", str(again), "--load"]) == 0
    assert main(["export", "--study", STUDY, "--run", "again", "--out", str(tmp_path / "out")]) == 2
    assert "was not drawn from run again@" in capsys.readouterr().err


def test_computed_again_each_file_of_the_validation_is_the_same(exported: Path, limited: Path):
    """That the same command writes the same files for every other part of a run is tested in tests/exports/test_package.py."""
    parts = [path.relative_to(limited) for folder in ("tables", "figures") for path in (limited / folder).rglob("*.*")]
    own = [part for part in parts if part.stem != "all_tables"]
    assert len(own) > 60
    assert [part for part in own if (limited / part).read_bytes() != (exported / part).read_bytes()] == []
