"""The pairs that disagree on one question, with the judge's reasons: evidence for groups and for quotes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from audit.store.connection import Connection, rows
from audit.text.clashing import clashing_sentences
from audit.text.sentences import SentenceSpan

DISPUTES_SQL = """
select a.handbook_id, b.handbook_id, coalesce(p.reasoning, ''), coalesce(p.divergence_topic, '')
from judged_pairs p join handbooks a on a.handbook = p.handbook_a join handbooks b on b.handbook = p.handbook_b
where question = $question and disagrees
order by label desc, p.handbook_a, p.handbook_b
"""

# Enough to know which sentence of a handbook clashes; a question of a hundred handbooks has thousands of such pairs
MAX_PER_HANDBOOK, MAX_COMPARED = 3, 60


class Dispute(NamedTuple):
    """Two handbooks whose answers disagree, and the judge's words on them ("" where it gave none)."""

    a: str
    b: str
    reasoning: str
    topic: str


def disputes_on(con: Connection, question: int) -> list[Dispute]:
    """The pairs that disagree on a question of the store, contradictory ones first.

    question  its number in the store
    """
    return [Dispute(*row) for row in rows(con, DISPUTES_SQL, {"question": question})]


def clashing_shares(
    question: str, aspect: str, answers: Mapping[str, str], groups: Mapping[str, int], disputes: Sequence[Dispute]
) -> dict[str, dict[SentenceSpan, float]]:
    """For each handbook its sentences that clash with those of another group, and the share of compared pairs in which they
    clash.

    answers, groups  by handbook id. Pairs inside a group do not count; those on another topic than `aspect` only for a handbook
                     that has none on it
    """
    spans: dict[str, Counter[SentenceSpan]] = {handbook_id: Counter() for handbook_id in answers}
    for dispute in _compared(aspect, groups, disputes):
        a, b = answers[dispute.a], answers[dispute.b]
        clash = clashing_sentences(question, a, b, dispute.reasoning, dispute.topic, ((dispute.a,), (dispute.b,)))
        if clash:
            spans[dispute.a][clash.first] += 1
            spans[dispute.b][clash.second] += 1
    return {
        handbook_id: {span: count / counts.total() for span, count in counts.items()} for handbook_id, counts in spans.items()
    }


def _compared(aspect: str, groups: Mapping[str, int], disputes: Sequence[Dispute]) -> Iterator[Dispute]:
    """The pairs across groups that are compared, those on the aspect first."""
    across = [one for one in disputes if one.a in groups and one.b in groups and groups[one.a] != groups[one.b]]
    used: Counter[str] = Counter()
    for is_on_it in (True, False):
        enough = MAX_PER_HANDBOOK if is_on_it else 1
        for dispute in (one for one in across if (one.topic == aspect) is is_on_it):
            if min(used[dispute.a], used[dispute.b]) < enough and used.total() < 2 * MAX_COMPARED:
                used.update((dispute.a, dispute.b))
                yield dispute
