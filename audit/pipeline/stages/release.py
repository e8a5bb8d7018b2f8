"""The stages that make the release: judging every pair as `audit judge` does it, its themes, and loading it as a run."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from audit.atomic_io import write_atomic
from audit.jobs.asking import prepare_for_questions
from audit.pipeline.embedding.encoders import encoder_factory
from audit.pipeline.judging.corpus import Corpus
from audit.pipeline.judging.verdict_sources import JudgingSummary
from audit.pipeline.stages.build_cache import Task, code_digest, digest_of
from audit.pipeline.stages.config import MODEL, STAND_IN
from audit.pipeline.stages.context import Figures, RunContext, TaskByTask
from audit.pipeline.stages.judging_input import has_couples, judging_input, questions_without_pair, run_record
from audit.pipeline.stages.judging_runs import leave_unjudged
from audit.pipeline.themes.build import PRINCIPAL, build_taxonomy
from audit.pipeline.themes.clusters import ThemeBuildOptions
from audit.queries.datasheet import datasheet, datasheet_text
from audit.release.taxonomy import LEXICAL, by_plain_phrase, write_taxonomy
from audit.result_cache import prepare_in_background
from audit.store.connection import open_store
from audit.store.load import load_release
from audit.vocabulary import DISAGREEING

JUDGE_CODE = (
    "pipeline/judging",
    "pipeline/llm/reply_models.py",
    "pipeline/llm/reply_text.py",
    "pipeline/verdict.py",
    "pipeline/stages/judging_input.py",
    "release",
    "text",
)
RELEASE_FILES = ("manifest.json", "handbooks.jsonl", "questions.jsonl", "answers.jsonl", "sections.jsonl")
Judge = Callable[[RunContext, Corpus], JudgingSummary]
"""Judges the answers and writes the release into the workspace."""
NOT_COMPARED = (
    "Nothing has compared the {handbooks:,} handbooks: the run has their answers, without labels. A language model compares them "
    'with judge = "model" in [judge], or later by audit judge.'
)
NO_COUPLE = "No question is asked of two handbooks, so there is nothing to compare: the run has their answers, without labels."


@dataclass
class JudgeStage(TaskByTask):
    """One task: the release, with the pairs as the judge labels them, or without pairs.

    The replies of a model are kept in a journal, so no call is made twice.
    """

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
            "run": run_record(context, self.generator),
            "judge": options.model_dump(mode="json", exclude={"url", "templates"}),
            "templates": context.cache.digest(options.templates) if options.templates else "",
            "truth": self._truth_digests(),
            "model": context.model_settings if options.judge == MODEL else "",
            "code": code_digest(*JUDGE_CODE),
        }
        names = [*RELEASE_FILES, *(["trials.jsonl"] if compared else []), *(["comparisons"] if self._compares else [])]
        return [Task(self.name, "release", inputs, tuple(workspace.release / name for name in names))]

    @property
    def _compares(self) -> bool:
        return self.context.config.compares and has_couples(self.context)

    def _truth_digests(self) -> list[str | None]:
        """Of the table of the stand-in judge, and of the questions, which name the rules."""
        config = self.context.config
        files = (config.judge.truth, config.questions.file) if config.judge.judge == STAND_IN else ()
        return [self.context.cache.digest(path) for path in files if path]

    def run_task(self, task: Task) -> Figures:
        """Judge, and write the release."""
        answers = judging_input(self.context, self.generator)
        unasked, sentence = questions_without_pair(answers.items())
        if self._compares:
            figures = summary_figures(self.judge(self.context, answers))
        else:
            leave_unjudged(self.context.workspace.release, answers)
            message = NOT_COMPARED.format(handbooks=len(answers.handbooks)) if has_couples(self.context) else NO_COUPLE
            figures = {"judged": 0, "findings": 0, "message": message}
        message = f"{figures['message']} {sentence}".strip()
        return {**figures, "findings": figures["findings"] + unasked, "message": message}


def summary_figures(summary: JudgingSummary) -> dict[str, Any]:
    """The outcome of the pairs, in figures; `findings` are pairs that a model should have judged and did not."""
    return {
        "judged": summary.counts["judged"],
        "prescreened": summary.counts["prescreened"],
        "unscored": summary.reasons.total(),
        "not_asked": summary.not_asked,
        "findings": summary.unread + summary.not_asked,
        "message": f"{summary.sentence} {summary.remark}".strip(),
    }


THEMES_CODE = (
    "pipeline/themes",
    "pipeline/llm/reply_models.py",
    "pipeline/llm/reply_text.py",
    "release/taxonomy.py",
    "pipeline/embedding",
)


@dataclass
class ThemesStage(TaskByTask):
    """One task: the divergence topics as named themes, stored in the release."""

    name = "themes"

    def tasks(self) -> list[Task]:
        """The comparisons, and how their topics are grouped. A release without pairs has no themes."""
        options, release = self.context.config.themes, self.context.workspace.release
        if not (options.build and self.context.config.compares) or (
            (release / "manifest.json").is_file() and not (release / "comparisons").is_dir()
        ):
            return []
        pairs = self.context.cache.digest(release / "comparisons")
        inputs = {
            "pairs": pairs, "model": options.model, "method": options.method, "target": options.target,
            "code": code_digest(*THEMES_CODE),
        }  # fmt: skip
        return [Task(self.name, "themes.json", inputs, (release / "themes.json",))]

    def run_task(self, task: Task) -> Figures:
        """Build the taxonomy. Where nothing disagrees there are no themes, and the file records that."""
        counts, topic_of = self._disagreements()
        config = self.context.config.themes
        if not counts:
            write_atomic(task.outputs[0], '{"themes": []}\n')
            return {"themes": 0}
        encoder_of = encoder_factory(config.model, self.context.settings.data_dir / "vectors")
        assert encoder_of is not None  # the config reader refuses `none` for themes
        layout = PRINCIPAL if config.model == LEXICAL else None
        options = ThemeBuildOptions(config.method, config.target or None, layout=layout)
        # The encoder of words learns from the phrases which words are rare.
        encoder = encoder_of(list(by_plain_phrase(counts)))
        taxonomy, points = build_taxonomy(counts, encoder, options, groups=topic_of, progress=self.context.progress)
        write_taxonomy(taxonomy, points, task.outputs[0])
        return {"themes": len(taxonomy.leaves), "topics": len(counts)}

    def _disagreements(self) -> tuple[Counter[str], dict[str, str]]:
        """Divergence topic -> the number of disagreeing pairs that have it, and -> the commonest topic of their questions."""
        release, counts, topics = self.context.workspace.release, Counter[str](), defaultdict[str, Counter[str]](Counter)
        for path in sorted((release / "comparisons").glob("*.json")):
            record = json.loads(path.read_text(encoding="utf-8"))
            for pair in record["pairs"]:
                if pair["classification"] in DISAGREEING and (pair["divergence_topic"] or "").strip():
                    counts[pair["divergence_topic"]] += 1
                    topics[pair["divergence_topic"]].update(self._topics_of_questions.get(record["question_id"], ()))
        return counts, {phrase: min(own, key=lambda topic: (-own[topic], topic)) for phrase, own in topics.items() if own}

    @cached_property
    def _topics_of_questions(self) -> dict[str, list[str]]:
        lines = (self.context.workspace.release / "questions.jsonl").read_text(encoding="utf-8").splitlines()
        questions = [json.loads(line) for line in lines if line.strip()]
        return {question["question_id"]: question.get("topics") or [] for question in questions}


@dataclass
class LoadStage(TaskByTask):
    """One task: the run. The only stage that opens the store."""

    name = "load"

    def tasks(self) -> list[Task]:
        """Everything in the release, and the store it goes into."""
        if not self.context.config.load.load:
            return []
        # The release as a whole: themes and a change by hand count as well.
        release = self.context.cache.digest(self.context.workspace.release)
        inputs = {"release": release, "store": str(self.context.settings.store_dir.resolve())}
        return [Task(self.name, self.context.config.release.run_id, inputs)]

    def done(self, task: Task) -> bool:
        """Whether the loaded run still exists: stores are disposable."""
        return super().done(task) and Path(self.context.cache.figures(task).get("path", "")).is_file()

    def run_task(self, task: Task) -> Figures:
        """Load it, as `audit load` does."""
        run = load_release(self.context.workspace.release, self.context.settings).run
        prepare_in_background(run, self.context.settings.themes_dir)
        prepare_for_questions(run, self.context.settings.data_dir)
        with open_store(run.path) as con:
            # Beside the release, not in it: the digest of a release must not depend on having been loaded
            write_atomic(self.context.workspace.datasheet, datasheet_text(run.title, datasheet(con)))
        sheet = f"Datasheet, with what you may want to add: {self.context.workspace.datasheet}"
        message = f"Run {run.key}: {run.report['verdict']}\n{sheet}"
        return {"run": run.key, "path": str(run.path.resolve()), "message": message}
