"""Which pairs are drawn, what an item represents, and that the same seed draws the same sample."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.label_store.assignments import list_tasks
from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.results import assignment_rows
from annotation.label_store.studies import ItemKind, StudyState, find_study
from annotation.studies.masking_preview import blind_answer, names_left_in_study
from annotation.studies.packets import packet_csv
from annotation.studies.sample_plan import SamplePlan, allocate_items, apportion
from annotation.studies.sampling import draw_sample, draw_study
from annotation.studies.verdict_store import find_origin, list_strata, sample_digest, verdicts_by_item
from audit.store.runs import Run
from audit.text.blinding import masker_of
from audit.vocabulary import NOTHING_SAID
from tests.support.loading import load
from tests.support.studies import NOW, people
from tests.support.tiny import handbook, release_from

# Kidney: ab DIVERGENT in q1, q2, q3; ac COMPLEMENTARY in q1, q2; bc ABSENT, judged, in q1. Liver: q4, q5 with three more.
# d addresses nothing, so ad, bd and cd are pre-screened ABSENT: 3 in each of 5 questions.
TABLE = """
    q1 kidney ab=DIVERGENT/high ac=COMPLEMENTARY bc=ABSENT        d=absent
    q2 kidney ab=DIVERGENT/low  ac=COMPLEMENTARY bc=CONSISTENT    d=absent
    q3 kidney ab=DIVERGENT/low  ac=UNSCORED      bc=CONTRADICTORY d=absent
    q4 liver  ab=DIVERGENT/low  ac=COMPLEMENTARY bc=CONSISTENT    d=absent
    q5 liver  ab=CONSISTENT     ac=COMPLEMENTARY bc=CONSISTENT    d=absent
"""
COUNTS = {"ABSENT": 15 + 1, "CONSISTENT": 4, "COMPLEMENTARY": 4, "DIVERGENT": 4, "CONTRADICTORY": 1}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("sampling")
    handbooks = [
        handbook(letter, center=name) for letter, name in zip("abcd", ("Alder", "Birch", "Cedar", "Dogwood"), strict=True)
    ]
    return load(release_from(folder / "releases", TABLE, handbooks), folder / "data").run


def plan(**other: object) -> SamplePlan:
    return SamplePlan(**{"per_label": dict.fromkeys(COUNTS, 2), "calibration": 0, "repeats": 0, **other})


def test_strata_are_the_judges_labels_and_their_sizes_are_those_of_the_run(run: Run) -> None:
    drawn = draw_sample(run, plan(), "s")
    assert {layer.stratum: layer.population for layer in drawn.strata} == COUNTS
    assert {layer.stratum: layer.sampled for layer in drawn.strata} == {**dict.fromkeys(COUNTS, 2), "CONTRADICTORY": 1}
    weights = {layer.stratum: layer.weight for layer in drawn.strata}
    assert weights == {"ABSENT": 16 / 2, "CONSISTENT": 4 / 2, "COMPLEMENTARY": 4 / 2, "DIVERGENT": 4 / 2, "CONTRADICTORY": 1}
    assert (drawn.origin.pairs, drawn.origin.unscored) == (30, 1)  # 6 pairs of each of 5 questions
    assert sum(layer.population for layer in drawn.strata) == 30 - 1


def test_weights_of_the_items_add_up_to_the_scored_pairs_of_the_run(run: Run) -> None:
    drawn = draw_sample(run, plan(second="organ"), "s")
    weight = {layer.stratum: layer.weight for layer in drawn.strata}
    assert sum(weight[verdict.stratum] for verdict in drawn.verdicts) == 29


def test_every_item_carries_the_verdict_of_its_own_pair(run: Run) -> None:
    drawn = draw_sample(run, plan(per_label=dict.fromkeys(COUNTS, 99)), "s")
    verdicts = {verdict.item_id: verdict for verdict in drawn.verdicts}
    pairs = {
        (i.question_id, i.handbook_a + i.handbook_b): (verdicts[i.item_id].label, verdicts[i.item_id].significance)
        for i in drawn.items
    }
    assert len(pairs) == 29
    assert pairs["q1", "ab"] == ("DIVERGENT", "high")
    assert pairs["q3", "bc"] == ("CONTRADICTORY", None)
    assert pairs["q5", "cd"] == ("ABSENT", None)
    assert {i.answer_a for i in drawn.items if i.question_id == "q1" and i.handbook_a == "a"} == {"Handbook a on q1."}


def test_the_same_seed_draws_the_same_sample_and_another_seed_another(run: Run) -> None:
    assert draw_sample(run, plan(seed=3, second="organ", calibration=4, repeats=2), "s") == draw_sample(
        run, plan(seed=3, second="organ", calibration=4, repeats=2), "s"
    )
    studies = [
        {(i.question_id, i.handbook_a, i.handbook_b) for i in draw_sample(run, plan(seed=seed), "s").items} for seed in range(5)
    ]
    assert len({frozenset(pairs) for pairs in studies}) > 1


def test_every_pair_of_a_stratum_is_drawn_equally_often(run: Run) -> None:
    drawn = Counter(
        (item.question_id, item.handbook_a + item.handbook_b)
        for seed in range(60)
        for item in draw_sample(run, plan(seed=seed, per_label={"DIVERGENT": 2}), "s").items
    )
    assert len(drawn) == 4
    assert all(15 <= count <= 45 for count in drawn.values())  # 30 each expected, standard deviation 3.9


def test_an_item_id_does_not_reveal_its_stratum(run: Run) -> None:
    labels = [v.label for v in sorted(draw_sample(run, plan(), "s").verdicts, key=lambda v: v.item_id)]
    assert labels != sorted(labels, key=list(COUNTS).index)


def test_calibration_items_are_separate_and_do_not_change_the_study_sample(run: Run) -> None:
    with_, without = draw_sample(run, plan(calibration=4), "s"), draw_sample(run, plan(), "s")
    pair = lambda item: (item.question_id, item.handbook_a, item.handbook_b)  # noqa: E731
    study = {pair(i) for i in with_.items if i.kind is ItemKind.STUDY}
    calibration = {pair(i) for i in with_.items if i.kind is ItemKind.CALIBRATION}
    assert (len(study), len(calibration), study & calibration) == (9, 4, set())
    assert [layer.sampled for layer in with_.strata] == [layer.sampled for layer in without.strata]


def test_calibration_is_spread_over_the_labels_that_have_pairs_left() -> None:
    cells = allocate_items({("ABSENT", None): 50, ("DIVERGENT", None): 3, ("CONTRADICTORY", None): 2}, plan(calibration=5))
    assert [(cell.name, cell.study, cell.calibration) for cell in cells] == [
        ("ABSENT", 2, 4),
        ("DIVERGENT", 2, 1),
        ("CONTRADICTORY", 2, 0),
    ]


def test_a_repeat_is_the_same_pair_under_another_id_and_in_no_stratum_count(run: Run) -> None:
    drawn = draw_sample(run, plan(repeats=3), "s")
    items = {item.item_id: item for item in drawn.items}
    repeats = [item for item in drawn.items if item.kind is ItemKind.REPEAT]
    assert len(repeats) == len({item.repeat_of for item in repeats}) == 3
    assert all(items[r.repeat_of].answer_a == r.answer_a and items[r.repeat_of].kind is ItemKind.STUDY for r in repeats)
    assert sum(layer.sampled for layer in drawn.strata) == 9


def test_items_are_apportioned_with_two_from_each_small_stratum() -> None:
    assert apportion(40, [600, 300, 100]) == [24, 12, 4]
    assert apportion(10, [50, 50, 50]) == [4, 3, 3]
    assert apportion(10, [997, 2, 1]) == [9, 2, 1]  # two of two, one of one, and no fewer of the rest
    assert apportion(40, [3, 1]) == [3, 1]
    assert apportion(0, [5]) == [0]
    assert apportion(1, [5]) == [1]
    assert apportion(5, []) == []


@given(st.integers(0, 300), st.lists(st.integers(1, 2_000), max_size=12))
@settings(max_examples=150, deadline=None)
def test_no_stratum_gives_more_than_it_has_and_none_is_left_out(wanted: int, sizes: list[int]) -> None:
    given_ = apportion(wanted, sizes)
    assert all(0 <= n <= size for n, size in zip(given_, sizes, strict=True))
    if wanted and len(sizes) > 1:
        assert all(n >= min(2, size) for n, size in zip(given_, sizes, strict=True))
    assert sum(given_) >= min(wanted, sum(sizes))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"per_label": {"DIVERGANT": 3}}, "'DIVERGANT' is not a label"),
        ({"per_label": {"ABSENT": 0}}, "no items are requested"),
        ({"masked_words": ("NIH", "-x-")}, "'-x-' cannot be masked, because it has fewer than two letters or digits"),
        ({"masked_words": ("NIH",) * 501}, "more than 500 names to mask are listed"),
        ({"calibration": -1}, "a count is below 0"),
        ({"second": "moon"}, r"'moon' is not a second criterion \(allowed: organ\)"),
    ],
)
def test_an_impossible_plan_is_refused(run: Run, wrong: dict[str, object], message: str) -> None:
    with pytest.raises(StudyError, match=message):
        draw_sample(run, plan(**wrong), "s")


def named_run(folder: Path, answer: str) -> Run:
    """A run in which every answer of the handbook a reads `answer`."""
    handbooks = [handbook("a", center="Hazel Clinic"), handbook("b", center="Birch"), handbook("c", center="Cedar")]
    release = release_from(folder / "releases", "q1 kidney ab=DIVERGENT/low ac=CONSISTENT bc=CONSISTENT", handbooks)
    answers = release / "answers.jsonl"
    answers.write_text(answers.read_text().replace("Handbook a on q1.", answer))
    return load(release, folder / "data").run


def test_names_and_contacts_are_masked_in_answers_unless_the_study_shows_them(tmp_path: Path) -> None:
    named = named_run(tmp_path, "At Hazel, call 555-0110 or Birch; take 500-1000 mg.")
    masked = draw_sample(named, plan(), "s")
    assert {item.answer_a for item in masked.items if item.handbook_a == "a"} == {
        "At [name], call [contact] or [name]; take 500-1000 mg."
    }
    assert masked.names_left_text() == "No answer still holds a word of an institution's name."
    shown = draw_sample(named, plan(names_shown=True), "s")
    assert {item.answer_a for item in shown.items if item.handbook_a == "a"} == {
        "At Hazel, call 555-0110 or Birch; take 500-1000 mg."
    }
    assert shown.names_left_text() == ""


def test_a_pi_lists_further_names_which_are_masked_and_kept_with_the_plan(store: LabelStore, tmp_path: Path) -> None:
    named = named_run(tmp_path, "At Hazel ask the National Organ Trust (N.O.T.) or call 555-0110. Hazel again.")
    seen = draw_sample(named, plan(), "s").masking
    assert seen is not None
    assert seen.masked.to_dict("records") == [
        {"kind": "name", "text": "Hazel", "places": 4, "items": 2},
        {"kind": "contact", "text": "555-0110", "places": 2, "items": 2},
    ]
    assert seen.organisations == {"National Organ Trust": 2}
    assert seen.sentence().startswith("Masked in the answers: 4 names, 2 contacts, 0 credit or source lines.")
    listed = plan(masked_words=("national organ trust", "N.O.T."))
    drawn = draw_study(store, named, listed, study_id="s", title="T", annotators=people(store, "ana", "ben"), now=NOW)
    assert {item.answer_a for item in drawn.items if item.handbook_a == "a"} == {
        "At [name] ask the [name] ([name]) or call [contact]. [name] again."
    }
    assert drawn.masking is not None
    assert drawn.masking.organisations == {}
    assert find_origin(store, "s").plan["masked_words"] == ["national organ trust", "N.O.T."]


@pytest.mark.parametrize(
    ("answer", "read"),
    [
        ("NOT ADDRESSED: This handbook does not contain information on this topic.", NOTHING_SAID),
        ("not addressed", NOTHING_SAID),
        ("NOT ADDRESSED. It is silent. Hazel has a page on diet.", f"{NOTHING_SAID} It is silent. [name] has a page on diet."),
        ("Rest and drink.\n\nHAZ: Hazel Institute of Diet", "Rest and drink."),
        ("Source: Hazel Clinic. Rest and drink.", "[source] Rest and drink."),
        ("HAZ: Hazel Institute of Diet", "[source]"),
        ("", NOTHING_SAID),
        (None, NOTHING_SAID),
        ("This is NOT ADDRESSED TO children.", "This is NOT ADDRESSED TO children."),
    ],
)
def test_a_blind_answer_says_in_neutral_words_that_nothing_is_addressed(answer: str | None, read: str) -> None:
    assert blind_answer(answer, masker_of([handbook("a", center="Hazel Clinic")])) == read


def test_everything_that_annotators_are_sent_of_the_nih_release_tells_no_institute(
    lite: LabelStore, nih: Path, nih_run: Run
) -> None:
    """In packets and on the board: names, abbreviations, telephone numbers, addresses and boilerplate."""
    every = SamplePlan(per_label={**dict.fromkeys(COUNTS, 150), "ABSENT": 40}, calibration=0, repeats=10)
    draw_study(lite, nih_run, every, study_id="nih", title="T", annotators=people(lite, "ana", "ben"), now=NOW)
    tasks = list_tasks(lite, "nih", "ana")
    assert len(tasks) == 40 + 19 + 150 + 61 + 3 + 10
    sent = packet_csv(lite, "nih", "ana").decode() + repr(tasks)
    centers = [json.loads(line)["center"] for line in (nih / "handbooks.jsonl").open()]
    abbreviations = ["CDC", "GARD", "GHR", "MedlinePlus", "NCI", "NHLBI", "NIDDK", "NIHSeniorHealth", "NINDS"]
    fixed = [
        "NIH:", "NOT ADDRESSED", r"\w@\w", r"https?:|www\.|\b\w+\.(?:gov|org|com)\b", r"\(?\b[2-9]\d\d\)?[-. ]\d{3}[-. ]\d{4}\b"
    ]  # fmt: skip
    patterns = [rf"(?<!\w){re.escape(name)}(?!\w)" for name in (*centers, *abbreviations)] + fixed
    assert {pattern: re.findall(pattern, sent) for pattern in patterns} == {pattern: [] for pattern in patterns}
    assert sent.count("[name]") > 20


def test_items_that_still_hold_a_word_of_a_name_are_listed(tmp_path: Path) -> None:
    drawn = draw_sample(named_run(tmp_path, "Avoid hazelnuts."), plan(), "s")
    of_hazel = sorted(item.item_id for item in drawn.items if item.handbook_a == "a")
    assert drawn.names_left == {item_id: ["hazelnuts"] for item_id in of_hazel}
    assert drawn.names_left_text() == (
        "2 items hold a word that is in an institution's name too, and may be an ordinary one. A person has to judge: "
        f"{of_hazel[0]}: hazelnuts; {of_hazel[1]}: hazelnuts."
    )


def test_names_that_are_left_are_found_again_in_the_study(store: LabelStore, tmp_path: Path) -> None:
    named = named_run(tmp_path, "Avoid hazelnuts.")
    annotators = people(store, "ana", "ben")
    drawn = draw_study(store, named, plan(), study_id="s", title="T", annotators=annotators, now=NOW)
    assert names_left_in_study(store, find_study(store, "s"), named) == drawn.names_left != {}
    assert sample_digest(store, "s") == named.digest
    assert sample_digest(store, "other") is None


def test_a_drawn_study_keeps_its_texts_and_its_design_when_the_run_is_deleted(store: LabelStore, tmp_path: Path) -> None:
    loaded = load(release_from(tmp_path / "releases", TABLE), tmp_path / "data").run
    annotators = people(store, "ana", "ben")
    drawn = draw_study(store, loaded, plan(calibration=2), study_id="s", title="T", annotators=annotators, now=NOW)
    loaded.path.unlink()
    assert find_study(store, "s").state is StudyState.CALIBRATION
    rows = [row for row in assignment_rows(store, "s") if row["seat"] == "A"]
    assert {row["answer_a"] for row in rows} == {item.answer_a for item in drawn.items}
    assert list_strata(store, "s") == sorted(drawn.strata, key=lambda layer: layer.stratum)
    assert set(verdicts_by_item(store, "s")) == {item.item_id for item in drawn.items}
    assert (find_origin(store, "s").digest, find_origin(store, "s").plan["seed"]) == (loaded.digest, 1)


@pytest.mark.parametrize(
    "study_id", ["", "../evil", "a/b", ".hidden", "-v", "v 1", "v1\n", "\N{LATIN SMALL LETTER E WITH ACUTE}1", "v" * 65]
)
def test_an_id_that_could_escape_a_folder_is_refused_before_anything_is_drawn(run: Run, study_id: str) -> None:
    with pytest.raises(StudyError, match="is not a valid study id"):
        draw_sample(run, plan(), study_id)


@pytest.mark.parametrize("study_id", ["s", "validation-1", "demo_2.b", "V" * 64])
def test_an_id_of_letters_digits_and_a_few_signs_is_allowed(run: Run, study_id: str) -> None:
    assert draw_sample(run, plan(), study_id).items[0].item_id.startswith(study_id)


def test_a_study_whose_annotators_have_no_account_is_not_half_created(store: LabelStore, run: Run) -> None:
    people(store, "ana")
    with pytest.raises(StudyError, match="'ben' has no account with the role annotator"):
        draw_study(store, run, plan(), study_id="s", title="T", annotators=("ana", "ben"), now=NOW)
    assert list_strata(store, "s") == []
