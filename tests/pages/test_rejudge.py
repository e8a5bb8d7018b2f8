"""Re-judge: selection, estimate, progress, outcome, and what changed."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest
from streamlit.testing.v1 import AppTest

from annotation.label_store.engine import open_label_store
from annotation.studies.accounts import open_session
from audit.jobs.processes import cancel_job, find_job, list_jobs
from audit.jobs.rejudging import JobRequest, estimate_judging, request_judging, request_of, start_judging
from audit.jobs.table import Job, JobState
from audit.settings import Settings
from audit.store.runs import Run, find_run
from pages._blinded.scripts import script_path
from tests.pages.conftest import ROOT, TOKEN, Open, component, lists, words_on
from tests.pages.test_disagreements import html_on
from tests.support.forked import FORKING
from tests.support.llm.fault_server import FaultServer, fault_server
from tests.support.loading import load
from tests.support.studies import people
from tests.support.tiny import release_from

PATIENCE_S = 60
ESTIMATE = "Estimate calls, tokens and time"


@pytest.fixture(autouse=True)
def _no_endpoint(monkeypatch: pytest.MonkeyPatch, data_dir) -> Iterator[None]:
    for name in ("URL", "MODEL", "KEY"):
        monkeypatch.delenv(f"AUDIT_JUDGE_{name}", raising=False)
    monkeypatch.setattr("audit.jobs.processes.subprocess", FORKING)
    yield
    for job in list_jobs(Settings()):
        cancel_job(Settings(), job, force=True)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultServer]:
    with fault_server(key="sk-very-secret") as server:
        monkeypatch.setenv("AUDIT_JUDGE_URL", server.url)
        monkeypatch.setenv("AUDIT_JUDGE_KEY", "sk-very-secret")
        yield server


def until(right: Callable[[Job], bool], name: str | None = None) -> Job:
    ends = time.monotonic() + PATIENCE_S
    while not right(job := find_job(Settings(), name) if name else list_jobs(Settings())[0]):
        assert time.monotonic() < ends, (job, (job.folder / "log").read_text())
        time.sleep(0.05)
    return job


def is_idle(job: Job) -> bool:
    return not job.active


def press(at: AppTest, label: str) -> AppTest:
    return next(button for button in at.button if button.label == label).click().run()


def labels(at: AppTest) -> list[str]:
    return [button.label for button in at.button]


def requested(run: Run, **options) -> Job:
    return request_judging(Settings(), JobRequest(run.digest, run.title, "all", 12, "all", **options))


def judged(run: Run, open_page: Open, **options) -> tuple[AppTest, Job]:
    job = requested(run, **options)
    start_judging(Settings(), job)
    job = until(is_idle, job.name)
    return open_page("rejudge", run=run.key, job=job.name), job


# -- choosing -----------------------------------------------------------------------------------------------------------


def test_without_an_endpoint_the_page_names_the_settings_and_nothing_can_be_judged(run, open_page):
    at = open_page("rejudge")
    words = words_on(at)
    for name in ("AUDIT_JUDGE_URL", "AUDIT_JUDGE_MODEL", "AUDIT_JUDGE_KEY", "secrets.toml"):
        assert name in words
    press(at, ESTIMATE)
    job = until(is_idle)
    estimate_judging(Settings(), job, trial=True)
    assert "No model endpoint" in until(is_idle).message
    at = open_page("rejudge", job=job.name)
    assert f"{job.estimate['stages'][0]['calls']} calls" in words_on(at).replace("*", "")  # kept, although the test has failed
    assert next(button for button in at.button if button.label == "Judge 2 pairs").disabled


def test_the_filters_of_disagreements_select_the_pairs_and_the_page_counts_them(run, open_page):
    assert "2 pairs." in words_on(open_page("rejudge")).replace("*", "")
    assert "5 pairs." in words_on(open_page("rejudge", label=["DIVERGENT", "COMPLEMENTARY"])).replace("*", "")
    assert "1 pair." in words_on(open_page("rejudge", organ=["kidney"])).replace("*", "")
    assert "15 pairs." in words_on(open_page("rejudge", which="all")).replace("*", "")


def test_without_a_matching_pair_no_job_can_be_requested(run, open_page, server):
    at = open_page("rejudge", words="no such words anywhere")
    assert next(button for button in at.button if button.label == ESTIMATE).disabled


def test_the_judge_is_named_with_its_host_and_the_key_is_shown_nowhere(run, open_page, server, monkeypatch):
    monkeypatch.setenv("AUDIT_JUDGE_URL", server.url.replace("127", "someone:sk-inside@127"))
    at = open_page("rejudge")
    words = words_on(at) + str(at.get("button_group"))
    assert f"127.0.0.1:{server.port}" in words.replace("\\", "")
    assert "sk-inside" not in words
    assert "sk-very-secret" not in words


# -- estimating, asking, stopping ---------------------------------------------------------------------------------------


def test_a_selection_is_estimated_before_any_call_and_judged_after_confirmation(run, open_page, server):
    at = open_page("rejudge", label=["DIVERGENT", "COMPLEMENTARY", "ABSENT"], check=["swap"])
    at = press(at, ESTIMATE)
    job = until(is_idle)
    assert (request_of(job).count, request_of(job).swap, server.asked) == (12, True, 0)
    at = open_page("rejudge", run=run.key, job=job.name)
    words = words_on(at).replace("*", "")
    assert "12 calls" in words
    assert "6 of 12 pairs need no call" in words
    assert "unknown until the endpoint is tested" in words
    press(at, "Judge 12 pairs")
    assert until(is_idle).state is JobState.FINISHED


def test_a_trial_estimates_how_long_it_would_take(run, open_page, server):
    job = requested(run)
    estimate_judging(Settings(), job)
    until(is_idle)
    at = press(open_page("rejudge", job=job.name), "Test the endpoint for tokens and time")
    until(lambda job: is_idle(job) and bool(job.estimate))
    at = open_page("rejudge", job=job.name)
    assert "a call. About" in words_on(at)
    assert "what it costs is unknown" in words_on(at)
    read, written = (until(is_idle).estimate["stages"][0][name] for name in ("prompt_tokens", "reply_tokens"))
    at.number_input(key="read").set_value(2e6)
    at.number_input(key="written").set_value(1e6).run()
    assert f"At these prices about **{2 * read + written:,.2f}** in all." in words_on(at)
    assert not at.exception


def test_a_running_job_shows_its_progress_in_every_window_and_can_be_cancelled_and_continued(run, open_page, server):
    server.delay_s = 0.4
    os.environ["AUDIT_JUDGE_CONCURRENCY"] = "1"
    try:
        job = requested(run)
        start_judging(Settings(), job)
    finally:
        del os.environ["AUDIT_JUDGE_CONCURRENCY"]
    until(lambda job: job.progress.get("done", 0) >= 2)
    for at in (open_page("rejudge", job=job.name), open_page("rejudge", job=job.name)):
        words = words_on(at).replace("*", "")
        assert "0 unreadable" in words
        assert "Open calls: 1 of at most 1." in words
        assert "is judged at a time" in words
    press(at, "Cancel")
    job = until(is_idle)
    assert job.state is JobState.STOPPED
    at = open_page("rejudge", job=job.name)
    assert "Stopped." in words_on(at)
    assert "replies are stored" in words_on(at)
    server.delay_s = 0
    press(at, "Continue")
    assert until(is_idle).state is JobState.FINISHED


def test_a_second_job_is_refused_with_the_reason(run, open_page, server):
    server.delay_s = 2
    first, second = requested(run), requested(run)
    start_judging(Settings(), first)
    at = press(open_page("rejudge", job=second.name), "Judge 12 pairs")
    assert "only one of its kind runs at a time" in words_on(at)
    assert not at.exception


def test_a_killed_job_is_reported_as_such(run, open_page, server):
    server.delay_s = 2
    job = requested(run)
    start_judging(Settings(), job)
    cancel_job(Settings(), job, force=True)
    until(is_idle)
    at = open_page("rejudge", job=job.name)
    assert "Continue" in labels(at)
    assert "exited unexpectedly" in words_on(at)


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [("URL", "http://127.0.0.1:9/v1", "cannot be reached"), ("MODEL", "nonesuch", "has no model 'nonesuch'")],
)
def test_an_unusable_endpoint_is_explained_as_by_the_command(run, open_page, server, monkeypatch, name, value, sentence):
    monkeypatch.setenv(f"AUDIT_JUDGE_{name}", value)
    at, _ = judged(run, open_page)
    assert sentence in words_on(at)
    assert "Continue" in labels(at)


# -- the result ---------------------------------------------------------------------------------------------------------


def test_old_and_new_verdicts_are_side_by_side_with_changes_and_kappa(run, open_page, server):
    at, _ = judged(run, open_page)
    assert not at.exception
    words = words_on(at).replace("*", "")
    assert "Judged: 9." in words
    assert "kappa is" in words
    table = next(frame.value for frame in lists(at) if "reasoning_second" in frame.value)
    assert len(table) == 15
    assert {"first", "second", "significance_first", "significance_second", "reasoning_first"} <= set(table)
    changed = open_page("rejudge", job=list_jobs(Settings())[0].name, shown="changed")
    changed_rows = next(frame.value for frame in lists(changed) if "reasoning_second" in frame.value)
    assert (changed_rows["first"] != changed_rows["second"]).all()
    assert len(changed_rows) < 15


def test_figures_of_selected_pairs_say_that_they_are_true_of_the_selection_only(run, open_page, server):
    at, _ = judged(run, open_page)
    assert "not drawn at random" not in words_on(at)
    job = request_judging(Settings(), JobRequest(run.digest, run.title, "x", 1), [("q1", "a", "b")])
    start_judging(Settings(), job)
    until(is_idle, job.name)
    assert "are true of this selection and not of the run" in words_on(open_page("rejudge", job=job.name))


def test_one_pair_is_judged_at_once_and_shows_both_verdicts_and_the_raw_reply(run, open_page, server):
    at = open_page("rejudge", question="q1", a="a", b="b")
    assert "What about q1?" in html_on(at)
    press(at, "Judge now")
    job = until(is_idle)
    assert (request_of(job).pair, job.state) == (("q1", "a", "b"), JobState.FINISHED)
    at = open_page("rejudge", job=job.name)
    assert not at.exception
    words = words_on(at)
    assert "Old" in words
    assert "New" in words
    assert html_on(at).count('class="verdict"') == 2
    assert '"classification"' in words
    assert "Prompt: structured" in words
    assert "tokens read" in words


def test_a_result_is_saved_under_a_title_and_leads_to_its_run(run, open_page, server):
    at, job = judged(run, open_page)
    field = next(field for field in at.text_input if field.label == "Title of the run")
    assert field.value == "A tiny release, judged by judge"
    field.input("# Second *look*")
    at = press(at, "Save as a run")
    assert "# Second *look*" in at.success[0].value.replace("\\", "")
    assert find_run(Settings().store_dir, job.name).title == "# Second *look*"
    assert len(at.get("page_link")) >= 2


def test_a_saved_selection_of_pairs_is_not_the_default_run(run, open_page, server):
    job = request_judging(Settings(), JobRequest(run.digest, run.title, "one of them", 1), [("q1", "a", "b")])
    start_judging(Settings(), job)
    at = press((until(is_idle, job.name), open_page("rejudge", job=job.name))[1], "Save as a run")
    saved = find_job(Settings(), job.name).result
    assert saved.startswith(job.name)
    assert open_page("start").query_params["run"] in (run.key, [run.key])
    bar = component(open_page("start", run=saved), "top_bar")
    assert bar["run"] == saved
    assert any("(one of them)" in entry["name"] for entry in bar["runs"] if entry["key"] == saved)
    assert not at.exception


def test_a_long_selection_gives_a_title_that_can_be_saved(run, open_page, server):
    job = request_judging(Settings(), JobRequest(run.digest, run.title, "words: " + "very long " * 40, 1), [("q1", "a", "b")])
    start_judging(Settings(), job)
    until(is_idle, job.name)
    at = press(open_page("rejudge", job=job.name), "Save as a run")
    assert not at.exception
    assert len(find_run(Settings().store_dir, job.name).title) <= 200


def test_a_result_without_a_title_is_not_saved(run, open_page, server):
    at, _ = judged(run, open_page)
    next(field for field in at.text_input if field.label == "Title of the run").input("  ")
    assert "needs a title" in words_on(press(at, "Save as a run"))


def test_a_discarded_job_is_gone_and_its_address_says_so(run, open_page, server):
    at, job = judged(run, open_page)
    at = press(at, "Delete this job")
    assert list_jobs(Settings()) == []
    assert "There is no job" in words_on(open_page("rejudge", job=job.name))


def test_earlier_jobs_are_listed(run, open_page, server):
    judged(run, open_page)
    listed = next(frame.value for frame in lists(open_page("rejudge")) if "state" in frame.value)
    assert listed[["selection", "count", "judge", "state"]].values.tolist() == [["all", 12, "model, structured", "finished"]]


# -- a run that nothing has compared ------------------------------------------------------------------------------------


@pytest.fixture
def unjudged(tmp_path, data_dir) -> Run:
    """Three handbooks with an answer each to two questions, and a fourth without."""
    release = release_from(
        tmp_path / "unjudged", "q1 kidney ab=DIVERGENT ac=CONSISTENT bc=CONSISTENT d=absent", run_id="unjudged"
    )
    shutil.rmtree(release / "comparisons")
    manifest = json.loads((release / "manifest.json").read_text())
    (release / "manifest.json").write_text(json.dumps({name: manifest[name] for name in ("run_id", "title", "answers")}))
    return load(release, data_dir).run


def test_a_run_without_labels_says_what_judging_would_take_and_is_judged_for_the_first_time(unjudged, open_page, server):
    at = open_page("rejudge", run=unjudged.key, which="all")
    words = words_on(at).replace("*", "")
    assert "would take about 3 calls to a language model" in words
    assert "6 pairs." in words
    press(at, ESTIMATE)
    job = until(is_idle)
    press(open_page("rejudge", run=unjudged.key, job=job.name), "Judge 6 pairs")
    assert until(is_idle).state is JobState.FINISHED
    at = open_page("rejudge", run=unjudged.key, job=job.name)
    assert not at.exception
    assert "Judged: 3." in words_on(at).replace("*", "")
    assert "These are the first labels of this run." in words_on(at)
    press(at, "Save as a run")
    assert find_run(Settings().store_dir, job.name).has_pairs


# -- rights -------------------------------------------------------------------------------------------------------------


def test_links_to_rejudge_are_for_the_owner_only(run, open_page):
    def rejudge_links(at: AppTest) -> list[str]:
        return [link.proto.label for link in at.get("page_link") if "e-judge " in link.proto.label]

    assert len(rejudge_links(open_page("disagreements"))) == 2
    assert len(rejudge_links(open_page("question"))) == 1
    store = open_label_store(Settings().studies_url)
    people(store, "vera", role="viewer")
    people(store, "petra", role="pi")
    assert rejudge_links(open_page("disagreements")) == []
    for name, count in (("vera", 0), ("petra", 2)):
        at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
        at.session_state[TOKEN] = open_session(store, name, datetime.now(UTC))
        assert len(rejudge_links(at.run().switch_page(script_path("disagreements")).run())) == count
    store.close()


def test_a_job_records_who_requested_it(run, open_page, data_dir, server):
    store = open_label_store(Settings().studies_url)
    people(store, "petra", role="pi")
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.session_state[TOKEN] = open_session(store, "petra", datetime.now(UTC))
    press(at.run().switch_page(script_path("rejudge")).run(), ESTIMATE)
    assert request_of(list_jobs(Settings())[0]).requested_by
    store.close()
