"""Every pair that filters select, with both answers, as a file; and what to do where they are too many for a browser."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import streamlit as st

from audit.exports.pair_files import MAX_SHEET_ROWS, write_pairs
from audit.exports.text_writers import file_name
from audit.metrics.disagreements import Filters
from audit.store.runs import Run
from pages._blinded.file_widgets import download_button
from pages._shared.widgets import say

MAX_PAIRS = 50_000
"""In one download: with both answers some 50 MB as CSV, which the server keeps in memory."""
MAX_IN_SHEET = min(5_000, MAX_SHEET_ROWS)
KINDS = {
    ".csv": ("CSV", "text/csv", MAX_PAIRS),
    ".xlsx": ("XLSX", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", MAX_IN_SHEET),
    ".parquet": ("Parquet", "application/vnd.apache.parquet", MAX_PAIRS),
}
TOO_MANY = (
    "{n} pairs are too many for {kinds} in a browser. Add filters, or run in a terminal: `audit pairs --out FILE` with the same "
    "filters."
)


def download_all(run: Run, filters: Filters, order: str, pairs: int) -> None:
    """A button for each format, made on the click."""
    with st.popover("Download all", icon=":material/download:", width="content"):
        st.caption(say(run, "{n} pairs with both answers, the label, and the judge's reasoning.", n=f"{pairs:,}"))
        too_many = [title for title, _, most in KINDS.values() if pairs > most]
        for suffix, (title, mime, most) in KINDS.items():
            if pairs <= most:
                name = file_name(run, "pairs").removesuffix(".csv") + suffix
                download_button(
                    title, partial(_content, run, filters, order, suffix), name, mime, f"pairs{suffix}",
                    icon=":material/download:",
                )  # fmt: skip
        if too_many:
            st.caption(say(run, TOO_MANY, n=f"{pairs:,}", kinds=" and ".join(too_many)))


def _content(run: Run, filters: Filters, order: str, suffix: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"pairs{suffix}")
        write_pairs(run, filters, path, order)
        return path.read_bytes()
