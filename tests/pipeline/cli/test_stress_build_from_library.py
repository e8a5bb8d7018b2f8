"""`audit stress build --library` and `--web`: MIRAGE's questions, which have no documents, with those that a search finds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from audit.cli.main import main
from audit.pipeline.stress.building.questions import BuildReport, StressQuestion
from audit.pipeline.stress.building.signal_search import SearchSettings, library_search, read_library
from audit.pipeline.stress.building.topics import Topic
from tests.support.llm import fault_server as servers
from tests.support.llm.fault_server import FaultServer, fault_server
from tests.support.llm.fitting import answer

DRUGS = ("aspirin", "ibuprofen", "warfarin", "heparin", "digoxin", "insulin", "morphine", "codeine")
SETS = ("mmlu", "medqa", "pubmedqa", "bioasq")


def topic_answer(body: dict[str, Any]) -> str:
    """Two topics on the drug of the question; a length of time of a passage, and the passage with another one."""
    user = body["messages"][-1]["content"]
    name = body["response_format"]["json_schema"]["name"]
    drug = re.search("|".join(DRUGS), user)
    if drug is None:  # the trial calls before a run
        return answer(body)
    if name == "topics":
        if drug[0] == "codeine":
            return "I would search for codeine."
        topics = [{"query": f"{drug[0]} {word}", "goal": f"what is known of its {word}"} for word in ("treatment", "risk")]
        return json.dumps({"topics": topics})
    weeks = re.search(r"\d+ weeks", user)
    assert weeks is not None
    if name == "sub_question":
        return json.dumps({"reasoning": "", "sub_question": f"How long is {drug[0]} taken?", "answer": weeks[0]})
    text = f"After trials in three countries {drug[0]} is now taken for 2 years."
    return json.dumps({"reasoning": "", "false_answer": "2 years", "document": text})


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultServer]:
    monkeypatch.setattr(servers, "answer", topic_answer)
    with fault_server(models=("builder",)) as server:
        monkeypatch.setenv("AUDIT_JUDGE_URL", server.url)
        monkeypatch.delenv("AUDIT_JUDGE_MODEL", raising=False)
        yield server


@pytest.fixture
def benchmark(tmp_path: Path) -> Path:
    """MIRAGE's file: two questions of each of four sets, on a drug each."""
    sets = {
        name: {
            str(place): {
                "question": f"Is {drug} taken for more than a month?", "options": {"A": "yes", "B": "no"}, "answer": "A",
            }
            for place, drug in enumerate(DRUGS[2 * number : 2 * number + 2])
        }
        for number, name in enumerate(SETS)
    }  # fmt: skip
    (tmp_path / "benchmark.json").write_text(json.dumps(sets))
    return tmp_path / "benchmark.json"


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """Eight passages on each drug, in the layout of MedCorp's files."""
    lines = [
        {"id": f"{drug}-{n}", "title": drug.title(), "contents": f"In trial {n} the treatment with {drug} took {n + 5} weeks."}
        for drug in DRUGS for n in range(8)
    ]  # fmt: skip
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "medcorp.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path / "library"


def build(source: Path, out: Path, *options: object) -> int:
    return main(["stress", "build", str(source), "--out", str(out), *map(str, options)])


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def manifest_of(out: Path) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads((out / "manifest.json").read_text())
    return manifest


def test_a_library_fills_the_contexts_of_all_four_sets_without_a_model(benchmark, library, tmp_path):
    assert build(benchmark, tmp_path / "out", "--library", library, "--signal", 8) == 0
    instances = lines_of(tmp_path / "out" / "stress_instances.jsonl")
    assert {one["dataset"] for one in instances} == set(SETS)
    assert {one["retrieval"] for one in instances} == {"offline"}
    for one in instances:
        drug = DRUGS[2 * SETS.index(one["dataset"]) + int(one["question_id"][-1])]
        assert all((drug in document["text"]) == document["is_signal"] for document in one["documents"])
    sufficient = [one for one in instances if one["test"] == "sufficiency" and one["size"] == 20 and one["signal_share"] == 40]
    assert [len(one["documents"]) for one in sufficient] == [20] * len(DRUGS)
    manifest = manifest_of(tmp_path / "out")
    assert (manifest["signal_documents"], manifest["topics"], manifest["retriever"]) == (8 * len(DRUGS), "parts", "bm25")
    first = lines_of(tmp_path / "out" / "stress_topics.jsonl")[0]
    assert [topic["goal"] for topic in first["topics"]] == [
        "what answers the question", "whether option A is right", "whether option B is right",
    ]  # fmt: skip


def test_a_document_is_cut_into_whole_sentences_that_no_other_part_repeats(tmp_path):
    path = tmp_path / "long.jsonl"
    path.write_text(json.dumps({"id": "d", "text": " ".join(f"Sentence {n} says that the dose is {n} mg." for n in range(200))}))
    found = library_search(read_library(path, 1_000_000, BuildReport()), SearchSettings(), None, tmp_path)
    question = StressQuestion("q", "What is the dose?", "A")
    texts = [document.text for document in found.with_signal(question, [Topic("dose", "")]).documents]
    assert len(texts) > 2
    assert all(text.startswith("Sentence") and text.endswith("mg.") for text in texts)
    numbers = [number for text in texts for number in re.findall(r"Sentence (\d+)", text)]
    assert len(numbers) == len(set(numbers))


def test_each_topic_gives_its_best_and_then_the_next_in_turn(benchmark, library, tmp_path, server):
    options = ("--library", library, "--topics", "model", "--signal", 5, "--per-topic", 1, "--tests", "standard")
    assert build(benchmark, tmp_path / "out", *options) == 1
    by_id = {one["question_id"]: one for one in lines_of(tmp_path / "out" / "stress_topics.jsonl")}
    assert [topic["query"] for topic in by_id["mmlu-0"]["topics"]] == ["aspirin treatment", "aspirin risk"]
    assert len(by_id["mmlu-0"]["documents"]) == 5
    # A reply in prose is no list of topics; nothing is searched for in its place
    assert by_id["bioasq-1"] == {"question_id": "bioasq-1", "topics": [], "documents": []}
    assert manifest_of(tmp_path / "out")["left_out"]["no topics"]["count"] == 1
    # None of the requests says which option is right
    assert all("gold" not in json.dumps(body) for body in server.bodies)


def test_topics_facts_and_rewritten_documents_are_one_run_that_asks_nothing_twice(benchmark, library, tmp_path, server, capsys):
    options = ("--library", library, "--topics", "model", "--facts", "model", "--counterfactual", "rewritten", "--signal", 5)
    assert build(benchmark, tmp_path / "out", *options, "--dry-run", "--json") == 0
    stages = {stage["stage"]: stage["calls"] for stage in json.loads(capsys.readouterr().out)["stages"]}
    assert stages == {"topics": 8, "sub_question": 40, "counterfactual": 40}
    assert server.asked == 0
    assert build(benchmark, tmp_path / "out", *options) == 1
    manifest = manifest_of(tmp_path / "out")
    # Codeine has no topics, so it has no documents either
    assert (manifest["documents_with_fact"], manifest["edits"]) == (35, {"rewritten": 35})
    used = {prompt["prompt"].partition("-1@")[0] for prompt in manifest["prompts"]}
    assert used == {"topics", "sub_question", "counterfactual_rewritten"}
    edited = [
        document
        for one in lines_of(tmp_path / "out" / "stress_instances.jsonl")
        for document in one["documents"]
        if not document.get("is_factual", True)
    ]
    assert {json.dumps(document["edit"]) for document in edited} == {'{"kind": "rewritten"}'}
    assert all("2 years" in document["text"] and "weeks" not in document["text"] for document in edited)
    asked = server.asked
    (tmp_path / "out").rename(tmp_path / "first")
    assert build(benchmark, tmp_path / "out", *options) == 1
    assert server.asked == asked
    names = ("stress_instances.jsonl", "stress_topics.jsonl")
    assert [(tmp_path / "out" / name).read_bytes() for name in names] == [
        (tmp_path / "first" / name).read_bytes() for name in names
    ]


def test_pages_of_a_web_search_belong_to_their_question_alone(benchmark, tmp_path):
    pages = [
        {"question_id": f"{name}-{place}", "url": f"https://{drug}.example/{n}", "title": drug,
         "text": f"Page {n}: {drug} was taken for {n + 5} weeks, more than a month."}
        for number, name in enumerate(SETS) for place, drug in enumerate(DRUGS[2 * number : 2 * number + 2]) for n in range(6)
    ]  # fmt: skip
    (tmp_path / "web.jsonl").write_text("".join(json.dumps(page) + "\n" for page in [*pages, {"url": "x", "text": "y"}]))
    assert build(benchmark, tmp_path / "out", "--web", tmp_path / "web.jsonl", "--signal", 5) == 1
    instances = lines_of(tmp_path / "out" / "stress_instances.jsonl")
    assert {one["retrieval"] for one in instances} == {"online"}
    own = {one["question_id"]: one["documents"] for one in lines_of(tmp_path / "out" / "stress_topics.jsonl")}
    assert len(own["medqa-1"]) == 5
    assert all("heparin.example" in name for name in own["medqa-1"])
    assert manifest_of(tmp_path / "out")["left_out"]["page without question"]["count"] == 1


def test_questions_without_a_document_get_one_sentence_and_what_can_be_built(benchmark, tmp_path, capsys):
    assert build(benchmark, tmp_path / "out") == 1
    printed = capsys.readouterr().out
    assert "No question of" in printed
    assert "--library" in printed
    assert "not enough signal" not in printed
    assert {(one["test"], one["size"]) for one in lines_of(tmp_path / "out" / "stress_instances.jsonl")} == {("standard", 0)}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--library", "nowhere"], "there is no such file or folder"),
        (["--library", "empty"], "has no document with text"),
        (["--web", "nowhere"], "there is no such file"),
        (["--web", "empty/pages.jsonl"], "has no page with a question_id and a text"),
        (["--library", "empty", "--web", "empty/pages.jsonl"], "--library and --web both say what the signal is"),
        (["--topics", "model"], "--topics is about a search"),
        (["--retriever", "medcpt"], "--retriever is about a search"),
        (["--counterfactual", "rewritten"], "Add --facts model to --counterfactual rewritten"),
        (["--preset", "medrgb", "--counterfactual", "minimal"], "--preset medrgb means --counterfactual rewritten, not minimal"),
    ],
)
def test_what_contradicts_itself_or_has_no_text_is_said_before_anything_is_written(
    benchmark, tmp_path, monkeypatch, options, sentence, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "pages.jsonl").write_text('{"id": "a", "title": "No text"}\n')
    assert build(benchmark, tmp_path / "out", *options) == 2
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
