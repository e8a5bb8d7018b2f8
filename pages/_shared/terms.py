"""Text on a page: the release's own terms filled in, and untrusted text escaped so that it is never read as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable

from audit.store.runs import Run
from audit.terms import fill, terms
from pages._blinded.frame import escaped

__all__ = ["escaped", "fill", "listed", "say", "terms", "title_of"]

BEFORE_PERCENT = re.compile(r"(?<=\d) (?=\\?%)")


def say(run: Run, template: str, **values: object) -> str:
    """Markdown from one of our templates: `{handbooks}`, `{Organ}`, `{a_handbook}` are the run's terms; all values are escaped.

    A number and its percent sign stay on one line.
    """
    values_by_name = {name: escaped(value) for name, value in {**terms(run), **values}.items()}
    return BEFORE_PERCENT.sub("\N{NO-BREAK SPACE}", template.format(**values_by_name))


def title_of(run: Run, word: str) -> str:
    """The run's word for `word` as a column heading or a label: `Topic area` for `organ` in a release that says so.

    Plain text: widget labels interpret Markdown, so pass it through `escaped` there.
    """
    return terms(run)[word.capitalize()]


def listed(names: Iterable[object]) -> str:
    """`a, b and c`."""
    *first, last = [str(name) for name in names] or [""]
    return f"{', '.join(first)} and {last}" if first else last
