"""Display terms: a release's own words in our sentences, the titles of the four rates, and readable names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

TERMS = ("handbook", "organ", "question", "topic", "subtopic", "center", "phase", "patient")
ALL = "(all)"
"""Names the row of a frame that is about the whole run."""

INTENDED_USE = "For comparing what {handbooks} say. Not for ranking {centers}, and not for decisions about {a_patient}."
"""The intended use of a run of real handbooks (arXiv:2605.29084, appendix C)."""

RATE_TITLES = {
    "r_abs": "Not addressed",
    "r_div": "Disagreement",
    "r_con": "Same advice",
    "pct_any_div": "Disputed questions",
}
"""The four rates of the audit, in the order in which every page and table shows them."""
RATE_SYMBOLS = {"r_abs": "r_abs", "r_div": "R_div", "r_con": "R_con", "pct_any_div": "pct_any_div"}
RATE_MEANINGS = {
    "r_abs": "Share of pairs with a verdict in which at least one of the two {handbooks} does not address the {question} "
    "(r_abs).",
    "r_div": "Share of pairs judged divergent or contradictory, among those in which both {handbooks} answer (R_div).",
    "r_con": "Share of pairs judged consistent (the same advice), among those in which both {handbooks} answer (R_con). "
    "The other pairs complement each other without conflict, or disagree.",
    "pct_any_div": "Share of {questions} on which at least one pair disagrees, among those with a verdict on any pair "
    "(pct_any_div). The more {handbooks} answer, the more pairs there are, so this share rises with their number.",
}


class RunWords(Protocol):
    """The part of a run (audit.store.runs.Run) that this module needs: its title and its own words."""

    @property
    def title(self) -> str:
        """The title of the run."""
        ...

    def term(self, word: str, count: int = 1) -> str:
        """The release's own word for `word`; plural unless `count` is 1."""
        ...


def display_name(name: object) -> str:
    """A release's name as a person reads it: `heart_lung_blood_sleep` becomes `heart lung blood sleep`."""
    return str(name).replace("_", " ")


def terms(run: RunWords) -> dict[str, str]:
    """The display words of a run by the names that a template uses: `handbook`, `handbooks`, `Handbook`, `a_handbook`, ..."""
    words = {word: display_name(run.term(word)) for word in TERMS}
    # By the first letter, not by the sound: right for every word of ours and for most of a release's.
    words |= {f"a_{word}": f"{'an' if own[:1].lower() in 'aeiou' else 'a'} {own}" for word, own in words.items()}
    words |= {f"{word}s": display_name(run.term(word, 2)) for word in TERMS}
    words["significance"] = significance_of(run)
    words["run"] = run.title
    return words | {name.capitalize(): word[:1].upper() + word[1:] for name, word in words.items()}


def is_about_patients(run: RunWords) -> bool:
    """Whether a run is about medicine: a release about law or schools has a word of its own for whom it concerns."""
    return run.term("patient") == "patient"


def significance_of(run: RunWords) -> str:
    """What a run calls how much a disagreement matters: clinical where it is about patients."""
    own = run.term("significance")
    return f"clinical {own}" if own == "significance" and is_about_patients(run) else own


def counted(run: RunWords, word: str, count: int) -> str:
    """`1 handbook`, `1,115 questions`: a count with the run's word for what is counted."""
    return f"{count:,} {display_name(run.term(word, count))}"


def fill(run: RunWords, template: str, **values: object) -> str:
    """Plain text from one of our templates, for a place that escapes it or interprets nothing."""
    return template.format(**terms(run) | values)


def own_term(terms: Mapping[str, str], word: str, count: int = 1) -> str:
    """The word for `word` among a release's own words; plural unless `count` is 1."""
    own = terms.get(word, word)
    return own if count == 1 else terms.get(f"{word}s") or plural(own)


def plural(term: str) -> str:
    """The plural of a term: `study` becomes `studies`, `branch` `branches`, `kind of rent` `kinds of rent`."""
    head, separator, rest = term.partition(" of ")
    if head.endswith("y") and head[-2:-1] not in tuple("aeiou"):
        return f"{head[:-1]}ies{separator}{rest}"
    return f"{head}{'es' if head.endswith(('s', 'x', 'z', 'ch', 'sh')) else 's'}{separator}{rest}"
