"""`audit stress grade`: a model grades the answers to sub-questions and open questions of a release's stress tests."""

from __future__ import annotations

import argparse
from pathlib import Path

from audit.cli.conventions import add_json
from audit.errors import AuditError
from audit.pipeline.cli.model_calls import add_call_options, model_for
from audit.pipeline.cli.task_command import about_calls, print_written, run_task
from audit.pipeline.llm.summary import Summary
from audit.pipeline.llm.tasks import Replies
from audit.pipeline.stress.running.grade_stress import graded_replies, graded_systems, sub_answers_of
from audit.pipeline.stress.running.grading import WORDS, grade_task, grades_of, load_grade_prompt
from audit.pipeline.stress.running.run_stress import REPLIES_FILE, earlier_tables, read_instances, write_replies
from audit.settings import Settings

ABOUT = f"""Each answer to a sub-question, and to a question without options, is compared with the right one: 1 in full, 0.5 in
part, 0 not at all, as in MedRGB. Answers that are the same but for case, articles and punctuation get 1 without a call; equal
answers are asked about once. The grades go into {REPLIES_FILE}, and `audit metrics stress_curves` has their means, sub_score and
open_score. A grade that could not be read is null, and counts nowhere. A model that grades its own answers is no independent
measure: set AUDIT_JUDGE_MODEL to another one.

{about_calls("RELEASE.stress-grades.journal")}

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
    task = grade_task(load_grade_prompt(arguments.templates), model_for(arguments, settings), answers)
    summary, exact = Summary(WORDS), sum(not item.needs_grade for item in answers)

    def write(replies: Replies, _: list[str]) -> int:
        grades = grades_of(task, answers, replies, summary)
        systems = list(graded_systems(earlier, arguments.systems, task.model))
        graded = graded_replies(stress_input, earlier, arguments.systems, grades)
        written = write_replies(stress_input, earlier, systems, graded)
        line = f"{summary.counts.total():,} different answers: {summary.sentence}"
        result, findings = {**summary.counts, "replies": written}, bool(summary.counts["unreadable"] or summary.not_asked)
        path = arguments.release / REPLIES_FILE
        return print_written(arguments, [line], f"{written:,} replies", path, result, findings=findings)

    return run_task(
        arguments,
        settings,
        task,
        sends="sub-questions, right answers and answers",
        remarks=f"{exact:,} of {len(answers):,} different answers are exact and need no call.",
        answers=len(answers),
        exact=exact,
        write=write,
    )
