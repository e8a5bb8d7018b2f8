"""A bare labelling page: question, two answers, five keys, a row in SQLite that is on the disk. No accounts, no blinding, no
history, no second key, no way back. What Streamlit itself takes from key to next item.
"""

import os
import sqlite3
import time
from pathlib import Path

import streamlit as st

LABELS = ("ABSENT", "CONSISTENT", "COMPLEMENTARY", "DIVERGENT", "CONTRADICTORY")
ANSWER = "Call the transplant coordinator before you start any new medicine, including herbal ones. " * 4


@st.cache_resource
def database() -> sqlite3.Connection:
    con = sqlite3.connect(Path(os.environ["BARE_FOLDER"]) / "bare.db", check_same_thread=False, isolation_level=None)
    con.execute("pragma journal_mode = wal")
    con.execute("pragma synchronous = full")
    con.execute("create table if not exists ratings (item integer, label text, at real)")
    return con


def save(item: int, label: str) -> None:
    database().execute("insert into ratings values (?, ?, ?)", (item, label, time.time()))
    st.session_state.current = item + 1


current = st.session_state.setdefault("current", 0)
st.header(f"{current + 1}. What should I know about medicines, work and wounds after my operation?", anchor=False)
first, second = st.columns(2)
first.text(f"{current}. {ANSWER}")
second.text(f"{current}. {ANSWER}")
for number, (label, column) in enumerate(zip(LABELS, st.columns(5), strict=True), start=1):
    column.button(label, shortcut=str(number), on_click=save, args=(current, label))
