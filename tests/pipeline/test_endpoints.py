"""Whether the endpoints that a run will ask are there is found out before its first stage, and only where they are needed."""

from __future__ import annotations

import pytest

from tests.pipeline.desk import Desk, lodging_desk
from tests.support.llm.fault_server import fault_server

NOWHERE = "http://127.0.0.1:9/v1"


@pytest.fixture
def desk(tmp_path, monkeypatch) -> Desk:
    """Three codes on lodging, two questions, and a model for a judge, at an address that each test writes."""
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    desk = lodging_desk(tmp_path)
    desk.change('judge = "baseline"', f'judge = "model"\nmodel = "judge"\nurl = ["{NOWHERE}"]')
    return desk


def test_an_endpoint_that_is_not_there_is_said_before_the_first_stage(desk, capsys):
    assert desk.run() == 2
    said = capsys.readouterr().err
    assert f"config.toml, [judge]: {NOWHERE} cannot be reached: " in said
    assert "No stage was begun. What needs no such model: --until generate." in said
    assert not desk.done()
    assert desk.run("--until", "generate") == 0


def test_a_model_or_a_key_that_will_not_do_is_said_before_the_first_stage(desk, capsys):
    with fault_server(models=("other",)) as server:
        desk.change(NOWHERE, server.url)
        assert desk.run() == 2
        assert "has no model 'judge'." in capsys.readouterr().err
        server.models, server.key = ("judge",), "sk-right"
        assert desk.run() == 2
        assert "does not accept the key (status 401)." in capsys.readouterr().err
    assert not desk.done()


def test_without_any_address_it_says_where_to_write_one(desk, capsys):
    desk.change(f'url = ["{NOWHERE}"]', "")
    desk.change('generator = "extractive"', 'generator = "model"')
    assert desk.run() == 2
    said = capsys.readouterr().err
    assert "config.toml, [generate]: it asks a model, and no endpoint is set." in said
    assert 'or do without a model: generator = "extractive". No stage was begun.' in said


def test_the_plan_has_a_line_on_each_endpoint_and_goes_on(desk, capsys):
    assert desk.run("--dry-run") == 0
    said = capsys.readouterr().out
    assert f"judge cannot ask: {NOWHERE} cannot be reached" in said
    assert "3 handbooks, 2 questions, 6 answers." in said
    with fault_server() as server:
        desk.change(NOWHERE, server.url)
        assert desk.run("--dry-run") == 0
        assert f"judge asks judge at {server.url}." in capsys.readouterr().out
    assert desk.run("--until", "generate", "--dry-run") == 0
    assert "judge" not in capsys.readouterr().out.replace("without a judge", "")


def test_what_is_done_needs_no_endpoint_any_more(desk, capsys):
    with fault_server() as server:
        desk.change(NOWHERE, server.url)
        assert desk.run() == 0
    assert desk.again() == set()
    desk.change('title = "', 'title = "Anew: ')  # the release is written anew, from the replies that were kept
    assert desk.again() == {"judge/release", "themes/themes.json", "load/tenancy"}
    path = desk.folder / "tenancy" / "documents" / "lodging_alderia_combined.json"
    path.write_text(path.read_text().replace('"text": "', '"text": "A new sentence. ', 1))
    capsys.readouterr()
    assert desk.run() == 2
    assert "Nothing was asked." in (said := capsys.readouterr().err)
    assert "No stage was begun." in said


def test_a_handbook_that_was_left_out_before_makes_a_finished_run_need_no_endpoint(desk, capsys):
    with fault_server() as server:
        desk.change(NOWHERE, server.url)
        pdfs = desk.config.parent / "documents"
        (pdfs / "broken.json").write_text("{")
        assert desk.run() == 1
    assert desk.run() == 1
    assert "cannot be reached" not in capsys.readouterr().err
