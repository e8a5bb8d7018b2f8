"""What was found for a question as safe HTML: each handbook's closest passages, by how surely they answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

from markupsafe import Markup

from audit.jobs.asking import Asked, AskedHandbook, AskedPassage
from audit.queries.questions_like import QuestionLike
from audit.release.sourced_answers import SourcedAnswer
from audit.store.runs import Run
from audit.terms import fill, terms
from audit.vocabulary import Found
from pages._blinded.templates import marked, rendered
from pages._shared.source_links import source_address

CSS = Path(__file__).with_name("asked.css")
IN_SIGHT = 4
"""Handbooks of the surest state that are in sight, and half as many of the next; a click shows the others."""
OFFERED = 3
"""Handbooks whose nearest passage is in sight where nothing was found in any."""
SURE = (Found.STATED, Found.PERHAPS)
HEADINGS: Mapping[Found | None, tuple[str, str]] = {
    Found.STATED: ("Stated", "A passage is so close to the {question} that it mostly answers it."),
    Found.PERHAPS: ("Perhaps: see these passages", "The passages are about the subject. Whether they answer is for you to read."),
    Found.NOT_FOUND: (
        "Not found",
        "No passage of these {handbooks} is close to the {question}. The search may have missed one: the nearest are offered.",
    ),
    None: ("Cannot be told", "The {question} and these {handbooks} do not fit together, so nothing follows from this."),
}


class InRun(NamedTuple):
    """A question of the run that a handbook answers."""

    text: str
    address: str


def question_address(run: Run, question_id: str) -> str:
    """The address of the page of a question, relative to any other page of the dashboard."""
    return f"question?{urlencode({'run': run.key, 'question': question_id})}"


def answered_in_run(run: Run, alike: Sequence[QuestionLike]) -> dict[str, InRun]:
    """Handbook id -> the nearest question of the run that it answers, among those that may ask the same."""
    links: dict[str, InRun] = {}
    for question in filter(lambda one: one.is_alike, alike):
        for handbook_id in question.answered_by:
            links.setdefault(handbook_id, InRun(question.text, question_address(run, question.question_id)))
    return links


def nothing_found(asked: Asked) -> bool:
    """Whether no passage of any handbook is close to the question."""
    return not asked.by_state().keys() & set(SURE)


def handbooks_html(run: Run, asked: Asked, names: Mapping[str, str], alike: Sequence[QuestionLike]) -> Markup:
    """The handbooks of each state under its heading, the closest first, each with its passages."""

    def address(book: AskedHandbook, passage: AskedPassage) -> str:
        return source_address(
            run, book.handbook_id, passage.section_id, passage.start + passage.statement[0],
            passage.start + passage.statement[1], passage.page, ask=asked.question,
        )  # fmt: skip

    groups = [
        (*(fill(run, words) for words in HEADINGS[state]), state in SURE, books) for state, books in asked.by_state().items()
    ]
    return rendered(
        "ask/handbooks.html", groups=groups, names=names, in_sight=IN_SIGHT, address=address, terms=terms(run),
        in_run=answered_in_run(run, alike), nothing_found=nothing_found(asked), offered=OFFERED,
        text=lambda passage: marked(passage.text, *passage.statement),
    )  # fmt: skip


def written_html(answer: SourcedAnswer, names: Mapping[str, str], run: Run) -> Markup:
    """The statements of an answer that a model wrote, each with links to the sentences that it rests on."""
    return rendered(
        "ask/written.html", statements=answer.statements, declined=answer.text, names=names,
        address=lambda one: source_address(run, one.handbook_id, one.section_id, one.start, one.end),
    )  # fmt: skip
