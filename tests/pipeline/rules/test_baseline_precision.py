"""The measured precision of the baseline judge: read from one file, and shown where its verdicts are."""

from __future__ import annotations

import json

import pytest

from audit.cli.main import main
from audit.pipeline.rules.labels.precision import measured_precision, precision_record, precision_text
from audit.previews import UNKNOWN_PRECISION as UNKNOWN
from audit.previews import MeasuredPrecision, precision_sentences
from audit.vocabulary import DISAGREEING
from audit.vocabulary import RULES_JUDGE as NAME
from benchmarks.baseline_judge import counted, measure_nih, measure_read

ROW = {
    "source": "Leaflets", "date": "2031-02-03", "pairs": 1200, "abstained": 4,
    "shown": {"DIVERGENT": 10, "CONTRADICTORY": 0}, "right": {"DIVERGENT": 8, "CONTRADICTORY": 0},
}  # fmt: skip


def test_a_sentence_has_the_counts_and_the_interval_and_an_unused_label_is_unknown_not_perfect():
    # Wilson's interval of 8 of 10: 0.49 to 0.94
    assert MeasuredPrecision(**ROW).sentence == (
        "Leaflets, 1,200 pairs, abstained on 4 (2031-02-03): DIVERGENT was right in 8 of 10 (80 %, 95 % interval 49 to 94 %); "
        "CONTRADICTORY was never given, so its precision is unknown."
    )


def test_the_file_has_a_source_a_date_and_counts_that_fit():
    assert len(measured_precision()) >= 3
    for row in measured_precision():
        assert row.source
        assert row.date.count("-") == 2
        assert all(0 <= row.right[label] <= row.shown[label] <= row.pairs - row.abstained for label in map(str, DISAGREEING))


def test_a_manifest_keeps_the_figures_of_its_own_rules():
    assert precision_sentences({"judge_settings": {"precision": [ROW]}}) == [MeasuredPrecision(**ROW).sentence]
    assert precision_sentences({"judge_settings": {"precision": json.loads(json.dumps(precision_record()))}}) == [
        row.sentence for row in measured_precision()
    ]


@pytest.mark.parametrize("settings", [None, {}, {"precision": 3}, {"precision": [{"source": "x"}]}, "rules"])
def test_a_manifest_without_figures_says_that_they_are_unknown(settings):
    assert precision_sentences({"judge_settings": settings}) == [UNKNOWN]


def test_the_counts_of_pairs_with_a_reference():
    text = counted("x", [("DIVERGENT", "CONTRADICTORY"), ("DIVERGENT", "CONSISTENT"), (None, "DIVERGENT"), ("ABSENT", "ABSENT")])
    assert (
        "pairs = 4\nabstained = 1\nshown = {DIVERGENT = 2, CONTRADICTORY = 0}\nright = {DIVERGENT = 1, CONTRADICTORY = 0}" in text
    )


def test_rows_that_a_person_read_are_counted_and_open_ones_refused(tmp_path):
    (tmp_path / "a.csv").write_text("question_id,label,right\nq1,DIVERGENT,yes\nq2,CONTRADICTORY,no\n")
    assert "right = {DIVERGENT = 1, CONTRADICTORY = 0}" in measure_read(tmp_path / "a.csv", 10, 0, "x")
    (tmp_path / "b.csv").write_text("question_id,label,right\nq7,DIVERGENT,\n")
    with pytest.raises(SystemExit, match="q7"):
        measure_read(tmp_path / "b.csv", 10, 0, "x")


def test_the_file_says_what_the_nih_release_gives_today(nih):
    measured = measure_nih(nih)
    for row in measured_precision()[:2]:
        assert f"pairs = {row.pairs}\nabstained = {row.abstained}\n" in measured
        assert f"shown = {{DIVERGENT = {row.shown['DIVERGENT']}, CONTRADICTORY = {row.shown['CONTRADICTORY']}}}" in measured
        assert f"right = {{DIVERGENT = {row.right['DIVERGENT']}, CONTRADICTORY = {row.right['CONTRADICTORY']}}}" in measured


def test_the_command_prints_it_and_the_manifest_keeps_it(release, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    assert main(["load", str(release)]) == 0
    capsys.readouterr()
    assert main(["judge", "tiny", "--baseline", "--out", str(tmp_path / "judged")]) == 0
    assert precision_text() in capsys.readouterr().out
    manifest = json.loads((tmp_path / "judged" / "manifest.json").read_text())
    assert manifest["judge"] == NAME
    assert manifest["judge_settings"]["precision"] == precision_record()
