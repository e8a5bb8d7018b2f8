"""Ids that stay with a theme when it is built again."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence

DIGITS = 10


def theme_id(phrases: Sequence[str], prefix: str) -> str:
    """The smallest hash among the plain phrases of a theme.

    Two builds give a theme the same id with a probability equal to the share of phrases that its two versions have in common
    (of all phrases in either: min-hash, Broder 1997); which phrase is the middle of a theme would change more easily.
    """
    return prefix + min(hashlib.sha256(phrase.encode()).hexdigest() for phrase in phrases)[:DIGITS]


def kept_ids(groups: Sequence[Sequence[str]], earlier: Mapping[str, Sequence[str]], prefix: str) -> list[str]:
    """An id per group of phrases: that of the earlier theme with which it shares most, where each is the other's closest.

    groups   the phrases of each new theme
    earlier  id of an earlier theme -> its phrases; empty: every id comes from the phrases alone

    Groups that share nothing with an earlier theme, or less than another group does, get the id of their own phrases.
    """
    of = {phrase: name for name, phrases in earlier.items() for phrase in phrases}
    shared = [Counter(of[phrase] for phrase in group if phrase in of) for group in groups]
    heirs: dict[str, tuple[int, int]] = {}
    for number, counter in enumerate(shared):
        for name, count in sorted(counter.items(), key=lambda item: (-item[1], item[0]))[:1]:
            heirs[name] = max(heirs.get(name, (0, 0)), (count, -number))
    inherited = {-number: name for name, (_, number) in heirs.items()}
    taken = set(inherited.values())
    return [inherited.get(number) or _free(theme_id(group, prefix), taken) for number, group in enumerate(groups)]


def _free(name: str, taken: set[str]) -> str:
    """`name`, or `name` with a letter behind it where an earlier theme that moved away holds it already."""
    while name in taken:
        name += "x"
    taken.add(name)
    return name
