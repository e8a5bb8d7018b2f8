"""A config is read with its defaults, or refused with the line and the closest allowed name."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest

from audit.errors import ConfigError
from audit.pipeline.stages.config import SECTIONS, config_schema, options_table
from audit.pipeline.stages.config_reader import read_config

SOUND = """
[corpus]
documents = "texts"
terms = {handbook = "code", organ = "matter"}
[questions]
file = "questions.csv"
[retrieval]
strategy = "closest"
"""


@pytest.fixture
def config(tmp_path):
    """Writes a config beside a folder `texts` and a file `questions.csv`, and reads it."""
    (tmp_path / "texts").mkdir()
    (tmp_path / "questions.csv").touch()

    def read(text: str):
        path = tmp_path / "codes.toml"
        path.write_text(text)
        return read_config(path)

    return read


def refused(config, text: str) -> str:
    with pytest.raises(ConfigError) as error:
        config(text)
    assert str(error.value).endswith("Nothing was done.")
    return str(error.value)


def test_paths_count_from_the_folder_of_the_config_and_what_is_left_out_has_its_default(config, tmp_path):
    read = config(SOUND)
    assert read.corpus.documents == tmp_path / "texts"
    assert read.questions.file == tmp_path / "questions.csv"
    assert read.corpus.terms == {"handbook": "code", "organ": "matter"}
    assert (read.retrieval.strategy, read.judge.judge, read.generate.generator) == ("closest", "none", "passages")
    assert read.release.run_id == "codes"  # the name of the file


def test_what_is_quoted_must_have_a_score_of_known_meaning(config):
    message = refused(config, SOUND.replace("closest", "bm25"))
    assert "line 8: strategy is 'bm25', but generator = \"passages\" quotes what 'closest' finds." in message
    message = refused(config, SOUND + 'encoder = "acme/large"')
    assert "line 9: encoder is 'acme/large', and what its scores mean was never measured." in message


@pytest.mark.parametrize(("generator", "strategy"), [("passages", "closest"), ("model", "hero")])
def test_the_strategy_that_is_left_out_is_that_of_the_generator(config, generator, strategy):
    read = config(SOUND.partition("[retrieval]")[0] + f'[generate]\ngenerator = "{generator}"')
    assert (read.retrieval.strategy, read.strategy) == ("", strategy)


@pytest.mark.parametrize(
    ("written", "line", "sentence"),
    [
        ('[retreival]\nstrategy = "hero"', 9, "there is no section 'retreival'. Did you mean 'retrieval'?"),
        ('[judge]\n\nprotocoll = "structured"', 11, "[judge] has no option 'protocoll'. Did you mean 'protocol'?"),
        ("[generate]\nthreshold = 0.4", 10, "[generate] has no option 'threshold'."),
        ('[themes]\nmodel = "none"', 10, "model is 'none', but themes need one."),
        (
            '[judge]\nprotocol = "structurd"',
            10,
            "protocol is 'structurd'. Did you mean 'structured'? Allowed: structured, label_first, label_only, positions.",
        ),
        ('[[systems]]\nid = "a"\nstrategy = "bm25"', 11, 'strategy is for search = "corpus"; the passages of single handbooks'),
        ('[[systems]]\nid = "a"\nmode = "closed_book"\nsearch = "corpus"', 12, 'search is for mode = "retrieval", and the mode'),
        (
            '[[systems]]\nid = "a"\nsearch = "corpus"\nstrategy = "closest"',
            12,
            "strategy is 'closest'. Allowed: hero",
        ),
        ('[judge]\nprotocol = "positions"\nswap = true', 10, "protocol is 'positions', which has no checks: leave out swap"),
        ("[judge]\nswap = true", 10, "judge is 'none', which calls no model: leave out swap."),
        ('[judge]\njudge = "stand-in"', 10, "judge is 'stand-in', which needs truth, the table that it reads."),
        ('[judge]\njudge = "baseline"', 10, "judge is 'baseline'. Allowed: none, model, stand-in."),
        ("[judge]\nrepeat = -1", 10, "repeat must be at least 0, not -1."),
        ("[judge]\nswap = 1", 10, "swap must be true or false, not 1."),
        ('[judge]\nurl = "http://127.0.0.1/v1"', 10, "url must be a list of texts such as"),
        ('[themes]\nmethod = "kmeans"', 10, "method is 'kmeans'. Allowed: average, hdbscan."),
        ("[themes]\ntarget = true", 10, "target must be a whole number, not true."),
        ("[release]\nwork = 7", 10, "work must be a text in quotes, not 7."),
        ('[release]\ntitle = " "', 10, "title is empty: leave the option out instead."),
        ('[release]\nrun_id = "../up"', 10, "run_id is '../up'. It may contain letters, digits"),
        ('[judge]\ntemplates = "nowhere"', 10, "which does not exist."),
        ("[retrieval.options]\npassages = 1.5", 10, "passages must be a whole number, not 1.5."),
        ("[retrieval.options]\npasages = 3", 10, "[retrieval.options] has no option 'pasages'. Did you mean 'passages'?"),
        (
            "[retrieval.options.hybrid]\nfinal = 3",
            10,
            "[retrieval.options.hybrid] has no option 'final'. Did you mean 'final_k'?",
        ),
        ("[retrieval.options.hybrid]\nmmr_lambda = 2.0", 9, "cannot be combined: mmr_lambda must be between 0 and 1, not 2."),
        ('path = "elsewhere"', 9, "[retrieval] has no option 'path'."),
    ],
)
def test_a_value_that_is_not_allowed_is_reported_with_its_line(config, written, line, sentence):
    message = refused(config, SOUND + written)
    assert f"codes.toml, line {line}: " in message
    assert sentence in message


def test_a_section_must_have_options(config):
    assert "line 1: 'judge' is a section and has options of its own: [judge]" in refused(config, "judge = 3\n" + SOUND)


def test_a_strategy_to_compare_that_does_not_exist_is_refused(config):
    message = refused(config, SOUND + 'compare = ["hero", "bm52"]')
    assert "line 9: compare is 'bm52'. Did you mean 'bm25'?" in message


def test_the_papers_fusion_is_one_word_and_takes_weights(config):
    ranks = SOUND + '[retrieval.options]\nfusion = "ranks"\n'
    assert config(ranks).retrieval.options.fusion == "ranks"
    assert config(ranks + "dense_weight = 2.0").retrieval.options.weight_of("dense") == 2
    assert "a retriever cannot weigh -2" in refused(config, ranks + "dense_weight = -2.0")


def test_the_settings_of_hybrid_are_a_table_of_their_own(config):
    read = config(SOUND + '[retrieval.options.hybrid]\nfinal_k = 3\nleave_out = ["mmr"]\n[retrieval.options]\ndepth = 20\n')
    assert (read.retrieval.options.hybrid.final_k, read.retrieval.options.hybrid.leave_out) == (3, {"mmr"})
    assert (read.retrieval.options.hybrid.initial_k, read.retrieval.options.depth) == (10, 20)


def test_a_term_that_pages_do_not_have_is_refused(config):
    message = refused(config, SOUND.replace("organ =", "orgn ="))
    assert "line 4: there is no term 'orgn'. Did you mean 'organ'?" in message


def test_handbooks_come_as_pdfs_or_as_documents_and_not_as_both(config):
    assert "needs either pdfs or documents" in refused(config, SOUND.replace("documents", "#"))
    assert "and not both" in refused(config, SOUND.replace("[questions]", 'pdfs = "texts"\n[questions]'))


def test_without_questions_there_is_nothing_to_ask(config):
    assert "[questions] needs file" in refused(config, '[corpus]\ndocuments = "texts"')


def test_text_that_is_not_toml_is_refused_with_its_place(config):
    assert "is not valid TOML" in refused(config, "[corpus\n")


def test_a_file_that_is_not_there_is_said(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        read_config(tmp_path / "none.toml")


def test_the_table_of_options_lists_every_option_of_every_section():
    table = options_table()
    for section, model in SECTIONS.items():
        assert f"[{section}]" in table
        assert all(f"  {name} " in table for name in model.model_fields)
    assert "(default: 32768)" in table
    assert "Undefined" not in table  # pydantic's word for a default that depends on the machine


def test_the_schema_for_editors_accepts_the_example_and_refuses_a_misspelt_option():
    schema = json.loads(config_schema())
    example = tomllib.loads((Path(__file__).resolve().parents[3] / "examples" / "tenancy" / "config.toml").read_text())
    jsonschema.validate(example, schema)
    jsonschema.validate(example | {"systems": [{"id": "alone", "mode": "closed_book", "temperature": 0.1}]}, schema)
    with pytest.raises(jsonschema.ValidationError, match="open_book"):
        jsonschema.validate(example | {"systems": [{"id": "alone", "mode": "open_book"}]}, schema)
    with pytest.raises(jsonschema.ValidationError, match="protocoll"):
        jsonschema.validate(example | {"judge": {"protocoll": "structured"}}, schema)


def test_parts_of_the_datasheet_are_in_the_makers_words_and_another_part_is_refused(config):
    read = config(f'{SOUND}[release.datasheet]\nmotivation = "For our own unit."\n')
    assert read.release.datasheet == {"motivation": "For our own unit."}
    sentence = refused(config, f'{SOUND}[release.datasheet]\nmotives = "For our own unit."\n')
    assert "line 10" in sentence
    assert "'motives'. Allowed: motivation, composition" in sentence
