"""The answers of several systems to one question as safe HTML: texts with differences marked, criteria, evidence."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
from markupsafe import Markup

from audit.charts.criteria import LEVEL_COLOURS, level
from audit.charts.dark_mode import light_dark
from audit.evaluation.criteria import CRITERIA, REFERENCE, composites
from audit.formatting import fixed, shortened
from audit.queries.system_answers import (
    ANSWERED,
    NOT_ASKED,
    NOT_IN_RELEASE,
    REFUSED,
    UNREAD,
    ShownEvidence,
    StoredEvaluation,
    SystemAnswerView,
    SystemQuestionView,
)
from audit.store.runs import Run
from audit.text.comparison import DifferenceKind, DifferenceSpan, differences
from pages._blinded.templates import rendered
from pages._shared.long_texts import compared
from pages._shared.side_by_side import AnswerHead, beginning_html
from pages._shared.source_links import public_link_html, source_address

REFERENCE_NAME = "Reference answer"
NO_ANSWER = {
    REFUSED: "The system declined to answer.",
    UNREAD: "The model's reply could not be read ({why}), so its answer is unknown.",
    NOT_IN_RELEASE: "The release has scores of this system's answer, but not the answer itself.",
}
MODES = {
    "closed_book": "model alone (closed book)", "retrieval": "with retrieval", "multi_source": "with several sources",
    "human": "written by a person",
}  # fmt: skip
MAX_EVIDENCE_LENGTH = 700  # characters of a passage that are shown


def mode_words(mode: str | None) -> str:
    """How a system answers, in words."""
    return MODES.get(mode or "", (mode or "not stated").replace("_", " "))


def answer_texts(question: SystemQuestionView) -> dict[str, str]:
    """System id -> text, of the reference answer (first) and of every system whose answer has one."""
    reference = {REFERENCE: question.references[0]} if question.references else {}
    return reference | {answer.system_id: answer.text for answer in question.answers if answer.text}


def marked_texts(texts: Mapping[str, str], baseline: str | None, kinds: Collection[DifferenceKind]) -> dict[str, Markup]:
    """System id -> HTML of its text, with what it has and the baseline has not in `<mark>`.

    In the baseline's own text those parts are marked that none of the others has. Without a baseline nothing is marked.
    Raises TooMuchError where the texts are too long to compare.
    """
    shown = {system: shortened(text) for system, text in texts.items()}
    if baseline not in shown or len(shown) < 2:
        return {system: beginning_html(text, ()) for system, text in shown.items()}
    found = {system: compared(differences, shown[baseline], text) for system, text in shown.items() if system != baseline}
    spans: dict[str, Sequence[DifferenceSpan]] = {system: own for system, (_, own) in found.items()}
    alone = set.intersection(*(set(of_baseline) for of_baseline, _ in found.values()))
    spans[baseline] = [span for span in next(iter(found.values()))[0] if span in alone]
    return {system: beginning_html(shown[system], [one for one in own if one.kind in kinds]) for system, own in spans.items()}


def answers_html(run: Run, question: SystemQuestionView, texts: Mapping[str, Markup], titles: Mapping[str, str]) -> Markup:
    """The reference answer and every system's answer as cards next to each other.

    texts   from `marked_texts`
    titles  name of a measure -> its title
    """

    def section_address(passage: ShownEvidence) -> str:
        if not (passage.handbook_id and passage.section_id and run.has_handbooks):
            return ""
        return source_address(run, passage.handbook_id, passage.section_id, question_id=question.question_id)

    return rendered(
        "_shared/system_answers.html", question=question, texts=texts, reference=REFERENCE, reference_name=REFERENCE_NAME,
        answered=ANSWERED, not_asked=NOT_ASKED, head=AnswerHead, head_of=answer_head, composite_of=composite_of, scores=_scores,
        facts_of=partial(_facts, titles=titles), passage_facts=_passage_facts, section_address=section_address,
        public_link=public_link_html, beginning=_beginning,
    )  # fmt: skip


def answer_head(answer: SystemAnswerView) -> AnswerHead:
    """The name of a system, how it answers and, where it has no answer, why."""
    reason = NO_ANSWER.get(answer.state, "").format(why=answer.unread_reason or "no reason stated")
    return AnswerHead(answer.name, " · ".join(filter(None, (mode_words(answer.mode), answer.model))), reason)


def _facts(answer: SystemAnswerView, titles: Mapping[str, str]) -> Iterator[str]:
    if answer.text:
        yield f"{len(answer.text.split()):,} words"
    yield from (f"{titles.get(name, name)} {fixed(value, 3)}" for name, value in answer.measures.items())


def composite_of(evaluation: StoredEvaluation) -> float | None:
    """The composite of a complete evaluation; None where a score is missing."""
    (value,) = composites([[np.nan if score is None else score for score in evaluation.scores.values()]])
    return None if np.isnan(value) else float(value)


def _scores(evaluation: StoredEvaluation) -> Iterator[tuple[str, str, str, str]]:
    """Of each criterion the colour of its score, its heading, the score in words, and the judge's explanation."""
    for criterion, scale in CRITERIA.items():
        score = evaluation.scores[criterion]
        colour = light_dark(LEVEL_COLOURS[level(criterion, score)]) if score is not None else "transparent"
        words = "could not be read" if score is None else f"{scale.meanings.get(score, 'not on the scale')} ({score})"
        yield colour, scale.heading, words.replace("-", "\N{MINUS SIGN}", 1), evaluation.explanations.get(criterion, "")


def _beginning(text: str) -> str:
    return text if len(text) <= MAX_EVIDENCE_LENGTH else f"{text[:MAX_EVIDENCE_LENGTH]} ..."


def _passage_facts(evidence: ShownEvidence) -> Iterator[str]:
    if evidence.rank is not None:
        yield f"rank {evidence.rank}"
    if evidence.score is not None:
        yield f"score {evidence.score:.3g}"
    if evidence.section_id:
        yield f"section {evidence.section_id}" + (" (contains the answer)" if evidence.contains_answer else "")
