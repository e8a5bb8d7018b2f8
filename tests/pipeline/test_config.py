"""A config is read with its defaults, or refused with the line and the closest allowed name."""

from __future__ import annotations

import pytest

from audit.errors import ConfigError
from audit.pipeline.config import SECTIONS, options_of, table
from audit.pipeline.reading import read_config

SOUND = """
[corpus]
documents = "texts"
terms = {handbook = "code", organ = "matter"}
[questions]
file = "questions.csv"
[retrieval]
strategy = "bm25"
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
    with pytest.raises(ConfigError) as told:
        config(text)
    assert str(told.value).endswith("Nothing was done.")
    return str(told.value)


def test_paths_count_from_the_folder_of_the_config_and_what_is_left_out_has_its_default(config, tmp_path):
    found = config(SOUND)
    assert found.corpus.documents == tmp_path / "texts"
    assert found.questions.file == tmp_path / "questions.csv"
    assert found.corpus.terms == {"handbook": "code", "organ": "matter"}
    assert (found.retrieval.strategy, found.judge.judge, found.generate.generator) == ("bm25", "baseline", "extractive")
    assert found.release.run_id == "codes"  # the name of the file


@pytest.mark.parametrize(
    ("written", "line", "said"),
    [
        ('[retreival]\nstrategy = "hero"', 9, "there is no section 'retreival'. Did you mean 'retrieval'?"),
        ('[judge]\n\nprotocoll = "structured"', 11, "[judge] has no option 'protocoll'. Did you mean 'protocol'?"),
        (
            "[generate]\nthreshold = nan",
            10,
            "threshold is nan, and must be a number.",
        ),
        (
            "[generate]\nthreshold = 40",
            10,
            "threshold is 40, and the most it may be is 1.",
        ),
        (
            '[themes]\nmodel = "none"',
            10,
            "model is 'none', and themes need one.",
        ),
        (
            '[judge]\nprotocol = "structurd"',
            10,
            "protocol is 'structurd'. Did you mean 'structured'? Allowed: structured, label_only.",
        ),
        ("[judge]\nrepeat = -1", 10, "repeat is -1, and the least it may be is 0 times."),
        ("[judge]\nswap = 1", 10, "swap is 1, and must be true or false."),
        ("[themes]\ntarget = true", 10, "target is true, and must be a whole number."),
        ("[release]\nwork = 7", 10, "work is 7, and must be a text in quotes."),
        ('[release]\nrun_id = "../up"', 10, "run_id is '../up'. Letters, digits"),
        ('[judge]\ntemplates = "nowhere"', 10, "and there is no such file or folder."),
    ],
)
def test_what_will_not_do_is_said_with_its_line(config, written, line, said):
    told = refused(config, SOUND + written)
    assert f"codes.toml, line {line}: " in told
    assert said in told


def test_a_strategy_to_compare_that_does_not_exist_is_refused(config):
    told = refused(config, SOUND + 'compare = ["hero", "bm52"]')
    assert "line 9: compare is 'bm52'. Did you mean 'bm25'?" in told


def test_the_papers_fusion_is_one_word_and_takes_no_weights(config):
    ranks = SOUND + '[retrieval.options]\nfusion = "ranks"\n'
    assert config(ranks).retrieval.options.fusion == "ranks"
    assert "fusion by ranks counts all retrievers alike, and takes no dense_weight" in refused(config, ranks + "dense_weight = 2")


def test_a_term_that_pages_do_not_have_is_refused(config):
    told = refused(config, SOUND.replace("organ =", "orgn ="))
    assert "line 4: there is no term 'orgn'. Did you mean 'organ'?" in told


def test_handbooks_come_as_pdfs_or_as_documents_and_not_as_both(config):
    assert "needs pdfs, or documents" in refused(config, SOUND.replace("documents", "#"))
    assert "and not both" in refused(config, SOUND.replace("[questions]", 'pdfs = "texts"\n[questions]'))


def test_without_questions_there_is_nothing_to_ask(config):
    assert "[questions] needs file" in refused(config, '[corpus]\ndocuments = "texts"')


def test_text_that_is_no_toml_is_refused_with_its_place(config):
    assert "is no TOML" in refused(config, "[corpus\n")


def test_a_file_that_is_not_there_is_said(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        read_config(tmp_path / "none.toml")


def test_the_table_tells_every_option_of_every_section():
    told = table()
    for section in SECTIONS:
        assert f"[{section}]" in told
        assert all(f"  {name} " in told for name in options_of(section))
