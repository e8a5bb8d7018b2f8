"""A study as tables: one row per item with the labels side by side, and one row per (item, annotator) with a codebook.

For PIs only: the tables contain the judge's labels. Nothing that annotators can reach may import this module.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from string import ascii_uppercase

import pandas as pd

from annotation.label_store.engine import LabelStore
from annotation.label_store.rationales import marked_texts
from annotation.label_store.results import AssignmentRow, assignment_rows
from annotation.label_store.studies import ItemKind, find_study, is_complete
from annotation.ratings.design import MISSING, UNSCORED
from annotation.ratings.gold import gold_standard
from annotation.ratings.table import Ratings, ratings_from
from annotation.schemes import HEAD_TO_HEAD, PAIRS, Scheme
from annotation.studies.adjudication import GoldLabel, gold_labels
from annotation.studies.learnt import learnt_from
from annotation.studies.verdict_store import StoredVerdict, Stratum, list_strata, verdicts_by_item
from audit.tables import Column, TableSpec
from audit.vocabulary import DIFFERENCES, LABELS

CODEBOOK: dict[str, str] = {
    "study_id": "the study",
    "item_id": "the item; the same for all its annotators",
    "kind": "calibration: rated before the study, enters no figure; study: an item of the sample; repeat: a study item shown a "
    "second time without notice, used for intra-rater agreement only",
    "repeat_of": "item_id that a repeat repeats; empty otherwise",
    "question_id": "the question, as in the release",
    "handbook_a": "the handbook of answer a, as in the release",
    "handbook_b": "the handbook of answer b",
    "seat": "A, B, ...: which of the item's ratings this is (of a calibration item: of which annotator)",
    "annotator": "who rated; empty: not assigned yet",
    "position": "position of the item in this annotator's own order, from 1",
    "shown_first": "a or b: the answer that this annotator saw first; labels do not depend on the order",
    "label": f"the current revision of the label: {', '.join(LABELS)}; empty: not rated",
    "significance": "clinical significance low, medium, high; only with DIVERGENT and CONTRADICTORY",
    "difference": f"why the advice differs: {', '.join(DIFFERENCES)}; optional, only with DIVERGENT and CONTRADICTORY",
    "unsure": "true: the annotator flagged the item as unsure",
    "comment": "the annotator's comment; text that a spreadsheet could run as a formula begins with an apostrophe",
    "rationale_a": "sentences of answer a that the annotator marked as the basis of the label, one per line; empty: none marked",
    "rationale_b": "the same for answer b",
    "seconds": "from showing the item to submitting it, by the server's clock; empty: rated offline",
    "revision": "1: the first rating; n: revised n - 1 times; earlier revisions stay in the store",
    "source": "page, packet (offline) or simulated",
    "submitted_at": "UTC time of the current revision",
    "hash": "hash of the rating in the study's hash chain",
    "judge": "the judge's label",
    "judge_significance": "the judge's clinical significance",
    "stratum": "stratum of the sample: the judge's label, with a second criterion after a slash",
    "stratum_population": "N_h: pairs of the run in the stratum",
    "stratum_sample": "n_h: study items drawn from it, without replacement",
    "design_weight": "N_h / n_h: pairs of the run that one study item represents; empty for calibration and repeats",
    "gold": "the adjudicated label, else the one of more than half of the item's annotators, at least two; empty: none yet",
    "gold_significance": "clinical significance of the gold label; empty where those who gave the label chose different ones",
    "gold_source": "agreed or adjudicated",
    "adjudicator": "who decided; empty where the annotators had a majority",
    "adjudication_reason": "the adjudicator's reason",
}
"""Column of the ratings table of a study of pairs -> its meaning, in column order."""

_ONLY_OF_PAIRS = ("significance", "difference", "judge", "judge_significance", "design_weight", "gold_significance")
HEAD_TO_HEAD_CODEBOOK = {name: meaning for name, meaning in CODEBOOK.items() if name not in _ONLY_OF_PAIRS} | {
    "handbook_a": "the system that gave answer a, as in the release",
    "handbook_b": "the system that gave answer b",
    "shown_first": "a or b: the answer that this annotator saw as answer A; labels are already turned back to a and b",
    "label": "the current revision of the choice: A (answer a is better), B (answer b), tie, both_bad; empty: not rated",
    "reference_opened": "UTC time when the annotator first opened the reference answer on the page; empty: never (a packet has "
    "it in a column)",
    "stratum": "the two systems, and the type of question after a slash",
    "stratum_population": "N_h: questions of the run in the stratum that both systems answered",
}
"""The columns for a head-to-head study. Those of systems are called system_a and system_b."""
CODEBOOKS = {
    PAIRS: CODEBOOK,
    HEAD_TO_HEAD: {name.replace("handbook_", "system_"): meaning for name, meaning in HEAD_TO_HEAD_CODEBOOK.items()},
}
"""Scheme -> column of `ratings_table` -> its meaning."""

STRATA_TABLE = TableSpec(
    "How the validation sample was drawn",
    (
        Column.text("stratum", "Stratum", "judge's label"),
        Column.count("population", "N_h", "pairs of the run"),
        Column.count("sampled", "n_h", "items"),
        Column.decimal("weight", "Weight", "N_h / n_h"),
        Column.decimal("share", "Share", "of the pairs"),
    ),
    ("Drawn without replacement inside each stratum; calibration items and silent repeats are excluded.",),
)
TYPES_TABLE = replace(
    STRATA_TABLE,
    title="How the questions were drawn",
    columns=(
        Column.text("stratum", "Stratum", "systems, type of question"),
        Column.count("population", "N_h", "questions of the run"),
        *STRATA_TABLE.columns[2:-1],
        Column.share("share", "Share", "of the questions"),
    ),
)
SAMPLE_TABLES = {PAIRS: STRATA_TABLE, HEAD_TO_HEAD: TYPES_TABLE}
SIDE_COLUMNS = {
    "label": "annotator",
    "significance": "significance",
    "seconds": "seconds",
    "position": "order",
    "comment": "comment",
}
"""Column of `ratings_table` -> its name in `labels_table`, before `_a` or `_b`."""


def strata_frame(strata: Sequence[Stratum]) -> pd.DataFrame:
    """One row per stratum of a sample, with the columns of STRATA_TABLE."""
    pairs = sum(stratum.population for stratum in strata)
    rows = [(s.stratum, s.population, s.sampled, s.weight, s.population / pairs) for s in strata]
    return pd.DataFrame(rows, columns=[column.name for column in STRATA_TABLE.columns])


def ratings_table(store: LabelStore, study_id: str) -> pd.DataFrame:
    """One row per (item, annotator), rated or not, by item and seat; the columns are those of the scheme in CODEBOOKS.

    Every figure of a study can be computed from it. It has study, calibration and repeat items: filter by `kind`.

    Raises StudyError when there is no such study.
    """
    columns = list(CODEBOOKS[find_study(store, study_id).scheme])
    verdicts, gold = verdicts_by_item(store, study_id), gold_labels(store, study_id)
    strata = {stratum.stratum: stratum for stratum in list_strata(store, study_id)}
    rows = [
        {"study_id": study_id, **_rating_part(row), **_design_part(row, verdicts, strata), **_gold_part(gold.get(row["item_id"]))}
        for row in assignment_rows(store, study_id)
    ]
    return pd.DataFrame(rows, columns=columns)


def codebook(scheme: Scheme = PAIRS) -> pd.DataFrame:
    """The columns of `ratings_table` and their meanings: column, meaning."""
    return pd.DataFrame(list(CODEBOOKS[scheme].items()), columns=["column", "meaning"])


def labels_table(store: LabelStore, study_id: str, *, every: bool = False) -> pd.DataFrame:
    """One row per study item, as `audit agreement` reads a labels file; calibration items and repeats are excluded.

    Items of questions that a version of a judge has learnt from are left out too, but with `every`: their labels prove nothing.

        item_id, question_id, handbook_a, handbook_b  str
        stratum                      str, stratum of the sample
        design_weight                float, pairs of the run that the item represents
        judge, judge_significance    str or None
        annotator_a, significance_a, seconds_a, order_a, comment_a    seat A: label, ...; None where not rated
        annotator_b, ...             seat B, and so on for as many as rate an item
        gold, gold_significance, gold_source, adjudicator, adjudication_reason   str or None

    A head-to-head study has systems instead of handbooks, and neither a judge, nor weights, nor significances.

    Raises StudyError when there is no such study.
    """
    table = ratings_table(store, study_id)
    learnt = {} if every else learnt_from(store, study_id)
    table = table[(table["kind"] == ItemKind.STUDY) & ~table["question_id"].isin(list(learnt))]
    item = [
        "item_id", "question_id", "handbook_a", "handbook_b", "system_a", "system_b", "stratum", "design_weight", "judge",
        "judge_significance",
    ]  # fmt: skip
    end = ["gold", "gold_significance", "gold_source", "adjudicator", "adjudication_reason"]
    item, end = ([name for name in names if name in table] for names in (item, end))
    shown_names = {name: shown for name, shown in SIDE_COLUMNS.items() if name in table}
    # The columns about the item, the judge and gold are the same in both rows of an item.
    wide = table[item + end].drop_duplicates("item_id").set_index("item_id")
    seats = ascii_uppercase[: find_study(store, study_id).ratings_per_item]
    for seat in seats:
        own = table[table["seat"] == seat].set_index("item_id")
        for name, shown in shown_names.items():
            wide[f"{shown}_{seat.lower()}"] = own[name]
    sides = [f"{shown}_{seat}" for seat in seats.lower() for shown in shown_names.values()]
    return wide.reset_index()[[*item, *sides, *end]]


def study_ratings(store: LabelStore, study_id: str) -> Ratings:
    """The study as the ratings that every statistic takes, with the exactly known sizes of its strata; live until complete.

    Raises StudyError when there is no such study, AuditError when it has no rated study items.
    """
    study, labels = find_study(store, study_id), labels_table(store, study_id)
    if study.scheme is not PAIRS:  # such studies have no judge, so only its column is missing
        found = ratings_from(labels.assign(judge=None), f"Study {study_id}", scheme=study.scheme)
    else:
        # Known exactly, while sums of weights would miss strata from which nothing was drawn.
        pairs = {stratum.stratum: float(stratum.population) for stratum in list_strata(store, study_id)}
        found = ratings_from(labels, f"Study {study_id}", pairs)
    return found if is_complete(store, study) else found.as_live()


def repeats_table(store: LabelStore, study_id: str) -> pd.DataFrame:
    """Labels of items that one annotator rated twice: one row per (annotator, repeat) rated both times.

    annotator, item_id (of the first showing)  str
    first, second                              str, labels
    positions_apart                            int, difference of the two positions
    """
    table = ratings_table(store, study_id).dropna(subset=["label"])
    repeats = table[table["kind"] == ItemKind.REPEAT]
    both = repeats.merge(table, left_on=["repeat_of", "annotator"], right_on=["item_id", "annotator"], suffixes=("_again", ""))
    return pd.DataFrame(
        {
            "annotator": both["annotator"],
            "item_id": both["item_id"],
            "first": both["label"],
            "second": both["label_again"],
            "positions_apart": both["position_again"] - both["position"],
        }
    )


def _rating_part(row: AssignmentRow) -> dict[str, object]:
    renamed = {"unsure": row["flagged"], "shown_first": "b" if row["swapped"] else "a"}
    answers = (row["answer_a"], row["answer_b"])
    marked = {f"rationale_{name}": marked_texts(row["rationale"], answers, side) for side, name in enumerate("ab")}
    return {**row, **renamed, **marked, "system_a": row["handbook_a"], "system_b": row["handbook_b"]}


def _design_part(row: AssignmentRow, verdicts: dict[str, StoredVerdict], strata: dict[str, Stratum]) -> dict[str, object]:
    verdict = verdicts.get(row["item_id"])
    if verdict is None:
        return {}
    stratum = strata[verdict.stratum]
    return {
        "judge": None if verdict.label == UNSCORED else verdict.label,
        "judge_significance": verdict.significance,
        "stratum": verdict.stratum,
        "stratum_population": stratum.population,
        "stratum_sample": stratum.sampled,
        # Calibration items and repeats are not part of the sample, so they represent no pairs.
        "design_weight": stratum.weight if row["kind"] == ItemKind.STUDY else None,
    }


def _gold_part(gold: GoldLabel | None) -> dict[str, object]:
    if gold is None:
        return {}
    columns: dict[str, object] = {"gold": gold.label, "gold_significance": gold.significance, "gold_source": gold.source}
    if gold.decision is None:
        return columns
    return columns | {"adjudicator": gold.decision.adjudicator, "adjudication_reason": gold.decision.reason}


# -- The flow of a study's items: drawn, rated, agreed, adjudicated; with its calibration round, repeats and single ratings


FLOW_TABLE = TableSpec(
    "Flow of items", (Column.text("step", "Step"), Column.count("n", "n", "items"), Column.text("note", "Note"))
)
RATINGS_TABLE = TableSpec(
    "Every rating of the study",
    (
        Column.text("item_id", "Item"), Column.text("kind", "Kind"), Column.text("question_id", "Question"),
        Column.text("handbook_a", "Handbook a"), Column.text("handbook_b", "Handbook b"), Column.text("seat", "Annotator"),
        Column.count("position", "Position"), Column.text("label", "Label"), Column.text("significance", "Significance"),
        Column.text("unsure", "Unsure"), Column.decimal("seconds", "Time", "s"), Column.text("judge", "Judge"),
        Column.text("stratum", "Stratum"), Column.decimal("design_weight", "Weight"), Column.text("gold", "Gold"),
        Column.text("gold_source", "Source of gold"),
    ),
    ("Annotators are called A and B; names, comments and reasons are left out. `audit study export` has them.",),
    printed_rows=30,
)  # fmt: skip
CODEBOOK_TABLE = TableSpec("Codebook of the ratings", (Column.text("column", "Column"), Column.text("meaning", "Meaning")))


@dataclass(frozen=True)
class StudyFlow:
    """Items of a study by outcome.

    drawn        items of the sample
    rated        rated by at least two annotators
    agreed       with a gold label on which annotators agree
    adjudicated  with a gold label that a third person decided
    disputed     rated by two or more, without a majority and not decided
    rated_once, unrated   items with one rating, and with none
    calibration, repeats  items outside the sample
    """

    drawn: int
    rated: int
    agreed: int
    adjudicated: int
    disputed: int
    rated_once: int
    unrated: int
    calibration: int
    repeats: int

    def sentence(self) -> str:
        """The flow in a sentence."""
        states = ((self.disputed, "undecided"), (self.rated_once, "rated once"), (self.unrated, "not rated"))
        left = ", ".join(f"{n:,} {words}" for n, words in states if n)
        return (
            f"Of {self.drawn:,} items drawn, {self.rated:,} were rated by at least two annotators, who agreed on "
            f"{self.agreed:,}; {self.adjudicated:,} were adjudicated{f'; {left}' if left else ''}."
        )

    def frame(self) -> pd.DataFrame:
        """One row per step, with the columns of FLOW_TABLE."""
        rows = [
            ("drawn", self.drawn, "items of the sample"),
            ("rated by at least two annotators", self.rated, ""),
            ("agreed", self.agreed, "the annotators' label is gold"),
            ("adjudicated", self.adjudicated, "a third person's label is gold"),
            ("in open dispute", self.disputed, "no gold label yet"),
            ("rated by one annotator only", self.rated_once, "no gold label"),
            ("not rated", self.unrated, ""),
            ("calibration items", self.calibration, "outside the sample"),
            ("hidden repeats", self.repeats, "outside the sample"),
        ]
        return pd.DataFrame(rows, columns=[column.name for column in FLOW_TABLE.columns])


def study_flow(ratings: Ratings, table: pd.DataFrame) -> StudyFlow:
    """The flow of a study; `table` as `annotation.studies.study_tables.ratings_table` returns it."""
    gold = gold_standard(ratings)
    once, disputed = int(gold.rated_once.sum()), int(gold.disputed.sum())
    raters = sum((ratings.labels[rater] != MISSING).astype(int) for rater in ratings.annotators)
    kinds = table.drop_duplicates("item_id")["kind"].value_counts()
    return StudyFlow(
        len(ratings.items), int((raters >= 2).sum()), gold.agreed, int(gold.adjudicated.sum()), disputed, once,
        int((raters == 0).sum()), int(kinds.get(ItemKind.CALIBRATION, 0)), int(kinds.get(ItemKind.REPEAT, 0)),
    )  # fmt: skip


def by_annotator_letter(retest: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Figures by annotator, under letters instead of the names of accounts; an annotator with both seats has both letters."""
    seats = table.dropna(subset=["annotator"]).groupby("annotator")["seat"].agg(lambda own: " and ".join(sorted(set(own))))
    return retest.assign(annotator=[f"annotator {seats.get(name, '')}".strip() for name in retest["annotator"]])
