"""The datasheet of a run: what a release knows about itself in seven parts, what its makers say, and what they still have to say.

    datasheet_text(run.title, datasheet(con))   # Markdown

The parts are those of Gebru et al. (2021), Datasheets for Datasets, Commun. ACM 64(12); the questions are worded here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from audit.formatting import escape_markdown
from audit.previews import preview_notice
from audit.store.connection import Connection, rows
from audit.store.runs import Run, run_in
from audit.terms import INTENDED_USE, fill, terms
from audit.vocabulary import LABELS

PARTS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "motivation": (
        "Motivation",
        ("For what purpose was the release made, and who asked for it?", "Who made it, and who paid for it?"),
    ),
    "composition": ("Composition", ("Does it contain anything confidential, or anything about a person?",)),
    "collection": (
        "Collection",
        ("How were the {handbooks} chosen, and which could not be obtained?", "Do the {centers} know about it?"),
    ),
    "preprocessing": ("Preprocessing", ("Are the files from which the texts were taken kept, and where?",)),
    "uses": ("Uses", ("What has it been used for so far?", "Apart from the above, what should it not be used for?")),
    "distribution": ("Distribution", ("Who may obtain it, from when, and how?",)),
    "maintenance": ("Maintenance", ("Who answers questions and corrects errors?", "What happens when {a_handbook} is revised?")),
}
"""Part -> its title, and the questions that only the makers of a release can answer."""
MADE_BY = {"date": "Date", "retriever": "Passages chosen by", "generator": "Answers written by", "judge": "Pairs judged by"}
"""Entry of a manifest -> what it is."""
HANDBOOKS = """
select count(*), count(distinct center), count(distinct organ), count(url), count(licence),
       count(*) filter (may_be_downloaded), sum(pages)::bigint, sum(silent_pages)::bigint
from handbooks
"""
QUESTIONS = "select count(*), count(source), count(distinct source) from questions"
ANSWERS = """
select count(*), count(*) filter (absent), count(*) filter (absent is null), count(found), count(*) filter (found = 'perhaps')
from answers
"""
FOUND = "Answers found by a search, which no model has read: {n:,}; perhaps there: {p:,}; not found: {a:,}; unreadable: {u:,}."
PAIRS = """
select count(*), count(*) filter (prescreened), count(*) filter (label is null and not prescreened),
       count(*) filter (disagrees)
from judged_pairs
"""


@dataclass(frozen=True)
class DatasheetPart:
    """One part: the known facts, in sentences; its makers' statement (empty: none yet), or the questions to them."""

    key: str
    title: str
    known: tuple[str, ...]
    own_words: str
    questions: tuple[str, ...]


def datasheet(con: Connection) -> tuple[DatasheetPart, ...]:
    """The seven parts for the run of a store; `datasheet` in the manifest of its release has its makers' words by part."""
    run = run_in(con, Path())  # the location of the store is not part of a datasheet
    stated = run.manifest.get("datasheet")
    own = stated if isinstance(stated, dict) else {}
    words = terms(run)
    known: Mapping[str, Iterator[str]] = {
        "composition": _composition(con, run, words),
        "collection": _collection(con, run, words),
        "preprocessing": _preprocessing(con, run, words),
        "uses": _uses(run),
        "distribution": _distribution(con, run, words),
        "maintenance": _maintenance(run),
    }
    return tuple(
        DatasheetPart(
            key,
            title,
            tuple(known.get(key, ())),
            str(own.get(key) or "").strip(),
            tuple(question.format(**words) for question in questions),
        )
        for key, (title, questions) in PARTS.items()
    )


def datasheet_text(title: str, parts: tuple[DatasheetPart, ...]) -> str:
    """The datasheet of the run of this title as Markdown: its makers' words as text, with no link, picture, HTML or heading."""
    return "\n".join([f"# Datasheet of {escape_markdown(title)}", *(line for part in parts for line in _part_lines(part))]) + "\n"


def _part_lines(part: DatasheetPart) -> Iterator[str]:
    yield from ("", f"## {part.title}", "")
    yield from (f"- {escape_markdown(sentence)}" for sentence in part.known)
    if part.own_words:
        # A paragraph each; what would begin a heading or a list is a sign like others
        paragraphs = [escape_markdown(" ".join(lines.split())) for lines in part.own_words.split("\n\n")]
        yield from (*([""] if part.known else []), "\n\n".join(filter(None, paragraphs)))
    else:
        yield from (f"- *Not answered yet*: {escape_markdown(question)}" for question in part.questions)


def _composition(con: Connection, run: Run, words: Mapping[str, str]) -> Iterator[str]:
    if run.synthetic:
        yield "The data are synthetic: made up by a program."
    ((handbooks, centers, organs, *_),), ((questions, *_),) = rows(con, HANDBOOKS), rows(con, QUESTIONS)
    yield "{Handbooks}: {n:,}; {centers}: {c:,}; {organs} of the {handbooks}: {o:,}; {questions}: {q:,}.".format(
        n=handbooks, c=centers, o=organs, q=questions, **words
    )
    if run.has_answers:
        ((answers, absent, unread, searched, perhaps),) = rows(con, ANSWERS)
        template = (
            FOUND
            if searched
            else "Answers: {n:,}; saying that the {handbook} does not address the {question}: {a:,}; unreadable: {u:,}."
        )
        yield template.format(n=answers, a=absent, u=unread, p=perhaps, **words)
    else:
        yield "The release has no answers: which {questions} each {handbook} does not address is unknown.".format(**words)
    if run.has_pairs:
        ((pairs, prescreened, unscored, disagreeing),) = rows(con, PAIRS)
        yield (
            f"Pairs of answers, on a scale of {len(LABELS)} labels: {pairs:,}; labelled absent without asking the judge: "
            f"{prescreened:,}; without a readable verdict: {unscored:,}; divergent or contradictory: {disagreeing:,}."
        )
    totals = run.report.get("totals", {})
    aside = sum(numbers.get("quarantined", 0) for numbers in totals.values())
    yield f"Records that were set aside on loading, each with its reason, and are in no figure: {aside:,}."


def _collection(con: Connection, run: Run, words: Mapping[str, str]) -> Iterator[str]:
    ((handbooks, _, _, urls, *_),), ((questions, sourced, sources),) = rows(con, HANDBOOKS), rows(con, QUESTIONS)
    yield "{Handbooks} with a web address: {u:,} of {n:,}.".format(u=urls, n=handbooks, **words)
    yield "{Questions} that say where they come from: {s:,} of {n:,}; different sources: {d:,}.".format(
        s=sourced, n=questions, d=sources, **words
    )
    scope = "to the {handbooks} of their {organ}, general ones to all" if run.asked_by_organ else "to every {handbook}"
    yield f"{{Questions}} were put {scope}.".format(**words)
    for entry, what in MADE_BY.items():
        if value := run.manifest.get(entry):
            yield f"{what}: {value}."


def _preprocessing(con: Connection, run: Run, words: Mapping[str, str]) -> Iterator[str]:
    ((*_, pages, silent),) = rows(con, HANDBOOKS)
    if pages is not None:
        unread = "unknown" if silent is None else f"{silent:,}"
        yield "Pages read: {p:,}; pages that are pictures without text: {s}.".format(p=pages, s=unread, **words)
    if notice := preview_notice(run.manifest):
        yield f"{notice}."
    if left_out := run.manifest.get("left_out"):
        yield "Left out: {names}.".format(names=", ".join(map(str, left_out)))


def _uses(run: Run) -> Iterator[str]:
    yield fill(run, INTENDED_USE)


def _distribution(con: Connection, run: Run, words: Mapping[str, str]) -> Iterator[str]:
    ((handbooks, _, _, _, licensed, downloadable, *_),) = rows(con, HANDBOOKS)
    yield f"Terms of use of the release: {run.manifest.get('licence') or 'not stated'}."
    yield "{Handbooks} with a licence: {l:,} of {n:,}; with a file that readers may be given: {d:,}.".format(
        l=licensed, n=handbooks, d=downloadable, **words
    )


def _maintenance(run: Run) -> Iterator[str]:
    yield f"This version is known by the SHA-256 of its files: {run.digest}."
