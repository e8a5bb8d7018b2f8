"""Writes verdicts as a release: everything that was judged is copied, and the manifest records how it was judged."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from audit.errors import AuditError
from audit.pipeline.judging.corpus import AnswerToJudge, Corpus, QuestionToJudge
from audit.pipeline.judging.protocols import AbsenceFinding
from audit.pipeline.judging.verdict_sources import Record, VerdictSource
from audit.pipeline.llm.prompts import Prompt
from audit.release.write import write_release

COPIED_FIELDS = ("generator", "generator_errors", "retriever", "licence", "synthetic", "terms", "left_out", "asked")
MANIFEST, JUDGE = "manifest.json", "judge"


def check_output_folder(root: Path) -> None:
    """Raise AuditError if `root` contains anything but an earlier result of this command."""
    if root.exists() and (not root.is_dir() or (any(root.iterdir()) and not _was_judged_here(root))):
        raise AuditError(
            f"{root} exists and does not contain an earlier judgement. Nothing was asked. Choose another folder with --out."
        )


def _was_judged_here(root: Path) -> bool:
    """Whether this command wrote the release: any release may name its judge's settings, but not the run it was judged from."""
    try:
        settings = json.loads((root / MANIFEST).read_text(encoding="utf-8"))["judge_settings"]
        return bool(settings["source_digest"])
    except (OSError, ValueError, KeyError, TypeError):
        return False


def write_judged_release(
    root: Path,
    corpus: Corpus,
    source: VerdictSource,
    *,
    judge: str,
    settings: Mapping[str, Any],
    date: str,
    positions: Iterable[Record] | None = None,
    prompts: Iterable[Prompt] = (),
) -> Path:
    """Write the release of a judged corpus as the folder `root`, which appears complete or stays unchanged.

    All handbooks are copied, and all questions of the corpus with all their answers, including questions that only one
    handbook answers; absence is what `source` found. `settings` become the manifest's judge_settings, next to the counts of
    unscored pairs by reason. `positions` has the records of positions.jsonl, where the judge found any. The manifest has the
    `prompts` in full, beside those that the answers were written with.
    """
    texts = [*_prompts_of_answers(corpus), *(prompt.record(JUDGE) for prompt in prompts)]
    manifest = {
        **_manifest(root, corpus, date, judge),
        **({"prompts": texts} if texts else {}),
        "judge": judge,
        "judge_settings": {**settings, **corpus.source, "pairs": corpus.chosen},
    }
    comparisons = _comparisons(corpus, source, manifest)
    return _write(root, corpus, manifest, source.absence_findings, comparisons, positions)


def write_answered_release(root: Path, corpus: Corpus, date: str) -> Path:
    """Write the release of answers that nothing has compared: it has no pairs, and its manifest names no judge."""
    return _write(root, corpus, _manifest(root, corpus, date), lambda _: {})


def _write(
    root: Path,
    corpus: Corpus,
    manifest: Record,
    findings: Callable[[QuestionToJudge], Mapping[str, AbsenceFinding]],
    comparisons: Iterable[Record] | None = None,
    positions: Iterable[Record] | None = None,
) -> Path:
    # Written next to its place and renamed at the end, so a half-written release is never read.
    draft = root.with_name(f".{root.name}.{os.getpid()}.writing")
    shutil.rmtree(draft, ignore_errors=True)
    try:
        write_release(
            draft,
            manifest=manifest,
            handbooks=corpus.handbooks,
            questions=(item.question for item in corpus.items()),
            answers=(record for item in corpus.items() for record in answer_records(item, findings(item))),
            sections=corpus.sections() if corpus.sections else None,
            trials=_trials(corpus),
            comparisons=comparisons,
            positions=positions,
        )
        # A folder cannot be renamed onto one that has files.
        shutil.rmtree(root, ignore_errors=True)
        draft.rename(root)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return root


def _manifest(root: Path, corpus: Corpus, date: str, judge: str = "") -> Record:
    """What every manifest has. A re-judged run is named after its source; a corpus that was never a run has its own name."""
    names = {"run_id": corpus.run["run_id"], "title": corpus.run["title"]}
    if corpus.source and judge:
        names = {"run_id": root.name, "title": f"{corpus.run['title']}, judged by {judge}"}
    return {**names, "date": date, **{name: corpus.run[name] for name in COPIED_FIELDS if corpus.run.get(name) is not None}}


def _prompts_of_answers(corpus: Corpus) -> list[Record]:
    """The prompts of a run but for those of its judge, which another one replaces."""
    return [record for record in corpus.run.get("prompts") or () if record.get("used_for") != JUDGE]


def answer_records(item: QuestionToJudge, findings: Mapping[str, AbsenceFinding]) -> Iterator[Record]:
    """The answers of a question as records; a finding of absence replaces that of the run."""
    for handbook, answer in item.answers.items():
        absent, method = _absence(answer, findings.get(handbook))
        yield {
            "question_id": item.question_id,
            "handbook_id": handbook,
            "answer": answer.text,
            "absent": absent,
            "absence_method": method,
            **({"found": answer.found} if answer.found else {}),
            "retrieval": answer.retrieval,
            **({"unread_reason": answer.unread_reason} if answer.unread_reason and absent is None else {}),
            **({"usage": answer.usage} if answer.usage else {}),
        }


def _absence(answer: AnswerToJudge, finding: AbsenceFinding | None) -> tuple[bool | None, str | None]:
    # If absence is unknown, the release keeps the run's own flag: the pairs of the answer are unscored and give the reason.
    if finding is None or finding.absent is None:
        return answer.absent, answer.method
    return finding.absent, finding.method


def _trials(corpus: Corpus) -> Iterator[Mapping[str, Any]] | None:
    """The run's retrieval trials on the questions that are judged; None if it has none."""
    if corpus.trials is None:
        return None
    judged = {item.question_id for item in corpus.items()}
    return (trial for trial in corpus.trials() if trial["question_id"] in judged)


def _comparisons(corpus: Corpus, source: VerdictSource, manifest: Record) -> Iterator[Record]:
    """One record for each question with pairs. At the end the counts go into `manifest`, which is written afterwards."""
    for item in corpus.items():
        if not item.pairs:
            continue
        pairs = list(source.pairs(item))
        in_pairs = {handbook for pair in pairs for handbook in (pair["handbook_a"], pair["handbook_b"])}
        in_order = [str(handbook["handbook_id"]) for handbook in corpus.handbooks if handbook["handbook_id"] in in_pairs]
        yield {"question_id": item.question_id, "handbooks": in_order, "pairs": pairs}
    summary = source.summary
    manifest["pairs_judged"] = summary.counts["judged"]
    manifest["judge_settings"] |= {
        "unscored": dict(summary.reasons),
        "parse": dict(summary.parse),
        "not_asked": summary.not_asked,
        "servers": sorted(summary.servers),
    }
