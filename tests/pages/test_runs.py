"""Runs: the load report reconciles, and findings can be filtered."""

from __future__ import annotations

from pages._blinded.scripts import script_path
from tests.pages.conftest import lists, words_on
from tests.support.loading import load, spoil


def test_read_is_loaded_plus_quarantined_for_every_kind_of_record(run, open_page):
    kinds = next(table.value for table in lists(open_page("runs")) if "files" in table.value)
    assert list(kinds["read"]) == list(kinds["loaded"] + kinds["quarantined"])
    assert kinds.set_index("kind").loc["pair", "loaded"] == 15


def test_a_quarantined_pair_is_listed_with_its_reason_and_found_by_the_filter(release, data_dir, open_page):
    spoil(release, "q1", lambda record: record["pairs"][0].update(classification="SIDEWAYS"))
    load(release, data_dir)
    at = open_page("runs", view="findings", outcome="quarantined")
    listed = next(table.value for table in lists(at) if "message" in table.value and "record" in table.value)
    assert len(listed) == 1
    assert "SIDEWAYS" in listed["message"].iloc[0]


def test_an_excerpt_of_a_record_is_not_shown_to_a_visitor_who_has_not_signed_in(release, data_dir, open_page, monkeypatch):
    spoil(release, "q1", lambda record: record["pairs"][0].update(classification="SIDEWAYS"))
    load(release, data_dir)
    monkeypatch.setattr("pages._blinded.access.on_loopback", lambda: False)
    at = open_page("runs", view="findings")
    listed = next(table.value for table in lists(at) if "message" in table.value and "record" in table.value)
    assert list(listed["code"]) == ["unknown_classification"]
    assert not any("SIDEWAYS" in str(table.value) for table in lists(at))


def test_the_datasheet_says_what_is_known_and_what_is_not_answered_yet(load_run, open_page):
    load_run(datasheet={"motivation": "For *our* unit."})
    words = words_on(open_page("runs", view="datasheet"))
    assert "For *our* unit." in words
    assert "Not answered yet: Does it contain anything confidential" in words
    assert "Handbooks: 4; centers: 3" in words


def test_every_loaded_run_is_listed_newest_first(load_run, open_page):
    load_run(run_id="older")
    load_run(run_id="newer", title="Second")
    at = open_page("runs")
    assert [key.split("@")[0] for key in lists(at)[0].value["key"]] == ["newer", "older"]
    assert "Second" in words_on(at)


def test_the_chosen_run_stays_chosen_on_the_next_page(load_run, open_page):
    older = load_run(run_id="older")
    load_run(run_id="newer")
    at = open_page("runs", run=older.key)
    at.switch_page(script_path("organs")).run()
    assert at.query_params["run"] in (older.key, [older.key])
