"""Imports questions: reads, tags, screens, compares and writes them, with a report that accounts for every record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from audit.atomic_io import atomic_file
from audit.errors import QuestionsError
from audit.pipeline.corpus.questions.checks import Screen, TagTaxonomy, check_tags
from audit.pipeline.corpus.questions.near_duplicates import (
    DUPLICATE_THRESHOLD,
    NearDuplicate,
    decisions_path,
    find_near_duplicates,
    questions_to_drop,
    read_decisions,
    write_decisions,
)
from audit.pipeline.corpus.questions.question_file import ImportedQuestion, QuestionFile
from audit.pipeline.embedding.encoders import Encoder
from audit.pipeline.embedding.vectors import Progress, Vectors, no_progress
from audit.release.report import NOTED, QUARANTINED, Finding
from audit.release.write import write_jsonl

MAX_BYTES = 512 * 2**20
MAX_FINDINGS_IN_TEXT = 20
EncoderFactory = Callable[[Sequence[str]], Encoder]
"""Makes an encoder for texts: `words_encoder` needs the texts, a model does not."""


@dataclass
class ImportReport:
    """One import: records read = questions written + dropped by decision + quarantined.

    near_duplicates  pairs that may be the same; `undecided`: those of them without a decision, which are kept
    dropped          question id -> id of the question kept for it, by decision
    identifying      question id -> kinds of identifying details found; None: not screened
    encoder          name of the encoder whose cosines were compared; None: exact duplicates only
    """

    source: Path
    out: Path
    decisions: Path
    read: int
    questions: tuple[ImportedQuestion, ...]
    near_duplicates: tuple[NearDuplicate, ...]
    undecided: int
    dropped: dict[str, str]
    identifying: dict[str, list[str]] | None
    encoder: str | None
    findings: list[Finding] = field(default_factory=list)

    @property
    def quarantined(self) -> int:
        """Records that are not questions; each is among the findings, with its text."""
        return sum(finding.outcome == QUARANTINED for finding in self.findings)

    @property
    def clean(self) -> bool:
        """Whether there are neither findings nor undecided pairs."""
        return not self.findings and not self.undecided

    def verdict(self) -> str:
        """The report in one sentence."""
        screened = "not screened" if self.identifying is None else f"{len(self.identifying):,} with identifying details"
        return (
            f"{len(self.questions):,} of {self.read:,} questions written, {len(self.dropped):,} dropped by decision, "
            f"{self.quarantined:,} left out; {self.undecided:,} of {len(self.near_duplicates):,} near-duplicates undecided, "
            f"{screened}."
        )

    def as_dict(self) -> dict[str, object]:
        """The report as JSON; the texts of dropped questions are in the table of decisions."""
        return {
            "verdict": self.verdict(),
            "clean": self.clean,
            "source": str(self.source),
            "out": str(self.out),
            "decisions": str(self.decisions),
            "read": self.read,
            "written": len(self.questions),
            "quarantined": self.quarantined,
            "dropped": self.dropped,
            "near_duplicates": len(self.near_duplicates),
            "undecided": self.undecided,
            "compared_by": self.encoder,
            "identifying": self.identifying,
            "codes": dict(Counter(finding.code for finding in self.findings)),
            "findings": [asdict(finding) for finding in self.findings],
        }

    def as_text(self) -> str:
        """The report for a terminal: verdict, next step, and the first findings."""
        lines = [self.verdict()]
        if self.undecided:
            lines += [f"Fill the column 'decision' of {self.decisions} (keep_both, drop_first, drop_second) and run this again."]
        if self.encoder is None:
            lines += ["Only exact duplicates were searched for."]
        if self.findings:
            lines += ["", *(f"  {finding.outcome}: {finding.sentence()}" for finding in self.findings[:MAX_FINDINGS_IN_TEXT])]
        if len(self.findings) > MAX_FINDINGS_IN_TEXT:
            lines += [f"  ... and {len(self.findings) - MAX_FINDINGS_IN_TEXT:,} more; --json lists them all."]
        return "\n".join(lines)


def import_questions(
    path: Path,
    out: Path,
    *,
    decisions: Path | None = None,
    taxonomy: TagTaxonomy | None = None,
    screen: Screen | None = None,
    encoder_of: EncoderFactory | None = None,
    threshold: float = DUPLICATE_THRESHOLD,
    max_bytes: int = MAX_BYTES,
    progress: Progress = no_progress,
) -> ImportReport:
    """Write the questions of `path` to `out` (JSON lines, as in a release), and the table of near-duplicates to decide on.

    decisions   that table; default: next to `out`. Its decisions are applied and kept
    taxonomy    the tags that are allowed; None: any
    screen      finds identifying details (`screening.make_screen`); None: not screened. A question with such details is
                written as it is, with their kinds under `identifying`
    encoder_of  makes the encoder whose vectors are compared, such as `words_encoder`; None: exact duplicates only
    threshold   pairs with a larger cosine are listed

    The same files give the same bytes. Raises QuestionsError where nothing can be written; then no file is changed.
    """
    decisions = decisions or decisions_path(out)
    if out.resolve() in (path.resolve(), decisions.resolve()):
        raise QuestionsError(f"{out} is also the file that is read. Nothing was written. Name another file to write to.")
    file = QuestionFile(path, max_bytes)
    findings = file.findings
    questions = _check_all_tags(file.questions, taxonomy, path, findings) if taxonomy else file.questions
    identifying = _find_identifying(questions, screen, path, findings) if screen else None
    encoder, vectors = _encode([question.question for question in questions], encoder_of, progress)
    pairs = find_near_duplicates(questions, vectors, threshold)
    decided = read_decisions(decisions, pairs, max_bytes)
    dropped = questions_to_drop(pairs, decided)
    retained = tuple(question for question in questions if question.question_id not in dropped)
    # Nothing is written before this line, so an error leaves every file unchanged
    _write_questions(out, retained, identifying)
    if pairs or decided.unmatched or decisions.exists():
        write_decisions(decided, pairs)
    # A pair with a dropped question needs no decision of its own.
    undecided = sum(not {*pair.key} & {*dropped} and pair.key not in decided.by_pair for pair in pairs)
    return ImportReport(
        source=path,
        out=out,
        decisions=decisions,
        read=file.read,
        questions=retained,
        near_duplicates=tuple(pairs),
        undecided=undecided,
        dropped=dropped,
        identifying=identifying,
        encoder=encoder,
        findings=findings + decided.findings,
    )


def _encode(texts: Sequence[str], encoder_of: EncoderFactory | None, progress: Progress) -> tuple[str | None, Vectors | None]:
    """The encoder's name and one row per text; the encoder gets each distinct text once."""
    if encoder_of is None:
        return None, None
    row_of = {text: row for row, text in enumerate(dict.fromkeys(texts))}
    encoder = encoder_of(list(row_of))
    return encoder.name, encoder.encode(list(row_of), progress)[[row_of[text] for text in texts]]


def _check_all_tags(
    questions: Iterable[ImportedQuestion], taxonomy: TagTaxonomy, path: Path, findings: list[Finding]
) -> list[ImportedQuestion]:
    tagged_questions = []
    for question in questions:
        tagged, problems = check_tags(question, taxonomy)
        findings += [Finding(path.name, question.position, NOTED, code, message) for code, message in problems]
        tagged_questions.append(tagged)
    return tagged_questions


def _find_identifying(
    questions: Iterable[ImportedQuestion], screen: Screen, path: Path, findings: list[Finding]
) -> dict[str, list[str]]:
    """Question id -> kinds of details."""
    # A finding gives the position of a detail and not the detail: reports are shared more freely than questions.
    identifying: dict[str, list[str]] = {}
    for question in questions:
        for detail in screen(question.question):
            identifying.setdefault(question.question_id, []).append(detail.kind)
            message = (
                f"question '{question.question_id}' may contain a {detail.kind} (characters {detail.start + 1} to {detail.end}). "
                "It was written as it is. Check whether it could identify a person, and reword it in the source."
            )
            findings.append(Finding(path.name, question.position, NOTED, "identifying", message))
    return identifying


def _write_questions(out: Path, questions: Iterable[ImportedQuestion], identifying: dict[str, list[str]] | None) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    records = (question.record() for question in questions)
    if identifying is not None:
        records = (record | {"identifying": sorted(set(identifying.get(record["question_id"], [])))} for record in records)
    with atomic_file(out) as draft:
        write_jsonl(draft, records)
