"""Writing the demo: a synthetic release, the truth that it was made from, and an earlier run of the same world.

The earlier run has the same handbooks and the same judge, but a weaker retriever that misses answers.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit.errors import ReleaseError
from audit.release.write import write_json, write_jsonl, write_release
from audit.vocabulary import Label, Phase
from tests.simulator.answers import answers
from tests.simulator.config import WorldConfig, paper_config, small_config
from tests.simulator.further import further_records
from tests.simulator.judge import Labels, simulate_labels
from tests.simulator.planted import planted_records, planted_truth
from tests.simulator.policies import policies
from tests.simulator.retrieval import HandbookTexts, SimulatedSearches, sections, trials
from tests.simulator.source_records import source_truth, with_sources
from tests.simulator.sources import SourceWorld
from tests.simulator.stress import StressWorld, stress_truth, with_stress
from tests.simulator.system_answers import SystemWorld
from tests.simulator.system_records import system_tables, system_truth
from tests.simulator.verdicts import comparisons, position_words, prescreened_record
from tests.simulator.world import Handbook, World, draw_world

# Of the seeds tried, one at which every organ lies inside the published ranges; others scatter around them by chance.
DEFAULT_SEED = 2057
CONFIGS: dict[str, Callable[[int], WorldConfig]] = {"small": small_config, "paper": paper_config}
RUN_IDS = {"small": "demo", "paper": "demo-paper"}
TRUTH, TRUTH_OF_SYSTEMS, TRUTH_OF_PLANTED = "truth.jsonl", "truth_systems.json", "truth_planted.json"
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

    The folder also gets truth.jsonl, which no release reader opens. One object per question:
        question_id  as in questions.jsonl
        policy       id of the policy it asks for
        aspect       ask: it turns on the value; how: it turns on advice that all handbooks share
        values       handbook_id -> the handbook's position, in words; null where it does not address the question
        relation     true label codes 0 to 4, H x H in the order of handbooks.jsonl, diagonal 1

    and truth_systems.json, which says by how much one simulated answering system is better than the other (see `system_truth`)
    at which rates two others find the right sources (see `source_truth`), and how another does in stress tests (see
    `stress_truth`).
    truth_planted.json says how often the simulated judge sees a planted change (`planted_truth`). At scale small a second judge
    and a panel asked at two later dates follow (`tests.simulator.further` holds the change that the panel has to find).

    Raises ReleaseError when the scale is unknown, or when `root` contains something that is not an earlier demo; an
    earlier demo is replaced.
    """
    if scale not in CONFIGS:
        raise ReleaseError(f"Scale '{scale}' is unknown. Allowed: {', '.join(CONFIGS)}. Nothing was written.")
    make_room(root)
    world = draw_world(CONFIGS[scale](seed))
    labels, searches = simulate_labels(world), SimulatedSearches(HandbookTexts(world))
    systems = SystemWorld(world, searches)
    sources, stress = SourceWorld(systems), StressWorld(searches.library)
    # Written first: the next call then recognises and replaces a demo that was interrupted.
    write_jsonl(root / TRUTH, truth_records(world, labels))
    write_json(root / TRUTH_OF_SYSTEMS, system_truth(systems) | {"routing": source_truth(sources), "stress": stress_truth()})
    write_json(root / TRUTH_OF_PLANTED, planted_truth())
    content = manifest(world, labels, scale)
    if scale == "small":  # at the published size a second judge would read 170,000 pairs, which no benchmark is about
        write_jsonl(root / "further_verdicts.jsonl", further_records(world, labels, content["judge"]))
    return write_release(
        root,
        manifest=content,
        handbooks=map(handbook_record, world.handbooks),
        questions=question_records(world),
        answers=answers(world, searches),
        comparisons=_reported(comparisons(world, labels), len(world.questions), progress),
        sections=sections(searches.library),
        trials=trials(searches),
        planted=planted_records(world, labels, content["judge"]),
        systems=with_stress(with_sources(system_tables(systems), sources), stress),
    )


def make_room(root: Path) -> None:
    """Make an empty folder at `root`: an earlier demo there is deleted, anything else raises ReleaseError."""
    # Only a demo has truth.jsonl, so no other release is ever deleted here.
    if (root / TRUTH).exists():
        shutil.rmtree(root)
    elif root.exists() and any(root.iterdir()):
        raise ReleaseError(f"{root} is not empty and is not an earlier demo. Nothing was written. Name an empty folder.")
    root.mkdir(parents=True, exist_ok=True)


def _reported(records: Iterator[dict[str, Any]], total: int, progress: Progress | None) -> Iterator[dict[str, Any]]:
    for done, record in enumerate(records, start=1):
        yield record
        if progress:
            progress(done, total)


def manifest(world: World, labels: Labels, scale: str) -> dict[str, Any]:
    """The manifest of the release, which above all declares it synthetic."""
    return {
        "run_id": RUN_IDS[scale],
        "title": f"Demo: {len({book.center for book in world.handbooks})} fictional centers, simulated answers",
        "generator": "policy simulator; no text of any hospital, not medical advice",
        "judge": "simulated reader of the true relations, with published error rates",
        "retriever": "simulated",
        "date": "2026-01-01",
        "terms": {},
        "asked": world.config.asked,
        "licence": "Apache-2.0",
        "synthetic": True,
        "scale": scale,
        "seed": world.config.seed,
        "pairs_judged": int((~labels.prescreened).sum()),
    }


def handbook_record(book: Handbook) -> dict[str, Any]:
    """The record of a handbook in handbooks.jsonl."""
    title = f"{book.center_name} {book.organ.capitalize()} Transplant Handbook: {PHASE_TITLES[Phase(book.phase)]}"
    pages = 40 + (book.center * 17 + len(book.id) * 7) % 90
    record = {"handbook_id": book.id, "organ": book.organ, "center": book.center_name, "phase": book.phase}
    return record | {"title": title, "pages": pages}


def question_records(world: World) -> Iterator[dict[str, Any]]:
    """The records of questions.jsonl."""
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


def truth_records(world: World, labels: Labels) -> Iterator[dict[str, Any]]:
    """The records of truth.jsonl; see `write_demo`."""
    for number, question in enumerate(world.questions):
        policy, row = policies()[question.policy], world.row[number]
        values = {
            book.id: position_words(policy, question.aspect, int(value)) if present else None
            for book, value, present in zip(world.handbooks, world.value[row], world.present[number], strict=True)
        }
        relation = _square(world, labels.truth[number])
        about = {"question_id": question.id, "policy": policy.id, "aspect": question.aspect, "severity": policy.severity}
        yield {**about, "values": values, "relation": relation}


def _square(world: World, codes: np.ndarray[Any, np.dtype[np.int8]]) -> list[list[int]]:
    square = np.full((len(world.handbooks),) * 2, Label.CONSISTENT.code, dtype=np.int8)
    first, second = world.pairs
    square[first, second] = square[second, first] = codes
    lines: list[list[int]] = square.tolist()
    return lines


# The chance that the weaker retriever misses an answer; independent for every answer, whatever its content.
MISSED_SHARE = 0.25
MECHANISM = (
    "the same fictional handbooks, answers and judge as the later run; each present answer is missed with chance "
    f"{MISSED_SHARE}, as by a weaker retriever, and its pairs are then absent. No verdict is changed."
)


@dataclass(frozen=True)
class EarlierRun:
    """A world as the weaker run sees it.

    complete         the world with all its answers
    complete_labels  the verdicts on it
    world            the world without the missed answers
    labels           the verdicts on it: those of `complete_labels`, but ABSENT (pre-screened) where an answer was missed
    lost             bool (questions, handbooks): the answer was missed
    """

    complete: World
    complete_labels: Labels
    world: World
    labels: Labels
    lost: NDArray[np.bool_]


def draw_earlier(config: WorldConfig) -> EarlierRun:
    """Draw the weaker run on the world of a config. It has its own random stream, so the main run does not change."""
    world = draw_world(config)
    full = simulate_labels(world)
    # Independent of the answer's content: a loss that depended on it would bias every comparison of the two runs.
    lost = world.present & (np.random.default_rng([config.seed, 5]).random(world.present.shape) < MISSED_SHARE)
    first, second = world.pairs
    is_missed = lost[:, first] | lost[:, second]
    visible = Labels(*(np.where(is_missed, np.int8(Label.ABSENT.code), codes) for codes in (full.truth, full.judge)))
    return EarlierRun(world, full, replace(world, present=world.present & ~lost), visible, lost)


def write_earlier(root: Path, seed: int = DEFAULT_SEED, scale: str = "small", progress: Progress | None = None) -> Path:
    """Write the earlier run of a demo into the folder `root` and return it; the same seed and scale give the same bytes.

    The folder also gets truth.jsonl as in `write_demo`, for the answers that this run has. Raises ReleaseError when `root`
    contains something that is not an earlier demo.
    """
    make_room(root)
    earlier = draw_earlier(CONFIGS[scale](seed))
    write_jsonl(root / TRUTH, truth_records(earlier.world, earlier.labels))
    return write_release(
        root,
        manifest=_manifest(earlier, scale),
        handbooks=map(handbook_record, earlier.world.handbooks),
        questions=question_records(earlier.world),
        answers=answers(earlier.world, SimulatedSearches(HandbookTexts(earlier.complete))),
        comparisons=_reported(_with_missed_answers(earlier), len(earlier.world.questions), progress),
        sections=sections(HandbookTexts(earlier.complete)),
    )


def _manifest(earlier: EarlierRun, scale: str) -> dict[str, Any]:
    content = manifest(earlier.world, earlier.labels, scale)
    title = f"{content['title'].replace('Demo:', 'Demo, earlier run:')}, weaker retrieval"
    return content | {
        "run_id": f"{RUN_IDS[scale]}-earlier", "title": title, "date": "2025-10-01", "retriever": "simulated, weaker",
        "mechanism": MECHANISM, "answers_lost_share": MISSED_SHARE,
    }  # fmt: skip


def _with_missed_answers(earlier: EarlierRun) -> Iterator[dict[str, Any]]:
    """The full world's records with the same words; the pairs of an answer that was missed are pre-screened."""
    ids = np.array([book.id for book in earlier.world.handbooks])
    for record, lost in zip(comparisons(earlier.complete, earlier.complete_labels), earlier.lost, strict=True):
        missed = set(ids[lost].tolist())
        yield record | {"pairs": [_seen(pair, missed) for pair in record["pairs"]]}


def _seen(pair: dict[str, Any], missed: set[str]) -> dict[str, Any]:
    a, b = pair["handbook_a"], pair["handbook_b"]
    return prescreened_record(a, b) if a in missed or b in missed else pair
