"""The patterns of quantities in a text: one for each rule, tried in the order of `RULES` at every word.

The text is lower case with plain hyphens (`audit.text.tokens.plain_text`). The rule "skip" takes what looks like a quantity
but is not: dates, telephone numbers, list and footnote markers, "type 2", "chromosome 7".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from audit.text.units import ADVERBS, DECADES, FRACTIONS, ONES, POWERS, TENS, UNITS


def any_of(words: Iterable[str]) -> str:
    """A pattern for any of these words, the longest first, so that "months" is not read as "month"."""
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


ONE = any_of(ONES)
DIGITS = (
    rf"(?<![.\[])(?:\d{{1,3}}(?:,\d{{3}})+|\d{{1,9}})(?:\.\d{{1,6}})?(?:\s?[{''.join(FRACTIONS)}]|\s\d/\d(?!\d)|/\d(?![\d/]))?"
)
IN_WORDS = rf"(?:(?:{any_of(TENS)})(?:[-\s](?:{ONE}))?|{ONE}|a(?=\s(?:{any_of(POWERS)})\b)|half\s(?:an?|of\san?))(?![a-z])"
NUMBER = rf"(?:(?:{DIGITS}|[{''.join(FRACTIONS)}]|{IN_WORDS})(?:[\s-](?:{any_of(POWERS)})\b)?(?:\sand\sa\shalf\b)?)"
TIME = r"(?:second|minute|hour|day|night|week|month|year)s?"
UNIT = rf"(?:(?:degrees?|°|º)\s?(?:celsius|fahrenheit|[cf])|mm\s?hg|(?:fluid|fl\.?)\s(?:oz|ounces?)|{any_of(UNITS)})(?![a-z°º])"
GAP = r"(?:\s?-?\s?(?:(?:full|whole|consecutive|more|additional|calendar|straight)\s)?)"
DASH = r"\s?-\s?"
TO = rf"(?:{DASH}to{DASH}|-?\s(?:to|through)\s|{DASH})"
OR = rf"(?:{TO}|-?\sor\s)"
LEAST = (
    r"at\sleast|(?:an?\s)?minimum\sof|n(?:o|ot)\s(?:less|fewer|earlier|sooner)\sthan|"
    r"(?:more|greater|longer|older|higher|heavier|later)\sthan|over|above|exceed(?:ing|s)|beyond|>=?|≥"
)
MOST = (
    r"at\smost|up\sto|n(?:o|ot)\s(?:more|longer|later|higher|heavier|greater|older)\sthan|(?:an?\s)?maximum\sof|"
    r"(?:less|fewer|younger|lower|lighter|shorter)\sthan|under|below|within|<=?|≤"
)
ABOUT = r"(?:(?:about|approximately|around|roughly|nearly|almost|an?\sestimated|the|a\stemperature\sof)\s){0,2}"
BOUND = rf"(?:(?:(?P<least>{LEAST})|(?P<most>{MOST}))\s?{ABOUT})?"
MORE = "more|older|longer|higher|greater|over|above|later|up"
LESS = "less|fewer|younger|shorter|lower|under|below|sooner|earlier"
AFTER = rf"(?:(?P<or_more>\+|,?\s(?:or|and)\s(?:{MORE})\b)|(?P<or_less>,?\s(?:or|and)\s(?:{LESS})\b))?"
A_DAY = rf"(?:\sof\s[a-z]+)?\s(?:an?|each|every)\s{TIME}\b|\s(?:{any_of(ADVERBS)})\b"
PER = rf"(?P<per>(?:\s?(?:/|\bper\b)\s?(?:{UNIT})|{A_DAY}){{0,2}})"
RANGE = rf"(?P<low>{NUMBER})(?:{OR}(?P<high>{NUMBER}))?"
BETWEEN = rf"between\s{ABOUT}(?P<low>{NUMBER})(?:{GAP}(?P<low_unit>{UNIT}))?\sand\s(?P<high>{NUMBER})"

MONTH_NAMES = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    "sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
LABELLED = (
    "types?|chromosomes?|stages?|grades?|class|group|phase|chapters?|pages?|sections?|figures?|tables?|steps?|numbers?|"
    r"no\.|factors?|category|trisomy|levels?|version|room|suite|part|box|score"
)
SKIP = "|".join(
    [
        # A web address
        r"(?:https?://|www\.)\S+",
        # A reference: [12, 15-18]
        r"\[\d[\d,\s-]*\]",
        # Telephone numbers, those of emergency and help lines included
        r"(?:\+?1[-.\s])?(?:\(\d{3}\)\s?|\d{3}[-.\s])\d{3}[-.]\d{4}",
        r"\d{3}-\d{4}\b|1-8\d\d-[\w-]+|9-1-1|911\b|988\b",
        # An article in a journal: 2010;12(3):45-50
        r"\d{4};\d+(?:\(\d+\))?(?::\d+(?:-\d+)?)?",
        # Dates in figures, then with the name of the month on either side
        r"\d{4}-\d\d-\d\d|\d{1,2}/\d{1,2}/\d{2,4}",
        rf"(?:{MONTH_NAMES})\.?\s\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s\d{{4}})?\b(?!\s?-?(?:{UNIT}))",
        rf"\d{{1,2}}(?:st|nd|rd|th)?\s(?:{MONTH_NAMES})(?:\s\d{{4}})?\b",
        # A year or a decade, but not an amount that looks like one: 2000 mg
        rf"(?:18|19|20)\d\ds?(?:-(?:\d{{4}}|\d\d))?\b(?![,.]\d|%|\s?-?(?:{UNIT}))",
        # Type 2, chromosomes 7 and 9, steps 1 to 3
        rf"(?:{LABELLED})\s(?:\d+|{ONE})\b(?:(?:,\s|,?\s(?:and|or|to)\s|-)(?:\d+|{ONE})\b(?!\s(?:{UNIT})))*",
        # The number of an item in a list
        r"(?:^|(?<=\n)|(?<=[.:;]\s))\d{1,2}[.)](?=\s)|[1-9]\.(?=\s)|\d{1,2}\)(?=\s)",
        # "At all times" and not a fraction
        r"24/7",
        r"\d+(?:st|nd|rd|th)\b",
        # An amount of money
        r"\$\s?\d[\d,.]*",
    ]
)
TIMES = rf"(?:(?P<once>once|twice)|(?P<times>{NUMBER})(?:\s?x|\stimes?))"
OFTEN = rf"(?:{TIMES}|(?P<low_often>once|{NUMBER}){OR}(?:(?P<high_twice>twice)|(?P<high_times>{NUMBER})\stimes))"
DECADE = rf"(?:(?:early|mid|late)[-\s])?(?:[1-9]0'?s|{any_of(DECADES)}|teens)\b"

# In the order in which they are tried: the first that matches counts
RULES: dict[str, str] = {
    "skip": SKIP,
    # Twice a day; once or twice every 3 months
    "often": (
        rf"{OFTEN}(?:\s?/\s?|\s(?:an?|per|each|every)\s)(?:(?P<every>{NUMBER})(?:{OR}(?P<every_high>{NUMBER}))?{GAP})?(?P<unit>{TIME})\b"
    ),
    # Weekly, three times daily; but not "daily life", which is no interval
    "adverb": (
        rf"(?:{OFTEN}\s)?(?P<adverb>{any_of(ADVERBS)})\b"
        r"(?!\s(?:life|lives|living|activit|routine|basis|tasks?))"
    ),
    "every": (
        rf"(?:every|each)\s(?:(?P<other>other|second)\s|(?P<few>few|several|couple\sof)\s|{RANGE}{GAP})?(?P<unit>{TIME})\b"
    ),
    # 120/80 mmHg
    "pressure": r"(?P<high>\d{2,3})\s?/\s?(?P<low>\d{2,3})(?:\s?mm\s?hg)?\b",
    # 9 a.m., 10:30 pm
    "clock": r"(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?\s?(?P<half>[ap])\.?m\b\.?",
    # 1 in 4, 3 out of 100
    "odds": (
        rf"{BOUND}{RANGE}(?:\s(?:in|out\sof|of|per|for)\s(?:every\s|each\s)?(?:about\s)?|:)(?P<whole>{NUMBER})(?!{GAP}(?:{UNIT})|\d|[,.:]\d)"
    ),
    # Two thirds of
    "fraction": r"(?:(?:(?P<parts>one|two|three|four|a)[-\s])?(?P<piece>half|third|quarter|fourth|fifth|tenth)s?\sof\b)",
    # Aged 60 or older, ages 5 to 12; but not "aged 6 months", which is a duration
    "age": (
        rf"{BOUND}(?:ages?|aged|(?:the\s)?ages?\sof)\s{ABOUT}(?:between\s)?(?P<low>{NUMBER})(?:(?:{OR}|\sand\s)(?P<high>{NUMBER}))?"
        rf"(?!{GAP}(?:months?|weeks?|days?)\b)(?:[-\s]years?)?{AFTER}"
    ),
    # In their late 60s or seventies
    "decade": rf"(?P<first>{DECADE})(?:(?:{OR}|\sand\s|/)(?P<last>{DECADE}))?",
    # Between 3 and 6 months
    "between": rf"{BETWEEN}{GAP}(?P<unit>{UNIT}){PER}",
    # At least 3 months, 2-3 l a day, 38 °C or higher
    "quantity": (
        rf"{BOUND}(?P<low>{NUMBER})(?:(?:{GAP}(?P<low_unit>{UNIT}){TO}|{OR})(?P<high>{NUMBER}|an?(?=\s)))?(?:(?P<plus>\+|\sor\smore)|(?P<minus>\sor\s(?:less|fewer)))?"
        rf"{GAP}(?P<unit>{UNIT}){PER}"
        rf"(?:[-\s](?:olds?|of\sage))?{AFTER}"
    ),
    "vague": rf"(?:a\s)?(?P<few>few|several|couple(?:\sof)?)\s(?P<unit>{TIME})\b",
    # A week; only units that are seldom meant otherwise ("a second opinion")
    "single": r"an?\s(?P<unit>minute|hour|day|night|week|month|year|pint|quart|gallon|cup|lit(?:er|re)|pound|mile)\b",
    "between_count": rf"{BETWEEN}(?![\w/%])",
    # What no other rule takes: two types, 10 or more; but not the pronoun "one"
    "count": rf"{BOUND}(?!(?:one|half)\b(?!{OR}{NUMBER})){RANGE}(?:-?fold)?(?![\w/%]|[.,:]\d|-[a-z]){AFTER}",
}
PATTERNS = {rule: re.compile(pattern) for rule, pattern in RULES.items()}
# One pattern for all rules, whose groups have the names of the rules; the groups inside lose theirs
ANY = re.compile("|".join(f"(?P<{rule}>{re.sub(r'[?]P<[a-z_]+>', '?:', pattern)})" for rule, pattern in RULES.items()))

# Only where a word, a figure or a sign such as "<" begins: the rules are tried nowhere else
START = re.compile(rf"(?<![\w/-])(?:[a-z]+|[\d<>≥≤$+(\[{''.join(FRACTIONS)}])")
_FIRST_WORDS = """
a an half third quarter once twice every each between at up no not minimum maximum more greater longer older higher
heavier later less fewer younger lower lighter shorter over above exceeding exceeds beyond under below within age ages
aged early mid late teens few several couple http https www type types chromosome chromosomes stage stages grade
grades class group phase chapter chapters page pages section sections figure figures table tables step steps number
numbers factor factors category trisomy level levels version room suite part box score jan january feb february mar
march apr april may jun june jul july aug august sep sept september oct october nov november dec december
"""
# The words with which a rule can begin. Most words of a text begin no rule, and a look-up is cheaper than trying them all.
FIRST_WORDS = {*_FIRST_WORDS.split(), *ONES, *TENS, *DECADES, *ADVERBS}


def pattern_matches(plain: str) -> Iterator[re.Match[str]]:
    """The match of a rule at every place in a plain text where one applies, from left to right, without overlaps."""
    matched_until = 0
    for start in START.finditer(plain):
        if start.start() < matched_until or (start.group()[0].isalpha() and start.group() not in FIRST_WORDS):
            continue
        if match := ANY.match(plain, start.start()):
            matched_until = match.end()
            yield match
