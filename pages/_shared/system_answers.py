"""The answers of several systems to one question as safe HTML: texts with differences marked, criteria, evidence.

Every character of a release is escaped before a tag is put around it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from html import escape

import numpy as np

from audit.charts.criteria import LEVEL_COLOURS, level
from audit.charts.dark_mode import light_dark
from audit.evaluation.criteria import CRITERIA, REFERENCE, Criterion, composites
from audit.formatting import fixed
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
from pages._shared.side_by_side import marked_html, shortened
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


def marked_texts(texts: Mapping[str, str], baseline: str | None, kinds: Collection[DifferenceKind]) -> dict[str, str]:
    """System id -> HTML of its text, with what it has and the baseline has not in `<mark>`.

    In the baseline's own text those parts are marked that none of the others has. Without a baseline nothing is marked.
    """
    shown = {system: shortened(text) for system, text in texts.items()}
    if baseline not in shown or len(shown) < 2:
        return {system: escape(text) for system, text in shown.items()}
    compared = {system: differences(shown[baseline], text) for system, text in shown.items() if system != baseline}
    spans: dict[str, Sequence[DifferenceSpan]] = {system: own for system, (_, own) in compared.items()}
    alone = set.intersection(*(set(of_baseline) for of_baseline, _ in compared.values()))
    spans[baseline] = [span for span in next(iter(compared.values()))[0] if span in alone]
    return {system: marked_html(shown[system], [span for span in own if span.kind in kinds]) for system, own in spans.items()}


def answers_html(run: Run, question: SystemQuestionView, texts: Mapping[str, str], titles: Mapping[str, str]) -> str:
    """The reference answer and every system's answer as cards next to each other.

    texts   from `marked_texts`
    titles  name of a measure -> its title
    """
    cards = [_reference_html(question, texts)] if question.references else []
    shown = [answer for answer in question.answers if answer.state != NOT_ASKED]
    cards += [_system_html(run, question, answer, texts, titles) for answer in shown]
    others = ", ".join(answer.name for answer in question.answers if answer.state == NOT_ASKED)
    missing = f'<div class="faint">Not asked this question: {escape(others)}.</div>' if others else ""
    return f'<div class="pair systems"><div class="sides">{"".join(cards)}</div>{missing}</div>'


def _reference_html(question: SystemQuestionView, texts: Mapping[str, str]) -> str:
    others = "".join(f'<div class="answer-text">{escape(shortened(text))}</div>' for text in question.references[1:])
    count = len(question.references) - 1
    more = (
        f"<details><summary>{count} more reference {'answer' if count == 1 else 'answers'}</summary>{others}</details>"
        if others
        else ""
    )
    link = public_link_html(question.url or "")
    source = f'<div class="faint">{link}</div>' if link else ""
    text = f'<div class="answer-text">{texts[REFERENCE]}</div>'
    judged = "".join(map(_evaluation_html, question.reference_evaluations))
    return f'<div class="side"><div class="name">{REFERENCE_NAME}</div>{text}{source}{more}{judged}</div>'


def _system_html(
    run: Run, question: SystemQuestionView, answer: SystemAnswerView, texts: Mapping[str, str], titles: Mapping[str, str]
) -> str:
    facts = " · ".join(filter(None, (mode_words(answer.mode), answer.model)))
    head = f'<div class="name">{escape(answer.name)}</div><div class="faint">{escape(facts)}</div>'
    reason = NO_ANSWER.get(answer.state, "").format(why=answer.unread_reason or "no reason stated")
    notice = f'<div class="no-answer">{escape(reason)}</div>' if answer.state != ANSWERED else ""
    text = f'<div class="answer-text">{texts[answer.system_id]}</div>' if answer.system_id in texts else ""
    judged = "".join(map(_evaluation_html, answer.evaluations))
    if answer.state == ANSWERED and not judged:
        judged = '<div class="faint">No judge has scored this answer.</div>'
    behind = _evidence_html(run, question, answer)
    return f'<div class="side">{head}{notice}{text}{_facts_html(answer, titles)}{judged}{behind}</div>'


def _facts_html(answer: SystemAnswerView, titles: Mapping[str, str]) -> str:
    read, written, seconds = answer.usage
    words = [f"{len(answer.text.split()):,} words"] if answer.text else []
    words += [f"{titles.get(name, name)} {fixed(value, 3)}" for name, value in answer.measures.items()]
    words += [f"{read:,} tokens read"] if read is not None else []
    words += [f"{written:,} written"] if written is not None else []
    words += [f"{seconds:.1f} s"] if seconds is not None else []
    return f'<div class="faint">{escape(" · ".join(words))}</div>' if words else ""


def composite_of(evaluation: StoredEvaluation) -> float | None:
    """The composite of a complete evaluation; None where a score is missing."""
    (value,) = composites([[np.nan if score is None else score for score in evaluation.scores.values()]])
    return None if np.isnan(value) else float(value)


def _evaluation_html(evaluation: StoredEvaluation) -> str:
    judge, composite = escape(evaluation.judge or "not named"), composite_of(evaluation)
    if all(score is None for score in evaluation.scores.values()):
        why = escape(evaluation.reason or "no reason stated")
        return f'<div class="no-answer">Scored by {judge}: no score could be read ({why}).</div>'
    known = (
        f"composite <b>{fixed(composite, 2)}</b> of 10" if composite is not None else "no composite, because a score is missing"
    )
    rows = "".join(_score_html(criterion, evaluation) for criterion in CRITERIA)
    return f'<details open><summary>Scored by {judge}: {known}</summary><ul class="criteria">{rows}</ul></details>'


def _score_html(criterion: Criterion, evaluation: StoredEvaluation) -> str:
    scale, score = CRITERIA[criterion], evaluation.scores[criterion]
    explanation = evaluation.explanations.get(criterion, "")
    words = (
        "could not be read"
        if score is None
        else f"{scale.meanings.get(score, 'not on the scale')} ({score})".replace("-", "\N{MINUS SIGN}", 1)
    )
    colour = light_dark(LEVEL_COLOURS[level(criterion, score)]) if score is not None else "transparent"
    mark = f'<span class="level" style="background:{colour}"></span>'
    because = f'<div class="faint">{escape(explanation)}</div>' if explanation else ""
    return f"<li>{mark}<b>{scale.heading}</b>: {escape(words)}{because}</li>"


def _evidence_html(run: Run, question: SystemQuestionView, answer: SystemAnswerView) -> str:
    if not answer.evidence:
        return ""
    passages = "".join(_passage_html(run, question, evidence) for evidence in answer.evidence)
    n_with_answer = sum(evidence.contains_answer or False for evidence in answer.evidence)
    known = f", {n_with_answer} from a section that contains the answer" if question.gold_sections else ""
    return f"<details><summary>Evidence: {len(answer.evidence)} passages{known}</summary>{passages}</details>"


def _passage_html(run: Run, question: SystemQuestionView, evidence: ShownEvidence) -> str:
    facts = " · ".join(_passage_facts(evidence))
    text = evidence.text or ""
    shown = text if len(text) <= MAX_EVIDENCE_LENGTH else f"{text[:MAX_EVIDENCE_LENGTH]} ..."
    link = ""
    if evidence.handbook_id and evidence.section_id and run.has_pairs:
        address = source_address(run, evidence.handbook_id, evidence.section_id, question_id=question.question_id)
        link = f' · <a href="{escape(address)}" target="_blank" rel="noopener">open the section</a>'
    return f'<div class="passage"><div class="faint">{escape(facts)}{link}</div>{escape(shown)}</div>'


def _passage_facts(evidence: ShownEvidence) -> Iterator[str]:
    if evidence.rank is not None:
        yield f"rank {evidence.rank}"
    if evidence.score is not None:
        yield f"score {evidence.score:.3g}"
    if evidence.section_id:
        yield f"section {evidence.section_id}" + (" (contains the answer)" if evidence.contains_answer else "")
