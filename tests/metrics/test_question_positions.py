"""Who says what on one question, on answers small enough to read; against a world with known truth beside position groups."""

import pandas as pd
import pytest

from audit.errors import NotInRunError
from audit.metrics._disputes import Dispute
from audit.metrics.question_positions import positions_by_rules, question_positions
from audit.settings import Settings
from audit.store.connection import open_store
from audit.store.load import load_release


def answers(*groups):
    """Answers in groups, as the table of position groups has them."""
    rows = [(f"h{number}{place}", text, number) for number, group in enumerate(groups, 1) for place, text in enumerate(group)]
    return pd.DataFrame(rows, columns=["handbook_id", "answer", "group"]).assign(center="Alder", name="Group", basis="letter")


def test_a_position_is_named_by_a_sentence_of_its_holders_and_each_holder_keeps_its_own_words():
    taken = positions_by_rules(
        "When may I drive again?",
        answers(
            ["Rest at home. You may drive after 6 weeks."], ["Drive only after 3 months.", "Wait 3 months to drive. Call us."]
        ),
        ["One handbook says 6 weeks and the other 3 months until driving."],
        "weeks until driving",
    )
    assert [(len(position.holders), position.value) for position in taken] == [(2, "3 months"), (1, "6 weeks")]
    assert taken[1].statement == "You may drive after 6 weeks."
    assert [holder.quote for holder in taken[0].holders] == ["Drive only after 3 months.", "Wait 3 months to drive."]
    assert {position.aspect for position in taken} == {"weeks until driving"}


def test_a_stage_of_a_treatment_is_not_set_against_all_of_it():
    reasoning = "One gives drops for 4 days, then tablets for 5 to 6 months; the other up to 2 years of drops or tablets."
    taken = positions_by_rules(
        "How is it treated?",
        answers(
            ["You get drops for the first 4 days of treatment. Tablets follow, for 5 to 6 months in all."],
            ["The treatment, drops or tablets, takes up to 2 years."],
        ),
        [reasoning],
        "drops and tablets, and for how long",
        [Dispute("h10", "h20", reasoning, "drops and tablets, and for how long")],
    )
    assert [(position.value, position.statement) for position in taken] == [
        ("5 to 6 months", "Tablets follow, for 5 to 6 months in all."),
        ("up to 2 years", "The treatment, drops or tablets, takes up to 2 years."),
    ]


DISPUTED_AGE = Dispute(
    "h10", "h20", "One says sixties or seventies, the other between 55 and 65.", "age at which it is commonest"
)


def holders_of_first(question, group, other, dispute, **columns):
    """The holders of the position of `group`, whose first answer disagrees with the only answer of the other group."""
    table = answers(group, [other]).assign(**columns)
    taken = positions_by_rules(question, table, [dispute.reasoning], dispute.topic, [dispute])
    (position,) = (position for position in taken if "h10" in {holder.handbook_id for holder in position.holders})
    return [holder.handbook_id for holder in position.holders]


def test_who_disagrees_with_nobody_holds_a_position_only_with_words_on_it_beyond_those_of_the_question():
    """Every answer about lung cancer says "lung cancer": that is no reason to give it somebody else's age."""
    group = [
        "Lung cancer occurs most often in adults in their sixties or seventies.",
        "There are two types of lung cancer: small cell lung cancer and other lung cancer.",
        "Most often, adults in their seventies have it.",
    ]
    other = "Lung cancer occurs most often between the ages of 55 and 65."
    assert holders_of_first("What is lung cancer?", group, other, DISPUTED_AGE) == ["h10", "h12"]


def test_an_amount_that_nobody_disputes_makes_no_one_a_holder():
    group = [
        "The illness may be passed on by eating beef, but this is not proven. Most patients live for less than 1 year.",
        "Most of those affected die within 1 year.",
    ]
    dispute = Dispute("h10", "h20", "One doubts that eating beef passes it on; the other says it does.", "eating beef")
    other = "The illness can be acquired by eating beef."
    assert holders_of_first("What is it?", group, other, dispute, basis="value", name="1 year") == ["h10"]


def test_a_quote_is_the_text_between_its_ends():
    texts = ["Call us first. You may eat sushi.", "Never eat sushi: it may carry parasites."]
    for position in positions_by_rules("May I eat sushi?", answers(texts[:1], texts[1:]), [], ""):
        (holder,) = position.holders
        text = texts[int(holder.handbook_id[1]) - 1]
        assert text[holder.start : holder.end] == holder.quote != ""


def test_an_item_of_a_list_keeps_the_line_that_gives_it_its_meaning():
    (position,) = positions_by_rules(
        "What must I avoid?", answers(["Avoid the following:\n• raw fish and sushi"]), [], "raw fish"
    )
    assert position.statement == "Avoid the following: raw fish and sushi"
    assert position.holders[0].quote == "raw fish and sushi"


def test_yes_and_no_are_values_of_a_closed_question():
    taken = positions_by_rules(
        "May I drink coffee?", answers(["Yes, you may drink coffee."], ["No. Do not drink coffee."]), [], ""
    )
    assert sorted(position.value for position in taken) == ["No", "Yes"]


def test_a_value_that_both_positions_share_is_the_value_of_neither():
    taken = positions_by_rules("How long?", answers(["Wait 6 weeks, then walk."], ["Wait 6 weeks, then swim."]), [], "")
    assert [position.value for position in taken] == [None, None]


def test_the_table_has_one_row_for_each_holder(release, tmp_path):
    run = load_release(release, Settings(data_dir=tmp_path / "data")).run
    with open_store(run.path) as con:
        table = question_positions(con, "q1")
        with pytest.raises(NotInRunError, match="'q9' is not in this run"):
            question_positions(con, "q9")
    assert list(table["position"]) == sorted(table["position"])
    assert (table.groupby("position")["handbook_id"].size() == table.groupby("position")["size"].first()).all()
