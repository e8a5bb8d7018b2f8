"""Before a run: whether the endpoints that its later stages will ask are there, so that no night is lost to find out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from audit.cli.asking import endpoints_of, limits_of
from audit.cli.run_models import settings_for
from audit.errors import AuditError
from audit.llm.probe import check_endpoint
from audit.pipeline.config import BASELINE, EXTRACTIVE, GenerateOptions, JudgeOptions
from audit.pipeline.plan import Row, row_of
from audit.pipeline.shop import Shop, Stage
from audit.settings import Settings

GENERATE, JUDGE = "generate", "judge"
NEEDLESS = {GENERATE: "retrieve", JUDGE: "generate"}
"""Stage that may ask a model -> the last one before it."""
RULES = {GENERATE: f'generator = "{EXTRACTIVE}"', JUDGE: f'judge = "{BASELINE}"'}


@dataclass(frozen=True)
class Asking:
    """A stage that asks a model, and how it does: `fault` is the sentence on what is wrong ("": nothing)."""

    stage: str
    fault: str
    models: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """As the plan tells it."""
        return f"{self.stage} asks {', '.join(self.models)}." if self.models else f"{self.stage} cannot ask: {self.fault}"


def check_endpoints(shop: Shop, stages: Sequence[Stage]) -> None:
    """Raise AuditError where something is to be done before a stage that asks a model, and its endpoint will not do.

    A stage whose turn comes at once finds out by itself, and one that is done needs no endpoint. The shop is for this alone.
    """
    rows = _rows(shop, stages)
    for found in askings(shop, rows, [stage for stage in NEEDLESS if _to_do(rows, stage, itself=False)]):
        if found.fault:
            raise AuditError(
                f"{shop.config.path}, [{found.stage}]: {found.fault} No stage was begun. "
                f"What needs no such model: --until {NEEDLESS[found.stage]}."
            )


def askings(shop: Shop, rows: Sequence[Row], stages: Iterable[str] = tuple(NEEDLESS)) -> list[Asking]:
    """Those of `stages` that ask a model and have something to ask, or something to do before; each endpoint is tried once."""
    tried: dict[Any, Asking] = {}
    return [_asking(shop, stage, said, tried) for stage, said in _by_model(shop) if stage in stages and _to_do(rows, stage)]


def _rows(shop: Shop, stages: Sequence[Stage]) -> list[Row]:
    """What the stages have to do. Handbooks that the last release had to leave out fail again, for all that is known."""
    shop.left_out.update({each: why for each, why in _left_out(shop).items() if each not in shop.left_out})
    rows = []
    for stage in stages:
        try:
            rows.append(row_of(shop, stage))
        except AuditError:  # of something that is made anew before its turn comes, or it is said then
            rows.append(Row(stage.name, 1, (stage.name,)))
    return rows


def _left_out(shop: Shop) -> dict[str, str]:
    try:
        told = json.loads((shop.work.release / "manifest.json").read_text(encoding="utf-8"))["left_out"]
        return {name: str(why) for name, why in told.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _by_model(shop: Shop) -> Iterator[tuple[str, GenerateOptions | JudgeOptions]]:
    if shop.config.generate.generator != EXTRACTIVE:
        yield GENERATE, shop.config.generate
    if shop.config.judge.judge != BASELINE:
        yield JUDGE, shop.config.judge


def _to_do(rows: Sequence[Row], stage: str, *, itself: bool = True) -> bool:
    """Whether the stage is among those planned, and something is to be done before it, or in it."""
    names = [row.stage for row in rows]
    return stage in names and any(row.to_do for row in rows[: names.index(stage) + itself])


def _asking(shop: Shop, stage: str, said: GenerateOptions | JudgeOptions, tried: dict[Any, Asking]) -> Asking:
    settings = settings_for(shop, said)
    if not settings.judge_urls:
        cure = f'Write url = ["http://127.0.0.1:8000/v1"] there, set AUDIT_JUDGE_URL, or do without a model: {RULES[stage]}.'
        return Asking(stage, f"it asks a model, and no endpoint is set. {cure}")
    key = (settings.judge_urls, settings.judge_model)
    if key not in tried:
        tried[key] = _tried(stage, settings)
    return Asking(stage, tried[key].fault, tried[key].models)


def _tried(stage: str, settings: Settings) -> Asking:
    try:
        found = [asyncio.run(check_endpoint(one, limits_of(settings))) for one in endpoints_of(settings, settings.judge_model)]
    except AuditError as error:
        return Asking(stage, str(error))
    return Asking(stage, "", tuple(f"{one.model} at {one.base_url}" for one in found))
