"""The vocabularies of the audit: labels, significances, phases and others, in order, with their accepted spellings.

Case, spaces, hyphens and underscores do not matter; a label may be given by its number 0 to 4.
"""

from __future__ import annotations

import difflib
import html
import re
import unicodedata
from collections.abc import Collection, Iterable
from enum import StrEnum
from functools import lru_cache
from typing import TypeVar

Term = TypeVar("Term", bound=StrEnum)


class Label(StrEnum):
    """A judge's verdict on a pair, ordered on the coverage-agreement axis (ABSENT 0 ... CONTRADICTORY 4)."""

    ABSENT = "ABSENT"
    CONSISTENT = "CONSISTENT"
    COMPLEMENTARY = "COMPLEMENTARY"
    DIVERGENT = "DIVERGENT"
    CONTRADICTORY = "CONTRADICTORY"

    @property
    def code(self) -> int:
        """The label's number in a release's matrix."""
        return LABELS.index(self)


class Significance(StrEnum):
    """How much a disagreement matters to a patient; given to DIVERGENT and CONTRADICTORY pairs only."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Difference(StrEnum):
    """Why two answers differ in advice: what one and the other are about, or that they say opposite things."""

    PATIENTS = "other patients"
    AMOUNT = "other amount"
    TIME = "other time"
    EDITION = "other edition"
    OPPOSITE = "opposite advice"
    SCOPE = "other scope"


class FollowBoth(StrEnum):
    """Whether one patient can follow both of two answers."""

    YES = "yes"
    NO = "no"
    UNCLEAR = "unclear"


class Phase(StrEnum):
    """The part of the patient's journey that a handbook covers."""

    PRE = "pre"
    POST = "post"
    COMBINED = "combined"


class CheckKind(StrEnum):
    """Why a judge was asked about a pair again."""

    SWAP = "swap"
    BLIND = "blind"
    REPEAT = "repeat"


class FurtherKind(StrEnum):
    """Why a verdict came after those of the run: of a second judge, or of the run's judge asked again at a later date."""

    SECOND = "second"
    RECHECK = "recheck"


class Parse(StrEnum):
    """How a judge's reply was parsed: as the requested JSON, as faulty JSON, by its label alone, from prose, or not at all.

    LABEL: the label's own field in an object that is broken elsewhere. PROSE: a reply without an object that is the label, or
    states it on a line of its own. RULES: no model was asked.
    """

    STRICT = "strict"
    LENIENT = "lenient"
    LABEL = "label"
    PROSE = "prose"
    NONE = "none"
    RULES = "rules"


class Found(StrEnum):
    """How surely a search found an answer in a handbook, where no model has read it.

    STATED: a passage is so near to the question that it mostly answers it. PERHAPS: the nearest passages may answer it, a
    reader has to see. NOT_FOUND: none is near, which is no proof that the handbook is silent.
    In *Ask*, what only one of two searches calls stated or not found is PERHAPS.
    """

    STATED = "stated"
    PERHAPS = "perhaps"
    NOT_FOUND = "not found"


class SystemMode(StrEnum):
    """The context given to an answering system."""

    CLOSED_BOOK = "closed_book"
    RETRIEVAL = "retrieval"
    MULTI_SOURCE = "multi_source"
    HUMAN = "human"
    OTHER = "other"


class Preference(StrEnum):
    """Which of two answers to one question a rater prefers."""

    A = "A"
    B = "B"
    TIE = "tie"
    BOTH_BAD = "both_bad"


class PlantedKind(StrEnum):
    """A change of one of two answers, or of their order, to test whether a judge's label changes as it should."""

    AMOUNT = "amount"
    NEGATION = "negation"
    DETAIL = "detail"
    BLANK = "blank"
    ORDER = "order"
    SYNONYMS = "synonyms"
    PADDING = "padding"
    SWAP = "swap"
    CENTER = "center"
    INSTRUCTION = "instruction"


class ChangedSide(StrEnum):
    """Which answer of a pair was changed; BOTH: they were swapped."""

    A = "a"
    B = "b"
    BOTH = "both"


class PositionMethod(StrEnum):
    """How a position on a question was found; LABELS: from the labels of pairs; RELEASE: the release does not state how."""

    LABELS = "labels"
    JUDGE = "judge"
    RELEASE = "release"


class Raters(StrEnum):
    """Who gave a set of ratings. What nobody has stated is unknown: no sentence calls such raters people."""

    CLINICIANS = "clinicians"
    TRAINED = "trained people"
    MODELS = "language models"
    UNKNOWN = "unknown"

    @property
    def words(self) -> str:
        """Their name in a sentence: clinicians, trained people, language models, or raters."""
        return "raters" if self is Raters.UNKNOWN else self.value


class RaterKind(StrEnum):
    """Who compared two answers."""

    HUMAN = "human"
    JUDGE = "judge"


class StressTest(StrEnum):
    """What a stress test shows a model: signal alone, signal among noise, sub-questions, or documents with errors."""

    STANDARD = "standard"
    SUFFICIENCY = "sufficiency"
    INTEGRATION = "integration"
    ROBUSTNESS = "robustness"


class DocumentCall(StrEnum):
    """How a system classifies a document: relevant or noise in `sufficiency`, factual or wrong in `robustness`."""

    RELEVANT = "relevant"
    NOISE = "noise"
    FACTUAL = "factual"
    WRONG = "wrong"


LABELS = tuple(Label)
SIGNIFICANCES = tuple(Significance)
DIFFERENCES = tuple(Difference)
FOLLOW_BOTH = tuple(FollowBoth)
PHASES = tuple(Phase)
CHECK_KINDS = tuple(CheckKind)
FURTHER_KINDS = tuple(FurtherKind)
PARSES = tuple(Parse)
FOUND = tuple(Found)
SYSTEM_MODES = tuple(SystemMode)
PREFERENCES = tuple(Preference)
SIDES = (Preference.A, Preference.B)
RATERS = tuple(Raters)
RATER_KINDS = tuple(RaterKind)
STRESS_TESTS = tuple(StressTest)
PLANTED_KINDS = tuple(PlantedKind)
CHANGED_SIDES = tuple(ChangedSide)
POSITION_METHODS = tuple(PositionMethod)
DOCUMENT_CALLS = tuple(DocumentCall)
STRESS_CALLS: dict[StressTest, tuple[DocumentCall, ...]] = {
    StressTest.SUFFICIENCY: (DocumentCall.RELEVANT, DocumentCall.NOISE),
    StressTest.ROBUSTNESS: (DocumentCall.FACTUAL, DocumentCall.WRONG),
}
"""Test -> what a document may be called; the other tests ask for no calls."""
PRESENT_LABELS = tuple(label for label in LABELS if label is not Label.ABSENT)
"""Labels of pairs in which both handbooks address the question. An unscored pair has none, and counts as neither."""
DISAGREEING = (Label.DIVERGENT, Label.CONTRADICTORY)
WITH_TOPIC = (Label.COMPLEMENTARY, *DISAGREEING)
"""Labels of pairs whose answers differ; a divergence topic names the difference."""
WITHOUT_TOPIC = (Label.ABSENT, Label.CONSISTENT)
GENERAL = "general"
"""The organ of a question that concerns every handbook."""

NOT_ADDRESSED = "NOT ADDRESSED"
"""What an answer says if its handbook does not address the question, alone or with a reason: `NOT ADDRESSED: none does.`"""
AND_MORE = "says NOT ADDRESSED and more"
"""The unread_reason of an answer of which its words do not tell whether it is an absence."""
NOTHING_SAID = "This text does not say anything about this question."
"""The same in neutral words, which annotators read: NOT ADDRESSED reads unlike any handbook."""

ABSTAINED = "abstained"
"""How the reason for an unscored pair begins if the judge replied that it could not decide, so no reply was unreadable."""

LABEL_VARIANTS: dict[Label, tuple[str, ...]] = {
    Label.ABSENT: ("absence", "missing", "notaddressed", "0"),
    Label.CONSISTENT: ("consistency", "agree", "agreement", "1"),
    Label.COMPLEMENTARY: ("complement", "complimentary", "complements", "2"),
    Label.DIVERGENT: ("divergence", "diverging", "diverge", "diverges", "3"),
    Label.CONTRADICTORY: ("contradiction", "contradicts", "contradicting", "contradict", "4"),
}
SIGNIFICANCE_VARIANTS: dict[Significance, tuple[str, ...]] = {
    Significance.LOW: ("minor",),
    Significance.MEDIUM: ("med", "moderate"),
    Significance.HIGH: ("major", "severe"),
}
DIFFERENCE_VARIANTS: dict[Difference, tuple[str, ...]] = {
    Difference.PATIENTS: ("patients", "population", "phase", "other phase"),
    Difference.AMOUNT: ("amount", "threshold", "other threshold"),
    Difference.TIME: ("time", "timing"),
    Difference.EDITION: ("edition", "version"),
    Difference.OPPOSITE: ("opposite", "contradiction"),
    Difference.SCOPE: ("scope",),
}
FOLLOW_BOTH_VARIANTS: dict[FollowBoth, tuple[str, ...]] = {
    FollowBoth.YES: ("true",),
    FollowBoth.NO: ("false",),
    FollowBoth.UNCLEAR: ("unknown", "cannot tell"),
}
PHASE_VARIANTS: dict[Phase, tuple[str, ...]] = {
    Phase.PRE: ("pretransplant", "before"),
    Phase.POST: ("posttransplant", "after"),
    Phase.COMBINED: ("both", "all", "prepost", "preandpost"),
}
CHECK_KIND_VARIANTS: dict[CheckKind, tuple[str, ...]] = {
    CheckKind.SWAP: ("swapped", "positionswap", "order"),
    CheckKind.BLIND: ("blinded", "blindcenters"),
    CheckKind.REPEAT: ("repeated", "again"),
}
SYSTEM_MODE_VARIANTS: dict[SystemMode, tuple[str, ...]] = {
    SystemMode.CLOSED_BOOK: ("vanilla", "noretrieval", "parametric"),
    SystemMode.RETRIEVAL: ("rag", "retrievalaugmented"),
    SystemMode.MULTI_SOURCE: ("multiplesources",),
    SystemMode.HUMAN: ("person", "expert"),
    SystemMode.OTHER: (),
}
PREFERENCE_VARIANTS: dict[Preference, tuple[str, ...]] = {
    Preference.A: ("answera", "systema"),
    Preference.B: ("answerb", "systemb"),
    Preference.TIE: ("tied", "equal", "draw"),
    Preference.BOTH_BAD: ("neither", "bothpoor"),
}
PLANTED_KIND_VARIANTS: dict[PlantedKind, tuple[str, ...]] = {
    PlantedKind.AMOUNT: ("number", "quantity"),
    PlantedKind.NEGATION: ("denial", "negated"),
    PlantedKind.DETAIL: ("addeddetail",),
    PlantedKind.BLANK: ("blanked", "absent"),
    PlantedKind.ORDER: ("sentenceorder",),
    PlantedKind.SYNONYMS: ("synonym", "paraphrase"),
    PlantedKind.PADDING: ("padded", "length"),
    PlantedKind.SWAP: ("swapped", "positionswap"),
    PlantedKind.CENTER: ("centre", "name"),
    PlantedKind.INSTRUCTION: ("injection", "promptinjection"),
}
RATERS_VARIANTS: dict[Raters, tuple[str, ...]] = {
    Raters.CLINICIANS: ("clinician", "physicians", "doctors", "nurses", "clinical staff"),
    Raters.TRAINED: ("trained", "trained annotators", "trained raters"),
    Raters.MODELS: ("models", "model", "llm", "llms", "language model"),
    Raters.UNKNOWN: ("not stated",),
}
RATER_KIND_VARIANTS: dict[RaterKind, tuple[str, ...]] = {
    RaterKind.HUMAN: ("clinician", "annotator", "person"),
    RaterKind.JUDGE: ("llm", "model"),
}
STRESS_TEST_VARIANTS: dict[StressTest, tuple[str, ...]] = {
    StressTest.STANDARD: ("standardrag",),
    StressTest.SUFFICIENCY: ("sufficient",),
    StressTest.INTEGRATION: ("integrate",),
    StressTest.ROBUSTNESS: ("robust",),
}
DOCUMENT_CALL_VARIANTS: dict[DocumentCall, tuple[str, ...]] = {
    DocumentCall.RELEVANT: ("signal", "useful"),
    DocumentCall.NOISE: ("irrelevant", "notrelevant"),
    DocumentCall.FACTUAL: ("correct", "true", "right"),
    DocumentCall.WRONG: ("false", "incorrect", "error"),
}
EMPTY_WORDS = frozenset({"", "null", "none", "nan", "na", "n/a"})
"""Texts that mean "no value" where a label or a significance is expected."""


# Millions of records repeat few spellings.
@lru_cache(4096)
def plain(text: str) -> str:
    """`text` without case, spaces, hyphens and underscores: the form in which spellings are compared."""
    return "".join(ch for ch in text.casefold() if ch not in " -_\t\r\n")


def composed(name: str) -> str:
    """A name in Unicode's composed form (NFC): `ü` as one character, whether it was typed so or came from a file system as two.

    Names are compared in this form wherever they enter: records of a release, catalogs, file names, arguments, addresses.
    """
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def same_name(name: str, known: Collection[str]) -> str | None:
    """The one of `known` that is `name`, in either Unicode form; None where there is none."""
    if name in known:
        return name
    form = composed(name)
    return next((one for one in known if composed(one) == form), None)


def spellings(variants: dict[Term, tuple[str, ...]]) -> dict[str, Term]:
    """Every accepted plain spelling of a vocabulary, the words themselves included."""
    return {plain(word): term for term, others in variants.items() for word in (term.value, *others)}


# `[\W_]*+`: what is neither a letter nor a digit is markup, quotes, brackets or space
ABSENCE = re.compile(
    r"[\W_]*+(?:answer(?=[\W_]*:)[\W_]*+)?not[\W_]++addressed(?![^\W_])(?P<gap>[\W_]*+)(?P<rest>.*)", re.I | re.S
)
CAPITALS = re.compile(r"(?<![^\W_])NOT[\W_]++ADDRESSED(?![^\W_])")
REASON_BEGINS = re.compile(r"[:\-\u2010-\u2015]")
SENTENCE_END = re.compile(r"[.!?][^\w\s]*\s+|\n")
CITATION, TAG, SOFT = re.compile(r"\[[\d,\s]+\]"), re.compile(r"</?\w[^<>]*>"), re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")


def canonical_absence(text: str) -> str | None:
    """`NOT ADDRESSED`, or that with the reason behind it, if this is all that an answer says; else None.

    Case, markup, quotes, brackets, white space and a label `Answer:` do not matter. A reason is one sentence behind a colon or a
    dash; with any other words before or behind, nobody can know from the words whether the handbook answers.
    """
    said = _absence_in(text)
    if said is None:
        return None
    rest = said["rest"].strip()
    if not rest:
        return NOT_ADDRESSED
    sentences = [part for part in SENTENCE_END.split(CITATION.sub("", rest)) if any(map(str.isalnum, part))]
    return f"{NOT_ADDRESSED}: {rest}" if REASON_BEGINS.search(said["gap"]) and len(sentences) == 1 else None


def says_absence(text: str | None) -> bool:
    """Whether an answer says that the handbook does not address the question: it is blank, or nothing but `canonical_absence`.

    The one rule of generator, loader, judge, rules and masking. Of an answer without a text (None) nothing is known.
    """
    if text is None:
        return False
    return not text.strip() or text.strip() == NOTHING_SAID or canonical_absence(text) is not None


def cannot_say_absence(text: str) -> bool:
    """Whether `text` is so plain that neither `says_absence` nor `says_absence_and_more` can hold, whatever else it says."""
    return not _may_name_it(text) and text.strip() not in ("", NOTHING_SAID)


def says_absence_and_more(text: str | None) -> bool:
    """Whether an answer begins with NOT ADDRESSED, or has it in capitals, and is no absence by `says_absence`."""
    if text is None or not _may_name_it(text) or says_absence(text):
        return False
    return _absence_in(text) is not None or CAPITALS.search(_unmarked(text)) is not None


def without_absence(text: str) -> str | None:
    """What follows NOT ADDRESSED where an answer begins with it as a statement of its own, or None.

    Empty for an absence, whose reason is about the search and not from the handbook.
    """
    if says_absence(text):
        return ""
    said = _absence_in(text)
    return said["rest"].strip() if said and any(mark in said["gap"] for mark in ".!:;\n-\u2013\u2014") else None


def _absence_in(text: str) -> re.Match[str] | None:
    return ABSENCE.match(_unmarked(text)) if _may_name_it(text) else None


def _may_name_it(text: str) -> bool:
    # For speed: a release has 100,000 answers, and few name it
    return not text.isascii() or "addressed" in text.lower()


def _unmarked(text: str) -> str:
    """Text without tags, invisible characters and HTML's spellings of characters."""
    return SOFT.sub("", unicodedata.normalize("NFKC", TAG.sub(" ", html.unescape(text))))


def sql_list(words: Iterable[str]) -> str:
    """Words of a vocabulary as an SQL list, for `label in ...`. In tables of pairs, ask the view judged_pairs instead."""
    return "(" + ", ".join(f"'{word}'" for word in words) + ")"


def concerns(organ: str, other: str) -> bool:
    """Whether questions about one organ apply to handbooks of the other: the organs are equal, or one of them is general."""
    organs = plain(organ), plain(other)
    return organs[0] == organs[1] or GENERAL in organs


LABEL_SPELLINGS = spellings(LABEL_VARIANTS)
SIGNIFICANCE_SPELLINGS = spellings(SIGNIFICANCE_VARIANTS)
DIFFERENCE_SPELLINGS = spellings(DIFFERENCE_VARIANTS)
FOLLOW_BOTH_SPELLINGS = spellings(FOLLOW_BOTH_VARIANTS)
PHASE_SPELLINGS = spellings(PHASE_VARIANTS)
CHECK_KIND_SPELLINGS = spellings(CHECK_KIND_VARIANTS)
SYSTEM_MODE_SPELLINGS = spellings(SYSTEM_MODE_VARIANTS)
PREFERENCE_SPELLINGS = spellings(PREFERENCE_VARIANTS)
RATERS_SPELLINGS = spellings(RATERS_VARIANTS)
RATER_KIND_SPELLINGS = spellings(RATER_KIND_VARIANTS)


def stated_raters(value: object) -> Raters:
    """The raters that a manifest or a study names; UNKNOWN for anything else."""
    return RATERS_SPELLINGS.get(plain(value), Raters.UNKNOWN) if isinstance(value, str) else Raters.UNKNOWN


PLANTED_KIND_SPELLINGS = spellings(PLANTED_KIND_VARIANTS)
FOUND_SPELLINGS = {plain(state.value): state for state in FOUND}
CHANGED_SIDE_SPELLINGS = {side.value: side for side in ChangedSide}
POSITION_METHOD_SPELLINGS = {method.value: method for method in PositionMethod}
STRESS_TEST_SPELLINGS = spellings(STRESS_TEST_VARIANTS)
DOCUMENT_CALL_SPELLINGS = spellings(DOCUMENT_CALL_VARIANTS)
SIDE_SPELLINGS = {spelling: term for spelling, term in PREFERENCE_SPELLINGS.items() if term in SIDES}
FURTHER_KIND_SPELLINGS = {kind.value: kind for kind in FURTHER_KINDS}
PARSE_SPELLINGS = {parse.value: parse for parse in PARSES}


# difflib is slow, and one misspelling is usually in every record of a file.
@lru_cache(1024)
def nearest(word: str, allowed: tuple[str, ...]) -> str:
    """` Did you mean 'x'?` for the allowed word closest to `word`, or an empty text when none is close."""
    # What reads the same would only puzzle
    others = [one for one in allowed if composed(one) != composed(word)]
    close = difflib.get_close_matches(composed(word), others, n=1)
    return f" Did you mean '{close[0]}'?" if close else ""


DATASHEET_PARTS = ("motivation", "composition", "collection", "preprocessing", "uses", "distribution", "maintenance")
"""The parts of a datasheet, by Gebru et al. (2021), Commun. ACM 64(12)."""

PAIR_COLUMNS = ("question_id", "handbook_a", "handbook_b")
"""What identifies a pair in a file."""
PairIds = tuple[str, str, str]
"""question_id, handbook_a, handbook_b"""
STAND_IN_JUDGE = "stand-in judge that reads truth.csv, no model"
"""The name of the judge of a made-up example, wherever its labels are shown or written."""
PASSAGES_GENERATOR = "closest passages, no model"
"""The name of the generator that quotes passages, wherever its answers are shown or written."""
