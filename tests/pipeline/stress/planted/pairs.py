"""Pairs that changes can be planted in, small enough to be checked by eye."""

from __future__ import annotations

from audit.evaluation.planted_changes import StartPair
from audit.vocabulary import Label

LONG = (
    "Wait at least 3 months before you travel abroad. Mosquito nets protect against malaria in warm wet countries. "
    "Your doctor gives you a letter for customs."
)
OTHER = (
    "Travel abroad is safe from 3 months after surgery. Pack medicines for a second week. Vaccines need planning with the clinic."
)


def start_pair(number: int, label: Label | None = Label.CONSISTENT, a: str = LONG, b: str = OTHER) -> StartPair:
    """A pair of the handbooks alder and birch on question `number`."""
    return StartPair(f"q{number}", "When may I travel abroad?", "alder", "birch", a, b, "Alder", "Birch", label)


def start_pairs() -> list[StartPair]:
    """Eight questions, every label in turn; a third center, so that a name can be put in."""
    labels = (Label.CONSISTENT, Label.COMPLEMENTARY, Label.DIVERGENT, Label.CONTRADICTORY)
    pairs = [start_pair(number, labels[number % 4]) for number in range(8)]
    third = StartPair("q8", "May I swim?", "cedar", "alder", "Do not swim in lakes.", "Swim.", "Cedar", "Alder", Label.ABSENT)
    return [*pairs, third]
