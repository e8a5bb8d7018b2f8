"""A team's own handbooks, from the command to the passages: `audit run`, then a clinician's path in a real browser."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Dashboard, server, settled
from tests.pipeline.stages.project import finished_project

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def tenancy(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    """The dashboard on the output of `audit run examples/tenancy/config.toml`."""
    data = shutil.copytree(finished_project(tmp_path_factory).data, tmp_path_factory.mktemp("tenancy") / "data")
    with server(data) as address:
        yield Dashboard(address, browser)


def test_from_a_disagreement_to_the_passages_behind_each_answer(tenancy: Dashboard) -> None:
    page = tenancy.open()
    expect(page.get_by_role("heading", name="What state codes disagree about")).to_be_visible()
    expect(page.get_by_label("Run", exact=True)).to_contain_text("Tenancy rules of five fictional states")
    page.get_by_role("link", name=re.compile("See all .* disputed")).click()
    expect(page.get_by_role("heading", name="Disagreements")).to_be_visible()
    expect(page.locator(".pair .side")).to_have_count(2)
    settled(page)
    answers = page.locator(".pair .answer-text").all_inner_texts()
    # The first sentence of what is quoted first, without the heading above it
    statements = [text.partition(" [")[0].splitlines()[-1].split(". ")[0] for text in answers]
    assert len(statements) == 2

    page.get_by_role("link", name="See the passages behind both answers").click()
    expect(page.get_by_role("heading", name="Answer", exact=True)).to_be_visible()
    settled(page)
    assert "handbook=" in page.url
    assert "other=" in page.url
    shown = page.locator('[data-testid="stMain"]').inner_text()
    for sentence in statements:  # the generator quotes: each statement is also found verbatim in a section of the code
        assert shown.count(sentence) >= 2
    expect(page.get_by_text("How the search went, step by step")).to_have_count(2)
    assert tenancy.page_errors == []
    assert tenancy.foreign_requests == []


def test_two_people_who_ask_at_once_each_get_their_own_result(tenancy: Dashboard) -> None:
    asked = {"May I keep a cat in my flat?": "unless the landlord agrees", "How warm must rooms be in winter?": "68 °F"}
    pages = [tenancy.open("/ask") for _ in asked]
    for question, page in zip(asked, pages, strict=True):
        page.get_by_label("Your question").fill(question)
    for page in pages:  # the second while the first is being answered
        page.get_by_label("Your question").press("Enter")
    for own, other, page in zip(asked.values(), reversed(asked.values()), pages, strict=True):
        expect(page.get_by_role("heading", name="What each state code says")).to_be_visible()
        shown = settled(page).locator('[data-testid="stMain"]').inner_text()
        assert own in shown
        assert other not in shown
    page.get_by_label("Your question").fill("By how many percent may the rent rise?")
    page.get_by_label("Your question").press("Enter")
    expect(page.get_by_text("at most 5 %").first).to_be_visible()
    assert tenancy.page_errors == []
