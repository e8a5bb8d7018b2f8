"""Labelling by keyboard: session on the server, widget in the browser, and here the rubrics, taken from PROTOCOL.md."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from annotation.schemes import HEAD_TO_HEAD, PAIRS, Scheme
from annotation.studies.packets import protocol_text, rubric_tables
from pages._blinded.templates import rendered

__all__ = ["annotators_text", "protocol_text", "rubric_html"]

FOR_ANNOTATORS = {PAIRS: ("1", "4", "5", "12"), HEAD_TO_HEAD: ("11", "12")}
"""Sections that annotators read. The others speak of strata, silent repeats and times: who knows them rates differently."""


def annotators_text(schemes: Iterable[Scheme]) -> str:
    """The sections of the protocol for those who label studies of these schemes, as Markdown, without their numbers."""
    wanted = {number for scheme in schemes for number in FOR_ANNOTATORS[scheme]}
    sections = re.findall(r"^## (\d+)\. ((?:.*\n?)(?:(?!## ).*\n?)*)", protocol_text(), flags=re.MULTILINE)
    return "\n".join(f"## {text}" for number, text in sections if number in wanted)


@cache
def rubric_html(scheme: Scheme = PAIRS) -> str:
    """The rubric of a scheme as tables of HTML."""
    return rendered("_blinded/labelling/rubric.html", tables=rubric_tables(scheme))
