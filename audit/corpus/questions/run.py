"""The import from end to end: read, tag, screen, compare, obey what was decided, write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from audit.atomic_io import atomic_file
from audit.corpus.questions.decisions import default_path, drops, read_decisions, write_decisions
from audit.corpus.questions.likeness import THRESHOLD, near_pairs
from audit.corpus.questions.reading import Question, Reading
from audit.corpus.questions.report import Report
from audit.corpus.questions.screening import Screen
from audit.corpus.questions.taxonomy import Taxonomy, check_tags
from audit.embedding.encoders import Encoder
from audit.embedding.vectors import Progress, Vectors, no_progress
from audit.errors import QuestionsError
from audit.release.report import NOTED, Finding
from audit.release.write import write_jsonl

MAX_BYTES = 512 * 2**20
EncoderOf = Callable[[Sequence[str]], Encoder]
"""Makes an encoder for texts: `words_encoder` needs to see them, a model does not."""


def import_questions(
    path: Path,
    out: Path,
    *,
    decisions: Path | None = None,
    taxonomy: Taxonomy | None = None,
    screen: Screen | None = None,
    encoder_of: EncoderOf | None = None,
    threshold: float = THRESHOLD,
    max_bytes: int = MAX_BYTES,
    progress: Progress = no_progress,
) -> Report:
    """Write the questions of `path` to `out` (JSON lines, as in a release), and the table of near-duplicates for people to fill.

    decisions  that table; default: beside `out`. What people filled in is obeyed and kept
    taxonomy   what tags are held against; None: any tag is taken
    screen     what finds identifying details (`screening.screen`); None: none are looked for. A flagged question
               is written as it is, with the kinds found under `identifying`
    encoder_of whose vectors are compared, such as `words_encoder`; None: exact duplicates only
    threshold  cosine above which two questions are shown to people

    The same files give the same bytes. Raises QuestionsError when nothing can be written; then no file is touched.
    """
    decisions = decisions or default_path(out)
    if out.resolve() in (path.resolve(), decisions.resolve()):
        raise QuestionsError(f"{out} is also the file that is read. Nothing was written. Name another file to write to.")
    reading = Reading(path, max_bytes)
    findings = reading.findings
    questions = _tagged(reading.questions, taxonomy, path, findings) if taxonomy else reading.questions
    flagged = _flagged(questions, screen, path, findings) if screen else None
    compared, vectors = _vectors([question.question for question in questions], encoder_of, progress)
    near = near_pairs(questions, vectors, threshold)
    decided = read_decisions(decisions, near, max_bytes)
    dropped = drops(near, decided)
    kept = tuple(question for question in questions if question.question_id not in dropped)
    _write(out, kept, flagged)
    if near or decided.stray or decisions.exists():
        write_decisions(decided, near)
    # A pair whose one question is dropped for another reason needs no decision any more.
    undecided = sum(not {*pair.key} & {*dropped} and pair.key not in decided.words for pair in near)
    return Report(
        path, out, decisions, reading.read, kept, tuple(near), undecided, dropped, flagged,
        compared, findings + decided.findings,
    )  # fmt: skip


def _vectors(texts: Sequence[str], encoder_of: EncoderOf | None, progress: Progress) -> tuple[str | None, Vectors | None]:
    """The encoder's name and a row per text; an encoder is given each text once."""
    if encoder_of is None:
        return None, None
    place = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    encoder = encoder_of(list(place))
    return encoder.name, encoder.encode(list(place), progress)[[place[text] for text in texts]]


def _tagged(questions: Iterable[Question], taxonomy: Taxonomy, path: Path, findings: list[Finding]) -> list[Question]:
    found = []
    for question in questions:
        spelled, faults = check_tags(question, taxonomy)
        findings += [Finding(path.name, question.position, NOTED, code, message) for code, message in faults]
        found.append(spelled)
    return found


def _flagged(questions: Iterable[Question], screen: Screen, path: Path, findings: list[Finding]) -> dict[str, list[str]]:
    """Question id -> kinds. The finding points at the place and does not repeat what stands there."""
    flagged: dict[str, list[str]] = {}
    for question in questions:
        for detail in screen(question.question):
            flagged.setdefault(question.question_id, []).append(detail.kind)
            message = (
                f"question '{question.question_id}' may hold a {detail.kind} (characters {detail.start + 1} to {detail.end}). "
                "It was written as it is: see whether somebody could be known by it, and reword it in the source."
            )
            findings.append(Finding(path.name, question.position, NOTED, "identifying", message))
    return flagged


def _write(out: Path, questions: Iterable[Question], flagged: dict[str, list[str]] | None) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    marks = {} if flagged is None else {"identifying": flagged}
    records = (q.record() | {name: sorted(set(kinds.get(q.question_id, []))) for name, kinds in marks.items()} for q in questions)
    with atomic_file(out) as draft:
        write_jsonl(draft, records)
