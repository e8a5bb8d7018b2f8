"""Masking of everything that reveals whose text it is: names of institutions, contacts and credits.

For studies, their packets, and the judge's blind check.

Names are compared as sequences of folded words without what stands between them, so `Mayo Clinic`, `mayo-clinic`,
`MAYO` + line break + `CLINIC` and `MayoClinic` are one name, and `U.C.S.F.` is `UCSF`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from audit.text.contacts import Span, contacts, credits
from audit.text.folding import FoldedText, fold, fold_word

# -- words of names ------------------------------------------------------------------------------------------
# Words and abbreviations that do not identify an institution, as data for the masking of names.

_SMALL = "a an and at by for from in of on or the to with your our my after before de der und la le du des"
SMALL_WORDS = frozenset(_SMALL.split())

_ORDINARY = """
academic adult adults advanced aging alliance american and associated association autologous basic before better blood board
body bone book booklet brain brochure cancer cardiac cardiology care caring center centers centre centres chapter child
childhood children childrens chronic city clinic clinical clinics college combined comfort community complete comprehensive
consortium control council county cystic day department diabetes digestive disease diseases disorders division donation
donor donors download east eastern edition education emergency everything eye faculty families family federal fibrosis first
folder foundation general genetic genetics good group guidance guide guidebook guideline guidelines guides handbook
handbooks handout health healthcare healthy heart help hematology hepatology home hope hospital hospitals human immunology
information institute institutes institution institutional instructions international intestinal intestine introduction
journey kidney kidneys know knowledge leaflet learning life light liver living lung lungs manual marrow medical medicine
medicines memorial mental metabolic midwest national need nephrology network neurological new nhs north northeast northern
northwest nurse nursing office oncology organ organization organs orthopedic packet pancreas part patient patients pediatric
pediatrics pharmacy physicians policy post practice pre pregnancy prevention primary procedure program programme programs
protocol public pulmonary quick rare recipient recipients reference regional rehabilitation renal research resource
resources road roadmap saint saints school science sciences section senior service services skin society solid south
southeast southern southwest specialist specialists specialty spine state stem stroke summary support surgeons surgery
surgical system teaching team therapy thoracic topic topics transplant transplantation transplants treatment trust union
unit united university urology version veteran veterans view welcome well wellness west western what when where woman women
womens work year young youth
"""
ORDINARY_WORDS = frozenset(_ORDINARY.split())
"""Words of names that are also words of ordinary or medical English, or in many names: masked inside a name only."""

_SYSTEM = """
agent alone answer answering answers assistant augmented base baseline best book chat closed context default demo dense expert
evidence finder free full generation generator hybrid instruct large language mini model models multi open other person plain
preview reader rerank retrieval retrieved retriever search second simulated single small source sources sparse system systems
text third tiny turbo vanilla without
"""
SYSTEM_WORDS = frozenset(_SYSTEM.split())
"""Words in names of answering systems and models that do not identify one: masked inside a name only."""

_MEDICAL = """
abo acs ada aids aki ald alp als alt ama apd arb arf ast atg avf bid bka bmi bmp bmt bnp bpd bph brca bun cabg cad cbc cbt
ccu cdi cea cgm chd chf ckd cll cmv cns copd covid cpap cpr crp crrt csf ct cva cvp dbd dcd dexa dha dka dna dnr dsa dvt ebv
ecg echo ecmo eeg efs egfr eia eip ekg emg emt enod ent eob epo er ercp esld esr esrd etoh ev fap fda fev flu fsgs gerd gfr
ggt gi gvhd hav hbv hcc hct hcv hdl hdv hep hhv hip hiv hla hpv hsv hus hypo iga igg ihd inr iou iud iv ivf ivig jak kdpi
kub lad las ldh ldl lft lfts lvad lvh mdi mds meld mgus mi mmf mpa mri mrsa msm mtor nafld nas nash nat ngt nhl npo nsaid
nsaids nyha obgyn ot otc pap pcp pcr pda peg peld pet pft pfts phs piv pjp pkd pml ppd ppi pra prbc prn psa psc pt pta ptld
ptt pud pvd qid ra rbc rna ros rsv sah scd shunt sle sob spf ssi std stds sti stis tac tb tia tid tips tmp tpn trali tsh ttp
udca uri usa uti utis uv vad vre vte vzv wbc who wic
"""
MEDICAL_ABBREVIATIONS = frozenset(_MEDICAL.split())
"""Abbreviations with a medical meaning: never taken for the initials of an institution."""

INSTITUTION_WORDS = (
    "University Medical Clinic Clinics Hospital Hospitals Center Centre Centers Health Healthcare System College School "
    "Institute Transplant Transplantation Kidney Liver Heart Lung Children's Foundation Trust Campus"
)
"""Words that go with a masked word of a name: "Alder Transplant Center" is one name."""


HIDDEN_NAME, HIDDEN_CONTACT, HIDDEN_SOURCE, HIDDEN_PHRASE = "[name]", "[contact]", "[source]", "[phrase]"
SPELLED_OUT_REACH = 120
"""Characters before an abbreviation in brackets in which its words are looked for."""
# How a name must be written in a text to be masked: in any way; each word capitalised; in capitals
ANY, CAPITAL, UPPER = range(3)
MIN_WORD, MIN_ABBREVIATION, MAX_ABBREVIATION = 4, 3, 8
# Of more handbooks than this share an id's part is a habit, such as `nih_`, and does not identify one
COMMON_PART = 0.5
TOKEN = re.compile(r"[^\W_]+")
MAX_GAP = 3
PART = re.compile(r"[()\[\]|:;,/]| - ")
UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "å": "aa", "ø": "oe"})
_AFTER = rf"(?:{'|'.join(INSTITUTION_WORDS.split())})\b"
AFTER = re.compile(rf"(?:\s{_AFTER})+")
BEFORE = re.compile(r"(?:\b(?:University|College|Hospital|Hospitals|Clinic|Center)\s(?:of|at)\s|\b(?:St\.?|Saint)\s)$")
BEFORE_REACH = 40
DOTTED = re.compile(r"(?:\w\. ?)+\w")
BETWEEN = re.compile(r"[\s,&-]{0,3}")
ABBREVIATION = re.compile(rf"\(([A-Z]{{{MIN_ABBREVIATION},{MAX_ABBREVIATION}}})\)")


@dataclass(frozen=True)
class Masker:
    """Masks the names of a release in a text; `names_of` collects them.

    names  folded name -> how it must be written to count as a name: ANY, CAPITAL or UPPER
    words  folded words of names that identify an institution
    """

    names: Mapping[str, int] = field(default_factory=dict)
    words: frozenset[str] = frozenset()

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        return frozenset(name[:end] for name in self.names for end in range(1, len(name) + 1))

    def mask(self, text: str) -> str:
        """`text` with [name], [contact] or [source] in place of everything that reveals whose it is; the rest is unchanged."""
        pieces, end = [], 0
        for first, last, marker in self._spans(text):
            pieces += [text[end:first], marker]
            end = last
        return "".join([*pieces, text[end:]])

    def replaced(self, text: str) -> list[tuple[str, str]]:
        """The replacements that `mask` makes in a text, in order: the marker, and the words it replaces."""
        return [(marker, text[first:last]) for first, last, marker in self._spans(text)]

    def _spans(self, text: str) -> Iterator[tuple[int, int, str]]:
        folded = fold(text)
        for start, stop, marker in self._masked_spans(folded):
            yield *folded.span(start, stop), marker

    def words_left(self, masked: str) -> list[str]:
        """The words of a masked text that contain a word of a name, each once: a person has to judge them.

        It is found in any case and inside other words: "Hazel" in "hazelnut".
        """
        tokens = dict.fromkeys(match[0] for match in TOKEN.finditer(fold(masked).text))
        return [token for token in tokens if any(word in token.casefold() for word in self.words)]

    def _masked_spans(self, folded: FoldedText) -> list[tuple[int, int, str]]:
        text = folded.text
        hidden = [(start, end, HIDDEN_CONTACT) for start, end in contacts(text)]
        hidden += [(start, end, HIDDEN_NAME) for start, end in self._names_in(text)]

        def is_named(start: int, end: int) -> bool:
            return any(first < end and start < last for first, last, _ in hidden)

        sources = [(start, end, HIDDEN_SOURCE) for start, end in credits(text, is_named)]
        return _merged([*sources, *hidden], text)

    def _names_in(self, text: str) -> Iterator[Span]:
        tokens = [(match.start(), match.end(), match[0].casefold()) for match in TOKEN.finditer(text)]
        number = 0
        while number < len(tokens):
            length = self._name_at(text, tokens, number)
            if length:
                yield _with_institution(text, tokens[number][0], tokens[number + length - 1][1])
            number += length or 1

    def _name_at(self, text: str, tokens: list[tuple[int, int, str]], first: int) -> int:
        """How many tokens from the `first` on are the longest name that begins there; 0 for none."""
        joined, longest = "", 0
        for number in range(first, len(tokens)):
            start, end, word = tokens[number]
            if number > first and start - tokens[number - 1][1] > MAX_GAP:
                break
            # "and" is often written "&", so names are compared without it
            if word == "and" and number > first:
                continue
            joined += word
            if self._is_name(joined, text[tokens[first][0] : end]) or self._is_plural(joined, text[tokens[first][0] : end]):
                longest = number - first + 1
            if joined not in self._beginnings:
                break
        return longest

    def _is_name(self, joined: str, written: str) -> bool:
        rule = self.names.get(joined)
        return rule is not None and (rule == ANY or (_is_upper(written) if rule == UPPER else _is_capital(written)))

    def _is_plural(self, joined: str, written: str) -> bool:
        # In lower case a plural is more often a word of its own: "alders are trees"; the s of a possessive stays
        plural = joined.endswith("s") and written[0].isupper() and written[-2:-1].isalnum()
        return plural and self._is_name(joined[:-1], written[:-1])


def _is_capital(written: str) -> bool:
    words = [word for word in TOKEN.findall(written) if word.casefold() not in SMALL_WORDS]
    return all(word[0].isupper() or word[0].isdigit() for word in words if len(word) > 1)


def _is_upper(written: str) -> bool:
    return all(word.isupper() or word.isdigit() for word in TOKEN.findall(written))


def _with_institution(text: str, start: int, end: int) -> Span:
    end += bool(DOTTED.fullmatch(text, start, end) and text.startswith(".", end))
    after, before = AFTER.match(text, end), BEFORE.search(text, max(0, start - BEFORE_REACH), start)
    return before.start() if before else start, after.end() if after else end


def _merged(spans: list[tuple[int, int, str]], text: str) -> list[tuple[int, int, str]]:
    """Spans in order without overlaps; of two that meet, the marker that comes first in `found` stays."""
    rank = {HIDDEN_SOURCE: 0, HIDDEN_CONTACT: 1, HIDDEN_NAME: 2}
    merged: list[tuple[int, int, str]] = []
    for start, end, marker in sorted(spans):
        previous = merged[-1] if merged else (0, 0, "")
        adjacent = marker == previous[2] and BETWEEN.fullmatch(text, previous[1], max(start, previous[1]))
        if merged and (start < previous[1] or adjacent):
            merged[-1] = previous[0], max(end, previous[1]), min(marker, previous[2], key=rank.__getitem__)
        else:
            merged.append((start, end, marker))
    return merged


# -- the names of a release ----------------------------------------------------------------------------------------------


def masker_of(handbooks: Iterable[Mapping[str, Any]], systems: Iterable[str] = (), listed: Iterable[str] = ()) -> Masker:
    """The masker for all names of these handbooks and answering systems.

    handbooks  their records: center, and if known handbook_id, organ, phase, title, url and aliases (a list)
    systems    ids and names of systems, and names of their models
    listed     further names listed by a user, masked in any spelling

    Names are the centers, their aliases, their words that are not ordinary English, their initials, the titles, and the
    parts of web hosts and ids that only some handbooks have.
    """
    records = list(handbooks)
    names: dict[str, int] = {}
    words: set[str] = set()
    for record in records:
        for name in (record["center"], *(record.get("aliases") or ())):
            _add_institution(names, words, str(name))
        _add_title(names, str(record.get("title") or ""))
        for label in _host_labels(record.get("url")):
            names.setdefault(label, CAPITAL)
            words.add(label)
    for part in _telling_id_parts(records):
        names.setdefault(part, UPPER)
    for name in systems:
        _add_system(names, words, name)
    for name in listed:
        _add(names, name, ANY)
    return Masker(names, frozenset(words))


def with_parent_names(masker: Masker, urls: Iterable[str], ids: Iterable[str], texts: Iterable[str]) -> Masker:
    """A masker that also knows the bodies that all handbooks belong to: such names tell nothing apart, and say who is speaking.

    Their abbreviations are those in web hosts and ids; what they stand for is read where a text spells one out: "Alder Health
    Service (AHS)".
    """
    names = dict(masker.names)
    parts = [part for url in urls for part in _host(url).split(".")[:-1]]
    parts += [part for name in ids for part in TOKEN.findall(name.replace("_", " "))]
    for part in filter(_is_abbreviation, map(str.casefold, parts)):
        names.setdefault(part, UPPER)
    for text in texts:
        for match in ABBREVIATION.finditer(text):
            name = _spelled_out(text[max(0, match.start() - SPELLED_OUT_REACH) : match.start()], match[1])
            if name and (match[1].casefold() in names or fold_word(name) in names):
                names.setdefault(match[1].casefold(), UPPER)
                _add(names, name, CAPITAL)
    return replace(masker, names=names)


def _spelled_out(before: str, abbreviation: str) -> str:
    """The words at the end of a text whose initials are these; "" where they are not."""
    wanted, end = list(abbreviation.casefold()), len(before.rstrip())
    for word in reversed(list(TOKEN.finditer(before))):
        if word[0][0].isupper() and word[0][0].casefold() == wanted[-1]:
            wanted.pop()
        elif word[0].casefold() not in SMALL_WORDS:
            return ""
        if not wanted:
            return before[word.start() : end]
    return ""


def _add_institution(names: dict[str, int], words: set[str], name: str) -> None:
    for part in (name, *(PART.split(name) if PART.search(name) else ())):
        own = _own_words(part)
        telling = [word for word in own if len(word) >= MIN_WORD and fold_word(word) not in ORDINARY_WORDS]
        if part is name or telling:
            _add(names, part, _how_written(part, own, bool(telling)))
        elif part.strip().isupper() and _is_abbreviation(fold_word(part)):
            _add(names, part, UPPER)
        for word in telling:
            _add(names, word, CAPITAL)
            words.update(_foldings(word))
    for initials in _initials(name):
        names.setdefault(initials, UPPER)


def _add_system(names: dict[str, int], words: set[str], name: str) -> None:
    """The whole name, and each word that is not one of plain English or of the trade, alone and with what follows: Llama 3.1."""
    own = _own_words(name)
    if len(own) > 1:
        _add(names, name, ANY)
    for start, word in enumerate(own):
        if len(word) >= MIN_WORD and word.isalpha() and fold_word(word) not in ORDINARY_WORDS | SYSTEM_WORDS:
            _add(names, word, CAPITAL)
            words.update(_foldings(word))
            for end in range(start + 2, len(own) + 1):
                _add(names, " ".join(own[start:end]), ANY)


def _add(names: dict[str, int], name: str, rule: int) -> None:
    for folded in _foldings(re.sub(r"^\W*the\b|\band\b", "", name, flags=re.IGNORECASE)):
        names[folded] = min(rule, names.get(folded, rule))


def _foldings(name: str) -> set[str]:
    """A name folded, with umlauts as one letter and as two."""
    folded = {fold_word(name), fold_word(unicodedata.normalize("NFC", name).translate(UMLAUTS))}
    return {spelling for spelling in folded | {re.sub("([aou])e", r"\1", one) for one in folded} if len(spelling) > 1}


def _how_written(name: str, own: list[str], telling: bool) -> int:
    if len(own) < 2 and len(fold_word(name)) < MIN_WORD:
        return UPPER if name.strip().isupper() else CAPITAL
    return ANY if telling or len(own) >= MIN_ABBREVIATION else CAPITAL


def _own_words(name: str) -> list[str]:
    words = (match[0] for match in TOKEN.finditer(unicodedata.normalize("NFC", name)))
    return [word for word in words if word.casefold() not in SMALL_WORDS]


def _add_title(names: dict[str, int], title: str) -> None:
    own = _own_words(title)
    telling = any(fold_word(word) not in ORDINARY_WORDS for word in own)
    # "Kidney Transplant" is also a title, and masking it would take the subject out of the answers
    if len(own) >= MIN_ABBREVIATION or (own and telling and len(fold_word(title)) >= MIN_WORD):
        _add(names, title, CAPITAL)
    for word in TOKEN.findall(fold(title).text):
        if word.isupper() and _is_abbreviation(word.casefold()):
            names.setdefault(word.casefold(), UPPER)


def _initials(name: str) -> Iterator[str]:
    outside = re.sub(r"\(.*?\)", "", fold(name).text)
    all_words = re.findall(r"([^\W_]+)(?:'s\b)?", outside)
    own = [word for word in all_words if word.casefold() not in SMALL_WORDS]
    for words in (own, all_words):
        initials = "".join(word[0] for word in words).casefold()
        if len(own) > 1 and _is_abbreviation(initials):
            yield initials


def _is_abbreviation(word: str) -> bool:
    return (
        MIN_ABBREVIATION <= len(word) <= MAX_ABBREVIATION
        and word.isalpha()
        and word not in MEDICAL_ABBREVIATIONS
        and word not in ORDINARY_WORDS
    )


def _host(url: Any) -> str:
    try:
        return urlsplit(str(url or "")).hostname or ""
    except ValueError:
        return ""


def _host_labels(url: Any) -> Iterator[str]:
    for label in _host(url).split(".")[:-1]:
        folded = fold_word(label)
        if len(folded) > MIN_WORD and folded not in ORDINARY_WORDS:
            yield folded


def _telling_id_parts(records: list[Mapping[str, Any]]) -> set[str]:
    parts: dict[str, set[str]] = {}
    centers = {str(record["center"]) for record in records}
    for record in records:
        known = {fold_word(str(record.get(name) or "")) for name in ("organ", "phase")}
        for part in TOKEN.findall(str(record.get("handbook_id") or "").replace("_", " ")):
            if _is_abbreviation(part.casefold()) and part.casefold() not in known:
                parts.setdefault(part.casefold(), set()).add(str(record["center"]))
    return {part for part, of in parts.items() if len(centers) < 3 or len(of) <= COMMON_PART * len(centers)}
