"""The tenancy example as its tests read it."""

import csv
import json
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

from audit.text.documents import Document, read_documents

FOLDER = Path(__file__).parents[2] / "examples" / "tenancy"
SAME = ({"68 °F", "20 °C"}, {"48 hours", "2 days"})
"""Values that are the same in other units."""


def table(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def codes() -> dict[str, Document]:
    return {document.handbook_id: document for document in read_documents(FOLDER / "documents")}


def truth() -> dict[str, dict[str, str]]:
    """Rule -> state code -> the value that the code gives; "" where it is silent."""
    return {row.pop("rule"): row for row in table("truth.csv")}


def gold() -> list[dict[str, object]]:
    return [json.loads(line) for line in (FOLDER / "gold.jsonl").read_text(encoding="utf-8").splitlines()]


def asked(organ: str) -> list[str]:
    """The codes that a question of that kind of tenancy is put to."""
    return [code for code, document in codes().items() if organ in ("general", document.organ)]


def true_relation(one: str, other: str) -> str:
    """How two codes with these values relate: absent, agree, differ or opposite."""
    if not one or not other:
        return "absent"
    if one == other or {one, other} in SAME:
        return "agree"
    return "opposite" if {one, other} == {"yes", "no"} else "differ"


def true_pairs() -> Iterator[tuple[dict[str, str], str, str, str]]:
    """(question, code, code, true relation) for every pair of every question that turns on a rule."""
    rules = truth()
    for question in table("questions.csv"):
        for one, other in combinations(asked(question["organ"]), 2):
            values = rules.get(question["rule"], {})
            yield question, one, other, true_relation(values.get(one, ""), values.get(other, ""))
