"""Scores of replies to stress tests: exact match and token F1 of short answers, and the share of right calls on documents.

Source of the tests: MedRGB (arXiv:2411.09213). It gives no formula for noise and factual-error detection; ours are: the detection
of a reply is the number of correctly called documents over all called documents, and a figure is the mean over replies. It is
defined at every share of signal: with nothing but noise it is the share of noise that was noticed, with nothing but signal the
share that was kept. A reader who calls everything relevant has detection p, one who calls nothing relevant 1 - p; so read it
together with `found` (of what is noise or wrong, the share that was called so) and `kept` (of what is signal or right, the share
that was called so), which are undefined at one end each. Its sub-answers name the document that they are from; whether that is
the right one is not measured there, and is here: of the sub-answers that name a document, the share that name the one from which
the sub-question was made.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from enum import StrEnum


class StressMeasure(StrEnum):
    """The measures of stress tests, in the order of tables."""

    ACCURACY = "accuracy"
    INSUFFICIENT = "insufficient"
    NOISE_DETECTION = "noise_detection"
    NOISE_FOUND = "noise_found"
    SIGNAL_KEPT = "signal_kept"
    ERROR_DETECTION = "error_detection"
    ERRORS_FOUND = "errors_found"
    FACTS_KEPT = "facts_kept"
    SUB_EXACT = "sub_exact"
    SUB_SCORE = "sub_score"
    SUB_F1 = "sub_f1"
    SUB_DOCUMENT = "sub_document"
    OPEN_SCORE = "open_score"
    OPEN_F1 = "open_f1"
    UNREAD = "unread"


ARTICLES = re.compile(r"\b(?:a|an|the)\b")
PUNCTUATION = str.maketrans(dict.fromkeys(string.punctuation.replace(".", "").replace("%", ""), " "))
# A full stop between digits is part of a number, and any other ends a sentence
FULL_STOP = re.compile(r"\.(?!\d)|(?<!\d)\.")
# "5 mg" and "5mg", "3-day" and "3 day" are the same answer
GLUED = re.compile(r"(?<=\d)(?=[^\W\d_]|%)")


def normal_answer(text: str) -> str:
    """A short answer in the form in which two are compared: lower case, without articles, punctuation and double spaces.

    Source: the normalisation of SQuAD (Rajpurkar et al. 2016), except that decimal points stay and an amount is apart from its
    unit.
    """
    plain = GLUED.sub(" ", FULL_STOP.sub(" ", text.casefold()).translate(PUNCTUATION))
    return " ".join(ARTICLES.sub(" ", plain).split())


def exact_match(answer: str, expected: str) -> bool:
    """Whether two short answers are the same after normalisation; an empty answer is never right."""
    normal = normal_answer(answer)
    return bool(normal) and normal == normal_answer(expected)


def token_f1(answer: str, expected: str) -> float:
    """The F1 of the words of an answer against those expected, in [0, 1]: 0 without a common word.

    Source: Rajpurkar et al. (2016), SQuAD, section 6.1.
    """
    answered, wanted = normal_answer(answer).split(), normal_answer(expected).split()
    common = (Counter(answered) & Counter(wanted)).total()
    return 2 * common / (len(answered) + len(wanted)) if common else 0.0
