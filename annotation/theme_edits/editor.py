"""A taxonomy while acts are applied to it: every rule about what can be done to themes and phrases stands here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from annotation.theme_edits.edits import EditKind, ThemeChange
from audit.themes.naming import EXEMPLARS
from audit.themes.phrases import plain_phrase, shown_phrase
from audit.themes.taxonomy import Taxonomy, Theme

MOST_QUOTED = 3
CURATOR = "curator"
"""Where the name of a theme comes from that a person renamed or split off."""


@dataclass(frozen=True)
class EditOutcome:
    """What came of a change: whether it changed anything, and what of it could not be done, in words."""

    changed: bool
    faults: tuple[str, ...] = ()


class TaxonomyEditor:
    """Names, parents and phrases by theme id. `apply` changes it; where a change cannot be made at all, it stays as it was."""

    def __init__(self, taxonomy: Taxonomy) -> None:
        self.base = taxonomy
        self.name = {theme.theme_id: theme.name for theme in taxonomy.themes}
        self.parent = {theme.theme_id: theme.parent_id for theme in taxonomy.themes}
        self.topics: dict[str | None, dict[str, None]] = {t.theme_id: dict.fromkeys(t.topics) for t in taxonomy.themes}
        self.topics[None] = dict.fromkeys(taxonomy.no_theme)
        self.holder = {phrase: theme for theme, phrases in self.topics.items() for phrase in phrases}
        self.aside: set[str] = set()
        self.merged: dict[str, str] = {}
        self.renamed: set[str] = set()
        self.exemplars = {theme.theme_id: theme.exemplars for theme in taxonomy.themes}
        self._empty = {theme.theme_id for theme in taxonomy.leaves if not theme.topics}

    def apply(self, change: ThemeChange) -> EditOutcome:
        """Make one change (not an undo), as far as it can be made."""
        rules: dict[EditKind, Callable[[ThemeChange], EditOutcome]] = {
            EditKind.RENAME: self._rename, EditKind.MERGE: self._merge, EditKind.SPLIT: self._split,
            EditKind.MOVE_PHRASES: self._move_phrases, EditKind.MOVE_THEME: self._move_theme,
            EditKind.SET_ASIDE: self._set_aside, EditKind.BRING_BACK: self._set_aside,
        }  # fmt: skip
        missing = [self._gone(change, theme) for theme in self._needed(change) if theme not in self.name]
        return EditOutcome(False, tuple(missing)) if missing else rules[change.kind](change)

    @staticmethod
    def _needed(change: ThemeChange) -> list[str]:
        """The themes without which a change makes no sense; what a split makes is not there yet."""
        named = [change.theme] if change.kind is EditKind.SPLIT else [change.theme, change.into]
        return [theme for theme in named if theme is not None]

    def _gone(self, change: ThemeChange, theme: str) -> str:
        into = self.merged.get(theme)
        if into is None:
            return f"the theme {change.called(theme)} ({theme}) is not there any more"
        return f"the theme {change.called(theme)} ({theme}) was merged into '{self.name[self.now(into)]}'"

    def now(self, theme: str) -> str:
        """The id under which a theme is found today: its own, or that of the theme it was merged into."""
        while theme in self.merged:
            theme = self.merged[theme]
        return theme

    # -- rules ---------------------------------------------------------------------------------------------------------

    def _rename(self, change: ThemeChange) -> EditOutcome:
        theme = str(change.theme)
        if self.name[theme] == change.name:
            return EditOutcome(False)
        if fault := self._taken(change.name, theme):
            return EditOutcome(False, (fault,))
        self.name[theme] = change.name
        self.renamed.add(theme)
        return EditOutcome(True)

    def _taken(self, name: str, rank_of: str) -> str:
        """Why no theme of that rank but itself may be called `name`; empty where it may. A parent may be called as a theme is."""
        parents, standing = set(self.parent.values()), self.standing()
        for theme, other in self.name.items():
            alike = theme != rank_of and theme in standing and (theme in parents) == (rank_of in parents)
            if alike and _plain(other) == _plain(name):
                return f"the name '{name}' is taken by another theme ({theme}); merge the two, or choose another name"
        return ""

    def _merge(self, change: ThemeChange) -> EditOutcome:
        theme, into = str(change.theme), str(change.into)
        if fault := self._cannot_merge(change):
            return EditOutcome(False, (fault,))
        for phrase in list(self.topics[theme]):
            self._put(phrase, into)
        for child in [child for child, parent in self.parent.items() if parent == theme]:
            self.parent[child] = into
        self.exemplars[into] = _in_turn(self.exemplars[into], self.exemplars[theme])
        self.merged[theme] = into
        self.aside.discard(theme)
        del self.name[theme], self.parent[theme], self.topics[theme], self.exemplars[theme]
        return EditOutcome(True)

    def _cannot_merge(self, change: ThemeChange) -> str:
        one, other = change.called(change.theme), change.called(change.into)
        parents = set(self.parent.values())
        if change.theme == change.into:
            return f"{one} cannot be merged into itself"
        if change.theme in self._above(str(change.into)):
            return f"{other} lies below {one}, which so cannot be merged into it"
        if (change.theme in parents) != (change.into in parents):
            return f"of {one} and {other}, one has themes below it and the other has none; only like can be merged with like"
        return ""

    def _split(self, change: ThemeChange) -> EditOutcome:
        theme, new = str(change.theme), str(change.into)
        if new in self.topics or new in self.merged:
            return EditOutcome(False, (f"the id {new} is taken",))
        here, faults = self._found(change)
        if here and (fault := self._cannot_split(change, len(here))):
            return EditOutcome(False, (*faults, fault))
        if here:
            self.name[new], self.parent[new], self.topics[new], self.exemplars[new] = change.name, self.parent[theme], {}, ()
            self.renamed.add(new)
        return self._moved(here, new, faults)

    def _cannot_split(self, change: ThemeChange, count: int) -> str:
        theme = str(change.theme)
        if count == len(self.topics[theme]):
            return f"it would take every phrase of {change.called(theme)}; rename that theme instead"
        if _plain(change.name) == _plain(self.name[theme]):
            return f"the name '{change.name}' is that of the theme it comes from; choose another name"
        return self._taken(change.name, theme)

    def _move_phrases(self, change: ThemeChange) -> EditOutcome:
        if change.into is not None and change.into in self.parent.values():
            return EditOutcome(False, (f"{change.called(change.into)} has themes below it; phrases go to one of those",))
        here, faults = self._found(change)
        if here and change.theme is not None and len(here) == len(self.topics[change.theme]):
            left = f"it would leave {change.called(change.theme)} without a phrase; merge that theme instead"
            return EditOutcome(False, (*faults, left))
        return self._moved(here, change.into, faults)

    def _moved(self, phrases: Sequence[str], into: str | None, faults: Sequence[str]) -> EditOutcome:
        for phrase in phrases:
            self._put(phrase, into)
        return EditOutcome(bool(phrases), tuple(faults))

    def _put(self, phrase: str, into: str | None) -> None:
        del self.topics[self.holder[phrase]][phrase]
        self.topics[into][phrase] = None
        self.holder[phrase] = into

    def _found(self, change: ThemeChange) -> tuple[list[str], list[str]]:
        """The phrases that are where the curator saw them, and in words which are not; those at their goal need nothing."""
        here: list[str] = []
        away: list[str] = []
        gone: list[str] = []
        for phrase in dict.fromkeys(change.phrases):
            if phrase not in self.holder:
                gone.append(phrase)
            elif self.holder[phrase] == change.into:
                continue
            else:
                (here if self.holder[phrase] == change.theme else away).append(phrase)
        faults = [f"{_counted(gone)} not in the taxonomy: {_quoted(gone)}"] if gone else []
        if away:
            places = {self._place(self.holder[phrase]) for phrase in away}
            faults.append(f"{_counted(away)} elsewhere now, in {', '.join(sorted(places)[:MOST_QUOTED])}: {_quoted(away)}")
        return here, faults

    def _place(self, theme: str | None) -> str:
        return "no theme" if theme is None else f"'{self.name[theme]}'"

    def _move_theme(self, change: ThemeChange) -> EditOutcome:
        theme, under = str(change.theme), change.into
        if self.parent[theme] == under:
            return EditOutcome(False)
        if under is not None and (under == theme or theme in self._above(under)):
            return EditOutcome(False, (f"{change.called(under)} lies below {change.called(theme)}, or is the same theme",))
        if under is not None and self.topics[under]:
            return EditOutcome(False, (f"{change.called(under)} holds phrases itself, so no theme can be put under it",))
        self.parent[theme] = under
        return EditOutcome(True)

    def _above(self, theme: str) -> list[str]:
        found = []
        above = self.parent[theme]
        while above is not None:
            found.append(above)
            above = self.parent[above]
        return found

    def _set_aside(self, change: ThemeChange) -> EditOutcome:
        theme, away = str(change.theme), change.kind is EditKind.SET_ASIDE
        if (theme in self.aside) == away:
            return EditOutcome(False)
        (self.aside.add if away else self.aside.discard)(theme)
        return EditOutcome(True)

    # -- what came of it -----------------------------------------------------------------------------------------------

    def standing(self) -> set[str]:
        """The themes that still are one: a parent whose last theme was moved away is not."""
        parents = set(self.parent.values())
        return {theme for theme in self.name if self.topics[theme] or theme in parents or theme in self._empty}

    def taxonomy(self) -> Taxonomy:
        """The taxonomy as it is now: what nobody touched is as it was built, a theme that was split off stands at the end."""
        built = {theme.theme_id: theme for theme in self.base.themes}
        standing = self.standing()
        themes = tuple(self._theme(theme, built.get(theme)) for theme in self.name if theme in standing)
        return replace(self.base, themes=themes, no_theme=tuple(self.topics[None]), map={})

    def _theme(self, theme_id: str, built: Theme | None) -> Theme:
        topics = tuple(self.topics[theme_id])
        named_by = CURATOR if theme_id in self.renamed else (built.named_by if built else CURATOR)
        if built is not None and topics == built.topics:
            return replace(built, name=self.name[theme_id], parent_id=self.parent[theme_id], named_by=named_by)
        exemplars = _still(self.exemplars[theme_id], topics)
        medoid = built.medoid if built is not None and built.medoid in exemplars else (exemplars or ("",))[0]
        terms = built.terms if built is not None else ()
        return Theme(theme_id, self.name[theme_id], self.parent[theme_id], topics, terms, medoid, exemplars, named_by)

    def whole(self) -> tuple[object, ...]:
        """All that acts can change, to be compared."""
        return self.name, self.parent, self.topics, self.aside

    def below(self, themes: Iterable[str]) -> frozenset[str]:
        """The themes and every theme below one of them."""
        found = set(themes)
        return frozenset(theme for theme in self.name if theme in found or found.intersection(self._above(theme)))


def _still(exemplars: Sequence[str], topics: Sequence[str]) -> tuple[str, ...]:
    """Those exemplars that belong to the phrases; where none does, phrases in their stead, the commonest wording first."""
    plain = Counter(plain_phrase(topic) for topic in topics)
    kept = [exemplar for exemplar in dict.fromkeys(exemplars) if exemplar.casefold() in plain]
    first = {plain_phrase(topic): shown_phrase(topic) for topic in reversed(topics)}
    others = [first[phrase] for phrase, _ in plain.most_common()]
    return tuple((kept or others)[:EXEMPLARS])


def _in_turn(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    """Both, by turns, so that the first few speak for both."""
    return tuple(text for pair in zip_longest(one, other) for text in pair if text is not None)


def _plain(name: str) -> str:
    return " ".join(name.split()).casefold()


def _counted(phrases: Sequence[str]) -> str:
    return f"{len(phrases):,} phrase is" if len(phrases) == 1 else f"{len(phrases):,} phrases are"


def _quoted(phrases: Sequence[str]) -> str:
    more = f" and {len(phrases) - MOST_QUOTED:,} more" if len(phrases) > MOST_QUOTED else ""
    return ", ".join(f"'{phrase}'" for phrase in phrases[:MOST_QUOTED]) + more
