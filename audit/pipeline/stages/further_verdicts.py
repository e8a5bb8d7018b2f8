"""Verdicts after those of a run: of a second judge, or of its judge asked again; which pairs, and further_verdicts.jsonl."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from audit.errors import AuditError, describe_error
from audit.pipeline.judging.protocols import LABEL, STRUCTURED, JudgingTask
from audit.pipeline.llm.summary import Summary
from audit.pipeline.llm.tasks import Replies
from audit.pipeline.release_tables import records_to_keep, release_layout, write_table
from audit.pipeline.verdict import Verdict
from audit.release.journal_files import Reply
from audit.release.pair_kinds import FURTHER_VERDICT
from audit.store.connection import Connection, rows
from audit.vocabulary import FurtherKind, PairIds

FILE = "further_verdicts.jsonl"
OTHERS, PANEL = 200, 200
"""How many pairs are drawn where nobody says: of those that neither disagree nor are unscored; of all with a label."""
WORDS = "{judged:,} verdicts, {unscored:,} unscored, {not_asked:,} not asked."
# In the order of the md5 of the pair, so the same pairs are drawn on every machine, and more of them where more are asked for
DRAWN = """
with strata as (
    select *, case when label is null then 'unscored' when $panel then 'any' when disagrees then 'disagreeing' else 'other' end
              as stratum
    from judged_pairs where not prescreened
), named as (
    select question_id, a.handbook_id as a, b.handbook_id as b, stratum, row_number() over (
        partition by stratum order by md5(concat_ws(chr(31), $seed, question_id, a.handbook_id, b.handbook_id))
    ) as place
    from strata join questions using (question)
    join handbooks a on a.handbook = handbook_a join handbooks b on b.handbook = handbook_b
)
select question_id, a, b, stratum from named
where stratum = 'disagreeing' or (stratum = 'unscored' and not $panel) or (stratum in ('any', 'other') and place <= $count)
order by question_id, a, b
"""
EARLIER_PANEL = """
select distinct question_id, a.handbook_id, b.handbook_id from further_verdicts v join questions using (question)
join handbooks a on a.handbook = least(handbook_a, handbook_b) join handbooks b on b.handbook = greatest(handbook_a, handbook_b)
where kind = 'recheck' order by all
"""
SEEDS = {FurtherKind.SECOND: "second judge", FurtherKind.RECHECK: "panel"}


@dataclass(frozen=True)
class FurtherPlan:
    """The pairs that are put to a judge again.

    drawn  in words: how many of which pairs; round  which time a panel is asked, from 1
    """

    kind: FurtherKind
    pairs: list[PairIds]
    drawn: str
    round: int = 1


def further_plan(con: Connection, kind: FurtherKind, count: int) -> FurtherPlan:
    """The pairs of a loaded run for a second judge, or its frozen panel: drawn the first time, the same ever after.

    count  of the pairs that the run's judge calls neither disagreeing nor unscored; or of the panel's

    Raises AuditError where there is none.
    """
    if kind is FurtherKind.RECHECK and (panel := rows(con, EARLIER_PANEL)):
        ((last,),) = rows(con, "select max(round) from further_verdicts where kind = 'recheck'")
        return FurtherPlan(kind, [(str(q), str(a), str(b)) for q, a, b in panel], f"panel of {len(panel):,}", int(last) + 1)
    is_panel = kind is FurtherKind.RECHECK
    found = rows(con, DRAWN, {"panel": is_panel, "count": count, "seed": SEEDS[kind]})
    if not found:
        raise AuditError("No judge was asked about a pair of this run, so none can be asked again. Nothing was asked.")
    strata = {name: sum(row[3] == name for row in found) for name in ("disagreeing", "unscored", "other")}
    words = f"panel of {len(found):,}" if is_panel else ", ".join(f"{number:,} {name}" for name, number in strata.items())
    return FurtherPlan(kind, [(str(q), str(a), str(b)) for q, a, b, _ in found], words)


def asked_alone(task: JudgingTask) -> JudgingTask:
    """The task without the calls for topics, which a further verdict does not have."""
    return replace(task, tokens={stage: tokens for stage, tokens in task.tokens.items() if stage in (STRUCTURED, LABEL)})


def further_records(task: JudgingTask, plan: FurtherPlan, replies: Replies, summary: Summary) -> Iterator[dict[str, Any]]:
    """The records of the replies so far, counted in `summary`."""
    date = datetime.now(UTC).date().isoformat()
    # Not in the manifest, whose digest names the run
    (prompt,) = (task.prompts[stage] for stage in task.tokens)
    in_full: str | None = f"{prompt.title}\n\n{prompt.system}\n\n{prompt.user}"
    for item in task.corpus.items():
        findings = task.protocol.absence_findings(item, replies)
        requests = sum(1 for _ in task.protocol.judge_requests(task.corpus, item, findings))
        replied = 0
        for request, reply, verdict in task.protocol.verdicts(task.corpus, item, findings, replies):
            replied += 1
            summary.count(
                parse=verdict.parse, reason=None if verdict.label else verdict.reason or "unknown",
                judged=verdict.label is not None, unscored=verdict.label is None,
            )  # fmt: skip
            about = {"question_id": item.question_id, "handbook_a": request.pair[0], "handbook_b": request.pair[1]}
            yield about | {
                "kind": plan.kind, "round": plan.round, "number": request.number + 1, **_verdict_fields(verdict),
                "judge": task.model, "revision": _revision(reply), "date": date,
                **({"prompt": in_full} if in_full else {}),
            }  # fmt: skip
            in_full = None
        summary.count(not_asked=requests - replied)


def _verdict_fields(verdict: Verdict) -> dict[str, str | None]:
    return {"label": verdict.label, "reasoning": verdict.reasoning, "unscored_reason": None if verdict.label else verdict.reason}


def _revision(reply: Reply) -> str | None:
    return " ".join(filter(None, (reply.model, reply.server))) or None


def earlier_records(folder: Path, max_bytes: int) -> list[dict[str, Any]]:
    """The records that the release's file has already.

    Raises ReleaseError where `folder` is no release, or where writing its file again would lose a record.
    """
    return [raw for raw, _ in records_to_keep(release_layout(folder), FURTHER_VERDICT, FILE, max_bytes)]


def write_further(folder: Path, earlier: list[dict[str, Any]], plan: FurtherPlan, judge: str, records: list[Any]) -> None:
    """Write the file: earlier records, and these in place of those of the same judge (or of the same round of the panel).

    Raises AuditError where it cannot be written.
    """
    own = FURTHER_VERDICT.canonical

    def replaced(raw: dict[str, Any]) -> bool:
        record = own(raw)
        if record.get("kind") != plan.kind:
            return False
        return record.get("judge") == judge if plan.kind is FurtherKind.SECOND else record.get("round", 1) == plan.round

    try:
        write_table(folder, FILE, "further_verdicts", [*(raw for raw in earlier if not replaced(raw)), *records])
    except OSError as error:
        raise AuditError(
            f"{folder / FILE} cannot be written ({describe_error(error)}). The file is unchanged. "
            "Run this again where the folder can be written; stored replies are not asked for again."
        ) from error
