"""Replies in the layout that MedRGB's own prompts ask for (arXiv:2411.09213; ngotrnghia1811/MedRGB), with our keys.

{"relevant_doc_id": [1], "irrelevant_doc_id": [2, 3], "step_by_step_thinking": "...", "answer_choice": "A"}
{"sub_1": {"relevant_doc_id": 2, "factual_correctness": "false", "answer": "..."}, "main": {"answer_choice": "A", ...}}
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from audit.vocabulary import DocumentCall, plain

MAIN, CALLED = "main", {"relevantdocid": DocumentCall.RELEVANT, "irrelevantdocid": DocumentCall.NOISE}
"""Keys in their plain spelling: of the part on the question itself, and of the documents that are called something."""
SUB_QUESTION = re.compile(r"sub(?:question)?(\d+)")
CORRECTNESS = {"true": DocumentCall.FACTUAL, "false": DocumentCall.WRONG}
Entry = dict[str, Any]


def is_in_layout(key: str) -> bool:
    """Whether a key is one of the layout that ours does not have."""
    return plain(key) == MAIN or plain(key) in CALLED or SUB_QUESTION.fullmatch(plain(key)) is not None


def in_our_layout(value: Mapping[str, Any]) -> dict[str, Any]:
    """A reply with the keys `documents` and `sub_answers`, and those of its part on the question; any other as it is."""
    named = {plain(key): part for key, part in value.items()}
    rest = {key: part for key, part in value.items() if not is_in_layout(key)}
    main = named.get(MAIN)
    rest |= main if isinstance(main, Mapping) else {}
    calls = [*_calls(named), *(call for part in _sub_questions(named).values() for call in _correctness(part))]
    answers = [_answer(number, part) for number, part in _sub_questions(named).items()]
    return rest | ({"documents": calls} if calls else {}) | ({"sub_answers": answers} if answers else {})


def _calls(named: Mapping[str, Any]) -> Iterator[Entry]:
    for key, call in CALLED.items():
        documents = named.get(key)
        yield from ({"number": one, "call": str(call)} for one in (documents if isinstance(documents, list) else []))


def _sub_questions(named: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Number of a sub-question -> what is said of it, by plain keys."""
    numbered = {match[1]: part for key, part in named.items() if (match := SUB_QUESTION.fullmatch(key))}
    return {n: {plain(key): value for key, value in part.items()} for n, part in numbered.items() if isinstance(part, Mapping)}


def _document(part: Mapping[str, Any]) -> Any:
    return part.get("docid", part.get("relevantdocid"))


def _correctness(part: Mapping[str, Any]) -> Iterator[Entry]:
    if "factualcorrectness" in part and _document(part) is not None:
        call = CORRECTNESS.get(plain(str(part["factualcorrectness"])))
        yield {"number": _document(part), "call": str(call or part["factualcorrectness"])}


def _answer(number: str, part: Mapping[str, Any]) -> Entry:
    return {"number": number, "document": _document(part), "answer": part.get("answer")}
