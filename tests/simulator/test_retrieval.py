"""The simulated search behind the demo's answers: true to the handbooks' texts, and as good as it says."""

import json
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.simulator.build import draw_earlier, write_earlier
from tests.simulator.config import small_config
from tests.simulator.policies import policies
from tests.simulator.retrieval import HIT_RATES, N_TRIALS, HandbookTexts, SimulatedSearches, section_id
from tests.simulator.world import draw_world
from tests.simulator.worlds import config_of_size


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def demo(written_demo) -> Path:
    return written_demo(7)


@pytest.fixture(scope="module")
def texts(demo) -> dict[tuple[str, str], dict]:
    return {(each["handbook_id"], each["section_id"]): each for each in lines(demo / "sections.jsonl")}


@pytest.fixture(scope="module")
def answers(demo) -> list[dict]:
    return lines(demo / "answers.jsonl")


@pytest.fixture(scope="module")
def headings(demo) -> dict[str, str]:
    by_id = {policy.id: policy.section for policy in policies()}
    return {each["question_id"]: by_id[each["policy"]] for each in lines(demo / "truth.jsonl")}


def test_every_passage_lies_inside_the_text_of_its_section(answers, texts):
    given = [(answer["handbook_id"], passage) for answer in answers for passage in answer["retrieval"]["passages"]]
    assert len(given) > len(answers)
    for handbook_id, passage in given:
        text = texts[handbook_id, passage["section_id"]]["text"]
        assert 0 == passage["start"] < passage["end"] < len(text)


def test_an_answer_cites_the_section_that_speaks_of_its_question(answers, texts, headings):
    for answer in (answer for answer in answers if not answer["absent"]):
        cited = next(each for each in answer["retrieval"]["citations"] if each["known"])
        section = texts[answer["handbook_id"], cited["section_id"]]
        assert section["heading"] == headings[answer["question_id"]]
        assert answer["retrieval"]["passages"][cited["passage"] - 1]["section_id"] == cited["section_id"]
        rests = answer["answer"][cited["start"] : cited["end"]]
        details = [sentence for sentence in section["text"].split(". ") if sentence.rstrip(".") in rests]
        assert len(details) >= 2
        assert "555-01" not in rests


def test_a_silent_answer_was_given_passages_of_other_sections_only(answers, texts, headings):
    silent = [answer for answer in answers if answer["absent"]]
    assert silent
    for answer in silent:
        read = [texts[answer["handbook_id"], passage["section_id"]]["heading"] for passage in answer["retrieval"]["passages"]]
        assert headings[answer["question_id"]] not in read


def test_a_handbook_that_is_silent_on_a_value_states_it_nowhere(demo, texts, headings):
    truth = lines(demo / "truth.jsonl")
    told = defaultdict(set)
    for each in truth:
        for handbook_id, value in each["values"].items():
            if each["aspect"] == "ask" and value is not None:
                told[handbook_id].add(each["policy"])
    by_heading = {policy.section: policy for policy in policies()}
    for (handbook_id, _), section in texts.items():
        policy = by_heading[section["heading"]]
        stated = any(way in section["text"] for ways in policy.says for way in ways)
        assert stated == (policy.id in told[handbook_id])


def test_trials_know_where_the_answer_stands(demo, texts, headings):
    trials = lines(demo / "trials.jsonl")
    assert len(trials) == N_TRIALS * len(HIT_RATES)
    for trial in trials:
        (gold,) = trial["gold"]
        assert texts[trial["handbook_id"], gold]["heading"] == headings[trial["question_id"]]
        assert len(set(trial["ranked"])) == len(trial["ranked"]) <= 5


@pytest.mark.parametrize("strategy", HIT_RATES)
def test_a_strategy_finds_as_often_as_it_is_meant_to(strategy):
    searches = SimulatedSearches(HandbookTexts(draw_world(config_of_size(300, 60, seed=3))))
    rank = searches.rank[strategy]
    for places, share in enumerate(HIT_RATES[strategy], start=1):
        assert np.mean(rank < places) == pytest.approx(share, abs=0.015)  # 4 standard errors of 18,000 searches


def test_the_search_draws_nothing_from_what_was_there_before(demo):
    plain = draw_world(replace(small_config(7), traces=False))
    traced = draw_world(small_config(7))
    assert (plain.value == traced.value).all()
    assert (plain.present == traced.present).all()


def test_an_answer_that_the_earlier_run_missed_stands_in_the_handbook_all_the_same(tmp_path):
    earlier = draw_earlier(small_config(7))
    root = write_earlier(tmp_path / "earlier", seed=7)
    records = {(each["question_id"], each["handbook_id"]): each for each in lines(root / "answers.jsonl")}
    sections = {(each["handbook_id"], each["section_id"]) for each in lines(root / "sections.jsonl")}
    library = HandbookTexts(earlier.complete)
    missed = np.argwhere(earlier.lost)
    assert len(missed) > 100
    for question, handbook in missed.tolist():
        asked, book = earlier.world.questions[question], earlier.world.handbooks[handbook]
        own = section_id(int(library.position[asked.policy, handbook]))
        record = records[asked.id, book.id]
        assert record["absent"]
        assert (book.id, own) in sections
        assert own not in [passage["section_id"] for passage in record["retrieval"]["passages"]]
