"""`audit systems judge --protocol evidence`: a model judges the answers of a release by their evidence."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from audit.errors import AuditError, describe_error
from audit.evaluation.evidence_measures import JUDGED_MEASURES
from audit.pipeline.cli.model_calls import model_for
from audit.pipeline.cli.task_command import print_written, run_task
from audit.pipeline.judging.evidence.task import OUTCOMES, WORDS, evidence_task, evidence_values, load_evidence_prompts
from audit.pipeline.judging.judge_evidence import answers_with_evidence
from audit.pipeline.judging.judge_systems import AnswersToScore
from audit.pipeline.judging.score_systems import Values, means, write_measures
from audit.pipeline.judging.system_records import MEASURES_FILE, read_system_records
from audit.pipeline.llm.summary import Summary
from audit.pipeline.llm.tasks import Replies
from audit.settings import Settings

ABOUT = f"""Protocol evidence: up to five calls judge one answer. faithfulness: the share of its statements that its passages
support. context_precision: whether the passages that help to arrive at the reference answer come first. context_recall: the
share of the reference answer's statements that the passages contain. answer_relevance: how far the answer addresses the
question, graded 0, 1 or 2, as a share. citation_correctness: the share of its citations whose passage supports the whole
statement. The values are written to {MEASURES_FILE}, where they replace earlier ones of the same measures and systems. A reply
that cannot be read has no value."""


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
    summaries = {measure: Summary(WORDS) for measure in measures}
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
        figures={"answers": len(answers), "measures": list(measures)},
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
