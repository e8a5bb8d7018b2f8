"""`audit judge align`: a study divided once, versions that cannot have seen the proof, and their figures, from start to end."""

from __future__ import annotations

import csv
import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from annotation.label_store.assignments import Choice, list_tasks
from annotation.label_store.engine import LabelStore, StudyError, open_label_store
from annotation.label_store.ratings import NewRating, submit_rating
from annotation.label_store.results import NewDecision, submit_decision
from annotation.label_store.seals import record_study_event
from annotation.label_store.studies import ItemKind, StudyState, advance_study
from annotation.label_store.study_creation import NewItem, NewStudy, create_study
from annotation.studies.adjudication import close_study, list_disputes
from annotation.studies.learnt import MIN_LEARN, VERSION, learnt_from, left_out_note, split_of, split_study, versions_of
from annotation.studies.sample_plan import SamplePlan
from annotation.studies.sampling import draw_study
from annotation.studies.study_tables import labels_table, study_ratings
from annotation.studies.verdict_store import SampleOrigin, StoredVerdict, Stratum, store_sample
from annotation.studies.verification import verify_study
from audit.cli.main import main
from audit.exports.text_writers import csv_bytes
from audit.jobs.aligning import alignment_job, proposal_of, start_alignment
from audit.jobs.processes import find_job
from audit.jobs.table import JobState
from audit.pipeline.llm.foreign_text import escaped
from audit.settings import Settings
from audit.store.connection import open_store, rows
from audit.store.load import load_release
from audit.store.runs import Run
from audit.vocabulary import DISAGREEING, LABELS, Label
from tests.support.llm.fault_server import FaultServer, fault_server
from tests.support.llm.faults import completion
from tests.support.studies import NOW, people
from tests.support.tiny import release_from

PAIRS_SQL = """
select q.question_id, q.text, a.handbook_id, b.handbook_id, x.answer, y.answer
from pairs p join questions q using (question)
join handbooks a on a.handbook = p.handbook_a join handbooks b on b.handbook = p.handbook_b
join answers x on x.question = p.question and x.handbook = p.handbook_a
join answers y on y.question = p.question and y.handbook = p.handbook_b
"""
Row = dict[str, str]
"""A row of a labels file: question_id, handbook_a, handbook_b, stratum, design_weight, judge, annotator_a, annotator_b."""


def study_from(store: LabelStore, run: Run, table: Sequence[Row], study_id: str = "s") -> None:
    """A closed study of pairs of a run with these labels; where the two differ, annotator A's label is decided."""
    with open_store(run.path) as con:
        texts = {(q, frozenset((a, b))): (text, a, b, x, y) for q, text, a, b, x, y in rows(con, PAIRS_SQL)}
    people(store, "ana", "ben")
    people(store, "dora", role="adjudicator")
    items, verdicts = [], []
    sampled = Counter(row["stratum"] for row in table)
    for number, row in enumerate(table):
        text, a, b, x, y = texts[row["question_id"], frozenset((row["handbook_a"], row["handbook_b"]))]
        item_id = f"{study_id}{number:03}"
        items.append(NewItem(item_id, ItemKind.STUDY, row["question_id"], text, a, b, a, b, x or "", y or ""))
        verdicts.append(StoredVerdict(item_id, row["stratum"], row["judge"], None, None, None))
    size = {row["stratum"]: round(float(row["design_weight"]) * sampled[row["stratum"]]) for row in table}
    strata = [Stratum(name, name, None, size[name], count) for name, count in sampled.items()]
    with store.begin() as tx:
        create_study(tx, NewStudy(study_id, "A study", ("ana", "ben"), items, 5), NOW)
        store_sample(tx, study_id, SampleOrigin(run.key, run.digest, sum(size.values()), 0, {}), strata, verdicts)
    _rate_and_close(store, study_id, {item.item_id: row for item, row in zip(items, table, strict=True)})


def _rate_and_close(store: LabelStore, study_id: str, labels: dict[str, Row]) -> None:
    for name, column in (("ana", "annotator_a"), ("ben", "annotator_b")):
        own = {row["seat_id"]: labels[row["item_id"]][column] for row in _seats(store, study_id) if row["annotator"] == name}
        for task in list_tasks(store, study_id, name):
            label = own[task.assignment_id]
            choice = Choice(label, "low" if label in DISAGREEING else None)
            submit_rating(store, name, NewRating(task.assignment_id, choice, f"k/{task.assignment_id}"), NOW)
    with store.begin() as tx:
        advance_study(tx, study_id, StudyState.LABELLING, NOW)
    for dispute in list_disputes(store, study_id):
        label = labels[dispute.item_id]["annotator_a"]
        significance = "low" if label in DISAGREEING else None
        decision = NewDecision(dispute.item_id, label, significance, "The figures differ.", dispute.item_id)
        submit_decision(store, "dora", decision, NOW)
    close_study(store, study_id, NOW)


def _seats(store: LabelStore, study_id: str) -> list[Any]:
    from annotation.label_store.results import assignment_rows

    return list(assignment_rows(store, study_id))


def learning_judge(server: FaultServer, store: LabelStore, study_id: str = "s") -> None:
    """Let a server judge the items of a study: right in three of five, and with examples in its prompt in nine of ten."""
    gold = labels_table(store, study_id, every=True).set_index("item_id")["gold"]
    items = {row["item_id"]: row for row in _seats(store, study_id)}
    texts = {name: tuple(escaped(row[part]) for part in ("question", "answer_a", "answer_b")) for name, row in items.items()}

    usual = server._normal_response

    def reply(body: dict[str, Any], came: float) -> web.Response:
        system, user = (str(body["messages"][place]["content"]) for place in (0, -1))
        if body.get("response_format", {}).get("json_schema", {}).get("name") == "rules":
            return web.json_response(completion(body, json.dumps({"rules": ["Two figures for one quantity are DIVERGENT."]})))
        # Where two items have the same texts, the last fits both
        found = [name for name, parts in texts.items() if all(part in user for part in parts)]
        if not found:  # a trial call
            return usual(body, came)
        right, number = Label(gold[found[-1]]), int(hashlib.sha256(f"{user}{len(system)}".encode()).hexdigest()[:8], 16)
        share = 90 if "Examples, with the label" in system else 60
        label = right if number % 100 < share else LABELS[(right.code + 1) % len(LABELS)]
        if (form := body["response_format"]["json_schema"]["name"]) in ("label_only", "extract"):
            short = (
                {"classification": label}
                if form == "label_only"
                else {"divergence_topic": "a figure", "clinical_significance": "low"}
            )
            return web.json_response(completion(body, json.dumps(short)))
        verdict = {
            "reasoning": "Read.", "quote_a": None, "quote_b": None, "classification": label, "divergence_topic": "a figure",
            "difference": "other amount", "follow_both": "no", "clinical_significance": "low",
        }  # fmt: skip
        return web.json_response(completion(body, json.dumps(verdict)))

    server._normal_response = reply  # type: ignore[method-assign]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    for name in ("URL", "MODEL", "KEY"):
        monkeypatch.delenv(f"AUDIT_JUDGE_{name}", raising=False)
    return tmp_path / "data"


@pytest.fixture
def store(data: Path) -> Iterator[LabelStore]:
    opened = open_label_store(Settings().studies_url)
    yield opened
    opened.close()


def tiny_study(store: LabelStore, tmp_path: Path, questions: int) -> Run:
    """A study of so many questions of a made-up run; the judge is wrong on every fourth."""
    lines = [f"q{n} kidney  ab=CONSISTENT" for n in range(questions)]
    run = load_release(release_from(tmp_path, "\n".join(lines)), Settings()).run
    table = [
        {
            "question_id": f"q{n}", "handbook_a": "a", "handbook_b": "b", "stratum": "CONSISTENT", "design_weight": "1",
            "judge": "CONSISTENT", "annotator_a": "DIVERGENT" if n % 4 == 0 else "CONSISTENT", "annotator_b": "CONSISTENT",
        }
        for n in range(questions)
    ]  # fmt: skip
    study_from(store, run, table)
    return run


def align(*options: str) -> int:
    return main(["judge", "align", "--study", "s", *options])


def test_a_question_is_on_one_side_only_and_the_parts_cannot_be_drawn_again(store, tmp_path, capsys):
    tiny_study(store, tmp_path, 36)
    assert align() == 0
    split = split_of(store, "s")
    assert (len(split.learn), len(split.prove)) == (12, 24)
    assert not set(split.learn) & set(split.prove)
    assert align("--seed", "2") == 2
    assert "was divided with the seed 1, which is sealed" in capsys.readouterr().err
    assert split_of(store, "s") == split
    assert verify_study(store, "s") == []
    (shipped,) = versions_of(store, "s")
    assert "{answer_b}" in shipped.text
    assert shipped.learnt == ()


def test_a_study_too_small_to_divide_is_refused_with_the_number_that_is_needed(store, tmp_path, capsys):
    tiny_study(store, tmp_path, 12)
    assert align() == 2
    assert f"has 12 questions with a gold label, and 30 are needed: {MIN_LEARN} to learn from and 20" in capsys.readouterr().err
    assert split_of(store, "s") is None


def test_an_open_study_is_not_divided(store, tmp_path):
    run = tiny_study(store, tmp_path, 2)
    item = NewItem("o1", ItemKind.STUDY, "q0", "Q?", "a", "b", "a", "b", "x", "y")
    with store.begin() as tx:
        create_study(tx, NewStudy("open", "Open", ("ana", "ben"), [item], 5), NOW)
        stratum, verdict = Stratum("ABSENT", "ABSENT", None, 1, 1), StoredVerdict("o1", "ABSENT", "ABSENT", None, None, None)
        store_sample(tx, "open", SampleOrigin(run.key, run.digest, 1, 0, {}), [stratum], [verdict])
    with pytest.raises(StudyError, match="is in the state labelling, and its labels may still change"):
        split_study(store, "open", None, NOW)


def _edited(tmp_path: Path, change: Callable[[str], str]) -> str:
    path = tmp_path / "version.md"
    assert align("--propose", str(path)) == 0
    path.write_text(change(path.read_text()))
    return str(path)


def test_a_version_that_has_seen_the_part_to_prove_on_is_refused(store, tmp_path, capsys):
    tiny_study(store, tmp_path, 36)
    file = _edited(tmp_path, lambda text: text)
    by_question = {row["question_id"]: row for row in _seats(store, "s")}
    proof = by_question[split_of(store, "s").prove[0]]
    leak = _edited(tmp_path, lambda text: text.replace("\nReply with", f"\n{{example:{proof['item_id']}}} look\n\nReply with", 1))
    assert align("--add", leak, "--name", "leak") == 2
    told = capsys.readouterr().err
    assert f"is of question '{proof['question_id']}', which is in the part to prove on: a version that has seen it" in told
    assert [version.name for version in versions_of(store, "s")] == ["shipped"]
    assert align("--add", file, "--name", "No Spaces") == 2
    assert "cannot name a version" in capsys.readouterr().err


def test_a_version_without_the_places_for_the_texts_is_refused(store, tmp_path, capsys):
    tiny_study(store, tmp_path, 36)
    assert align("--add", _edited(tmp_path, lambda text: text.replace("{answer_b}", "")), "--name", "v2") == 2
    assert "must contain, once each and in this order: {question} {answer_a} {answer_b}" in capsys.readouterr().err
    assert align("--add", _edited(tmp_path, lambda text: text.replace("{example:", "{example:x", 1)), "--name", "v2") == 2
    assert "is no item of this study" in capsys.readouterr().err
    assert len(versions_of(store, "s")) == 1


def test_a_version_of_another_protocol_is_judged_by_it_and_compared_with_the_first(store, data, tmp_path, monkeypatch, capsys):
    tiny_study(store, tmp_path, 36)
    path = tmp_path / "short.md"
    assert align("--propose", str(path), "--protocol", "label_only") == 0
    path.with_name("other.md").write_text(path.read_text().replace("name: label_only", "name: positions"))
    assert align("--add", str(path.with_name("other.md")), "--name", "other") == 2
    assert "its name is 'positions', but must be one of: structured, label_first, label_only" in capsys.readouterr().err
    assert align("--add", str(path), "--name", "short") == 0
    assert [version.protocol for version in versions_of(store, "s")] == ["structured", "label_only"]
    capsys.readouterr()
    with fault_server() as server:
        learning_judge(server, store)
        monkeypatch.setenv("AUDIT_JUDGE_URL", server.url)
        assert align("--judge", "--json") == 0
    figures = json.loads(capsys.readouterr().out)["figures"]
    assert {(row["version"], row["n"]) for row in figures if row["figure"] == "accuracy"} == {("shipped", 24), ("short", 24)}
    manifest = json.loads((data / "alignment" / "s" / "short" / "manifest.json").read_text())
    assert manifest["judge_settings"]["protocol"] == "label_only"
    full = {record["prompt"].partition("-")[0]: record for record in manifest["prompts"]}
    assert "Examples, with the label on which people decided" in full["label_only"]["system"]
    assert "{label}" in full["extract"]["user"]


def test_a_version_sealed_before_protocols_could_be_chosen_is_structured(store, tmp_path):
    tiny_study(store, tmp_path, 36)
    split_study(store, "s", None, NOW)
    body = {
        "name": "shipped",
        "digest": "0" * 12,
        "prompt": "structured-1@0",
        "text": "t",
        "examples": [],
        "learnt": [],
        "by": "p",
    }
    with store.begin() as tx:
        record_study_event(tx, "s", VERSION, body, NOW)
    assert [version.protocol for version in versions_of(store, "s")] == ["structured"]


def test_labels_that_a_version_has_learnt_from_are_in_no_figure_and_no_proof(store, tmp_path, capsys):
    tiny_study(store, tmp_path, 36)
    exported = tmp_path / "labels.csv"
    exported.write_bytes(csv_bytes(labels_table(store, "s")))
    assert align("--add", _edited(tmp_path, lambda text: text), "--name", "v2") == 0
    split = split_of(store, "s")
    assert set(learnt_from(store, "s")) == set(split.learn)
    assert len(study_ratings(store, "s").items) == 24
    assert left_out_note(store, ["s"]).startswith("12 of 36 items are left out: judge versions v2 have learnt from the labels")
    capsys.readouterr()
    assert main(["prevalence", "--study", "s"]) == 0
    assert "12 of 36 items are left out" in capsys.readouterr().err
    assert main(["agreement", "--labels", str(exported)]) == 2
    assert "12 of the items are of questions that judge versions of study 's' have learnt from" in capsys.readouterr().err


def test_a_study_of_a_run_that_a_version_judged_leaves_out_what_it_has_learnt(store, tmp_path):
    tiny_study(store, tmp_path, 36)
    assert align("--add", _edited(tmp_path, lambda text: text), "--name", "v2") == 0
    lines = "\n".join(f"q{n} kidney  ab=DIVERGENT" for n in range(36))
    prompts = [{"prompt": versions_of(store, "s")[1].prompt, "used_for": "judge"}]
    run = load_release(release_from(tmp_path, lines, run_id="judged-anew", prompts=prompts), Settings()).run
    plan = SamplePlan(per_label={"DIVERGENT": 36}, calibration=0, repeats=0)
    draw_study(store, run, plan, study_id="later", title="Later", annotators=("ana", "ben"), now=NOW)
    assert set(learnt_from(store, "later")) == set(split_of(store, "s").learn)
    assert len(labels_table(store, "later")) == 24
    assert "judge versions v2" in left_out_note(store, ["later"])


def test_a_job_writes_the_proposal(store, tmp_path):
    tiny_study(store, tmp_path, 36)
    job = start_alignment(Settings(), "s", "propose", "petra")
    until = time.monotonic() + 60
    while job.active and time.monotonic() < until:
        time.sleep(0.2)
        job = find_job(Settings(), job.name)
    assert (job.state, job.message) == (JobState.FINISHED, "")
    assert alignment_job(Settings(), "s", "propose").name == job.name
    assert "{example:s0" in proposal_of(job)


@pytest.mark.slow
def test_the_doubly_rated_pairs_of_the_nih_release_are_a_study_from_start_to_end(nih, store, data, tmp_path, monkeypatch, capsys):
    run = load_release(nih, Settings()).run
    with (nih / "annotations" / "validation_labels.csv").open(encoding="utf-8") as file:
        study_from(store, run, list(csv.DictReader(file)))
    with fault_server() as server:
        learning_judge(server, store)
        monkeypatch.setenv("AUDIT_JUDGE_URL", server.url)
        path = tmp_path / "version.md"
        assert align("--propose", str(path)) == 0
        assert "judge proposes 1 rules" in capsys.readouterr().out
        assert "- Two figures for one quantity are DIVERGENT." in path.read_text()
        proof = next(row for row in _seats(store, "s") if row["question_id"] in split_of(store, "s").prove)
        leak = path.with_name("leak.md")
        words = " ".join(proof["answer_a"].split()[3:25])
        leak.write_text(path.read_text().replace("\nReply with", f"\nRemember: {words}.\n\nReply with", 1))
        assert align("--add", str(leak), "--name", "leak") == 2
        assert "The version has words of the answer a of item" in capsys.readouterr().err
        assert align("--add", str(path), "--name", "v2") == 0
        capsys.readouterr()
        assert align("--judge", "--json") == 0
        result = json.loads(capsys.readouterr().out)
        asked = server.asked
        assert align("--judge") == 0
        assert server.asked == asked, "what is sealed is not asked again"
    assert len(result["split"]["learn"]) + len(result["split"]["prove"]) == len(
        {row["question_id"] for row in _seats(store, "s")}
    )
    figures = {(row["version"], row["figure"], row["label"]): row for row in result["figures"]}
    kappa = figures["v2", "kappa", ""]
    assert kappa["change_low"] > 0
    assert kappa["moves"] == "rises"
    assert figures["shipped", "accuracy", ""]["n"] < 148, "only the part to prove on"
    manifest = json.loads((data / "alignment" / "s" / "v2" / "manifest.json").read_text())
    (prompt,) = [one for one in manifest["prompts"] if one["prompt"] == versions_of(store, "s")[1].prompt]
    assert "Examples, with the label on which people decided" in prompt["system"]
    printed = capsys.readouterr().out
    assert "v2: kappa" in printed
    assert "better" in printed
    assert verify_study(store, "s") == []
