"""The curated taxonomy: the one that was built, with every effective edit applied to it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from annotation.theme_edits.editor import TaxonomyEditor
from annotation.theme_edits.edits import EditKind, ThemeChange, ThemeEdit, describe_change, effective_edits, undos_by_edit
from audit.release.taxonomy import Taxonomy, near_duplicates


@dataclass(frozen=True)
class EditConflict:
    """An edit that could not be applied, or only in part, with the reasons. All other edits are applied."""

    edit: ThemeEdit
    partial: bool
    reasons: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The conflict in words."""
        outcome = "was applied only in part" if self.partial else "was not applied"
        return f"Edit {self.edit.seq} ({describe_change(self.edit.change)}) {outcome}: {'; '.join(self.reasons)}."


@dataclass(frozen=True)
class CuratedTaxonomy:
    """The result of replaying edits.

    taxonomy   as curated; without effective edits, the built taxonomy itself
    conflicts  edits that no longer fit, oldest first
    set_aside  ids of themes that are not clinically meaningful, with the themes below them
    merged     id of a merged theme -> id under which its phrases are now
    edits      number of effective edits
    last       the latest edit, undos included; None without edits
    """

    taxonomy: Taxonomy
    conflicts: tuple[EditConflict, ...] = ()
    set_aside: frozenset[str] = frozenset()
    merged: Mapping[str, str] = field(default_factory=dict)
    edits: int = 0
    last: ThemeEdit | None = None


def apply_edits(taxonomy: Taxonomy, edits: Iterable[ThemeEdit]) -> CuratedTaxonomy:
    """Apply the effective edits to a taxonomy, oldest first, and list those that do not fit.

    The taxonomy may differ from the one that was edited, because it was built again: themes are matched by id, phrases by
    text. The same taxonomy and edits give the same result.
    """
    ordered = sorted(edits, key=lambda edit: edit.seq)
    last, effective = (ordered[-1] if ordered else None), effective_edits(ordered)
    if not effective:
        return CuratedTaxonomy(taxonomy, last=last)
    editor, conflicts = _replay(taxonomy, effective)
    merged = {theme: editor.current_id(theme) for theme in editor.merged}
    set_aside = editor.with_descendants(editor.set_aside)
    return CuratedTaxonomy(_signed(editor, effective), tuple(conflicts), set_aside, merged, len(effective), last)


def current_names(taxonomy: Taxonomy, edits: Sequence[ThemeEdit]) -> dict[str, str]:
    """theme_id -> its name after the edits."""
    return _replay(taxonomy, effective_edits(edits))[0].name


def _replay(taxonomy: Taxonomy, effective: Sequence[ThemeEdit]) -> tuple[TaxonomyEditor, list[EditConflict]]:
    editor = TaxonomyEditor(taxonomy)
    conflicts: list[EditConflict] = []
    for edit in effective:
        outcome = editor.apply(edit.change)
        if outcome.faults:
            conflicts.append(EditConflict(edit, outcome.changed, outcome.faults))
    return editor, conflicts


def _signed(editor: TaxonomyEditor, edits: Sequence[ThemeEdit]) -> Taxonomy:
    """The taxonomy with new counts and a sha256 that depends on the built taxonomy and the edits alone."""
    taxonomy, built_sha256 = editor.taxonomy(), editor.base.sha256
    signature = json.dumps([built_sha256, *([edit.change.kind, edit.change.body()] for edit in edits)], sort_keys=True)
    built = {**taxonomy.built, "curated": {"acts": len(edits), "of": built_sha256}}  # keys of themes.json, so they stay
    sha256 = hashlib.sha256(signature.encode()).hexdigest()
    return replace(taxonomy, built=built, counts=_updated_counts(taxonomy, editor.base), sha256=sha256)


def _updated_counts(taxonomy: Taxonomy, base: Taxonomy) -> dict[str, object]:
    leaves = taxonomy.leaves
    alike = {number for pair in near_duplicates([theme.name for theme in leaves]) for number in pair}
    counts = {
        "themes": len(leaves),
        "parents": len(taxonomy.themes) - len(leaves),
        "no_theme_topics": len(taxonomy.no_theme),
        "near_duplicate_names": round(len(alike) / len(leaves), 4) if leaves else 0.0,
    }
    # Occurrences of phrases are in the map, which is not known here, so a count that may be wrong is dropped.
    stale = {"no_theme_phrases"} if set(taxonomy.no_theme) != set(base.no_theme) else set()
    return {name: value for name, value in {**base.counts, **counts}.items() if name not in stale}


def check_change(taxonomy: Taxonomy, edits: Sequence[ThemeEdit], change: ThemeChange) -> tuple[str, ...]:
    """The reasons why a further change is not possible as requested; empty where it is."""
    if change.kind is EditKind.UNDO:
        return check_undo(taxonomy, edits, change.undoes)
    outcome = _replay(taxonomy, effective_edits(edits))[0].apply(change)
    return outcome.faults or (() if outcome.changed else ("it would change nothing",))


def check_undo(taxonomy: Taxonomy, edits: Sequence[ThemeEdit], seq: int | None) -> tuple[str, ...]:
    """The reasons why an edit cannot be undone now; empty where it can.

    An edit on which a later edit builds cannot be undone before that one, and an edit that a later one replaced has nothing
    to undo. An edit in conflict can always be undone, which removes the conflict.
    """
    known = {edit.seq: edit for edit in edits}
    if seq not in known:
        return (f"there is no edit {seq}",)
    if (undo := undos_by_edit(edits).get(seq)) is not None:
        return (f"edit {seq} was already undone by edit {undo.seq} of {undo.author}",)
    before, conflicts = _replay(taxonomy, effective_edits(edits))
    after, conflicts_after = _replay(taxonomy, effective_edits([*edits, _undo_of(edits, seq)]))
    existing = {(conflict.edit.seq, conflict.reasons) for conflict in conflicts}
    built_on = [conflict.edit for conflict in conflicts_after if (conflict.edit.seq, conflict.reasons) not in existing]
    if built_on:
        listed = ", ".join(f"edit {edit.seq} ({describe_change(edit.change)})" for edit in built_on)
        return (f"{listed} {'builds' if len(built_on) == 1 else 'build'} on it; undo that first",)
    in_conflict = seq in {number for number, _ in existing}
    # Undoing an undo may change nothing, where a later edit had the same effect; it is still allowed.
    if not in_conflict and before.snapshot() == after.snapshot() and known[seq].change.kind is not EditKind.UNDO:
        return ("it has no effect now, because a later edit replaced it; undo that one first",)
    return ()


def _undo_of(edits: Sequence[ThemeEdit], seq: int) -> ThemeEdit:
    return ThemeEdit(max(edit.seq for edit in edits) + 1, ThemeChange(EditKind.UNDO, undoes=seq), "", "", "")
