"""Which questions a head-to-head study draws from a run, what masking hides in the answers, and the way back into a release."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from annotation.label_store.assignments import list_tasks
from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.results import assignment_rows
from annotation.label_store.studies import ItemKind, StudyState, find_study
from annotation.schemes import HEAD_TO_HEAD
from annotation.studies.head_to_head import (
    DECLINED,
    HeadToHeadPlan,
    draw_head_to_head,
    draw_head_to_head_study,
    preferences_jsonl,
    systems_in,
)
from annotation.studies.verification import verify_study
from audit.store.runs import Run
from tests.support.loading import ask, load
from tests.support.studies import NOW, people, rate_all, step
from tests.support.systems import answered, systems_release

TYPES = {"treatment": range(1, 13), "symptoms": range(13, 19), "prevention": range(19, 21)}
"""Question type -> its questions, by number."""


def tables() -> dict[str, list[dict[str, object]]]:
    """Three systems and 20 questions. The first declines q1 without a word, is unreadable on q2, and was not asked q3."""
    answers = []
    for number in range(1, 21):
        question = f"q{number}"
        text = "As Mixtral 8x7B I say: rest. Write to help@alder.example, or ask Model with Retrieval."
        plain = answered(question, "plain-8x7b", text)
        if number == 1:
            plain = answered(question, "plain-8x7b", None, refused=True)
        if number == 2:
            plain = answered(question, "plain-8x7b", None, unread_reason="cut_short")
        if number != 3:
            answers.append(plain)
        answers += [answered(question, "found", f"Found {number}."), answered(question, "third", f"Third {number}.")]
    return {
        "systems": [
            {"system_id": "plain-8x7b", "name": "Plain model", "model": "Mixtral-8x7B-Instruct"},
            {"system_id": "found", "name": "Model with retrieval", "model": "Mixtral-8x7B-Instruct"},
            {"system_id": "third", "name": "Third"},
        ],
        "references": [
            {"question_id": f"q{number}", "answers": [f"Reference {number}.", "Another."], "question_type": name}
            for name, numbers in TYPES.items()
            for number in numbers
        ],
        "system_answers": answers,
    }


QUESTIONS = [f"q{number}" for number in range(1, 21)]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("head-to-head")
    return load(systems_release(folder / "release", tables(), questions=QUESTIONS), folder / "data").run


def plan(*systems: str, **other: int) -> HeadToHeadPlan:
    return HeadToHeadPlan(systems=systems or ("plain-8x7b", "found"), **{"questions": 9, "calibration": 0, "repeats": 0, **other})


def test_questions_are_spread_over_their_types_and_what_was_not_read_is_counted(run: Run) -> None:
    drawn = draw_head_to_head(run, plan(), "s")
    strata = {stratum.second: (stratum.population, stratum.sampled) for stratum in drawn.strata}
    # q2 is unreadable and q3 was not asked: 10 of 12 treatments are left. 9 of 18 are drawn, in proportion.
    assert strata == {"treatment": (10, 5), "symptoms": (6, 3), "prevention": (2, 1)}
    assert (drawn.origin.pairs, drawn.origin.unscored) == (19, 1)
    assert drawn.not_drawn_text() == "1 of 19 comparisons lack an answer that could be read, and are in no stratum."
    assert not {"q2", "q3"} & {item.question_id for item in drawn.items}
    assert {(item.handbook_a, item.handbook_b, item.name_b) for item in drawn.items} == {
        ("plain-8x7b", "found", "Model with retrieval")
    }
    assert all(item.reference == f"Reference {item.question_id[1:]}." for item in drawn.items)


def test_every_type_has_an_item_and_calibration_items_are_others(run: Run) -> None:
    drawn = draw_head_to_head(run, plan(questions=3, calibration=15, repeats=2), "s")
    kinds = Counter(item.kind for item in drawn.items)
    assert kinds == {ItemKind.STUDY: 3, ItemKind.CALIBRATION: 15, ItemKind.REPEAT: 2}
    assert {stratum.sampled for stratum in drawn.strata} == {1}
    study, calibration = (
        {item.question_id for item in drawn.items if item.kind is kind} for kind in (ItemKind.STUDY, ItemKind.CALIBRATION)
    )
    assert not study & calibration


def test_each_two_of_three_systems_are_compared(run: Run) -> None:
    drawn = draw_head_to_head(run, plan("plain-8x7b", "found", "third", questions=4), "s")
    couples = Counter((item.handbook_a, item.handbook_b) for item in drawn.items)
    assert couples == {("plain-8x7b", "found"): 4, ("plain-8x7b", "third"): 4, ("found", "third"): 4}
    assert {stratum.stratum for stratum in drawn.strata if stratum.label == "found and third"} == {
        f"found and third/{name}" for name in TYPES
    }


def test_the_same_seed_draws_the_same_questions_and_another_others(run: Run) -> None:
    first, again, other = (draw_head_to_head(run, plan(seed=seed), "s").items for seed in (1, 1, 2))
    assert first == again
    assert {item.question_id for item in first} != {item.question_id for item in other}


def test_names_of_systems_models_and_contacts_are_masked_and_a_refusal_says_so(run: Run) -> None:
    answers = {item.question_id: item.answer_a for item in draw_head_to_head(run, plan(questions=18), "s").items}
    assert answers.pop("q1") == DECLINED
    assert set(answers.values()) == {"As [name] I say: rest. Write to [contact], or ask [name]."}


@pytest.mark.parametrize(
    ("systems", "message"),
    [
        (("plain-8x7b", "fuond"), "has no system 'fuond' Did you mean 'found'? (it has: plain-8x7b, found, third)"),
        (("found", "found"), "it needs two different systems"),
        (("found",), "it needs two different systems"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_a_sentence(run: Run, systems: tuple[str, ...], message: str) -> None:
    with pytest.raises(StudyError) as caught:
        draw_head_to_head(run, plan(*systems), "s")
    assert message in str(caught.value)
    assert str(caught.value).endswith("Nothing was drawn.")


def test_systems_without_a_common_question_are_refused(tmp_path: Path) -> None:
    apart = {
        "systems": [{"system_id": "one"}, {"system_id": "two"}],
        "system_answers": [answered("q1", "one", "Yes."), answered("q2", "two", "No.")],
    }
    loaded = load(systems_release(tmp_path / "release", apart, questions=QUESTIONS[:2]), tmp_path / "data")
    with pytest.raises(StudyError, match="No question was answered by both one and two"):
        draw_head_to_head(loaded.run, plan("one", "two"), "s")


def test_a_study_goes_from_the_run_to_its_preferences_and_back_into_the_release(
    run: Run, lite: LabelStore, tmp_path: Path
) -> None:
    people(lite, "ana", "ben")
    draw_head_to_head_study(lite, run, plan(), study_id="s", title="Which?", annotators=("ana", "ben"), now=NOW)
    assert find_study(lite, "s").scheme is HEAD_TO_HEAD
    assert systems_in(run) == {"plain-8x7b": "Plain model", "found": "Model with retrieval", "third": "Third"}
    shown = repr(list_tasks(lite, "s", "ana"))
    assert [word for word in ("plain-8x7b", "found'", "Plain model", "Mixtral", "treatment") if word in shown] == []
    rate_all(lite, "ana", "A")
    rate_all(lite, "ben", "tie")
    step(lite, StudyState.LABELLING)
    assert verify_study(lite, "s") == []
    folder = systems_release(tmp_path / "release", tables(), questions=QUESTIONS)
    (folder / "preferences.jsonl").write_bytes(preferences_jsonl(lite, "s"))
    again = load(folder, tmp_path / "data")
    stored = Counter(ask(again, "select rater, preference, rater_kind, shown_first from preferences"))
    sides = Counter("B" if row["swapped"] else "A" for row in assignment_rows(lite, "s") if row["annotator"] == "ana")
    # Ana always took answer A of the screen, so she preferred whichever system was shown there.
    assert {key: n for key, n in stored.items() if key[0] == "ana"} == {
        ("ana", side, "human", side): n for side, n in sides.items()
    }
    assert sum(n for key, n in stored.items() if key[:2] == ("ben", "tie")) == 9
