"""`audit systems judge --protocol evidence`: a model judges the answers of a release by their evidence."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from audit.cli.conventions import FINDINGS, OK, note, print_result
from audit.errors import AuditError, describe_error
from audit.evaluation.evidence_measures import JUDGED_MEASURES
from audit.pipeline.cli.estimates import CostEstimate, estimate, with_stored_replies
from audit.pipeline.cli.model_calls import carry_out, model_for
from audit.pipeline.judging.evidence.task import EvidenceSummary, EvidenceTask, evidence_values, load_evidence_prompts
from audit.pipeline.judging.judge_evidence import answers_with_evidence
from audit.pipeline.judging.judge_systems import AnswersToScore
from audit.pipeline.judging.score_systems import Values, means, write_measures
from audit.pipeline.judging.system_records import MEASURES_FILE, read_system_records
from audit.pipeline.llm.journal import Journal
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
    prompts = load_evidence_prompts(arguments.templates)
    task = EvidenceTask(prompts, model_for(arguments, settings), answers[: arguments.limit], measures)
    if not any(answer.texts(measure) for answer in task.answers for measure in measures):
        raise AuditError(
            f"{arguments.release} has no answer with evidence, references or citations to judge by. {chosen.left_out} "
            "Nothing was asked. Add evidence to system_answers.jsonl, and the texts of its sections."
        )
    if arguments.dry_run:
        return _print_estimate(arguments, settings, task, chosen)

    def write(journal: Journal, _: list[str]) -> tuple[EvidenceSummary, Values, int]:
        summary = EvidenceSummary()
        values = evidence_values(task, journal.latest, summary)
        try:
            return summary, values, write_measures(records, values)
        except OSError as error:
            raise AuditError(
                f"{folder / MEASURES_FILE} cannot be written ({describe_error(error)}). The file is unchanged, and all replies "
                "are stored. Run this again with --parse-again where the folder can be written."
            ) from error

    return carry_out(
        arguments, settings, task,
        write=write,
        finish=lambda written: _finish(arguments, task, chosen, *written),
        explain_stop=lambda _: note("The same command continues from there, and no call is made twice."),
    )  # fmt: skip


def _print_estimate(arguments: argparse.Namespace, settings: Settings, task: EvidenceTask, chosen: AnswersToScore) -> int:
    sends = f"questions, passages, reference answers and answers of {len(arguments.systems or chosen.systems):,} systems"

    def measure(replies: Replies) -> CostEstimate:
        remarks = chosen.left_out
        return estimate(settings, task.model, task.costs(replies), probe=arguments.probe, sends=sends, remarks=remarks)

    cost = with_stored_replies(arguments.out, task.plan(), measure)
    print_result(arguments, cost.text, cost.record | {"answers": len(task.answers), "measures": list(task.measures)})
    return OK


def _finish(
    arguments: argparse.Namespace,
    task: EvidenceTask,
    chosen: AnswersToScore,
    summary: EvidenceSummary,
    values: Values,
    written: int,
) -> int:
    path = arguments.release / MEASURES_FILE
    table = list(means(values, task.measures))
    lines = [*summary.lines(task.measures), *(f"  {reason}: {number:,}" for reason, number in summary.reasons.most_common())]
    lines += [text for text in (chosen.left_out,) if text]
    lines += [f"{system:<32}{measure:<22}{answers:>8,}{mean:>10.4f}" for system, measure, answers, mean in table]
    lines += [f"{written:,} values: {path}. Load the release again with: audit load {shlex.quote(str(arguments.release))}"]
    rows = [dict(zip(("system_id", "measure", "answers", "mean"), row, strict=True)) for row in table]
    counts = {name: dict(counter) for name, counter in vars(summary).items()}
    result = {**counts, "refused": chosen.refused, "unreadable": chosen.unreadable, "values": written, "means": rows}
    print_result(arguments, "\n".join(lines), result | {"file": str(path)})
    return FINDINGS if summary.unread or summary.not_asked or chosen.unreadable else OK
