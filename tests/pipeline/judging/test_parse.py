"""Reading replies: a label is read, a reply without one is unscored with the reason, and there is no default label."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.pipeline.judging.parse import CANNOT_TELL, VERDICT_SCHEMA, load_prompts, read_details, read_presence, read_verdict
from audit.pipeline.llm.calls import ANSWERED, CUT, FAILED, REFUSED
from audit.release.journal_files import Reply
from audit.vocabulary import DISAGREEING, LABELS


def said(text: str | None, outcome: str = ANSWERED, **usage: int) -> Reply:
    return Reply("k", outcome, text=text, usage=usage)


def full(label: str = "DIVERGENT", reasoning: str = "3 against 12 months.", topic=None, significance=None, **others) -> str:
    fields = dict.fromkeys(VERDICT_SCHEMA["properties"])
    fields |= {"reasoning": reasoning, "classification": label, "divergence_topic": topic, "clinical_significance": significance}
    return json.dumps(fields | others)


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
    ('{"classification": "CON\u200bSISTENT"}',                                            "CONSISTENT",    "lenient"),
    (f'{{"comparison": {WHOLE}}}',                                                      "DIVERGENT",     "lenient"),
    ('{"reasoning": "cut here", "classification": "COMPLEMENTARY", "divergence_to',     "COMPLEMENTARY", "label"),
    ('{"reasoning": "6 or 8 weeks" "classification": "DIVERGENT", "divergence_topic": x}', "DIVERGENT",  "label"),
    ("Label: divergent.",                                                               "DIVERGENT",     "prose"),
    ("**CONSISTENT**",                                                                  "CONSISTENT",    "prose"),
    ("complementary",                                                                   "COMPLEMENTARY", "prose"),
    ("\\boxed{ABSENT}",                                                                  "ABSENT",        "prose"),
    ("```\nABSENT\n```",                                                                "ABSENT",        "prose"),
    ("They name 6 and 8 weeks.\n\n**Final answer:** `DIVERGENT`",                       "DIVERGENT",     "prose"),
    ('"classification": "CONTRADICTORY"',                                               "CONTRADICTORY", "prose"),
    ("Label: DIVERGENT\nReasoning: They differ in weeks.\nB asks for longer rest.",      "DIVERGENT",     "prose"),
    ("## Verdict = (COMPLEMENTARY)\n- Topic: weeks without driving\n- Significance: low", "COMPLEMENTARY", "prose"),
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
    ("This is not CONTRADICTORY.",                                                      "label in running text"),
    ("They aren't CONSISTENT.",                                                         "label in running text"),
    ("Anything but DIVERGENT",                                                          "label in running text"),
    ("The answers are COMPLEMENTARY, not DIVERGENT.",                                   "several labels"),
    ("CONSISTENT?",                                                                     "label in running text"),
    ("~~ABSENT~~",                                                                      "label in running text"),
    ("[ ] ABSENT",                                                                      "label in running text"),
    ("Label: CONSISTENT?",                                                              "label in running text"),
    ("Label: not CONSISTENT",                                                           "label in running text"),
    ("Label != CONSISTENT",                                                             "label in running text"),
    ("Verdict: DIVERGENT would overstate it.",                                          "label in running text"),
    ("Nobody should write\nVerdict: DIVERGENT",                                          "label in running text"),
    ("Verdict: DIVERGENT\nOr rather, I take that back.",                                 "label in running text"),
    ("Label: DIVERGENT\nReasoning: They differ, or are CONSISTENT after all.",            "several labels"),
    ("Verdict: DIVERGENT\nVerdict: unsure",                                              "label in running text"),
    ("They are hardly divergent.\nVerdict: DIVERGENT",                                   "label in running text"),
    ("Is it CONSISTENT? It is.\nVerdict: DIVERGENT",                                     "several labels"),
    ("Service unavailable, quota class ABSENT",                                         "label in running text"),
    (f"{WHOLE}\nI take that back.",                                                      "text after the verdict"),
    (f"{WHOLE[:-1]},}} Hm, hardly.",                                                      "text after the verdict"),
    (f"{WHOLE}\nNo, not even divergent.",                                                "several labels"),
    ('{"reasoning": "x" "classification": "DIVERGENT", y} Or not.',                     "label in running text"),
    ('{"error": {"message": "no such class", "classification": "DIVERGENT"}}',          "label in running text"),
    ("CONSISTENT or COMPLEMENTARY",                                                     "several labels"),
    ('{"classification": "DIVERGENT or COMPLEMENTARY"}',                                "several labels"),
    ('{"classification": "CONSISTENT", "classification": "DIVERGENT"}',                 "several labels"),
    ('{"classification": "CONSISTENT"} {"classification": "DIVERGENT"}',                "several labels"),
    ('{"classification": "CONSISTENT"} On reflection: DIVERGENT',                       "several labels"),
    ('{"classification": null}',                                                        "no label"),
    ('{"classification": 3}',                                                           "no label"),
    ('{"classification": "SIMILAR"}',                                                   "no label"),
    ('{"reasoning": "They look DIVERGENT to me"}',                                      "label in running text"),
    ('{"reasoning": "the text says \\"classification\\": \\"CONSISTENT\\"',             "label in running text"),
    ("[" * 100_000,                                                                     "no label"),
    ('{"a":' * 5_000,                                                                   "no label"),
    ("3",                                                                               "no label"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "label", "parse"), LABELLED)
def test_a_reply_with_a_label_is_read(text, label, parse):
    verdict = read_verdict(said(text), "structured")
    assert (verdict.label, verdict.parse, verdict.reason) == (label, parse, None)


@pytest.mark.parametrize(("text", "reason"), UNREADABLE)
def test_a_reply_without_a_label_is_unscored_with_the_reason(text, reason):
    verdict = read_verdict(said(text), "structured")
    assert (verdict.label, verdict.parse, verdict.reason) == (None, "none", reason)


def test_what_a_text_states_in_lines_beside_its_label_is_kept():
    text = "CLASSIFICATION: divergent\nTOPIC: weeks without driving\nSIGNIFICANCE: high\nEXPLANATION: Six weeks, not eight."
    verdict = read_verdict(said(text), "label_first")
    assert (verdict.label, verdict.topic, verdict.significance, verdict.reasoning, verdict.parse) == (
        "DIVERGENT", "weeks without driving", "high", "Six weeks, not eight", "prose",
    )  # fmt: skip


@pytest.mark.parametrize("outcome", [REFUSED, FAILED])
def test_a_refused_or_failed_call_is_unscored_whatever_its_text(outcome):
    assert read_verdict(said(WHOLE, outcome), "structured").reason == outcome


def test_a_reply_of_thinking_tokens_alone_is_thinking_only():
    assert read_verdict(said("", CUT, reasoning_tokens=800), "structured").reason == "thinking only"


CUT_SHORT = [
    (f"{WHOLE}{' ' * 500}",                                   "DIVERGENT", None),
    ('{"reasoning": "so", "classification": "ABSENT"   \n\n', "ABSENT",    None),
    ('{"reasoning": "they are DIVERGENT since',               None,        "cut"),
    ("Verdict: DIVERGENT unless",                             None,        "cut"),
    ("",                                                      None,        "cut"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "label", "reason"), CUT_SHORT)
def test_of_a_reply_at_its_token_limit_only_a_complete_label_counts(text, label, reason):
    verdict = read_verdict(said(text, CUT), "structured")
    assert (verdict.label, verdict.reason) == (label, reason)


def test_significance_goes_with_disagreement_only():
    for label in LABELS:
        verdict = read_verdict(said(full(label, significance="high")), "structured")
        assert verdict.significance == ("high" if label in DISAGREEING else None)


def test_a_topic_goes_with_a_difference_only_and_the_word_null_means_none():
    topics = [read_verdict(said(full(label, topic="travel")), "structured").topic for label in LABELS]
    assert topics == [None, None, "travel", "travel", "travel"]
    assert read_verdict(said(full(topic="null")), "structured").topic is None


def test_an_unknown_significance_is_left_out_and_the_label_kept():
    verdict = read_verdict(said(full(significance="catastrophic")), "structured")
    assert (verdict.label, verdict.significance, verdict.parse) == ("DIVERGENT", None, "lenient")


def test_half_characters_and_control_characters_do_not_reach_the_release():
    verdict = read_verdict(said('{"reasoning": "a\\ud800b\\u0000c", "classification": "CONSISTENT"}'), "structured")
    assert verdict.reasoning == "a b c"
    verdict.reasoning.encode()


def test_a_comma_too_many_or_a_comment_costs_no_field():
    text = f"{WHOLE[:-1]},\n}}".replace('"clinical', '// waiting matters here\n"clinical')
    verdict = read_verdict(said(text), "structured")
    assert (verdict.label, verdict.significance, verdict.topic) == ("DIVERGENT", "high", "waiting time")


WORDS = st.text(alphabet=st.sampled_from("abc nothardly,.;?"), min_size=1, max_size=30).filter(lambda text: text.strip(" .,;"))


@given(st.sampled_from(LABELS), WORDS, st.sampled_from(["{words} {label}", "{label} {words}", "Label: {label} {words}"]))
def test_no_label_is_read_from_a_line_with_other_words(label, words, form):
    verdict = read_verdict(said(form.format(words=words, label=label)), "structured")
    assert (verdict.label, verdict.parse) == (None, "none")


@given(st.sampled_from(LABELS), WORDS)
def test_no_verdict_counts_after_which_the_reply_goes_on(label, words):
    assert read_verdict(said(f"Label: {label}\n{words}"), "structured").label is None
    assert read_verdict(said(f"{full(label)}\n{words}"), "structured").label is None


@given(st.text(alphabet=st.sampled_from('{}[]":,\\ \n\x01abcnullCONSISTENT01<think>/`'), max_size=200))
def test_no_text_breaks_the_parser(text):
    verdict = read_verdict(said(text), "structured")
    assert (verdict.label is None) == (verdict.reason is not None)


PRESENCE = [
    # the reply                                       addressed  parse      reason
    ('{"addressed": "YES"}',                          True,      "strict",  None),
    ('{"addressed": "NO"}',                           False,     "strict",  None),
    ('```{"addressed": "no"}```',                     False,     "lenient", None),
    ('{"addressed": "YES",}',                         True,      "lenient", None),
    ('{"addressed": "YES"} Or rather NO.',            None,      "none",    "text after the verdict"),
    ('{"addressed": "YES", "why": "it says "wait""',  True,      "label",   None),
    ("YES",                                           True,      "prose",   None),
    ("No.",                                           False,     "prose",   None),
    ("It names a dose.\n**Addressed**: yes",          True,      "prose",   None),
    ("YES: there is no need to wait.",                None,      "none",    "several labels"),
    ("YES, on one part.",                             None,      "none",    "no label"),
    ("A plain yes would go too far.",                 None,      "none",    "no label"),
    ("Yes and no.",                                   None,      "none",    "several labels"),
    ("YES or NO?",                                    None,      "none",    "several labels"),
    ("perhaps",                                       None,      "none",    "no label"),
    ("",                                              None,      "none",    "empty"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "addressed", "parse", "reason"), PRESENCE)
def test_whether_an_answer_addresses_the_question_is_read_or_unknown(text, addressed, parse, reason):
    result = read_presence(said(text))
    assert (result.addressed, result.parse, result.reason) == (addressed, parse, reason)


def test_a_failed_absence_check_is_unknown_and_not_absent():
    assert read_presence(said(None, FAILED)).addressed is None


def test_the_details_of_a_disagreement_are_read_or_left_empty():
    result = read_details(said('{"divergence_topic": "waiting time", "clinical_significance": "medium"}'))
    assert (result.topic, result.significance, result.parse) == ("waiting time", "medium", "strict")
    broken = read_details(said('{"divergence_topic": "waiting', CUT))
    assert (broken.topic, broken.significance, broken.reason) == (None, None, "cut")


@pytest.mark.parametrize("text", [full("UNSURE", "It can be read in two ways."), '{"classification": "unsure"}', "Label: UNSURE"])
def test_a_judge_that_cannot_tell_gives_no_label_and_its_reply_was_read(text):
    verdict = read_verdict(said(text), "structured")
    assert (verdict.label, verdict.reason, verdict.significance) == (None, CANNOT_TELL, None)
    assert verdict.parse != "none"


def test_a_verdict_has_its_quotes_and_why_advice_differs():
    verdict = read_verdict(
        said(full(quote_a="3 months", quote_b="a year", difference="other time", follow_both="no")), "structured"
    )
    assert (verdict.quotes, verdict.difference, verdict.follow_both) == (("3 months", "a year"), "other time", "no")


def test_only_a_disagreement_has_a_reason_why_advice_differs():
    verdict = read_verdict(said(full("CONSISTENT", quote_a="x", difference="other time", follow_both="yes")), "structured")
    assert (verdict.quotes, verdict.difference, verdict.follow_both) == (("x", None), None, None)


def test_terms_outside_the_vocabulary_are_left_out_and_the_label_stays():
    verdict = read_verdict(said(full(difference="moon phase", follow_both="perhaps", quote_b=7)), "structured")
    assert (verdict.label, verdict.parse, verdict.difference, verdict.follow_both) == ("DIVERGENT", "lenient", None, None)
    assert verdict.quotes == (None, None)


INSTRUCTIONS = load_prompts()["structured"].system


def test_an_echo_of_the_form_is_no_verdict_and_neither_is_a_loop():
    echo = "at most three sentences on what each answer says on the question"
    assert read_verdict(said(full(reasoning=echo)), "structured", INSTRUCTIONS).reason == "an echo of the instructions"
    topic = "what they differ on, in at most eight words"
    assert read_verdict(said(full(topic=topic)), "structured", INSTRUCTIONS).reason == "an echo of the instructions"
    loop = "A says rest. " + "The answer is that it is. " * 20
    assert read_verdict(said(full(reasoning=loop)), "structured", INSTRUCTIONS).reason == "one phrase over and over"
    assert read_verdict(said(WHOLE), "structured", INSTRUCTIONS).label == "DIVERGENT"
