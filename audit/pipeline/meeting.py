"""Whether the questions and the handbooks of a corpus have anything to say to each other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from audit.errors import ConfigError
from audit.generation.evidence import meets
from audit.judging.corpus import QuestionToJudge
from audit.pipeline.searching import query_of
from audit.pipeline.shop import Shop


def check_met(shop: Shop, least: int) -> None:
    """Raise ConfigError where there are questions, and none of them is put to `least` handbooks."""
    questions = shop.questions()
    if not questions or any(sum(meets(query_of(each), book) for book in shop.present) >= least for each in questions):
        return
    if len(shop.present) < least:
        raise ConfigError(_alone(shop))
    asked, books = (", ".join(sorted(set(organs))) for organs in (_organs(questions), (book.organ for book in shop.present)))
    many = "any handbook" if least == 1 else f"{least} handbooks, so there is nothing to compare"
    raise ConfigError(
        f"No question is put to {many}: the questions are of organ {asked}, the handbooks of organ {books or 'none'}. "
        "A question is put to the handbooks of its organ, a general one to all. Correct the organs of the one or the other."
    )


def check_several(shop: Shop) -> None:
    """Raise ConfigError where there is one handbook only: whatever it answers, there is nothing to compare it with."""
    if len(shop.present) < 2:
        raise ConfigError(_alone(shop))


def _alone(shop: Shop) -> str:
    there = ", ".join(book.handbook_id for book in shop.present) or "none"
    others = f" ({len(shop.left_out):,} left out)" if shop.left_out else ""
    why = f" First: {next(iter(shop.left_out.values()))}" if shop.left_out else ""
    return (
        f"{shop.config.path}, [corpus]: a pair needs two handbooks that are asked the same question, and there is only: {there}"
        f"{others}. Nothing was compared. Add a handbook{' or mend those left out' if shop.left_out else ''}, or go as far as "
        f"its answers: --until generate.{why}"
    )


def unpaired(items: Iterable[QuestionToJudge]) -> tuple[int, str]:
    """How many questions are put to no handbook, and a sentence on these and on those that are put to one only ("": neither)."""
    alone, nobody = 0, []
    for item in items:
        alone += len(item.answers) == 1
        nobody += [] if item.answers else [item.question]
    told = [f"put to one handbook only: {alone:,}"] if alone else []
    if nobody:
        told.append(f"put to none, whose organ no handbook has ({', '.join(sorted(set(_organs(nobody))))}): {len(nobody):,}")
    return len(nobody), f"Questions without a pair, {'; '.join(told)}." if told else ""


def _organs(questions: Iterable[Any]) -> Iterable[str]:
    return (str(question["organ"]) for question in questions)
