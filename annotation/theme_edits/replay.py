"""The curated taxonomy: the one that was built, with every act that counts applied to it again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from annotation.theme_edits.acts import Act, Change, Kind, sentence, standing, undone_by
from annotation.theme_edits.state import State
from audit.themes.naming import near_duplicates
from audit.themes.taxonomy import Taxonomy


@dataclass(frozen=True)
class Conflict:
    """An act that could not be applied, or only in part, with the reasons; the rest of the curation stands."""

    act: Act
    in_part: bool
    why: tuple[str, ...]

    @property
    def words(self) -> str:
        """The conflict as a sentence."""
        how = "was applied only in part" if self.in_part else "was not applied"
        return f"Act {self.act.seq} ({sentence(self.act.change)}) {how}: {'; '.join(self.why)}."


@dataclass(frozen=True)
class Curated:
    """What came of the acts.

    taxonomy   as curated; without acts that count, the very one that was built
    conflicts  acts that fit no longer, in their order
    aside      ids of themes that are not clinically meaningful, those below such a parent among them
    merged     id of a theme that was merged -> id under which its phrases are found now
    acts       how many acts count
    last       the latest act, undos among them; None where there is none
    """

    taxonomy: Taxonomy
    conflicts: tuple[Conflict, ...] = ()
    aside: frozenset[str] = frozenset()
    merged: Mapping[str, str] = field(default_factory=dict)
    acts: int = 0
    last: Act | None = None


def curated(taxonomy: Taxonomy, acts: Iterable[Act]) -> Curated:
    """Apply the acts that count to a taxonomy, first to last, and list what does not fit it.

    The taxonomy may be another one than the acts were made on (it was built again): themes are known by their ids, phrases by
    their text. The same taxonomy and acts give the same result.
    """
    told = sorted(acts, key=lambda act: act.seq)
    last, counting = (told[-1] if told else None), standing(told)
    if not counting:
        return Curated(taxonomy, last=last)
    state, conflicts = _replayed(taxonomy, counting)
    merged = {theme: state.now(theme) for theme in state.merged}
    return Curated(_signed(state, counting), tuple(conflicts), state.below(state.aside), merged, len(counting), last)


def names_now(taxonomy: Taxonomy, acts: Sequence[Act]) -> dict[str, str]:
    """theme_id -> the name it has after the acts."""
    return _replayed(taxonomy, standing(acts))[0].name


def _replayed(taxonomy: Taxonomy, counting: Sequence[Act]) -> tuple[State, list[Conflict]]:
    state = State(taxonomy)
    conflicts: list[Conflict] = []
    for act in counting:
        outcome = state.apply(act.change)
        if outcome.faults:
            conflicts.append(Conflict(act, outcome.changed, outcome.faults))
    return state, conflicts


def _signed(state: State, acts: Sequence[Act]) -> Taxonomy:
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


def try_out(taxonomy: Taxonomy, acts: Sequence[Act], change: Change) -> tuple[str, ...]:
    """Why a further change cannot be made as it is meant, in words; empty where it can."""
    if change.kind is Kind.UNDO:
        return cannot_undo(taxonomy, acts, change.undoes)
    outcome = _replayed(taxonomy, standing(acts))[0].apply(change)
    return outcome.faults or (() if outcome.changed else ("it would change nothing",))


def cannot_undo(taxonomy: Taxonomy, acts: Sequence[Act], seq: int | None) -> tuple[str, ...]:
    """Why an act cannot be undone now, in words; empty where it can.

    An undo may not pull the ground from under a later act: that one is to be undone first. An act that a later one has replaced
    has nothing left to take back. One that is in conflict may always go, and with it the conflict.
    """
    known = {act.seq: act for act in acts}
    if seq not in known:
        return (f"there is no act {seq}",)
    if (by := undone_by(acts).get(seq)) is not None:
        return (f"act {seq} was undone already, by act {by.seq} of {by.author}",)
    before, conflicts = _replayed(taxonomy, standing(acts))
    after, others = _replayed(taxonomy, standing([*acts, _undo(acts, seq)]))
    faulty = {(conflict.act.seq, conflict.why) for conflict in conflicts}
    built_on = [conflict.act for conflict in others if (conflict.act.seq, conflict.why) not in faulty]
    if built_on:
        return (f"{_listed(built_on)} on it; undo that first",)
    if (
        seq not in {number for number, _ in faulty}
        and before.whole() == after.whole()
        and known[seq].change.kind is not Kind.UNDO
    ):
        return ("it has no effect now, because a later act has replaced it; undo that one first",)
    return ()


def _undo(acts: Sequence[Act], seq: int) -> Act:
    return Act(max(act.seq for act in acts) + 1, Change(Kind.UNDO, undoes=seq), "", "", "")


def _listed(acts: Sequence[Act]) -> str:
    told = ", ".join(f"act {act.seq} ({sentence(act.change)})" for act in acts)
    return f"{told} {'builds' if len(acts) == 1 else 'build'}"
