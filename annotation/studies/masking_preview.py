"""The effect of blinding on a study's answers: the words in place of "NOT ADDRESSED", masked names, and names that may remain."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd

from audit.tables import Column, TableSpec
from audit.text.blinding import HIDDEN_CONTACT, HIDDEN_NAME, HIDDEN_SOURCE, Masker
from audit.vocabulary import NOT_ADDRESSED, NOTHING_SAID, without_absence

LAST_CREDIT = re.compile(rf"(?:\s*{re.escape(HIDDEN_SOURCE)})+\s*$")
KINDS = {HIDDEN_NAME: "name", HIDDEN_CONTACT: "contact", HIDDEN_SOURCE: "credit or source line"}
MARKER = re.compile("|".join(map(re.escape, KINDS)))
_CAPITALISED = r"[A-Z][\w'-]*"
_OF = r"(?:of|on|for|the|and|in|&)"
_KIND = (
    r"(?:Agency|Administration|Association|Centers?|Centres?|Clinics?|Foundation|Hospitals?|Institutes?|Library|Society|Trust|"
    r"University)"
)
ORGANISATION = re.compile(rf"\b(?:{_CAPITALISED} )*{_KIND}(?:(?: {_OF}){{1,2}} {_CAPITALISED}| {_CAPITALISED})*")
MASKED_TABLE = TableSpec(
    "What is masked in the answers",
    (
        Column.text("kind", "Kind"),
        Column.text("text", "Masked words", "as written"),
        Column.count("places", "Places"),
        Column.count("items", "Items"),
    ),
    ("Study and calibration items; silent repeats are not counted again.",),
)


@dataclass(frozen=True)
class MaskingPreview:
    """The effect of blinding on the answers of a sample.

    masked         columns of MASKED_TABLE, most places first: words as written, in how many places and items
    not_addressed  answers that begin with NOT ADDRESSED and are shown in neutral words
    organisations  names of organisations that are still in the masked answers, with the number of places; not in the run, so
                   a person has to judge whether they reveal whose text it is
    """

    masked: pd.DataFrame
    not_addressed: int
    organisations: dict[str, int]

    def sentence(self) -> str:
        """The counts, in words."""
        places = self.masked.groupby("kind")["places"].sum().to_dict()
        counts = ", ".join(f"{places.get(kind, 0):,} {kind}{'' if places.get(kind, 0) == 1 else 's'}" for kind in KINDS.values())
        return (
            f"Masked in the answers: {counts}. {self.not_addressed:,} answers that begin with {NOT_ADDRESSED} are shown as: "
            f"{NOTHING_SAID}"
        )

    def organisations_sentence(self) -> str:
        """The remaining names of organisations, in words; "" if there are none."""
        if not self.organisations:
            return ""
        listed = "; ".join(f"{name} ({places})" for name, places in self.organisations.items())
        return f"Names of other organisations remain. List those that reveal whose text it is, and preview again: {listed}."


def blind_answer(answer: str | None, masker: Masker) -> str:
    """An answer as annotators read it: masked, and in neutral words where a generator said that nothing is addressed.

    What follows these words is kept, unless it is their reason. A missing text is an absent answer. A credit at the end is left
    out, not marked: where only one institution has such lines, the mark would tell its answers from the others.
    """
    if not (answer or "").strip():
        return NOTHING_SAID
    text = str(answer)
    more = without_absence(text)
    text = text if more is None else f"{NOTHING_SAID} {more}".strip()
    masked = masker.mask(text)
    return LAST_CREDIT.sub("", masked) or masked


def preview_masking(answers: Iterable[Sequence[str | None]], shown: Iterable[str], masker: Masker) -> MaskingPreview:
    """The effect of blinding on these answers.

    answers  the answers of each item, as the run has them
    shown    the same answers as annotators read them, in any order
    """
    places: Counter[tuple[str, str]] = Counter()
    items: Counter[tuple[str, str]] = Counter()
    organisations = Counter(match[0] for text in shown for match in ORGANISATION.finditer(text) if " " in match[0])
    not_addressed = 0
    for texts in answers:
        own = [part for text in texts for part in masker.replaced(text or "")]
        places.update(own)
        items.update(set(own))
        not_addressed += sum(without_absence(text or "") is not None for text in texts)
    rows = [(KINDS[marker], " ".join(text.split()), n, items[marker, text]) for (marker, text), n in places.most_common()]
    frame = pd.DataFrame(rows, columns=[column.name for column in MASKED_TABLE.columns])
    return MaskingPreview(frame, not_addressed, dict(organisations.most_common()))


def masked_text(answers: Iterable[str], listed: Sequence[str]) -> str:
    """How often something is masked in these answers as annotators read them, and what the plan listed, in words."""
    places = Counter(marker for text in answers for marker in MARKER.findall(text))
    counts = ", ".join(f"{places[marker]:,} {marker}" for marker in KINDS)
    return f"Masked in the answers: {counts}." + (f" Listed besides the names of the run: {'; '.join(listed)}." if listed else "")
