"""Runs: every loaded run, and the load report of the chosen one."""

from typing import Any

import pandas as pd
import streamlit as st

from audit.metrics.findings import findings
from audit.store.runs import Run
from pages._shared.loaders import load, runs
from pages._shared.page import page
from pages._shared.pickers import pick_many
from pages._shared.tables import table
from pages._shared.widgets import counts, footer
from pages._shared.words import escaped, say

FILES = {
    "file": "File",
    "kind": "Holds",
    "read": "Records read",
    "loaded": "Loaded",
    "quarantined": "Quarantined",
    "notes": "Notes",
}
CHECKS = {"ok": "Agrees", "name": "Check", "expected": "Expected", "found": "Found", "message": "What it means"}
FINDINGS = {
    "outcome": "Outcome",
    "code": "Code",
    "file": "File",
    "position": "Where",
    "message": "What was found",
    "record": "Record",
}
OUTCOMES = {"quarantined": "set aside, not counted", "repaired": "put right", "noted": "kept as it is"}


def run_list(loaded: list[Run]) -> pd.DataFrame:
    """One row per loaded run."""
    return pd.DataFrame(
        {
            "key": [run.key for run in loaded], "title": [run.title for run in loaded],
            "synthetic": [run.synthetic for run in loaded], "loaded_at": [run.loaded_at[:16] for run in loaded],
            "digest": [run.digest for run in loaded],
        }
    )  # fmt: skip


def as_text(records: list[dict[str, Any]], columns: dict[str, str]) -> pd.DataFrame:
    """Records of the report with every column there; values of mixed kinds become text."""
    frame = pd.DataFrame(records, columns=list(columns))
    return frame.astype({name: str for name in ("expected", "found") if name in columns})


def reconciliation(run: Run) -> None:
    """Read = loaded + quarantined, per file and in total; then each check by itself."""
    totals = run.report.get("totals", {})
    if totals:
        counts(
            run, "In total {read} records were read = {loaded} loaded + {quarantined} quarantined.",
            **{name: f"{totals.get(name, 0):,}" for name in ("read", "loaded", "quarantined")},
        )  # fmt: skip
    files, checks = as_text(run.report.get("files", []), FILES), as_text(run.report.get("checks", []), CHECKS)
    table(files, "files", FILES)
    footer(files, "load-report-files", run)
    st.subheader("Do the counts agree?", anchor=False)
    table(checks, "checks", CHECKS)
    footer(checks, "load-report-checks", run)


def findings_section(run: Run) -> None:
    """What the loader had to say, record by record, filtered by outcome and kind."""
    st.subheader("Findings, record by record", anchor=False)
    frame = load(findings, run)
    if frame.empty:
        st.markdown("The loader found nothing to remark on.")
        return
    left, right = st.columns(2)
    with left:
        outcomes = pick_many("Outcome", list(OUTCOMES), "outcome", format_func=lambda name: f"{name}: {OUTCOMES[name]}")
    with right:
        codes = pick_many("Code", sorted(frame["code"].unique()), "code")
    kept = frame[frame["outcome"].isin(outcomes or frame["outcome"]) & frame["code"].isin(codes or frame["code"])]
    counts(run, "{n} of {all} findings.", n=f"{len(kept):,}", all=f"{len(frame):,}")
    table(kept, "findings", FINDINGS)
    footer(kept, "findings", run, "findings")


with page("Runs", "Which releases are loaded, and what the loader had to say about the one chosen.") as run:
    listed = run_list(runs())
    headings = {
        "title": "Title",
        "key": "Run",
        "synthetic": "Synthetic",
        "loaded_at": "Loaded (UTC)",
        "digest": "Digest (SHA-256)",
    }
    table(listed, "runs", headings)
    st.subheader("Load report", anchor=False)
    st.markdown(f"**{escaped(run.title)}**  \n{escaped(run.report.get('verdict', 'This run carries no load report.'))}")
    reconciliation(run)
    findings_section(run)
    st.subheader("Manifest", anchor=False)
    st.caption(say(run, "What the release says of itself."))
    st.json(run.manifest, expanded=True)
