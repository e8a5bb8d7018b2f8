"""Recognises refusals in prose, because some models decline in the text and not in the field for it."""

from __future__ import annotations

import re

# Only at the beginning: "I cannot say how long, but most people wait a month" is an answer
_OPENING = (
    r"(?:(?:i['’]?m|i am) (?:very |so |really )?sorry|i apologi[sz]e|sorry|unfortunately|"
    r"as an? (?:ai|language|virtual)\b[^,.]*)[,.;:]?\s+"
)
_CANNOT = (
    r"(?:can\s?not|can['’]?t|could not|(?:am|['’]m|are) (?:not able|unable)(?: to)?|"
    r"(?:must|have to|will|would) (?:decline|refuse)(?: to)?)"
)
_ACT = r"(?:answer|assist|help|provide|give|offer|respond|advise|diagnose|discuss|fulfil|comply)"
_NO_EVIDENCE = (
    r"(?:the|these|your) (?:given |provided |retrieved |reference )*(?:passages?|documents?|context|texts?|sources?|information)"
)
_LACKS = r"(?:provided |given )?(?:do(?:es)? not|don['’]t|doesn['’]t) (?:answer|address|contain|include|provide|mention|say)"
DECLINES = re.compile(
    rf"\W*(?:{_OPENING})*(?:but )?(?:i|we) (?:{_CANNOT}) {_ACT}\b"
    rf"|\W*(?:{_OPENING})*(?:but )?i (?:must |have to |will )?(?:decline|refuse)\b"
    rf"|\W*(?:{_OPENING})*(?:but )?{_NO_EVIDENCE} {_LACKS}\b",
    re.IGNORECASE,
)


# "I cannot diagnose you, but I can tell you ..." is an answer
GOES_ON = re.compile(r"\b(?:however|nevertheless|that said|but (?:i|we|here|they|in general))\b", re.IGNORECASE)


def declines(text: str) -> bool:
    """Whether the text begins with a refusal ("I'm sorry, but I cannot answer ...") and gives no answer after it."""
    opening = DECLINES.match(text.strip())
    return opening is not None and GOES_ON.search(text.strip(), opening.end()) is None
