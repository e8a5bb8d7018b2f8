"""What `--dry-run` foretells, against what the same run then asks, takes and finds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import comb

import pytest

from tests.pipeline.stages.project import Project, project_in
from tests.support.llm.fault_server import FaultServer, fault_server

FACTOR = 1.5
DELAY_S, SLOTS = 0.06, 3


@pytest.fixture
def server() -> Iterator[FaultServer]:
    """It works on three calls at once, and 30 % of its answers are NOT ADDRESSED."""
    with fault_server(delay_s=DELAY_S, slots=SLOTS, absent_share=0.3) as server:
        yield server


@pytest.fixture
def project(tmp_path, monkeypatch, server) -> Project:
    """Eight codes and 14 questions, answered and judged by a model that is also asked whether answers are absent."""
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("AUDIT_JUDGE_URL", server.url)
    monkeypatch.setenv("AUDIT_JUDGE_MODEL", "judge")
    monkeypatch.setenv("AUDIT_JUDGE_CONCURRENCY", "8")
    project = project_in(tmp_path)
    project.change('file = "questions.csv"', 'file = "questions.csv"\nfirst = 14')
    project.change('generator = "passages"', 'generator = "model"\ncontext = 8000')
    project.set("judge", '"model"\nabsence = "check"')
    return project


def plan(project: Project, capsys: pytest.CaptureFixture[str], *options: str) -> dict:
    capsys.readouterr()
    assert project.run("--dry-run", "--json", *options) == 0
    return json.loads(capsys.readouterr().out)


def truth(server: FaultServer, schema: str) -> dict[str, float]:
    """What the server did since its record was cleared. The first call of a stage is its check before the run."""
    answers = [answer for answer in server.answers if answer.schema == schema][1:]
    return {
        "calls": len(answers),
        "prompt_tokens": sum(answer.prompt_tokens for answer in answers),
        "reply_tokens": sum(answer.completion_tokens for answer in answers),
        "seconds": max(answer.left for answer in answers) - min(answer.came for answer in answers),
    }


def assert_close(estimate: dict, true: dict[str, float]) -> None:
    for name, value in true.items():
        assert value / FACTOR <= estimate[name] <= value * FACTOR, f"{name} of {estimate['stage']}: {estimate}, in truth {true}"


@pytest.mark.flaky(reruns=2)  # of a time on a busy machine
def test_the_plan_is_within_a_factor_of_one_and_a_half_of_the_truth(project, server, capsys):
    assert project.run("--until", "retrieve") == 0
    (answers,) = plan(project, capsys, "--probe")["estimate"]["generate"]["stages"]
    server.answers.clear()
    assert project.run("--until", "generate") == 0
    assert_close(answers, truth(server, "answer"))

    absence, verdicts = plan(project, capsys, "--probe")["estimate"]["judge"]["stages"]
    server.answers.clear()
    assert project.run() in (0, 1)
    assert_close(absence, truth(server, "absence"))
    asked = truth(server, "structured")
    assert verdicts["calls"] >= asked["calls"]  # answers that the check finds absent take their pairs with them
    per_call = {name: asked[name] / asked["calls"] for name in ("prompt_tokens", "reply_tokens")}
    assert_close(verdicts | {name: verdicts[name] / verdicts["calls"] for name in per_call}, per_call)


def test_pairs_for_the_judge_are_expected_by_the_published_share_until_all_answers_exist(project, capsys):
    before = plan(project, capsys)
    assert before["pairs_to_judge"] == round(before["pairs"] * 0.31)  # published: 60 to 78 % of pairs have an absent answer
    assert "by the published share of 69%, until all answers exist" in before["text"]
    (verdicts,) = before["estimate"]["judge"]["stages"]
    assert (verdicts["stage"], verdicts["calls"], verdicts["source"]) == ("judge", before["pairs_to_judge"], "rule of thumb")
    assert "the texts of these prompts do not exist yet" in before["text"]
    assert project.run("--until", "generate") == 0
    records = [json.loads(line) for path in (project.work / "answers").iterdir() for line in path.read_text().splitlines()]
    present = [sum(not r["absent"] for r in records if r["question_id"] == q) for q in {r["question_id"] for r in records}]
    after = plan(project, capsys)
    assert after["pairs_to_judge"] == sum(comb(n, 2) for n in present)


def test_what_the_journal_has_is_not_planned_again_and_tells_tokens(project, server, capsys):
    assert project.run("--until", "generate") == 0
    everything = len([answer for answer in server.answers if answer.schema == "answer"]) - 1
    for path in (project.work / "answers").iterdir():
        path.unlink()
    asked = server.asked
    (answers,) = plan(project, capsys)["estimate"]["generate"]["stages"]
    assert (answers["done"], answers["calls"], answers["source"]) == (everything, 0, "stored replies")
    assert server.asked == asked + 1  # the check of the endpoint


def test_without_the_option_no_text_leaves_and_with_it_the_plan_says_first_what_is_sent_where(project, server, capsys):
    assert project.run("--until", "retrieve") == 0
    server.bodies.clear()
    text = plan(project, capsys)["text"]
    assert [body["messages"][0]["content"] for body in server.bodies] == ["Write a poem about the sea."]
    host = server.url.removeprefix("http://").removesuffix("/v1")
    names = "8 handbooks (lodging_alderia_combined, lodging_birchmont_combined, lodging_cedarvale_combined and 5 more)"
    assert f"Sends to {host}: 91 prompts with questions and passages of {names}." in text
    assert project.run("--dry-run", "--probe") == 0
    assert f"Sending up to 12 test prompts to {host}: questions and passages of {names}." in capsys.readouterr().err


def test_a_context_that_is_too_short_is_in_the_plan(project, server, capsys):
    assert project.run("--until", "retrieve") == 0
    server.context = 900
    text = plan(project, capsys)["text"]
    assert "generate calls judge at " in text
    assert "with a context of 900 tokens." in text
    assert "Roughly, the longest prompt has " in text
    assert "together more than the model's 900." in text
    assert "generate would stop: " in plan(project, capsys, "--probe")["text"]


def test_the_plan_says_how_many_prompts_contain_their_handbook_in_full(project, capsys):
    project.change("whole_characters = 0", "whole_characters = 80000")
    project.change("context = 8000", "context = 16000")  # below, no handbook is given in full
    assert project.run("--until", "retrieve") == 0
    assert "91 of 91 prompts contain their handbook in full." in plan(project, capsys)["text"]
