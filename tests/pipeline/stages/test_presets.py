"""A preset fills in what a config leaves open, and says where its values are stated."""

from __future__ import annotations

import re

import pytest

from audit.errors import ConfigError
from audit.papers.departures import PRESETS as PRESET_OF
from audit.pipeline.stages.config_reader import read_config
from audit.pipeline.stages.presets import FIXED, PAPER, PRESETS, SOURCES, STRESS_BUILD, preset_lines

SOUND = '[corpus]\ndocuments = "texts"\n[questions]\nfile = "questions.csv"\n'


@pytest.fixture
def config(tmp_path):
    (tmp_path / "texts").mkdir()
    (tmp_path / "questions.csv").touch()
    path = tmp_path / "own.toml"

    def read(text: str = "", preset: str = "paper"):
        path.write_text(SOUND + text)
        return read_config(path, preset)

    return read


def test_what_a_config_leaves_open_is_as_the_paper_has_it(config):
    read = config()
    assert (read.retrieval.encoder, read.retrieval.options.fusion) == ("BAAI/bge-large-en-v1.5", "ranks")
    assert read.retrieval.options.leave_out == {"navigation"}
    assert (read.generate.generator, read.generate.max_tokens) == ("model", 512)
    assert (read.judge.judge, read.judge.absence, read.judge.name_centers) == ("model", "check", True)
    assert config(preset="").judge.judge == "none"


def test_what_a_config_states_stays_and_the_line_says_so(config):
    read = config('[retrieval]\nencoder = "words"\n[retrieval.options]\nneighbour_sections = 0\n')
    assert (read.retrieval.encoder, read.retrieval.options.neighbour_sections, read.retrieval.options.fusion) == (
        "words",
        0,
        "ranks",
    )
    lines = "\n".join(preset_lines(read, "paper"))
    assert "[retrieval] encoder = 'BAAI/bge-large-en-v1.5' (section 4.2; this config: 'words')" in lines
    assert "[retrieval.options] neighbour_sections = 1 (section 4.2; this config: 0)" in lines
    assert lines.count("this config") == 2


def test_without_a_judge_nothing_is_set_that_only_a_model_can_do(config):
    judge = config('[judge]\njudge = "none"\n').judge
    assert (judge.absence, judge.name_centers) == ("keep", False)


@pytest.mark.parametrize(("preset", "strategy"), [("paper", "hero"), ("s2", "hybrid")])
def test_an_option_that_contradicts_a_preset_is_one_sentence_that_names_it(config, preset, strategy):
    with pytest.raises(ConfigError) as refused:
        config('[generate]\ngenerator = "passages"\n[retrieval]\nencoder = "words"\n', preset)
    said = (
        f"By --preset {preset}, strategy is '{strategy}', but generator = \"passages\" quotes what 'closest' finds. Let a model"
    )
    assert said in str(refused.value)
    stated = '[generate]\ngenerator = "passages"\n[retrieval]\nencoder = "words"\nstrategy = "closest"\n'
    assert config(stated, preset).strategy == "closest"


def test_every_setting_names_its_section(config):
    lines = list(preset_lines(config(), "paper"))[1:-1]
    assert len(lines) == len(PAPER)
    assert all(re.search(r"\((section \d|appendix [A-Z])", line) for line in lines)


def test_s1_runs_each_system_of_several_sources_by_every_method_and_keeps_what_it_states(config):
    groups = (
        'id = "own"\nmode = "multi_source"\ngenerator = "passages"\ngroup_by = "organ"\n[systems.across]\nretriever = "bm25"\n'
    )
    systems = {system.id: system for system in config(f"[[systems]]\n{groups}", "s1").systems}
    assert list(systems) == [
        "merged",
        "concatenation",
        "uniform",
        "daks",
        "graph_fusion",
        "score_only",
        "graph_support",
        "graph_retrieval",
        "daks_graph_fusion",
    ]
    assert {(system.group_by, system.across.retriever) for system in systems.values()} == {("organ", "bm25")}
    assert [systems[name].across.pool for name in ("merged", "concatenation", "uniform", "daks")] == [
        "merged", "concatenated", "uniform", "daks",
    ]  # fmt: skip
    assert systems["daks"].across.graph is None
    assert systems["graph_support"].across.graph.bridged == 0
    # A config that names no system gets one source for each center
    assert {system.group_by for system in config("", "s1").systems} == {"center"}


def test_medrgb_answers_with_0_5_and_20_documents_of_the_corpus(config):
    read = config("", "medrgb")
    assert [(system.mode, system.passages, system.temperature) for system in read.systems] == [
        ("closed_book", 5, 0.0),
        ("retrieval", 5, 0.0),
        ("retrieval", 20, 0.0),
    ]
    assert (read.strategy, [system.searches_corpus for system in read.systems]) == ("dense", [False, True, True])
    lines = "\n".join(preset_lines(read, "medrgb"))
    assert "documents-0, documents-5, documents-20 (Table 1)" in lines
    assert "`audit stress run`, each with --preset medrgb" in lines


def test_every_paper_has_a_preset_and_every_preset_its_source():
    assert set(PRESET_OF.values()) == set(PRESETS) == set(SOURCES) == set(FIXED)
    assert set(STRESS_BUILD) <= set(PRESETS)


def test_s2_asks_a_model_alone_and_with_retrieval(config):
    read = config("", "s2")
    assert [(system.mode, system.temperature, system.max_tokens) for system in read.systems] == [
        ("closed_book", 0.1, 512),
        ("retrieval", 0.1, 512),
    ]
    assert read.generate.generator == "none"
    assert "[[systems]] closed-book, rag (section 2.4)" in "\n".join(preset_lines(read, "s2"))
