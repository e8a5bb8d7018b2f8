"""Loading the labels that raters gave to pairs of the run, after its pairs: a rating of a pair that is not in the run is
quarantined.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from audit.release.rating_kinds import HUMAN_RATING
from audit.release.record_kind import Record
from audit.release.report import NOTED
from audit.store.connection import Connection, append, rows
from audit.store.load_kind import entries
from audit.store.record_reader import LoadState, Problem, RecordReader, append_records

Pair = tuple[int, int, int]
RATING_COLUMNS = ("item", "rater", "label", "significance", "comment")
# A study rates hundreds of pairs of millions, so only the pairs of its questions are fetched
LABELS_OF_QUESTIONS = """
select question, handbook_a, handbook_b, label::varchar from pairs where question in (select unnest($questions))
"""


@dataclass
class KnownPairs:
    """The pairs of the questions that were rated with the run's label, and what was rated already."""

    labels: dict[Pair, str | None]
    items: set[str] = field(default_factory=set)
    pairs: set[Pair] = field(default_factory=set)


def load_ratings(con: Connection, reader: RecordReader, state: LoadState) -> None:
    """Fill `rated_pairs` and `ratings`."""
    records = [record | {"item": number} for number, record in enumerate(_usable(con, reader, state))]
    append_records(con, HUMAN_RATING, records)
    ratings = list(entries(records, "raters", "item"))
    append(con, "ratings", {name: [rating[name] for rating in ratings] for name in RATING_COLUMNS})


def _usable(con: Connection, reader: RecordReader, state: LoadState) -> Iterator[Record]:
    for path in reader.layout.parts[HUMAN_RATING.name]:
        listed = list(reader.records(path, HUMAN_RATING))
        questions = {number for *_, record in listed if (number := state.questions.get(record["question_id"])) is not None}
        labels = rows(con, LABELS_OF_QUESTIONS, {"questions": sorted(questions)})
        known = KnownPairs({(question, a, b): label for question, a, b, label in labels})
        for line, position, raw, record in listed:
            if problem := state.resolve_ids(record, HUMAN_RATING.id_fields) or _problem(record, known):
                reader.requarantine(line, position, *problem, raw)
                continue
            label = known.labels[_pair(record)]
            if record["judge"] is not None and record["judge"] != label:
                message = f"the judge's label is {record['judge']} here and {label or 'missing'} in the run. The run's is used."
                reader.note(line, position, NOTED, "other_verdict", message)
            yield record


def _problem(record: Record, known: KnownPairs) -> Problem | None:
    """The problem of a record that is not a pair of the run, or was rated in an earlier record."""
    pair = _pair(record)
    if pair not in known.labels:
        return "unknown_pair", "the run has no such pair, so there is no verdict to compare the ratings with."
    if record["item_id"] in known.items or pair in known.pairs:
        return "duplicate_rating", HUMAN_RATING.same.format(**record)
    known.items.add(record["item_id"])
    known.pairs.add(pair)
    return None


def _pair(record: Record) -> Pair:
    first, second = sorted((record["handbook_a"], record["handbook_b"]))
    return record["question"], first, second
