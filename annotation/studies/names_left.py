"""Names of institutions that remain after masking: they reveal to an annotator whose handbook an answer is from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from annotation.label_store.engine import LabelStore
from annotation.label_store.studies import Study, answers_shown
from annotation.studies.verdict_store import find_origin
from audit.store.connection import Connection, open_store, rows
from audit.store.runs import Run
from audit.text.blinding import Masker, masker_of

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
    count = f"{len(names_left):,} {'item still holds' if len(names_left) == 1 else 'items still hold'}"
    return f"{count} a word of an institution's name. Read them before the study begins: {listed}."
