"""An earlier run of the demo: the same world and the same judge, read through a weaker retriever that misses answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit.demo.answers import answers
from audit.demo.build import DEFAULT_SEED, TRUTH, handbook_record, make_room, manifest, question_records, truth
from audit.demo.judge import Labels, simulate_labels
from audit.demo.library import Library, sections
from audit.demo.retrieval import Searches
from audit.demo.shape import WorldConfig, small_config
from audit.demo.verdicts import comparisons, prescreened_record
from audit.demo.world import World, draw_world
from audit.release.write import write_jsonl, write_release
from audit.vocabulary import Label

LOST = 0.25
"""The chance with which the weaker retriever misses an answer that the handbook has: each by itself, whatever it says."""
RUN_ID = "demo-earlier"
MECHANISM = (
    "the same fictional handbooks, answers and judge as the run 'demo'; each present answer is missed with chance "
    f"{LOST}, as by a weaker retriever, and its pairs are then absent. No verdict is changed."
)


@dataclass(frozen=True)
class Earlier:
    """What the weaker run saw of a world.

    whole   the world with all its answers
    full    the verdicts on it
    world   the world without the answers that were missed
    labels  the verdicts on what is left: those of `full`, and ABSENT, pre-screened, where an answer was missed
    lost    bool (questions, handbooks): the answer was missed
    """

    whole: World
    full: Labels
    world: World
    labels: Labels
    lost: NDArray[np.bool_]


def draw_earlier(config: WorldConfig, rate: float = LOST) -> Earlier:
    """Draw the weaker run on the world of a config; the chance has a stream of its own, so the main run stays as it is."""
    world = draw_world(config)
    full = simulate_labels(world)
    lost = world.present & (np.random.default_rng([config.seed, 5]).random(world.present.shape) < rate)
    first, second = world.pairs
    gone = lost[:, first] | lost[:, second]
    kept = Labels(*(np.where(gone, np.int8(Label.ABSENT.code), codes) for codes in (full.truth, full.judge)))
    return Earlier(world, full, replace(world, present=world.present & ~lost), kept, lost)


def write_earlier(root: Path, seed: int = DEFAULT_SEED) -> Path:
    """Write the earlier run of the small demo into the folder `root` and return it; the same seed gives the same bytes.

    Beside the release stands truth.jsonl, as `write_demo` writes it, of what this run saw. Raises ReleaseError when `root` holds
    something that is not an earlier demo.
    """
    make_room(root)
    earlier = draw_earlier(small_config(seed))
    write_jsonl(root / TRUTH, truth(earlier.world, earlier.labels))
    return write_release(
        root,
        manifest=_manifest(earlier),
        handbooks=map(handbook_record, earlier.world.handbooks),
        questions=question_records(earlier.world),
        answers=answers(earlier.world, Searches(Library(earlier.whole))),
        comparisons=_thinned(earlier),
        sections=sections(Library(earlier.whole)),
    )


def _manifest(earlier: Earlier) -> dict[str, Any]:
    told = manifest(earlier.world, earlier.labels, "small")
    title = f"{told['title'].replace('Demo:', 'Demo, earlier run:')}, weaker retrieval"
    return told | {
        "run_id": RUN_ID, "title": title, "date": "2025-10-01", "retriever": "simulated, weaker",
        "mechanism": MECHANISM, "answers_lost_share": LOST,
    }  # fmt: skip


def _thinned(earlier: Earlier) -> Iterator[dict[str, Any]]:
    """The full world's records with the same words; the pairs of an answer that was missed are pre-screened."""
    ids = np.array([book.id for book in earlier.world.handbooks])
    for record, lost in zip(comparisons(earlier.whole, earlier.full), earlier.lost, strict=True):
        silent = set(ids[lost].tolist())
        yield record | {"pairs": [_seen(pair, silent) for pair in record["pairs"]]}


def _seen(pair: dict[str, Any], silent: set[str]) -> dict[str, Any]:
    a, b = pair["handbook_a"], pair["handbook_b"]
    return prescreened_record(a, b) if a in silent or b in silent else pair
