"""One handbook compared with itself: which passages are compared, and each disagreement once with every place."""

import json
from dataclasses import replace

import pytest

from audit.pipeline.embedding.encoders import words_encoder
from audit.pipeline.judging.parse import load_prompts
from audit.pipeline.judging.within.findings import count_record, finding_records
from audit.pipeline.judging.within.model import StatementPair, within_task, within_verdicts
from audit.pipeline.judging.within.pairs import FAR, Candidates, find_candidates
from audit.pipeline.llm.calls import ANSWERED
from audit.pipeline.llm.item_task import ItemTask
from audit.pipeline.retrieval.closest import ClosestPassages
from audit.pipeline.retrieval.found import MINILM, WORDS, thresholds
from audit.pipeline.retrieval.model import Query
from audit.release.journal_files import Reply
from audit.text.documents import Document, Section
from audit.text.statements import statements

QUESTION = Query("fever", "At what temperature do I have to call the team?")


def handbook(*sections: tuple[int, str, str]) -> Document:
    """A handbook of sections: page, heading, text."""
    made = tuple(
        Section(f"s{number}", heading, text, pages=(page, page)) for number, (page, heading, text) in enumerate(sections, start=1)
    )
    return Document("heart_alder_post", "heart", "Alder", "post", made)


def candidates(document: Document, *questions: Query) -> Candidates:
    texts = [statement.quoted for section in document.sections for statement in statements(section.text)]
    # With a question by an encoder, of words: BM25 scores of a handbook of six sentences say little
    encoder = words_encoder([*texts, *(question.text for question in questions)]) if questions else None
    return find_candidates(ClosestPassages(document, encoder), questions)


def stated(found: Candidates) -> list[tuple[str, str]]:
    return [(pair.first.stated, pair.second.stated) for pair in found.pairs]


FEVER = (
    (5, "When to call", "Call the team right away if you have:\n• a temperature of 100.4°F or 38°C or higher\n• chills"),
    (18, "Signs of infection", "Tell the team about a temperature of 100.4 F or higher."),
    (40, "2 weeks of daily checks", "Call the team if your temperature is higher than 101.4°F."),
)
DIET = (
    (7, "Food", "Wash every fruit with clean water before you eat it."),
    (8, "Drinks", "Coffee and tea are safe in small cups."),
    (9, "Exercise", "Walk for some minutes every morning and evening."),
)


def test_statements_most_similar_to_each_other_are_compared_without_a_question():
    daily = "You do not have to take your temperature each day."
    record = "Take and record your temperature each day, and when you feel warm."
    found = candidates(handbook((3, "At home", daily), *DIET, (30, "Checks", record)))

    assert stated(found)[0] == (daily, record)
    assert found.pairs[0].subject == "take temperature day"


def test_the_closest_passages_of_different_sections_are_compared_for_a_question():
    found = candidates(handbook(*FEVER, *DIET), QUESTION)

    of_question = {(pair.first.page, pair.second.page) for pair in found.pairs if pair.question_id == "fever"}
    assert {(5, 18), (5, 40)} <= of_question <= {(5, 18), (5, 40), (18, 40)}


def test_places_of_one_section_are_compared_where_a_page_lies_between_them():
    first, second = "Use a humidifier in the bedroom at night.", "Do not use a humidifier in the bedroom."
    between = "\n\n".join(f"{chr(97 + n % 26) * (3 + n // 26)} is the name of a room with a window." for n in range(FAR // 40))
    near = candidates(handbook((1, "Guide", f"{first}\n\n{second}\n\n{between}")))
    far = candidates(handbook((1, "Guide", f"{first}\n\n{between}\n\n{second}")))

    assert (first, second) not in stated(near)
    assert (first, second) in stated(far)


def test_the_same_words_are_counted_and_not_compared():
    text = "Wash your hands before every meal, and often."
    found = candidates(handbook((3, "Hygiene", text), *DIET, (30, "At home", text)))

    assert found.agreeing == 1
    assert (text, text) not in stated(found)


def test_a_line_that_runs_through_the_handbook_is_not_a_statement():
    pages = [(page, f"Part {page}", f"After Your Transplant Guide {page}") for page in range(1, 9)]

    assert candidates(handbook(*pages, *DIET)).pairs == []


def test_pairs_of_which_one_denies_or_states_another_amount_are_read_first():
    soap = ("Clean the skin with soap and warm water daily.", "Use warm water and soap to clean the skin daily.")
    cheese = ("You may eat soft cheese from the shop.", "Never eat soft cheese, whatever the shop says.")
    found = candidates(
        handbook((1, "Skin", soap[0]), *DIET, (20, "Bath", soap[1]), (2, "Cheese", cheese[0]), (30, "Not to eat", cheese[1]))
    )

    assert stated(found)[0] == cheese
    assert soap in stated(found)


# -- by a model --------------------------------------------------------------------------------------------------------


def model_task(max_pairs: int = 100) -> tuple[ItemTask[StatementPair], Candidates]:
    found = candidates(handbook(*FEVER, *DIET), QUESTION)
    return within_task(load_prompts()["within"], "tiny", [("heart_alder_post", found)], max_pairs), found


def reply(label: str) -> str:
    verdict = {"reasoning": "r", "classification": label, "divergence_topic": "fever", "clinical_significance": "high"}
    return json.dumps(verdict)


def verdicts_of(labels: dict[tuple[int, int], str]):
    """The verdicts where the model says these labels of the pairs of pages, and nothing readable of others."""
    task, found = model_task()
    texts = {
        call.key: reply(label) if (label := labels.get((item.pair.first.page, item.pair.second.page))) else "I cannot say."
        for item, call in task.calls()
    }
    replies = {key: Reply(key, ANSWERED, text=text) for key, text in texts.items()}
    handbooks = [("heart_alder_post", found)]
    (verdicts,) = within_verdicts(task, handbooks, lambda keys: {key: replies[key] for key in keys if key in replies})
    return found, verdicts


def places(finding: dict) -> list[tuple[int, int]]:
    """(position, page) of each place."""
    return [(place["position"], place["page"]) for place in finding["places"]]


def test_a_model_reads_both_passages_with_their_headings():
    task, _ = model_task()
    prompts = [call.body["messages"][1]["content"] for _, call in task.calls()]

    (prompt,) = [one for one in prompts if "100.4°F" in one and "101.4" in one]
    assert "<passage_a>\nWhen to call\nCall the team right away if you have: • a temperature of 100.4°F" in prompt
    assert "<passage_b>\n2 weeks of daily checks\nCall the team if your temperature is higher than 101.4°F.\n" in prompt
    assert f"<subject>\n{QUESTION.text}\n</subject>" in prompt


def test_a_disagreement_is_found_once_with_its_three_places():
    _, verdicts = verdicts_of({(5, 18): "CONSISTENT", (5, 40): "DIVERGENT", (18, 40): "DIVERGENT"})
    (finding,) = finding_records("heart_alder_post", "tiny", verdicts)

    assert places(finding) == [(1, 5), (1, 18), (2, 40)]
    assert (finding["classification"], finding["question_id"]) == ("DIVERGENT", "fever")
    document = handbook(*FEVER, *DIET)
    for place in finding["places"]:
        assert document.by_id[place["section_id"]].text[place["start"] : place["end"]] in place["text"]


def test_places_that_the_judge_did_not_call_consistent_have_positions_of_their_own():
    _, verdicts = verdicts_of({(5, 18): "COMPLEMENTARY", (5, 40): "DIVERGENT", (18, 40): "CONTRADICTORY"})
    (finding,) = finding_records("heart_alder_post", "tiny", verdicts)

    assert places(finding) == [(1, 5), (2, 18), (3, 40)]
    assert finding["classification"] == "CONTRADICTORY"


def test_two_places_that_disagree_never_share_a_position():
    _, verdicts = verdicts_of({(5, 18): "CONSISTENT", (5, 40): "CONSISTENT", (18, 40): "DIVERGENT"})
    (finding,) = finding_records("heart_alder_post", "tiny", verdicts)

    assert places(finding) == [(1, 18), (2, 40)]


def test_an_unreadable_reply_is_unscored_and_not_agreement():
    found, verdicts = verdicts_of({(5, 40): "DIVERGENT"})
    counts = count_record("heart_alder_post", "tiny", found, verdicts)

    assert (counts["compared"], counts["disagreeing"]) == (1, 1)
    assert counts["unscored"] == len(found.pairs) - 1


def test_pairs_beyond_the_limit_and_pairs_without_a_reply_were_not_asked():
    task, found = model_task(max_pairs=1)
    (verdicts,) = within_verdicts(task, [("heart_alder_post", found)], lambda _: {})

    assert len(list(task.open_calls("structured", lambda _: {}))) == 1
    assert count_record("h", "tiny", found, verdicts)["not_asked"] == len(found.pairs) > 2


@pytest.mark.parametrize(("encoder", "pairs"), [(None, 0), (replace(words_encoder(["Fever and chills."]), name="a model"), 1)])
def test_a_score_of_static_vectors_is_held_against_their_own_thresholds(encoder, pairs):
    assert thresholds(MINILM).perhaps < 0.3 < thresholds(WORDS).perhaps

    class Scored(ClosestPassages):
        def closest(self, question, count=5):
            return [replace(passage, score=0.3) for passage in super().closest(question, count)]

    found = find_candidates(Scored(handbook(*FEVER[:2]), encoder), [QUESTION])
    assert sum(pair.question_id == "fever" for pair in found.pairs) == pairs
