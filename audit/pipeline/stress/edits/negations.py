"""Rules that negate an assertion or remove a negation, by changing only the words for "not"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from audit.pipeline.stress.edits.replacements import NEGATION, Replacement, replacement

NOUN = "words"
AUXILIARY = "is|are|was|were|has|have|had|does|do|did|should|must|will|would|can|could"
# "Did not differ" becomes "did differ": the verb keeps its form
DENIED = re.compile(rf"\b(?P<auxiliary>{AUXILIARY})\s+not\s+(?!only|just|necessarily|always|all|yet|every|enough|to\b)", re.I)
CONTRACTED = re.compile(r"\b(?P<auxiliary>is|are|was|were|has|have|had|does|do|did|should|must)n['’]t\s+(?!only|always)", re.I)
CANNOT = re.compile(r"\bcannot\s+(?!only|always)", re.I)
COUNTED_NOUN = r"difference|association|correlation|change|effect|increase|decrease|relationship|improvement|reduction|risk"
PLAIN_NOUN = r"evidence|symptoms|signs|complications|improvement|differences|associations|correlations|changes|effects"
ADJECTIVES = r"(?:(?:statistically|clinically)\s)?(?:significant|clear|known|major|specific|single|proven|apparent|appreciable)\s"
NO_SINGULAR = re.compile(
    rf"\bno\s(?={ADJECTIVES}(?:cause|cure|way|treatment|{COUNTED_NOUN})\b|cure\b|(?:{COUNTED_NOUN})\b)", re.I
)
NO_PLURAL = re.compile(rf"\bno\s(?=(?:{ADJECTIVES})?(?:{PLAIN_NOUN})\b)", re.I)
WITHOUT = re.compile(
    r"\bwithout(?=\s(?!any\b|an?\b|the\b|it\b|them\b|this\b|that\b|\w+ing\b|regard|exception|further)[a-z]+\b)", re.I
)
OPEN = re.compile(r"\b(?:may|might|can|could|perhaps|possibly|suggest\w*)\b", re.I)
# Words that only follow a negation: "we are aware of any evidence" is not English
NEEDS_DENIAL = re.compile(r"\b(?:any|anyone|anything|either|yet|at all|until|ever|much)\b", re.I)
# Two negations in one sentence may depend on each other, and an expression of doubt cannot be reversed
SECOND_DENIAL = re.compile(r"\b(?:not|no|nor|neither|never|none|without|cannot|unless|although|however|but|or)\b|n['’]t\b", re.I)
# Verbs that assert something of every subject; not "may" or "can", which leave it open, nor "some", which is not all
# In lower case: "IS" may be the abbreviation of infantile spasms
ASSERTED = re.compile(r"\b(?P<auxiliary>is|are|was|were|should|must|will|has been|have been)\b(?=\s+[a-z])")
FOR_SOME = re.compile(r"\b(?:some|many|several|certain|other|others|sometimes|often)\b", re.I)
SUBORDINATE = re.compile(
    r"\b(?:if|when|whenever|that|which|who|whose|whom|where|while|because|although|though|since|unless|until|after|before|as|than|"
    r"why|how|what|there|and|or|but|both|either|neither|including)\b|[;:()–—]",
    re.I,
)
SOME = re.compile(
    r"^\W*(?:some|many|most|several|few|a few|a number|one|another|other|others|not|no|all|each|every|about|approximately|at|"
    r"up to|more|less|over|half|only|any|sometimes|often|\d+)\b",
    re.I,
)
UNFIT_AFTER = re.compile(
    r"\s+(?:not|no|never|also|often|sometimes|rarely|either|only|both|still|now|one|mostly|mainly|primarily|usually|generally|"
    r"typically|un\w+|in\w+ous|neither|none|likely|then|followed|performed|conducted|collected|obtained|made|done|as|to be|more|"
    r"less|thought|believed|estimated|called|named|known|divided|recorded|undertaken|carried|analy[sz]ed|reviewed|calculated|"
    r"measured|assessed|evaluated|examined|compared|investigated|studied|identified|retrieved|searched|"
    r"written|defined|described|classified|grouped|listed)\b",
    re.I,
)
# Advice, the most common kind of statement in a handbook
IMPERATIVE = re.compile(
    r"\W*(?P<verb>Call|Take|Eat|Drink|Wash|Use|Wear|Keep|Tell|Ask|Stop|Check|Follow|Bring|Clean|Limit|Visit|Wait|Store|Rinse|Apply)\s+"
    r"(?=[a-z])"
)
# Methods of a study, in the passive: negating them gives an odd report and not a different finding
DONE = re.compile(
    r"\s+(?:\w+ly\s+)?(?!(?:associat|correlat|relat|affect|influenc|improv|increas|reduc|decreas|limit|detect|observ|need|requir|recommend|"
    r"indicat|confirm|link|caus|prevent|elevat|impair|involv|inherit)ed)(?:\w+ed|taken|given|drawn|shown|chosen|sent|held|set|split|"
    r"built|undergone|put|asked)\b",
    re.I,
)
# With a longer subject, the verb probably belongs to another clause
MAX_SUBJECT_WORDS = 9


def negation_replacements(text: str, start: int, end: int) -> Iterator[Replacement]:
    """The negations of a statement (characters `start` to `end` of the document) removed, or its only assertion negated."""
    statement = text[start:end]
    # "You may have no symptoms" does not exclude symptoms, and what many do not do, many others may do
    denials = [
        change
        for change in _undone(statement)
        if not (OPEN.search(statement, 0, change[0]) or FOR_SOME.search(statement, 0, change[0]))
        and not NEEDS_DENIAL.search(statement, change[1])
    ]
    if len(SECOND_DENIAL.findall(statement)) > 1 and len(denials) != 1:
        return
    # With several negations, removing one would leave the others in place
    if not denials and not SECOND_DENIAL.search(statement):
        denials = list(_denied(statement))
    elif len(denials) > 1 or _hangs_together(statement):
        return
    for first, last, after in denials:
        yield replacement(NEGATION, text, start + first, start + last, after, NOUN)


def _hangs_together(statement: str) -> bool:
    return len(re.findall(r"\b(?:not|no|nor|neither|never|none|without|cannot)\b|n['’]t\b", statement, re.I)) > 1


def _undone(statement: str) -> Iterator[tuple[int, int, str]]:
    for match in (*DENIED.finditer(statement), *CONTRACTED.finditer(statement)):
        yield match.start(), match.start() + len(match.group().rstrip()), match["auxiliary"]
    for match in CANNOT.finditer(statement):
        yield match.start(), match.start() + len("cannot"), "can"
    for match in WITHOUT.finditer(statement):
        if not re.search(r"\b(?:with|or|and)\s+(?:or\s+)?$", statement[: match.start()], re.I):
            yield *match.span(), "with"
    yield from _without_no(statement)


def _without_no(statement: str) -> Iterator[tuple[int, int, str]]:
    """Turns "no difference" into "a difference", and "no differences" into "differences"."""
    for match in NO_SINGULAR.finditer(statement):
        yield match.start(), match.start() + 2, "an" if statement[match.end()] in "aeio" else "a"
    for match in NO_PLURAL.finditer(statement):
        word = re.compile(r"\w+").match(statement, match.end())
        if word and not NO_SINGULAR.match(statement, match.start()):
            yield match.start(), word.end(), word.group()


def _denied(statement: str) -> Iterator[tuple[int, int, str]]:
    """The verb of the main clause with "not"."""
    if imperative := IMPERATIVE.match(statement):
        yield *imperative.span("verb"), f"do not {imperative['verb'].lower()}"
        return
    verb = ASSERTED.search(statement)
    if verb is None or SOME.match(statement) or FOR_SOME.search(statement) or UNFIT_AFTER.match(statement, verb.end()):
        return
    if verb["auxiliary"].lower() in ("was", "were", "has been", "have been") and DONE.match(statement, verb.end()):
        return
    subject = statement[: verb.start()]
    if not subject.strip() or SUBORDINATE.search(subject) or "," in subject or len(subject.split()) > MAX_SUBJECT_WORDS:
        return
    first, _, rest = verb.group().partition(" ")
    yield *verb.span(), f"{first} not {rest}".rstrip()
