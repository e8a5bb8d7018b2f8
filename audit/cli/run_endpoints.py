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
from audit.pipeline.context import RunContext, Stage
from audit.pipeline.plan import StagePlan, plan_stage
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


def check_endpoints(context: RunContext, stages: Sequence[Stage]) -> None:
    """Raise AuditError where something is to be done before a stage that asks a model, and its endpoint will not do.

    A stage whose turn comes at once finds out by itself, and one that is done needs no endpoint. The context is for this alone.
    """
    rows = _rows(context, stages)
    for found in askings(context, rows, [stage for stage in NEEDLESS if _to_do(rows, stage, itself=False)]):
        if found.fault:
            raise AuditError(
                f"{context.config.path}, [{found.stage}]: {found.fault} No stage was begun. "
                f"What needs no such model: --until {NEEDLESS[found.stage]}."
            )


def askings(context: RunContext, rows: Sequence[StagePlan], stages: Iterable[str] = tuple(NEEDLESS)) -> list[Asking]:
    """Those of `stages` that ask a model and have something to ask, or something to do before; each endpoint is tried once."""
    tried: dict[Any, Asking] = {}
    return [_asking(context, stage, said, tried) for stage, said in _by_model(context) if stage in stages and _to_do(rows, stage)]


def _rows(context: RunContext, stages: Sequence[Stage]) -> list[StagePlan]:
    """What the stages have to do. Handbooks that the last release had to leave out fail again, for all that is known."""
    context.left_out.update({each: why for each, why in _left_out(context).items() if each not in context.left_out})
    rows = []
    for stage in stages:
        try:
            rows.append(plan_stage(context, stage))
        except AuditError:  # of something that is made anew before its turn comes, or it is said then
            rows.append(StagePlan(stage.name, 1, (stage.name,)))
    return rows


def _left_out(context: RunContext) -> dict[str, str]:
    try:
        told = json.loads((context.workspace.release / "manifest.json").read_text(encoding="utf-8"))["left_out"]
        return {name: str(why) for name, why in told.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _by_model(context: RunContext) -> Iterator[tuple[str, GenerateOptions | JudgeOptions]]:
    if context.config.generate.generator != EXTRACTIVE:
        yield GENERATE, context.config.generate
    if context.config.judge.judge != BASELINE:
        yield JUDGE, context.config.judge


def _to_do(rows: Sequence[StagePlan], stage: str, *, itself: bool = True) -> bool:
    """Whether the stage is among those planned, and something is to be done before it, or in it."""
    names = [row.stage for row in rows]
    return stage in names and any(row.to_do for row in rows[: names.index(stage) + itself])


def _asking(context: RunContext, stage: str, said: GenerateOptions | JudgeOptions, tried: dict[Any, Asking]) -> Asking:
    settings = settings_for(context, said)
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
