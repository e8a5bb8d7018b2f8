"""Rules that reverse a direction: higher and lower, increase and decrease, before and after."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from audit.pipeline.stress.edits.replacements import DIRECTION, Replacement, replacement

NOUN = "direction"
GRADED = (
    "likely|common|commonly|often|frequent|frequently|severe|severely|effective|effectively|accurate|sensitive|specific|important|"
    "rapid|rapidly|quickly|slowly|difficult|easily|serious|aggressive|expensive|prevalent|successful|useful|beneficial|painful|"
    "pronounced|active|advanced|susceptible|reliable|favou?rable|stable|than"
)
OUTCOMES = "than|outcomes?|results?|survival|function|scores?|quality|prognosis|performance|control|health|response"
ADJECTIVE_BEFORE = (
    r"(?:is|are|was|were|be|been|significantly|much|slightly|markedly|substantially|a|an|have|has|had|with|the|of|in|at)"
)


class Opposite(NamedTuple):
    """A word, its opposite, and the required or excluded context before and after it (patterns; empty: anything)."""

    word: str
    other: str
    after: str = ""
    not_after: str = ""
    before: str = ""
    not_before: str = ""


MEASURED = "school|education|income|blood|cholesterol|density|lipoprotein|back|birth|quality"
PART_OF_BODY = (
    "back|legs?|limbs?|extremit|gastro|lobes?|abdom|eyelid|respirat|urinary|jaw|esophag|body|part|end|bound|limit|class|gi|airway|"
    "intestin|uter|spine|lip|teeth|quartile|tertile|third|half|middle"
)
NOT_QUANTIFIED = r"(?:one or|or|and|no|not|any|once|much|even|learn|the|two|three|years? or)"
# "Patients with increased pressure" are one group of several; "associated with increased pressure" is a finding
HAVING = r"(?<!associated )(?<!linked )(?<!correlated )with"
PREDICATE = "is|are|was|were|a|an|very|relatively|extremely|quite|fairly"
# "After adjustment for age" describes how a figure was calculated
CALCULATED = "adjust|control|all|that|which|correct|and|exclu|stratif|account|multiv|univ|matching"
NAMES_WITH_COMMON = "cold|bile|name|ancestor|carotid|to|variable|sense|femoral|iliac|names|polymorph|variant|and|in all|for"
# Each pair is used in both directions; the last four fields belong to the first word of a line
PAIRS: tuple[Opposite, ...] = (
    Opposite("higher", "lower", not_after=MEASURED),
    Opposite("lower", "higher", not_after=PART_OF_BODY, before=ADJECTIVE_BEFORE),
    Opposite("lower", "raise", before=r"(?:to|will|helps?|should|must)", not_after=PART_OF_BODY),
    Opposite("lowers", "raises"), Opposite("raises", "lowers", not_after="questions?|concerns?|awareness|the question|money"),
    Opposite("lowered", "raised"),
    Opposite("highest", "lowest"), Opposite("lowest", "highest"),
    Opposite("increase", "decrease", not_after="awareness|understanding"), Opposite("decrease", "increase"),
    Opposite("increases", "decreases"), Opposite("decreases", "increases"),
    Opposite("increased", "decreased", not_before=HAVING), Opposite("decreased", "increased", not_before=HAVING),
    Opposite("increasing", "decreasing"), Opposite("decreasing", "increasing"),
    Opposite("increasingly", "decreasingly", after="common|popular|important|rare"),
    Opposite("reduce", "increase", not_after="or"), Opposite("reduces", "increases", not_after="or"),
    Opposite("reduced", "increased", not_before=HAVING, not_after="or"),
    Opposite("reducing", "increasing"), Opposite("reduction", "increase", after="in|of"),
    Opposite("reductions", "increases", after="in|of"),
    Opposite("improve", "worsen", not_after="or"), Opposite("improves", "worsens", not_after="or"),
    Opposite("improved", "worsened"), Opposite("improving", "worsening"), Opposite("improvement", "worsening", after="in|of"),
    Opposite("worsen", "improve"), Opposite("worsens", "improves"), Opposite("worsened", "improved"),
    Opposite("more", "less", after=GRADED, not_before=NOT_QUANTIFIED),
    Opposite("less", "more", after=GRADED, not_before="more or|or"), Opposite("fewer", "more", not_before="or|no"),
    Opposite("most", "least", after=GRADED.removesuffix("|than")),
    Opposite("greater", "smaller", not_before="or", not_after="than|trochanter|curvature|saphen|omentum"),
    Opposite("greater than", "less than"),
    Opposite("larger", "smaller"), Opposite("smaller", "larger"),
    Opposite("largest", "smallest"), Opposite("smallest", "largest"),
    Opposite("longer", "shorter", not_before="no|any|or"), Opposite("shorter", "longer", not_before="or"),
    Opposite("older", "younger", after="than"), Opposite("younger", "older", after="than"),
    Opposite("better", "worse", after=OUTCOMES), Opposite("worse", "better", after=OUTCOMES),
    Opposite("faster", "slower"), Opposite("slower", "faster"), Opposite("stronger", "weaker"), Opposite("weaker", "stronger"),
    Opposite("superior", "inferior", after="to"), Opposite("inferior", "superior", after="to"),
    Opposite("earlier", "later", not_after="studies|study|work|reports?|research"),
    Opposite("later", "earlier", not_before="or|sooner or"),
    Opposite("before", "after", not_after="you|we|adjust|and|multiv"),
    Opposite("after", "before", not_after=CALCULATED, not_before="look|looks|named|day|year|shortly|soon|long|called|and"),
    Opposite("positively", "negatively", after="correlat|associat|relat|influenc|affect"),
    Opposite("negatively", "positively", after="correlat|associat|relat|influenc|affect"),
    Opposite("positive", "negative", after="correlation|association|relationship"),
    Opposite("negative", "positive", after="correlation|association|relationship"),
    Opposite("rare", "common", before=PREDICATE, not_after="variant|disease database|and|but"),
    Opposite("common", "rare", before=PREDICATE, not_after=NAMES_WITH_COMMON),
    Opposite("uncommon", "common", before=PREDICATE),
    Opposite("dominant", "recessive", before="autosomal|X-linked"),
    Opposite("recessive", "dominant", before="autosomal|X-linked"),
)  # fmt: skip
BY_WORD: dict[str, list[Opposite]] = {}
for _pair in PAIRS:
    BY_WORD.setdefault(_pair.word, []).append(_pair)
WORD = re.compile(rf"(?<![\w-])(?:{'|'.join(sorted(map(re.escape, BY_WORD), key=len, reverse=True))})(?![\w-])", re.I)
# Where a direction is doubted, negated or requested, its opposite need not be false
OPEN = re.compile(
    r"\b(?:may|might|could|can|possibl[ey]|perhaps|if|would|not|no|nor|neither|never|without|unless|seems?|suggest\w*|expected|"
    r"trying|goal|try|depend\w*|cannot|whereas|either|rather|some)\b|n['’]t\b",
    re.I,
)

# Higher levels may indicate cancer, and so may lower ones
POSSIBLE = re.compile(r"\b(?:may|might)\b", re.I)


def direction_replacements(text: str, start: int, end: int) -> Iterator[Replacement]:
    """The directions of a statement (characters `start` to `end` of the document), reversed.

    A word is not changed where the statement also has its opposite, or where it is doubted or negated.
    """
    for match in WORD.finditer(text, start, end):
        word = match.group().lower()
        if OPEN.search(text, start, match.start()) or POSSIBLE.search(text, start, end):
            continue
        rule = next((rule for rule in BY_WORD[word] if _fits_context(rule, text, match)), None)
        if word in ("dominant", "recessive") and len(re.findall(rf"\b{word}\b", text, re.I)) > 1:
            continue
        if rule and not re.search(rf"\b{rule.other}\b", text[start:end], re.I):
            yield replacement(DIRECTION, text, *match.span(), rule.other, NOUN)


def _fits_context(rule: Opposite, text: str, match: re.Match[str]) -> bool:
    before, after = text[max(0, match.start() - 24) : match.start()], text[match.end() : match.end() + 30]
    return (
        (not rule.before or re.search(rf"\b(?:{rule.before})\s+$", before, re.I) is not None)
        and (not rule.after or re.match(rf"\s+(?:{rule.after})", after, re.I) is not None)
        and not (rule.not_before and re.search(rf"\b(?:{rule.not_before})\s+$", before, re.I))
        and not (rule.not_after and re.match(rf"\s+(?:{rule.not_after})", after, re.I))
    )
