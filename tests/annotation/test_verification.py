"""Whatever somebody alters in the database by hand is named, and an export shows that a whole ledger was rewritten."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from sqlalchemy import select, text, update

from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.ledger import GENESIS_HASH, entry_hash
from annotation.label_store.schema import heads, ratings, study_events
from annotation.label_store.studies import StudyState
from annotation.studies.verdict_store import SampleOrigin, StoredVerdict, Stratum, store_sample
from annotation.studies.verification import (
    SealedHeads,
    heads_record,
    read_sealed_heads,
    verify_study,
)
from tests.support.studies import rate, rate_all, step, study_of


@pytest.fixture
def study(store: LabelStore) -> LabelStore:
    """Three judged items, of which one annotator has rated two."""
    return judged(store)


def judged(store: LabelStore) -> LabelStore:
    study_of(store, 3)
    layers = [Stratum("ABSENT", "ABSENT", None, 90, 2), Stratum("DIVERGENT", "DIVERGENT", None, 10, 1)]
    labels = ("ABSENT", "ABSENT", "DIVERGENT")
    verdicts = [StoredVerdict(f"i{n:03}", label, label, None, "t", "why") for n, label in enumerate(labels, start=1)]
    with store.begin() as tx:
        store_sample(tx, "s", SampleOrigin("run@1", "d", 100, 0, {"seed": 1}), layers, verdicts)
    rate(store, "ana", 1, "ABSENT")
    rate(store, "ana", 2, "CONSISTENT")
    return store


def by_hand(store: LabelStore, statement: str, *tables: str) -> None:
    """Somebody who has the database takes the triggers of these tables away first."""
    with store.begin() as tx:
        for table in tables:
            for name in (f"{table}_no_update", f"{table}_no_delete") if store.sqlite else (f"{table}_sealed on {table}",):
                tx.execute(text(f"drop trigger {name}"))
        tx.execute(text(statement))


def test_nothing_is_reported_of_a_study_that_nobody_altered(study: LabelStore) -> None:
    assert verify_study(study, "s") == []
    assert {name: head["entries"] for name, head in heads_record(study, "s").items()} == {
        "ratings": 2, "decisions": 0, "study_events": 2,
    }  # fmt: skip


SEALED = "after the study was sealed"


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        ("update verdicts set label = 'CONTRADICTORY'", f"verdicts: 3 rows were changed {SEALED} (i001, i002, i003)"),
        ("update verdicts set reasoning = null where item_id = 'i002'", f"verdicts: 1 row was changed {SEALED} (i002)"),
        ("delete from verdicts where item_id = 'i003'", f"verdicts: 1 row was removed {SEALED} (i003)"),
        ("insert into verdicts select 'i009', study_id, stratum, label, significance, topic, reasoning from verdicts where "
         "item_id = 'i001'", f"verdicts: 1 row was added {SEALED} (i009)"),
        ("update strata set population = population * 10", f"strata: 2 rows were changed {SEALED} (ABSENT, DIVERGENT)"),
        ("update strata set sampled = 5 where stratum = 'ABSENT'", f"strata: 1 row was changed {SEALED} (ABSENT)"),
        ("update designs set unscored = 7", f"designs: 1 row was changed {SEALED} (s)"),
        ("""update designs set plan = '{"seed": 2}'""", f"designs: 1 row was changed {SEALED} (s)"),
        ("update items set answer_a = answer_a || '.' where item_id = 'i001'", f"items: 1 row was changed {SEALED} (i001)"),
        ("update items set name_b = 'Cedar'", f"items: 3 rows were changed {SEALED} (i001, i002, i003)"),
        ("update items set kind = 'calibration' where item_id = 'i003'", f"items: 1 row was changed {SEALED} (i003)"),
        ("update studies set names_shown = true", f"studies: 1 row was changed {SEALED} (s)"),
        ("update studies set seed = 6", f"studies: 1 row was changed {SEALED} (s)"),
        ("update studies set state = 'closed'", "studies: the state is closed, but the last one recorded is labelling"),
    ],
)  # fmt: skip
def test_each_alteration_by_hand_is_named_with_its_table_and_rows(study: LabelStore, statement: str, fault: str) -> None:
    by_hand(study, statement)
    assert verify_study(study, "s") == [fault]


@pytest.mark.parametrize("change", ["swapped = not swapped", "position = position + 10", "calibration = true"])
def test_sides_order_and_round_of_the_assignments_are_sealed(study: LabelStore, change: str) -> None:
    by_hand(study, f"update seats set {change}")
    (fault,) = verify_study(study, "s")
    assert fault.startswith(f"seats: 6 rows were changed {SEALED} (")
    assert fault.endswith(", ...)")


def test_more_than_three_rows_are_counted_and_not_listed(lite: LabelStore) -> None:
    study_of(lite, 1_200)
    by_hand(lite, "update items set question = '?'")
    assert verify_study(lite, "s") == [f"items: 1,200 rows were changed {SEALED} (i001, i002, i003, ...)"]


def test_claiming_an_item_alters_nothing_and_giving_the_rating_to_somebody_else_does(store: LabelStore) -> None:
    study_of(store, 4, ("ana", "ben", "cem"))
    assert rate_all(store, "ana") == 4
    assert verify_study(store, "s") == []
    by_hand(store, "update seats set annotator = 'cem' where current = 1")
    (fault,) = verify_study(store, "s")
    assert fault.startswith("seats: ")
    assert fault.endswith("does not point to its last rating, or names a different rater")
    by_hand(store, "update seats set annotator = 'ana', swapped = not swapped where current = 1")
    assert verify_study(store, "s")[0].startswith(f"seats: 1 row was changed {SEALED}")


def test_every_change_of_state_is_an_entry(study: LabelStore) -> None:
    step(study, StudyState.LABELLING, incomplete=True)
    step(study, StudyState.ADJUDICATION)
    with study.read() as con:
        events = con.execute(select(study_events.c.kind, study_events.c.body).order_by(study_events.c.seq)).all()
    assert [kind for kind, _ in events] == ["created", "sampled", "state", "state"]
    assert json.loads(events[-1][1]) == {"from": "adjudication", "state": "closed"}
    assert verify_study(study, "s") == []


@pytest.mark.parametrize("statement", ["update study_events set body = '{'", "delete from study_events where seq = 2"])
def test_an_altered_event_is_named_and_not_believed(study: LabelStore, statement: str) -> None:
    by_hand(study, statement, "study_events")
    faults = verify_study(study, "s")
    assert faults
    assert all(fault.startswith("study_events: ") for fault in faults)


def test_events_cannot_be_altered_while_their_triggers_are_there(study: LabelStore) -> None:
    with pytest.raises(Exception, match="append-only"), study.begin() as tx:
        tx.execute(text("update study_events set body = '{}'"))


def test_a_study_whose_seals_were_taken_away_with_their_head_is_named(study: LabelStore) -> None:
    by_hand(study, "delete from study_events", "study_events")
    by_hand(study, f"update heads set entries = 0, hash = '{GENESIS_HASH}' where ledger = 'study_events'")
    assert verify_study(study, "s") == [
        "study_events: the study was never sealed, so a change of its items or verdicts is not detected"
    ]


# -- against what an export sealed -------------------------------------------------------------------------------------


def rewritten(store: LabelStore) -> None:
    """Change the first rating and rewrite the whole ledger after it, head included."""
    with store.begin() as tx:
        entries = [dict(row) for row in tx.execute(select(ratings).order_by(ratings.c.seq)).mappings()]
        entries[0]["label"], previous = "COMPLEMENTARY", GENESIS_HASH
        for entry in entries:
            entry["previous"] = previous
            previous = entry["hash"] = entry_hash(entry)
            tx.execute(update(ratings).where(ratings.c.seq == entry["seq"]).values(entry))
        tx.execute(update(heads).where(heads.c.ledger == "ratings").values(hash=previous))


def test_a_ledger_that_was_rewritten_with_its_head_differs_from_the_sealed_one(study: LabelStore) -> None:
    sealed = SealedHeads("s", {name: (h["entries"], h["last"]) for name, h in heads_record(study, "s").items()})
    rate(study, "ana", 3, "ABSENT")
    assert verify_study(study, "s", sealed) == []
    by_hand(study, "select 1", "ratings")
    rewritten(study)
    assert verify_study(study, "s") == []
    assert verify_study(study, "s", sealed) == ["ratings: entry 2 is not the one that was sealed: the ledger was rewritten"]


def test_a_ledger_that_was_cut_with_its_head_has_fewer_entries_than_the_sealed_one(study: LabelStore) -> None:
    sealed = SealedHeads("s", {name: (h["entries"], h["last"]) for name, h in heads_record(study, "s").items()})
    by_hand(study, "delete from ratings where seq = 2", "ratings")
    by_hand(study, "update heads set entries = 1, hash = (select hash from ratings where seq = 1) where ledger = 'ratings'")
    by_hand(study, "update seats set current = null where current = 2")
    assert verify_study(study, "s") == []
    (fault,) = verify_study(study, "s", sealed)
    assert fault == "ratings: 2 entries were sealed, and there are 1 now: later ones were removed"


def test_heads_are_read_from_a_manifest_a_folder_and_an_archive(lite: LabelStore, tmp_path: Path) -> None:
    judged(lite)
    manifest = json.dumps({"study": {"study_id": "s", "ledgers": heads_record(lite, "s")}})
    (tmp_path / "manifest.json").write_text(manifest)
    (tmp_path / "r_manifest.json").write_text(manifest)
    with zipfile.ZipFile(tmp_path / "p.zip", "w") as archive:
        archive.writestr("other.txt", "")
        archive.writestr("manifest.json", manifest)
    for path in (tmp_path, tmp_path / "r_manifest.json", tmp_path / "p.zip"):
        assert verify_study(lite, "s", read_sealed_heads(path)) == []


@pytest.mark.parametrize(
    "content", ["", "{}", "[]", '{"study": null}', '{"study": {"study_id": "s", "ledgers": {"ratings": 3}}}']
)
def test_a_file_without_heads_is_refused_in_a_sentence(tmp_path: Path, content: str) -> None:
    (tmp_path / "m.json").write_text(content)
    with pytest.raises(StudyError, match="has no sealed heads of a study"):
        read_sealed_heads(tmp_path / "m.json")
    with pytest.raises(StudyError, match="cannot be read: No such file"):
        read_sealed_heads(tmp_path / "none.json")


def test_the_heads_of_another_study_are_refused(lite: LabelStore) -> None:
    judged(lite)
    with pytest.raises(StudyError, match="those of study 'other', not of 's'"):
        verify_study(lite, "s", SealedHeads("other", {}))
