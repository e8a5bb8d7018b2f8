"""Loading handbooks, questions, answers, sections and trials: small enough to be read record by record in Python."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from audit.release import validate
from audit.release.report import NOTED, WHOLE_FILE, FileCount, Finding
from audit.store.connection import Connection, append, rows
from audit.store.record_reader import ABSENT, NOT_ASKED, PRESENT, UNPARSEABLE, LoadState, RecordReader, append_records
from audit.vocabulary import PRESENT_LABELS

HANDBOOK_COLUMNS = (
    "handbook_id", "organ", "center", "phase", "title", "url", "aliases", "pages", "silent_pages", "unreadable", "language",
    "digest", "licence", "may_be_downloaded", "edition", "edition_of",
)  # fmt: skip
QUESTION_COLUMNS = {"text": "question", "question_id": "question_id", "organ": "organ", "source": "source"}
"""Column -> field of the record: `question` is the row number in every table of the store."""
ANSWER_COLUMNS = (
    "question", "handbook", "answer", "absent", "absence_method", "unread_reason", "mode", "sections", "url", "retrieval",
    "input_tokens", "output_tokens", "latency_s",
)  # fmt: skip
SECTION_COLUMNS = ("handbook", "place", "section_id", "heading", "above", "text", "pages", "page_starts", "url")
TRIAL_COLUMNS = ("question", "handbook", "strategy", "mode", "ranked", "gold", "reason", "seconds")

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


def load_handbooks(con: Connection, reader: RecordReader, state: LoadState) -> None:
    """Fill `handbooks` and number them in release order."""
    records = list(_first_of_each_id(reader, "handbook", state.handbooks, validate.handbook))
    columns: dict[str, list[Any]] = {name: [record[name] for record in records] for name in HANDBOOK_COLUMNS}
    append(con, "handbooks", {"handbook": list(range(len(records))), **columns})


def load_questions(con: Connection, reader: RecordReader, state: LoadState) -> None:
    """Fill `questions`, `topics` and `subtopics` and number the questions in release order."""
    records = list(_first_of_each_id(reader, "question", state.questions, validate.question))
    columns = {column: [record[name] for record in records] for column, name in QUESTION_COLUMNS.items()}
    append(con, "questions", {"question": list(range(len(records))), **columns})
    for table, column in (("topics", "topic"), ("subtopics", "subtopic")):
        # A tag that a question names twice must not count twice
        tags = [(number, tag) for number, record in enumerate(records) for tag in dict.fromkeys(record[table])]
        append(con, table, {"question": [number for number, _ in tags], column: [tag for _, tag in tags]})


def _first_of_each_id(reader: RecordReader, kind: str, numbers: dict[str, int], validator: Any) -> Iterator[dict[str, Any]]:
    """The first record of each id, numbered in `numbers`; a later record with the same id is quarantined."""
    key = f"{kind}_id"
    for path in reader.layout.parts[kind]:
        for line, position, raw, record in reader.records(path, kind, validator):
            if record[key] in numbers:
                message = f"{key} '{record[key]}' occurs earlier; the first record was kept."
                reader.requarantine(line, position, f"duplicate_{kind}", message, raw)
            else:
                numbers[record[key]] = len(numbers)
                yield record


def load_answers(con: Connection, reader: RecordReader, state: LoadState) -> None:
    """Fill `answers` and `state.answer_status`; after handbooks, questions and sections are loaded."""
    state.allocate_answer_status()
    state.has_answers = bool(reader.layout.parts["answer"])
    for path in reader.layout.parts["answer"]:
        append_records(con, "answers", ANSWER_COLUMNS, _usable_answers(reader, state, path))
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


def _usable_answers(reader: RecordReader, state: LoadState, path: Path) -> Iterator[dict[str, Any]]:
    for line, position, raw, record in reader.records(path, "answer", validate.answer):
        if problem := _register_answer(record, state):
            reader.requarantine(line, position, *problem, raw)
            continue
        if record["passages"] and state.sections:
            _note_passages(reader, line, position, record, state)
        yield record


def _register_answer(record: dict[str, Any], state: LoadState) -> tuple[str, str] | None:
    """Number the record and enter it in `state.answer_status`; code and sentence where that is impossible."""
    if problem := state.resolve_ids(record):
        return problem
    key = record["question"], record["handbook"]
    if state.answer_status[key] != NOT_ASKED:
        message = f"an answer of '{record['handbook_id']}' to '{record['question_id']}' occurs earlier; the first was kept."
        return "duplicate_answer", message
    state.answer_status[key] = ANSWER_STATUS[record["absent"]]
    return None


def _note_passages(reader: RecordReader, line: FileCount, position: str, answer: dict[str, Any], state: LoadState) -> None:
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
    for path in reader.layout.parts["section"]:
        append_records(con, "sections", SECTION_COLUMNS, _usable_sections(reader, state, path))


def _usable_sections(reader: RecordReader, state: LoadState, path: Path) -> Iterator[dict[str, Any]]:
    for line, position, raw, record in reader.records(path, "section", validate.section):
        if problem := state.resolve_ids(record, ("handbook",)) or _duplicate_section(record, state):
            reader.requarantine(line, position, *problem, raw)
            continue
        record["place"] = len(state.sections)
        state.sections[record["handbook"], record["section_id"]] = len(record["text"])
        yield record


def _duplicate_section(record: dict[str, Any], state: LoadState) -> tuple[str, str] | None:
    if (record["handbook"], record["section_id"]) not in state.sections:
        return None
    message = f"section_id '{record['section_id']}' of '{record['handbook_id']}' occurs earlier; the first record was kept."
    return "duplicate_section", message


def load_trials(con: Connection, reader: RecordReader, state: LoadState) -> None:
    """Fill `trials`; after questions, handbooks and sections are loaded."""
    seen: set[tuple[int, int, str]] = set()
    for path in reader.layout.parts["trial"]:
        append_records(con, "trials", TRIAL_COLUMNS, _usable_trials(reader, state, path, seen))


def _usable_trials(
    reader: RecordReader, state: LoadState, path: Path, seen: set[tuple[int, int, str]]
) -> Iterator[dict[str, Any]]:
    for line, position, raw, record in reader.records(path, "trial", validate.trial):
        if problem := state.resolve_ids(record) or _duplicate_trial(record, seen):
            reader.requarantine(line, position, *problem, raw)
            continue
        _note_unknown_sections(reader, line, position, record, state)
        yield record


def _duplicate_trial(record: dict[str, Any], seen: set[tuple[int, int, str]]) -> tuple[str, str] | None:
    key = record["question"], record["handbook"], record["strategy"]
    if key in seen:
        return "duplicate_trial", f"a trial of '{key[2]}' on this question and handbook occurs earlier; the first was kept."
    seen.add(key)
    return None


def _note_unknown_sections(
    reader: RecordReader, line: FileCount, position: str, record: dict[str, Any], state: LoadState
) -> None:
    """Note sections that the release does not have; a release without any sections cannot be checked."""
    unknown = [name for name in (*record["gold"], *record["ranked"]) if (record["handbook"], name) not in state.sections]
    if state.sections and unknown:
        message = (
            f"{len(unknown)} of its sections are not in sections, for example '{unknown[0]}'. The trial was loaded unchanged."
        )
        reader.note(line, position, NOTED, "unknown_section", message)
