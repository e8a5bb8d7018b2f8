"""The endpoints that later stages of `audit run` need, checked before the first stage begins: not hours later."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from audit.cli.model_calls import endpoints_of, limits_of
from audit.cli.run_models import settings_for
from audit.errors import AuditError
from audit.llm.probe import check_endpoint
from audit.pipeline.config import BASELINE, EXTRACTIVE, GenerateOptions, JudgeOptions
from audit.pipeline.context import RunContext, Stage
from audit.pipeline.plan import StagePlan, plan_stage
from audit.settings import Settings

GENERATE, JUDGE = "generate", "judge"
STAGE_BEFORE = {GENERATE: "retrieve", JUDGE: "generate"}
"""Stage that may call a model -> the last stage before it."""
WITHOUT_MODEL = {GENERATE: f'generator = "{EXTRACTIVE}"', JUDGE: f'judge = "{BASELINE}"'}


@dataclass(frozen=True)
class EndpointCheck:
    """A stage that calls a model, and whether it can: `fault` is the sentence on what is wrong, or empty."""

    stage: str
    fault: str
    models: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """The line of the plan."""
        return f"{self.stage} asks {', '.join(self.models)}." if self.models else f"{self.stage} cannot ask: {self.fault}"


def check_endpoints(context: RunContext, stages: Sequence[Stage]) -> None:
    """Raise AuditError where a stage that calls a model cannot, and there is work before it that would be done in vain.

    A stage that comes next finds out by itself, and a finished one needs no endpoint. `context` is used for this alone.
    """
    rows = _rows(context, stages)
    for check in endpoint_checks(context, rows, [stage for stage in STAGE_BEFORE if _has_work(rows, stage, itself=False)]):
        if check.fault:
            raise AuditError(
                f"{context.config.path}, [{check.stage}]: {check.fault} No stage was started. "
                f"To do only what needs no such model: --until {STAGE_BEFORE[check.stage]}."
            )


def endpoint_checks(
    context: RunContext, rows: Sequence[StagePlan], stages: Iterable[str] = tuple(STAGE_BEFORE)
) -> list[EndpointCheck]:
    """The checks of those `stages` that call a model and have work, or have work before them; each endpoint is tried once."""
    tried: dict[Any, EndpointCheck] = {}
    return [
        _check(context, stage, options, tried)
        for stage, options in _by_model(context)
        if stage in stages and _has_work(rows, stage)
    ]


def _rows(context: RunContext, stages: Sequence[Stage]) -> list[StagePlan]:
    """What the stages have to do. Handbooks that the last release left out are assumed to fail again."""
    context.left_out.update({name: reason for name, reason in _left_out_before(context).items() if name not in context.left_out})
    rows = []
    for stage in stages:
        try:
            rows.append(plan_stage(context, stage))
        except AuditError:  # an input that an earlier stage will write again; if not, that stage reports it
            rows.append(StagePlan(stage.name, 1, (stage.name,)))
    return rows


def _left_out_before(context: RunContext) -> dict[str, str]:
    try:
        left_out = json.loads((context.workspace.release / "manifest.json").read_text(encoding="utf-8"))["left_out"]
        return {name: str(reason) for name, reason in left_out.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _by_model(context: RunContext) -> Iterator[tuple[str, GenerateOptions | JudgeOptions]]:
    if context.config.generate.generator != EXTRACTIVE:
        yield GENERATE, context.config.generate
    if context.config.judge.judge != BASELINE:
        yield JUDGE, context.config.judge


def _has_work(rows: Sequence[StagePlan], stage: str, *, itself: bool = True) -> bool:
    """Whether the stage is planned, and something is to be done before it or, with `itself`, in it."""
    names = [row.stage for row in rows]
    return stage in names and any(row.to_do for row in rows[: names.index(stage) + itself])


def _check(
    context: RunContext, stage: str, options: GenerateOptions | JudgeOptions, tried: dict[Any, EndpointCheck]
) -> EndpointCheck:
    settings = settings_for(context, options)
    if not settings.judge_urls:
        remedy = (
            f'Write url = ["http://127.0.0.1:8000/v1"] there, set AUDIT_JUDGE_URL, or do without a model: {WITHOUT_MODEL[stage]}.'
        )
        return EndpointCheck(stage, f"it calls a model, and no endpoint is set. {remedy}")
    key = (settings.judge_urls, settings.judge_model)
    if key not in tried:
        tried[key] = _try_endpoints(stage, settings)
    return EndpointCheck(stage, tried[key].fault, tried[key].models)


def _try_endpoints(stage: str, settings: Settings) -> EndpointCheck:
    try:
        reached = [
            asyncio.run(check_endpoint(endpoint, limits_of(settings)))
            for endpoint in endpoints_of(settings, settings.judge_model)
        ]
    except AuditError as error:
        return EndpointCheck(stage, str(error))
    return EndpointCheck(stage, "", tuple(f"{endpoint.model} at {endpoint.base_url}" for endpoint in reached))
