"""Gold labels that a file has as columns or rows of their own, apart from ratings."""

from __future__ import annotations

from collections import Counter

import pandas as pd

from annotation.ratings.file_rows import GOLD_COLUMNS, ROW
from annotation.ratings.table import GOLD
from annotation.ratings.tool_exports import GOLD_ROW
from audit.errors import AuditError
from audit.people_tables import ANNOTATOR, plain_name, rater_key
from audit.vocabulary import LABEL_SPELLINGS, plain

GROUND_TRUTH = "ground_truth"
"""A column of labels, or one of yes and no that marks the rows which are gold."""
UNTOUCHED = "initial_cas"
"""INCEpTION's name for a document before anybody annotated it."""
MARKS = {"true": "yes", "yes": "yes", "false": "", "no": "", "": ""}
GOLD_SIGNIFICANCE = "gold_significance"
NOTHING = "Nothing was computed."


def with_gold_column(frame: pd.DataFrame, where: str) -> pd.DataFrame:
    """The frame with its column of gold labels called `gold`, and one that marks gold rows called GOLD_ROW.

    Raises AuditError where two columns could be it.
    """
    if GROUND_TRUTH in frame and set(map(str.casefold, frame[GROUND_TRUTH])) <= set(MARKS) and any(frame[GROUND_TRUTH]):
        marks = frame[GROUND_TRUTH].map(lambda cell: MARKS[cell.casefold()])
        frame = frame.assign(**{GOLD_ROW: marks}).drop(columns=GROUND_TRUTH)
    found = [name for name in map(str, frame) if name in GOLD_COLUMNS or _of_gold(name)]
    if len(found) > 1:
        raise AuditError(
            f"{where}, row 1: columns {' and '.join(found)} could both be the gold label. {NOTHING} Keep one, called gold."
        )
    return frame.rename(columns={found[0]: GOLD}) if found else frame


def _of_gold(name: str) -> bool:
    return name.startswith(ANNOTATOR) and rater_key(name) in GOLD_COLUMNS


def gold_apart(rows: pd.DataFrame, where: str) -> tuple[pd.DataFrame, pd.DataFrame, Counter[str]]:
    """The rows of ratings; the gold labels by item, columns gold and gold_significance; and why labelled rows are not ratings.

    rows  with columns item_id, annotator, label and ROW

    Raises AuditError where an item has two gold labels.
    """
    names = rows["annotator"].map(plain_name)
    is_gold, untouched = names.isin(GOLD_COLUMNS), names == UNTOUCHED
    if GOLD_ROW in rows:
        is_gold |= rows[GOLD_ROW] == "yes"
    labelled = rows["label"] != ""
    left_out = Counter(
        {
            "gold labels, which are not ratings": int((is_gold & labelled).sum()),
            f"of {UNTOUCHED.upper()}, the document before anybody annotated it": int((untouched & labelled).sum()),
        }
    )
    gold = rows[is_gold & labelled]
    columns = [name for name in ("label", "significance") if name in gold]
    by_item = gold.drop_duplicates("item_id").set_index("item_id")[columns]
    _check_one_label(gold, by_item["label"], where)
    if GOLD in rows:
        decided = rows[rows[GOLD] != ""]
        _check_one_label(decided.assign(label=decided[GOLD])[decided["item_id"].isin(by_item.index)], by_item["label"], where)
        others = decided[~decided["item_id"].isin(by_item.index)].drop_duplicates("item_id").set_index("item_id")[[GOLD]]
        by_item = pd.concat([by_item, others.rename(columns={GOLD: "label"})]) if len(by_item) else by_item
    named = by_item.rename(columns={"label": GOLD, "significance": GOLD_SIGNIFICANCE}).fillna("")
    return rows[~is_gold & ~untouched], named, +left_out


def _check_one_label(rows: pd.DataFrame, labels: pd.Series, where: str) -> None:
    """Refuse rows with another gold label than their item has in `labels`; spellings do not matter."""
    for item, label, place in rows[["item_id", "label", ROW]].itertuples(index=False):
        first, second = (LABEL_SPELLINGS.get(plain(word), word) for word in (labels[item], label))
        if first != second:
            raise AuditError(
                f"{where}, {place}: item '{item}' has two gold labels, '{first}' and '{second}'. {NOTHING} Delete one of them."
            )
