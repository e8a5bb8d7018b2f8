"""The curated taxonomy: the one that was built, with every effective edit applied to it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest

from annotation.theme_edits.edits import EditKind, ThemeChange, ThemeEdit, describe_change, effective_edits, undos_by_edit
from audit.release.taxonomy import MAX_EXEMPLARS, Taxonomy, Theme, near_duplicates, plain_phrase, shown_phrase

# -- a taxonomy while edits are applied to it, with the rules for changing themes and phrases ----------------

MAX_QUOTED = 3
CURATOR = "curator"
"""`named_by` of a theme that a person renamed or split off."""


@dataclass(frozen=True)
class EditOutcome:
    """Whether a change had an effect, and the parts that were not possible, in words."""

    changed: bool
    faults: tuple[str, ...] = ()


class TaxonomyEditor:
    """Names, parents and phrases by theme id. `apply` changes them; a change that is not possible at all changes nothing.

    topics  phrases of each theme, as dicts without values because they keep their order; under None, phrases without a theme
    holder  phrase -> the theme it is in
    """

    def __init__(self, taxonomy: Taxonomy) -> None:
        self.base = taxonomy
        self.name = {theme.theme_id: theme.name for theme in taxonomy.themes}
        self.parent = {theme.theme_id: theme.parent_id for theme in taxonomy.themes}
        self.topics: dict[str | None, dict[str, None]] = {t.theme_id: dict.fromkeys(t.topics) for t in taxonomy.themes}
        self.topics[None] = dict.fromkeys(taxonomy.no_theme)
        self.holder = {phrase: theme for theme, phrases in self.topics.items() for phrase in phrases}
        self.set_aside: set[str] = set()
        self.merged: dict[str, str] = {}
        self.renamed: set[str] = set()
        self.exemplars = {theme.theme_id: theme.exemplars for theme in taxonomy.themes}
        self._built_empty = {theme.theme_id for theme in taxonomy.leaves if not theme.topics}

    def apply(self, change: ThemeChange) -> EditOutcome:
        """Apply one change (not an undo), as far as possible."""
        rules: dict[EditKind, Callable[[ThemeChange], EditOutcome]] = {
            EditKind.RENAME: self._rename,
            EditKind.MERGE: self._merge,
            EditKind.SPLIT: self._split,
            EditKind.MOVE_PHRASES: self._move_phrases,
            EditKind.MOVE_THEME: self._move_theme,
            EditKind.SET_ASIDE: self._set_aside_or_back,
            EditKind.BRING_BACK: self._set_aside_or_back,
        }
        # The target of a split does not exist yet.
        required = [change.theme] if change.kind is EditKind.SPLIT else [change.theme, change.into]
        missing = [self._missing_theme(change, theme) for theme in required if theme is not None and theme not in self.name]
        return EditOutcome(False, tuple(missing)) if missing else rules[change.kind](change)

    def _missing_theme(self, change: ThemeChange, theme: str) -> str:
        into = self.merged.get(theme)
        if into is None:
            return f"the theme {change.shown_name(theme)} ({theme}) no longer exists"
        return f"the theme {change.shown_name(theme)} ({theme}) was merged into '{self.name[self.current_id(into)]}'"

    def current_id(self, theme: str) -> str:
        """The id of a theme now: its own, or that of the theme it was merged into."""
        while theme in self.merged:
            theme = self.merged[theme]
        return theme

    # -- rules ---------------------------------------------------------------------------------------------------------

    def _rename(self, change: ThemeChange) -> EditOutcome:
        theme = str(change.theme)
        if self.name[theme] == change.name:
            return EditOutcome(False)
        if fault := self._name_taken(change.name, theme):
            return EditOutcome(False, (fault,))
        self.name[theme] = change.name
        self.renamed.add(theme)
        return EditOutcome(True)

    def _name_taken(self, name: str, theme: str) -> str:
        """Why `theme` may not have this name; empty where it may. Names are unique among parents and among leaves, not across."""
        parents, existing = set(self.parent.values()), self.existing_themes()
        for other, other_name in self.name.items():
            same_level = other != theme and other in existing and (other in parents) == (theme in parents)
            if same_level and _normalised_name(other_name) == _normalised_name(name):
                return f"the name '{name}' is taken by another theme ({other}); merge the two, or choose another name"
        return ""

    def _merge(self, change: ThemeChange) -> EditOutcome:
        theme, into = str(change.theme), str(change.into)
        if fault := self._merge_fault(change):
            return EditOutcome(False, (fault,))
        # A copy, because putting a phrase elsewhere removes it here.
        for phrase in list(self.topics[theme]):
            self._put(phrase, into)
        for child in [child for child, parent in self.parent.items() if parent == theme]:
            self.parent[child] = into
        self.exemplars[into] = _interleaved(self.exemplars[into], self.exemplars[theme])
        self.merged[theme] = into
        self.set_aside.discard(theme)
        del self.name[theme], self.parent[theme], self.topics[theme], self.exemplars[theme]
        return EditOutcome(True)

    def _merge_fault(self, change: ThemeChange) -> str:
        theme, target = change.shown_name(change.theme), change.shown_name(change.into)
        parents = set(self.parent.values())
        if change.theme == change.into:
            return f"{theme} cannot be merged into itself"
        if change.theme in self._ancestors(str(change.into)):
            return f"{theme} cannot be merged into {target}, which is below it"
        if (change.theme in parents) != (change.into in parents):
            return f"only one of {theme} and {target} has themes below it; merge two parents or two themes without children"
        return ""

    def _split(self, change: ThemeChange) -> EditOutcome:
        theme, new = str(change.theme), str(change.into)
        if new in self.topics or new in self.merged:
            return EditOutcome(False, (f"the id {new} is taken",))
        present, faults = self._present_phrases(change)
        if present and (fault := self._split_fault(change, len(present))):
            return EditOutcome(False, (*faults, fault))
        if present:
            self.name[new], self.parent[new], self.topics[new], self.exemplars[new] = change.name, self.parent[theme], {}, ()
            self.renamed.add(new)
        return self._moved(present, new, faults)

    def _split_fault(self, change: ThemeChange, count: int) -> str:
        theme = str(change.theme)
        if count == len(self.topics[theme]):
            return f"it would take every phrase of {change.shown_name(theme)}; rename that theme instead"
        if _normalised_name(change.name) == _normalised_name(self.name[theme]):
            return f"the name '{change.name}' belongs to the theme that is split; choose another name"
        return self._name_taken(change.name, theme)

    def _move_phrases(self, change: ThemeChange) -> EditOutcome:
        if change.into is not None and change.into in self.parent.values():
            return EditOutcome(
                False, (f"{change.shown_name(change.into)} has themes below it; move the phrases to one of those",)
            )
        present, faults = self._present_phrases(change)
        if present and change.theme is not None and len(present) == len(self.topics[change.theme]):
            left_empty = f"it would leave {change.shown_name(change.theme)} without phrases; merge that theme instead"
            return EditOutcome(False, (*faults, left_empty))
        return self._moved(present, change.into, faults)

    def _moved(self, phrases: Sequence[str], into: str | None, faults: Sequence[str]) -> EditOutcome:
        for phrase in phrases:
            self._put(phrase, into)
        return EditOutcome(bool(phrases), tuple(faults))

    def _put(self, phrase: str, into: str | None) -> None:
        del self.topics[self.holder[phrase]][phrase]
        self.topics[into][phrase] = None
        self.holder[phrase] = into

    def _present_phrases(self, change: ThemeChange) -> tuple[list[str], list[str]]:
        """The phrases that are where the editor saw them, and faults about the others; phrases already at the target are fine."""
        here: list[str] = []
        elsewhere: list[str] = []
        gone: list[str] = []
        for phrase in dict.fromkeys(change.phrases):
            if phrase not in self.holder:
                gone.append(phrase)
            elif self.holder[phrase] != change.into:
                (here if self.holder[phrase] == change.theme else elsewhere).append(phrase)
        faults = [f"{_counted(gone)} not in the taxonomy: {_quoted(gone)}"] if gone else []
        if elsewhere:
            holders = sorted({self._quoted_name(self.holder[phrase]) for phrase in elsewhere})
            faults.append(f"{_counted(elsewhere)} elsewhere now, in {', '.join(holders[:MAX_QUOTED])}: {_quoted(elsewhere)}")
        return here, faults

    def _quoted_name(self, theme: str | None) -> str:
        return "no theme" if theme is None else f"'{self.name[theme]}'"

    def _move_theme(self, change: ThemeChange) -> EditOutcome:
        theme, parent = str(change.theme), change.into
        if self.parent[theme] == parent:
            return EditOutcome(False)
        if parent is not None and (parent == theme or theme in self._ancestors(parent)):
            fault = f"{change.shown_name(parent)} is {change.shown_name(theme)} itself or below it"
            return EditOutcome(False, (fault,))
        if parent is not None and self.topics[parent]:
            return EditOutcome(False, (f"{change.shown_name(parent)} has phrases of its own, so it cannot have themes below it",))
        self.parent[theme] = parent
        return EditOutcome(True)

    def _ancestors(self, theme: str) -> list[str]:
        ancestors = []
        parent = self.parent[theme]
        while parent is not None:
            ancestors.append(parent)
            parent = self.parent[parent]
        return ancestors

    def _set_aside_or_back(self, change: ThemeChange) -> EditOutcome:
        theme, aside = str(change.theme), change.kind is EditKind.SET_ASIDE
        if (theme in self.set_aside) == aside:
            return EditOutcome(False)
        (self.set_aside.add if aside else self.set_aside.discard)(theme)
        return EditOutcome(True)

    # -- result --------------------------------------------------------------------------------------------------------

    def existing_themes(self) -> set[str]:
        """The themes that still exist: a parent disappears when its last theme is moved away."""
        parents = set(self.parent.values())
        # A leaf that was built without phrases is kept: nobody has emptied it.
        return {theme for theme in self.name if self.topics[theme] or theme in parents or theme in self._built_empty}

    def taxonomy(self) -> Taxonomy:
        """The taxonomy as edited: untouched themes are unchanged, themes that were split off come last."""
        built = {theme.theme_id: theme for theme in self.base.themes}
        existing = self.existing_themes()
        themes = tuple(self._edited_theme(theme, built.get(theme)) for theme in self.name if theme in existing)
        return replace(self.base, themes=themes, no_theme=tuple(self.topics[None]), map={})

    def _edited_theme(self, theme_id: str, built: Theme | None) -> Theme:
        topics = tuple(self.topics[theme_id])
        named_by = CURATOR if theme_id in self.renamed else (built.named_by if built else CURATOR)
        if built is not None and topics == built.topics:
            return replace(built, name=self.name[theme_id], parent_id=self.parent[theme_id], named_by=named_by)
        exemplars = _remaining_exemplars(self.exemplars[theme_id], topics)
        medoid = built.medoid if built is not None and built.medoid in exemplars else (exemplars or ("",))[0]
        terms = built.terms if built is not None else ()
        return Theme(theme_id, self.name[theme_id], self.parent[theme_id], topics, terms, medoid, exemplars, named_by)

    def snapshot(self) -> tuple[object, ...]:
        """Everything that edits can change, for comparison."""
        return self.name, self.parent, self.topics, self.set_aside

    def with_descendants(self, themes: Iterable[str]) -> frozenset[str]:
        """The themes and all themes below them."""
        roots = set(themes)
        return frozenset(theme for theme in self.name if theme in roots or roots.intersection(self._ancestors(theme)))


def _remaining_exemplars(exemplars: Sequence[str], topics: Sequence[str]) -> tuple[str, ...]:
    """The exemplars that are still phrases of the theme; where none is, its most frequent phrases instead."""
    counts = Counter(plain_phrase(topic) for topic in topics)
    remaining = [exemplar for exemplar in dict.fromkeys(exemplars) if exemplar.casefold() in counts]
    first_spelling = {plain_phrase(topic): shown_phrase(topic) for topic in reversed(topics)}
    most_frequent = [first_spelling[phrase] for phrase, _ in counts.most_common()]
    return tuple((remaining or most_frequent)[:MAX_EXEMPLARS])


def _interleaved(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    # Only the first few exemplars are shown, so both themes must be among them.
    return tuple(text for pair in zip_longest(one, other) for text in pair if text is not None)


def _normalised_name(name: str) -> str:
    return " ".join(name.split()).casefold()


def _counted(phrases: Sequence[str]) -> str:
    return f"{len(phrases):,} phrase is" if len(phrases) == 1 else f"{len(phrases):,} phrases are"


def _quoted(phrases: Sequence[str]) -> str:
    more = f" and {len(phrases) - MAX_QUOTED:,} more" if len(phrases) > MAX_QUOTED else ""
    return ", ".join(f"'{phrase}'" for phrase in phrases[:MAX_QUOTED]) + more


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
    set_aside  ids of themes that are not meaningful, with the themes below them
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
