"""The pairs that disagree on one question, with the judge's reasons: evidence for groups and for quotes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from audit.store.connection import Connection, rows
from audit.text.clashing import Clash, clashing_sentences, quoted_clash

DISPUTES_SQL = """
select a.handbook_id, b.handbook_id, coalesce(p.reasoning, ''), coalesce(p.divergence_topic, ''),
       coalesce(p.quote_a, ''), coalesce(p.quote_b, '')
from judged_pairs p join handbooks a on a.handbook = p.handbook_a join handbooks b on b.handbook = p.handbook_b
where question = $question and disagrees
order by label desc, p.handbook_a, p.handbook_b
"""

# Enough to know which sentence of a handbook clashes; a question of a hundred handbooks has thousands of such pairs
MAX_PER_HANDBOOK, MAX_COMPARED = 3, 60


class Dispute(NamedTuple):
    """Two handbooks whose answers disagree, the judge's words on them, and what it quotes of each ("" where it gave none)."""

    a: str
    b: str
    reasoning: str
    topic: str
    quote_a: str = ""
    quote_b: str = ""


def disputes_on(con: Connection, question: int) -> list[Dispute]:
    """The pairs that disagree on a question of the store, contradictory ones first.

    question  its number in the store
    """
    return [Dispute(*row) for row in rows(con, DISPUTES_SQL, {"question": question})]


def clashes_of(
    question: str, aspect: str, answers: Mapping[str, str], groups: Mapping[str, int], disputes: Sequence[Dispute]
) -> list[tuple[Dispute, Clash]]:
    """The pairs across groups with the sentences in which they clash, as many as are needed to know those of each handbook.

    answers, groups  by handbook id. Pairs inside a group count only where no other disagrees; those on another topic than
                     `aspect` only for a handbook that has none on it
    """
    found = (
        (
            one,
            quoted_clash(answers[one.a], answers[one.b], one.quote_a, one.quote_b)
            or clashing_sentences(question, answers[one.a], answers[one.b], one.reasoning, one.topic, ((one.a,), (one.b,))),
        )
        for one in _compared(aspect, groups, disputes)
    )
    return [(dispute, clash) for dispute, clash in found if clash is not None]


def _compared(aspect: str, groups: Mapping[str, int], disputes: Sequence[Dispute]) -> Iterator[Dispute]:
    """The pairs across groups that are compared, those on the aspect first."""
    known = [one for one in disputes if one.a in groups and one.b in groups]
    across = [one for one in known if groups[one.a] != groups[one.b]] or known
    used: Counter[str] = Counter()
    for is_on_it in (True, False):
        enough = MAX_PER_HANDBOOK if is_on_it else 1
        for dispute in (one for one in across if (one.topic == aspect) is is_on_it):
            if min(used[dispute.a], used[dispute.b]) < enough and used.total() < 2 * MAX_COMPARED:
                used.update((dispute.a, dispute.b))
                yield dispute
