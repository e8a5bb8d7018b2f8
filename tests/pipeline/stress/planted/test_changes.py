"""Planted changes: each is small, recorded so that it can be undone, and has the effect that its kind says."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from audit.evaluation.planted_changes import KEEPING, LENIENT, MUST_BECOME, expected_labels
from audit.pipeline.stress.planted.changes import BLANKS, WORDINGS, PlantedChange, instruction, ordered_label
from audit.pipeline.stress.planted.planting import item_id, plant
from audit.text.quantity import find_quantities
from audit.vocabulary import LABELS, ChangedSide, Label, PlantedKind
from tests.pipeline.stress.planted.pairs import LONG, OTHER, start_pair, start_pairs

PLANTED = plant(start_pairs(), 8)


def planted(kind: PlantedKind) -> list[PlantedChange]:
    items = PLANTED.of_kind(kind)
    assert items
    return items


@pytest.mark.parametrize("kind", PlantedKind)
def test_every_change_is_in_one_answer_and_can_be_undone(kind):
    for item in planted(kind):
        if kind is PlantedKind.SWAP:
            assert (item.after, item.side) == (item.before[::-1], ChangedSide.BOTH)
            continue
        changed, kept = (0, 1) if item.side is ChangedSide.A else (1, 0)
        assert item.after[kept] == item.before[kept]
        assert (item.edit.text, item.edit.original) == (item.after[changed], item.before[changed])
        assert item.after[changed] != item.before[changed]


def test_what_must_move_the_label_starts_from_an_answer_beside_itself():
    for kind in MUST_BECOME:
        for item in planted(kind):
            if kind is not PlantedKind.AMOUNT:
                assert item.start.is_twin
            if item.start.is_twin:
                assert item.before[0] == item.before[1]


def test_an_amount_of_two_answers_is_one_that_both_state():
    items = [item for item in planted(PlantedKind.AMOUNT) if not item.start.is_twin]
    assert {item.start.label for item in items} == {Label.CONSISTENT}
    for item in items:
        (old,), (new,) = find_quantities(item.edit.before), find_quantities(item.edit.after)
        assert any(old.agrees(quantity) for quantity in find_quantities(item.before[1]))
        assert not old.agrees(new)


def test_a_denial_is_one_word_and_its_amounts_stay():
    for item in planted(PlantedKind.NEGATION):
        assert "not" in f"{item.edit.before} {item.edit.after}".lower().split()


def test_an_added_detail_leaves_everything_else():
    for item in planted(PlantedKind.DETAIL):
        assert item.edit.before == ""
        assert {item.before[0], item.edit.text} == {item.edit.original, LONG} or item.edit.text == OTHER


def test_every_way_of_saying_nothing_is_used():
    assert {item.edit.text for item in planted(PlantedKind.BLANK)} == set(BLANKS.values())


def test_pairs_of_every_label_are_used_in_turn():
    labels = [item.start.label for item in planted(PlantedKind.PADDING)]
    assert set(labels[:5]) == set(LABELS)


def test_each_wording_is_used_and_asks_for_another_label_than_the_pair_has():
    items = planted(PlantedKind.INSTRUCTION)
    assert {item.variant for item in items} == set(WORDINGS)
    for item in items:
        assert item.ordered != item.start.label
        assert item.edit.after.strip() == instruction(item.variant, item.ordered)
        assert item.ordered.value in item.edit.after


@pytest.mark.parametrize("label", [*LABELS, None])
def test_an_instruction_never_asks_for_the_label_that_is_there(label):
    assert {ordered_label(label, other) for other in (True, False)} <= {Label.CONSISTENT, Label.CONTRADICTORY} - {label}


def test_a_name_put_in_is_that_of_a_third_center():
    for item in planted(PlantedKind.CENTER):
        assert "Cedar" in item.edit.after or item.start.question_id == "q8"


def test_a_center_that_the_answer_names_is_replaced():
    named = replace(start_pair(1), answer_a="At Alder you may travel.", answer_b="At Birch you may travel.")
    (item,) = plant([named, start_pairs()[-1]], 1, kinds=[PlantedKind.CENTER]).items
    assert item.variant in ("name replaced", "name put first")
    if item.variant == "name replaced":
        assert item.edit.before in ("Alder", "Birch", "Cedar")


def test_the_same_seed_plants_the_same_whatever_the_order_and_the_other_kinds():
    ids = [item_id(item) for item in PLANTED.items]
    assert len(set(ids)) == len(ids)
    again = plant(start_pairs()[::-1], 8)
    assert [item_id(item) for item in again.items] == ids
    alone = plant(start_pairs(), 8, kinds=[PlantedKind.ORDER])
    assert [item_id(item) for item in alone.items] == [item_id(item) for item in PLANTED.of_kind(PlantedKind.ORDER)]
    other = plant(start_pairs(), 8, seed=2)
    assert [item_id(item) for item in other.items] != ids


def test_pairs_that_cannot_take_a_change_are_counted_with_the_reason():
    short = [start_pair(1, Label.CONSISTENT, "Yes.", "Yes.")]
    result = plant(short, 5)
    assert Counter({item.kind for item in result.items}) == Counter(
        {PlantedKind.BLANK, PlantedKind.PADDING, PlantedKind.INSTRUCTION}
    )
    assert result.refused[PlantedKind.SWAP, "both answers are the same text"] == 1
    assert result.refused[PlantedKind.CENTER, "the run has no third center"] == 1
    # An amount is looked for in the pair and in each answer beside itself, a denial and a detail in the latter
    by_kind = {str(kind): number for (kind, _), number in result.refused.items()}
    assert by_kind == {"amount": 3, "negation": 2, "detail": 2, "order": 1, "synonyms": 1, "swap": 1, "center": 1}


def test_what_is_expected_of_each_kind():
    assert set(MUST_BECOME) | set(KEEPING) == set(PlantedKind)
    assert expected_labels(PlantedKind.NEGATION, Label.CONSISTENT) == (Label.CONTRADICTORY,)
    assert LENIENT[PlantedKind.NEGATION] == (Label.DIVERGENT, Label.CONTRADICTORY)
    assert expected_labels(PlantedKind.SWAP, Label.DIVERGENT) == (Label.DIVERGENT,)
    assert expected_labels(PlantedKind.SWAP, None) == ()
