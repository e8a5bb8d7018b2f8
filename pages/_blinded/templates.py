"""HTML from Jinja2 templates, which lie beside the code that fills them. Every value is escaped, but for what they made.

Components of the browser, whose HTML, style and script lie together.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

import streamlit as st
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from audit.formatting import fixed, shortened, unbroken

PAGES = Path(__file__).parents[1]


def rendered(template: str, /, **values: object) -> Markup:
    """A template with its values, by its path in `pages/`: `rendered("_shared/verdict.html", topic="diet")`."""
    return Markup(_environment().get_template(template).render(**values))  # noqa: S704  # the template has escaped the values


def component(path: str) -> Any:
    """A component of the browser: its HTML, style and script lie at this path in `pages/`, as `_shared/search`."""
    style, script = ((PAGES / f"{path}{ending}").read_text(encoding="utf-8") for ending in (".css", ".js"))
    return st.components.v2.component(PurePosixPath(path).name, html=rendered(f"{path}.html"), css=style, js=script)


def marked(text: str, start: int, end: int) -> Markup:
    """The text with its characters `start` to `end`, if any, in `<mark>`."""
    mark = Markup("<mark>{}</mark>").format(text[start:end]) if start < end else ""
    return Markup("{}{}{}").format(text[:start], mark, text[end:])


@cache
def _environment() -> Environment:
    # StrictUndefined: a misspelled name in a template must fail instead of printing nothing.
    environment = Environment(
        loader=FileSystemLoader(PAGES), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"shortened": shortened, "thousands": "{:,}".format, "fixed": fixed, "unbroken": unbroken}
    return environment
