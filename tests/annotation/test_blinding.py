"""Planted words: no word of the judge or of the other annotator reaches an annotator."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from annotation.label_store.assignments import list_tasks, next_task
from annotation.label_store.engine import LabelStore
from annotation.label_store.results import assignment_rows
from annotation.label_store.studies import ItemKind, list_studies, study_progress
from annotation.schemes import HEAD_TO_HEAD
from annotation.studies.packets import packet_csv, packet_xlsx
from annotation.studies.study_tables import ratings_table
from annotation.studies.verdict_store import SampleOrigin, StoredVerdict, Stratum, store_sample
from tests.support.studies import NOW, compared, item, prefer, rate, study_of

ROOT = Path(__file__).resolve().parents[2]
CANARY = "CANARY7F3A"
ANNOTATORS_MODULES = (
    "studies.accounts",
    "studies.packets",
    "label_store.assignments",
    "label_store.ratings",
    "label_store.studies",
    "label_store.study_creation",
)


@pytest.fixture
def planted(store: LabelStore) -> LabelStore:
    """A study in which every text that an annotator must not see contains the canary."""
    study_of(store, [item(n, name_a=f"{CANARY}a", name_b=f"{CANARY}b") for n in range(1, 13)])
    stored = [
        StoredVerdict(f"i{n:03}", f"{CANARY}/s", f"{CANARY}-label", f"{CANARY}-sig", f"{CANARY}-topic", CANARY)
        for n in range(1, 13)
    ]
    with store.begin() as tx:
        store_sample(
            tx,
            "s",
            SampleOrigin(f"{CANARY}@run", CANARY, 30, 1, {"seed": CANARY}),
            [Stratum(f"{CANARY}/s", CANARY, None, 24, 12)],
            stored,
        )
    for number in range(1, 13):
        rate(store, "ben", number, "DIVERGENT", "high", comment=f"{CANARY} by ben")
    rate(store, "ana", 1, "ABSENT", comment="my own words")
    return store


def test_nothing_an_annotator_can_request_contains_a_planted_word(planted: LabelStore) -> None:
    own = list_tasks(planted, "s", "ana")
    everything = [
        own,
        next_task(planted, "s", "ana", NOW, "v"),
        list_studies(planted, "ana"),
        study_progress(planted, "s"),
    ]
    assert "my own words" in repr(everything)
    assert CANARY not in repr(everything)
    assert "ben" not in repr(everything[:3])


def test_no_packet_contains_a_planted_word(planted: LabelStore) -> None:
    written = packet_csv(planted, "s", "ana") + b"".join(parts_of(packet_xlsx(planted, "s", "ana")))
    assert b"my own words" in written
    assert CANARY.encode() not in written
    assert b"i001" not in written  # an item's own id would let two annotators put their packets side by side


def test_no_system_of_a_head_to_head_study_reaches_an_annotator(store: LabelStore) -> None:
    hidden = {name: f"{CANARY}{name}" for name in ("handbook_a", "handbook_b", "name_a", "name_b")}
    study_of(store, [compared(number, **hidden) for number in range(1, 7)], scheme=HEAD_TO_HEAD)
    for number in range(1, 7):
        prefer(store, "ben", number, "A", comment=f"{CANARY} by ben")
    prefer(store, "ana", 1, "B", comment="my own words")
    everything = repr([list_tasks(store, "s", "ana"), next_task(store, "s", "ana", NOW, "v"), list_studies(store, "ana")])
    packets = packet_csv(store, "s", "ana") + b"".join(parts_of(packet_xlsx(store, "s", "ana")))
    assert "my own words" in everything
    assert (CANARY in everything, "ben" in everything, "swapped" in everything) == (False, False, False)
    assert (b"my own words" in packets, CANARY.encode() in packets, b"i001" in packets) == (True, False, False)


def parts_of(book: bytes) -> list[bytes]:
    """The files inside a workbook."""
    with zipfile.ZipFile(io.BytesIO(book)) as archive:
        return [archive.read(name) for name in archive.namelist()]


def test_the_export_for_pis_contains_them_so_the_canary_can_be_found(planted: LabelStore) -> None:
    assert CANARY in ratings_table(planted, "s").to_csv()


def test_what_annotators_run_loads_no_verdicts_and_no_store() -> None:
    script = f"import sys, {', '.join(f'annotation.{name}' for name in ANNOTATORS_MODULES)}; print('\\n'.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert "annotation.studies.packets" in loaded
    forbidden = ("duckdb", "audit.store", "audit.metrics", "annotation.studies.verdict_store", "annotation.label_store.results")
    assert [name for name in loaded if name.startswith(forbidden)] == []


def test_assignment_ids_reveal_neither_repeats_nor_the_other_annotator(lite: LabelStore) -> None:
    study_of(lite, [*(item(n) for n in range(1, 9)), item(50, ItemKind.REPEAT, "i001", question="Question 1?")])
    ids = {row["seat_id"]: row["item_id"] for row in assignment_rows(lite, "s")}
    assert len(ids) == 18
    assert not any(item_id in seat_id for seat_id, item_id in ids.items())
