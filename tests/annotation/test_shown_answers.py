"""What raters read: planted phrases of one handbook are gone, statements stand for answers, whatever the judge said."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from annotation.label_store.assignments import list_tasks
from annotation.label_store.engine import LabelStore, StudyError
from annotation.studies.sample_plan import SamplePlan
from annotation.studies.sampling import draw_sample, draw_study, plan_of
from annotation.studies.shown_answers import Presenter, habits_of
from annotation.studies.verdict_store import find_origin
from audit.store.runs import Run
from audit.text.blinding import Masker, masker_of, with_parent_names
from tests.support.loading import load
from tests.support.studies import NOW, people
from tests.support.tiny import handbook, release_from

SUBJECTS = ("travel", "alcohol", "exercise", "vaccines", "dentists", "gardens")
LABELS = ("DIVERGENT/low", "CONSISTENT")


def planted_run(folder: Path, label: str) -> Run:
    """Six questions on which a and b answer, with `label` for each pair; a begins each answer in its own way."""
    table = "\n".join(f"q{n} kidney ab={label}" for n in range(1, 7))
    release = release_from(folder / "releases", table, [handbook("a", center="Hazel Clinic"), handbook("b", center="Birch")])
    path = release / "answers.jsonl"
    answers = [json.loads(line) for line in path.read_text().splitlines()]
    for record in answers:
        subject = SUBJECTS[int(record["question_id"][1:]) - 1]
        first = "Wait" if len(subject) % 2 else "Rest"
        alder = f"Key points - {first} 3 months before {subject}. Birds sing in May. Ask about {subject} again later."
        birch = f"Before {subject} wait for 6 months. Trees are green. {subject} may be tiring."
        record["answer"] = alder if record["handbook_id"] == "a" else birch
    path.write_text("".join(json.dumps(record) + "\n" for record in answers))
    return load(release, folder / "data").run


def plan(**other: Any) -> SamplePlan:
    return SamplePlan(**{"per_label": {"DIVERGENT": 6, "CONSISTENT": 6}, "calibration": 0, "repeats": 0, **other})


def texts(run: Run, **options: Any) -> dict[str, str]:
    """Question -> the answer of handbook a as raters read it."""
    return {item.question_id: item.answer_a for item in draw_sample(run, plan(**options), "s").items}


def test_a_planted_opening_is_masked_on_request_only_and_listed_for_the_pi(tmp_path: Path) -> None:
    run = planted_run(tmp_path, "DIVERGENT/low")
    assert all(text.startswith("Key points - ") for text in texts(run).values())
    masked = texts(run, phrases_masked=True)
    assert all(text.startswith(("Wait 3 months before", "Rest 3 months before")) for text in masked.values())
    drawn = draw_sample(run, plan(phrases_masked=True), "s")
    assert drawn.masking is not None
    listed = {row["text"]: row["items"] for row in drawn.masking.masked.to_dict("records") if row["kind"] == "phrase"}
    assert listed["Key points -"] == 6


def test_statements_stand_in_place_of_answers_and_are_the_same_whatever_the_judge_said(tmp_path: Path) -> None:
    divergent, consistent = (
        texts(planted_run(tmp_path / name, label), phrases_masked=True, statements=1)
        for name, label in zip("dc", LABELS, strict=True)
    )
    assert divergent == consistent
    assert all(text.count(".") == 1 and "Birds" not in text for text in divergent.values())


def test_of_statements_that_say_as_much_the_one_that_tells_least_is_shown() -> None:
    habits = habits_of([*[("a", f"q{n}", "You might fly") for n in range(5)], *[("b", f"q{n}", "We may fly") for n in range(5)]])
    presenter = Presenter(Masker(), statements=1, rarity=dict.fromkeys(("fli", "fly", "soon"), 1.0), habits=habits)
    first, second = presenter.pair("fly?", ("a", "b"), ("You might fly. They fly.", "We may fly. They fly."))
    assert (first, second) == ("They fly.", "They fly.")


def test_how_a_study_shows_answers_is_sealed_with_its_plan_and_older_plans_have_the_defaults(
    lite: LabelStore, tmp_path: Path
) -> None:
    run, made = planted_run(tmp_path, "DIVERGENT/low"), plan(phrases_masked=True, statements=1)
    draw_study(lite, run, made, study_id="s", title="T", annotators=people(lite, "ana", "ben"), now=NOW)
    assert not any("Key points" in f"{task.first}{task.second}" for task in list_tasks(lite, "s", "ana"))
    origin = find_origin(lite, "s")
    assert (plan_of(origin).phrases_masked, plan_of(origin).statements) == (True, 1)
    older = {name: value for name, value in origin.plan.items() if name not in ("phrases_masked", "statements")}
    assert plan_of(type(origin)(origin.run_key, origin.digest, 1, 0, older)) == plan_of(type(origin)("r", "d", 1, 0, {}))


@pytest.mark.parametrize("wrong", [{"statements": -1}, {"statements": 21}, {"statements": 1, "names_shown": True}])
def test_an_impossible_way_to_show_answers_is_refused(tmp_path: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(StudyError, match="This sample cannot be drawn"):
        draw_sample(planted_run(tmp_path, "CONSISTENT"), plan(**wrong), "s")


def test_the_name_of_a_body_above_all_institutions_is_read_from_hosts_and_where_a_text_spells_it_out() -> None:
    masker = masker_of([handbook("a", center="Hazel Clinic")])
    text = "Supported by the Alder Service of Health (ASH) and the Food Office (FOO)."
    wider = with_parent_names(masker, ["https://hazel.ash.example/x"], [], [text])
    assert wider.mask(text) == "Supported by the [name] ([name]) and the Food Office (FOO)."
    assert wider.mask("Ash trees; ASH says so.") == "Ash trees; [name] says so."


def test_no_item_of_the_nih_release_names_a_body_with_phrases_masked(nih_run: Run) -> None:
    bodies = re.compile(r"National Institutes? o|\b(?:NIH|NLM|CDC|NCI|NINDS|GARD|GHR|NHLBI|NIDDK)\b|MedlinePlus|Genetics Home")
    every = dict.fromkeys(("CONSISTENT", "COMPLEMENTARY", "DIVERGENT"), 600)
    items = draw_sample(nih_run, SamplePlan(per_label=every, calibration=0, repeats=0, phrases_masked=True), "s").items
    assert len(items) > 600
    # Without the option 7 of them do
    assert [item.item_id for item in items if bodies.search(f"{item.answer_a} {item.answer_b}")] == []
