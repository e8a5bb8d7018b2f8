"""The answers of each simulated handbook, in the style of its center."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from audit.vocabulary import NOT_ADDRESSED
from tests.simulator.policies import ASK, DETAIL_SETS, Policy, phrases, policies, subject
from tests.simulator.retrieval import HandbookTexts, SimulatedSearches, contact, retrieval_record, section_title
from tests.simulator.world import Handbook, World

# The sentences around the two details, which follow the last of opening, core and guidance.
PATTERNS = (("opening", "core"), ("core", "closing"), ("opening", "core", "closing"), ("core", "guidance", "closing"))
# Share of absent answers without the canonical prefix, which only the absence check found.
CHECKED_SHARE = 0.15
STYLES = 2**20


def answers(world: World, searches: SimulatedSearches | None = None) -> Iterator[dict[str, Any]]:
    """One record per question and handbook that is asked it, in release order, as in answers.jsonl.

    `searches` run on the complete handbooks, whose answers `world` may have missed (default: none was missed).

    The programs of a center share their wording, apart from their organ. Centers never share a text: each answer has
    the center's name or its phone number.
    """
    searches = searches or SimulatedSearches(HandbookTexts(world))
    for number, (question, (style, chance)) in enumerate(zip(world.questions, _draws(world), strict=True)):
        for index, book in enumerate(world.handbooks):
            if not world.asked[number, index]:
                continue
            ids: dict[str, Any] = {"question_id": question.id, "handbook_id": book.id}
            if world.present[number, index]:
                text = answer_text(world, number, index, style[book.center])
                retrieved = retrieval_record(
                    searches, number, index, _rests(text, _opening_and_closing(book, style[book.center]))
                )
                yield ids | _present(text, policies()[question.policy], chance[index], retrieved or {})
            else:
                retrieved = retrieval_record(searches, number, index, None) if world.config.traces else None
                yield (
                    ids
                    | _not_addressed(policies()[question.policy], question.aspect, book, chance[index])
                    | {"retrieval": retrieved}
                )


def drawn_styles(world: World) -> Iterator[list[int]]:
    """For each question the style of each center, as `answer_text` takes it."""
    return (style for style, _ in _draws(world))


def _draws(world: World) -> Iterator[tuple[list[int], list[list[float]]]]:
    """For each question the styles by center, and two random numbers for each handbook."""
    # Each part of a release has its own random stream, so changing one does not affect the others.
    rng = np.random.default_rng([world.config.seed, 2])
    n_centers = max(book.center for book in world.handbooks) + 1
    for _ in world.questions:
        # One draw per center and not per handbook, because its programs share their wording.
        style = rng.integers(STYLES, size=n_centers).tolist()
        # Drawn for absent answers too, so one more answer does not shift the random numbers of the others.
        yield style, rng.random((len(world.handbooks), 2)).tolist()


def answer_text(world: World, question: int, handbook: int, style: int) -> str:
    """The text of a present answer; `style` picks wordings and the order of sentences."""
    asked, book = world.questions[question], world.handbooks[handbook]
    policy, row = policies()[asked.policy], world.row[question]
    pattern = PATTERNS[style % (4 if asked.aspect == ASK else 3)]
    core = policy.says[world.value[row, handbook]] if asked.aspect == ASK else policy.guidance
    details = [policy.details[i].sentence for i in DETAIL_SETS[world.details[row, handbook]]]
    part = {"core": _pick(core, style // 4), "guidance": _pick(policy.guidance, style // 8), **_opening_and_closing(book, style)}
    before = [part[name] for name in pattern if name != "closing"]
    after = [part["closing"]] if "closing" in pattern else []
    return " ".join([*before, *(details if style // 16 % 2 else reversed(details)), *after])


def _pick(choices: tuple[str, ...] | list[str], style: int) -> str:
    return choices[style % len(choices)]


def _opening_and_closing(book: Handbook, style: int) -> dict[str, str]:
    """The center's opening and closing sentence."""
    wording = phrases()["answer"]
    line, phone = contact(book)
    return {
        "opening": _pick(wording["openings"], style // 32).format(center=book.center_name, organ=book.organ),
        "closing": _pick(wording["closings"], style // 512).format(line=line, phone=phone),
    }


def _rests(text: str, frame: dict[str, str]) -> tuple[int, int]:
    """The part of an answer that its section supports: all but the center's opening and closing sentence."""
    start = len(frame["opening"]) + 1 if text.startswith(frame["opening"]) else 0
    return start, len(text) - (len(frame["closing"]) + 1 if text.endswith(frame["closing"]) else 0)


def _present(text: str, policy: Policy, chance: list[float], retrieved: dict[str, Any]) -> dict[str, Any]:
    sections = [section_title(policy)]
    # Real retrieval often cites a neighbouring section as well.
    if chance[0] < 0.35:
        same_chapter = [
            other for other in policies() if other.chapter == policy.chapter and other is not policy and not other.organs
        ]
        sections.append(section_title(same_chapter[int(chance[1] * len(same_chapter))]))
    retrieval = retrieved | {"sections": sections, "score": round(0.55 + 0.4 * chance[1], 3)}
    return {"answer": text, "absent": False, "absence_method": None, "retrieval": retrieval}


def _not_addressed(policy: Policy, aspect: str, book: Handbook, chance: list[float]) -> dict[str, Any]:
    method = "check" if chance[0] < CHECKED_SHARE else "prefix"
    wording = phrases()["silence"]["checked" if method == "check" else "prefixed"]
    text = wording[int(chance[1] * len(wording))].format(theme=subject(policy, aspect), center=book.center_name)
    text = text if method == "check" else f"{NOT_ADDRESSED}: {text}"
    return {"answer": text, "absent": True, "absence_method": method}
