"""From replies to a release: every pair has a label or a reason, pairs that were not asked are left out, and it loads clean."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audit.errors import AuditError
from audit.pipeline.judging.release import check_output_folder, write_judged_release
from audit.pipeline.judging.verdict_sources import ModelVerdicts
from audit.pipeline.llm.calls import FAILED, REFUSED
from audit.pipeline.llm.tasks import ask_stages
from audit.release.journal_files import Reply
from tests.pipeline.judging.corpora import Judge, Shelf, corpus, protocol, texts, verdict
from tests.support.loading import load, quarantined

LABELS = {"Wait 12 months.": "DIVERGENT", "Ask Birch Clinic.": "ABSENT", "Ask [name].": "COMPLEMENTARY"}


def say(call):
    fields = texts(call)
    return verdict(LABELS.get(fields["answer_b"], "CONTRADICTORY"), "high")


def judged(tmp_path: Path, chosen, of=None, say=say) -> tuple[Path, ModelVerdicts]:
    of, shelf = of or corpus(), Shelf()
    task = chosen.task(of)
    ask_stages(task, shelf.latest, Judge(shelf.put, say))
    source = ModelVerdicts(chosen, of, shelf.latest)
    root = tmp_path / "again"
    return write_judged_release(root, of, source, judge=chosen.model, settings=task.plan(), date="2026-11-21"), source


def pairs(root: Path, question: str) -> dict[str, dict]:
    record = json.loads((root / "comparisons" / f"{question}.json").read_text())
    return {pair["handbook_a"] + pair["handbook_b"]: pair for pair in record["pairs"]}


def manifest(root: Path) -> dict:
    return json.loads((root / "manifest.json").read_text())


def test_a_judged_run_is_a_release_that_loads_completely(tmp_path):
    root, _ = judged(tmp_path, protocol(swap=True, blind=True, repeats=1))
    loaded = load(root, tmp_path / "data")
    assert quarantined(loaded) == []
    assert loaded.run.report["clean"]
    assert (loaded.run.run_id, loaded.run.synthetic, loaded.run.terms) == ("again", True, {"handbook": "leaflet"})


def test_every_pair_has_its_label_its_tokens_and_its_time(tmp_path):
    root, _ = judged(tmp_path, protocol())
    assert {name: pair["classification"] for name, pair in pairs(root, "q1").items()} == {
        "ab": "DIVERGENT", "ac": "ABSENT", "bc": "ABSENT", "ad": "ABSENT", "bd": "ABSENT", "cd": "ABSENT",
    }  # fmt: skip
    assert pairs(root, "q1")["ab"]["judge_metadata"] == {
        "input_tokens": 100, "output_tokens": 10, "cached_tokens": 64, "latency_s": 0.5, "parse": "strict",
        "prompt": protocol().prompts["structured"].title,
    }  # fmt: skip
    assert pairs(root, "q1")["ad"]["judge_metadata"] is None  # pre-screened: nobody was asked


def test_the_manifest_tells_who_judged_and_how(tmp_path):
    root, _ = judged(tmp_path, protocol())
    fields = manifest(root)
    assert (fields["judge"], fields["pairs_judged"], fields["pairs"]) == ("tiny-model", 3 + 3, 6 + 6)
    assert fields["judge_settings"]["source_digest"] == "d" * 64
    assert fields["judge_settings"]["prompts"] == {"structured": protocol().prompts["structured"].title}
    assert (fields["judge_settings"]["unscored"], fields["judge_settings"]["parse"]) == ({}, {"strict": 6})


def test_checks_are_recorded_beside_the_verdict_and_do_not_change_it(tmp_path):
    root, _ = judged(tmp_path, protocol(swap=True, blind=True, repeats=2))
    ac = pairs(root, "q1")["ac"]
    assert ac["classification"] == "ABSENT"
    assert [(c["kind"], c["number"], c["classification"], c["clinical_significance"], c["parse"]) for c in ac["checks"]] == [
        ("repeat", 1, "ABSENT", None, "strict"),
        ("repeat", 2, "ABSENT", None, "strict"),
        ("swap", 1, "CONTRADICTORY", "high", "strict"),
        ("blind", 1, "COMPLEMENTARY", None, "strict"),
    ]
    assert "blind" not in {check["kind"] for check in pairs(root, "q1")["ab"]["checks"]}  # no name in either text


def test_an_unparseable_reply_leaves_its_pair_unscored_with_the_reason(tmp_path):
    def faulty(call):
        fields = texts(call)["answer_b"]
        replies = {"Wait 12 months.": "Either.", "Ask Birch Clinic.": Reply(call.key, REFUSED, status=400, error="too long")}
        return replies.get(fields, Reply(call.key, FAILED, error="status 500"))

    root, source = judged(tmp_path, protocol(), say=faulty)
    assert pairs(root, "q1")["ab"]["classification"] is None
    assert pairs(root, "q1")["ab"]["judge_metadata"]["unscored_reason"] == "no label"
    assert manifest(root)["judge_settings"]["unscored"] == {"no label": 1, "refused": 2, "failed": 3}
    assert source.summary.counts["judged"] == 6
    assert quarantined(load(root, tmp_path / "data")) == []


def test_a_pair_that_was_never_asked_is_in_no_file(tmp_path):
    of, chosen = corpus(), protocol()
    source = ModelVerdicts(chosen, of, Shelf().latest)
    root = write_judged_release(tmp_path / "again", of, source, judge="m", settings={}, date="2026-11-21")
    assert set(pairs(root, "q1")) == {"ad", "bd", "cd"}
    assert manifest(root)["judge_settings"]["not_asked"] == 6


def test_pairs_of_an_answer_whose_absence_is_unknown_are_unscored_and_not_absent(tmp_path):
    def say(call):
        if call.purpose == "absence":
            return "perhaps" if texts(call)["answer"] == "No." else '{"addressed": "YES"}'
        return verdict("CONSISTENT")

    root, _ = judged(tmp_path, protocol(absence="check"), say=say)
    assert {name: pair["classification"] for name, pair in pairs(root, "q2").items()} == {
        "ab": None, "ac": "CONSISTENT", "bc": None, "ad": "ABSENT", "bd": "ABSENT", "cd": "ABSENT",
    }  # fmt: skip
    assert pairs(root, "q2")["ab"]["judge_metadata"] == {"parse": "none", "unscored_reason": "absence unknown: no label"}
    assert manifest(root)["judge_settings"]["unscored"] == {"absence unknown: no label": 2}


def test_an_answer_that_is_found_absent_is_written_as_absent(tmp_path):
    def say(call):
        return '{"addressed": "NO"}' if call.purpose == "absence" and "Ask" in texts(call)["answer"] else verdict("CONSISTENT") \
            if call.purpose == "structured" else '{"addressed": "YES"}'  # fmt: skip

    root, _ = judged(tmp_path, protocol(absence="check"), say=say)
    answers = [json.loads(line) for line in (root / "answers.jsonl").read_text().splitlines()]
    assert [(a["handbook_id"], a["absent"], a["absence_method"]) for a in answers if a["question_id"] == "q1"] == [
        ("a", False, None), ("b", False, None), ("c", True, "check"), ("d", True, "prefix"),
    ]  # fmt: skip
    assert pairs(root, "q1")["ac"]["classification"] == "ABSENT"
    assert pairs(root, "q1")["ac"]["judge_metadata"] is None


def test_label_only_takes_topic_and_significance_from_the_second_call(tmp_path):
    def say(call):
        if call.purpose == "extract":
            return '{"divergence_topic": "waiting time", "clinical_significance": "medium"}'
        return json.dumps({"classification": LABELS.get(texts(call)["answer_b"], "CONSISTENT")})

    root, _ = judged(tmp_path, protocol("label_only"), say=say)
    ab = pairs(root, "q1")["ab"]
    assert (ab["classification"], ab["divergence_topic"], ab["clinical_significance"]) == ("DIVERGENT", "waiting time", "medium")
    assert ab["judge_metadata"]["input_tokens"] == 100 + 100
    assert ab["judge_metadata"]["prompt"].split()[1].startswith("extract-2@")


def test_label_only_names_what_a_complementary_pair_adds_without_a_significance(tmp_path):
    def say(call):
        if call.purpose == "extract":
            return '{"divergence_topic": "waiting time", "clinical_significance": "medium"}'
        return json.dumps({"classification": "COMPLEMENTARY"})

    root, _ = judged(tmp_path, protocol("label_only"), say=say)
    ab = pairs(root, "q1")["ab"]
    assert (ab["classification"], ab["divergence_topic"], ab["clinical_significance"]) == ("COMPLEMENTARY", "waiting time", None)


def test_a_question_whose_id_names_another_folder_stays_in_the_release(tmp_path):
    by_question = {"../../q/1": {"a": "x", "b": "y"}, "q" * 300: {"a": "x", "b": "y"}}
    root, _ = judged(tmp_path, protocol(), corpus(by_question))
    assert [path.name for path in tmp_path.iterdir()] == ["again"]
    loaded = load(root, tmp_path / "data")
    assert quarantined(loaded) == []
    assert loaded.run.report["clean"]


def test_a_folder_with_other_files_is_not_overwritten(tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(AuditError, match="does not contain an earlier judgement"):
        check_output_folder(tmp_path)
    root, _ = judged(tmp_path, protocol())
    check_output_folder(root)
    check_output_folder(tmp_path / "nothing")


@pytest.mark.parametrize("manifest_text", ['{"judge_settings": {"model": "m"}}', '{"judge_settings": null}', "no JSON", "[]"])
def test_a_release_of_another_origin_is_never_overwritten_although_it_names_its_judge(tmp_path, manifest_text):
    (tmp_path / "manifest.json").write_text(manifest_text)
    with pytest.raises(AuditError, match="does not contain an earlier judgement"):
        check_output_folder(tmp_path)
