"""Naming groups of answers by what distinguishes them. Texts in, names out: nothing is invented."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from string import ascii_uppercase

from audit.text.quantity import Quantity, find_quantities
from audit.text.tokens import content_words
from audit.text.units import COUNT, DURATION

# A group is named by what at least this share of its answers say
SHARED = 0.5
# ... and that is rarer by this share among the other groups' answers.
MARGIN = 0.5
WORDS_IN_NAME = 3
STAGE, WHOLE = (DURATION, True), (DURATION, False)


@dataclass(frozen=True)
class GroupName:
    """The name of a group. `basis` is value (a quantity), words (distinctive ones) or letter (nothing sets it apart)."""

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


def group_names(
    groups: Sequence[Sequence[str]], reasonings: Sequence[str] = (), proper_names: Iterable[str] = ()
) -> list[GroupName]:
    """A name for each group, from the texts of its answers: the quantity they state, else their own words, else a letter.

    The quantity is one that at least half of the group's answers state and the others' answers seldom do, and that
    matters to the disagreement: the judge's `reasonings` cite it, or another group is distinguished by a quantity of the
    same kind. So groups are named "3 months" and "12 months" rather than "3 months" and "10 pounds". Words must occur in
    the reasonings too, and not be `proper_names` (of centers, say). No two groups share a name.
    """
    cited_words = _cited_words(reasonings) if len(groups) > 1 else Counter()
    # The name of a center would identify whose answers are in a group, not their content
    for stem in {word.stem for name in proper_names for word in content_words(name.replace("_", " "))}:
        cited_words.pop(stem, None)
    cited = [quantity for reasoning in reasonings for quantity in find_quantities(reasoning)]
    candidates = [list(_candidates(i, groups, cited)) for i in range(len(groups))]
    weight = _weights(candidates, groups)
    names = [
        _quantity_name(stated, weight, candidates) or _word_name(i, groups, cited_words) for i, stated in enumerate(candidates)
    ]
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
            yield NameCandidate(_as_written(quantity, groups[group]), quantity.kind, margin, mentioned)


def _distinct(answers: Sequence[Sequence[Quantity]]) -> list[Quantity]:
    first = {replace(q, start=0, end=0, text=""): q for stated in answers for q in stated}
    return list(first.values())


def _share_stating(quantity: Quantity, answers: Sequence[Sequence[Quantity]]) -> float:
    return sum(any(quantity.agrees(other) for other in stated) for stated in answers) / max(len(answers), 1)


def _as_written(quantity: Quantity, texts: Sequence[str]) -> str:
    """The spelling most of the group uses, with what is counted: "three types"."""
    spellings = [_in_words(text, other) for text in texts for other in find_quantities(text) if quantity.agrees(other)]
    return Counter(spellings).most_common(1)[0][0]


def _in_words(text: str, quantity: Quantity) -> str:
    """The quantity with what it counts: "three types"; a bare number with the two words before it: "BMI of 38"."""
    if quantity.dimension != COUNT or quantity.noun:
        return f"{quantity.text} {quantity.noun}".strip()
    return " ".join([*text[: quantity.start].split()[-2:], quantity.text])


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


def _cited_words(reasonings: Sequence[str]) -> Counter[str]:
    """In how many reasonings each word occurs."""
    # Words of one or two letters distinguish nothing, except "no".
    stems_of = ({word.stem for word in content_words(reasoning)} for reasoning in reasonings)
    return Counter(stem for stems in stems_of for stem in stems if len(stem) > 2 or stem == "no")


def _word_name(group: int, groups: Sequence[Sequence[str]], cited: Counter[str]) -> GroupName | None:
    """Up to three words of the judge's reasoning that most of the group's answers have and the others' seldom."""
    inside = [{word.stem: text[word.start : word.end].lower() for word in content_words(text)} for text in groups[group]]
    outside = [{word.stem for word in content_words(text)} for i, texts in enumerate(groups) if i != group for text in texts]
    margin = {
        stem: _share_containing(stem, inside) - _share_containing(stem, outside)
        for stem in cited
        if _share_containing(stem, inside) >= SHARED
    }
    best = sorted((stem for stem in margin if margin[stem] >= MARGIN), key=lambda stem: (-margin[stem], -cited[stem], stem))
    spelled = {stem: spelling for answer in reversed(inside) for stem, spelling in answer.items()}
    return GroupName(", ".join(f"“{spelled[stem]}”" for stem in best[:WORDS_IN_NAME]), "words") if best else None


def _share_containing(stem: str, answers: Sequence[Container[str]]) -> float:
    return sum(stem in answer for answer in answers) / max(len(answers), 1)


def _letter_name(group: int) -> GroupName:
    again, letter = divmod(group, len(ascii_uppercase))
    return GroupName(f"Group {ascii_uppercase[letter]}{again or ''}", "letter")
