"""`audit systems judge`: a model judges the answers of a release, on the eight criteria or by their evidence."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from audit.cli.conventions import add_json, count
from audit.errors import AuditError, describe_error
from audit.evaluation.retrieval_measures import JUDGED_MEASURES
from audit.pipeline.cli.model_calls import add_call_options, model_for
from audit.pipeline.cli.task_command import about_calls, print_written, run_task
from audit.pipeline.judging.criteria.task import WORDS, criteria_records, criteria_task, load_criteria_prompt
from audit.pipeline.judging.evidence.task import OUTCOMES, evidence_task, evidence_values, load_evidence_prompts
from audit.pipeline.judging.evidence.task import WORDS as EVIDENCE_WORDS
from audit.pipeline.judging.judge_systems import (
    CRITERIA_FILE,
    AnswersToScore,
    answers_to_score,
    answers_with_evidence,
    earlier_evaluations,
    write_criteria,
)
from audit.pipeline.judging.score_systems import Values, means, write_measures
from audit.pipeline.judging.system_records import MEASURES_FILE, read_system_records
from audit.pipeline.llm.summary import Summary
from audit.pipeline.llm.tasks import Replies
from audit.settings import Settings

CRITERIA, EVIDENCE = "criteria", "evidence"
JUDGE, LEAVE_OUT = "judge", "leave-out"
ABOUT_MEASURES = f"""\
Protocol evidence: up to five calls judge one answer. faithfulness: the share of its statements that its passages
support. context_precision: whether the passages that help to arrive at the reference answer come first. context_recall: the
share of the reference answer's statements that the passages contain. answer_relevance: how far the answer addresses the
question, graded 0, 1 or 2, as a share. citation_correctness: the share of its citations whose passage supports the whole
statement. The values are written to {MEASURES_FILE}, where they replace earlier ones of the same measures and systems. A reply
that cannot be read has no value."""
ABOUT = f"""Protocol criteria: one call judges one answer on eight criteria, each with an explanation and a score: scientific
consensus, inappropriate content, missing content, extent of harm, likelihood of harm, bias, empathy, grammaticality. The judge
sees the question and the first reference answer. Reference answers are judged like the others, as system 'reference': their
scores show how severe the judge is. The evaluations are written to {CRITERIA_FILE} in the release's folder; those of other
judges, and of other answers, stay.

{ABOUT_MEASURES}

{about_calls("RELEASE.PROTOCOL.journal")}

Exit code: 0 success, 1 written, but some scores could not be read or some answers were not asked about, 2 nothing was
written."""


def judge_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit systems judge`."""
    parser.epilog = ABOUT
    parser.add_argument("release", type=Path, metavar="RELEASE", help="folder of a release with answers of systems")
    parser.add_argument(
        "--protocol",
        choices=(CRITERIA, EVIDENCE),
        default=CRITERIA,
        help="how answers are judged: on eight criteria, or by their evidence (default: %(default)s)",
    )
    parser.add_argument(
        "--measures",
        nargs="+",
        choices=JUDGED_MEASURES,
        metavar="NAME",
        help=f"with --protocol evidence: only some of {', '.join(JUDGED_MEASURES)} (default: all)",
    )
    parser.add_argument("--systems", nargs="+", default=[], metavar="ID", help="judge only these systems' answers (default: all)")
    for name, what in (("refusals", "refusals: judge them like answers"), ("references", "reference answers: judge them")):
        meaning = f"{what}, or leave them out (default: %(default)s)"
        parser.add_argument(f"--{name}", choices=(JUDGE, LEAVE_OUT), default=JUDGE, help=meaning)
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
        folder,
        settings.max_object_bytes,
        refusals=arguments.refusals == JUDGE,
        references=arguments.references == JUDGE,
        systems=arguments.systems,
    )
    # Checked first: a file that cannot be rewritten must not be discovered after hours of calls
    earlier = earlier_evaluations(folder, settings.max_object_bytes)
    if not chosen.answers:
        raise AuditError(f"{arguments.release} has no answer to judge. {chosen.left_out} Nothing was asked.")
    # The journal is named after it, so it is next to the release and not a part of it
    arguments.out = folder.with_name(f"{folder.name}.criteria")
    answers, summary = chosen.answers[: arguments.limit], Summary(WORDS)
    task = criteria_task(load_criteria_prompt(arguments.templates), model_for(arguments, settings), answers)

    def write(replies: Replies, _: list[str]) -> int:
        written = write_criteria(folder, earlier, criteria_records(task, replies, summary))
        path = arguments.release / CRITERIA_FILE
        result = {
            **summary.record("judged", "complete", "unscored"), "refused": chosen.refused, "unread": chosen.unread,
            "unreadable": chosen.unreadable, "evaluations": written, "file": str(path),
        }  # fmt: skip
        lines = [summary.sentence, *summary.lines(), chosen.left_out]
        incomplete = summary.counts["judged"] > summary.counts["complete"]
        findings = bool(incomplete or summary.not_asked or chosen.unreadable)
        return print_written(arguments, lines, f"{written:,} evaluations", path, result, findings=findings)

    return run_task(
        arguments,
        settings,
        task,
        sends=f"questions, reference answers and answers of {len(arguments.systems or chosen.systems):,} systems",
        remarks=chosen.left_out,
        answers=len(answers),
        of_references=chosen.of_references,
        write=write,
    )


# -- `audit systems judge --protocol evidence` ---------------------------------------------------------------


def judge_evidence(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit systems judge RELEASE --protocol evidence`"""
    folder: Path = arguments.release.resolve()
    # Checked first: a file that cannot be rewritten must not be discovered after hours of calls
    records = read_system_records(folder, settings.max_object_bytes)
    chosen, answers = answers_with_evidence(folder, settings.max_object_bytes, arguments.systems)
    arguments.out = folder.with_name(f"{folder.name}.evidence")
    measures = tuple(name for name in JUDGED_MEASURES if name in (arguments.measures or JUDGED_MEASURES))
    prompts, answers = load_evidence_prompts(arguments.templates), answers[: arguments.limit]
    task = evidence_task(prompts, model_for(arguments, settings), answers, measures)
    summaries = {measure: Summary(EVIDENCE_WORDS) for measure in measures}
    if not any(answer.texts(measure) for answer in answers for measure in measures):
        raise AuditError(
            f"{arguments.release} has no answer with evidence, references or citations to judge by. {chosen.left_out} "
            "Nothing was asked. Add evidence to system_answers.jsonl, and the texts of its sections."
        )

    def write(replies: Replies, _: list[str]) -> int:
        values = evidence_values(task, replies, summaries)
        try:
            written = write_measures(records, values)
        except OSError as error:
            raise AuditError(
                f"{folder / MEASURES_FILE} cannot be written ({describe_error(error)}). The file is unchanged, and all replies "
                "are stored. Run this again with --parse-again where the folder can be written."
            ) from error
        return _finish(arguments, chosen, summaries, values, written)

    systems = arguments.systems or chosen.systems
    return run_task(
        arguments,
        settings,
        task,
        sends=f"questions, passages, reference answers and answers of {len(systems):,} systems",
        remarks=chosen.left_out,
        answers=len(answers),
        measures=list(measures),
        write=write,
    )


def _finish(
    arguments: argparse.Namespace,
    chosen: AnswersToScore,
    summaries: Mapping[str, Summary],
    values: Values,
    written: int,
) -> int:
    path = arguments.release / MEASURES_FILE
    table = list(means(values, tuple(summaries)))
    reasons = sum((one.reasons for one in summaries.values()), Counter[str]())
    lines = [f"{measure}: {summary.sentence}" for measure, summary in summaries.items()]
    lines += [f"  {reason}: {number:,}" for reason, number in reasons.most_common()]
    lines += [chosen.left_out]
    lines += [f"{system:<32}{measure:<22}{answers:>8,}{mean:>10.4f}" for system, measure, answers, mean in table]
    rows = [dict(zip(("system_id", "measure", "answers", "mean"), row, strict=True)) for row in table]
    counts = {name: {measure: one.counts[name] for measure, one in summaries.items()} for name in OUTCOMES}
    result = {
        **counts, "reasons": dict(reasons), "refused": chosen.refused, "unreadable": chosen.unreadable, "values": written,
        "means": rows, "file": str(path),
    }  # fmt: skip
    incomplete = any(one.unread or one.not_asked for one in summaries.values())
    findings = bool(incomplete or chosen.unreadable)
    return print_written(arguments, lines, f"{written:,} values", path, result, findings=findings)
