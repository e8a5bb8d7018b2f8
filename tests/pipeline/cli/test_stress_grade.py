"""`audit stress grade`: answers to sub-questions and open questions graded, each different one once."""

from __future__ import annotations

import json

import pytest

from audit.cli.main import main
from audit.metrics.stress import stress_curves
from audit.store.connection import open_store, rows
from tests.support.loading import load
from tests.support.stress import built_release, replies_in


def stress_run(folder, *options):
    return main(["stress", "run", str(folder), *options])


def test_short_answers_are_graded_once_and_exact_ones_without_a_call(tmp_path, model_server, capsys):
    folder = built_release(tmp_path / "release")
    stress_run(folder, "--readers", "oracle", "coin")
    capsys.readouterr()
    assert main(["stress", "grade", str(folder), "--dry-run", "--json"]) == 0
    # "3 days" is right; the coin also says "9 days" where an error was planted, and "unknown" elsewhere
    estimated = json.loads(capsys.readouterr().out)
    assert model_server.asked == 0
    assert main(["stress", "grade", str(folder), "--systems", "coin"]) == 0
    assert "0 unreadable, 0 not asked" in capsys.readouterr().out
    asked = model_server.asked
    users = {body["messages"][-1]["content"] for body in model_server.bodies}
    prompts = [user for user in users if "<right_answer>" in user]
    assert estimated["stages"][0]["calls"] == estimated["answers"] - estimated["exact"] == len(prompts) == 2
    graded = [entry for record in replies_in(folder, "coin").values() for entry in record["sub_answers"]]
    assert {entry["score"] for entry in graded if entry["answer"] == "3 days"} <= {1.0}
    assert all(entry["score"] in (0, 0.5, 1) for entry in graded)
    assert not any("score" in entry for record in replies_in(folder, "oracle").values() for entry in record["sub_answers"])
    loaded = load(folder, tmp_path / "data")
    assert loaded.run.report["clean"]
    with open_store(loaded.run.path) as con:
        assert set(stress_curves(con).query("measure == 'sub_score'")["system_id"]) == {"coin"}
        assert rows(con, "select settings ->> 'graded_by' from systems where system_id = 'coin'") == [("judge-2",)]
    assert main(["stress", "grade", str(folder), "--systems", "coin"]) == 0
    assert model_server.asked == asked


@pytest.mark.parametrize(
    ("options", "sentence"), [(["--systems", "coyn"], "Did you mean 'coin'?"), ([], "has no answer that can be graded")]
)
def test_nothing_to_grade_is_said_before_anything_is_asked(tmp_path, model_server, options, sentence, capsys):
    folder = built_release(tmp_path / "release")
    stress_run(folder, "--readers", "coin" if options else "insufficient")
    assert main(["stress", "grade", str(folder), *options]) == 2
    assert sentence in capsys.readouterr().err
    assert model_server.asked == 0


def test_a_grade_that_cannot_be_read_counts_nowhere(tmp_path, model_server, capsys):
    folder = built_release(tmp_path / "release", questions=1)
    stress_run(folder, "--readers", "oracle")
    lines = [json.loads(line) for line in (folder / "stress_replies.jsonl").read_text().splitlines()]
    for record, answer in zip((one for one in lines if one["sub_answers"]), ("fault:prose", "Half of that."), strict=True):
        record["sub_answers"] = [entry | {"answer": answer} for entry in record["sub_answers"][:1]]
    (folder / "stress_replies.jsonl").write_text("".join(json.dumps(record) + "\n" for record in lines))
    assert main(["stress", "grade", str(folder)]) == 1
    assert "2 different answers: 0 exact, 1 graded, 1 unreadable, 0 not asked." in capsys.readouterr().out
    scores = [entry["score"] for record in replies_in(folder, "oracle").values() for entry in record["sub_answers"]]
    assert sorted(scores, key=str) == sorted([None, *(score for score in scores if score is not None)], key=str)
    assert scores.count(None) == 1


def test_answers_to_open_questions_are_graded_and_declining_has_nothing(tmp_path, model_server):
    folder = built_release(tmp_path / "release", questions=2, options={}, gold="3 days")
    assert stress_run(folder, "--tests", "standard", "sufficiency") == 0
    assert main(["stress", "grade", str(folder)]) == 0
    graded = replies_in(folder)
    assert all(record["score"] in (0, 0.5, 1) for record in graded.values() if record["choice"])
    loaded = load(folder, tmp_path / "data")
    assert loaded.run.report["clean"]
    with open_store(loaded.run.path) as con:
        curves = stress_curves(con).query("measure == 'open_score' and test == 'standard'").set_index("system_id")
    assert curves.loc["judge-2", "value"] == pytest.approx(sum(graded[f"q{n}-standard-50"]["score"] for n in (0, 1)) / 2)
