"""The endpoints that a run will call are checked before its first stage, and only where they are needed."""

from __future__ import annotations

import pytest

from tests.pipeline.stages.project import Project, lodging_project
from tests.support.llm.fault_server import fault_server

NOWHERE = "http://127.0.0.1:9/v1"


@pytest.fixture
def project(tmp_path, monkeypatch) -> Project:
    """Three codes on lodging, two questions, and a model for a judge, at an address that each test writes."""
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    project = lodging_project(tmp_path)
    project.set("judge", f'"model"\nmodel = "judge"\nurl = ["{NOWHERE}"]')
    return project


def test_an_endpoint_that_is_not_there_is_said_before_the_first_stage(project, capsys):
    assert project.run() == 2
    output = capsys.readouterr().err
    assert f"config.toml, [judge]: {NOWHERE} cannot be reached: " in output
    assert "No stage was started. To do only what needs no such model: --until generate." in output
    assert not project.done()
    assert project.run("--until", "generate") == 0


def test_a_model_or_a_key_that_will_not_do_is_said_before_the_first_stage(project, capsys):
    with fault_server(models=("other",)) as server:
        project.change(NOWHERE, server.url)
        assert project.run() == 2
        assert "has no model 'judge'." in capsys.readouterr().err
        server.models, server.key = ("judge",), "sk-right"
        assert project.run() == 2
        assert "does not accept the key (status 401)." in capsys.readouterr().err
    assert not project.done()


def test_without_any_address_it_says_where_to_write_one(project, capsys):
    project.change(f'url = ["{NOWHERE}"]', "")
    project.change('generator = "passages"', 'generator = "model"')
    assert project.run() == 2
    output = capsys.readouterr().err
    assert "config.toml, [generate]: no endpoint is set for its model." in output
    assert 'or do without a model: generator = "passages". No stage was started.' in output


def test_the_plan_has_a_line_on_each_endpoint_and_goes_on(project, capsys):
    assert project.run("--dry-run") == 0
    output = capsys.readouterr().out
    assert f"judge cannot call a model: {NOWHERE} cannot be reached" in output
    assert "3 handbooks, 2 questions, 6 answers." in output
    with fault_server() as server:
        project.change(NOWHERE, server.url)
        assert project.run("--dry-run") == 0
        assert f"judge calls judge at {server.url}, with a context of 8,192 tokens." in capsys.readouterr().out
    assert project.run("--until", "generate", "--dry-run") == 0
    assert "judge" not in capsys.readouterr().out.replace("without a judge", "")


def test_what_is_done_needs_no_endpoint_any_more(project, capsys):
    with fault_server() as server:
        project.change(NOWHERE, server.url)
        assert project.run() == 0
    assert project.again() == set()
    project.change('title = "', 'title = "Anew: ')  # the release is written anew, from the replies that were kept
    assert project.again() == {"judge/release", "within/handbooks", "themes/themes.json", "load/tenancy"}
    path = project.folder / "tenancy" / "documents" / "lodging_alderia_combined.json"
    path.write_text(path.read_text().replace('"text": "', '"text": "A new sentence. ', 1))
    capsys.readouterr()
    assert project.run() == 2
    assert "Nothing was asked." in (output := capsys.readouterr().err)
    assert "No stage was started." in output


def test_a_handbook_that_was_left_out_before_makes_a_finished_run_need_no_endpoint(project, capsys):
    with fault_server() as server:
        project.change(NOWHERE, server.url)
        pdfs = project.config.parent / "documents"
        (pdfs / "broken.json").write_text("{")
        assert project.run() == 1
    assert project.run() == 1
    assert "cannot be reached" not in capsys.readouterr().err
