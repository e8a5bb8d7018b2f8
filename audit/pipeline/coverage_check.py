"""Whether questions and handbooks meet at all: a pair needs two handbooks that are asked the same question."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from audit.errors import ConfigError
from audit.generation.evidence import meets
from audit.judging.corpus import QuestionToJudge
from audit.pipeline.context import RunContext
from audit.pipeline.handbook_search import query_of


def check_questions_meet(context: RunContext, min_handbooks: int) -> None:
    """Raise ConfigError where there are questions, but none concerns at least `min_handbooks` handbooks."""
    questions = context.questions()
    counts = (sum(meets(query_of(question), source) for source in context.present) for question in questions)
    if not questions or any(count >= min_handbooks for count in counts):
        return
    if len(context.present) < min_handbooks:
        raise ConfigError(_one_handbook(context))
    asked, present = (", ".join(sorted(set(organs))) for organs in (_organs(questions), (s.organ for s in context.present)))
    target = "any handbook" if min_handbooks == 1 else f"{min_handbooks} handbooks, so there is nothing to compare"
    raise ConfigError(
        f"No question concerns {target}: the questions have the organ {asked}, the handbooks {present or 'none'}. "
        "A question is asked of the handbooks of its organ, a general one of all. Correct the organs of one or the other."
    )


def check_two_handbooks(context: RunContext) -> None:
    """Raise ConfigError where there is only one handbook: there is nothing to compare it with."""
    if len(context.present) < 2:
        raise ConfigError(_one_handbook(context))


def _one_handbook(context: RunContext) -> str:
    present = ", ".join(source.handbook_id for source in context.present) or "none"
    left_out = f" ({len(context.left_out):,} left out)" if context.left_out else ""
    first_reason = f" First reason: {next(iter(context.left_out.values()))}" if context.left_out else ""
    return (
        f"{context.config.path}, [corpus]: a pair needs two handbooks that are asked the same question, and there is only: "
        f"{present}{left_out}. Nothing was compared. Add a handbook{' or correct those left out' if context.left_out else ''}, "
        f"or stop at the answers with --until generate.{first_reason}"
    )


def questions_without_pair(items: Iterable[QuestionToJudge]) -> tuple[int, str]:
    """How many questions concern no handbook, and a sentence on these and on those that concern only one ("": neither)."""
    single, unasked = 0, []
    for item in items:
        single += len(item.answers) == 1
        unasked += [] if item.answers else [item.question]
    parts = [f"asked of one handbook only: {single:,}"] if single else []
    if unasked:
        organs = ", ".join(sorted(set(_organs(unasked))))
        parts.append(f"asked of none, because no handbook has the organ ({organs}): {len(unasked):,}")
    return len(unasked), f"Questions without a pair, {'; '.join(parts)}." if parts else ""


def _organs(questions: Iterable[Any]) -> Iterator[str]:
    return (str(question["organ"]) for question in questions)
