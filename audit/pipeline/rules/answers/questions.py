"""Parses a patient's question: the words that an answer must contain, and the kind of fact (when, how much, may I).

Only the extractive generator uses this parser. The baseline judge has its own, so that the two share no errors.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from audit.pipeline.retrieval.bm25 import english_stem
from audit.pipeline.rules.answers.aspects import ASKS_FOR_LIST, Aspect, aspect_of
from audit.text.tokens import STOP_WORDS, plain_text

RELATED_WORDS = Path(__file__).parent / "related_words.toml"
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
# "Can I drink alcohol | if I have diarrhea": the request, then its condition
CONDITION = re.compile(r",?\s\b(?:if|when|while|after|before|during|until|because|since|for my|from my|on my|with my)\b", re.I)
GENERIC_SHARE = 0.4
"""Weight of a word that is in many questions ("take", "doctor"), as a share of the weight of other words."""
CONDITION_SHARE = 0.6
_GENERIC = """
ask bad call care centre center change child clinic come contact doctor donor eat drink food handbook health healthcare
help hospital medical move nurse organ patient part people person plan problem procedure provider recipient say see stay
stop take talk team tell time transplant transplantation treat use way surgery operation home life live heart kidney liver lung
pancreas body big large amount number check test
"""
# Words without a subject of their own
_EMPTY = """
able allow allowed aim become begin best better do everything anything something someone anyone feel find follow get give
go good happen hard have important kind keep know let like long look make mean much many need new normal often okay ok possible
put recommend resume return safe show sort start still sure thing try type want back soon away early late ready count during
usual wonder please forbidden right wrong long term one two three four five six seven eight nine ten
second minute hour day week month year percent degree
"""


def content_stems(text: str) -> tuple[str, ...]:
    """The Snowball stems of the words of a text in order, without stop words and numbers: doses -> dose, taking -> take."""
    words = (match.group().replace("’", "'") for match in WORD.finditer(plain_text(text)))
    return tuple(_stem(word) for word in words if word not in STOP_WORDS)


def _stem(word: str) -> str:
    # Snowball reduces "immunization" and "immune" to one stem
    return "immuniz" if word.startswith(("immuniz", "immunis")) else english_stem(word)


GENERIC, EMPTY = frozenset(content_stems(_GENERIC)), frozenset(content_stems(_EMPTY))


# Words that only name the aspect: an answer to "How warm ...?" need not say "warm"
MEASURE = re.compile(
    r"\bhow (?:far ahead|long|soon|late|early|far|often|frequently|much|many|heavy|large|big|high|low|old|hot|warm|strong)\b|"
    r"\bstay (?:out of|away from|off)\b",
    re.I,
)
# "What can I take for pain?" asks what to take; "Can I take ibuprofen?" does not
ASKS_FOR_OBJECT = re.compile(r"^\W*what (?:else )?(?:can|may|should|could|do) \w+ (?:take|eat|drink|use|wear)\b", re.I)
# "Which foods ...?" is about foods
ASKED_NOUN = re.compile(r"^\W*(?:what|which) (?:kinds? of |types? of )?(\w+)", re.I)
EITHER = re.compile(r"\b\w+,? or (?:an? |the |my |to )?\w+", re.I)
# "have" and "children" are common words; "have children" is a specific subject
FAMILY = re.compile(
    r"\b(?:have|having) (?:an? |another |more |my own )?(?:child(?:ren)?|kids?|bab(?:y|ies)|family)\b|\bstart a family\b"
    r"|\b(?:father|carry) a (?:child|baby)\b",
    re.I,
)
# "Out" and "eat" are in many sentences; together they are a specific subject
DINING = re.compile(r"\b(?:go(?:ing)? out to eat|(?:eat|dine)(?:ing)? out|go(?:ing)? out for (?:a meal|dinner|lunch))\b", re.I)
RESTAURANT = "eat in a restaurant"
# "How much water may I drink each day?"
PER_DAY = re.compile(r"\bdaily\b|\b(?:an?|per|each|every|one|whole|in a) (?:single |whole )?day\b", re.I)
# "Am I at risk if my mother had it?"
RELATIVE = (
    r"\b(?:mother|father|parents?|sisters?|brothers?|siblings?|grand(?:mother|father|parents?)|aunt|uncle|relatives?|family)\b"
)
OF_A_RELATIVE = re.compile(rf"\b(?:if|when|because|since)\b.{{0,30}}{RELATIVE}", re.I)
OBJECT_VERBS = frozenset(content_stems("take eat drink wear use"))


@dataclass(frozen=True)
class Concept:
    """A word of a question: its stem, and its weight before rarity is applied (1 for words of the request itself)."""

    stem: str
    share: float = 1.0


@dataclass(frozen=True)
class AskedQuestion:
    """A question as the generator reads it.

    text      its sentences with a question mark (all of it where it has none), as they are compared with statements
    concepts  its content words, each once
    aspect    the kind of fact that answers it; None: any
    for_list  whether it asks for several things: "What are the signs ...?"
    either    pairs of words joined by "or": an answer needs to mention only one
    per_day   whether it asks for an amount of each day
    relative  whether it is about an illness in the patient's family
    """

    text: str
    concepts: tuple[Concept, ...]
    aspect: Aspect | None
    for_list: bool = False
    either: tuple[frozenset[str], ...] = ()
    per_day: bool = False
    relative: bool = False

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of its content words."""
        return frozenset(concept.stem for concept in self.concepts)

    @cached_property
    def subject(self) -> tuple[Concept, ...]:
        """The concepts that an answer must mention: the request, else its condition ("What do I do if I miss a dose?")."""
        own = [concept for concept in self.concepts if concept.share == 1.0]
        return tuple(own or [concept for concept in self.concepts if concept.share == CONDITION_SHARE] or self.concepts)


@lru_cache(maxsize=4096)
def read_question(question: str) -> AskedQuestion:
    """The parsed question. Patients also describe their situation, so only the sentences with a question mark are used."""
    sentences = SENTENCE_END.split(question)
    text = " ".join(s for s in sentences if s.rstrip().endswith("?")) or question
    text = DINING.sub(RESTAURANT, FAMILY.sub("become pregnant", text))
    either = tuple(frozenset(content_stems(match.group())) for match in EITHER.finditer(text))
    plain = plain_text(text)
    return AskedQuestion(
        text,
        tuple(_concepts(text)),
        aspect_of(text),
        for_list=ASKS_FOR_LIST.search(plain) is not None,
        either=either,
        per_day=PER_DAY.search(plain) is not None,
        relative=OF_A_RELATIVE.search(plain) is not None,
    )


def _concepts(text: str) -> Iterator[Concept]:
    text = MEASURE.sub(" ", text)
    # "When can I ..." begins with a word that is not a condition here
    condition = CONDITION.search(text, 4)
    at = condition.start() if condition else len(text)
    seen = set[str]()
    nouns = ASKED_NOUN.match(text)
    needed = (OBJECT_VERBS if ASKS_FOR_OBJECT.search(text) else frozenset[str]()) | set(content_stems(nouns[1]) if nouns else ())
    for part, share in ((text[:at], 1.0), (text[at:], CONDITION_SHARE)):
        for stem in content_stems(part):
            if stem not in seen and stem not in EMPTY:
                seen.add(stem)
                is_generic = stem in GENERIC and stem not in needed
                yield Concept(stem, GENERIC_SHARE if is_generic else share)


# -- words that stand for others ---------------------------------------------------------------------------------------

SAME, NARROWER, WIDER = 1.0, 0.9, 0.7
"""How well a word of a text matches one of the question: the same word; "cat" for "pet"; "pet" for "cat"."""
Phrase = frozenset[str]


@lru_cache(maxsize=1)
def related_words() -> Mapping[str, tuple[tuple[Phrase, float], ...]]:
    """Stem of a question's word -> the stems of matching words or phrases, and how well each matches."""
    table = tomllib.loads(RELATED_WORDS.read_text(encoding="utf-8"))
    related: dict[str, list[tuple[Phrase, float]]] = {}
    for words in table["same"]:
        phrases = [frozenset(content_stems(word)) for word in words]
        for phrase in phrases:
            _add_related(related, phrase, [(other, NARROWER) for other in phrases if other != phrase])
    for wide, narrow in table["kinds"].items():
        phrases = [frozenset(content_stems(word)) for word in narrow]
        _add_related(related, frozenset(content_stems(wide)), [(phrase, NARROWER) for phrase in phrases])
        for phrase in phrases:
            _add_related(related, phrase, [(frozenset(content_stems(wide)), WIDER)])
    return {stem: tuple(others) for stem, others in related.items()}


def _add_related(related: dict[str, list[tuple[Phrase, float]]], phrase: Phrase, others: Iterable[tuple[Phrase, float]]) -> None:
    if len(phrase) == 1:  # a phrase may match words of a question, but questions are not searched for phrases
        (stem,) = phrase
        related.setdefault(stem, []).extend(others)


@lru_cache(maxsize=1)
def _idioms() -> re.Pattern[str]:
    table = tomllib.loads(RELATED_WORDS.read_text(encoding="utf-8"))["idioms"]
    return re.compile(rf"\b(?:{'|'.join(table['phrases'])})")


def stated_stems(text: str) -> frozenset[str]:
    """The stems of a handbook's text, without phrases in which a word has another meaning than in questions."""
    return frozenset(content_stems(_idioms().sub(" ", DINING.sub(RESTAURANT, plain_text(text)))))


def presence(stem: str, text: Set[str]) -> float:
    """How well a text matches a word, in [0, 1]: SAME, NARROWER or WIDER; 0 where it does not."""
    if stem in text:
        return SAME
    return max((share for phrase, share in related_words().get(stem, ()) if phrase <= text), default=0.0)
