"""Which handbooks agree on one question: the labels of every two, and groups of handbooks side by side."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from audit.metrics import metric
from audit.metrics._disputes import Dispute, disputes_on
from audit.queries.judge_errors import judge_errors
from audit.queries.lookup import question_number
from audit.stats.latent_positions import JudgeErrors, Partitions, best_partition, partitions
from audit.stats.measured_errors import ASSUMED_ERRORS
from audit.store.connection import Connection, frame, rows
from audit.tables import Column, TableSpec
from audit.text.cited_amounts import cited_amounts
from audit.vocabulary import DISAGREEING, PRESENT_LABELS, Label

UNSCORED, NOT_ASKED, SELF = "unscored", "not asked", "self"
ANSWERS, NOT_ADDRESSED, UNREAD = "answers", "not addressed", "unread"

# Without answers in the release, the pairs of a handbook show whether it answers.
GROUPS_SQL = """
with involved as (
    select handbook_a as handbook, present from judged_pairs where question = $question
    union all
    select handbook_b, present from judged_pairs where question = $question
),
verdicts as (
    select handbook, bool_or(present is not false) as in_present_pair from involved group by handbook
)
select h.handbook_id, h.organ, h.center, h.phase, a.answer,
       case when a.absent then 'not addressed' when not a.absent then 'answers' when a.unread_reason is not null then 'unread'
            when in_present_pair then 'answers' when not in_present_pair then 'not addressed'
            else 'not asked' end as state
from handbooks h
left join answers a on a.handbook = h.handbook and a.question = $question
left join verdicts v on v.handbook = h.handbook
order by h.handbook
"""
MATRIX_SQL = """
select handbook_a, handbook_b, coalesce(label::varchar, 'unscored') as value
from pairs where question = $question
"""
GROUPS_TABLE = TableSpec(
    "Groups of {handbooks} that agree on one {question}",
    (
        Column.count("group", "Group"), Column.named("organ", "{Organ}"), Column.named("center", "{Center}"),
        Column.named("phase", "{Phase}"), Column.text("state", "Answer"), Column.count("size", "Group size", "{handbooks}"),
        Column.count("inside", "Pairs inside"), Column.count("inside_disagreeing", "Disagreeing inside", "pairs"),
    ),
    ("A group comes from the judge's labels, from how often it errs, and from the amounts that it cites.",),
)  # fmt: skip
MATRIX_TABLE = TableSpec("The label of every two {handbooks} on one {question}", ())


@metric(
    sql=GROUPS_SQL,
    table=GROUPS_TABLE,
    glossary={"position group": "{Handbooks} whose answers to one {question} agree with each other."},
)
def position_groups(con: Connection, question_id: str) -> pd.DataFrame:
    """Groups of handbooks that agree on one question.

    The groups are the most probable positions, given the labels of all pairs and how often the judge errs (audit.queries
    .judge_errors, audit.stats.latent_positions). So one doubtful verdict splits no large group, and pairs that disagree inside a
    group are counted. Two handbooks that disagree are kept apart all the same where their answers state the differing amounts
    that the judge cites. Handbooks that agree are next to each other. Between two answering handbooks, a pair that is unscored,
    was not asked, or was judged absent is not evidence: it neither joins nor separates them.

    One row per handbook of the run, answering ones first, in the order of the matrix, then those that do not address the
    question, then those whose answer could not be read, then those that were not asked:
        handbook_id, organ, center, phase  str
        state   str, "answers", "not addressed", "unread" (the generator's reply could not be read) or "not asked"; in a
                release without answers, derived from the pairs: a handbook whose every pair is ABSENT is "not addressed"
        answer  str; missing where the release has none
        group   Int64, from 1 along the order; missing unless state is "answers"
        size    Int64, members of the group
        inside, inside_disagreeing  Int64, present pairs between members of the group, and those of them that disagree

    Raises NotInRunError when the question is not in the run. Source of the order: Bar-Joseph et al. 2001.
    """
    return doubted_groups(con, question_id)[0]


class HowSure(NamedTuple):
    """What is known of the positions of the handbooks that answer a question: by id, in the order of `found`."""

    handbook_ids: list[str]
    found: Partitions

    def at_least(self, members: Collection[str]) -> int:
        """Of these handbooks, how many share one position: the lower end of a 95 % credible interval."""
        return self.found.at_least(AS_LIKELY, np.flatnonzero([one in members for one in self.handbook_ids]))


def doubted_groups(con: Connection, question_id: str) -> tuple[pd.DataFrame, HowSure]:
    """The table of `position_groups`, and how sure its groups are."""
    question = {"question": question_number(con, question_id)}
    labels, disputes = matrix(con, question_id).to_numpy(dtype=object), disputes_on(con, question["question"])
    return in_groups(frame(con, GROUPS_SQL, question), labels, disputes, judge_errors(con).errors)


def in_groups(
    table: pd.DataFrame, labels: Labels, disputes: Sequence[Dispute], errors: JudgeErrors
) -> tuple[pd.DataFrame, HowSure]:
    """A table of handbooks (handbook_id, organ, center, phase, answer, state) with their groups, as `position_groups` has it.

    labels    handbooks x handbooks, in the order of the table: the values of `matrix`
    disputes  the pairs that disagree; without them the labels alone make the groups
    """
    answering = np.flatnonzero(table["state"].to_numpy() == ANSWERS)
    order, group, found = _seriated(table.iloc[answering], labels[np.ix_(answering, answering)], disputes, errors)
    grouped = table.assign(group=pd.Series(group + 1, index=answering, dtype="Int64").reindex(table.index))
    others = [np.flatnonzero(table["state"].to_numpy() == state) for state in (NOT_ADDRESSED, UNREAD, NOT_ASKED)]
    grouped["size"] = grouped["group"].map(grouped["group"].value_counts()).astype("Int64")
    counted = _with_pairs_inside(grouped, labels)
    ordered = counted.iloc[np.concatenate([answering[order], *others])].reset_index(drop=True)
    return ordered, HowSure(table["handbook_id"].iloc[answering].tolist(), found)


def _seriated(answering: pd.DataFrame, labels: Labels, disputes: Sequence[Dispute], errors: JudgeErrors) -> Seriation:
    by_labels = seriate(labels, errors)
    apart = _kept_apart(answering, by_labels.position_group, disputes)
    return seriate(labels, errors, apart) if apart else by_labels


def _kept_apart(answering: pd.DataFrame, groups: Numbers, disputes: Sequence[Dispute]) -> list[tuple[int, int]]:
    """The pairs of indices that are never in one group, because their texts keep them apart."""
    answers = answering["answer"].fillna("").tolist()
    apart: set[tuple[int, int]] = set()
    sides: dict[str, list[int | None]] = {}
    for a, b, dispute in _within_first(answering["handbook_id"].tolist(), groups, disputes):
        cited = cited_amounts(answers[a], answers[b], dispute.reasoning, dispute.topic)
        if cited.first:
            # Every handbook that states the one amount is kept apart from the other
            if cited.amounts not in sides:
                sides[cited.amounts] = [cited.side(answer) for answer in answers]
            members = np.flatnonzero(np.isin(groups, [groups[a], groups[b]])).tolist()
            apart |= {
                (a, b),
                *((member, (b, a)[side]) for member in members if (side := sides[cited.amounts][member]) is not None),
            }
    return sorted((a, b) for a, b in apart if a != b)


def _within_first(handbooks: list[str], groups: Numbers, disputes: Sequence[Dispute]) -> list[tuple[int, int, Dispute]]:
    """The disputes of answering handbooks by index, those inside a group first; limited in number to bound the time."""
    places = {handbook_id: index for index, handbook_id in enumerate(handbooks)}
    known = [(places[one.a], places[one.b], one) for one in disputes if one.a in places and one.b in places]
    return sorted(known, key=lambda entry: groups[entry[0]] != groups[entry[1]])[:MAX_DISPUTES]


def _with_pairs_inside(table: pd.DataFrame, labels: Labels) -> pd.DataFrame:
    present, disagreeing = np.isin(labels, PRESENT_LABELS), np.isin(labels, DISAGREEING)
    inside: dict[str, dict[Hashable, int]] = {"inside": {}, "inside_disagreeing": {}}
    for group, members in table.groupby("group"):
        block = np.ix_(members.index.to_numpy(dtype=np.int64), members.index.to_numpy(dtype=np.int64))
        # The matrix is symmetric, so every pair is in it twice.
        inside["inside"][group] = present[block].sum() // 2
        inside["inside_disagreeing"][group] = disagreeing[block].sum() // 2
    return table.assign(**{name: table["group"].map(counts).astype("Int64") for name, counts in inside.items()})


@metric(
    sql=MATRIX_SQL,
    table=MATRIX_TABLE,
    glossary={
        "not asked": "The {question} was never put to this {handbook}. It counts neither as answered nor as not addressed."
    },
)
def matrix(con: Connection, question_id: str) -> pd.DataFrame:
    """How every two handbooks relate on one question: the N x N matrix of labels, in release order.

    A cell is the judge's label of the pair (ABSENT also where one of the two does not answer), "unscored" where the
    judge gave no readable verdict, "not asked" where the release has no such pair, and "self" on the diagonal. These
    are different values: a missing verdict is neither agreement nor absence.

    One row and one column per handbook of the run, named by handbook_id; cells are str, one of VALUES. Symmetric.

    Raises NotInRunError when the question is not in the run.
    """
    pairs = frame(con, MATRIX_SQL, {"question": question_number(con, question_id)})
    names = [name for (name,) in rows(con, "select handbook_id from handbooks order by handbook")]
    square = pd.DataFrame(NOT_ASKED, index=names, columns=names, dtype=object).to_numpy(copy=True)
    a, b = pairs["handbook_a"].to_numpy(), pairs["handbook_b"].to_numpy()
    # The store has each couple once; the matrix shows it from both sides.
    square[a, b] = square[b, a] = pairs["value"].to_numpy(dtype=object)
    square[range(len(names)), range(len(names))] = SELF
    # As objects: a hundred columns of Arrow texts take ten times as long to select, map and draw
    return pd.DataFrame(square, index=names, columns=names, dtype=object)


Labels = npt.NDArray[np.object_]
Numbers = npt.NDArray[np.int64]
Distances = npt.NDArray[np.float64]

# A disagreement is 1, an agreement 0; the 0.05 only decides which neighbours are adjacent.
DISTANCE: dict[str, float] = {Label.CONSISTENT: 0.0, Label.COMPLEMENTARY: 0.05, Label.DIVERGENT: 1.0, Label.CONTRADICTORY: 1.05}
# No verdict between two handbooks that both answer (unscored, not asked, or judged ABSENT): it joins them only in the absence
# of other evidence, and does not separate handbooks.
UNKNOWN_DISTANCE = 0.45
# Evidence against one position, for each handbook, where two texts state amounts that differ
KEPT_APART = 5.0
# Whether a question is disputed is left to its own labels: one position is as likely as several before they are seen
AS_LIKELY = 0.5
# A reader sees positions side by side wherever there may be several; only stray labels among many make none. Of fewer handbooks a
# single label is more than the one in twenty pairs that a judge may mistake
DOUBT, FEW_HANDBOOKS = 0.05, 7
MAX_DISPUTES = 150


class Seriation(NamedTuple):
    """`order`: positions in the matrix, agreeing neighbours side by side. `position_group`: one number per handbook of the
    matrix, groups counted from 0 along the order. `found`: how probable all groups are.
    """

    order: Numbers
    position_group: Numbers
    found: Partitions


def seriate(labels: Labels, errors: JudgeErrors = ASSUMED_ERRORS, apart: Collection[tuple[int, int]] = ()) -> Seriation:
    """The order and the position groups of the handbooks that answer one question, from the square matrix of their labels.

    The groups are the most probable partition (audit.stats.latent_positions); the order is the optimal leaf order of a tree in
    which each group is a branch (Bar-Joseph et al. 2001), so every group is contiguous.

    apart  pairs of indices that are never in one group
    """
    count = len(labels)
    if count < 2:
        return Seriation(np.arange(count), np.zeros(count, dtype=np.int64), partitions(np.zeros((count, count))))
    # scipy takes 0.2 s to import, and most pages never need it.
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    disagrees = np.where(np.isin(labels, DISAGREEING), 1.0, np.where(np.isin(labels, PRESENT_LABELS), 0.0, np.nan))
    evidence = errors.evidence(disagrees)
    for a, b in apart:
        evidence[a, b] = evidence[b, a] = -count * KEPT_APART
    np.fill_diagonal(evidence, 0.0)
    # Where the judge called no disagreement there is nothing to set side by side
    called = bool(apart) or bool((disagrees == 1).any())
    doubt = (0.0 if count < FEW_HANDBOOKS else DOUBT) if called else 1.0
    found = partitions(evidence)
    groups = best_partition(found, evidence, AS_LIKELY, doubt).astype(np.int64)
    condensed = squareform(distances(labels) + count * (groups[:, None] != groups), checks=False)
    order = leaves_list(optimal_leaf_ordering(linkage(condensed, method="average"), condensed)).astype(np.int64)
    return Seriation(order, _numbered_along(order, groups), found)


def distances(labels: Labels) -> Distances:
    """Distances between handbooks by label."""
    table = np.vectorize(lambda label: DISTANCE.get(label, UNKNOWN_DISTANCE), otypes=[float])(labels)
    # The diagonal has no label, and would otherwise be at the unknown distance.
    np.fill_diagonal(table, 0.0)
    return np.asarray(table, dtype=np.float64)


def _numbered_along(order: Numbers, clusters: Numbers) -> Numbers:
    numbers = {cluster: number for number, cluster in enumerate(dict.fromkeys(clusters[order].tolist()))}
    return np.array([numbers[cluster] for cluster in clusters.tolist()], dtype=np.int64)
