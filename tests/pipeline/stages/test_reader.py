"""Who writes the answers where a config does not say it: a model on this machine where one answers, else quoted passages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from audit.pipeline.cli.run_models import with_reader
from audit.pipeline.stages.config import Config
from audit.pipeline.stages.config_reader import read_config
from audit.settings import Settings
from tests.examples.tenancy import FOLDER
from tests.support.llm.fault_server import fault_server


def config(tmp_path: Path, more: str = "") -> Config:
    path = tmp_path / "config.toml"
    path.write_text(f"[corpus]\ndocuments = '{FOLDER / 'documents'}'\n[questions]\nfile = '{FOLDER / 'questions.csv'}'\n{more}")
    return read_config(path)


def settings(url: str) -> Settings:
    return replace(Settings(), judge_urls=(url,), judge_model="")


def test_a_model_on_this_machine_writes_the_answers_within_its_context(tmp_path):
    with fault_server(models=("qwen3-4b",), context=6_000) as server:
        found, sentence = with_reader(config(tmp_path), settings(server.url))
    assert (found.generate.generator, found.generate.context, found.strategy) == ("model", 6_000, "hero")
    assert sentence.startswith("qwen3-4b on this machine writes the answers")
    with fault_server(context=6_000) as server:
        found, _ = with_reader(config(tmp_path, "[generate]\ncontext = 4000"), settings(server.url))
    assert found.generate.context == 4_000


def test_without_an_endpoint_or_an_answer_passages_are_quoted(tmp_path):
    asked = config(tmp_path)
    assert with_reader(asked, replace(Settings(), judge_urls=())) == (asked, "")
    with fault_server() as gone:
        pass
    found, sentence = with_reader(asked, settings(gone.url))
    assert (found, "cannot be reached" in sentence) == (asked, True)


def test_no_text_goes_to_another_machine_by_default(tmp_path):
    asked = config(tmp_path)
    found, sentence = with_reader(asked, settings("https://models.example.org/v1"))
    assert found == asked
    assert "the endpoint is another machine" in sentence


@pytest.mark.parametrize("more", ["[generate]\ngenerator = 'passages'", "[judge]\njudge = 'stand-in'\ntruth = 'truth.csv'"])
def test_what_the_config_says_holds_and_labels_of_a_truth_table_are_those_of_quoted_answers(tmp_path, more):
    (tmp_path / "truth.csv").write_text("rule\n")
    with fault_server() as server:
        found, sentence = with_reader(config(tmp_path, more), settings(server.url))
        assert server.asked == 0
    assert (found.generate.generator, sentence) == ("passages", "")
