"""Creates a study with all its items and assignments, and each annotator's own order of work.

The hash of a study's seed and ids is the random draw, so the same call creates the same study.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from string import ascii_uppercase

import numpy as np
from sqlalchemy import Connection, insert, select
from sqlalchemy.exc import IntegrityError

from annotation.label_store.engine import GROWN, StudyError
from annotation.label_store.ledger import start_study_ledgers
from annotation.label_store.schema import assignments, items, studies, study_members, users
from annotation.label_store.seals import CREATED, FIXED_ASSIGNMENTS, SLOTS, STUDY_ROWS, seal_rows, state_raters
from annotation.label_store.stored_values import storable_text, to_timestamp
from annotation.label_store.studies import MAX_RATINGS_PER_ITEM, RATINGS_PER_ITEM, ItemKind, StudyState
from annotation.schemes import PAIRS, Scheme
from audit.vocabulary import Raters

STUDY_ID_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""Study ids begin item ids and the names of exported files, hence the restriction."""


@dataclass(frozen=True)
class NewItem:
    """A snapshot of one pair. Sides a and b are in the release's order; annotators see them in an order of their own.

    item_id         short and meaningless: an id that followed the strata would reveal the verdict
    handbook, name  whose answer it is: a handbook, or in a head-to-head study a system
    repeat_of       item_id of the study item that this one silently repeats
    reference       the reference answer to the question, shown on request; None where the item has no reference
    """

    item_id: str
    kind: ItemKind
    question_id: str
    question: str
    handbook_a: str
    handbook_b: str
    name_a: str
    name_b: str
    answer_a: str
    answer_b: str
    repeat_of: str | None = None
    reference: str | None = None


@dataclass(frozen=True)
class NewStudy:
    """The input for creating a study.

    annotators   as many usernames as an item gets ratings, or more. With as many, everybody rates every item. With more, every
                 study item has that many unassigned slots, and an annotator who asks for work claims one (never two of an
                 item); a silent repeat goes to the annotators who have the item it repeats
    names_shown  whether annotators see which handbook an answer is from
    terms        the release's own words for handbook, organ, ...
    synthetic    whether the texts are synthetic
    scheme       what is asked about an item
    ratings_per_item  how many annotators rate each study item, 2 to MAX_RATINGS_PER_ITEM
    raters       what the annotators are
    """

    study_id: str
    title: str
    annotators: Sequence[str]
    items: Sequence[NewItem]
    seed: int
    names_shown: bool = False
    terms: dict[str, str] = field(default_factory=dict)
    synthetic: bool = False
    scheme: Scheme = PAIRS
    ratings_per_item: int = RATINGS_PER_ITEM
    raters: Raters = Raters.UNKNOWN


def create_study(tx: Connection, new: NewStudy, now: datetime) -> None:
    """Create a study with its items, its assignments, and each annotator's own order and sides, and seal them.

    Orders and sides follow from the study's seed and the usernames, so the same call creates the same study.

    Raises StudyError when the id is taken or not allowed, an annotator has no account or another role, or there are fewer
    annotators than ratings of an item.
    """
    check_study_id(new.study_id)
    _check_new_study(tx, new)
    calibration = any(item.kind is ItemKind.CALIBRATION for item in new.items)
    state = StudyState.CALIBRATION if calibration else StudyState.LABELLING
    values = {
        name: getattr(new, name)
        for name in ("study_id", "title", "names_shown", "seed", "terms", "synthetic", "ratings_per_item")
    }
    try:
        tx.info[GROWN] = True
        tx.execute(insert(studies).values(**values, scheme=new.scheme.name, state=state, created_at=to_timestamp(now)))
    # The constraint decides instead of a query before: two people may create the same study at once.
    except IntegrityError:
        raise StudyError(f"Study '{new.study_id}' already exists. Nothing was created. Choose another id.") from None
    tx.execute(insert(study_members), [{"study_id": new.study_id, "annotator": name} for name in new.annotators])
    originals_first = sorted(new.items, key=lambda item: item.repeat_of is not None)  # repeats refer to rows that must exist
    tx.execute(insert(items), [{"study_id": new.study_id, **_item_row(item)} for item in originals_first])
    tx.execute(insert(assignments), list(_assignment_rows(new)))
    start_study_ledgers(tx, new.study_id)
    slots = FIXED_ASSIGNMENTS if _everybody_rates_all(new) else SLOTS
    seal_rows(tx, new.study_id, CREATED, (*STUDY_ROWS, slots), now, state=state)
    if new.raters is not Raters.UNKNOWN:
        state_raters(tx, new.study_id, new.raters, now)


def check_study_id(study_id: str) -> None:
    """Raise StudyError when a new study may not have this id."""
    if not STUDY_ID_PATTERN.fullmatch(study_id):
        raise StudyError(
            f"'{study_id}' is not a valid study id. Allowed: up to 64 of A-Z, a-z, 0-9 and . _ -, beginning with a letter or a "
            "digit. Nothing was created."
        )


def _item_row(item: NewItem) -> dict[str, object]:
    return {name: storable_text(value) if isinstance(value, str) else value for name, value in asdict(item).items()}


def _check_new_study(tx: Connection, new: NewStudy) -> None:
    roles = dict(map(tuple, tx.execute(select(users.c.username, users.c.role).where(users.c.disabled_at.is_(None)))))
    wrong_role = [name for name in new.annotators if roles.get(name) != "annotator"]
    allowed = RATINGS_PER_ITEM <= new.ratings_per_item <= MAX_RATINGS_PER_ITEM
    checks = {
        f"'{', '.join(wrong_role)}' has no account with the role annotator": bool(wrong_role),
        f"ratings per item must be {RATINGS_PER_ITEM} to {MAX_RATINGS_PER_ITEM}, not {new.ratings_per_item}": not allowed,
        f"it needs at least {new.ratings_per_item} different annotators": len(set(new.annotators)) < new.ratings_per_item,
        "an annotator is named twice": len(set(new.annotators)) != len(new.annotators),
        "it has no items": not any(item.kind is ItemKind.STUDY for item in new.items),
    }
    faults = [fault for fault, failed in checks.items() if failed]
    if faults:
        raise StudyError(f"Study '{new.study_id}' cannot be created: {'; '.join(faults)}. Nothing was created.")


def _assignment_rows(new: NewStudy) -> Iterable[dict[str, object]]:
    calibration = [item for item in new.items if item.kind is ItemKind.CALIBRATION]
    study = [item for item in new.items if item.kind is not ItemKind.CALIBRATION]
    everybody_rates_all = _everybody_rates_all(new)
    for number, annotator in enumerate(new.annotators):
        letter = chr(ord("A") + number)
        yield from _ordered_rows(new, annotator, letter, True, calibration)
        if everybody_rates_all:
            yield from _ordered_rows(new, annotator, letter, False, study)
    if not everybody_rates_all:
        for letter in ascii_uppercase[: new.ratings_per_item]:
            yield from (_assignment_row(new, item, letter, None, None) for item in study)


def _everybody_rates_all(new: NewStudy) -> bool:
    """Whether nothing is left to claim, so each annotator gets a fixed order at once."""
    return len(new.annotators) == new.ratings_per_item


def _ordered_rows(
    new: NewStudy, annotator: str, letter: str, calibration: bool, own_items: Sequence[NewItem]
) -> Iterable[dict[str, object]]:
    # crc32 instead of hash(), which Python salts differently in every process.
    rng = np.random.default_rng([new.seed, zlib.crc32(annotator.encode()), calibration])
    for position, item in enumerate(randomised_order(own_items, rng), start=1):
        yield _assignment_row(new, item, letter, annotator, position)


def randomised_order(own_items: Sequence[NewItem], rng: np.random.Generator) -> list[NewItem]:
    """The items in randomised order, each repeat at least a quarter of the way behind the item it repeats."""
    rank = {item.item_id: float(draw) for item, draw in zip(own_items, rng.random(len(own_items)), strict=True)}
    for item in own_items:
        if item.repeat_of is not None:
            # A draw from [0, 1): half the original's rank leaves room for the repeat behind it, wherever the original falls.
            rank[item.repeat_of] /= 2
            rank[item.item_id] = rank[item.repeat_of] + 0.25 + rank[item.item_id] / 4
    return sorted(own_items, key=lambda item: rank[item.item_id])


def _assignment_row(new: NewStudy, item: NewItem, letter: str, annotator: str | None, position: int | None) -> dict[str, object]:
    # The hash is the random draw: the last hex digit is 8 or more for half of all assignments, and the same in every rebuild.
    draw = hashlib.sha256(f"{new.seed}/{new.study_id}/{item.item_id}/{letter}".encode()).hexdigest()
    return {
        # A letter in front, or a spreadsheet would take some of the ids for numbers such as 4.04614E+11
        "seat_id": f"q{draw[:12]}",
        "study_id": new.study_id,
        "item_id": item.item_id,
        "seat": letter,
        "calibration": item.kind is ItemKind.CALIBRATION,
        "annotator": annotator,
        "position": position,
        "swapped": int(draw[-1], 16) >= 8,
    }
