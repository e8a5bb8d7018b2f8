"""A study of 40 items from its sample to its last table, in real browsers: two annotators, a PI and an adjudicator."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from annotation.agreement.report import agreement_report
from annotation.label_store.engine import LabelStore, open_label_store
from annotation.label_store.results import assignment_rows
from annotation.prevalence.estimates import prevalence
from annotation.ratings.table import GOLD, ratings_from
from annotation.studies.study_tables import labels_table, ratings_table
from audit.vocabulary import DISAGREEING, LABELS, SIGNIFICANCES
from tests.browser.conftest import ROOT, Dashboard, open_tab, server, settled, signed_in_as
from tests.support.studies import people

pytestmark = pytest.mark.browser

ITEMS, PER_LABEL = 40, 8
STUDY = "to-the-end"
KEYS = {label: str(number) for number, label in enumerate(LABELS, start=1)}
ON_SCREEN = """widget => ({ assignment: widget.dataset.assignment, question: widget.querySelector("h2").textContent,
  answers: [...widget.querySelectorAll("article p")].map(p => p.textContent) })"""
Rating = tuple[str, str | None]


@dataclass
class Clinic:
    """The server and its label store."""

    dashboard: Dashboard
    store: LabelStore


@pytest.fixture
def clinic(browser: Browser, demo_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Clinic]:
    monkeypatch.setenv("AUDIT_BROWSING", "signed-in")
    shutil.copytree(demo_data / "store", tmp_path / "store")
    store = open_label_store(f"sqlite:///{tmp_path / 'studies.db'}")
    people(store, "ana", "ben")
    people(store, "ada", role="adjudicator")
    people(store, "petra", role="pi")
    with server(tmp_path) as address:
        yield Clinic(Dashboard(address, browser), store)
    store.close()


def hash_number(annotator: str, question: str, answers: Sequence[str]) -> int:
    """A number that depends on an item's text and its reader, but not on the order of items, the sides or the judge."""
    return int(sha256("|".join([annotator, question, *sorted(answers)]).encode()).hexdigest(), 16)


def rating_by(annotator: str, question: str, answers: Sequence[str]) -> Rating:
    """This annotator's rating of an item: the same for both annotators, except for about a quarter of ben's."""
    number = hash_number("both", question, answers)
    index = number % 5
    if annotator == "ben" and hash_number("ben", question, answers) % 4 == 0:
        index = (index + 1) % 5
    label = str(LABELS[index])
    return label, str(SIGNIFICANCES[number // 5 % 3]) if label in DISAGREEING else None


def draw_sample(pi: Page) -> None:
    pi.get_by_role("link", name="Studies", exact=True).click()
    pi.get_by_label("Id (letters, digits, . _ and -)").fill(STUDY)
    pi.get_by_label("Title").fill("From the draw to the tables")
    for label in LABELS:
        pi.get_by_label(label.capitalize(), exact=True).fill(str(PER_LABEL))
    for field in ("Calibration items", "Silent repeats"):
        pi.get_by_label(field).fill("0")
    pi.get_by_role("button", name="Draw sample and create study").click()
    expect(pi.get_by_text("The study was created")).to_be_visible()


def label_next(page: Page, annotator: str, before: str) -> str:
    """Read the item that follows the assignment `before`, type this annotator's rating, and return its assignment."""
    widget = page.locator(f'.labelling-widget[data-assignment]:not([data-assignment="{before}"])')
    shown = widget.evaluate(ON_SCREEN)
    label, significance = rating_by(annotator, shown["question"], shown["answers"])
    page.keyboard.press(KEYS[label])
    if significance:
        page.keyboard.press(significance[0])
    return str(shown["assignment"])


def metric(page: Page, index: int) -> Locator:
    return page.get_by_test_id("stMetricValue").nth(index)


def agreement_of(store: LabelStore) -> tuple[int, int]:
    """(items with equal labels, items labelled by both), computed from the ratings that the annotators intended so far."""
    rated: dict[str, list[str]] = {}
    for row in assignment_rows(store, STUDY):
        if row["label"] is not None:
            intended, _ = rating_by(row["annotator"], row["question"], (row["answer_a"], row["answer_b"]))
            rated.setdefault(row["item_id"], []).append(intended)
    both = [labels for labels in rated.values() if len(labels) == 2]
    return sum(a == b for a, b in both), len(both)


def label_side_by_side(clinic: Clinic, pi: Page) -> None:
    """Both label all items in turn, while the PI's page shows their progress."""
    pages = {name: signed_in_as(clinic.dashboard, name) for name in ("ana", "ben")}
    current = dict.fromkeys(pages, "")
    for number in range(1, ITEMS + 1):
        for name, page in pages.items():
            current[name] = label_next(page, name, current[name])
        if number in (ITEMS // 2, ITEMS):
            for page in pages.values():
                expect(page.locator(".labelling-widget .saved")).to_have_text("all saved")
            expect(pi.get_by_text(re.compile(rf"\(ana\): {number};.*\(ben\): {number}"))).to_be_visible()
            same, both = agreement_of(clinic.store)
            expect(metric(pi, 1)).to_have_text(f"{same / both:.3f}")
    for page in pages.values():
        expect(page.locator(".labelling-widget .done")).to_contain_text("All your items are done")
        assert page.get_by_test_id("stException").count() == 0


def advance(pi: Page, button: str, confirmation: str) -> None:
    open_tab(pi, "Studies", "Progress")
    pi.get_by_role("button", name=button).click()
    pi.get_by_role("button", name=confirmation).click()
    expect(pi.get_by_text("The study was advanced to its next state.")).to_be_visible()


def adjudicate(page: Page, disputes: int) -> None:
    """Decide every dispute for the first of the two labels."""
    for done in range(disputes):
        expect(page.locator(".labelling-widget .count")).to_contain_text(f"{done} of {disputes} decided · item")
        first = page.locator(".labelling-widget .ratings b").first.inner_text()
        page.keyboard.press(KEYS[first.upper()])
        if first.upper() in DISAGREEING:
            page.keyboard.press("m")
        expect(page.locator(".labelling-widget .saved")).to_have_text("not saved yet")
        page.keyboard.type(f"Decided for {first}.")  # the keys of the label led into the reason
        page.keyboard.press("Enter")
    expect(page.get_by_text("All disputes are decided")).to_be_visible()
    expect(page.locator(".labelling-widget .saved")).to_have_text("all saved")


def download(pi: Page, button: str, folder: Path) -> Path:
    """The file behind a button. It is made on the click, by the last run of the page, which must have finished."""
    with settled(pi).expect_download() as waiting:
        pi.get_by_role("button", name=button).click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def recomputed(path: Path) -> dict[str, float]:
    """The figures that the documented script computes from the exported file."""
    script = [sys.executable, str(ROOT / "data" / "recompute.py"), str(path)]
    lines = subprocess.run(script, capture_output=True, text=True, check=True).stdout.splitlines()[1:]
    return {name: float(value) for name, value in (line.split(",") for line in lines)}


def assert_export_has_the_typed_ratings(path: Path, store: LabelStore) -> None:
    table = pd.read_csv(path, keep_default_na=False)
    rows = {(row["item_id"], row["annotator"]): row for row in assignment_rows(store, STUDY)}
    assert len(table) == len(rows) == 2 * ITEMS
    for row in table.to_dict("records"):
        item = rows[row["item_id"], row["annotator"]]
        intended = rating_by(row["annotator"], item["question"], (item["answer_a"], item["answer_b"]))
        assert (row["label"], row["significance"] or None) == intended
        assert float(row["seconds"]) > 0
    for _, pair in table.groupby("item_id"):
        same = pair["label"].nunique() == 1
        assert set(pair["gold_source"]) == {"agreed" if same else "adjudicated"}
        assert pair["gold"].iloc[0] in set(pair["label"])
        assert set(pair["adjudicator"]) == {"" if same else "ada"}
    assert table["hash"].tolist() == ratings_table(store, STUDY)["hash"].tolist()


def assert_same_as_report(figures: Mapping[str, float], store: LabelStore) -> None:
    """The script's figures equal those of the report, and the corrected shares, to the last printed digit."""
    ratings = ratings_from(labels_table(store, STUDY))
    rows = agreement_report(ratings).figures.query("about == 'label' and label == ''")
    rows = rows.replace({"annotator_a": "A", "annotator_b": "B"})
    expected = {" ".join(row[["first", "second", "scope", "name"]]): row["value"] for _, row in rows.iterrows()}
    shares = prevalence(ratings, GOLD).query("method == 'corrected'").set_index("label")["value"]
    for name, value in figures.items():
        figure, label = name.rsplit(" ", 1)
        assert value == pytest.approx(shares[label] if figure == "prevalence" else expected[name], abs=1e-14), name


def expect_figures_on_page(pi: Page, figures: Mapping[str, float]) -> None:
    """The page shows the script's figures, for the items and for the run."""
    open_tab(pi, "Studies", "Agreement")
    pi.get_by_role("tab", name="Comparisons").click()
    for choice, raters in ((None, "A B"), (re.compile("the judge against gold"), "gold judge")):
        if choice is not None:
            settled(pi).get_by_label("Compare").click()
            pi.get_by_role("option", name=choice).first.click()
        for scope, button in (("sample", "These items"), ("population", "Weighted to the whole run")):
            pi.get_by_test_id("stButtonGroup").get_by_text(button, exact=True).click()
            kappa = f"{figures[f'{raters} {scope} kappa_quadratic']:.3f}".replace("-", "\N{MINUS SIGN}")
            expect(metric(pi, 0)).to_have_text(kappa)
            expect(metric(pi, 1)).to_have_text(f"{figures[f'{raters} {scope} agreement']:.3f}")


def test_two_annotators_a_pi_and_an_adjudicator_bring_a_study_to_its_end(clinic: Clinic, tmp_path: Path) -> None:
    pi = signed_in_as(clinic.dashboard, "petra")
    draw_sample(pi)
    open_tab(pi, "Studies", "Agreement")
    pi.get_by_role("tab", name="Comparisons").click()
    pi.evaluate("window.neverReloaded = true")
    label_side_by_side(clinic, pi)
    same, both = agreement_of(clinic.store)
    assert both == ITEMS
    advance(pi, "Start adjudication", "End rating and start adjudication")

    adjudicator = signed_in_as(clinic.dashboard, "ada")
    adjudicate(adjudicator, both - same)
    advance(pi, "Close the study", "Make the decisions final")

    path = download(pi, "Ratings as CSV", tmp_path)
    assert_export_has_the_typed_ratings(path, clinic.store)
    assert [row["column"] for row in pd.read_csv(download(pi, "Codebook as CSV", tmp_path)).to_dict("records")] == list(
        pd.read_csv(path).columns
    )
    figures = recomputed(path)
    assert figures["A B sample agreement"] == same / both
    assert_same_as_report(figures, clinic.store)
    expect_figures_on_page(pi, figures)
    assert pi.evaluate("window.neverReloaded")
    assert clinic.dashboard.page_errors == []
