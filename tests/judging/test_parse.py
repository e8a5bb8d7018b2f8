"""Reading replies: what says a label says it, what does not is unscored with its reason; no label by default."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.judging.parse import read_extract, read_presence, read_verdict
from audit.llm.calls import ANSWERED, CUT, FAILED, REFUSED, Reply
from audit.vocabulary import DISAGREEING, LABELS


def said(text: str | None, outcome: str = ANSWERED, **usage: int) -> Reply:
    return Reply("k", outcome, text=text, usage=usage)


def full(label: str = "DIVERGENT", reasoning: str = "3 against 12 months.", topic=None, significance=None) -> str:
    fields = {"reasoning": reasoning, "classification": label, "divergence_topic": topic, "clinical_significance": significance}
    return json.dumps(fields)


WHOLE = full(topic="waiting time", significance="high")

LABELLED = [
    # the reply                                                                          label            parse
    (WHOLE,                                                                             "DIVERGENT",     "strict"),
    (f"  {WHOLE}\n\n   ",                                                               "DIVERGENT",     "strict"),
    (f"```json\n{WHOLE}\n```",                                                          "DIVERGENT",     "lenient"),
    (f"Is it DIVERGENT or COMPLEMENTARY? My verdict:\n{WHOLE}",                         "DIVERGENT",     "lenient"),
    (f"<think>CONSISTENT? no</think>{WHOLE}",                                           "DIVERGENT",     "strict"),
    ('{"reasoning": "a\tb\x01", "classification": "CONSISTENT"}',                       "CONSISTENT",    "lenient"),
    ('{"classification": "Contradiction", "extra": 1}',                                 "CONTRADICTORY", "lenient"),
    ('{"reasoning": "cut here", "classification": "COMPLEMENTARY", "divergence_to',     "COMPLEMENTARY", "label"),
    ("Label: divergent.",                                                               "DIVERGENT",     "label"),
    ("**CONSISTENT**",                                                                  "CONSISTENT",    "label"),
    ("complementary",                                                                   "COMPLEMENTARY", "label"),
    ("The answers are COMPLEMENTARY, not DIVERGENT.",                                   "COMPLEMENTARY", "label"),
]  # fmt: skip

UNREADABLE = [
    # the reply                                                                          why there is no label
    (None,                                                                              "empty"),
    ("",                                                                                "empty"),
    (" \n ",                                                                            "empty"),
    ("<think>They both say three months, so CONSISTENT",                                "thinking only"),
    ("<think>CONSISTENT</think>",                                                       "thinking only"),
    ("I cannot help with medical questions.",                                           "no label"),
    ("The two answers are consistent in part and absent in part.",                      "no label"),
    ("This is not CONTRADICTORY.",                                                      "no label"),
    ("They aren't CONSISTENT.",                                                         "no label"),
    ("CONSISTENT or COMPLEMENTARY",                                                     "several labels"),
    ('{"classification": "DIVERGENT or COMPLEMENTARY"}',                                "several labels"),
    ('{"classification": "CONSISTENT", "classification": "DIVERGENT"}',                 "several labels"),
    ('{"classification": "CONSISTENT"} {"classification": "DIVERGENT"}',                "several labels"),
    ('{"classification": "CONSISTENT"} On reflection: DIVERGENT',                       "several labels"),
    ('{"classification": null}',                                                        "no label"),
    ('{"classification": 3}',                                                           "no label"),
    ('{"classification": "SIMILAR"}',                                                   "no label"),
    ('{"reasoning": "They look DIVERGENT to me"}',                                      "no label"),
    ('{"reasoning": "the text says \\"classification\\": \\"CONSISTENT\\"',             "no label"),
    ("[" * 100_000,                                                                     "no label"),
    ('{"a":' * 5_000,                                                                   "no label"),
    ("3",                                                                               "no label"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "label", "parse"), LABELLED)
def test_a_reply_that_says_a_label_gives_it(text, label, parse):
    verdict = read_verdict(said(text), "structured")
    assert (verdict.label, verdict.parse, verdict.reason) == (label, parse, None)


@pytest.mark.parametrize(("text", "reason"), UNREADABLE)
def test_a_reply_that_says_no_label_is_unscored_and_says_why(text, reason):
    verdict = read_verdict(said(text), "structured")
    assert (verdict.label, verdict.parse, verdict.reason) == (None, "none", reason)


@pytest.mark.parametrize("outcome", [REFUSED, FAILED])
def test_what_the_server_refused_or_failed_at_is_unscored_whatever_text_came(outcome):
    assert read_verdict(said(WHOLE, outcome), "structured").reason == outcome


def test_all_tokens_thought_and_none_said_is_thinking_only():
    assert read_verdict(said("", CUT, reasoning_tokens=800), "structured").reason == "thinking only"


CUT_SHORT = [
    (f"{WHOLE}{' ' * 500}",                                   "DIVERGENT", None),
    ('{"reasoning": "so", "classification": "ABSENT"   \n\n', "ABSENT",    None),
    ('{"reasoning": "they are DIVERGENT since',               None,        "cut"),
    ("Verdict: DIVERGENT unless",                             None,        "cut"),
    ("",                                                      None,        "cut"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "label", "reason"), CUT_SHORT)
def test_of_a_reply_cut_short_only_a_finished_label_counts(text, label, reason):
    verdict = read_verdict(said(text, CUT), "structured")
    assert (verdict.label, verdict.reason) == (label, reason)


def test_significance_goes_with_disagreement_only():
    for label in LABELS:
        verdict = read_verdict(said(full(label, significance="high")), "structured")
        assert verdict.significance == ("high" if label in DISAGREEING else None)


def test_a_topic_goes_with_a_difference_only_and_the_word_null_is_none():
    topics = [read_verdict(said(full(label, topic="travel")), "structured").topic for label in LABELS]
    assert topics == [None, None, "travel", "travel", "travel"]
    assert read_verdict(said(full(topic="null")), "structured").topic is None


def test_an_unknown_significance_is_not_stated_and_costs_no_label():
    verdict = read_verdict(said(full(significance="catastrophic")), "structured")
    assert (verdict.label, verdict.significance, verdict.parse) == ("DIVERGENT", None, "lenient")


def test_half_characters_and_control_characters_do_not_reach_the_release():
    verdict = read_verdict(said('{"reasoning": "a\\ud800b\\u0000c", "classification": "CONSISTENT"}'), "structured")
    assert verdict.reasoning == "a b c"
    verdict.reasoning.encode()


@given(st.text(alphabet=st.sampled_from('{}[]":,\\ \n\x01abcnullCONSISTENT01<think>/`'), max_size=200))
def test_no_text_breaks_the_reader(text):
    verdict = read_verdict(said(text), "structured")
    assert (verdict.label is None) == (verdict.reason is not None)


PRESENCE = [
    # the reply                                       addressed  parse      reason
    ('{"addressed": "YES"}',                          True,      "strict",  None),
    ('{"addressed": "NO"}',                           False,     "strict",  None),
    ('```{"addressed": "no"}```',                     False,     "lenient", None),
    ("YES",                                           True,      "label",   None),
    ("No.",                                           False,     "label",   None),
    ("YES: there is no need to wait.",                True,      "label",   None),
    ("Yes and no.",                                   None,      "none",    "several labels"),
    ("YES or NO?",                                    None,      "none",    "several labels"),
    ("perhaps",                                       None,      "none",    "no label"),
    ("",                                              None,      "none",    "empty"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "addressed", "parse", "reason"), PRESENCE)
def test_whether_an_answer_addresses_the_question_is_read_or_unknown(text, addressed, parse, reason):
    found = read_presence(said(text))
    assert (found.addressed, found.parse, found.reason) == (addressed, parse, reason)


def test_a_failed_absence_check_is_unknown_and_not_absent():
    assert read_presence(said(None, FAILED)).addressed is None


def test_what_extract_says_is_read_or_left_empty():
    found = read_extract(said('{"divergence_topic": "waiting time", "clinical_significance": "medium"}'))
    assert (found.topic, found.significance, found.parse) == ("waiting time", "medium", "strict")
    broken = read_extract(said('{"divergence_topic": "waiting', CUT))
    assert (broken.topic, broken.significance, broken.reason) == (None, None, "cut")
