"""Every page of a run that no model has read says so; that no page of another run does is in test_every_page.py."""

from __future__ import annotations

import pytest

from audit.vocabulary import STAND_IN_JUDGE
from tests.pages.conftest import words_on
from tests.pages.test_every_page import MODELS, SCRIPTS

BOTH = (
    "Answers are quoted passages that no model has read; labels come from a stand-in judge that reads truth.csv and no text: "
    "a preview, not a finding"
)
UNREAD = {"generator": "closest passages, no model", "judge": STAND_IN_JUDGE}


@pytest.mark.parametrize("page", SCRIPTS)
def test_every_page_of_a_run_that_no_model_read_has_the_banner(page, load_run, open_page):
    load_run(**UNREAD)
    at = open_page(page)
    assert not at.exception
    assert [BOTH in warning.value.replace("\\", "") for warning in at.warning].count(True) == 1


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ("generator", "Answers are quoted passages that no model has read: a preview"),
        ("judge", "Labels come from a stand-in judge that reads truth.csv and no text: a preview"),
    ],
)
def test_a_run_made_by_both_says_which_part_no_model_read(entry, sentence, load_run, open_page):
    load_run(**MODELS | {entry: UNREAD[entry]})
    assert sentence in words_on(open_page("start"))


def test_each_headline_figure_of_a_preview_is_called_preliminary(load_run, open_page):
    load_run(**UNREAD)
    texts = [str(element.value) for element in open_page("start").markdown]
    headlines = ("the advice differs", "take different positions", "does not address")
    assert sum(any(words in text for words in headlines) for text in texts) == 3, texts
    assert sum("preliminary" in text for text in texts) == 3


def test_a_comparison_with_a_preview_names_the_run_that_is_one(load_run, open_page):
    load_run(run_id="rules", title="By rules", **UNREAD)
    models = load_run("q1 kidney ab=DIVERGENT", run_id="models", **MODELS)
    warnings = [warning.value.replace("\\", "") for warning in open_page("compare", run=models.key).warning]
    assert len(warnings) == 1
    assert warnings[0].startswith("By rules (rules@")
    assert BOTH in warnings[0]


@pytest.mark.usefixtures("every_tab")
@pytest.mark.parametrize(("manifest", "notice"), [(UNREAD, BOTH), (MODELS, "")])
def test_charts_and_files_of_a_page_carry_its_notice(manifest, notice, load_run, open_page, monkeypatch):
    noticed: dict[str, set[str]] = {"chart": set(), "csv": set()}
    monkeypatch.setattr("pages._shared.widgets.with_notice", lambda figure, words, letters: noticed["chart"].add(words) or figure)
    monkeypatch.setattr("pages._shared.widgets.csv_bytes", lambda frame, words: noticed["csv"].add(words) or b"")
    monkeypatch.setattr("pages._shared.widgets.download_button", lambda label, data, **_: data())
    load_run(**manifest)
    open_page("organs")
    assert noticed == {"chart": {notice}, "csv": {notice}}
