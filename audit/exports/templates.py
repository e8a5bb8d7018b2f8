"""HTML from the templates in `audit/exports/pages`, every value escaped (Jinja2 with autoescape)."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup


@lru_cache(maxsize=1)
def _environment() -> Environment:
    # StrictUndefined: a misspelled name in a template must fail and not print nothing.
    return Environment(
        loader=PackageLoader("audit.exports", "pages"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip


def rendered(template: str, **values: object) -> str:
    """A template with its values. Only what is `trusted` is not escaped."""
    return _environment().get_template(template).render(**values)


def trusted(html: str) -> Markup:
    """HTML that was made here, from escaped parts."""
    return Markup(html)  # noqa: S704  # callers pass only what Jinja2 or Plotly wrote


def script_json(data: dict[str, Any]) -> Markup:
    """JSON that cannot end the script element that contains it."""
    # A text with </script> would end the element, and older JavaScript takes U+2028 and U+2029 for line breaks.
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return trusted(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))
