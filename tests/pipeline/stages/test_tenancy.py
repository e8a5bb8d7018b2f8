"""`audit run` on the tenancy example: what it finds, what it does not do twice, and what a kill costs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from audit.errors import ConfigError
from audit.pipeline.generation.passage_generator import quoted_answers
from audit.pipeline.stages.config_reader import read_config
from audit.pipeline.themes.build import build_taxonomy
from audit.settings import Settings
from audit.store.runs import find_run
from tests.examples.tenancy import codes
from tests.pipeline.stages.project import Project, finished_project, pages_of, project_in
from tests.support.forked import Python
from tests.support.pdfs import write_pdf

CODES = sorted(codes())


@pytest.fixture
def project(tmp_path, monkeypatch) -> Project:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    return project_in(tmp_path)


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Project:
    return finished_project(tmp_path_factory)


def test_it_finds_where_the_codes_disagree(finished):
    recall, precision = finished.recall_and_precision()
    # The labels are the truth, so only answers that were not found lose a pair that disagrees
    assert (recall > 0.85, precision) == (True, 1.0)


def test_the_run_is_loaded_whole_under_the_words_of_its_config(finished):
    run = find_run(Settings(data_dir=finished.data).store_dir, "tenancy")
    assert run.report["clean"], run.report["verdict"]
    assert (run.term("handbook"), run.term("organ", 2)) == ("state code", "kinds of tenancy")
    assert run.synthetic
    assert run.manifest["retriever"] == "closest, encoder words, no reranker"
    assert "no model" in run.manifest["generator"]


def test_the_release_holds_texts_passages_themes_and_trials(finished):
    names = {path.name for path in finished.release.iterdir()}
    assert {"sections.jsonl", "trials.jsonl", "themes.json", "answers.jsonl", "comparisons"} <= names
    sections = {(each["handbook_id"], each["section_id"]): each["text"] for each in lines(finished.release / "sections.jsonl")}
    for answer in lines(finished.release / "answers.jsonl"):
        for passage in answer["retrieval"]["passages"]:
            assert len(sections[answer["handbook_id"], passage["section_id"]]) >= passage["end"]
    golds = [trial["gold"] for trial in lines(finished.release / "trials.jsonl")]
    assert len(golds) == 3 * 160  # three strategies, 160 answers
    assert sum(map(bool, golds)) > 300


def test_its_search_finds_the_section_that_answers_first_about_as_often_as_plain_bm25(finished):
    first = {"closest": [], "hero": [], "bm25": []}
    for trial in lines(finished.release / "trials.jsonl"):
        if trial["gold"]:
            first[trial["strategy"]].append(trial["ranked"][0] in trial["gold"])
    share = {strategy: sum(result) / len(result) for strategy, result in first.items()}
    assert share["bm25"] == pytest.approx(125 / 129)
    assert min(share.values()) >= 122 / 129  # at most three fewer


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_only_what_hangs_on_a_change_is_done_again(project):
    assert project.run() == 0
    assert project.again() == set()
    # One code changes: it is searched and answers anew; the others are as they were.
    path = project.folder / "tenancy" / "documents" / "residential_elmhaven_combined.json"
    path.write_text(path.read_text().replace("45 days", "50 days"))
    source = "residential_elmhaven_combined"
    written_anew = {"judge/release", "themes/themes.json", "load/tenancy"}
    assert project.again() == {f"retrieve/{source}", f"generate/{source}", *written_anew}
    # A setting of the generator changes, and its answers do not: what was retrieved stays, and nothing is labelled again.
    project.change('generator = "passages"', 'generator = "passages"\ncontext = 8000')
    assert {name.partition("/")[0] for name in project.again()} == {"generate"}
    # The title changes: nobody is asked, and the release is written anew.
    project.change('title = "', 'title = "Anew: ')
    assert project.again() == written_anew  # the release is a folder that appears whole


def test_themes_are_built_by_the_method_of_the_config(project, monkeypatch):
    methods = []

    def built(counts, encoder, options, **more):
        methods.append(options.method)
        # UMAP would be compiled for half a minute; tests/pipeline/themes has it
        return build_taxonomy(counts, encoder, replace(options, method="average"), **more)

    monkeypatch.setattr("audit.pipeline.stages.release.build_taxonomy", built)
    project.config.write_text(project.config.read_text() + '\n[themes]\nmethod = "hdbscan"\n')
    assert project.run() == 0
    assert methods == ["hdbscan"]
    monkeypatch.setattr("audit.pipeline.stages.config_reader.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="method is 'hdbscan', which needs umap, faiss, hdbscan, and that is not installed"):
        read_config(project.config)


def test_a_code_that_cannot_be_read_is_left_out_and_said(project, capsys):
    (project.folder / "tenancy" / "documents" / "lodging_alderia_combined.json").write_text("{")
    assert project.run() == 1
    assert "Left out: " in (output := capsys.readouterr().err)
    assert "lodging_alderia_combined.json: not a readable document" in output
    manifest = json.loads((project.release / "manifest.json").read_text())
    assert (manifest["handbooks"], list(manifest["left_out"])) == (7, ["lodging_alderia_combined.json"])


def test_a_code_that_no_question_concerns_is_not_searched_again(project):
    documents = project.folder / "tenancy" / "documents"
    other = json.loads((documents / "residential_alderia_combined.json").read_text())
    (documents / "mooring_alderia_combined.json").write_text(
        json.dumps(other | {"handbook_id": "mooring_alderia_combined", "organ": "mooring", "sections": other["sections"][:3]})
    )
    questions = project.folder / "tenancy" / "questions.csv"
    questions.write_text(questions.read_text().replace(",general,", ",lodging,"))
    assert project.run("--until", "retrieve") == 0
    assert project.again("--until", "retrieve") == set()


def test_the_plan_counts_and_does_nothing(project, capsys):
    assert project.run("--dry-run") == 0
    output = capsys.readouterr().out
    # 8 general questions of all 8 codes, 15 of 5, 7 of 3: 160 answers; 8 C(8,2) + 15 C(5,2) + 7 C(3,2) = 224 + 150 + 21.
    assert "8 handbooks, 30 questions, 160 answers." in output
    assert "395 pairs, about 273 of them ABSENT" in output  # 69 %, the middle of what is published
    assert not project.work.exists()
    project.set("judge", '"model"')
    assert project.run("--dry-run") == 0
    rows = [line.split()[:3] for line in capsys.readouterr().out.splitlines()]
    assert ["judge", "0", "122"] in rows  # 395 - 273 calls


def test_it_goes_no_further_than_it_is_told(project):
    assert project.run("--until", "retrieve") == 0
    assert dict(project.done()) == {"questions": 1, "retrieve": 8}
    assert project.again() >= {"judge/release", "load/tenancy"}


def test_ctrl_c_says_in_a_sentence_how_to_go_on(project, capsys, monkeypatch):
    calls = iter(range(8))

    def stopped_at_the_third(asked):
        if next(calls) == 2:
            raise KeyboardInterrupt
        return quoted_answers(asked)

    monkeypatch.setattr("audit.pipeline.stages.generate.quoted_answers", stopped_at_the_third)
    assert project.run() == 2
    assert f"{project.work}. Continue with:\n  audit run {project.config}" in capsys.readouterr().err
    assert project.done()["generate"] == 2
    monkeypatch.undo()
    monkeypatch.setenv("AUDIT_DATA_DIR", str(project.data))
    assert len({name for name in project.again() if name.startswith("generate")}) == 8 - 2


def test_a_setting_of_the_search_that_does_not_exist_is_refused_with_its_line(project, capsys):
    project.change("whole_characters = 0", "whole_charcters = 0")
    line = next(n for n, text in enumerate(project.config.read_text().splitlines(), 1) if text.startswith("whole_charcters"))
    assert project.run() == 2
    output = capsys.readouterr().err
    assert (
        f"config.toml, line {line}: [retrieval.options] has no option 'whole_charcters'. Did you mean 'whole_characters'?"
        in output
    )


def test_what_fails_for_every_code_in_the_same_way_is_said_once(project, capsys):
    project.change("[retrieval]\n", '[retrieval]\nencoder = "documents"\n')
    assert project.run() == 2
    output = capsys.readouterr().err
    assert output.count("Name the folder of a sentence model") == 1
    assert "Stopped at retrieve" in output


def test_killed_on_the_way_it_goes_on_and_comes_out_the_same(project, finished):
    command = [sys.executable, "-m", "audit", "run", str(project.config), "--until", "judge"]
    process = Python(command, env={**os.environ, "AUDIT_DATA_DIR": str(project.data)}, stderr=subprocess.DEVNULL)
    while process.poll() is None and not project.done()["retrieve"]:
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    before = project.written()
    assert "state/questions/questions.csv.json" in before
    assert not {name.removeprefix("state/").removesuffix(".json") for name in before} & project.again()
    assert project.labels() == finished.labels()
    for name in CODES:
        for stage in ("retrieval", "answers"):
            assert (project.work / stage / f"{name}.jsonl").read_bytes() == (finished.work / stage / f"{name}.jsonl").read_bytes()
    assert find_run(Settings(data_dir=project.data).store_dir).report["clean"]


def test_two_processes_find_the_same_byte_for_byte(project, finished):
    pytest.importorskip("distributed", reason="the extra dask is not installed")
    project.change("[retrieval]\n", '[retrieval]\nworkers = "local:2"\n')
    assert project.run("--until", "generate") == 0
    for name in CODES:
        assert (project.work / "retrieval" / f"{name}.jsonl").read_bytes() == (
            finished.work / "retrieval" / f"{name}.jsonl"
        ).read_bytes()


def test_a_corpus_of_pdf_files_is_read_too(project):
    source = codes()["residential_alderia_combined"]
    pdfs = project.folder / "tenancy" / "pdfs"
    pdfs.mkdir()
    for name, document in codes().items():
        write_pdf(pdfs / f"{name}.pdf", pages_of(document))
    project.change('documents = "documents" ', 'pdfs = "pdfs"  # ')
    project.change('gold = "gold.jsonl"', "")  # it names the sections of the documents, which those of the PDF files are not
    assert project.run() == 0
    assert project.done()["extract"] == 8
    read = json.loads((project.work / "documents" / f"{source.handbook_id}.json").read_text())
    assert [section["heading"] for section in read["sections"] if section["text"]] == [
        each.heading for each in source.sections if each.text
    ]
    recall, precision = project.recall_and_precision()
    assert (recall > 0.7, precision) == (True, 1.0)
