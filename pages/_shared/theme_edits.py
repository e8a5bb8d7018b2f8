"""Curation on the pages about themes: the curated taxonomy, that it is curated, and every act with the way back."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from annotation.label_store.errors import ConflictError
from annotation.studies.accounts import Account
from annotation.theme_edits.edits import EditKind, ThemeChange, ThemeEdit, describe_change, undos_by_edit
from annotation.theme_edits.history import edits_to_jsonl, history_table
from annotation.theme_edits.record import EDITOR_ROLES, NewEdit, list_edits, record_edit
from annotation.theme_edits.replay import CuratedTaxonomy, apply_edits
from audit.errors import AuditError
from audit.exports.tables import csv_bytes, file_name
from audit.store.runs import Run
from audit.themes.taxonomy import Taxonomy
from pages._blinded.access import accounts_exist, current_account, label_store, now
from pages._shared.pickers import choose
from pages._shared.tables import clicked_row
from pages._shared.terms import escaped
from pages._shared.widgets import counts

CURATED, AS_BUILT = "curated", "as built"
SAID = "what came of an act of curation"
CONTROLS, LIST = "controls", "list"
"""Places of a page that have buttons, and say what came of them."""
SEEN = "acts that were there when somebody began to fill in what to change"
PRESS = "name of the next press of a button of curation"
HEADINGS = {
    "act": "Act", "when": "When (UTC)", "author": "Author", "what": "What", "reason": "Why", "standing": "Standing",
}  # fmt: skip
NO_ACCOUNT = (
    "Themes can be renamed, merged, split, moved and set aside by a clinician or a PI. Each act needs an author, and there is no "
    "account here yet. In a terminal, make one, then sign in:"
)
ADD_ACCOUNT = "audit account add NAME --role viewer"
SIGN_IN = (
    "Themes can be renamed, merged, split, moved and set aside by a clinician (viewer) or a PI who is signed in: each act needs "
    "an author. An account is made in a terminal with `audit account add NAME --role viewer`."
)


@dataclass(frozen=True)
class Themes:
    """The themes of a run as a page shows them.

    taxonomy  what to count and draw: as curated or, where the reader asks for it, as built
    built     the taxonomy as it was built
    now       what came of the acts of curation
    acts      all of them, first to last
    """

    taxonomy: Taxonomy
    built: Taxonomy
    now: CuratedTaxonomy
    acts: Sequence[ThemeEdit]

    @property
    def original(self) -> bool:
        """Whether the reader looks at the themes as built, although people have curated them."""
        return self.taxonomy is self.built and self.now.edits > 0

    def find(self, theme_id: str) -> str:
        """The id under which a theme is found today: one that was merged into another leads there."""
        return theme_id if self.original else self.now.merged.get(theme_id, theme_id)


def curated_themes(run: Run, built: Taxonomy) -> Themes:
    """The themes of a run with what people made of them, and a line that says so, the original one click away."""
    acts, found = curation_now(run, built)
    if not found.edits:
        return Themes(built, built, found, acts)
    with st.container(horizontal=True, vertical_alignment="center"):
        version = choose("Themes", (CURATED, AS_BUILT), "version", format_func=str.capitalize, show_label=False)
        _say(run, found)
    return Themes(found.taxonomy if version == CURATED else built, built, found, acts)


def taxonomy_now(run: Run, built: Taxonomy) -> Taxonomy:
    """The same for a page that is about something else: the themes as curated, and nothing is drawn."""
    return curation_now(run, built)[1].taxonomy


def acts_on(run: Run) -> list[ThemeEdit]:
    """Every act on the themes of a run, first to last."""
    return list_edits(label_store(), run.digest) if accounts_exist() else []


def curation_now(run: Run, built: Taxonomy) -> tuple[list[ThemeEdit], CuratedTaxonomy]:
    """Every act on the themes of a run, first to last, and what came of them."""
    acts = acts_on(run)
    return acts, _curated((run.digest, built.sha256, len(acts), acts[-1].made_at), built, acts) if acts else CuratedTaxonomy(
        built
    )


@st.cache_resource(show_spinner=False, max_entries=16)
def _curated(known_by: tuple[str, str, int, str], _built: Taxonomy, _acts: Sequence[ThemeEdit]) -> CuratedTaxonomy:
    return apply_edits(_built, _acts)


def _say(run: Run, found: CuratedTaxonomy) -> None:
    last = found.last
    many = "1 act" if found.edits == 1 else f"{found.edits:,} acts"
    counts(
        run, "**Curated**: {many}, last by {author} on {day}.", many=many,
        author=last.author if last else "", day=last.made_at[:10] if last else "",
    )  # fmt: skip


def curator() -> Account | None:
    """Who is signed in, where that person may curate."""
    account = current_account()
    return account if account is not None and account.role in EDITOR_ROLES else None


def say_who_may() -> None:
    """How somebody who may not curate comes to it."""
    if accounts_exist():
        st.info(SIGN_IN)
    else:
        st.info(NO_ACCOUNT)
        st.code(ADD_ACCOUNT, language="bash")


def save(run: Run, built: Taxonomy, wish: NewEdit, place: str) -> bool:
    """Write an act, and keep what is to be said of it at a `place` of the page; whether it is written.

    For callbacks: they run before the page does, with what the page had shown when the button was drawn.
    """
    try:
        account = curator()
        if account is None:
            raise AuditError("Your session has ended. Nothing was saved, and what you typed is still there. Sign in again.")
        act = record_edit(label_store(), run.digest, built, account, wish, now())
    except AuditError as error:
        refuse(str(error), place)
        if isinstance(error, ConflictError):
            st.session_state.pop(SEEN, None)
        return False
    st.session_state.pop(SEEN, None)
    st.session_state[SAID] = (place, True, f"Saved as act {act.seq}: {act.author} {describe_change(act.change)}.")
    st.session_state[PRESS] = secrets.token_hex(8)
    return True


def refuse(words: str, place: str) -> None:
    """Have a `place` of the page say why nothing was saved."""
    st.session_state[SAID] = (place, False, words)


def press() -> str:
    """A name for the next press of a button: pressed twice, it is one act."""
    name: str = st.session_state.setdefault(PRESS, secrets.token_hex(8))
    return name


def what_came_of_it(place: str) -> None:
    """Say what came of the last press at a `place` of the page, once."""
    if st.session_state.get(SAID, ("",))[0] == place:
        _, saved, words = st.session_state.pop(SAID)
        (st.success if saved else st.error)(escaped(words))


# -- the list of acts --------------------------------------------------------------------------------------------------


def curation_list(run: Run, themes: Themes, theme_id: str | None = None) -> None:
    """Every act of curation, or those on one theme, newest first: undo, export, and what fits the taxonomy no longer."""
    st.header("Curation", anchor=False)
    what_came_of_it(LIST)
    if not themes.acts:
        counts(run, "Nobody has changed these themes: they are as they were built.")
        return
    _conflicts(themes.now)
    shown = [act for act in themes.acts if theme_id is None or theme_id in about(act, themes)]
    if shown:
        _history(run, themes, shown)
    else:
        counts(run, "Nobody has changed this theme. Other themes of the run were: {n} acts in all.", n=len(themes.acts))
    _export(run, themes)


def about(act: ThemeEdit, themes: Themes) -> set[str]:
    """The themes that an act is about, by the ids under which they are found today; an undo is about those of the undone act."""
    change = act.change if act.change.undoes is None else themes.acts[act.change.undoes - 1].change
    return {themes.now.merged.get(theme, theme) for theme in (change.theme, change.into) if theme is not None}


def _conflicts(found: CuratedTaxonomy) -> None:
    if not found.conflicts:
        return
    many = "1 act fits" if len(found.conflicts) == 1 else f"{len(found.conflicts):,} acts fit"
    st.warning(f"{many} these themes no longer, as the themes were built again since. The other acts stand.")
    with st.expander("What does not fit", expanded=len(found.conflicts) < 4):
        for conflict in found.conflicts:
            st.markdown(escaped(conflict.sentence))


def _history(run: Run, themes: Themes, shown: Sequence[ThemeEdit]) -> None:
    table = history_table(themes.acts, themes.now.conflicts)
    table = table[table["act"].isin([act.seq for act in shown])].reset_index(drop=True)
    table = table.assign(when=table["made_at"].str[:16].str.replace("T", " "))
    picked = clicked_row(table, f"curation_{len(themes.acts)}", HEADINGS, rows=8)
    if picked is None:
        counts(run, "Click an act to read it in full or to undo it.")
    else:
        _one_act(run, themes, picked)


def _one_act(run: Run, themes: Themes, row: pd.Series) -> None:
    """An act in full, and the button that takes it back."""
    seq = int(row["act"])
    st.markdown(escaped(f"Act {seq}, {row['when']}: {row['author']} {row['what']}. Why: {row['reason']}"))
    if row["phrases"]:
        st.text(row["phrases"])
    if seq in undos_by_edit(themes.acts):
        return
    if curator() is None:
        say_who_may()
        return
    st.text_input("Why it is undone, in a sentence", key=f"undo_reason_{seq}", max_chars=4000)
    st.button(f"Undo act {seq}", key=f"undo_{seq}", on_click=_undo, args=(run, themes.built, seq, press(), len(themes.acts)))


def _undo(run: Run, built: Taxonomy, seq: int, key: str, seen: int) -> None:
    reason = st.session_state.get(f"undo_reason_{seq}", "")
    save(run, built, NewEdit(ThemeChange(EditKind.UNDO, undoes=seq), reason, key, seen), LIST)


def _export(run: Run, themes: Themes) -> None:
    """Every act of the run, as a table and as JSON lines that can be replayed."""
    table = history_table(themes.acts, themes.now.conflicts)
    name = file_name(run, "curation")
    with st.container(horizontal=True):
        st.download_button(
            "All acts as CSV", data=lambda: csv_bytes(table), file_name=name, mime="text/csv", key="curation_csv",
            on_click="ignore", icon=":material/download:",
        )  # fmt: skip
        st.download_button(
            "All acts as JSON lines", data=lambda: edits_to_jsonl(themes.acts).encode(), file_name=name.removesuffix("csv") + "jsonl",
            mime="application/x-ndjson", key="curation_jsonl", on_click="ignore", icon=":material/download:",
        )  # fmt: skip
