"""The effect of blinding on a study's answers: the words in place of "NOT ADDRESSED", masked names, and names that may remain."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from annotation.label_store.engine import LabelStore
from annotation.label_store.studies import Study, answers_shown
from annotation.studies.verdict_store import find_origin
from audit.formatting import shortened
from audit.store.connection import Connection, open_store, rows
from audit.store.runs import Run
from audit.tables import Column, TableSpec
from audit.text.blinding import HIDDEN_CONTACT, HIDDEN_NAME, HIDDEN_PHRASE, HIDDEN_SOURCE, Masker, masker_of
from audit.vocabulary import NOT_ADDRESSED, NOTHING_SAID, without_absence

KINDS = {HIDDEN_NAME: "name", HIDDEN_CONTACT: "contact", HIDDEN_SOURCE: "credit or source line"}
PHRASE = "phrase"
MARKERS = (*KINDS, HIDDEN_PHRASE)
MARKER = re.compile("|".join(map(re.escape, MARKERS)))
_CAPITALISED = r"[A-Z][\w'-]*+"
_OF = r"(?:of|on|for|the|and|in|&)"
_KIND = (
    r"(?:Agency|Administration|Association|Centers?|Centres?|Clinics?|Foundation|Hospitals?|Institutes?|Library|Society|Trust|"
    r"University)"
)
# Found in two steps: looking for the kind again from each word of a long run takes the square of its length
CAPITALISED_RUN = re.compile(rf"\b{_CAPITALISED}(?:(?: {_OF}){{0,2}} {_CAPITALISED})*+")
KIND, JOINED = re.compile(rf"(?<![\w'-]){_KIND}"), re.compile(rf" {_OF} ")
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
        kinds = [*KINDS.values(), *([PHRASE] if PHRASE in places else [])]
        counts = ", ".join(f"{places.get(kind, 0):,} {kind}{'' if places.get(kind, 0) == 1 else 's'}" for kind in kinds)
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
    text = shortened(str(answer))
    more = without_absence(text)
    text = text if more is None else f"{NOTHING_SAID} {more}".strip()
    masked = masker.mask(text)
    end = len(masked.rstrip())
    if not masked.endswith(HIDDEN_SOURCE, 0, end):
        return masked
    while masked.endswith(HIDDEN_SOURCE, 0, end):
        end -= len(HIDDEN_SOURCE)
        while end and masked[end - 1].isspace():
            end -= 1
    return masked[:end] or masked


def organisations_in(text: str) -> Iterator[str]:
    """Names of organisations: capitalised words with one of a kind among them, from the last `of` before it to the end."""
    for run in CAPITALISED_RUN.finditer(text):
        if kind := KIND.search(run[0]):
            before = [match.end() for match in JOINED.finditer(run[0], 0, kind.start())]
            yield run[0][before[-1] if before else 0 :]


def preview_masking(
    answers: Iterable[Sequence[str | None]],
    shown: Iterable[str],
    masker: Masker,
    left_out: Callable[[str | None], list[str]] = lambda answer: [],
) -> MaskingPreview:
    """The effect of blinding on these answers.

    answers   the answers of each item, as the run has them
    shown     the same answers as annotators read them, in any order
    left_out  the phrases that are left out of an answer because only one handbook has them
    """
    places: Counter[tuple[str, str]] = Counter()
    items: Counter[tuple[str, str]] = Counter()
    organisations = Counter(name for text in shown for name in organisations_in(text) if " " in name)
    not_addressed = 0
    for texts in answers:
        own = [(KINDS[marker], part) for text in texts for marker, part in masker.replaced(shortened(text or ""))]
        own += [(PHRASE, phrase) for text in texts for phrase in left_out(text)]
        places.update(own)
        items.update(set(own))
        not_addressed += sum(without_absence(text or "") is not None for text in texts)
    rows = [(kind, " ".join(text.split()), n, items[kind, text]) for (kind, text), n in places.most_common()]
    frame = pd.DataFrame(rows, columns=[column.name for column in MASKED_TABLE.columns])
    return MaskingPreview(frame, not_addressed, dict(organisations.most_common()))


def masked_text(answers: Iterable[str], listed: Sequence[str]) -> str:
    """How often something is masked in these answers as annotators read them, and what the plan listed, in words."""
    places = Counter(marker for text in answers for marker in MARKER.findall(text))
    counts = ", ".join(f"{places[marker]:,} {marker}" for marker in MARKERS if marker in KINDS or places[marker])
    return f"Masked in the answers: {counts}." + (f" Listed besides the names of the run: {'; '.join(listed)}." if listed else "")


# -- Names of institutions that remain after masking ---------------------------------------------------------


NAME_COLUMNS = ("handbook_id", "organ", "phase", "center", "title", "url", "aliases")
NAMES = f"select {', '.join(NAME_COLUMNS)} from handbooks order by handbook"
SYSTEM_NAMES = "select system_id, name, model from systems order by system"


def masker_of_run(con: Connection, listed: Sequence[str] = ()) -> Masker:
    """The masker for the names of a run's handbooks and institutions, of its answering systems and their models, and those
    listed.
    """
    handbooks = (dict(zip(NAME_COLUMNS, row, strict=True)) for row in rows(con, NAMES))
    return masker_of(handbooks, [name for row in rows(con, SYSTEM_NAMES) for name in row if name], listed)


def words_left(answers: Iterable[tuple[str, str, str]], masker: Masker) -> dict[str, list[str]]:
    """Item id -> the words of an institution's name in its masked answers, of items that have any.

    answers  (item id, first answer, second answer)
    """
    words = {item_id: masker.words_left(f"{first}\n{second}") for item_id, first, second in answers}
    return {item_id: left for item_id, left in words.items() if left}


def names_left_in_study(store: LabelStore, study: Study, run: Run) -> dict[str, list[str]]:
    """The remaining name words in the items of a study, without silent repeats, by the names in its run."""
    with open_store(run.path) as con:
        masker = masker_of_run(con, find_origin(store, study.study_id).plan.get("masked_words", ()))
    return words_left(answers_shown(store, study.study_id), masker)


def names_left_text(names_left: Mapping[str, list[str]], *, names_shown: bool) -> str:
    """The names that remain in the answers, in words for the principal investigator; "" if names are shown."""
    if names_shown:
        return ""
    if not names_left:
        return "No answer still holds a word of an institution's name."
    listed = "; ".join(f"{item_id}: {', '.join(words)}" for item_id, words in sorted(names_left.items()))
    count = f"{len(names_left):,} {'item holds' if len(names_left) == 1 else 'items hold'}"
    return f"{count} a word that is in an institution's name too, and may be an ordinary one. A person has to judge: {listed}."
