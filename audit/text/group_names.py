"""Naming groups of answers by the quantity that distinguishes them. Texts in, names out: nothing is invented."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from string import ascii_uppercase

from audit.text.quantity import Quantity, find_quantities
from audit.text.tokens import stems
from audit.text.units import COUNT, DURATION, ONES, UNITS

# A group is named by what at least this share of its answers say
SHARED = 0.5
# ... and that is rarer by this share among the other groups' answers.
MARGIN = 0.5
# A range is named with the word before it, and not by a part of it
BETWEEN, GOES_ON = re.compile(r"\b[Bb]etween (?:the )?$"), re.compile(r" ?(?:to|or|-|–) ?(\w+)")
SIGNS = "%°"
STAGE, WHOLE = (DURATION, True), (DURATION, False)


@dataclass(frozen=True)
class GroupName:
    """The name of a group. `basis` is value (a quantity) or letter (nothing sets it apart)."""

    text: str
    basis: str


@dataclass(frozen=True)
class NameCandidate:
    """A quantity that members of a group state, its `Quantity.kind`, how well it distinguishes them, and whether the judge
    cites it.
    """

    text: str
    kind: tuple[str, bool]
    margin: float
    cited: bool


def group_names(groups: Sequence[Sequence[str]], reasonings: Sequence[str] = ()) -> list[GroupName]:
    """A name for each group, from the texts of its answers: the quantity they state, else a letter.

    The quantity is one that at least half of the group's answers state and the others' answers seldom do, and that
    matters to the disagreement: the judge's `reasonings` cite it, or another group is distinguished by a quantity of the
    same kind. So groups are named "3 months" and "12 months" rather than "3 months" and "10 pounds". No two groups share a name.
    """
    cited = [quantity for reasoning in reasonings for quantity in find_quantities(reasoning)]
    candidates = [list(_candidates(i, groups, cited)) for i in range(len(groups))]
    weight = _weights(candidates, groups)
    names = [_quantity_name(stated, weight, candidates) for stated in candidates]
    # Two groups of one name could not be told apart, so both get a letter
    repeated = {text for text, count in Counter(name.text for name in names if name).items() if count > 1}
    return [name if name and name.text not in repeated else _letter_name(i) for i, name in enumerate(names)]


def _candidates(group: int, groups: Sequence[Sequence[str]], cited: Sequence[Quantity]) -> Iterator[NameCandidate]:
    inside = [find_quantities(text) for text in groups[group]]
    outside = [find_quantities(text) for i, texts in enumerate(groups) if i != group for text in texts]
    for quantity in _distinct(inside):
        held = _share_stating(quantity, inside)
        margin = held - _share_stating(quantity, outside)
        if held >= SHARED and margin >= MARGIN:
            mentioned = any(quantity.agrees(other) for other in cited)
            if written := as_written(quantity, groups[group]):
                yield NameCandidate(written, quantity.kind, margin, mentioned)


def _distinct(answers: Sequence[Sequence[Quantity]]) -> list[Quantity]:
    first = {replace(q, start=0, end=0, text=""): q for stated in answers for q in stated}
    return list(first.values())


def _share_stating(quantity: Quantity, answers: Sequence[Sequence[Quantity]]) -> float:
    return sum(any(quantity.agrees(other) for other in stated) for stated in answers) / max(len(answers), 1)


def as_written(quantity: Quantity, texts: Sequence[str]) -> str | None:
    """The spelling that most of the texts use, with what is counted: "three types"; None for a bare token such as "daily"."""
    spellings = Counter(
        name for text in texts for other in find_quantities(text) if quantity.agrees(other) and (name := _in_words(text, other))
    )
    return next(iter(spellings.most_common(1)), (None, 0))[0]


def _in_words(text: str, quantity: Quantity) -> str | None:
    between = BETWEEN.search(text, 0, quantity.start)
    name = f"{between[0] if between else ''}{quantity.text} {quantity.noun if quantity.dimension == COUNT else ''}".strip()
    has_unit = any(stem not in ONES for stem in stems(name)) or any(sign in name for sign in SIGNS)
    following = GOES_ON.match(text, quantity.end)
    # "a few seconds" is half of "a few seconds to minutes"
    is_part = following is not None and (following[1].isdecimal() or following[1].lower() in UNITS)
    return name.rstrip(".") if has_unit and len(name.split()) > 1 and not is_part else None


def _weights(candidates: list[list[NameCandidate]], groups: Sequence[Sequence[str]]) -> dict[tuple[str, bool], float]:
    """How well each kind of quantity distinguishes the groups, over all of them."""
    weight: dict[tuple[str, bool], float] = defaultdict(float)
    for stated, texts in zip(candidates, groups, strict=True):
        for kind in {c.kind for c in stated}:
            weight[kind] += max(c.margin for c in stated if c.kind == kind) * len(texts)
    return weight


def _quantity_name(
    stated: list[NameCandidate], weight: dict[tuple[str, bool], float], candidates: list[list[NameCandidate]]
) -> GroupName | None:
    groups_with = Counter(kind for others in candidates for kind in {c.kind for c in others})
    # A quantity that the judge does not mention, and no other group has, may have nothing to do with the dispute
    relevant = [c for c in stated if c.cited or groups_with[c.kind] > 1 or len(candidates) == 1]
    # Beside "up to two years" the name "2 weeks", a stage, would read as a contradiction
    relevant = [c for c in relevant if not (c.kind == STAGE and groups_with[WHOLE])]
    if not relevant:
        return None
    # Rounded: sums differ in their last digits with the order of the groups, and the name must not
    return GroupName(max(relevant, key=lambda c: (c.cited, round(weight[c.kind], 9), c.margin)).text, "value")


def _letter_name(group: int) -> GroupName:
    again, letter = divmod(group, len(ascii_uppercase))
    return GroupName(f"Group {ascii_uppercase[letter]}{again or ''}", "letter")
