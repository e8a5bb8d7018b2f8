"""`audit stress grade`: a model grades the answers to sub-questions and open questions of a release's stress tests."""

from __future__ import annotations

import argparse
import shlex
from collections import Counter
from pathlib import Path

from audit.cli.conventions import FINDINGS, OK, add_json, note, print_result
from audit.errors import AuditError
from audit.pipeline.cli.estimates import CostEstimate, estimate, with_stored_replies
from audit.pipeline.cli.model_calls import add_call_options, carry_out, model_for
from audit.pipeline.llm.journal import Journal
from audit.pipeline.llm.tasks import Replies
from audit.pipeline.stress.running.grade_stress import graded_replies, graded_systems, sub_answers_of
from audit.pipeline.stress.running.grading import GradeTask, grades_of, load_grade_prompt
from audit.pipeline.stress.running.run_stress import REPLIES_FILE, earlier_tables, read_instances, write_replies
from audit.settings import Settings

ABOUT = f"""Each answer to a sub-question, and to a question without options, is compared with the right one: 1 in full, 0.5 in
part, 0 not at all, as in MedRGB. Answers that are the same but for case, articles and punctuation get 1 without a call; equal
answers are asked about once. The grades go into {REPLIES_FILE}, and `audit metrics stress_curves` has their means, sub_score and
open_score. A grade that could not be read is null, and counts nowhere. A model that grades its own answers is no independent
measure: set AUDIT_JUDGE_MODEL to another one.

AUDIT_JUDGE_URL, AUDIT_JUDGE_MODEL and AUDIT_JUDGE_KEY set the endpoint. Every reply is stored in RELEASE.stress-grades.journal,
next to the folder, before it is parsed. If the command stops, the same command continues where it stopped.

Exit code: 0 success, 1 written, but some grades could not be read or were not asked for, 2 nothing was written."""


def grade_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit stress grade`."""
    parser.epilog = ABOUT
    parser.add_argument("release", type=Path, metavar="RELEASE", help="folder with replies, as `audit stress run` writes them")
    parser.add_argument("--systems", nargs="+", default=[], metavar="ID", help="grade only these systems' answers (default: all)")
    parser.add_argument("--templates", type=Path, metavar="DIR", help="folder with your own prompt, stress_grade.md")
    add_call_options(parser, "grades")
    add_json(parser)


def grade(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit stress grade RELEASE`"""
    folder: Path = arguments.release.resolve()
    stress_input = read_instances(folder, settings.max_object_bytes)
    earlier = earlier_tables(stress_input, settings.max_object_bytes)
    answers = sub_answers_of(stress_input, earlier, arguments.systems)
    if not answers:
        raise AuditError(f"{arguments.release} has no answer that can be graded. Nothing was asked. Run first: audit stress run")
    arguments.out = folder.with_name(f"{folder.name}.stress-grades")
    task = GradeTask(load_grade_prompt(arguments.templates), model_for(arguments, settings), answers)
    if arguments.dry_run:
        return _print_estimate(arguments, settings, task)

    def write(journal: Journal, _: list[str]) -> tuple[Counter[str], int]:
        counts: Counter[str] = Counter()
        grades = grades_of(task, journal.latest, counts)
        systems = list(graded_systems(earlier, arguments.systems, task.model))
        return counts, write_replies(
            stress_input, earlier, systems, graded_replies(stress_input, earlier, arguments.systems, grades)
        )

    return carry_out(
        arguments, settings, task,
        write=write,
        finish=lambda written: _finish(arguments, *written),
        explain_stop=lambda _: note("The same command continues from there, and no call is made twice."),
    )  # fmt: skip


def _print_estimate(arguments: argparse.Namespace, settings: Settings, task: GradeTask) -> int:
    exact = sum(not item.needs_grade for item in task.answers)
    remarks = f"{exact:,} of {len(task.answers):,} different answers are exact and need no call."

    def measure(replies: Replies) -> CostEstimate:
        sends = "sub-questions, right answers and answers"
        return estimate(settings, task.model, task.costs(replies), probe=arguments.probe, sends=sends, remarks=remarks)

    cost = with_stored_replies(arguments.out, task.plan(), measure)
    print_result(arguments, cost.text, cost.record | {"answers": len(task.answers), "exact": exact})
    return OK


def _finish(arguments: argparse.Namespace, counts: Counter[str], written: int) -> int:
    text = (
        f"{counts.total():,} different answers: {counts['exact']:,} exact, {counts['graded']:,} graded, "
        f"{counts['unreadable']:,} unreadable, {counts['not asked']:,} not asked.\n"
        f"{written:,} replies: {arguments.release / REPLIES_FILE}. Load the release again with: "
        f"audit load {shlex.quote(str(arguments.release))}"
    )
    print_result(arguments, text, {**{name.replace(" ", "_"): number for name, number in counts.items()}, "replies": written})
    return FINDINGS if counts["unreadable"] or counts["not asked"] else OK
