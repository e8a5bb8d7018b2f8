"""One pair: the question, what each handbook answers, and the judge's verdict."""

from __future__ import annotations

from dataclasses import dataclass

from audit.errors import NotInRunError
from audit.queries.lookup import handbook_number, question_number
from audit.queries.weak_evidence import KINDS
from audit.store.connection import Connection, rows

PRESENT, ABSENT, UNREAD, NOT_ASKED, UNKNOWN = "present", "absent", "unread", "not asked", "unknown"
PRESCREENED, UNSCORED, NOT_IN_RELEASE = "prescreened", "unscored", "not in the release"
NO_QUOTES, UNSUPPORTED = "none", "unsupported"
CONFIRMED = "confirmed"

SIDE = f"""
with own_answer as (
    from answers where question = $question and handbook = $handbook
)
select handbook_id, organ, center, phase, title,
       case when absent then 'absent' when not absent then 'present' when unread_reason is not null then 'unread'
            when (select has_answers from run) then 'not asked' else 'unknown' end as state,
       case when found = 'not found' is not true then answer end, absence_method, unread_reason,
       coalesce(sections, []) as sections,
       case when absent then [] else coalesce({KINDS}, []) end as weak, mode, own_answer.url, found
from handbooks h left join own_answer using (handbook)
where h.handbook = $handbook
"""
QUESTION = """
select question_id, text, organ, (select list(topic order by topic) from topics t where t.question = q.question),
       (select list(subtopic order by subtopic) from subtopics s where s.question = q.question)
from questions q where question = $question
"""
JUDGEMENT = """
select case when prescreened then 'prescreened' when label is null then 'unscored' else 'judged' end,
       label::varchar, significance::varchar, reasoning, divergence_topic, input_tokens, output_tokens, latency_s,
       quotes, case when $turned then quote_b else quote_a end, case when $turned then quote_a else quote_b end,
       difference, follow_both, second_judge, second, second_label, second_reasoning
from quoted_pairs join (select question, handbook_a, handbook_b, second_judge, second, second_label::varchar as second_label,
                               second_reasoning from pairs_read_twice) using (question, handbook_a, handbook_b)
where question = $question and handbook_a = $first and handbook_b = $second
"""


@dataclass(frozen=True)
class Question:
    """A question as the release has it."""

    question_id: str
    text: str
    organ: str
    topics: tuple[str, ...]
    subtopics: tuple[str, ...]


@dataclass(frozen=True)
class Side:
    """One handbook of a pair and its answer.

    `state` is present, absent (the handbook does not address the question), unread (the generator's reply could not be
    read, and why), not asked, or unknown (the release came without answers). `answer` may be present when absent: it is then
    the generator's wording; a search that found nothing has none. `weak` are its kinds of weak evidence (keys of WEAKNESSES).
    `found` is how surely a search found it (`audit.vocabulary.Found`); None where a model or a person answered.
    """

    handbook_id: str
    organ: str
    center: str
    phase: str
    title: str | None
    state: str
    answer: str | None
    absence_method: str | None
    unread_reason: str | None
    sections: tuple[str, ...]
    weak: tuple[str, ...]
    mode: str | None
    url: str | None
    found: str | None = None


@dataclass(frozen=True)
class Judgement:
    """The verdict on a pair.

    `status` is judged; prescreened (labelled ABSENT without asking the judge); unscored (asked, no readable verdict); or
    not in the release (the pair was never asked). Only judged and prescreened pairs have a label. `quotes` is none, supported
    (the words that it quotes stand in the two answers) or unsupported; `quote_a` is that of the answer that is shown first.
    `second` is what a second judge, `second_judge`, says of it: confirmed (the same label), another label, unscored; None: it
    was not asked.
    """

    status: str
    label: str | None = None
    significance: str | None = None
    reasoning: str | None = None
    divergence_topic: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    latency_s: float | None = None
    quotes: str = NO_QUOTES
    quote_a: str | None = None
    quote_b: str | None = None
    difference: str | None = None
    follow_both: str | None = None
    second_judge: str | None = None
    second: str | None = None
    second_label: str | None = None
    second_reasoning: str | None = None


@dataclass(frozen=True)
class Pair:
    """A question, two sides in the order asked for, and the judgement."""

    question: Question
    a: Side
    b: Side
    judgement: Judgement


def pair(con: Connection, question_id: str, handbook_a: str, handbook_b: str) -> Pair:
    """Everything about one pair, `handbook_a` first.

    Raises NotInRunError when the question or a handbook is not in the run, or when both handbooks are the same.
    """
    question = question_number(con, question_id)
    a, b = handbook_number(con, handbook_a), handbook_number(con, handbook_b)
    if a == b:
        raise NotInRunError(
            f"A pair needs two handbooks, and both are '{handbook_a}'. Nothing is shown. Pick another handbook for one side."
        )
    return Pair(_question(con, question), side(con, question, a), side(con, question, b), _judgement(con, question, a, b))


def side(con: Connection, question: int, handbook: int) -> Side:
    """A handbook and its answer to a question, both by number."""
    ((*fields, sections, weak, mode, url, found),) = rows(con, SIDE, {"question": question, "handbook": handbook})
    handbook_id, organ, center, phase, title, state, answer, method, reason = fields
    return Side(
        handbook_id, organ, center, phase, title, state, answer, method, reason, tuple(sections), tuple(weak), mode, url, found
    )


def _question(con: Connection, question: int) -> Question:
    ((question_id, text, organ, topics, subtopics),) = rows(con, QUESTION, {"question": question})
    return Question(question_id, text, organ, tuple(topics or ()), tuple(subtopics or ()))


def _judgement(con: Connection, question: int, a: int, b: int) -> Judgement:
    # The store lists a couple once, the smaller number first, whichever side the page shows first.
    judgements = rows(con, JUDGEMENT, {"question": question, "first": min(a, b), "second": max(a, b), "turned": a > b})
    return Judgement(*judgements[0]) if judgements else Judgement(NOT_IN_RELEASE)
