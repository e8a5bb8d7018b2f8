"""One handbook compared with itself: what is found, once and with every place, and what is never compared."""

import json

import pytest

from audit.pipeline.judging.parse import load_prompts
from audit.pipeline.judging.within.findings import count_record, finding_records
from audit.pipeline.judging.within.model import StatementPair, within_task, within_verdicts
from audit.pipeline.llm.calls import ANSWERED
from audit.pipeline.llm.item_task import ItemTask
from audit.pipeline.rules.within.candidates import Candidates, _looked_up, _weights, find_candidates
from audit.pipeline.rules.within.claims import claims_of, passages_of
from audit.pipeline.rules.within.rules import judge_pair
from audit.release.journal_files import Reply
from audit.text.documents import Document, Section


def handbook(*sections: tuple[int, str, str]) -> Document:
    """A handbook of sections: page, heading, text."""
    made = tuple(
        Section(f"s{number}", heading, text, pages=(page, page)) for number, (page, heading, text) in enumerate(sections, start=1)
    )
    return Document("heart_alder_post", "heart", "Alder", "post", made)


def found_by_rules(document: Document) -> list[dict]:
    found = find_candidates(document)
    return list(finding_records("heart_alder_post", "rules", found, {pair: judge_pair(found, pair) for pair in found.pairs}))


def values(finding: dict) -> list[tuple[int, int, str]]:
    """(position, page, value) of each place."""
    return [(place["position"], place["page"], place["value"]) for place in finding["places"]]


FEVER = (
    (5, "When to call", "Call the team right away if you have:\n• a temperature of 100.4°F or 38°C or higher\n• chills"),
    (18, "Signs of infection", "Tell us about a fever of 100.4 F or more."),
    # The amount in this heading is no condition of the threshold
    (40, "2 weeks of daily checks", "Call if your temperature is higher than 101.4°F."),
)


def test_a_threshold_that_one_page_states_otherwise_is_found_once_with_its_three_places():
    (finding,) = found_by_rules(handbook(*FEVER))

    assert values(finding) == [(1, 5, "100.4°F"), (1, 18, "100.4 F or more"), (2, 40, "higher than 101.4°F")]
    assert (finding["classification"], finding["clinical_significance"]) == ("DIVERGENT", "high")
    assert finding["divergence_topic"] == "fever at which to call"
    assert finding["reasoning"].startswith("Amounts apart: page ")
    assert "page 40 says" in finding["reasoning"]
    assert finding["places"][0]["text"] == ("Call the team right away if you have: a temperature of 100.4°F or 38°C or higher")


def test_the_places_are_positions_in_the_texts():
    document = handbook(*FEVER)
    (finding,) = found_by_rules(document)

    for place in finding["places"]:
        section = document.by_id[place["section_id"]]
        assert section.text[place["start"] : place["end"]] in place["text"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        # The same value in another unit, or in a range
        ("Call us for a fever above 38 °C.", "Call us for a fever above 100.4 °F."),
        ("Do not lift more than 10 pounds (4.5 kg).", "Never lift anything heavier than 10 lb."),
        ("Rest your arm for 4 to 6 weeks after surgery.", "Rest your arm for 6 weeks after surgery."),
        # Other kinds of temperature
        ("Call us for a fever of 100.4 °F.", "Store your medicine at a temperature of 15-30 °C."),
        ("Call us for a fever of 100.4 °F.", "A normal temperature is 98.6 °F."),
        ("Call us for a fever of 100.4 °F.", "Wash towels at a temperature of 140 °F."),
        # Other cases: patients, times, medicines, conditions
        ("Adults take 500 mg of ibandil twice a day.", "Children take 250 mg of ibandil twice a day."),
        ("Take 2 mg of ibandil in the morning.", "Take 4 mg of ibandil in the evening."),
        ("Symptoms of hepatitis A begin after 2 weeks.", "Symptoms of hepatitis B begin after 8 weeks."),
        ("Call for a fever of 100.4 °F for more than 1 hour.", "Call for a fever of 101 °F."),
        ("In month 1 your blood is drawn every 3 days.", "In month 6 your blood is drawn every 30 days."),
        ("If you have diabetes your sugar goal is 100 mg/dl.", "If you have no diabetes your sugar goal is 160 mg/dl."),
        # Opposite bounds may both be followed
        ("Drink at least 2 liters of water each day.", "Drink at most 3 liters of water each day."),
        # Other objects
        ("Warm up your muscles for 10 minutes.", "The visit to the dietitian takes 60 minutes."),
        # Advice under a condition
        ("You may swim in a pool with a clean cover.", "Do not swim in a pool until your wound has closed."),
        ("Never smoke cigarettes.", "The cigarettes may be harmful."),
    ],
)  # fmt: skip
def test_what_is_no_contradiction_is_not_shown(first, second):
    assert found_by_rules(handbook((3, "At home", first), (30, "Your recovery at home", second))) == []


@pytest.mark.parametrize(
    ("first", "second", "label"),
    [
        ("Do not lift more than 10 pounds.", "You must not lift anything over 25 pounds.", "DIVERGENT"),
        ("Do not drive for 4 weeks after your surgery.", "You may drive again 8 weeks after surgery.", "DIVERGENT"),
        ("Change the wound dressing every 2 days.", "Change the wound dressing once a week.", "DIVERGENT"),
        ("You may eat soft cheese.", "Do not eat soft cheese.", "CONTRADICTORY"),
    ],
)
def test_what_cannot_both_be_followed_is_shown(first, second, label):
    (finding,) = found_by_rules(handbook((3, "At home", first), (30, "Recovery", second)))

    assert finding["classification"] == label
    assert [place["page"] for place in finding["places"]] == [3, 30]


def test_a_medicine_that_only_the_heading_names_is_another_medicine():
    dose = "Take your dose {} hours before your blood test."
    document = handbook((3, "Ibandil", dose.format("12")), (9, "Morvastin", dose.format("2")))

    assert found_by_rules(document) == []


def test_amounts_that_one_section_lists_for_several_cases_are_not_compared():
    rows = "Weight to 20 kg | Syrup a day: 5 ml\nWeight to 40 kg | Syrup a day: 8 ml"
    document = handbook((3, "Syrup", rows), (9, "Syrup for the day", "Weight to 20 kg | Syrup a day: 6 ml"))

    assert [finding for finding in found_by_rules(document) if len(finding["places"]) > 2] == []


def test_pairs_that_say_the_same_are_counted_and_not_listed():
    found = find_candidates(handbook(*FEVER[:2]))
    counts = count_record("heart_alder_post", "rules", found, {})

    assert (counts["agreeing"], counts["compared"], counts["disagreeing"]) == (1, 0, 0)


def test_what_the_rules_cannot_tell_is_unscored_and_not_agreement():
    first, second = (
        "Your blood is drawn every week in the clinic.",
        "Your blood is drawn every month at the lab, before breakfast.",
    )
    found = find_candidates(handbook((3, "Blood tests", first), (9, "Later tests", second)))
    counts = count_record("h", "rules", found, {pair: judge_pair(found, pair) for pair in found.pairs})

    assert (counts["compared"], counts["unscored"], counts["not_asked"]) == (0, len(found.pairs), 0)


def test_your_child_is_the_patient_and_not_a_case():
    texts = ("Call if your child has a fever of 100.4 °F.", "Call for a fever of 101.4 °F.")

    assert len(found_by_rules(handbook((3, "Fever", texts[0]), (9, "Fever at night time", texts[1])))) <= 1
    (first, second) = [
        claim for passage in passages_of(handbook((3, "", texts[0]), (9, "", texts[1]))) for claim in claims_of(passage)
    ]
    assert first.passage.cases == second.passage.cases == frozenset()


def long_handbook(pages: int) -> Document:
    """Pages of ten statements, each of which has the words of a statement on every other page."""
    parts = ("dressing", "catheter", "diet", "exercise", "vaccine", "school", "garden", "dentist", "insurance", "travel")
    lines = ["\n\n".join(f"Look after your {part} for {page} minutes a week." for part in parts) for page in range(1, pages + 1)]
    return handbook(*((page, f"Part {page}", text) for page, text in enumerate(lines, start=1)))


def test_the_time_grows_with_the_length_of_a_handbook_and_not_with_its_square():
    compared = [len(list(_looked_up(*_claims_and_weights(long_handbook(pages))))) for pages in (100, 200, 400)]

    assert compared[2] / compared[1] < 2.2 > compared[1] / compared[0]


def _claims_and_weights(document: Document):
    passages = list(passages_of(document))
    return [claim for passage in passages for claim in claims_of(passage)], _weights(passages)


# -- by a model --------------------------------------------------------------------------------------------------------


def model_task(document: Document, max_pairs: int = 100) -> tuple[ItemTask[StatementPair], Candidates]:
    found = find_candidates(document)
    return within_task(load_prompts()["within"], "tiny", [(document.handbook_id, found)], max_pairs), found


def reply(label: str) -> str:
    verdict = {"reasoning": "r", "classification": label, "divergence_topic": "fever", "clinical_significance": "high"}
    return json.dumps(verdict)


def test_a_model_reads_both_passages_with_their_headings():
    task, _ = model_task(handbook(*FEVER))
    (_, call), *_ = task.calls()
    prompt = call.body["messages"][1]["content"]

    assert "<passage_a>\nWhen to call\nCall the team right away if you have: a temperature of 100.4°F" in prompt
    assert "<passage_b>\n2 weeks of daily checks\nCall if your temperature is higher than 101.4°F.\n</passage_b>" in prompt
    assert "fever at which to call" in prompt


def test_replies_of_a_model_are_verdicts_and_an_unreadable_one_is_none():
    task, found = model_task(handbook(*FEVER))
    calls = [call for _, call in task.calls()]
    texts = [reply("DIVERGENT"), "I would rather not say."]
    replies = {call.key: Reply(call.key, ANSWERED, text=text) for call, text in zip(calls, texts, strict=True)}
    handbooks = [("heart_alder_post", found)]
    (verdicts,) = within_verdicts(task, handbooks, lambda keys: {key: replies[key] for key in keys if key in replies})

    counts = count_record("heart_alder_post", "tiny", found, verdicts)
    (finding,) = finding_records("heart_alder_post", "tiny", found, verdicts)
    assert (counts["compared"], counts["disagreeing"], counts["unscored"]) == (1, 1, 1)
    # The second statement of 100.4 says the same as the first: it is a place of the finding, though its own pair is unscored
    assert [place["page"] for place in finding["places"]] == [5, 18, 40]


def test_pairs_beyond_the_limit_and_pairs_without_a_reply_were_not_asked():
    task, found = model_task(handbook(*FEVER), max_pairs=1)
    (verdicts,) = within_verdicts(task, [("heart_alder_post", found)], lambda _: {})

    assert len(list(task.open_calls("structured", lambda _: {}))) == 1
    assert count_record("h", "tiny", found, verdicts)["not_asked"] == len(found.pairs) == 2
