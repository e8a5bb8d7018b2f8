"""Writing the demo: a synthetic release and, beside it, the truth it was made from."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from audit.demo.answers import answers
from audit.demo.judge import Labels, simulate_labels
from audit.demo.library import Library, sections
from audit.demo.policies import policies
from audit.demo.retrieval import Searches, trials
from audit.demo.roster import Handbook
from audit.demo.shape import WorldConfig, paper_config, small_config
from audit.demo.verdicts import comparisons, held
from audit.demo.world import World, draw_world
from audit.errors import ReleaseError
from audit.release.write import write_jsonl, write_release
from audit.vocabulary import Label, Phase

DEFAULT_SEED = 2057
"""Of the seeds tried, one at which every organ lies inside the published ranges; others scatter around them by chance."""
CONFIGS: dict[str, Callable[[int], WorldConfig]] = {"small": small_config, "paper": paper_config}
RUN_IDS = {"small": "demo", "paper": "demo-paper"}
TRUTH = "truth.jsonl"
PHASE_TITLES = {
    Phase.PRE: "Before your transplant",
    Phase.POST: "After your transplant",
    Phase.COMBINED: "A guide for patients and families",
}

Progress = Callable[[int, int], None]


def write_demo(root: Path, scale: str = "small", seed: int = DEFAULT_SEED, progress: Progress | None = None) -> Path:
    """Write the demo release into the folder `root` and return it; the same scale and seed give the same bytes.

    scale     small: 24 handbooks, 118 questions, 32,568 pairs, written in seconds; paper: the published shape, 102
              handbooks, 1,115 questions, 5,743,365 pairs, 1.5 GB
    progress  called with (questions written, questions) after each question

    Besides the release (data/README.md) stands truth.jsonl, which no reader of releases opens. One object per question:
        question_id  as in questions.jsonl
        policy       id of the policy it asks for
        aspect       ask: it turns on the value; how: it turns on advice that all handbooks share
        values       handbook_id -> what the handbook holds, in words; null where it is silent
        relation     true label codes 0 to 4, H x H in the order of handbooks.jsonl, diagonal 1

    Raises ReleaseError when the scale is unknown, or when `root` holds something that is not an earlier demo; an
    earlier demo is replaced.
    """
    if scale not in CONFIGS:
        raise ReleaseError(f"Scale '{scale}' is unknown. Allowed: {', '.join(CONFIGS)}. Nothing was written.")
    make_room(root)
    world = draw_world(CONFIGS[scale](seed))
    labels, searches = simulate_labels(world), Searches(Library(world))
    write_jsonl(root / TRUTH, truth(world, labels))
    return write_release(
        root,
        manifest=manifest(world, labels, scale),
        handbooks=map(handbook_record, world.handbooks),
        questions=question_records(world),
        answers=answers(world, searches),
        comparisons=_reported(comparisons(world, labels), len(world.questions), progress),
        sections=sections(searches.library),
        trials=trials(searches),
    )


def make_room(root: Path) -> None:
    """An empty folder at `root`; what stands there is taken away if it is a demo, else ReleaseError."""
    if (root / TRUTH).exists():
        shutil.rmtree(root)
    elif root.exists() and any(root.iterdir()):
        raise ReleaseError(f"{root} is not empty and holds no earlier demo. Nothing was written. Name an empty folder.")
    root.mkdir(parents=True, exist_ok=True)


def _reported(records: Iterator[dict[str, Any]], total: int, progress: Progress | None) -> Iterator[dict[str, Any]]:
    for done, record in enumerate(records, start=1):
        yield record
        if progress:
            progress(done, total)


def manifest(world: World, labels: Labels, scale: str) -> dict[str, Any]:
    """What the release says of itself: above all, that it is synthetic."""
    return {
        "run_id": RUN_IDS[scale],
        "title": f"Demo: {len({book.center for book in world.handbooks})} fictional centers, simulated answers",
        "generator": "policy simulator; no text of any hospital, not medical advice",
        "judge": "simulated reader of the true relations, with published error rates",
        "retriever": "simulated",
        "date": "2026-01-01",
        "terms": {},
        "licence": "Apache-2.0",
        "synthetic": True,
        "scale": scale,
        "seed": world.config.seed,
        "pairs_judged": int((~labels.prescreened).sum()),
    }


def handbook_record(book: Handbook) -> dict[str, Any]:
    """A handbook as it stands in handbooks.jsonl."""
    title = f"{book.center_name} {book.organ.capitalize()} Transplant Handbook: {PHASE_TITLES[Phase(book.phase)]}"
    pages = 40 + (book.center * 17 + len(book.id) * 7) % 90
    record = {"handbook_id": book.id, "organ": book.organ, "center": book.center_name, "phase": book.phase}
    return record | {"title": title, "pages": pages}


def question_records(world: World) -> Iterator[dict[str, Any]]:
    """The questions as they stand in questions.jsonl."""
    for question in world.questions:
        policy = policies()[question.policy]
        yield {
            "question_id": question.id,
            "question": question.text,
            "organ": question.organ,
            "topics": list(policy.topics),
            "subtopics": list(policy.subtopics),
            "source": "simulated",
        }


def truth(world: World, labels: Labels) -> Iterator[dict[str, Any]]:
    """The records of truth.jsonl; see `write_demo`."""
    for number, question in enumerate(world.questions):
        policy, row = policies()[question.policy], world.row[number]
        values = {
            book.id: held(policy, question.aspect, int(value)) if present else None
            for book, value, present in zip(world.handbooks, world.value[row], world.present[number], strict=True)
        }
        relation = _square(world, labels.truth[number])
        yield {"question_id": question.id, "policy": policy.id, "aspect": question.aspect, "values": values, "relation": relation}


def _square(world: World, codes: np.ndarray[Any, np.dtype[np.int8]]) -> list[list[int]]:
    square = np.full((len(world.handbooks),) * 2, Label.CONSISTENT.code, dtype=np.int8)
    first, second = world.pairs
    square[first, second] = square[second, first] = codes
    lines: list[list[int]] = square.tolist()
    return lines
