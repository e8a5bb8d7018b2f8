"""Loading questions, answers, sections and trials: small enough to be read record by record in Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from audit.release.handbook_kinds import ANSWER, QUESTION, SECTION, TRIAL
from audit.release.record_kind import Record
from audit.release.report import NOTED, WHOLE_FILE, FileCount, Finding
from audit.store.connection import Connection, append, rows
from audit.store.load_kind import usable_records
from audit.store.record_reader import ABSENT, PRESENT, UNPARSEABLE, LoadState, RecordReader, append_records
from audit.vocabulary import PRESENT_LABELS

# Text that a judge might obey, from published prompt injections. "Judge" alone is not enough: tenants' handbooks mention judges.
ORDERS_TO_JUDGE = "|".join(
    (
        rf"\b(?:{'|'.join(PRESENT_LABELS)})\b",
        r"(?i:\b(?:ignore|disregard|forget)\b[^.]{0,40}\b(?:instruction|prompt|rule)s?\b)",
        r"(?i:\byou are (?:now )?(?:an? |the )?(?:impartial )?(?:judge|grader|evaluator|assistant|language model|AI)\b)",
        r"(?i:\b(?:dear|note to the|attention,?) (?:judge|grader|evaluator|language model)\b)",
        r"""(?i:["'](?:classification|label|verdict)["']\s*:)""",
        r"(?m:^\s*(?:Human|Assistant|System):)",
        r"(?i:### ?instruction|\[/?INST\]|<\|im_(?:start|end)\|>|</?answer_[ab]\b)",
        r"[\x{E0000}-\x{E007F}]",  # tag characters: a model reads them, a person does not see them
    )
)
ANSWERS_TO_JUDGE = """
select question_id, handbook_id, regexp_extract(answer, $pattern) from answers
join questions using (question) join handbooks using (handbook)
where regexp_matches(answer, $pattern)
order by question, handbook
"""
MAX_EXAMPLES, MAX_EXAMPLE = 3, 60

ANSWER_STATUS = {True: ABSENT, False: PRESENT, None: UNPARSEABLE}
PASSAGE_FAULTS = {"unknown_section": "a section that is not in sections", "passage_outside": "a position outside its section"}


def load_questions(con: Connection, reader: RecordReader, state: LoadState) -> None:
    """Fill `questions`, `topics` and `subtopics` and number the questions in release order."""

    def keep_text(record: Record) -> None:
        # In every table of the store `question` is the row number
        record["text"] = record["question"]

    records = [record for *_, record in usable_records(reader, state, QUESTION, keep_text)]
    append_records(con, QUESTION, records)
    for table, column in (("topics", "topic"), ("subtopics", "subtopic")):
        # A tag that a question names twice must not count twice
        tags = [(record["question"], tag) for record in records for tag in dict.fromkeys(record[table])]
        append(con, table, {"question": [number for number, _ in tags], column: [tag for _, tag in tags]})


def load_answers(con: Connection, reader: RecordReader, state: LoadState) -> None:
    """Fill `answers` and `state.answer_status`; after handbooks, questions and sections are loaded."""
    state.has_answers = True
    append_records(con, ANSWER, _usable_answers(reader, state))
    _note_answers_to_judge(con, reader)


def _note_answers_to_judge(con: Connection, reader: RecordReader) -> None:
    """Note how many answers name a label or give instructions, with examples: whether a judge obeyed them is unknown."""
    noted = rows(con, ANSWERS_TO_JUDGE, {"pattern": ORDERS_TO_JUDGE})
    if noted:
        examples = (f"{handbook} on {question} ({words[:MAX_EXAMPLE]!r})" for question, handbook, words in noted[:MAX_EXAMPLES])
        message = f"answers that name a label or speak to the judge: {len(noted):,}. Read them before you rely on their pairs: "
        name = reader.layout.name(reader.layout.parts["answer"][0])
        finding = Finding(name, WHOLE_FILE, NOTED, "speaks_to_judge", f"{message}{', '.join(examples)}.")
        reader.report.findings.append(finding)


def _usable_answers(reader: RecordReader, state: LoadState) -> Iterator[Record]:
    for line, position, record in usable_records(reader, state, ANSWER):
        state.answer_status[record["question"], record["handbook"]] = ANSWER_STATUS[record["absent"]]
        if record["passages"] and state.sections:
            _note_passages(reader, line, position, record, state)
        yield record


def _note_passages(reader: RecordReader, line: FileCount, position: str, answer: Record, state: LoadState) -> None:
    """Note passages that point at a section which the release does not have, or outside its text."""
    passages = answer["passages"] if isinstance(answer["passages"], list) else [answer["passages"]]
    # One note per answer and kind of fault: a note per passage would drown the other findings
    faults = {_passage_fault(passage, answer["handbook"], state) for passage in passages}
    for code, words in PASSAGE_FAULTS.items():
        if code in faults:
            message = f"a passage points at {words}. The answer was loaded; that passage is shown without its text."
            reader.note(line, position, NOTED, code, message)


def _passage_fault(passage: Any, handbook: int, state: LoadState) -> str | None:
    section_id = passage.get("section_id") if isinstance(passage, dict) else None
    if not isinstance(section_id, str) or (handbook, section_id) not in state.sections:
        return "unknown_section"
    return None if is_inside(passage, state.sections[handbook, section_id]) else "passage_outside"


def is_inside(passage: dict[str, Any], length: int) -> bool:
    """Whether start and end of a passage are a non-empty stretch of a text of `length` characters."""
    start, end = passage.get("start"), passage.get("end")
    return isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= length


def load_sections(con: Connection, reader: RecordReader, state: LoadState) -> None:
    """Fill `sections`, numbered in release order, and `state.sections`; after the handbooks are loaded."""
    append_records(con, SECTION, _usable_sections(reader, state))


def _usable_sections(reader: RecordReader, state: LoadState) -> Iterator[Record]:
    for *_, record in usable_records(reader, state, SECTION):
        record["place"] = len(state.sections)
        state.sections[record["handbook"], record["section_id"]] = len(record["text"])
        yield record


def load_trials(con: Connection, reader: RecordReader, state: LoadState) -> None:
    """Fill `trials`; after questions, handbooks and sections are loaded."""
    append_records(con, TRIAL, _usable_trials(reader, state))


def _usable_trials(reader: RecordReader, state: LoadState) -> Iterator[Record]:
    """The trials; sections that the release does not have are noted, unless it has none at all."""
    for line, position, record in usable_records(reader, state, TRIAL):
        named = (*record["gold"], *record["ranked"])
        unknown = [name for name in named if (record["handbook"], name) not in state.sections]
        if state.sections and unknown:
            message = (
                f"{len(unknown)} of its sections are not in sections, for example '{unknown[0]}'. The trial was loaded unchanged."
            )
            reader.note(line, position, NOTED, "unknown_section", message)
        yield record
