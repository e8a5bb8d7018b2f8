"""Schemes: the question that a study asks about an item, and the possible answers.

Everything else is the same for every scheme: sampling, assignments, blinding, keyboard, packets, adjudication, seals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from audit.vocabulary import DISAGREEING, LABEL_SPELLINGS, LABELS, PREFERENCE_SPELLINGS, SIDES, Label, Preference


@dataclass(frozen=True)
class Option:
    """One choice of a scheme: the word that is stored, its key, its name on a button, and what it means."""

    word: str
    key: str
    name: str
    meaning: str


@dataclass(frozen=True, eq=False)  # each exists once, so it can be a key
class Scheme:
    """The question of a study and its possible answers.

    name       its name in the database and on the command line
    asks       the question about an item, in words
    options    the choices, in declared order
    spellings  plain spelling -> word, as people may write it in a packet
    sides      what the two answers are called on the screen, after "Answer"
    graded     words that need a clinical significance
    mirrored   words that name one of the two answers -> the word for the other one
    ordered    whether the choices are an ordered scale, so agreement is weighted
    rubric     how the headings of its sections in PROTOCOL.md begin, whose tables are the rubric
    """

    name: str
    asks: str
    options: tuple[Option, ...]
    spellings: Mapping[str, str]
    sides: tuple[str, str]
    rubric: tuple[str, ...]
    graded: tuple[str, ...] = ()
    mirrored: Mapping[str, str] = field(default_factory=dict)
    ordered: bool = False

    def __reduce__(self) -> tuple[Callable[[str], Scheme], tuple[str]]:
        # By name, so a scheme that comes out of a page's cache is still the one that `is` compares with
        return scheme_named, (self.name,)

    @property
    def words(self) -> tuple[str, ...]:
        """The words that are stored, in declared order."""
        return tuple(option.word for option in self.options)

    @property
    def names(self) -> dict[str, str]:
        """Word -> its name for a reader."""
        return {option.word: option.name for option in self.options}

    @property
    def keys(self) -> str:
        """The keys, in words."""
        keys = [option.key for option in self.options]
        if keys[0].isdigit():
            return f"{keys[0]} to {keys[-1]}"
        return f"{', '.join(keys[:-1])} and {keys[-1]}"

    @property
    def headline(self) -> str:
        """The coefficient that is read first: labels that are not ordered have no weights."""
        return "kappa_quadratic" if self.ordered else "kappa"

    def turned(self, word: str | None, swapped: bool) -> str | None:
        """A word about the answers as shown, in terms of answers a and b of the item, or the other way round.

        Labels are stored in terms of the item, so they can be compared whatever side each annotator saw an answer on.
        """
        return self.mirrored.get(word, word) if swapped and word is not None else word


LABEL_MEANINGS = {
    Label.ABSENT: "one does not answer",
    Label.CONSISTENT: "the same guidance",
    Label.COMPLEMENTARY: "compatible, more detail",
    Label.DIVERGENT: "a difference that matters",
    Label.CONTRADICTORY: "opposite advice",
}
PAIRS = Scheme(
    name="pairs",
    asks="How do the two answers relate?",
    options=tuple(
        Option(label.value, str(number), label.capitalize(), LABEL_MEANINGS[label])
        for number, label in enumerate(LABELS, start=1)
    ),
    # Numbers are refused as ambiguous: in a release 1 is CONSISTENT, on the page key 1 is ABSENT.
    spellings={spelling: label.value for spelling, label in LABEL_SPELLINGS.items() if not spelling.isdigit()},
    sides=("1", "2"),
    rubric=("## 4. ", "## 5. "),
    graded=tuple(map(str, DISAGREEING)),
    ordered=True,
)
HEAD_TO_HEAD = Scheme(
    name="head-to-head",
    asks="Which answer is better for the patient?",
    options=(
        Option(Preference.A.value, "A", "A", "answer A is better"),
        Option(Preference.B.value, "B", "B", "answer B is better"),
        Option(Preference.TIE.value, "T", "Tie", "equally good"),
        Option(Preference.BOTH_BAD.value, "X", "Both bad", "neither can be given to a patient"),
    ),
    spellings={spelling: preference.value for spelling, preference in PREFERENCE_SPELLINGS.items()},
    sides=("A", "B"),
    rubric=("## 11. ",),
    mirrored=dict(zip(map(str, SIDES), map(str, reversed(SIDES)), strict=True)),
)
SCHEMES = {scheme.name: scheme for scheme in (PAIRS, HEAD_TO_HEAD)}


def scheme_named(name: str) -> Scheme:
    """The scheme of that name; raises KeyError if there is none."""
    return SCHEMES[name]


WORDS = tuple(word for scheme in SCHEMES.values() for word in scheme.words)
"""Every word that a label can be, as the database allows it."""
