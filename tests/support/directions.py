"""HTML of a page without the attributes and elements that give texts their directions, which `test_directions` checks."""

import re

DIRECTION = re.compile(r' dir="(?:auto|ltr)"|</?bdi>')


def without_directions(html: str) -> str:
    """The HTML as a reader of the test expects it."""
    return DIRECTION.sub("", html)
