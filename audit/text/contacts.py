"""Contacts and credits in a text: telephone numbers, e-mail, web and postal addresses, and lines that name a source.

Each of them identifies the source as a name does. A dose, a date, 911 or 100.4 is not a contact: if digits can be both, a
unit after them or a round number decides for a quantity, and a word before them such as `call` for a telephone number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from audit.text.units import UNITS

Span = tuple[int, int]

COUNTED = "calories kcal iu steps cells copies people patients percent cases deaths mm3 points beats drops doses cfu meq mmol"
UNIT_WORDS = "|".join(sorted(map(re.escape, {*UNITS, *COUNTED.split(), "units"}), key=len, reverse=True))
UNIT_AFTER = re.compile(rf"\s?-?(?:[%°$€£µμ]|(?:{UNIT_WORDS})\b)", re.IGNORECASE)
# Words before seven digits that make them a telephone number; "call if it is above 100-1500" announces none
CUE = re.compile(
    r"\b(?:call|phone|telephone|tel|dial|text|fax|pager|contact|hotline|helpline|line|office|number|reach|clinic)\b[\W_]{0,3}"
    r"(?:(?!if|when|for|above|below|over|under|about|is\b)[a-z]+[\W_]{1,3}){0,3}$",
    re.IGNORECASE,
)
CUE_REACH = 60
ROUND = 50
"""Ends of dose ranges such as 500-1000 are multiples of it; most telephone numbers are not."""
DATE = re.compile(r"\(?(?:\d{1,2}([-./ ])\d{1,2}\1(?:19|20)\d{2}|(?:19|20)\d{2}([-./])\d{1,2}\2\d{1,2})")

EMAIL = re.compile(
    r"(?<![\w.+%-])[\w.+%-]+(?:@[\w-]+(?:\.[\w-]+)+| ?[\[(]at[\])] ?[\w-]+(?: ?(?:\.|[\[(]dot[\])]) ?[\w-]+)+)|(?<!\w)@\w{3,}"
)
# "daily.no alcohol" has lost a space and is no address, so the rarer endings need a path or another label before them
HOST = r"(?<![\w@.-])(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+"
PATH = r"(?![\w-])(?::\d+)?(?:[/?#][^\s<>\"]*)?"
WEB = re.compile(
    r"\b(?:https?|ftp)://?\s?[^\s<>\"]+|\bwww\d?\.\s?[^\s<>\"]+"
    rf"|{HOST}(?:(?:com|org|net|edu|gov|mil)(?:\.[a-z]{{2}})?|(?:COM|ORG|NET|EDU|GOV)|(?:co|ac|nhs|org)\.uk){PATH}"
    rf"|{HOST}(?:info|int|health|hospital|clinic|care|eu|uk|ca|au|nz|ie|de|ch|fr|nl|es|dk|fi|jp|in|za|sg|ly|me|io)/[^\s<>\"]*"
)

NO_NUMBER_BEFORE = r"(?<![\w.,$€£+-])"
EXTENSION = r"(?:[\s,;]*\(?(?:ext(?:ension)?\.?|x|#)\s?\d{1,6}\b\)?)?"
TEN_DIGITS = re.compile(
    rf"{NO_NUMBER_BEFORE}(?:\+?1[-. /]{{0,2}})?(?:\([2-9]\d\d\)|[2-9]\d\d)[-. /]{{0,3}}\d{{3}}[-. ]{{0,3}}\d{{4}}(?!\d|[.,]\d)"
    + EXTENSION
)
SEVEN_DIGITS = re.compile(rf"(?<![\w.,$€£+/-])\d{{3}}([-. ])\d{{4}}(?!\w|[-.,/]\d){EXTENSION}")
INTERNATIONAL = re.compile(rf"(?<![\w+.])(?:\+|00)[1-9](?:[ ().\-/]{{0,3}}\d){{6,14}}(?!\d){EXTENSION}")
# London, Göttingen, Paris: a zero, then groups of digits
NATIONAL = re.compile(rf"(?<![\w.,/+-])\(?0\d{{1,5}}\)?(?:[-/ .]{{1,3}}\d{{2,8}}){{1,5}}(?!\d|[.,]\d){EXTENSION}")
VANITY = re.compile(r"(?<![\w-])(?:1[-.])?8(?:00|33|44|55|66|77|88)[-.](?=(?:-?[0-9A-Z]){7})[0-9A-Z]+(?:-[0-9A-Z]+)*\b")
ANNOUNCED = re.compile(
    r"\b(?:phone|tel|telephone|fax|pager|beeper|hotline|helpline)\b\.?(?: ?(?:number|no\.?|#))? ?:? ?#?\(?\+?"
    r"\d[\d ().\-/]{1,18}\d|\b(?:ext\.|extension|pager|beeper)(?: ?(?:number|no\.?|#|:))? ?#?\d{3,6}\b",
    re.IGNORECASE,
)

# Bounded and from a word's beginning: a page of capitals would otherwise be read again from each of its letters
WORD, ZIP = r"(?<!\w)[A-Z][\w'.-]{0,40}", r",?\s[A-Z]{2},?\s\d{5}(?:-\d{4})?\b"
STREET = r"(?:Street|St\.|Avenue|Ave\.?|Road|Rd\.?|Boulevard|Blvd\.?|Drive|Lane|Ln\.?|Parkway|Pkwy\.?|Highway|Square|Terrace|Way)"
FLOOR, TOWN = r"(?:,?\s(?:Suite|Ste\.?|Floor|Room|Building|Box|#) ?[\w-]+)?", rf"(?:,?\s(?![A-Z]{{2}}\b){WORD}){{0,3}}"
POSTAL = re.compile(
    rf"(?<![\w.])\d{{1,5}}[A-Za-z]? (?:[NSEW]\.? )?(?:(?:{WORD}|\d{{1,3}}(?:st|nd|rd|th)) ){{1,4}}{STREET}(?!\w)"
    rf"(?:,? (?:[NS][EW]|[NSEW])\b\.?)?{FLOOR}{TOWN}(?:{ZIP})?"
    rf"|\bP\.? ?O\.? Box \d+{TOWN}(?:{ZIP})?|(?:{WORD}\s){{0,2}}{WORD}{ZIP}"
    r"|\b[A-Z][a-z-]+(?:stra(?:ß|ss)e|str\.|-Str\.|weg|platz|allee) ?\d{1,4}[a-z]?\b(?:,? \d{5} [A-Z]\w+)?"
)

ORGANISATIONS = (
    r"\b(?:Agency|Administration|Association|Centers?|Centres?|Clinics?|College|Department|Foundation|Hospitals?|Institutes?|"
    r"Library|Network|Office|Organi[sz]ation|School|Services?|Society|Trust|University)\b"
)
# To the end of the sentence; the dots of "St. Jude" and "J. Doe" do not end one
SENTENCE_REST = r"(?:[^.!?\n]|\.(?!\s|$)|(?<=\b[A-Z][a-z])\.|(?<=\b[A-Z])\.)*[.!?]?"
CREDIT = re.compile(
    r"(?:\b(?i:adapted|modified|translated|excerpted|taken)(?i: with permission)? from\b(?=\s+(?:the\s+)?[A-Z\[\"©])"
    r"|\b(?i:reprinted|reproduced|republished)\b|\b(?i:(?:used )?with (?:the )?(?:kind |written )?permission (?:of|from))\b"
    r"|\b(?i:used (?:with|by) permission)\b|\b(?i:courtesy of)\b|©|\([cC]\)\s?(?:19|20)\d{2}"
    r"|\b[Cc](?:opyright|OPYRIGHT)\b(?=\s?(?:©|\(c\)|by|[12]\d{3}|[A-Z]))|\b(?i:all rights reserved)\b)" + SENTENCE_REST
)
SOURCE = re.compile(
    r"(?:(?<=\n)|(?<=[.!?)\]] )|^)[\W_]{0,3}(?:Data |Image |Photo )?(?:Sources?|References?|Credits?) ?:" + SENTENCE_REST
)
CAPITALISED = r"(?:[A-Z][\w'-]*|and|of|on|for|the|in|&)(?![\w'-])"
# An organisation as the last words of a line, without a verb or a full stop: "NIH: National Institute on Aging"
LAST_WORDS = re.compile(
    rf"\b[A-Z]{{2,10}}:\s(?=[^.!?\n]{{0,200}}{ORGANISATIONS}){CAPITALISED}(?:,? {CAPITALISED}){{0,25}}(?=\s*(?:\n|$))"
)
NAMED_SOURCE = re.compile(rf"{ORGANISATIONS}|\b(?:19|20)\d{{2}}\b|\b[A-Z]{{3,}}\b")


def contacts(text: str) -> Iterator[Span]:
    """Where a folded text has a telephone number, or an e-mail, web or postal address."""
    for pattern, accepts in CONTACTS:
        for match in pattern.finditer(text):
            if accepts(match):
                # A sentence may end in an address; a bracket belongs to it where it was opened in it.
                yield match.start(), match.start() + len(match[0].rstrip(".,;:!?' \n" + ("" if "(" in match[0] else ")")))


def credits(text: str, is_named: Callable[[int, int], bool]) -> Iterator[Span]:
    """Where a folded text gives its source: "Source: ...", "Reprinted with permission of ...", a copyright line.

    is_named  whether a name or a contact was found between two places: "Sources: milk, eggs" names no author
    """
    yield from (match.span() for pattern in (CREDIT, LAST_WORDS) for match in pattern.finditer(text))
    for match in SOURCE.finditer(text):
        if is_named(*match.span()) or NAMED_SOURCE.search(match[0]):
            yield match.span()


def _no_unit(match: re.Match[str]) -> bool:
    return UNIT_AFTER.match(match.string, match.end()) is None


def _is_national(match: re.Match[str]) -> bool:
    return 9 <= sum(map(str.isdigit, match[0])) <= 14 and not DATE.match(match[0]) and _no_unit(match)


def _is_local(match: re.Match[str]) -> bool:
    """Three and four digits: a dose range such as 500-1000 is written alike."""
    last, start = match[0][4:8], match.start()
    announced = CUE.search(match.string, max(0, start - CUE_REACH), start) is not None or len(match[0]) > len("555-0110")
    return _no_unit(match) and (announced or (match[1] == "-" and (last[0] == "0" or int(last) % ROUND > 0)))


CONTACTS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], bool]], ...] = (
    (EMAIL, bool),
    (WEB, bool),
    (TEN_DIGITS, _no_unit),
    (INTERNATIONAL, _no_unit),
    (NATIONAL, _is_national),
    (VANITY, _no_unit),
    (SEVEN_DIGITS, _is_local),
    (ANNOUNCED, _no_unit),
    (POSTAL, bool),
)
