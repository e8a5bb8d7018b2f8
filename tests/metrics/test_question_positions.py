"""Who says what on one question, on answers small enough to read; against a world with known truth beside position groups."""

import pytest

from audit.errors import NotInRunError
from audit.metrics._disputes import Dispute
from audit.metrics._held import read_positions
from audit.metrics.question_positions import SOMETHING_ELSE, positions_in, positions_of, question_positions
from audit.settings import Settings
from audit.store.connection import open_store
from audit.store.load import load_release

DRIVING = "One says 6 weeks until driving, the other 3 months."


def reading(question, groups, disputes=(), consistent=()):
    """Answers by position group: `[{"a": "..."}, {"b": "..."}]`."""
    answers = {handbook_id: answer for group in groups for handbook_id, answer in group.items()}
    numbers = {handbook_id: number for number, group in enumerate(groups, 1) for handbook_id in group}
    aspect = disputes[0].topic if disputes else ""
    return read_positions(question, aspect, answers, numbers, disputes, [frozenset(pair) for pair in consistent])


def held(found):
    """Value, and holder -> quote, of every position."""
    return [(one.value, {said.handbook_id: said.statement.text for said in one.sentences}) for one in found.held]


def test_a_position_is_held_by_those_whose_own_sentence_states_its_value():
    groups = [
        {"a": "Rest at home. You may drive after 6 weeks.", "b": "Eat well. You may drive after 6 weeks if you feel fit."},
        {"c": "Drive only after 3 months. Call us.", "d": "You may drive again once your doctor agrees."},
    ]
    found = reading("When may I drive again?", groups, [Dispute("a", "c", DRIVING, "weeks until driving")])
    assert held(found) == [
        ("6 weeks", {"a": "You may drive after 6 weeks.", "b": "You may drive after 6 weeks if you feel fit."}),
        ("3 months", {"c": "Drive only after 3 months."}),
    ]


@pytest.mark.parametrize(
    ("question", "groups", "reasoning", "others"),
    [
        (
            "佐太每天服多少？",
            [{"a": "按时服药。佐太每天服30mg，连服7天。", "b": "佐太每天服 30 mg。别喝酒。"}, {"c": "佐太每天服60mg。请致电"}],
            "甲说每天30mg，乙说每天60mg。", "60mg",
        ),
        (
            "¿Cuánto zuotai tomo cada día?",
            [{"a": "Llame. Tome 30 mg de zuotai cada día.", "b": "Tome 30 mg de zuotai al día."}, {"c": "Tome 60 mg de zuotai."}],
            "Uno dice 30 mg cada día, el otro 60 mg.", "60 mg",
        ),
    ],
)  # fmt: skip
def test_positions_are_found_by_amounts_in_any_language(question, groups, reasoning, others):
    found = reading(question, groups, [Dispute("a", "c", reasoning, "zuotai")])
    assert [(value, sorted(holders)) for value, holders in held(found)] == [("30 mg", ["a", "b"]), (others, ["c"])]


def test_who_speaks_of_the_disputed_point_and_fits_no_position_says_something_else():
    groups = [
        {"a": "It can affect the left side of the heart.", "b": "It can affect either side of the heart. See a doctor."},
        {"c": "It affects the right side of the heart only.", "d": "It makes people tired. They sleep badly."},
    ]
    dispute = Dispute("a", "c", "A says the left side, B says the right side only.", "side of the heart affected")
    found = reading("What is heart failure?", groups, [dispute])
    assert {name for _, holders in held(found) for name in holders} == {"a", "c"}
    assert [(said.handbook_id, said.statement.text) for said in found.others] == [
        ("b", "It can affect either side of the heart.")
    ]


def test_without_a_sentence_that_states_what_the_judge_says_no_position_is_headed():
    groups = [{"a": "This is a disorder of children. Its symptoms vary."}, {"b": "This is a rare cancer of the blood."}]
    judged = "A presents a benign condition that heals by itself, B presents a malignant tumour."
    found = reading("What is it?", groups, [Dispute("a", "b", judged, "whether it is malignant")])
    assert found.held == ()
    dispute, clash = found.clearest
    assert dispute.reasoning == judged
    assert not clash.certain


def test_a_dispute_on_another_topic_gives_nobody_a_position_on_this_one():
    groups = [
        {"a": "Recovery can take a few days.", "c": "Symptoms may come within hours. Rest helps."},
        {"b": "Recovery can take a few weeks. Symptoms usually worsen over weeks."},
    ]
    disputes = [
        Dispute("a", "b", "Recovery: a few days (A) against a few weeks (B).", "recovery time"),
        Dispute("b", "c", "B says symptoms worsen over weeks, C says they may come within hours.", "speed of progression"),
    ]
    found = reading("What is Guillain-Barre syndrome?", groups, disputes)
    assert held(found) == [
        ("a few days", {"a": "Recovery can take a few days."}),
        ("a few weeks", {"b": "Recovery can take a few weeks."}),
    ]
    assert found.others == ()


def test_two_that_clash_with_nobody_in_different_words_hold_one_position():
    """A judge that finds a difference in nothing: both say three months."""
    groups = [{"a": "Wait 3 months before you travel. Take care."}, {"b": "Wait 3 months before you travel. Buy insurance."}]
    dispute = Dispute("a", "b", "Both mention 3 months, yet A ties it to care and B to insurance.", "time before travel")
    found = reading("When may I travel?", groups, [dispute])
    assert found.held == ()
    assert found.clearest is not None


def test_where_nobody_disagrees_only_consistent_answers_share_a_position():
    groups = [{
        "a": "You may drive after 6 weeks. Wear a belt.", "b": "You may drive after 6 weeks. Go slowly.",
        "c": "Driving is possible when you feel well.",
    }]  # fmt: skip
    question = "When may I drive?"
    assert reading(question, groups).held == ()
    assert held(reading(question, groups, consistent=["ab"])) == [
        ("6 weeks", {"a": "You may drive after 6 weeks.", "b": "You may drive after 6 weeks."})
    ]


def test_the_table_has_one_row_for_each_holder_and_each_that_says_something_else(release, tmp_path):
    run = load_release(release, Settings(data_dir=tmp_path / "data")).run
    with open_store(run.path) as con:
        table, found = question_positions(con, "q1"), positions_of(con, "q1")
        with pytest.raises(NotInRunError, match="'q9' is not in this run"):
            question_positions(con, "q9")
    assert len(table) == sum(len(one.holders) for one in found.positions) + len(found.others)
    assert set(table.loc[table["position"].isna(), "statement"]) <= {SOMETHING_ELSE}
    kept = positions_in(table)
    assert (kept.positions, kept.others, kept.certain) == (found.positions, found.others, None)
    sizes = table.dropna(subset=["position"]).groupby("position")["size"]
    assert (sizes.size() == sizes.first()).all()
