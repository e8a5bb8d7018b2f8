"""Backup: one verified archive of what people and models made, how to check it, and how to restore it. For PIs."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import streamlit as st

from annotation.label_store.access_log import Actor, Event, record_event
from annotation.label_store.engine import sqlite_path
from annotation.studies.accounts import Account, Role
from annotation.studies.backup import POSTGRESQL
from annotation.studies.whole_backup import Backup, read_backup, write_backup
from audit.errors import AuditError
from audit.settings import Settings
from pages._blinded.access import label_store, now, visitor_address
from pages._blinded.frame import escaped, explain, study_page
from pages._shared.widgets import server_commands, table

LEAD = (
    "Studies, ratings, decisions, accounts, corrections and models' replies, in one archive that is checked as soon as it is "
    "written. Nobody has to wait for it."
)
FOLDER = "backups"
WHERE = (
    "Backups are written to {folder} on the server. They hold password hashes, so only the account of the server can read them, "
    "and they are not downloaded here. Copy them to another machine: a backup on the same disk is lost with it."
)
NONE_YET = "There is no backup here yet. Nightly ones, where the server makes them, are in a folder of their own."
SOUND = "{file} can be read, and every part of it is as it was written. It holds {holds}."
RESTORE = (
    "A backup has the database of studies (accounts, settings, ratings, decisions, edits of themes), people's corrections of "
    "extracted text (*sources/*) and models' replies (files that end in *.journal*). It has no runs: keep their releases, and "
    "load them again. The person who runs the server restores it, with the dashboard stopped. This replaces the whole database "
    "of studies and keeps the replaced one beside it; a backup that was altered is refused, and everybody signs in again. "
    "Corrections and replies are copied back by hand, from below *restored* to where they were."
)
COMMANDS = """\
audit backup verify {file}
python -m zipfile -e {file} restored
# stop the dashboard, then
audit study restore restored/studies.db"""
DONE = "message about a backup for the next run of the page"
COLUMNS = {"file": "Backup", "written": "Written (UTC)", "size": "Size"}


def backups(folder: Path) -> list[Path]:
    """The archives in the folder, newest first."""
    return sorted(folder.glob("*.zip"), key=lambda path: path.stat().st_mtime, reverse=True)


def in_words(file: Path, backup: Backup) -> str:
    """What an archive holds, or its first fault."""
    if backup.faults:
        return f"{file.name}: {backup.faults[0]} Do not restore it; choose an older one."
    return SOUND.format(file=file.name, holds=", ".join(f"{what} {count:,}" for what, count in backup.holds.items()))


def back_up_now(folder: Path, account: Account) -> None:
    """The button that writes an archive, and what came of it."""
    if st.button("Back up now", type="primary", icon=":material/archive:"):
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"audit-{now():%Y-%m-%d-%H%M%S}.zip"
        written = write_backup(Settings(), file)
        record_event(label_store(), Event.EXPORT, Actor(account.username, visitor_address()), now(), f"backup: {file}")
        st.session_state[DONE] = in_words(file, written)
        st.rerun()
    if message := st.session_state.pop(DONE, ""):
        st.success(escaped(message))
    st.caption(escaped(WHERE.format(folder=folder)))


def kept(files: list[Path]) -> None:
    """The archives that are there, and the check of one."""
    rows = [
        (file.name, f"{datetime.fromtimestamp(file.stat().st_mtime, UTC):%Y-%m-%d %H:%M}", f"{file.stat().st_size / 1e6:.1f} MB")
        for file in files
    ]
    table(pd.DataFrame(rows, columns=list(COLUMNS)), "backups", COLUMNS)
    by_name = {file.name: file for file in files}
    chosen = by_name[st.selectbox("Backup", list(by_name), key="backup")]
    if st.button("Check this backup", icon=":material/verified:"):
        st.text(in_words(chosen, read_backup(chosen)))
    st.header("Restore", anchor=False)
    st.markdown(RESTORE)
    server_commands(COMMANDS.format(file=chosen))


with study_page("Backup", LEAD, Role.PI) as account:
    if sqlite_path(Settings().studies_url) is None:
        st.info(escaped(POSTGRESQL))
    folder = Settings().data_dir / FOLDER
    try:
        back_up_now(folder, account)
        if files := backups(folder):
            kept(files)
        else:
            st.info(NONE_YET)
    except AuditError as error:
        explain(error)
