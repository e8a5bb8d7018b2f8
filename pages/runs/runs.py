"""Runs: every loaded run, and the load report of the chosen one."""

import json

import pandas as pd
import streamlit as st

from annotation.studies.accounts import Role
from audit.metrics.records import findings
from audit.queries.datasheet import datasheet, datasheet_text
from audit.store.runs import Run
from audit.terms import display_name
from pages._blinded.access import current_account, may_read_findings
from pages._blinded.file_widgets import download_button
from pages._blinded.frame import escaped, explain
from pages._shared.loaders import damaged_stores, load, loaded_runs
from pages._shared.page import page
from pages._shared.pickers import choose, named_by, pick_many
from pages._shared.widgets import counts, footer, link, table

LEAD = "All loaded releases, and the load report of the one you chose."
LOADING = "Another run is loaded on the server, from a folder or an archive, with `audit load PATH`; it is then listed here."
RUNS = {"title": "Title", "key": "Run", "data": "Data", "loaded_at": "Loaded (UTC)"}
KINDS = {"kind": "Records", "files": "Files", "read": "Read", "loaded": "Loaded", "quarantined": "Quarantined"}
FILES = {"file": "File", "kind": "Records", "read": "Read", "loaded": "Loaded", "quarantined": "Quarantined", "notes": "Notes"}
CHECKS = {"result": "Result", "message": "Check", "expected": "Expected", "found": "Found"}
WITHHELD = "Shown to those who are signed in."
OUTCOMES = {"quarantined": "set aside, not counted", "repaired": "corrected", "noted": "kept unchanged"}


def run_list(loaded: list[Run]) -> pd.DataFrame:
    """One row per loaded run, newest first."""
    data = [("synthetic" if run.synthetic else "real") for run in loaded]
    return pd.DataFrame(
        {
            "key": [run.key for run in loaded],
            "title": [run.title for run in loaded],
            "data": data,
            "loaded_at": [run.loaded_at[:16] for run in loaded],
            "digest": [run.digest for run in loaded],
        }
    )


def kinds(run: Run) -> pd.DataFrame:
    """One row per kind of record: how many were read, loaded and quarantined."""
    totals = run.report.get("totals", {})
    return pd.DataFrame([{"kind": display_name(kind), **numbers} for kind, numbers in totals.items()], columns=list(KINDS))


def checks(run: Run) -> pd.DataFrame:
    """One row per check; expected and actual values may be numbers or text, so both are shown as text."""
    table = pd.DataFrame(run.report.get("checks", []), columns=["ok", "message", "expected", "found"])
    result = table["ok"].map({True: "agrees", False: "DIFFERS"}).fillna("nothing to compare with")
    return table.assign(result=result, **{name: table[name].map(value_text) for name in ("expected", "found")})


def value_text(value: float | str | None) -> str:
    """An expected or actual value as text; "" where nothing was expected."""
    return "" if pd.isna(value) else f"{value:,.0f}" if isinstance(value, int | float) else value


def reconciliation(run: Run) -> None:
    """Each check of the counts by itself; then what was read, file by file."""
    st.header("Do the counts agree?", anchor=False)
    table(checks(run), "checks", CHECKS)
    footer(checks(run), "load-report-checks", run)
    st.header("What was read, file by file", anchor=False)
    files = pd.DataFrame(run.report.get("files", []), columns=list(FILES))
    table(files, "files", FILES)
    footer(files, "load-report-files", run)


def findings_section(run: Run) -> None:
    """The loader's findings, record by record, filtered by outcome and kind."""
    st.header("Findings, record by record", anchor=False)
    frame = load(findings, run)
    if not may_read_findings(current_account()):
        st.caption("Sign in to see what was found in each record.")
        frame = frame.assign(message=WITHHELD, record=None)
    if frame.empty:
        st.markdown("The loader has no findings.")
        return
    left, right = st.columns(2)
    with left:
        outcomes = pick_many("Outcome", list(OUTCOMES), "outcome", format_func=lambda name: f"{name}: {OUTCOMES[name]}")
    with right:
        codes = pick_many("Kind", sorted(frame["code"].unique()), "code")
    selected = frame[frame["outcome"].isin(outcomes or frame["outcome"]) & frame["code"].isin(codes or frame["code"])]
    counts(run, "{n} of {all} findings.", n=f"{len(selected):,}", all=f"{len(frame):,}")
    table(selected, "findings", findings.table.pick(run))
    footer(selected, "findings", run, "findings")


def manifest_text(value: object) -> str:
    """A manifest entry as text; a nested one as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def manifest_section(run: Run) -> None:
    """The manifest of the release, entry by entry."""
    st.header("Manifest: what the release says about itself", anchor=False)
    entries = pd.DataFrame({"name": list(run.manifest), "value": [manifest_text(value) for value in run.manifest.values()]})
    table(entries, "manifest", {"name": "Entry", "value": "Value"})
    footer(entries, "manifest", run)


def datasheet_section(run: Run) -> None:
    """The datasheet: what is known of the release in seven parts, its makers' answers, and the open questions."""
    st.header("Datasheet", anchor=False)
    parts = load(datasheet, run)
    for part in parts:
        lines = [*part.known, *([part.own_words] if part.own_words else [f"Not answered yet: {text}" for text in part.questions])]
        with st.expander(part.title):
            st.markdown("\n".join(f"- {escaped(line)}" for line in lines))
    text = datasheet_text(run.title, parts)
    download_button(
        "Download the datasheet", text.encode, f"{run.run_id}-datasheet.md", "text/markdown", "datasheet",
        icon=":material/download:",
    )  # fmt: skip


def runs_section(run: Run) -> None:
    """All runs, and whether the load report of this one agrees."""
    listed = run_list(loaded_runs())
    table(listed, "runs", RUNS)
    footer(listed, "runs", run)
    if getattr(current_account(), "role", None) is Role.PI:
        st.caption(LOADING)
    if len(listed) > 1:
        link("compare", "Compare this run with another", run, icon=":material/compare_arrows:")
    st.header("What this run has", anchor=False)
    st.markdown(f"**{escaped(run.title)}**  \n{escaped(run.report.get('verdict', 'This run has no load report.'))}")
    table(kinds(run), "kinds", KINDS, rows=20)
    st.caption("Read = loaded + quarantined. A quarantined record is set aside and listed with its reason; no record is dropped.")


VIEWS = {
    "all": "Runs", "report": "Load report", "findings": "Findings", "datasheet": "Datasheet", "manifest": "Manifest",
}  # fmt: skip
DRAWN = {
    "all": runs_section, "report": reconciliation, "findings": findings_section, "datasheet": datasheet_section,
    "manifest": manifest_section,
}  # fmt: skip
"""What each view draws."""

with page("Runs", LEAD, without_pairs=LEAD) as run:
    for problem in damaged_stores():  # one damaged store must not hide the other runs
        explain(problem)
    DRAWN[choose("Show", tuple(VIEWS), "view", named_by(VIEWS), show_label=False)](run)
