"""Carrying out the stages one after the other, and what is to be said at the end."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from audit.errors import AuditError
from audit.pipeline.ledger import Piece
from audit.pipeline.shop import Shop, Stage

CLEAN, LEFT_OUT, STOPPED = "clean", "left out", "stopped"
SHOWN = 3
MACHINE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
"""A disk that is full or may not be written fails every handbook alike: none of them is to blame, and none is left out."""


@dataclass
class Count:
    """What became of one stage: all its pieces, those done now and those that failed, and the seconds it took.

    said      what it has to say, whether it was done now or before; findings: see `Tally`
    """

    stage: str
    pieces: int = 0
    done: int = 0
    failed: int = 0
    seconds: float = 0.0
    said: str = ""
    findings: int = 0

    @property
    def kept(self) -> int:
        """Pieces that were done before."""
        return self.pieces - self.done - self.failed


@dataclass
class Tally:
    """What became of a run: each stage that was reached, (stage, piece, why) of every failure, where it stopped ("": nowhere)."""

    counts: list[Count] = field(default_factory=list)
    failures: list[tuple[str, str, str]] = field(default_factory=list)
    stopped_at: str = ""

    @property
    def said(self) -> list[str]:
        """What the stages have to say, in their order."""
        return [count.said for count in self.counts if count.said]

    @property
    def failed(self) -> list[str]:
        """Every failure in a sentence; those of a stage for the same reason in one."""
        names: dict[tuple[str, str], list[str]] = {}
        for stage, name, why in self.failures:
            names.setdefault((stage, why), []).append(name)
        return [f"{stage}, {_few(of)}: {why}" for (stage, why), of in names.items()]

    @property
    def findings(self) -> int:
        """What a model was to say and has not, in all stages."""
        return sum(count.findings for count in self.counts)

    @property
    def verdict(self) -> str:
        """clean, left out (some handbooks failed, the others went through) or stopped."""
        return STOPPED if self.stopped_at else LEFT_OUT if self.failures else CLEAN


class Reporter(Protocol):
    """Whoever tells how far it is."""

    def begin(self, stage: str, pieces: int, to_do: int) -> None:
        """A stage begins."""

    def advance(self, name: str) -> None:
        """One piece of it is through, well or not."""

    def end(self, count: Count) -> None:
        """It has ended."""


def run_stages(shop: Shop, stages: Sequence[Stage], reporter: Reporter, *, clock: Callable[[], float] = time.monotonic) -> Tally:
    """Carry out what is open of every stage. A handbook that fails is left out from there on, and said; the others go on.

    A run stops at a stage that fails as a whole, or when no two handbooks are left.
    """
    tally = Tally()
    for stage in stages:
        began, pieces = clock(), stage.pieces()
        to_do = [piece for piece in pieces if not stage.done(piece)]
        count = Count(stage.name, len(pieces), said=stage.remark())
        for piece in pieces:
            if piece not in to_do:
                _hear(count, shop.ledger.noted(piece).get("figures", {}))
        tally.counts.append(count)
        reporter.begin(stage.name, len(pieces), len(to_do))
        try:
            for piece, became in stage.carry_out(to_do):
                _settle(shop, tally, count, piece, became)
                reporter.advance(piece.name)
        finally:
            count.seconds = clock() - began
            reporter.end(count)
        if tally.stopped_at or (shop.books and not shop.present):
            tally.stopped_at = stage.name
            return tally
    return tally


def _few(names: Sequence[str]) -> str:
    return f"{', '.join(names[:SHOWN])} and {len(names) - SHOWN} more" if len(names) > SHOWN else ", ".join(names)


def _hear(count: Count, figures: Mapping[str, Any]) -> None:
    count.said = figures.get("said", count.said)
    count.findings += figures.get("findings", 0)


def _settle(shop: Shop, tally: Tally, count: Count, piece: Piece, became: Any) -> None:
    if isinstance(became, OSError) and became.errno in MACHINE:
        raise became
    if not isinstance(became, Exception):
        shop.ledger.note(piece, became)
        count.done += 1
        _hear(count, became)
        return
    count.failed += 1
    said = str(became) if isinstance(became, AuditError) else f"{type(became).__name__}: {became}"
    tally.failures.append((count.stage, piece.name, said))
    if piece.handbook:
        shop.left_out[piece.handbook] = f"{count.stage}: {said}"
    else:
        tally.stopped_at = count.stage
