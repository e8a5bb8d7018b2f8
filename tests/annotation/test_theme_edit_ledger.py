"""Theme edits in the ledger, on both databases: who may edit, what is stored, simultaneous edits, and exports."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DatabaseError

from annotation.label_store.engine import ConflictError, LabelStore, StudyError
from annotation.label_store.ledger import verify_edits
from annotation.label_store.theme_edits import count_edits, list_edit_rows
from annotation.studies.accounts import Account, Role, find_account
from annotation.theme_edits.edits import EditKind, ThemeChange, ThemeEdit
from annotation.theme_edits.record import NewEdit, edits_from_jsonl, edits_to_jsonl, history_table, list_edits, record_edit
from annotation.theme_edits.replay import apply_edits
from tests.support.curating import LIFTING, TEETH, merge, move, outline, rename, small, split, undo
from tests.support.studies import NOW, later, people

RUN = "d1" * 32


@pytest.fixture
def clinic(store: LabelStore) -> LabelStore:
    people(store, "vera", role="viewer")
    people(store, "petra", role="pi")
    return store


def curate(store: LabelStore, change: ThemeChange, who: str = "vera", **other: Any) -> ThemeEdit:
    """One edit by somebody who has seen all earlier ones, unless `other` says otherwise."""
    seen = count_edits(store, RUN)
    wish = NewEdit(change, **{"reason": "they mean the same", "key": f"{who}/{seen}", "seen": seen, **other})
    person = find_account(store, who)
    assert person is not None
    return record_edit(store, RUN, small(), person, wish, later(seen))


def test_an_edit_is_stored_with_author_time_reason_and_the_names_that_were_shown(clinic: LabelStore) -> None:
    made = curate(clinic, merge("t-lift", "t-teeth"))
    assert list_edits(clinic, RUN) == [made]
    assert (made.seq, made.author, made.reason, made.taxonomy) == (1, "vera", "they mean the same", "ab" * 32)
    assert made.made_at == "2026-03-01T09:00:00.000000+00:00"
    assert made.change.shown_names == {"t-lift": "lifting", "t-teeth": "teeth"}
    assert list_edits(clinic, "another run") == []


def test_a_name_is_stored_as_it_was_at_the_time_of_the_edit(clinic: LabelStore) -> None:
    curate(clinic, rename("t-teeth", "  Dental\n care "))
    made = curate(clinic, merge("t-lift", "t-teeth"))
    assert made.change.shown_names == {"t-lift": "lifting", "t-teeth": "Dental care"}


def test_a_split_gets_an_id_that_no_build_assigns(clinic: LabelStore) -> None:
    first = curate(clinic, split("t-teeth", TEETH[:1], "", "Before listing"))
    second = curate(clinic, split("t-teeth", TEETH[1:2], "", "Cleaning"))
    assert str(first.change.into).startswith("c-")
    assert first.change.into != second.change.into
    assert outline(apply_edits(small(), list_edits(clinic, RUN)).taxonomy)[str(first.change.into)][0] == "Before listing"


@pytest.mark.parametrize("role", [Role.ANNOTATOR, Role.ADJUDICATOR])
def test_annotators_and_adjudicators_cannot_edit_themes(clinic: LabelStore, role: Role) -> None:
    with pytest.raises(StudyError, match=f"you are {role}"):
        record_edit(clinic, RUN, small(), Account("ana", "Ana", role), NewEdit(rename("t-sun", "Sun"), "why", "k"), NOW)


@pytest.mark.parametrize(
    ("change", "other", "why"),
    [
        (rename("t-sun", "Sun"), {"reason": "  "}, "needs a reason"),
        (rename("t-sun", "Sun"), {"reason": "x" * 4001}, "4,001 characters"),
        (rename("t-sun", "  "), {}, "name of 1 to 200"),
        (ThemeChange(EditKind.MERGE, "t-sun"), {}, "Choose the theme to merge into"),
        (ThemeChange(EditKind.SET_ASIDE), {}, "Choose a theme"),
        (move([], "t-sun", "t-lift"), {}, "Choose at least one phrase"),
        (rename("t-sun", "x" * 201), {}, "name of 1 to 200"),
        (rename("t-sun", "teeth"), {}, "taken by another theme"),
        (rename("t-sun", "Sun"), {"key": ""}, "key of 1 to 100"),
        (undo(1), {}, "there is no edit 1"),
    ],
)
def test_a_refused_edit_leaves_nothing_behind(clinic: LabelStore, change: ThemeChange, other: dict[str, Any], why: str) -> None:
    with pytest.raises(StudyError, match=why):
        curate(clinic, change, **other)
    assert list_edit_rows(clinic, RUN) == []
    assert verify_edits(clinic, RUN) == []


def test_the_same_click_twice_is_one_edit(clinic: LabelStore) -> None:
    assert curate(clinic, rename("t-sun", "Sun"), key="press") == curate(clinic, rename("t-sun", "Sun"), key="press")
    assert count_edits(clinic, RUN) == 1


def test_an_undo_is_another_record_and_the_undone_one_stays(clinic: LabelStore) -> None:
    curate(clinic, rename("t-sun", "Sun"))
    made = curate(clinic, undo(1), "petra", reason="it was fine")
    assert [(row.kind, row.undoes, row.author) for row in list_edit_rows(clinic, RUN)] == [
        ("rename", None, "vera"),
        ("undo", 1, "petra"),
    ]
    assert made.change == ThemeChange(EditKind.UNDO, undoes=1)
    assert apply_edits(small(), list_edits(clinic, RUN)).taxonomy == small()
    with pytest.raises(StudyError, match="already undone by edit 2 of petra"):
        curate(clinic, undo(1))


def test_an_edit_that_a_later_one_builds_on_is_not_undone(clinic: LabelStore) -> None:
    made = curate(clinic, split("t-teeth", TEETH[:2], "", "Before listing"))
    curate(clinic, rename(str(made.change.into), "Before the list"))
    with pytest.raises(StudyError, match=r"edit 2 .renamed 'Before listing' to 'Before the list'. builds on it; undo that first"):
        curate(clinic, undo(1))


def test_an_unseen_change_of_the_same_theme_is_reported(clinic: LabelStore) -> None:
    curate(clinic, rename("t-lift", "Weights"), "petra", reason="clearer")
    with pytest.raises(
        ConflictError, match=r"Since you looked, petra renamed 'lifting' to 'Weights' .edit 1: clearer.*still there"
    ):
        curate(clinic, merge("t-lift", "t-teeth"), seen=0)
    assert curate(clinic, merge("t-lift", "t-teeth"), seen=1, key="again").seq == 2


def test_a_change_elsewhere_in_the_meantime_does_not_matter(clinic: LabelStore) -> None:
    curate(clinic, rename("t-sun", "Sun"), "petra")
    assert curate(clinic, rename("t-lift", "Weights"), seen=0).seq == 2


def test_the_undo_of_an_unseen_change_is_reported_too(clinic: LabelStore) -> None:
    curate(clinic, rename("t-sun", "Sun"))
    curate(clinic, undo(1), "petra")
    with pytest.raises(ConflictError, match="petra undid edit 1"):
        curate(clinic, move([LIFTING[0]], "t-lift", "t-sun"), seen=1)


def test_twelve_simultaneous_first_edits_form_one_chain(clinic: LabelStore) -> None:
    person = find_account(clinic, "vera")
    assert person is not None
    went_wrong: list[Exception] = []

    def one(number: int) -> None:
        wish = NewEdit(rename("t-sun", f"Sun {number}"), "why", f"k{number}", seen=12)
        try:
            record_edit(clinic, RUN, small(), person, wish, NOW)
        except Exception as error:
            went_wrong.append(error)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(12)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert went_wrong == []
    assert [row.seq for row in list_edit_rows(clinic, RUN)] == list(range(1, 13))
    assert verify_edits(clinic, RUN) == []


@pytest.mark.parametrize("statement", ["update theme_acts set reason = 'x'", "delete from theme_acts"])
def test_nobody_can_change_or_delete_an_edit(clinic: LabelStore, statement: str) -> None:
    curate(clinic, rename("t-sun", "Sun"))
    with pytest.raises(DatabaseError, match="append-only"), clinic.begin() as tx:
        tx.execute(text(statement))


@pytest.mark.parametrize("field", ["reason", "author", "body", "made_at", "taxonomy"])
def test_an_edit_altered_in_the_database_is_detected(lite: LabelStore, field: str) -> None:
    people(lite, "vera", "eve", role="viewer")
    curate(lite, rename("t-sun", "Sun")), curate(lite, rename("t-lift", "Weights"))
    with lite.begin() as tx:
        tx.execute(text("drop trigger theme_acts_no_update"))
        tx.execute(text(f"update theme_acts set {field} = 'eve' where seq = 1"))
    assert verify_edits(lite, RUN) == ["theme_acts: entry 1 was changed after it was written"]


def test_phrases_that_a_database_cannot_store_as_text_are_read_back_unchanged(clinic: LabelStore) -> None:
    odd = "nul \0, half a pair \ud83d, and ü"
    taxonomy = replace(small(), no_theme=(odd,))
    person = find_account(clinic, "vera")
    assert person is not None
    record_edit(clinic, RUN, taxonomy, person, NewEdit(move([odd], None, "t-sun"), "why", "k"), NOW)
    (edit,) = list_edits(clinic, RUN)
    assert edit.change.phrases == (odd,)
    assert odd in dict.fromkeys(outline(apply_edits(taxonomy, [edit]).taxonomy)["t-sun"][2])


def test_an_export_has_every_edit_and_is_read_back_unchanged(clinic: LabelStore) -> None:
    curate(clinic, split("t-teeth", TEETH[:2], "", "Before listing"))
    curate(clinic, rename("t-sun", "Sun"))
    curate(clinic, undo(2), "petra")
    recorded = list_edits(clinic, RUN)
    assert edits_from_jsonl(edits_to_jsonl(recorded)) == recorded
    table = history_table(recorded)
    assert table["act"].tolist() == [3, 2, 1]
    assert table["standing"].tolist() == ["in effect", "undone by edit 3", "in effect"]
    assert table["phrases"].tolist()[2] == "\n".join(TEETH[:2])
    assert table["what"].tolist()[0] == "undid edit 2"


def test_a_file_without_edits_is_refused() -> None:
    with pytest.raises(StudyError, match="Line 2 is not a theme edit"):
        edits_from_jsonl('\n{"act": 1}\n')


def test_only_a_line_feed_ends_an_edit_and_a_repeated_key_is_refused(clinic: LabelStore) -> None:
    curate(clinic, rename("t-sun", "Sun\u2028and\u0085sea"))
    (edit,) = edits_from_jsonl(edits_to_jsonl(list_edits(clinic, RUN)).encode().decode("unicode_escape"))
    assert edit.change.name == list_edits(clinic, RUN)[0].change.name
    line = edits_to_jsonl(list_edits(clinic, RUN))
    with pytest.raises(StudyError, match=r"Line 1 is not a theme edit \(the key 'act' appears twice"):
        edits_from_jsonl(line.replace('{"act": 1', '{"act": 1, "act": 1'))
