"""Annotators with a browser: real keys in Chromium, timed by the page's own clock.

From the key's event to the question that has changed (MutationObserver) and the frame that shows it has been drawn; and to
the moment when the labelling widget says that all is saved, which the bare page has no word for.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from playwright.sync_api import Browser, Page, sync_playwright

FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update"]
ROUND = ("1", "2", "3", "4m", "5h")
"""Two of five labels need a second key; the time runs from the last."""
LISTEN = """
window.seen = []; window.saved = []; window.tells = false
addEventListener("keydown", () => { window.pressed = performance.now() }, true)
"""
WATCH = """
([element, question, status]) => {
  const root = element.getRootNode(), text = () => root.querySelector(question)?.textContent
  let shown = text(), unsaved = null
  window.tells = Boolean(status)
  new MutationObserver(() => {
    const key = window.pressed
    if (text() && text() !== shown) {
      shown = text(); unsaved = key
      requestAnimationFrame(() => setTimeout(() => window.seen.push(performance.now() - key)))
    }
    if (status && unsaved && root.querySelector(status).textContent === "all saved") {
      window.saved.push(performance.now() - unsaved); unsaved = null
    }
  }).observe(root, { subtree: true, childList: true, characterData: true })
}
"""


@dataclass(frozen=True)
class Times:
    """Milliseconds, one per label: until the next item is visible, and until the label is saved."""

    visible: list[float]
    saved: list[float]


@contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's Chromium, or the one that Playwright has."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        yield browser
        browser.close()


def widget_page(browser: Browser, address: str, token: str) -> Page:
    """The Annotate page of whoever holds the token."""
    page = _page(browser, address, {"name": "handbook_session", "value": token, "url": address})
    page.locator(".labelling-widget h2").wait_for()
    page.locator(".labelling-widget").evaluate(
        f"widget => ({WATCH})([widget, '.labelling-widget h2', '.labelling-widget .saved'])"
    )
    return page


def bare(browser: Browser, address: str) -> Page:
    """The bare page."""
    page = _page(browser, address)
    page.locator("h2").wait_for()
    page.get_by_role("button", name="ABSENT").wait_for()
    page.locator("h2").evaluate(f"heading => ({WATCH})([heading, 'h2', null])")
    return page


def _page(browser: Browser, address: str, *cookies: object) -> Page:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.add_cookies(list(cookies))  # type: ignore[arg-type]
    page = context.new_page()
    page.add_init_script(LISTEN)
    page.goto(address)
    return page


def type_labels(pages: Sequence[Page], labels: int, pause_ms: int, *, one_key: bool = False) -> Times:
    """Label on every page in turn; on each, the next key comes when all is saved and after a pause."""
    for number in range(labels + 1):
        for page in pages:
            for key in ROUND[number % (3 if one_key else 5)]:
                page.keyboard.press(key)
        for page in pages:
            page.wait_for_function(f"seen.length > {number} && (!tells || saved.length > {number})")
            page.wait_for_timeout(pause_ms / len(pages))
    times = [page.evaluate("[seen, saved]") for page in pages]  # the first label of a session warms caches
    return Times([t for seen, _ in times for t in seen[1:]], [t for _, saved in times for t in saved[1:]])
