"""`audit systems judge`: a model judges the answers of a release, on the eight criteria or by their evidence."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from audit.cli.conventions import FINDINGS, OK, add_json, count, note, print_result
from audit.errors import AuditError
from audit.evaluation.evidence_measures import JUDGED_MEASURES
from audit.pipeline.cli.estimates import CostEstimate, estimate, with_stored_replies
from audit.pipeline.cli.model_calls import add_call_options, carry_out, model_for
from audit.pipeline.cli.systems_evidence import ABOUT as ABOUT_EVIDENCE
from audit.pipeline.cli.systems_evidence import judge_evidence
from audit.pipeline.judging.criteria.task import CriteriaSummary, CriteriaTask, criteria_records, load_criteria_prompt
from audit.pipeline.judging.judge_systems import (
    CRITERIA_FILE,
    AnswersToScore,
    answers_to_score,
    earlier_evaluations,
    write_criteria,
)
from audit.pipeline.llm.journal import Journal
from audit.pipeline.llm.tasks import Replies
from audit.settings import Settings

CRITERIA, EVIDENCE = "criteria", "evidence"
JUDGE, LEAVE_OUT = "judge", "leave-out"
ABOUT = f"""Protocol criteria: one call judges one answer on eight criteria, each with an explanation and a score: scientific
consensus, inappropriate content, missing content, extent of harm, likelihood of harm, bias, empathy, grammaticality. The judge
sees the question and the first reference answer. Reference answers are judged like the others, as system 'reference': their
scores show how severe the judge is. The evaluations are written to {CRITERIA_FILE} in the release's folder; those of other
judges, and of other answers, stay.

{ABOUT_EVIDENCE}

AUDIT_JUDGE_URL, AUDIT_JUDGE_MODEL and AUDIT_JUDGE_KEY set the endpoint. Every reply is stored in RELEASE.PROTOCOL.journal, next
to the folder, before it is parsed. If the command stops, the same command continues where it stopped, and no call is made twice.

Exit code: 0 success, 1 written, but some scores could not be read or some answers were not asked about, 2 nothing was
written."""


def judge_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit systems judge`."""
    parser.epilog = ABOUT
    parser.add_argument("release", type=Path, metavar="RELEASE", help="folder of a release with answers of systems")
    parser.add_argument(
        "--protocol", choices=(CRITERIA, EVIDENCE), default=CRITERIA,
        help="how answers are judged: on eight criteria, or by their evidence (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--measures", nargs="+", choices=JUDGED_MEASURES, metavar="NAME",
        help=f"with --protocol evidence: only some of {', '.join(JUDGED_MEASURES)} (default: all)",
    )  # fmt: skip
    parser.add_argument("--systems", nargs="+", default=[], metavar="ID", help="judge only these systems' answers (default: all)")
    parser.add_argument(
        "--refusals", choices=(JUDGE, LEAVE_OUT), default=JUDGE,
        help="refusals: judge them like answers, or leave them out (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--references", choices=(JUDGE, LEAVE_OUT), default=JUDGE,
        help="reference answers: judge them, or leave them out (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--limit", type=count, metavar="N", help="only the first N answers")
    parser.add_argument("--templates", type=Path, metavar="DIR", help="folder with your own prompts, such as criteria.md")
    add_call_options(parser, "evaluations")
    add_json(parser)


def judge(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit systems judge RELEASE`"""
    if arguments.protocol == EVIDENCE:
        return judge_evidence(arguments, settings)
    if arguments.measures:
        raise AuditError(f"--measures requires --protocol {EVIDENCE}. Nothing was asked.")
    folder: Path = arguments.release.resolve()
    chosen = answers_to_score(
        folder, settings.max_object_bytes, refusals=arguments.refusals == JUDGE,
        references=arguments.references == JUDGE, systems=arguments.systems,
    )  # fmt: skip
    # Checked first: a file that cannot be rewritten must not be discovered after hours of calls
    earlier = earlier_evaluations(folder, settings.max_object_bytes)
    if not chosen.answers:
        raise AuditError(f"{arguments.release} has no answer to judge. {chosen.left_out} Nothing was asked.")
    # The journal is named after it, so it is next to the release and not a part of it
    arguments.out = folder.with_name(f"{folder.name}.criteria")
    task = CriteriaTask(
        load_criteria_prompt(arguments.templates), model_for(arguments, settings), chosen.answers[: arguments.limit]
    )
    if arguments.dry_run:
        return _print_estimate(arguments, settings, task, chosen)

    def write(journal: Journal, _: list[str]) -> tuple[CriteriaSummary, int]:
        summary = CriteriaSummary()
        return summary, write_criteria(folder, earlier, criteria_records(task, journal.latest, summary))

    return carry_out(
        arguments, settings, task,
        write=write,
        finish=lambda written: _finish(arguments, chosen, *written),
        explain_stop=lambda _: note("The same command continues from there, and no call is made twice."),
    )  # fmt: skip


def _print_estimate(arguments: argparse.Namespace, settings: Settings, task: CriteriaTask, chosen: AnswersToScore) -> int:
    systems = arguments.systems or chosen.systems
    sends = f"questions, reference answers and answers of {len(systems):,} systems"

    def measure(replies: Replies) -> CostEstimate:
        return estimate(settings, task.model, task.costs(replies), probe=arguments.probe, sends=sends, remarks=chosen.left_out)

    cost = with_stored_replies(arguments.out, task.plan(), measure)
    print_result(arguments, cost.text, cost.record | {"answers": len(task.answers), "of_references": chosen.of_references})
    return OK


def _finish(arguments: argparse.Namespace, chosen: AnswersToScore, summary: CriteriaSummary, written: int) -> int:
    path = arguments.release / CRITERIA_FILE
    lines = [summary.sentence, *(f"  {reason}: {number:,}" for reason, number in summary.reasons.most_common())]
    lines += [text for text in (chosen.left_out,) if text]
    lines += [f"{written:,} evaluations: {path}. Load the release again with: audit load {shlex.quote(str(arguments.release))}"]
    result = {
        "judged": summary.judged, "complete": summary.complete, "unscored": summary.unscored, "not_asked": summary.not_asked,
        "reasons": dict(summary.reasons), "parse": dict(summary.parse), "refused": chosen.refused, "unread": chosen.unread,
        "unreadable": chosen.unreadable, "evaluations": written, "file": str(path),
    }  # fmt: skip
    print_result(arguments, "\n".join(lines), result)
    return FINDINGS if summary.judged > summary.complete or summary.not_asked or chosen.unreadable else OK
