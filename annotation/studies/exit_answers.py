"""The raters' answers to the exit question, for PIs: Bang's blinding index of all, by institution and by rater."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from string import ascii_uppercase
from typing import NamedTuple

import pandas as pd

from annotation.agreement.blinding_index import BlindingIndex, blinding_index
from annotation.label_store.engine import LabelStore
from annotation.label_store.exit_questions import institutions_of
from annotation.label_store.results import assignment_rows
from annotation.label_store.seals import GUESS, events_of
from annotation.label_store.studies import list_annotators
from audit.tables import Column, TableSpec

TABLE = TableSpec(
    "Whether raters knew whose answers they read",
    (
        Column.text("of", "Guesses"), Column.count("n", "n", "guesses"), Column.count("right", "Right"),
        Column.count("wrong", "Wrong"), Column.count("unknown", "Did not know"), Column.decimal("index", "Blinding index"),
    ),
    (
        "Asked of each rater after the last item, about the first answer of up to ten items. Bang's index (Bang, Ni and Davis "
        "2004): 0 as by chance, 1 everybody right; with k institutions to choose among a wrong one counts -1/(k - 1). Intervals: "
        "95 %, guesses taken as independent.",
    ),
)  # fmt: skip
TABLE_COLUMNS = [*(column.name for column in TABLE.columns), "index_low", "index_high"]
NOT_ASKED = "Raters have not answered an exit question, so whether they knew whose answers they read is unknown."


class Guess(NamedTuple):
    """A rater by letter, whose the answer is, and the institution that was named; None: did not know."""

    rater: str
    institution: str
    named: str | None


def guesses_of(store: LabelStore, study_id: str) -> tuple[list[Guess], int]:
    """The guesses of a study, and how many institutions there were to choose among."""
    with store.read() as con:
        given, institution = events_of(con, study_id, GUESS), institutions_of(con, study_id)
    letters = {name: ascii_uppercase[n % 26] for n, name in enumerate(list_annotators(store, study_id))}
    seats = {row["seat_id"]: row["handbook_b" if row["swapped"] else "handbook_a"] for row in assignment_rows(store, study_id)}
    guesses = [
        Guess(letters[one["annotator"]], institution[seats[one["seat_id"]]], one["institution"])
        for one in given
        if one["annotator"] in letters
    ]
    return guesses, len(set(institution.values()))


def index_of(guesses: Iterable[Guess], choices: int) -> BlindingIndex:
    """The blinding index of these guesses."""
    kinds = Counter("unknown" if one.named is None else "right" if one.named == one.institution else "wrong" for one in guesses)
    return blinding_index(kinds["right"], kinds["wrong"], kinds["unknown"], max(choices, 2))


def exit_answers(store: LabelStore, study_id: str) -> pd.DataFrame:
    """One row for all guesses, each institution and each rater, with the columns of TABLE; empty without a guess."""
    guesses, choices = guesses_of(store, study_id)
    rows = [
        (of, index.n, index.right, index.wrong, index.unknown, index.value, index.low, index.high)
        for of, own in _parts(guesses)
        for index in [index_of(own, choices)]
    ]
    return pd.DataFrame(rows, columns=TABLE_COLUMNS)


def _parts(guesses: list[Guess]) -> Iterator[tuple[str, list[Guess]]]:
    if guesses:
        yield "all", guesses
    for institution in sorted({one.institution for one in guesses}):
        yield f"about {institution}", [one for one in guesses if one.institution == institution]
    for rater in sorted({one.rater for one in guesses}):
        yield f"by rater {rater}", [one for one in guesses if one.rater == rater]


def exit_sentence(store: LabelStore, study_id: str) -> str:
    """The index of all guesses in words."""
    guesses, choices = guesses_of(store, study_id)
    return index_of(guesses, choices).sentence() if guesses else NOT_ASKED
