"""Theme edits: what each kind does, what it refuses, what conflicts later, and undoing."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from annotation.theme_edits.edits import EditKind, ThemeChange, describe_change, effective_edits
from annotation.theme_edits.replay import apply_edits, check_change, check_undo
from audit.release.taxonomy import Taxonomy
from tests.support.curating import (
    BEACH,
    LIFTING,
    LOOSE,
    TEETH,
    change,
    edits,
    merge,
    move,
    outline,
    rename,
    small,
    split,
    under,
    undo,
)

BAGS, WEIGHTS = LIFTING


def of(*changes: ThemeChange) -> dict[str, tuple[str, str | None, list[str]]]:
    found = apply_edits(small(), edits(*changes))
    assert found.conflicts == ()
    return outline(found.taxonomy)


def test_without_edits_the_taxonomy_is_the_built_one() -> None:
    built = small()
    assert apply_edits(built, []).taxonomy is built


def test_a_theme_is_renamed_and_keeps_its_id_and_phrases() -> None:
    assert of(rename("t-teeth", "Dental care")) == outline(small()) | {"t-teeth": ("Dental care", "p-body", sorted(TEETH))}
    (theme,) = [
        t for t in apply_edits(small(), edits(rename("t-teeth", "Dental care"))).taxonomy.themes if t.theme_id == "t-teeth"
    ]
    assert (theme.named_by, theme.medoid, theme.terms) == ("curator", "dental cleaning", ("teeth",))


def test_a_merged_theme_disappears_and_its_phrases_move_to_the_other() -> None:
    found = apply_edits(small(), edits(merge("t-lift", "t-teeth")))
    whole = outline(found.taxonomy)
    assert "t-lift" not in whole
    assert whole["t-teeth"] == ("teeth", "p-body", sorted(TEETH + LIFTING))
    assert found.merged == {"t-lift": "t-teeth"}
    teeth = next(theme for theme in found.taxonomy.themes if theme.theme_id == "t-teeth")
    assert teeth.exemplars == ("dental cleaning", "weight lifting", "pulling teeth", "heavy bags")  # by turns, it speaks for both
    assert (found.taxonomy.counts["themes"], found.taxonomy.counts["topics"]) == (2, 9)


def test_a_merged_theme_leads_to_the_final_theme_of_its_phrases() -> None:
    found = apply_edits(small(), edits(merge("t-lift", "t-teeth"), merge("t-teeth", "t-sun")))
    assert found.merged == {"t-lift": "t-sun", "t-teeth": "t-sun"}


def test_two_parents_are_merged_with_the_themes_below_them() -> None:
    whole = of(merge("p-out", "p-body"))
    assert "p-out" not in whole
    assert whole["t-sun"][1] == "p-body"


def test_a_split_moves_some_phrases_into_a_new_theme() -> None:
    whole = of(split("t-teeth", TEETH[:2], "c-1", "Before listing"))
    assert whole["c-1"] == ("Before listing", "p-body", sorted(TEETH[:2]))
    assert whole["t-teeth"][2] == sorted(TEETH[2:])
    found = apply_edits(small(), edits(split("t-teeth", TEETH[:2], "c-1", "Before listing"))).taxonomy
    medoids = {theme.theme_id: (theme.medoid, theme.exemplars) for theme in found.leaves}
    assert medoids["c-1"] == ("check-up before listing", TEETH[:2])
    assert medoids["t-teeth"] == ("pulling teeth", ("pulling teeth",))  # its medoid went, an exemplar stayed


def test_a_phrase_moves_between_themes_and_to_or_from_no_theme() -> None:
    whole = of(move([BAGS], "t-lift", "t-sun"), move(LOOSE, None, "t-sun"), move([TEETH[0]], "t-teeth", None))
    assert whole["t-sun"][2] == sorted([*BEACH, BAGS, *LOOSE])
    found = apply_edits(small(), edits(move(LOOSE, None, "t-sun"), move([TEETH[0]], "t-teeth", None))).taxonomy
    assert found.no_theme == (TEETH[0],)
    assert "no_theme_phrases" not in found.counts  # occurrences are counted from the map, not from here


def test_a_theme_moves_under_another_parent_and_an_empty_parent_disappears() -> None:
    whole = of(under("t-sun", "p-body"))
    assert whole["t-sun"][1] == "p-body"
    assert "p-out" not in whole
    assert of(under("t-sun", "p-body"), under("t-lift", "p-out"))["t-lift"][1] == "p-out"  # it is there for whoever names it
    assert of(under("t-sun", None))["t-sun"][1] is None


def test_a_theme_set_aside_stays_in_the_taxonomy_and_is_marked() -> None:
    found = apply_edits(small(), edits(change(EditKind.SET_ASIDE, "p-body")))
    assert outline(found.taxonomy) == outline(small())
    assert found.set_aside == {"p-body", "t-teeth", "t-lift"}
    assert (
        apply_edits(small(), edits(change(EditKind.SET_ASIDE, "t-sun"), change(EditKind.BRING_BACK, "t-sun"))).set_aside
        == frozenset()
    )


@pytest.mark.parametrize(
    ("what", "why"),
    [
        (rename("t-none", "x"), "'t-none' .t-none. no longer exists"),
        (rename("t-teeth", "LIFTING "), "the name 'LIFTING ' is taken by another theme .t-lift."),
        (rename("t-teeth", "teeth"), "would change nothing"),
        (merge("t-teeth", "t-teeth"), "cannot be merged into itself"),
        (merge("t-teeth", "p-out"), "merge two parents or two themes without children"),
        (split("t-teeth", TEETH, "c-1", "All"), "take every phrase"),
        (split("t-teeth", TEETH[:1], "c-1", "Teeth"), "belongs to the theme that is split"),
        (split("t-teeth", TEETH[:1], "c-1", "sun"), "taken by another theme"),
        (split("t-teeth", TEETH[:1], "t-sun", "Brush"), "the id t-sun is taken"),
        (move(LIFTING, "t-lift", "t-sun"), "without phrases; merge that theme"),
        (move([BAGS], "t-lift", "p-out"), "'outdoors' has themes below it"),
        (move([BAGS], "t-sun", "t-teeth"), "1 phrase is elsewhere now, in 'lifting': 'heavy bags'"),
        (move(["no such"], "t-sun", "t-teeth"), "1 phrase is not in the taxonomy: 'no such'"),
        (under("p-body", "p-body"), "itself or below it"),
        (under("t-sun", "t-lift"), "has phrases of its own"),
        (change(EditKind.BRING_BACK, "t-sun"), "would change nothing"),
        (undo(7), "there is no edit 7"),
    ],
)
def test_an_impossible_change_is_explained(what: ThemeChange, why: str) -> None:
    assert re.search(why, "; ".join(check_change(small(), [], what)))


def test_a_parent_may_have_the_name_of_a_theme() -> None:
    assert check_change(small(), [], rename("p-body", "teeth")) == ()


# -- undoing -----------------------------------------------------------------------------------------------------------


def test_an_undone_edit_has_no_effect_and_undoing_the_undo_restores_it() -> None:
    history = edits(rename("t-sun", "Sun"), undo(1), undo(2))
    assert [act.seq for act in effective_edits(history[:2])] == []
    assert [act.seq for act in effective_edits(history)] == [1]
    assert apply_edits(small(), history[:2]).taxonomy == small()


def test_an_edit_on_which_another_builds_is_undone_after_it() -> None:
    history = edits(split("t-teeth", TEETH[:2], "c-1", "Before listing"), rename("c-1", "Before the list"))
    (why,) = check_undo(small(), history, 1)
    assert why.startswith("edit 2 (renamed 'c-1' to 'Before the list') builds on it; undo that first")
    assert check_undo(small(), history, 2) == ()
    assert check_undo(small(), [*history, *edits(undo(2), undo(2), undo(2))[2:]], 1) == ()


def test_a_replaced_edit_has_nothing_left_to_undo() -> None:
    history = edits(rename("t-sun", "Sun"), rename("t-sun", "Sunlight"))
    assert "a later edit replaced it" in check_undo(small(), history, 1)[0]
    assert check_undo(small(), history, 2) == ()


def test_an_edit_is_undone_once() -> None:
    history = edits(rename("t-sun", "Sun"), undo(1))
    assert check_undo(small(), history, 1) == ("edit 1 was already undone by edit 2 of vera",)
    assert check_undo(small(), history, 2) == ()


def test_an_edit_in_the_middle_on_which_nothing_builds_can_be_undone() -> None:
    history = edits(rename("t-sun", "Sun"), rename("t-lift", "Weights"), merge("t-sun", "t-teeth"))
    assert check_undo(small(), history, 2) == ()


def test_a_merge_whose_name_was_reused_is_undone_after_the_renaming() -> None:
    history = edits(merge("t-lift", "t-teeth"), rename("t-sun", "lifting"))
    assert "edit 2" in check_undo(small(), history, 1)[0]


# -- a taxonomy that was built again -----------------------------------------------------------------------------------


def rebuilt(**phrases: tuple[str, ...]) -> Taxonomy:
    """The small taxonomy with other phrases in the themes named; one named with none is gone."""
    themes = []
    for theme in small().themes:
        short = theme.theme_id.removeprefix("t-")
        if phrases.get(short) != ():
            themes.append(replace(theme, topics=phrases.get(short, theme.topics)))
    return replace(small(), themes=tuple(themes))


def conflicts(taxonomy: Taxonomy, *changes: ThemeChange) -> list[tuple[bool, str]]:
    return [(conflict.partial, conflict.sentence) for conflict in apply_edits(taxonomy, edits(*changes)).conflicts]


def test_a_missing_theme_is_a_conflict_and_the_rest_is_applied() -> None:
    found = apply_edits(rebuilt(lift=()), edits(rename("t-lift", "Weights"), merge("t-lift", "t-sun"), rename("t-sun", "Sun")))
    assert [(conflict.edit.seq, conflict.partial) for conflict in found.conflicts] == [(1, False), (2, False)]
    assert found.conflicts[0].sentence == (
        "Edit 1 (renamed 'lifting' to 'Weights') was not applied: the theme 'lifting' (t-lift) no longer exists."
    )
    assert outline(found.taxonomy)["t-sun"][0] == "Sun"


def test_phrases_that_moved_or_disappeared_stay_where_they_are_and_are_reported() -> None:
    again = rebuilt(teeth=(TEETH[0], TEETH[2], TEETH[3]), sun=(*BEACH, TEETH[1]))
    wanted = split("t-teeth", [TEETH[0], TEETH[1], "long gone"], "c-1", "Before listing")
    assert conflicts(again, wanted) == [
        (
            True,
            "Edit 1 (split 3 phrases off 'teeth' as 'Before listing') was applied only in part: 1 phrase is not in the taxonomy: "
            "'long gone'; 1 phrase is elsewhere now, in 'sun': 'dental cleaning'.",
        )
    ]
    whole = outline(apply_edits(again, edits(wanted)).taxonomy)
    assert (whole["c-1"][2], whole["t-sun"][2]) == ([TEETH[0]], sorted([*BEACH, TEETH[1]]))


def test_a_name_that_the_new_taxonomy_gave_to_another_theme_is_a_conflict() -> None:
    again = replace(small(), themes=tuple(replace(t, name="Sun") if t.theme_id == "t-lift" else t for t in small().themes))
    ((in_part, words),) = conflicts(again, rename("t-teeth", "sun"))
    assert not in_part
    assert "taken by another theme (t-lift)" in words


def test_a_change_that_the_new_taxonomy_already_has_is_not_a_conflict() -> None:
    again = rebuilt(lift=(WEIGHTS,), sun=(*BEACH, BAGS))
    assert conflicts(again, move([BAGS], "t-lift", "t-sun")) == []


def test_undoing_an_edit_in_conflict_removes_the_conflict() -> None:
    history = edits(rename("t-lift", "Weights"), rename("t-sun", "Sun"))
    assert check_undo(rebuilt(lift=()), history, 1) == ()
    assert apply_edits(rebuilt(lift=()), [*history, *edits(undo(1), undo(1), undo(1))[2:]]).conflicts == ()


def test_a_merged_theme_is_named_with_its_current_theme() -> None:
    ((_, words),) = conflicts(small(), merge("t-lift", "t-teeth"), rename("t-teeth", "Dental"), rename("t-lift", "Weights"))
    assert "the theme 'lifting' (t-lift) was merged into 'Dental'" in words


def test_the_result_records_what_it_was_made_from() -> None:
    found = apply_edits(small(), edits(rename("t-sun", "Sun"), rename("t-lift", "Weights"), undo(2)))
    assert found.taxonomy.built == {"seed": 1, "curated": {"acts": 1, "of": "ab" * 32}}
    assert found.taxonomy.map == {}
    assert found.taxonomy.sha256 == apply_edits(small(), edits(rename("t-sun", "Sun"))).taxonomy.sha256
    assert found.taxonomy.sha256 not in (small().sha256, apply_edits(small(), edits(rename("t-sun", "Suns"))).taxonomy.sha256)
    assert (found.edits, found.last.seq) == (1, 3)


def test_every_kind_of_edit_reads_as_a_sentence() -> None:
    history = {each.kind: describe_change(each) for each in (
        rename("t-sun", "Sun"), merge("t-lift", "t-sun"), split("t-teeth", TEETH[:2], "c-1", "Brush"),
        move([BAGS], "t-lift", None), under("t-sun", None),
        change(EditKind.SET_ASIDE, "t-sun"), change(EditKind.BRING_BACK, "t-sun"), undo(3),
    )}  # fmt: skip
    assert history == {
        EditKind.RENAME: "renamed 'sun' to 'Sun'",
        EditKind.MERGE: "merged 'lifting' into 'sun'",
        EditKind.SPLIT: "split 2 phrases off 'teeth' as 'Brush'",
        EditKind.MOVE_PHRASES: "moved 1 phrase from 'lifting' to no theme",
        EditKind.MOVE_THEME: "moved 'sun' to the top",
        EditKind.SET_ASIDE: "set 'sun' aside as not meaningful",
        EditKind.BRING_BACK: "brought 'sun' back as meaningful",
        EditKind.UNDO: "undid edit 3",
    }
    assert set(history) == set(EditKind)
