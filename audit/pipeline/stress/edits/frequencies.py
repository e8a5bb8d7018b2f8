"""Rules that change how often something happens: once a day, every two weeks, monthly, usually."""

from __future__ import annotations

import re
from collections.abc import Iterator

from audit.pipeline.stress.edits.replacements import FREQUENCY, Replacement, replacement
from audit.text.quantity import find_quantities
from audit.text.units import ADVERBS, INTERVAL, any_of

# Either of "often" and "usually" could fill a gap, so a question names both words; it can ask for an interval
INTERVAL_NOUN, HABIT_NOUN = "frequency", "words"
ADVERB_SWAPS = {
    "hourly": "daily", "daily": "weekly", "nightly": "weekly", "weekly": "monthly", "biweekly": "daily", "monthly": "weekly",
    "quarterly": "weekly", "yearly": "monthly", "annually": "monthly", "annual": "monthly",
}  # fmt: skip
TIMES_SWAPS = {
    "once": "three times", "twice": "six times", "three times": "once", "3 times": "once", "four times": "once", "4 times": "once"
}  # fmt: skip
PERIOD_SWAPS = {"hour": "day", "day": "week", "week": "month", "month": "week", "year": "month"}
TIMES = re.compile(rf"^(?:{any_of(TIMES_SWAPS)})\b", re.I)
PERIOD = re.compile(rf"\b(?P<unit>{'|'.join(PERIOD_SWAPS)})(?P<plural>s?)$", re.I)
ADVERB = re.compile(rf"^(?:{any_of(ADVERBS)})$", re.I)
# "How often" and "more often" do not say how often; "commonly known as" is about a name
DEGREE = re.compile(r"\b(?:how|more|less|most|least|as|too|very|so|not|n't|never|quite|equally|than|if|and|or)\s+$", re.I)
NOT_A_HABIT = re.compile(r"\s+(?:known|called|referred|termed|used|speaking|healthy|well|accepted|enough|as|than)\b", re.I)
HABITS = {
    "usually": "rarely", "often": "rarely", "frequently": "rarely", "typically": "rarely", "generally": "rarely",
    "commonly": "rarely", "rarely": "often", "seldom": "often", "infrequently": "often", "always": "never", "never": "always",
    "sometimes": "never", "occasionally": "never",
}  # fmt: skip
HABIT = re.compile(rf"\b(?:{any_of(HABITS)})\b", re.I)
# "But sometimes a stone will not go away": "never" would need another word order
BEFORE_SUBJECT = re.compile(
    r",|\s+(?:an?|the|it|they|he|she|you|we|this|these|those|people|doctors|patients|there|if|when|even|no|not)\b"
)
OPEN = re.compile(r"\b(?:not|no|never|nor|cannot|without|may|might|could|some)\b|n['’]t\b", re.I)
# "Your daily environment" is not an interval
OWN = re.compile(r"\b(?:your|his|her|their|our|my|everyday)\s+$", re.I)
PEOPLE = "people|patients|cases|women|men|children|adults|babies|infants|individuals|families|persons|tumors|cancers"
MOST = re.compile(rf"(?<!at )\b(?:most)(?=\s(?:{PEOPLE})\b)|\bfew(?=\s(?:{PEOPLE})\b)", re.I)


def frequency_replacements(text: str, start: int, end: int) -> Iterator[Replacement]:
    """The frequencies of a statement (characters `start` to `end` of the document) that can be changed."""
    for quantity in find_quantities(text):
        if start <= quantity.start and quantity.end <= end and quantity.dimension == INTERVAL and not quantity.vague:
            stretch = text[quantity.start : quantity.end]
            is_idiom = OWN.search(text, start, quantity.start) is not None
            if not is_idiom and (changed := _other_interval(stretch)) and text.count(stretch) == 1:
                yield replacement(FREQUENCY, text, quantity.start, quantity.end, changed, INTERVAL_NOUN)
    for match in HABIT.finditer(text, start, end):
        after = HABITS[match.group().lower()]
        is_first = after == "never" and BEFORE_SUBJECT.match(text, match.end(), end) is not None
        if (
            not is_first
            and not _is_open(text, start, match.start())
            and not DEGREE.search(text, start, match.start())
            and not NOT_A_HABIT.match(text, match.end())
        ):
            yield replacement(FREQUENCY, text, *match.span(), after, HABIT_NOUN)
    for match in MOST.finditer(text, start, end):
        is_part = re.search(r"\b(?:the|a|of|very|only|too|so)\s+$", text[start : match.start()], re.I)
        if not is_part and not _is_open(text, start, match.start()):
            yield replacement(FREQUENCY, text, *match.span(), "few" if match.group().lower() == "most" else "most", HABIT_NOUN)


def _is_open(text: str, start: int, end: int) -> bool:
    return OPEN.search(text, start, end) is not None


def _other_interval(stretch: str) -> str | None:
    """Another interval in the same form: "twice a day" becomes "six times a day", "every 2 weeks" becomes "every 2 months"."""
    if ADVERB.match(stretch):
        return ADVERB_SWAPS.get(stretch.lower())
    if times := TIMES.match(stretch):
        return TIMES_SWAPS[times.group().lower()] + stretch[times.end() :]
    if period := PERIOD.search(stretch):
        return stretch[: period.start()] + PERIOD_SWAPS[period["unit"].lower()] + period["plural"]
    return None
