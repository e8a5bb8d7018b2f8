"""A study as tables: one row per item with the labels side by side, and one row per (item, annotator) with a codebook.

For a PI: the tables hold the judge's labels. Nothing that annotators reach may import this module.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from annotation.label_store.engine import LabelStore
from annotation.label_store.results import assignment_rows
from annotation.label_store.studies import ItemKind, find_study
from annotation.ratings.table import Ratings, ratings_from
from annotation.studies.adjudication import GoldLabel, gold_labels
from annotation.studies.verdict_store import StoredVerdict, Stratum, list_strata, verdicts_by_item

CODEBOOK: dict[str, str] = {
    "study_id": "the study",
    "item_id": "the item; the same for both annotators",
    "kind": "calibration: rated before the study, in no figure; study: an item of the sample; repeat: a study item shown a "
    "second time without saying so, in no figure but intra-annotator agreement",
    "repeat_of": "item_id that a repeat repeats; empty otherwise",
    "question_id": "the question, as in the release",
    "handbook_a": "the handbook of answer a, as in the release",
    "handbook_b": "the handbook of answer b",
    "seat": "A or B: which of the item's two ratings this is (calibration with more annotators: C, D, ...)",
    "annotator": "who gave it; empty: nobody has taken the seat",
    "position": "place of the item in this annotator's own order, from 1",
    "shown_first": "a or b: the answer that stood first for this annotator; all labels are free of the order",
    "label": "the annotator's label that counts: ABSENT, CONSISTENT, COMPLEMENTARY, DIVERGENT, CONTRADICTORY; empty: not rated",
    "significance": "clinical significance low, medium, high; only with DIVERGENT and CONTRADICTORY",
    "unsure": "true: the annotator flagged the item as unsure",
    "comment": "the annotator's comment; text that a spreadsheet could run as a formula has an apostrophe in front",
    "seconds": "from showing the item to submitting it, by the server's clock; empty: rated offline",
    "revision": "1: the first rating; n: revised n - 1 times, earlier ones are kept in the store",
    "source": "page, packet (offline) or simulated",
    "submitted_at": "UTC time of the rating that counts",
    "hash": "the rating's place in the study's hash chain",
    "judge": "the judge's label",
    "judge_significance": "the judge's clinical significance",
    "stratum": "stratum of the draw: the judge's label, with a second criterion after a slash",
    "stratum_population": "N_h: pairs of the run in the stratum",
    "stratum_sample": "n_h: study items drawn from it, without replacement",
    "design_weight": "N_h / n_h: pairs of the run that one study item stands for; empty for calibration and repeats",
    "gold": "the label on which both annotators agree, else the adjudicated one; empty: none yet",
    "gold_significance": "clinical significance of the gold label; empty where the annotators gave different ones",
    "gold_source": "agreed or adjudicated",
    "adjudicator": "who decided; empty where nobody had to",
    "adjudication_reason": "why",
}
"""Column of `ratings_table` -> what it means, in the order of the columns."""

SIDE_COLUMNS = {
    "label": "annotator",
    "significance": "significance",
    "seconds": "seconds",
    "position": "order",
    "comment": "comment",
}
"""Column of `ratings_table` -> what it is called in `labels_table`, before `_a` or `_b`."""


def ratings_table(store: LabelStore, study_id: str) -> pd.DataFrame:
    """One row per (item, annotator), rated or not, by item and seat; the columns are those of CODEBOOK.

    Every figure of a study can be computed from it. Study, calibration and repeat items are all in it: filter by `kind`.

    Raises StudyError when there is no such study.
    """
    find_study(store, study_id)
    said, layers = verdicts_by_item(store, study_id), {layer.stratum: layer for layer in list_strata(store, study_id)}
    decided = gold_labels(store, study_id)
    rows = [
        {"study_id": study_id, **_seat(row), **_design(row, said, layers), **_gold(decided.get(row["item_id"]))}
        for row in assignment_rows(store, study_id)
    ]
    return pd.DataFrame(rows, columns=list(CODEBOOK))


def codebook() -> pd.DataFrame:
    """What the columns of `ratings_table` mean: column, meaning."""
    return pd.DataFrame(list(CODEBOOK.items()), columns=["column", "meaning"])


def labels_table(store: LabelStore, study_id: str) -> pd.DataFrame:
    """One row per study item, the form that `annotation agreement --labels` reads; calibration and repeats are not in it.

        item_id, question_id, handbook_a, handbook_b  str
        stratum                      str, stratum of the draw
        design_weight                float, pairs of the run that the item stands for
        judge, judge_significance    str or None
        annotator_a, significance_a, seconds_a, order_a, comment_a    seat A: label, ...; None where not rated
        annotator_b, ...             seat B
        gold, gold_significance, gold_source, adjudicator, adjudication_reason   str or None

    Raises StudyError when there is no such study.
    """
    table = ratings_table(store, study_id)
    table = table[table["kind"] == ItemKind.STUDY]
    item = ["item_id", "question_id", "handbook_a", "handbook_b", "stratum", "design_weight", "judge", "judge_significance"]
    end = ["gold", "gold_significance", "gold_source", "adjudicator", "adjudication_reason"]
    wide = table[item + end].drop_duplicates("item_id").set_index("item_id")
    for seat in "AB":
        own = table[table["seat"] == seat].set_index("item_id")
        for name, shown in SIDE_COLUMNS.items():
            wide[f"{shown}_{seat.lower()}"] = own[name]
    sides = [f"{shown}_{seat}" for seat in "ab" for shown in SIDE_COLUMNS.values()]
    return wide.reset_index()[[*item, *sides, *end]]


def study_ratings(store: LabelStore, study_id: str) -> Ratings:
    """The study as the table of ratings that every statistic takes, with the exactly known sizes of its strata.

    Raises StudyError when there is no such study, AuditError when it has no items that count.
    """
    pairs = {stratum.stratum: float(stratum.population) for stratum in list_strata(store, study_id)}
    return ratings_from(labels_table(store, study_id), f"Study {study_id}", pairs)


def repeats_table(store: LabelStore, study_id: str) -> pd.DataFrame:
    """How each annotator labelled the same item twice, one row per (annotator, repeat) that is rated both times.

    annotator, item_id (of the first showing)  str
    first, second                              str, labels
    positions_apart                            int, items in between, plus one
    """
    table = ratings_table(store, study_id).dropna(subset=["label"])
    again = table[table["kind"] == ItemKind.REPEAT]
    both = again.merge(table, left_on=["repeat_of", "annotator"], right_on=["item_id", "annotator"], suffixes=("_again", ""))
    return pd.DataFrame(
        {
            "annotator": both["annotator"],
            "item_id": both["item_id"],
            "first": both["label"],
            "second": both["label_again"],
            "positions_apart": both["position_again"] - both["position"],
        }
    )


def _seat(row: dict[str, Any]) -> dict[str, Any]:
    renamed = {"unsure": row["flagged"], "shown_first": "b" if row["swapped"] else "a"}
    return {name: row[name] for name in CODEBOOK if name in row} | renamed


def _design(row: dict[str, Any], said: dict[str, StoredVerdict], layers: dict[str, Stratum]) -> dict[str, Any]:
    verdict = said.get(row["item_id"])
    if verdict is None:
        return {}
    layer = layers[verdict.stratum]
    return {
        "judge": verdict.label,
        "judge_significance": verdict.significance,
        "stratum": verdict.stratum,
        "stratum_population": layer.population,
        "stratum_sample": layer.sampled,
        "design_weight": layer.weight if row["kind"] == ItemKind.STUDY else None,
    }


def _gold(decided: GoldLabel | None) -> dict[str, Any]:
    if decided is None:
        return {}
    told = {"gold": decided.label, "gold_significance": decided.significance, "gold_source": decided.source}
    if decided.decision is None:
        return told
    return told | {"adjudicator": decided.decision.adjudicator, "adjudication_reason": decided.decision.reason}
