"""Correcting the text of a handbook line by line: for PIs, into the file of corrections beside the handbook's source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import streamlit as st

from annotation.label_store.access_log import Actor, Event, record_event
from annotation.studies.accounts import Role
from audit.errors import AuditError
from audit.queries.citations import SourceFile
from audit.queries.read_text import ReadLine, ReadText
from audit.store.runs import Run
from audit.text.corrections import (
    DROP,
    HEADING,
    KEEP,
    LEAD,
    MAX_LEVEL,
    MAX_WORDS,
    ORDER,
    Correction,
    add_correction,
    corrections_path,
    digest_of_corrections,
    letters_in_order,
    quoted,
    read_corrections,
    withdraw_correction,
)
from audit.text.documents import REPEATED
from pages._blinded.access import current_account, label_store, now, require_role, visitor_address
from pages._blinded.frame import escaped, explain
from pages._shared.widgets import counts, say

ONLY_PI = "An investigator (PI) who is signed in can correct lines here."
NO_FILE = (
    "Lines can be corrected here once the file of this {handbook} is in the folder for sources of this server: the corrections "
    "are saved beside it."
)
HOW = (
    "Choose a line and say what it is. The correction is saved beside the file of this {handbook}, and the text on this page "
    "stays as it is: the next `audit extract` or `audit run` that reads the file uses the correction. Rows of a table whose "
    "columns have heads cannot be corrected."
)
TYPED = (
    "Where a line of the page is in the middle of a paragraph, type its words as they are on the page. The buttons are then "
    "about these words, and move them before or after the line that is chosen above."
)
SAVED = "Saved: {name}. The next `audit extract` or `audit run` uses it."
KNOWN = "This correction is there already: {name}."
WAITING = "The text of this run does not follow these corrections yet: `audit extract` or `audit run` makes it again with them."
USED = "The text of this run follows these corrections."
MISSED = "Not applied in this run: {sentence}"
LEVELS = {1: "1, the outermost", **{level: str(level) for level in range(2, MAX_LEVEL + 1)}}


@dataclass(frozen=True)
class Target:
    """A line that can be corrected: its number among the lines of its page (None: left out of the text), and its neighbours."""

    number: int | None
    words: str
    which: tuple[int, int] | None = None
    before: str | None = None
    after: str | None = None

    @property
    def label(self) -> str:
        """As the picker names it."""
        return f"{'Left out' if self.number is None else f'{self.number:,}'}: {quoted(self.words)[1:-1]}"


@dataclass(frozen=True)
class CorrectedPage:
    """Where the corrections of a page of a handbook go."""

    run: Run
    path: Path
    page: int | None
    digest: str | None


def correct_lines(
    run: Run, file: SourceFile, source: Path | None, page: int | None, lines: Sequence[ReadLine], text: ReadText
) -> None:
    """Buttons that correct a line of the page, and the corrections that are saved; for others than PIs a sentence."""
    account = current_account()
    st.header("Correct a line", anchor=False)
    if account is None or account.role is not Role.PI:
        st.caption(ONLY_PI)
        return
    if source is None:
        counts(run, NO_FILE)
        return
    try:
        place = CorrectedPage(run, corrections_path(source, file.handbook_id), page, file.digest)
        saved = read_corrections(place.path)
    except AuditError as error:
        explain(error)
        return
    st.markdown(say(run, HOW))
    _form(place, targets_of(lines, text, page))
    if message := st.session_state.pop("corrected", None):
        st.success(message)
    if problem := st.session_state.pop("not_corrected", None):
        explain(problem)
    _saved(place, saved, text)


def targets_of(lines: Sequence[ReadLine], text: ReadText, page: int | None) -> list[Target]:
    """The lines of a page that a correction can name, and those that were left out as repeated."""
    numbered = [(number, line.text) for number, line in enumerate(lines, start=1) if line.in_file and _is_short(line.text)]
    keys = [letters_in_order(words) for _, words in numbered]
    targets = []
    for place, (number, words) in enumerate(numbered):
        same = [other for other, key in enumerate(keys) if key == keys[place]]
        which = (same.index(place) + 1, len(same)) if len(same) > 1 else None
        before = numbered[place - 1][1] if place else None
        after = numbered[place + 1][1] if place + 1 < len(numbered) else None
        targets.append(Target(number, words, which, before, after))
    left_out = [Target(None, doubt.quote) for doubt in text.doubts if doubt.kind == REPEATED and page in doubt.pages]
    return [*left_out, *targets]


def _is_short(words: str) -> bool:
    return len(words) <= MAX_WORDS and letters_in_order(words) != ""


def _form(place: CorrectedPage, targets: Sequence[Target]) -> None:
    if not targets:
        st.caption("This page has no line that can be corrected.")
        return
    labels = [f"{target.label}{f' ({target.which[0]} of {target.which[1]})' if target.which else ''}" for target in targets]
    chosen = st.selectbox("Line", range(len(targets)), format_func=labels.__getitem__, key=f"line {place.path.name} {place.page}")
    target = targets[chosen or 0]
    typed = st.text_input(
        "Or the words of one line inside a paragraph", key=f"words {place.path.name} {place.page}", max_chars=MAX_WORDS,
        help=TYPED,
    )  # fmt: skip
    if is_typed := letters_in_order(typed) != "":
        target = Target(0, typed, before=target.words, after=target.words)
    _buttons(place, target, ("Move before the line", "Move after the line") if is_typed else ("Move up", "Move down"))


def _buttons(place: CorrectedPage, target: Target, moves: tuple[str, str]) -> None:
    left_out = target.number is None
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _button("Keep", ":material/check:", place, _of(place, target, KEEP))
        _button("Drop", ":material/delete:", place, _of(place, target, DROP), disabled=left_out)
        lead = _of(place, target, LEAD)
        _button("Lead of the list below", ":material/format_list_bulleted:", place, lead, disabled=left_out)
        up = _of(place, target, ORDER, before=target.before) if target.before else None
        _button(moves[0], ":material/arrow_upward:", place, up, disabled=up is None)
        down = _of(place, target, ORDER, after=target.after) if target.after else None
        _button(moves[1], ":material/arrow_downward:", place, down, disabled=down is None)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        level = st.selectbox("Level of the heading", list(LEVELS), format_func=LEVELS.__getitem__, width=180)
        _button("Heading", ":material/title:", place, _of(place, target, HEADING, level=level), disabled=left_out)
        no_heading = _of(place, target, HEADING, level=0)
        _button("No heading", ":material/format_clear:", place, no_heading, disabled=left_out)


def _of(
    place: CorrectedPage,
    target: Target,
    do: str,
    *,
    level: int | None = None,
    before: str | None = None,
    after: str | None = None,
) -> Correction:
    return Correction(do, target.words, place.page, target.which, level, before, after, place.digest)


def _button(label: str, icon: str, place: CorrectedPage, correction: Correction | None, *, disabled: bool = False) -> None:
    st.button(label, icon=icon, disabled=disabled, on_click=_save, args=(place, correction), width="content")


def _save(place: CorrectedPage, correction: Correction) -> None:
    """Save a correction, with who made it and when; the role is checked again, because the page may be old."""
    try:
        account = require_role(Role.PI)
        at = now()
        signed = replace(correction, by=account.username, at=at.isoformat(timespec="seconds"))
        is_new = add_correction(place.path, signed)
        if is_new:
            record_event(label_store(), Event.TEXT_CORRECTED, Actor(account.username, visitor_address()), at, place.path.name)
        st.session_state["corrected"] = say(place.run, SAVED if is_new else KNOWN, name=correction.name)
    except AuditError as error:
        st.session_state["not_corrected"] = error


def _withdraw(place: CorrectedPage, correction: Correction) -> None:
    try:
        account = require_role(Role.PI)
        if withdraw_correction(place.path, correction):
            record_event(label_store(), Event.TEXT_CORRECTED, Actor(account.username, visitor_address()), now(), place.path.name)
        st.session_state["corrected"] = say(place.run, "Withdrawn: {name}.", name=correction.name)
    except AuditError as error:
        st.session_state["not_corrected"] = error


def _saved(place: CorrectedPage, saved: Sequence[Correction], text: ReadText) -> None:
    """The corrections of the handbook, those of this page first, each with a button that withdraws it."""
    if not saved:
        return
    st.subheader(
        f"{len(saved):,} corrections of this handbook" if len(saved) > 1 else "1 correction of this handbook", anchor=False
    )
    used = text.corrections is not None and text.corrections.digest == digest_of_corrections(saved)
    st.caption(USED if used else WAITING)
    for sentence in text.corrections.missed if used and text.corrections else ():
        st.warning(say(place.run, MISSED, sentence=sentence))
    for number, correction in enumerate(sorted(saved, key=lambda one: (one.page != place.page, one.page or 0))):
        with st.container(horizontal=True, vertical_alignment="center"):
            by = f" ({correction.by})" if correction.by else ""
            st.markdown(escaped(f"{correction.name}{by}"))
            st.button(
                "Withdraw", key=f"withdraw {number}", on_click=_withdraw, args=(place, correction), help=correction.name,
                width="content",
            )  # fmt: skip
