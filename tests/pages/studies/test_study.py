"""The Studies page: draw a sample, watch its progress, advance it, export and import packets."""

from __future__ import annotations

import csv
import io
import shutil
from dataclasses import replace

import pytest
import streamlit
from sqlalchemy import text

from annotation.label_store.assignments import prefetch_tasks
from annotation.label_store.studies import ItemKind, StudyState, advance_study, find_study, list_studies
from annotation.studies.adjudication import close_study, list_disputes
from annotation.studies.packets import packet_csv
from annotation.studies.sample_plan import SamplePlan
from annotation.studies.sampling import draw_study
from annotation.studies.study_tables import ratings_table
from annotation.studies.verdict_store import SampleOrigin, StoredVerdict, Stratum, list_strata, store_sample
from pages._blinded.scripts import script_path
from tests.pages.conftest import HANDBOOKS, TABLE, lists, words_on
from tests.pages.studies.conftest import SignIn
from tests.support.studies import NOW, item, people, rate, rate_all, step, study_of

CALIBRATED = [("ABSENT", "ABSENT"), ("ABSENT", "ABSENT"), ("CONSISTENT", "CONSISTENT"), ("ABSENT", "CONSISTENT")]
"""Labels of ana and ben on four calibration items."""


@pytest.fixture
def ready(run, folk):
    """A run, a PI and two annotators."""
    people(folk, "ana", "ben")
    return folk


def filled(at, study_id: str):
    at.text_input(key="study_id").set_value(study_id)
    at.text_input(key="study_title").set_value("Is the judge right?")
    at.number_input(key="repeats").set_value(1)
    return at


def test_a_pi_draws_a_sample_and_its_annotators_see_it(ready, as_user: SignIn):
    at = filled(as_user("petra", "study"), "first-one")
    at.text_area(key="masked_words").set_value("on q1")
    at = at.button(key="create_study").click().run()
    assert not at.exception
    assert not at.error
    assert at.selectbox(key="study_chosen").value == "first-one"
    assert "0 [contact], 0 [source]. Listed besides the names of the run: on q1." in words_on(at)
    assert [study.title for study in list_studies(ready)] == ["Is the judge right?"]
    assert [study.title for study in list_studies(ready, "ana")] == ["Study 1 (pairs)"]
    assert "**labelling**" in words_on(at)  # so few pairs that none is left over for calibration


def test_a_sample_is_drawn_from_the_run_seen_last_and_words_of_names_that_are_left_are_a_warning(load_run, folk, as_user: SignIn):
    people(folk, "ana", "ben")
    seen = load_run(handbooks=[{**one, "center": "Hand"} for one in HANDBOOKS])  # a part of "handbook"
    newest = load_run(TABLE.replace("DIVERGENT/high", "CONSISTENT"), run_id="newest")
    assert as_user("petra", "study").selectbox(key="study_run").value == newest.key
    at = as_user("petra")
    at.query_params["run"] = seen.key
    at = filled(at.switch_page(script_path("studies/study")).run(), "first-one")
    assert at.selectbox(key="study_run").value == seen.key
    at = at.button(key="create_study").click().run()
    assert "first-one" not in {study.study_id for study in list_studies(folk)}
    warned = "\n".join(part.value for part in at.warning).replace("\\", "")
    assert "a word that is in an institution's name too, and may be an ordinary one" in warned
    assert "Read these items" in [part.label for part in at.expander]
    at = at.button(key="create_study").click().run()  # read, and wanted all the same
    assert "The study was created" in at.success[0].value
    with folk.begin() as tx:
        advance_study(tx, "first-one", StudyState.LABELLING, NOW, incomplete=True)
    close_study(folk, "first-one", NOW)
    assert "institution's name" not in words_on(as_user("petra", "study"))


def test_the_strata_are_previewed_before_anything_is_created(ready, as_user: SignIn):
    at = filled(as_user("petra", "study"), "first-one")
    at.text_area(key="masked_words").set_value("on q1\n\n on q1 ")
    at = at.button(key="preview").click().run()
    assert not at.exception
    assert "Nothing was created." in words_on(at)
    assert "No answer still holds a word of an institution's name." in words_on(at)
    masked = next(frame.value for frame in lists(at) if "places" in frame.value)
    assert set(masked["text"]) == {"on q1"}
    assert "Masked in the answers: " in words_on(at)
    assert list_studies(ready) == []


def test_the_planner_follows_the_numbers_before_anything_is_drawn(ready, as_user: SignIn):
    at = as_user("petra", "study")
    assert "points, if annotators confirm 80 % of the judge's labels" in words_on(at)
    at = at.number_input(key="items_ABSENT").set_value(0).run()
    assert "the share of disagreement in the whole run would stay unknown" in words_on(at)


def test_a_study_can_be_designed_for_its_primary_figure(ready, as_user: SignIn):
    at = as_user("petra", "study")
    at = at.selectbox(key="design_for").set_value("r_div").run()
    assert not at.exception
    assert "items_ABSENT" not in {box.key for box in at.number_input}
    at = at.number_input(key="items_in_all").set_value(20).run()
    (planned,) = [line for line in words_on(at).splitlines() if "an agreement of 80 %" in line]
    assert planned.startswith("14 items: ")  # the run has no more outside the check


def shown_in_address(at) -> str:
    """The study in the address: a text or a list of one, as the test tool sees what the page or a callback wrote."""
    value = at.query_params["study"]
    return value if isinstance(value, str) else value[0]


def test_the_study_stands_in_the_address_and_is_kept_across_pages(folk, as_user: SignIn):
    for study_id, people_of in (("older", ("ana", "ben")), ("newer", ("cem", "dea"))):
        study_of(folk, [replace(item(1), item_id=f"{study_id}-1")], people_of, study_id=study_id)
    at = as_user("petra", "study")
    first = shown_in_address(at)
    other = ({"older", "newer"} - {first}).pop()
    at.selectbox(key="study_chosen").set_value(other).run()
    assert shown_in_address(at) == other
    for page in ("agreement", "prevalence", "study"):
        at = at.switch_page(script_path(f"studies/{page}")).run()
        assert at.selectbox(key="study_chosen").value == other
    at.query_params["study"] = "gone"
    at = at.run()
    assert "The address names the study gone" in words_on(at)


def test_an_invalid_id_is_explained(ready, as_user: SignIn):
    at = filled(as_user("petra", "study"), "../x")
    at = at.button(key="create_study").click().run()
    assert "is not a valid study id" in words_on(at)


def test_without_a_run_or_annotators_the_page_explains_what_is_needed(folk, as_user: SignIn):
    at = as_user("petra", "study")
    assert not at.exception
    assert "two annotators" in words_on(at)


def test_a_study_advances_when_its_ratings_are_complete_or_on_request(folk, as_user: SignIn):
    study_of(folk, 3)
    at = as_user("petra", "study")
    assert "6 of 6 ratings are missing; after this step nobody can add them." in words_on(at)
    assert at.button(key="advance").disabled
    at = at.checkbox(key="incomplete_s_labelling").check().run()
    assert not at.button(key="advance").disabled
    at = at.button(key="advance").click().run()
    assert not at.exception
    assert find_study(folk, "s").state is StudyState.ADJUDICATION
    assert "0 of 0 disputes are decided" in words_on(at)
    at.button(key="advance").click().run()
    assert find_study(folk, "s").state is StudyState.CLOSED


def test_a_study_with_undecided_disputes_cannot_be_closed(folk, as_user: SignIn):
    study_of(folk, 2)
    rate_all(folk, "ana", "ABSENT")
    rate_all(folk, "ben", "CONSISTENT")
    step(folk, StudyState.LABELLING)
    at = as_user("petra", "study")
    assert "0 of 2 disputes are decided." in words_on(at)
    assert "2 disputes are undecided." in words_on(at)
    assert at.button(key="advance").disabled
    assert "incomplete_s_adjudication" not in [box.key for box in at.checkbox]


def test_calibration_shows_agreement_the_threshold_and_the_differing_items_without_the_judge(folk, as_user: SignIn):
    """Ana and ben agree on 3 of 4 calibration items, and weighted kappa is 0.5 (by hand in the tests of calibration)."""
    study_of(folk, [*(item(n, ItemKind.CALIBRATION) for n in range(1, 5)), item(5)])
    verdict = StoredVerdict("i001", "DIVERGENT", "DIVERGENT", None, None, "CANARY")
    with folk.begin() as tx:
        store_sample(tx, "s", SampleOrigin("run", "0" * 64, 9, 0, {}), [Stratum("DIVERGENT", "DIVERGENT", None, 9, 1)], [verdict])
    assert "No calibration item is rated by two annotators yet." in words_on(as_user("petra", "study"))
    for number, (ana, ben) in enumerate(CALIBRATED, start=1):
        rate(folk, "ana", number, ana)
        rate(folk, "ben", number, ben, comment="adds a dose" if ana != ben else "")
    at = as_user("petra", "study")
    text = words_on(at)
    assert "Same label: 75 % of 4 calibration items" in text
    assert "quadratic weights 0.50" in text
    assert "The protocol asks for 70 % and a kappa of 0.6: not met." in text
    assert "ben: Consistent, adds a dose" in text
    assert "CANARY" not in text
    assert at.button(key="advance").disabled
    at.checkbox(key="incomplete_s_calibration").check().run().button(key="advance").click().run()
    assert find_study(folk, "s").state is StudyState.LABELLING


def test_progress_is_counts_by_annotator(folk, as_user: SignIn):
    study_of(folk, 4)
    rate_all(folk, "ana")
    shown = lists(as_user("petra", "study"))[0].value
    assert [(row.annotator, row.rated, row.seats) for row in shown.itertuples()] == [("ana", 4, 4), ("ben", 0, 4)]


def test_the_page_warns_that_open_browsing_unblinds(folk, as_user: SignIn, monkeypatch):
    assert "which unblinds them" in words_on(as_user("petra", "study"))
    monkeypatch.setenv("AUDIT_BROWSING", "signed-in")
    assert "which unblinds them" not in words_on(as_user("petra", "study"))


def test_a_packet_completed_offline_is_stored(folk, as_user: SignIn):
    study_of(folk, 2)
    lines = packet_csv(folk, "s", "ana").decode("utf-8-sig").splitlines()
    filled_in = "\n".join([lines[0], *(f"{line.removesuffix(',,,,,,,')},absent,,,,,," for line in lines[1:])])
    at = as_user("petra", "study")
    at.selectbox(key="packet_of").set_value("ana")
    at.file_uploader(key="packet_in").set_value(("ana.csv", filled_in.encode(), "text/csv"))
    at = at.run().button(key="import").click().run()
    assert not at.exception
    assert "2 ratings stored" in "\n".join(str(message.value) for message in at.success)


def texts_on(at) -> str:
    return words_on(at).replace("**", "")


def test_each_state_explains_itself_and_the_next_step(folk, as_user: SignIn):
    study_of(folk, [item(1, ItemKind.CALIBRATION), item(2)])
    at = as_user("petra", "study")
    assert "**calibration** → :gray[labelling] → :gray[adjudication] → :gray[closed]" in words_on(at)
    assert "Start labelling ends the calibration round for good" in texts_on(at)
    for name in ("ana", "ben"):
        rate_all(folk, name)
    at = at.run().button(key="advance").click().run()
    assert "blind to the judge and to each other" in texts_on(at)
    assert "Start adjudication ends rating for good" in texts_on(at)
    for name in ("ana", "ben"):
        rate_all(folk, name)
    at = at.run().button(key="advance").click().run()
    assert "Close the study makes the decisions final" in texts_on(at)
    at = at.button(key="advance").click().run()
    assert "The study has ended" in texts_on(at)
    assert "advance" not in [button.key for button in at.button]


@pytest.mark.usefixtures("every_tab")
def test_a_calibration_round_is_counted_separately_and_enters_no_figure(folk, as_user: SignIn):
    """Ana and ben differ on the calibration item, and agree on the one of the study."""
    study_of(folk, [item(1, ItemKind.CALIBRATION), item(2)])
    stored_verdicts = [StoredVerdict(f"i{n:03}", "ABSENT", "ABSENT", None, None, None) for n in (1, 2)]
    with folk.begin() as tx:
        store_sample(tx, "s", SampleOrigin("run", "0" * 64, 9, 0, {}), [Stratum("ABSENT", "ABSENT", None, 9, 1)], stored_verdicts)
    rate(folk, "ana", 1, "ABSENT")
    rate(folk, "ben", 1, "CONSISTENT")
    shown = lists(as_user("petra", "study"))[0].value
    assert [(row.annotator, row.round, row.rated, row.seats) for row in shown.itertuples()] == [
        ("ana", "calibration", 1, 1), ("ben", "calibration", 1, 1), ("ana", "study", 0, 1), ("ben", "study", 0, 1)
    ]  # fmt: skip
    step(folk, StudyState.CALIBRATION)
    rate(folk, "ana", 2, "ABSENT")
    rate(folk, "ben", 2, "ABSENT")
    figures = next(frame.value for frame in lists(as_user("petra", "agreement")) if {"figure", "sample"} <= set(frame.value))
    assert figures.set_index("figure").loc["raw agreement", ["sample", "n"]].tolist() == [1.0, 1]
    step(folk, StudyState.LABELLING)
    assert list_disputes(folk, "s") == []


@pytest.fixture
def downloads(monkeypatch) -> dict[str, tuple[str, bytes]]:
    """Key of a download button -> (file name, what it hands out)."""
    files: dict[str, tuple[str, bytes]] = {}

    def noted(label, data, name, *_, key, **__):
        files[key] = name, data() if callable(data) else data

    monkeypatch.setattr(streamlit, "download_button", noted)
    return files


@pytest.fixture
def finished(folk):
    """Two items that the judge calls ABSENT; the two annotators agree on the first."""
    study_of(folk, 2)
    stored_verdicts = [StoredVerdict(f"i{n:03}", "ABSENT", "ABSENT", None, None, None) for n in (1, 2)]
    with folk.begin() as tx:
        store_sample(tx, "s", SampleOrigin("run", "0" * 64, 9, 0, {}), [Stratum("ABSENT", "ABSENT", None, 9, 2)], stored_verdicts)
    for name, second in (("ana", "ABSENT"), ("ben", "CONSISTENT")):
        rate(folk, name, 1, "ABSENT")
        rate(folk, name, 2, second, comment="=1+1")
    return folk


def test_the_export_has_one_row_per_item_and_annotator_and_the_codebook_every_column(finished, as_user: SignIn, downloads):
    assert not as_user("petra", "study").exception
    (name, table), (book_name, book) = downloads["ratings"], downloads["codebook"]
    assert (name, book_name) == ("s_ratings.csv", "codebook.csv")
    rows = list(csv.DictReader(io.StringIO(table.decode("utf-8-sig"))))
    assert [(row["item_id"], row["annotator"], row["label"], row["judge"], row["gold"]) for row in rows] == [
        ("i001", "ana", "ABSENT", "ABSENT", "ABSENT"), ("i001", "ben", "ABSENT", "ABSENT", "ABSENT"),
        ("i002", "ana", "ABSENT", "ABSENT", ""), ("i002", "ben", "CONSISTENT", "ABSENT", ""),
    ]  # fmt: skip
    assert {row["design_weight"] for row in rows} == {"4.5"}
    assert rows[3]["comment"] == "'=1+1"
    explained = {row["column"]: row["meaning"] for row in csv.DictReader(io.StringIO(book.decode("utf-8-sig")))}
    assert list(explained) == list(rows[0])
    assert all(explained.values())


def test_the_tables_on_the_page_can_be_saved_safe_for_spreadsheets(ready, as_user: SignIn, downloads):
    at = filled(as_user("petra", "study"), "first-one")
    at.button(key="create_study").click().run()
    as_user("petra", "study")
    name, progress = downloads["csv_progress"]
    assert (name, progress.decode("utf-8-sig").splitlines()[0]) == ("first-one_progress.csv", "annotator,round,rated,seats,share")
    name, strata = downloads["csv_strata"]
    assert (name, strata.decode("utf-8-sig").splitlines()[0].split(",")[0]) == ("first-one_strata.csv", "stratum")


def test_packets_are_exported_for_the_chosen_annotator(finished, as_user: SignIn, downloads):
    at = as_user("petra", "study")
    at.selectbox(key="packet_of").set_value("ben").run()
    assert downloads["packet_csv"] == ("study_1_ben.csv", packet_csv(finished, "s", "ben"))
    assert downloads["packet_xlsx"][0] == "study_1_ben.xlsx"


def test_one_click_verifies_the_ratings_and_reports_an_altered_one(finished, as_user: SignIn):
    at = as_user("petra", "study").button(key="verify").click().run()
    assert at.success[-1].value.startswith("Nothing in this study was altered")
    with finished.begin() as tx:
        tx.execute(text("drop trigger ratings_no_update"))
        tx.execute(text("update ratings set label = 'DIVERGENT', significance = 'low' where seq = 1"))
    at = as_user("petra", "study").button(key="verify").click().run()
    assert "This study was altered. ratings: entry 1 was changed after it was written" in at.error[-1].value.replace("\\", "")


def test_a_study_does_not_change_when_its_run_is_reloaded_or_deleted(ready, load_run, data_dir, as_user: SignIn):
    at = filled(as_user("petra", "study"), "first-one")
    at.button(key="create_study").click().run()
    before = ratings_table(ready, "first-one"), packet_csv(ready, "first-one", "ana"), list_strata(ready, "first-one")
    assert "No answer still holds a word of an institution's name." in words_on(as_user("petra", "study"))
    load_run(TABLE.replace("DIVERGENT/high", "CONSISTENT").replace("COMPLEMENTARY", "ABSENT"))
    assert same(before, ready)
    shutil.rmtree(data_dir / "store")
    assert same(before, ready)
    assert "that masking left in the answers cannot be listed: the run of the sample is no longer loaded." in words_on(
        as_user("petra", "study")
    )
    for name, page in (("petra", "study"), ("petra", "agreement"), ("ana", "annotate")):
        at = as_user(name, page)
        assert not at.exception
        assert not at.error


@pytest.mark.parametrize("page", ["study", "agreement", "prevalence", "adjudicate", "annotate"])
def test_a_study_drawn_from_a_synthetic_run_says_so_on_each_of_its_pages(page, load_run, folk, as_user: SignIn):
    run = load_run(synthetic=True, terms={"handbook": "*guide*"})
    people(folk, "ana", "ben")
    plan = SamplePlan(calibration=0, repeats=0)
    for study_id in ("made-up", "made-up-2"):
        draw_study(folk, run, plan, study_id=study_id, title=study_id, annotators=("ana", "ben"), now=NOW)
    with folk.begin() as tx:
        advance_study(tx, "made-up", StudyState.LABELLING, NOW, incomplete=True)
    at = as_user("ana" if page == "annotate" else "petra", page)
    assert not at.exception
    assert "No real *guide*, center or patient" in words_on(at)


def test_a_study_of_real_texts_has_no_such_notice(folk, as_user: SignIn):
    study_of(folk, 2)
    assert "Not for use in practice" not in words_on(as_user("petra", "study")) + words_on(as_user("ana", "annotate"))


def same(before, store) -> bool:
    table, packet, strata = before
    return (
        ratings_table(store, "first-one").equals(table)
        and packet_csv(store, "first-one", "ana") == packet
        and list_strata(store, "first-one") == strata
    )


def test_with_more_than_two_annotators_a_pi_can_release_items(folk, as_user: SignIn):
    study_of(folk, 12, ("ana", "ben", "cem"))
    prefetch_tasks(folk, "s", "ana", 14)
    at = as_user("petra", "study")
    at.selectbox(key="held_by").set_value("ana")
    at = at.button(key="release").click().run()
    assert "8 items released" in "\n".join(str(message.value) for message in at.success)
    assert rate_all(folk, "ben") == rate_all(folk, "cem") == 12


def test_with_two_annotators_there_is_nothing_to_release(folk, as_user: SignIn):
    study_of(folk, 2)
    assert "release" not in [button.key for button in as_user("petra", "study").button]
