"""The groups that a study's items fall into: organ, topic, phase, length of the answers, the judge's label.

For PIs only: the judge's label and the handbooks are among them. Nothing that annotators can reach may import this module.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from annotation.label_store.engine import LabelStore
from annotation.label_store.results import assignment_rows
from annotation.label_store.studies import ItemKind
from annotation.prevalence.by_group import corrected_by_group
from annotation.ratings.table import Ratings
from annotation.studies.verdict_store import verdicts_by_item
from audit.metrics.handbooks import centers
from audit.metrics.questions import organs, topics
from audit.queries.group_labels import GROUPINGS, group_labels
from audit.queries.pair_counts import ALL_HANDBOOKS
from audit.store.connection import Connection, frame
from audit.vocabulary import LABELS

ORGANS = "select question_id, organ as name from questions"
TOPICS = "select question_id, topic as name from questions join topics using (question)"
PHASES = "select handbook_id, phase from handbooks"
CENTERS = "select handbook_id, center from handbooks"
LENGTHS = 3
"""Thirds: with 100 to 200 items, more groups would be too small to say anything."""
LENGTH_NAMES = ("shortest", "middle", "longest")
BY_CENTER = "center"
BY_LABEL, BY_ORGAN, BY_TOPIC, BY_PHASE, BY_LENGTH = "label by the judge", "organ", "topic", "phase", "length of the answers"
BY_MONTH = "month of the first rating"


def item_groups(store: LabelStore, study_id: str, con: Connection | None = None) -> pd.DataFrame:
    """The groups of each study item, calibration items and repeats excluded: columns item_id, by, group.

    `con` is a connection to the run that the study was drawn from; without one, organ, topic and phase are not known.
    Length: thirds of the items by the number of words of both answers together, equal numbers on the same side.
    """
    items = _study_items(store, study_id)
    rated = rated_at(store, study_id)
    month = items.assign(by=BY_MONTH, group=items["item_id"].map(rated.str[:7])).dropna(subset=["group"]).sort_values("group")
    parts = [_by_label(store, study_id, items), *(_of_run(items, con) if con is not None else ()), _by_length(items), month]
    groups: pd.DataFrame = pd.concat(parts, ignore_index=True)
    return groups[["item_id", "by", "group"]]


def rated_at(store: LabelStore, study_id: str) -> pd.Series:
    """When each study item was first rated, by item id, earliest first: ISO 8601 timestamps of the last revision."""
    rows = [row for row in assignment_rows(store, study_id) if row["kind"] == ItemKind.STUDY and row["submitted_at"]]
    table = pd.DataFrame([(row["item_id"], row["submitted_at"]) for row in rows], columns=["item_id", "at"])
    return table.groupby("item_id")["at"].min().sort_values(kind="stable")


def unrated_groups(groups: pd.DataFrame, con: Connection) -> pd.DataFrame:
    """The organs and topics of a run in which nobody rated an item: columns by and group."""
    named = [(by, name) for by, statement in ((BY_ORGAN, ORGANS), (BY_TOPIC, TOPICS)) for name in _names(con, statement)]
    known = set(groups[["by", "group"]].itertuples(index=False, name=None))
    return pd.DataFrame([one for one in named if one not in known], columns=["by", "group"])


def _names(con: Connection, statement: str) -> list[str]:
    return sorted(frame(con, statement)["name"].dropna().unique())


def pair_groups(items: pd.DataFrame, con: Connection) -> pd.DataFrame:
    """The parts of a run that each rated pair is in: columns item_id, by ('organ', 'topic' or 'center') and group.

    `items` has item_id, question_id, handbook_a, handbook_b; a pair of two centers is in both.
    """
    center = frame(con, CENTERS).set_index("handbook_id")["center"]
    sides = pd.concat([items.assign(by=BY_CENTER, group=items[side].map(center)) for side in ("handbook_a", "handbook_b")])
    parts = pd.concat([*_by_question(items, con), sides], ignore_index=True)
    return parts[["item_id", "by", "group"]].drop_duplicates(ignore_index=True)


def _study_items(store: LabelStore, study_id: str) -> pd.DataFrame:
    rows = [row for row in assignment_rows(store, study_id) if row["kind"] == ItemKind.STUDY]
    # A row per annotator: the first of each item
    return pd.DataFrame(list({row["item_id"]: row for row in reversed(rows)}.values()))


def _by_label(store: LabelStore, study_id: str, items: pd.DataFrame) -> pd.DataFrame:
    verdicts = verdicts_by_item(store, study_id)
    labels = items["item_id"].map({item: verdict.label for item, verdict in verdicts.items() if verdict.label in LABELS})
    return items.assign(by=BY_LABEL, group=labels).dropna(subset=["group"]).sort_values("group", key=_in_order)


def _in_order(labels: pd.Series) -> pd.Series:
    return labels.map({label: index for index, label in enumerate(LABELS)})


def _by_question(items: pd.DataFrame, con: Connection) -> Iterator[pd.DataFrame]:
    for by, statement in ((BY_ORGAN, ORGANS), (BY_TOPIC, TOPICS)):
        joined = items.merge(frame(con, statement).drop_duplicates(), on="question_id")
        yield joined.assign(by=by, group=joined["name"]).sort_values("group")


def _of_run(items: pd.DataFrame, con: Connection) -> Iterator[pd.DataFrame]:
    yield from _by_question(items, con)
    phase = frame(con, PHASES).set_index("handbook_id")["phase"]
    first, second = (items[side].map(phase).astype(str) for side in ("handbook_a", "handbook_b"))
    # Two handbooks of one phase should say the same; of two phases they may differ because their readers do
    same = first.where(first == second, "two phases")
    yield items.assign(by=BY_PHASE, group=same).sort_values("group")


def _by_length(items: pd.DataFrame) -> pd.DataFrame:
    words = pd.Series([len(f"{a or ''} {b or ''}".split()) for a, b in zip(items["answer_a"], items["answer_b"], strict=True)])
    edges = [float("-inf"), *(words.quantile(part / LENGTHS) for part in range(1, LENGTHS)), float("inf")]
    third = pd.cut(words, pd.Index(edges).drop_duplicates(), labels=False)
    names = {
        number: f"{name} third, {int(own.min())} to {int(own.max())} words"
        for (number, own), name in zip(words.groupby(third), LENGTH_NAMES, strict=False)
    }
    return items.reset_index(drop=True).assign(by=BY_LENGTH, group=third.map(names), third=third).sort_values("third")


# -- The corrected disagreement rate of each organ, topic and center of a run --------------------------------


COLUMNS = (
    "by", "group", "present", "judge", "corrected", "corrected_low", "corrected_high", "elsewhere", "elsewhere_low",
    "elsewhere_high", "n", "own",
)  # fmt: skip


def corrected_parts(
    ratings: Ratings, items: pd.DataFrame, con: Connection | None, groupings: tuple[str, ...] = GROUPINGS
) -> pd.DataFrame:
    """`corrected_by_group` for each grouping, with `by` as first column; no rows without a run or a design of the sample.

    items  item_id, question_id, handbook_a, handbook_b of the rated pairs
    """
    if con is None or ratings.design is None:
        return pd.DataFrame(columns=list(COLUMNS))
    groups = pair_groups(items, con)
    parts = [
        corrected_by_group(
            ratings, groups[groups["by"] == by], group_labels(con, by), elsewhere=_judge_elsewhere(con, by)
        ).assign(by=by)
        for by in groupings
    ]
    return pd.concat(parts, ignore_index=True)[list(COLUMNS)]


def _judge_elsewhere(con: Connection, by: str) -> dict[str, tuple[float, float]]:
    """The interval of the judge's own rate in each group, for other questions and other handbooks."""
    rates = organs(con, scope=ALL_HANDBOOKS) if by == BY_ORGAN else topics(con) if by == BY_TOPIC else centers(con)
    return {str(name): (low, high) for name, low, high in zip(rates[by], rates["r_div_low"], rates["r_div_high"], strict=True)}
