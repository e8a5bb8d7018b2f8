"""The curated taxonomy: the one that was built, with every act that counts applied to it again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from annotation.theme_edits.editor import TaxonomyEditor
from annotation.theme_edits.edits import EditKind, ThemeChange, ThemeEdit, describe_change, effective_edits, undos_by_edit
from audit.themes.naming import near_duplicates
from audit.themes.taxonomy import Taxonomy


@dataclass(frozen=True)
class EditConflict:
    """An act that could not be applied, or only in part, with the reasons; the rest of the curation stands."""

    act: ThemeEdit
    in_part: bool
    why: tuple[str, ...]

    @property
    def words(self) -> str:
        """The conflict as a sentence."""
        how = "was applied only in part" if self.in_part else "was not applied"
        return f"Act {self.act.seq} ({describe_change(self.act.change)}) {how}: {'; '.join(self.why)}."


@dataclass(frozen=True)
class CuratedTaxonomy:
    """What came of the acts.

    taxonomy   as curated; without acts that count, the very one that was built
    conflicts  acts that fit no longer, in their order
    aside      ids of themes that are not clinically meaningful, those below such a parent among them
    merged     id of a theme that was merged -> id under which its phrases are found now
    acts       how many acts count
    last       the latest act, undos among them; None where there is none
    """

    taxonomy: Taxonomy
    conflicts: tuple[EditConflict, ...] = ()
    aside: frozenset[str] = frozenset()
    merged: Mapping[str, str] = field(default_factory=dict)
    acts: int = 0
    last: ThemeEdit | None = None


def apply_edits(taxonomy: Taxonomy, acts: Iterable[ThemeEdit]) -> CuratedTaxonomy:
    """Apply the acts that count to a taxonomy, first to last, and list what does not fit it.

    The taxonomy may be another one than the acts were made on (it was built again): themes are known by their ids, phrases by
    their text. The same taxonomy and acts give the same result.
    """
    told = sorted(acts, key=lambda act: act.seq)
    last, counting = (told[-1] if told else None), effective_edits(told)
    if not counting:
        return CuratedTaxonomy(taxonomy, last=last)
    state, conflicts = _replayed(taxonomy, counting)
    merged = {theme: state.now(theme) for theme in state.merged}
    return CuratedTaxonomy(_signed(state, counting), tuple(conflicts), state.below(state.aside), merged, len(counting), last)


def current_names(taxonomy: Taxonomy, acts: Sequence[ThemeEdit]) -> dict[str, str]:
    """theme_id -> the name it has after the acts."""
    return _replayed(taxonomy, effective_edits(acts))[0].name


def _replayed(taxonomy: Taxonomy, counting: Sequence[ThemeEdit]) -> tuple[TaxonomyEditor, list[EditConflict]]:
    state = TaxonomyEditor(taxonomy)
    conflicts: list[EditConflict] = []
    for act in counting:
        outcome = state.apply(act.change)
        if outcome.faults:
            conflicts.append(EditConflict(act, outcome.changed, outcome.faults))
    return state, conflicts


def _signed(state: TaxonomyEditor, acts: Sequence[ThemeEdit]) -> Taxonomy:
    """The taxonomy with its counts anew and, in it, what it was made from; the same acts on the same one give the same sha256."""
    made, of = state.taxonomy(), state.base.sha256
    said = json.dumps([of, *([act.change.kind, act.change.body()] for act in acts)], sort_keys=True)
    built = {**made.built, "curated": {"acts": len(acts), "of": of}}
    return replace(made, built=built, counts=_counts(made, state.base), sha256=hashlib.sha256(said.encode()).hexdigest())


def _counts(made: Taxonomy, base: Taxonomy) -> dict[str, Any]:
    leaves = made.leaves
    alike = {number for pair in near_duplicates([theme.name for theme in leaves]) for number in pair}
    known = {
        "themes": len(leaves),
        "parents": len(made.themes) - len(leaves),
        "no_theme_topics": len(made.no_theme),
        "near_duplicate_names": round(len(alike) / len(leaves), 4) if leaves else 0.0,
    }
    # How often a phrase occurs stands in the map, not here.
    stale = {"no_theme_phrases"} if set(made.no_theme) != set(base.no_theme) else set()
    return {name: value for name, value in {**base.counts, **known}.items() if name not in stale}


def check_change(taxonomy: Taxonomy, acts: Sequence[ThemeEdit], change: ThemeChange) -> tuple[str, ...]:
    """Why a further change cannot be made as it is meant, in words; empty where it can."""
    if change.kind is EditKind.UNDO:
        return check_undo(taxonomy, acts, change.undoes)
    outcome = _replayed(taxonomy, effective_edits(acts))[0].apply(change)
    return outcome.faults or (() if outcome.changed else ("it would change nothing",))


def check_undo(taxonomy: Taxonomy, acts: Sequence[ThemeEdit], seq: int | None) -> tuple[str, ...]:
    """Why an act cannot be undone now, in words; empty where it can.

    An undo may not pull the ground from under a later act: that one is to be undone first. An act that a later one has replaced
    has nothing left to take back. One that is in conflict may always go, and with it the conflict.
    """
    known = {act.seq: act for act in acts}
    if seq not in known:
        return (f"there is no act {seq}",)
    if (by := undos_by_edit(acts).get(seq)) is not None:
        return (f"act {seq} was undone already, by act {by.seq} of {by.author}",)
    before, conflicts = _replayed(taxonomy, effective_edits(acts))
    after, others = _replayed(taxonomy, effective_edits([*acts, _undo(acts, seq)]))
    faulty = {(conflict.act.seq, conflict.why) for conflict in conflicts}
    built_on = [conflict.act for conflict in others if (conflict.act.seq, conflict.why) not in faulty]
    if built_on:
        return (f"{_listed(built_on)} on it; undo that first",)
    if (
        seq not in {number for number, _ in faulty}
        and before.whole() == after.whole()
        and known[seq].change.kind is not EditKind.UNDO
    ):
        return ("it has no effect now, because a later act has replaced it; undo that one first",)
    return ()


def _undo(acts: Sequence[ThemeEdit], seq: int) -> ThemeEdit:
    return ThemeEdit(max(act.seq for act in acts) + 1, ThemeChange(EditKind.UNDO, undoes=seq), "", "", "")


def _listed(acts: Sequence[ThemeEdit]) -> str:
    told = ", ".join(f"act {act.seq} ({describe_change(act.change)})" for act in acts)
    return f"{told} {'builds' if len(acts) == 1 else 'build'}"
