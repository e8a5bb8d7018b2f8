"""Judges every pair of answers, as `audit judge` does it, and writes everything so far as a release."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from audit.judging.corpus import Corpus
from audit.judging.verdict_sources import JudgingSummary
from audit.pipeline.build_cache import Task, code_digest, digest_of
from audit.pipeline.config import MODEL
from audit.pipeline.context import Figures, RunContext, TaskByTask
from audit.pipeline.coverage_check import check_questions_meet, questions_without_pair
from audit.pipeline.judging_input import judging_input, run_record

CODE = ("judging", "release", "text", "pipeline/judging_input.py", "pipeline/coverage_check.py")
FILES = ("manifest.json", "handbooks.jsonl", "questions.jsonl", "answers.jsonl", "sections.jsonl", "comparisons")
Judge = Callable[[RunContext, Corpus], JudgingSummary]
"""Judges the answers and writes the release into the workspace."""


@dataclass
class JudgeStage(TaskByTask):
    """One task: the release. The replies of a model are kept in a journal, so that no call is made twice."""

    judge: Judge
    generator: str
    name = "judge"

    def tasks(self) -> list[Task]:
        """All answers, questions, texts and trials, the judge, and the manifest fields of the release."""
        context, workspace = self.context, self.context.workspace
        options, compared = context.config.judge, bool(context.config.retrieval.compare)
        files = [path for source in context.present for path in (workspace.answers(source.handbook_id), source.document)]
        files += [workspace.trials(source.handbook_id) for source in context.present if compared]
        digests = [context.cache.digest(path) for path in files]
        inputs = {
            "files": None if None in digests else digest_of([[path.name for path in files], digests]),
            "questions": digest_of(context.questions()) if workspace.questions.is_file() else None,
            "run": run_record(context, self.generator), "judge": options.model_dump(mode="json", exclude={"url", "templates"}),
            "templates": context.cache.digest(options.templates) if options.templates else "",
            "model": context.settings.judge_model if options.judge == MODEL else "", "code": code_digest(*CODE),
        }  # fmt: skip
        outputs = [workspace.release / name for name in (*FILES, *(["trials.jsonl"] if compared else []))]
        return [Task(self.name, "release", inputs, tuple(outputs))]

    def carry(self, task: Task) -> Figures:
        """Judge, and write the release."""
        check_questions_meet(self.context, 2)
        answers = judging_input(self.context, self.generator)
        unasked, sentence = questions_without_pair(answers.items())
        figures = summary_figures(self.judge(self.context, answers))
        message = f"{figures['message']} {sentence}".strip()
        return {**figures, "findings": figures["findings"] + unasked, "message": message}


def summary_figures(summary: JudgingSummary) -> dict[str, Any]:
    """What happened to the pairs, in figures; `findings` are pairs that a model should have judged and did not."""
    unscored = summary.unscored.total()
    return {
        "judged": summary.judged, "prescreened": summary.prescreened, "unscored": unscored, "not_asked": summary.not_asked,
        "findings": unscored + summary.not_asked, "message": summary.sentence,
    }  # fmt: skip
