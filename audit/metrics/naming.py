"""Naming a camp by what its handbooks say and the others do not. Pure: texts in, names out. Nothing is invented."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from string import ascii_uppercase

from audit.text.quantity import Quantity, find_quantities
from audit.text.tokens import content_words
from audit.text.units import COUNT

SHARED = 0.5
"""A camp is named by what at least this share of its answers say ..."""
MARGIN = 0.5
"""... and that is rarer by this share among the other camps' answers."""
WORDS_IN_NAME = 3


@dataclass(frozen=True)
class Name:
    """What a camp goes by. `basis` is value (an amount), words (distinctive ones) or letter (nothing sets it apart)."""

    text: str
    basis: str


@dataclass(frozen=True)
class Candidate:
    """An amount that members of a camp state, how well it tells them from the others, and whether the judge cites it."""

    text: str
    kind: str
    margin: float
    cited: bool


def camp_names(camps: Sequence[Sequence[str]], reasonings: Sequence[str] = (), proper_names: Iterable[str] = ()) -> list[Name]:
    """A name for each camp, from the texts of its answers: the value it holds, else its own words, else a letter.

    The value is an amount that at least half of the camp's answers state and the others' answers seldom do, and that
    matters to the disagreement: the judge's `reasonings` cite it, or another camp is set apart by an amount of the same
    kind. So camps are named "3 months" and "12 months" rather than "3 months" and "10 pounds". Words must stand in the
    reasonings too, and not be `proper_names` (of centers, say). No two camps share a name.
    """
    telling = _cited_words(reasonings) if len(camps) > 1 else Counter()
    for stem in {word.stem for name in proper_names for word in content_words(name.replace("_", " "))}:
        telling.pop(stem, None)
    cited = [quantity for reasoning in reasonings for quantity in find_quantities(reasoning)]
    candidates = [list(_candidates(i, camps, cited)) for i in range(len(camps))]
    weight = _weights(candidates, camps)
    names = [_value(mine, weight, candidates) or _words(i, camps, telling) for i, mine in enumerate(candidates)]
    repeated = {text for text, count in Counter(name.text for name in names if name).items() if count > 1}
    return [name if name and name.text not in repeated else _letter(i) for i, name in enumerate(names)]


def _candidates(camp: int, camps: Sequence[Sequence[str]], cited: Sequence[Quantity]) -> Iterator[Candidate]:
    inside = [find_quantities(text) for text in camps[camp]]
    outside = [find_quantities(text) for i, texts in enumerate(camps) if i != camp for text in texts]
    for quantity in _distinct(inside):
        held = _share(quantity, inside)
        margin = held - _share(quantity, outside)
        if held >= SHARED and margin >= MARGIN:
            mentioned = any(quantity.agrees(other) for other in cited)
            yield Candidate(_as_written(quantity, camps[camp]), quantity.dimension, margin, mentioned)


def _distinct(answers: Sequence[Sequence[Quantity]]) -> list[Quantity]:
    found = {replace(q, start=0, end=0, text=""): q for stated in answers for q in stated}
    return list(found.values())


def _share(quantity: Quantity, answers: Sequence[Sequence[Quantity]]) -> float:
    return sum(any(quantity.agrees(other) for other in stated) for stated in answers) / max(len(answers), 1)


def _as_written(quantity: Quantity, texts: Sequence[str]) -> str:
    """The spelling most of the camp uses, with what is counted: "three types"."""
    found = [_in_words(text, other) for text in texts for other in find_quantities(text) if quantity.agrees(other)]
    return Counter(found).most_common(1)[0][0]


def _in_words(text: str, quantity: Quantity) -> str:
    """The amount with what it counts: "three types"; a bare number with the two words before it: "BMI of 38"."""
    if quantity.dimension != COUNT or quantity.noun:
        return f"{quantity.text} {quantity.noun}".strip()
    return " ".join([*text[: quantity.start].split()[-2:], quantity.text])


def _weights(candidates: list[list[Candidate]], camps: Sequence[Sequence[str]]) -> dict[str, float]:
    """How well each kind of amount sets the camps apart, over all of them."""
    weight: dict[str, float] = defaultdict(float)
    for mine, texts in zip(candidates, camps, strict=True):
        for kind in {c.kind for c in mine}:
            weight[kind] += max(c.margin for c in mine if c.kind == kind) * len(texts)
    return weight


def _value(mine: list[Candidate], weight: dict[str, float], candidates: list[list[Candidate]]) -> Name | None:
    rivals = Counter(kind for others in candidates for kind in {c.kind for c in others})
    telling = [c for c in mine if c.cited or rivals[c.kind] > 1 or len(candidates) == 1]
    if not telling:
        return None
    return Name(max(telling, key=lambda c: (c.cited, round(weight[c.kind], 9), c.margin)).text, "value")


def _cited_words(reasonings: Sequence[str]) -> Counter[str]:
    """In how many reasonings each word stands; words of one or two letters tell nothing, but "no" does."""
    found = ({word.stem for word in content_words(reasoning)} for reasoning in reasonings)
    return Counter(stem for stems in found for stem in stems if len(stem) > 2 or stem == "no")


def _words(camp: int, camps: Sequence[Sequence[str]], cited: Counter[str]) -> Name | None:
    """Up to three words of the judge's reasoning that most of the camp's answers have and the others' seldom."""
    inside = [{word.stem: text[word.start : word.end].lower() for word in content_words(text)} for text in camps[camp]]
    outside = [{word.stem for word in content_words(text)} for i, texts in enumerate(camps) if i != camp for text in texts]
    margin = {stem: _have(stem, inside) - _have(stem, outside) for stem in cited if _have(stem, inside) >= SHARED}
    best = sorted((stem for stem in margin if margin[stem] >= MARGIN), key=lambda stem: (-margin[stem], -cited[stem], stem))
    spelled = {stem: spelling for answer in reversed(inside) for stem, spelling in answer.items()}
    return Name(", ".join(f"“{spelled[stem]}”" for stem in best[:WORDS_IN_NAME]), "words") if best else None


def _have(stem: str, answers: Sequence[Container[str]]) -> float:
    return sum(stem in answer for answer in answers) / max(len(answers), 1)


def _letter(camp: int) -> Name:
    again, place = divmod(camp, len(ascii_uppercase))
    return Name(f"Group {ascii_uppercase[place]}{again or ''}", "letter")
