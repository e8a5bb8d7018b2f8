"""Loading questions, answers, sections and trials: small enough to be read record by record in Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from audit.evaluation.criteria import CRITERIA, REFERENCE
from audit.release.handbook_kinds import ANSWER, QUESTION, SECTION, TRIAL
from audit.release.pair_kinds import INCONSISTENCY, PLACE
from audit.release.rating_kinds import HOLDER, HUMAN_RATING, POSITION
from audit.release.record_kind import Record
from audit.release.report import NOTED, WHOLE_FILE, FileCount, Finding
from audit.release.route_kinds import ROUTE, ROUTED_EVIDENCE, SOURCE, SOURCE_ROUTE
from audit.release.system_kinds import CRITERIA_SCORES, REFERENCE_RECORD
from audit.store.connection import Connection, append, rows
from audit.store.load_kind import Usable, entries, in_chunks, usable_records
from audit.store.plain_answers import PlainAnswers, passage_fault
from audit.store.record_reader import ANSWER_STATUS, LoadState, Problem, RecordReader, append_records
from audit.vocabulary import AND_MORE, PRESENT_LABELS

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
ABSENCE_AND_MORE = """
select question_id, handbook_id, answer from answers join questions using (question) join handbooks using (handbook)
where unread_reason = $reason
order by question, handbook
"""
MAX_EXAMPLES, MAX_EXAMPLE = 3, 60

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
    append_records(con, ANSWER, _usable_answers(con, reader, state))
    _note_absence_and_more(con, reader)
    _note_answers_to_judge(con, reader)


def _note_absence_and_more(con: Connection, reader: RecordReader) -> None:
    """Note how many answers say NOT ADDRESSED and more, with examples."""
    noted = rows(con, ABSENCE_AND_MORE, {"reason": AND_MORE})
    if noted:
        examples = (
            f"{handbook} on {question} ({(text or '')[:MAX_EXAMPLE]!r})" for question, handbook, text in noted[:MAX_EXAMPLES]
        )
        message = (
            f"answers that say NOT ADDRESSED and more: {len(noted):,}. Whether they are absent is unknown, so they count "
            f"as neither. State it in their field 'absent': {', '.join(examples)}."
        )
        name = reader.layout.name(reader.layout.parts["answer"][0])
        reader.report.findings.append(Finding(name, WHOLE_FILE, NOTED, "absence_and_more", message))


def _note_answers_to_judge(con: Connection, reader: RecordReader) -> None:
    """Note how many answers name a label or give instructions, with examples: whether a judge obeyed them is unknown."""
    noted = rows(con, ANSWERS_TO_JUDGE, {"pattern": ORDERS_TO_JUDGE})
    if noted:
        examples = (f"{handbook} on {question} ({words[:MAX_EXAMPLE]!r})" for question, handbook, words in noted[:MAX_EXAMPLES])
        message = f"answers that name a label or speak to the judge: {len(noted):,}. Read them before you rely on their pairs: "
        name = reader.layout.name(reader.layout.parts["answer"][0])
        finding = Finding(name, WHOLE_FILE, NOTED, "speaks_to_judge", f"{message}{', '.join(examples)}.")
        reader.report.findings.append(finding)


def _usable_answers(con: Connection, reader: RecordReader, state: LoadState) -> Iterator[Record]:
    for line, position, record in usable_records(reader, state, ANSWER, take=PlainAnswers(con, state).take):
        state.answer_status[record["question"], record["handbook"]] = ANSWER_STATUS[record["absent"]]
        if record["passages"] and state.sections:
            _note_passages(reader, line, position, record, state)
        yield record


def _note_passages(reader: RecordReader, line: FileCount, position: str, answer: Record, state: LoadState) -> None:
    """Note passages that point at a section which the release does not have, or outside its text."""
    passages = answer["passages"] if isinstance(answer["passages"], list) else [answer["passages"]]
    # One note per answer and kind of fault: a note per passage would drown the other findings
    faults = {passage_fault(passage, answer["handbook"], state) for passage in passages}
    for code, words in PASSAGE_FAULTS.items():
        if code in faults:
            message = f"a passage points at {words}. The answer was loaded; that passage is shown without its text."
            reader.note(line, position, NOTED, code, message)


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


# -- positions -----------------------------------------------------------------------------------------------
# What handbooks state on a question, with each quote located in the answer it is attributed to.

ANSWERS = "select handbook, answer from answers where question = $question and answer is not null"
UNCHECKED = "the release came without answers, so its quotes were not checked. They were loaded without positions in the text."


def load_positions(con: Connection, reader: RecordReader, state: LoadState) -> None:
    """Fill `positions` and `position_holders`, after the answers.

    A position is quarantined where it names an unknown question or handbook, names one handbook twice, or quotes words that are
    not in the answer. Without answers in the release quotes cannot be checked: that is noted, and they have no position in the
    text.
    """
    records = list(_usable(con, reader, state))
    append_records(con, POSITION, records)
    append_records(con, HOLDER, entries(records, "holders", "number"))


def _usable(con: Connection, reader: RecordReader, state: LoadState) -> Iterator[Record]:
    answers: tuple[int, dict[int, str]] = (-1, {})

    def problem(record: Record) -> Problem | None:
        nonlocal answers
        fault = _number_holders(record, state)
        if fault or not state.has_answers:
            return fault
        if answers[0] != record["question"]:
            # Records of one question mostly follow each other
            answers = record["question"], dict(rows(con, ANSWERS, {"question": record["question"]}))
        return _place_quotes(record, answers[1])

    for number, (line, location, record) in enumerate(usable_records(reader, state, POSITION, problem), 1):
        if number == 1 and not state.has_answers:
            reader.note(line, location, NOTED, "quotes_not_checked", UNCHECKED)
        yield record | {"number": number}


def _number_holders(record: Record, state: LoadState) -> Problem | None:
    seen: set[int] = set()
    for holder in record["holders"]:
        holder["end"] = None
        if unknown := state.resolve_ids(holder, HOLDER.id_fields):
            return unknown
        if holder["handbook"] in seen:
            return "duplicate_holder", f"handbook '{holder['handbook_id']}' is named twice among its holders."
        seen.add(holder["handbook"])
    return None


def _place_quotes(record: Record, answers: dict[int, str]) -> Problem | None:
    """Put each quote's place into its holder; the problem of the first that is not in the answer."""
    for holder in record["holders"]:
        answer, quote, start = answers.get(holder["handbook"], ""), holder["quote"], holder["start"]
        stands = start is not None and start >= 0 and answer[start : start + len(quote)] == quote
        holder["start"] = start if stands else answer.find(quote)
        if holder["start"] < 0:
            what = "which has no answer" if not answer else "in whose answer they are not"
            return "quote_not_in_answer", f"it quotes words of handbook '{holder['handbook_id']}', {what}: '{quote[:60]}'."
        holder["end"] = holder["start"] + len(quote)
    return None


# -- loading sources, and how systems routed questions to them and what evidence they gathered ---------------


def load_sources(con: Connection, reader: RecordReader, state: LoadState) -> None:
    """Fill `sources` and `source_handbooks`, number the sources in release order and fill `state.source_of`.

    After the handbooks are loaded. A source with an unknown handbook, or with one of another source, is quarantined.
    """
    usable = usable_records(reader, state, SOURCE, lambda record: _members_problem(record, state))
    append_records(con, SOURCE, (record for *_, record in usable))
    if state.source_of:
        handbooks, sources = zip(*state.source_of.items(), strict=True)
        append(con, "source_handbooks", {"source": sources, "handbook": handbooks})


def _members_problem(record: Record, state: LoadState) -> Problem | None:
    """Enter the handbooks of a source, or state why that is not possible."""
    unknown = [handbook_id for handbook_id in record["handbook_ids"] if handbook_id not in state.handbooks]
    if unknown:
        return state.unknown_id("handbook", unknown[0])
    names, members = list(state.sources), [state.handbooks[handbook_id] for handbook_id in record["handbook_ids"]]
    for handbook_id, handbook in zip(record["handbook_ids"], members, strict=True):
        if (other := state.source_of.get(handbook)) is not None:
            message = f"handbook '{handbook_id}' is in source '{names[other]}' already, but may be in one source only."
            return "handbook_in_two_sources", message
    state.source_of.update(dict.fromkeys(members, len(state.sources)))
    return None


def load_routes(con: Connection, reader: RecordReader, state: LoadState) -> None:
    """Fill `routes`, `routed_evidence` and `route_traces`; after questions, sections, sources and systems are loaded."""
    usable = usable_records(reader, state, ROUTE, lambda record: _route_problem(record, state))
    for chunk in in_chunks(record for *_, record in usable):
        state.has_routes = True
        append_records(con, SOURCE_ROUTE, entries(chunk, "routes", "question", "system"))
        append_records(con, ROUTED_EVIDENCE, entries(chunk, "evidence", "question", "system"))
        append_records(con, ROUTE, chunk)


def _route_problem(record: Record, state: LoadState) -> Problem | None:
    """Number the ids of the entries of a routing; the problem of the first that is unknown."""
    problems = (
        *(state.resolve_ids(one, SOURCE_ROUTE.id_fields) for one in record["routes"]),
        *(_passage_problem(passage, state) for passage in record["evidence"]),
    )
    return next(filter(None, problems), None)


def _passage_problem(passage: Record, state: LoadState) -> Problem | None:
    """Number the ids of a passage, or state which of them is unknown or inconsistent with the others."""
    named = ROUTED_EVIDENCE.id_fields
    if unknown := state.resolve_ids(passage, {"handbook": named["handbook"]}):
        return unknown
    own = state.source_of.get(passage["handbook"])
    if passage["source_id"] is None:
        passage["source"] = own
    elif unknown := state.resolve_ids(passage, {"source": named["source"]}):
        return unknown
    elif passage["source"] != own:
        return "wrong_source", f"handbook '{passage['handbook_id']}' is not in source '{passage['source_id']}'."
    return _place_problem(passage, state)


def _place_problem(passage: Record, state: LoadState) -> Problem | None:
    # A release without texts cannot be checked
    if not state.sections or passage["section_id"] is None:
        return None
    length = state.sections.get((passage["handbook"], passage["section_id"]))
    if length is None:
        words = f"section '{passage['section_id']}' of handbook '{passage['handbook_id']}' is not in sections."
        return "unknown_section", words
    if passage["end"] is not None and passage["end"] > length:
        return "passage_outside", f"a passage ends at {passage['end']:,}, but its section has {length:,} characters."
    return None


# -- loading reference answers, and the scores of answers of systems on the eight criteria -------------------

SCORES = tuple(name.value for name in CRITERIA)
ANSWERED = "select question, system from system_answers union all select question, null from reference_answers"


def load_references(con: Connection, reader: RecordReader, state: LoadState) -> None:
    """Fill `reference_answers`, `question_types` and `question_sources`, after questions and sources."""

    def unknown_source(record: Record) -> Problem | None:
        named = (record["primary_source"], *record["required_sources"])
        return next((state.unknown_id("source", name) for name in named if name and name not in state.sources), None)

    records = [record for *_, record in usable_records(reader, state, REFERENCE_RECORD, unknown_source)]
    append_records(con, REFERENCE_RECORD, records)
    sources = list(_question_sources(records, state))
    answers = [(record["question"], index, text) for record in records for index, text in enumerate(record["answers"])]
    for table, columns, found in (
        ("question_sources", ("question", "source", "is_primary"), sources),
        ("reference_answers", ("question", "place", "answer"), answers),
    ):
        if found:
            append(con, table, dict(zip(columns, zip(*found, strict=True), strict=True)))


def _question_sources(records: Iterable[Record], state: LoadState) -> Iterator[tuple[int, int, bool]]:
    """One row for each source that a question needs, each once, the primary one among them."""
    for record in records:
        primary = record["primary_source"]
        for name in dict.fromkeys((*([primary] if primary else []), *record["required_sources"])):
            yield record["question"], state.sources[name], name == primary


def _judged(record: Record) -> Mapping[str, str]:
    """The ids of a judgement; that of the reference answer names no system."""
    record["system"] = None
    named = CRITERIA_SCORES.id_fields
    return {"question": named["question"]} if record["system_id"] == REFERENCE else named


def load_criteria(con: Connection, reader: RecordReader, state: LoadState) -> None:
    """Fill `criteria`, after the answers and references. Scores of answers that the release does not bring are noted."""
    answered = set(rows(con, ANSWERED))
    usable = usable_records(reader, state, CRITERIA_SCORES, ids=_judged)
    append_records(con, CRITERIA_SCORES, _noted(reader, usable, answered))


def _noted(reader: RecordReader, usable: Iterator[Usable], answered: set[tuple[int, int | None]]) -> Iterator[Record]:
    """The scores; how many of a file lack a score, or an answer in the release, is noted."""
    for _, of_file in groupby(usable, lambda one: one[0].file):
        incomplete = without_answer = 0
        line: FileCount
        for line, _, record in of_file:  # noqa: B007 - the line of the file, used after the loop
            incomplete += any(record[name] is None for name in SCORES)
            without_answer += (record["question"], record["system"]) not in answered
            yield record
        for code, count, words in (
            ("incomplete_criteria", incomplete, "lack at least one of the eight scores"),
            ("criteria_without_answer", without_answer, "are about an answer that is not in the release"),
        ):
            if count:
                message = f"{count:,} of {line.loaded:,} records {words}. They were loaded."
                reader.note(line, WHOLE_FILE, NOTED, code, message)


# -- ratings -------------------------------------------------------------------------------------------------
# The labels that raters gave to pairs of the run, after its pairs: a rating of a pair that is not in the run is
# quarantined.

Pair = tuple[int, int, int]
RATING_COLUMNS = ("item", "rater", "label", "significance", "comment")
# A study rates hundreds of pairs of millions, so only the pairs of its questions are fetched
LABELS_OF_QUESTIONS = """
select question, handbook_a, handbook_b, label::varchar from pairs where question in (select unnest($questions))
"""


@dataclass
class KnownPairs:
    """The pairs of the questions that were rated with the run's label, and what was rated already."""

    labels: dict[Pair, str | None]
    items: set[str] = field(default_factory=set)
    pairs: set[Pair] = field(default_factory=set)


def load_ratings(con: Connection, reader: RecordReader, state: LoadState) -> None:
    """Fill `rated_pairs` and `ratings`."""
    records = [record | {"item": number} for number, record in enumerate(_usable_ratings(con, reader, state))]
    append_records(con, HUMAN_RATING, records)
    ratings = list(entries(records, "raters", "item"))
    append(con, "ratings", {name: [rating[name] for rating in ratings] for name in RATING_COLUMNS})


def _usable_ratings(con: Connection, reader: RecordReader, state: LoadState) -> Iterator[Record]:
    for path in reader.layout.parts[HUMAN_RATING.name]:
        listed = list(reader.records(path, HUMAN_RATING))
        questions = {number for *_, record in listed if (number := state.questions.get(record["question_id"])) is not None}
        labels = rows(con, LABELS_OF_QUESTIONS, {"questions": sorted(questions)})
        known = KnownPairs({(question, a, b): label for question, a, b, label in labels})
        for line, position, raw, record in listed:
            if problem := state.resolve_ids(record, HUMAN_RATING.id_fields) or _rating_problem(record, known):
                reader.requarantine(line, position, *problem, raw)
                continue
            label = known.labels[_rated_pair(record)]
            if record["judge"] is not None and record["judge"] != label:
                message = f"the judge's label is {record['judge']} here and {label or 'missing'} in the run. The run's is used."
                reader.note(line, position, NOTED, "other_verdict", message)
            yield record


def _rating_problem(record: Record, known: KnownPairs) -> Problem | None:
    """The problem of a record that is not a pair of the run, or was rated in an earlier record."""
    pair = _rated_pair(record)
    if pair not in known.labels:
        return "unknown_pair", "the run has no such pair, so there is no verdict to compare the ratings with."
    if record["item_id"] in known.items or pair in known.pairs:
        return "duplicate_rating", HUMAN_RATING.same.format(**record)
    known.items.add(record["item_id"])
    known.pairs.add(pair)
    return None


def _rated_pair(record: Record) -> Pair:
    first, second = sorted((record["handbook_a"], record["handbook_b"]))
    return record["question"], first, second


# -- loading disagreements within handbooks ------------------------------------------------------------------


def load_inconsistencies(con: Connection, reader: RecordReader, state: LoadState) -> None:
    """Fill `inconsistencies` and `inconsistency_places`; after handbooks, questions and sections."""
    records = list(_usable_inconsistencies(reader, state))
    append_records(con, INCONSISTENCY, records)
    append_records(con, PLACE, entries(records, "places", "number"))


def _named(record: Record) -> Mapping[str, str]:
    # Most are found without a question
    record["question"] = None
    named = INCONSISTENCY.id_fields
    return named if record["question_id"] else {"handbook": named["handbook"]}


def _usable_inconsistencies(reader: RecordReader, state: LoadState) -> Iterator[Record]:
    usable = usable_records(reader, state, INCONSISTENCY, ids=_named)
    for number, (line, position, record) in enumerate(usable, 1):
        outside = [entry for entry in record["places"] if not _is_inside(entry, record["handbook"], state)]
        if outside:
            message = f"{len(outside)} of its places are not in sections. It was loaded; for these places only the text is shown."
            reader.note(line, position, NOTED, "place_outside", message)
        yield record | {"number": number}


def _is_inside(entry: dict[str, Any], handbook: int, state: LoadState) -> bool:
    """Whether a place is one of the release's texts; a release without texts cannot be checked."""
    if not state.sections or entry["section_id"] is None:
        return True
    length = state.sections.get((handbook, entry["section_id"]))
    start, end = entry["start"] or 0, entry["end"] if entry["end"] is not None else entry["start"] or 0
    return length is not None and 0 <= start <= end <= length
