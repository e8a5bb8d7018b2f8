"""Exports of annotation tools (Label Studio, Argilla, potato, doccano) as rows of item, annotator and label.

Formats, by the names of their columns or keys:
    Label Studio  JSON: tasks with `annotations` (completed_by, result) and `data`; CSV and JSON-MIN are in long format already
    Argilla       JSON: records with `responses`, by question or by user, or flattened (`label.responses`, `.responses.users`)
    potato        CSV, TSV: user, instance_id, and a column `schema:::label` for each label, marked where it was chosen
    doccano       JSON: records with `annotations` of a label and a user; with one `label` a record they are in long format
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from annotation.ratings.file_rows import ROW, frame_of
from audit.people_tables import PeopleTable, RepeatedKey, TableSource, cell_of, plain_name, records_table, repeated_key, visible
from audit.vocabulary import EMPTY_WORDS, plain

GOLD_ROW = "::gold"
"""The column that says `yes` where a row is the gold label of its item and not a rating."""
LABEL, SIGNIFICANCE = "label", "significance"
POTATO_SEPARATOR, ARGILLA_END = ":::", ".responses"
UNMARKED = EMPTY_WORDS | {"false", "no", "0", "0.0"}
ITEM_KEYS = ("item_id", "item", "instance_id", "task_id", "task", "unit", "unit_id", "record_id", "document", "document_id", "id")
ANSWER_KINDS = ("choices", "rating", "text", "number")
NO_ANSWER, CANCELLED = "without an answer", "cancelled"
NO_ANSWERS = ("draft", "discarded")
Record = Mapping[str, Any]
Answers = dict[str, str]
"""Question -> answer."""


@dataclass
class LabelRows:
    """A labels file as a frame, every cell a text under its plain column name; ROW says where a row is in the file.

    from_tool  whether rows were made from the annotations of a tool's records, so there is one for each item and annotator
    left_out   why annotations are not rows -> how many
    skipped    parts of annotations that are not answers -> how many
    notes      of the reader
    """

    frame: pd.DataFrame
    from_tool: bool = False
    left_out: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    notes: tuple[str, ...] = ()


def rows_of_records(records: Sequence[tuple[str, Any]], source: TableSource) -> LabelRows:
    """JSON records, each with its place, as rows.

    Raises the source's error for a record that is not an object or has a key twice, for two answers of one annotation to one
    question, and for exports in which several questions could be the label.
    """
    export = _Export(source)
    rows = [(place, row) for place, record in records for row in export.rows(place, _checked(place, record, source))]
    texts = [(place, {str(name): cell_of(value) for name, value in row.items()}) for place, row in rows]
    frame = _with_label(frame_of(records_table(texts, source)), source)
    decimal = next((row[key] for _, row in rows for key in ITEM_KEYS if isinstance(row.get(key), float)), None)
    notes = () if decimal is None else (f"Item ids are numbers such as {decimal}; they are read as {cell_of(decimal)}.",)
    return LabelRows(frame, export.from_tool, export.left_out, export.skipped, notes)


def rows_of_table(table: PeopleTable, source: TableSource) -> LabelRows:
    """A CSV file as rows; exports of tools are recognised by their column names."""
    if any(name.endswith(ARGILLA_END) for name in table.columns):
        read = rows_of_records([(row.place, _with_lists(row.cells)) for row in table.rows], source)
        read.notes = table.notes
        return read
    frame = frame_of(table)
    if any(POTATO_SEPARATOR in name for name in table.columns):
        return LabelRows(_potato_frame(frame, table.columns, source), from_tool=True, notes=table.notes)
    return LabelRows(frame, notes=table.notes)


def _checked(place: str, record: Any, source: TableSource) -> Record:
    if not isinstance(record, Mapping):
        raise source.refusal(place, "an object was expected", "Export the labels again.")
    if (key := repeated_key(record)) is not None:
        raise source.refusal(f"{place}{_item_words(record)}", f"the key '{key}' appears twice in one object", "Delete one.")
    return record


def _item_words(record: Record) -> str:
    data = record.get("data")
    places = (data, record) if isinstance(data, Mapping) else (record,)
    name = next((place[key] for place in places for key in ITEM_KEYS if place.get(key) is not None), None)
    # Of an item id that appears twice, nobody knows which one is right
    unknown = name is None or (isinstance(record, RepeatedKey) and record.key in ITEM_KEYS)
    return "" if unknown else f" (item '{cell_of(name)[:40]}')"


@dataclass
class _Export:
    """The rows of records of any tool, and what was left out of them."""

    source: TableSource
    from_tool: bool = False
    left_out: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)

    def rows(self, place: str, record: Record) -> Iterator[Record]:
        """The rows of a record: one for each annotation of a tool's record, else the record itself."""
        flat = any(name.endswith(ARGILLA_END) for name in record)
        of_tool = None
        if isinstance(record.get("annotations", ""), list | None):
            of_tool = self._annotations
        elif flat or isinstance(record.get("responses", ""), Mapping | list | None):
            of_tool = self._argilla
        if of_tool is None:
            yield record
            return
        self.from_tool = True
        yield from of_tool(place, record)

    # -- Label Studio and doccano ------------------------------------------------------------------------------------

    def _annotations(self, place: str, record: Record) -> Iterator[Record]:
        data = record.get("data")
        own = data if isinstance(data, Mapping) else {}
        item = {"item_id": record.get("id"), **{plain_name(str(name)): value for name, value in own.items()}}
        for annotation in record["annotations"] or ():
            if annotation is None:
                self.left_out[NO_ANSWER] += 1
            elif not isinstance(annotation, Mapping):
                raise self._refusal(place, record, "an annotation is not an object")
            elif "result" not in annotation and "label" in annotation:
                yield {**item, **self._doccano_answer(place, record, annotation)}
            elif annotation.get("was_cancelled"):
                self.left_out[CANCELLED] += 1
            elif answers := self._answers(place, record, annotation):
                gold = "yes" if annotation.get("ground_truth") is True else ""
                by = _person(annotation.get("completed_by"))
                yield {**item, "annotator": by, "seconds": annotation.get("lead_time"), GOLD_ROW: gold, **_questions(answers)}
            else:
                self.left_out[NO_ANSWER] += 1

    def _answers(self, place: str, record: Record, annotation: Record) -> Answers:
        answers: Answers = {}
        results = annotation.get("result") or []
        if not isinstance(results, list):
            raise self._refusal(place, record, "the result of an annotation is not a list")
        for part in results:
            question, value = (part.get("from_name"), part.get("value")) if isinstance(part, Mapping) else (None, None)
            kinds = [kind for kind in ANSWER_KINDS if kind in value] if isinstance(value, Mapping) else []
            if question is None or not isinstance(value, Mapping) or not kinds:
                self.skipped["a result that answers no question, such as a relation, a marked text or an empty one"] += 1
                continue
            self._add(answers, str(question), cell_of(value[kinds[0]]), place, record, annotation.get("completed_by"))
        return answers

    def _doccano_answer(self, place: str, record: Record, annotation: Record) -> Record:
        label = annotation["label"]
        if isinstance(label, int | float) and not isinstance(label, bool):
            fault = f"the label of an annotation is {label}, a number that only the project of the tool explains"
            raise self._refusal(place, record, fault, "Export the labels as texts.")
        return {"annotator": _person(annotation.get("user")), **_questions({LABEL: cell_of(label)})}

    # -- Argilla -----------------------------------------------------------------------------------------------------

    def _argilla(self, place: str, record: Record) -> Iterator[Record]:
        by_user: dict[str, Answers] = {}
        states: dict[str, str] = {}
        for user, state, question, value in self._responses(place, record):
            if state in NO_ANSWERS or not value:
                states.setdefault(user, str(state) if state in NO_ANSWERS else NO_ANSWER)
            else:
                self._add(by_user.setdefault(user, {}), question, value, place, record, user)
        self.left_out.update(state for user, state in states.items() if user not in by_user)
        metadata = record.get("metadata")
        own = metadata if isinstance(metadata, Mapping) else {}
        item = {"item_id": record.get("id"), **{plain_name(str(name)): value for name, value in own.items()}}
        yield from ({**item, "annotator": user, **_questions(answers)} for user, answers in by_user.items())

    def _responses(self, place: str, record: Record) -> Iterator[tuple[str, object, str, str]]:
        """(user, status, question, answer) of each response."""
        responses = record.get("responses")
        if isinstance(responses, Mapping):
            for question, given in responses.items():
                for response in self._objects(place, record, given):
                    user, status = _person(response.get("user_id")), response.get("status")
                    yield user, status, str(question), cell_of(response.get("value"))
        elif isinstance(responses, list):
            for response in self._objects(place, record, responses):
                user, values = _person(response.get("user_id")), response.get("values")
                for question, value in (values if isinstance(values, Mapping) else {"": None}).items():
                    answer = value.get("value") if isinstance(value, Mapping) else value
                    yield user, response.get("status"), str(question), cell_of(answer)
        for name in [name for name in record if name.endswith(ARGILLA_END)]:
            yield from self._flat_responses(place, record, name)

    def _flat_responses(self, place: str, record: Record, name: str) -> Iterator[tuple[str, object, str, str]]:
        values, users = _as_list(record[name]), _as_list(record.get(f"{name}.users"))
        states = _as_list(record.get(f"{name}.status")) or [""] * len(values)
        if not len(values) == len(users) == len(states):
            fault = f"{name} has {len(values):,} answers, {len(users):,} users and {len(states):,} states"
            raise self._refusal(place, record, fault, "Export the records again, with the users of the responses.")
        for value, user, state in zip(values, users, states, strict=True):
            yield _person(user), state, name.removesuffix(ARGILLA_END), cell_of(value)

    # -- shared ------------------------------------------------------------------------------------------------------

    def _objects(self, place: str, record: Record, values: object) -> list[Record]:
        if isinstance(values, list) and all(isinstance(value, Mapping) for value in values):
            return values
        raise self._refusal(place, record, "its responses are not a list of objects")

    def _add(self, answers: Answers, question: str, answer: str, place: str, record: Record, by: object) -> None:
        if question in answers:
            fault = f"'{_person(by)}' answers the question '{question}' twice, with '{answers[question]}' and '{answer}'"
            raise self._refusal(place, record, fault, "Allowed: one answer for each item and annotator. Delete the other.")
        answers[question] = answer

    def _refusal(self, place: str, record: Record, fault: str, advice: str = "Export the labels again.") -> Exception:
        return self.source.refusal(f"{place}{_item_words(record)}", fault, advice)


def _person(value: object) -> str:
    by = (value.get("email") or value.get("id")) if isinstance(value, Mapping) else value
    return cell_of(by)


def _as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else [] if value in (None, "") else [value]


def _with_lists(record: Record) -> dict[str, object]:
    """A row of a CSV file, in which Argilla's lists are texts such as "['ABSENT', 'DIVERGENT']"."""
    return {name: _list_of(value) if ARGILLA_END in name else value for name, value in record.items()}


def _list_of(text: str) -> list[object]:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return [text] if text else []
    return list(value) if isinstance(value, list | tuple) else [value]


def _questions(answers: Mapping[str, str]) -> Answers:
    """Answers under names that no other column has."""
    return {f"{POTATO_SEPARATOR}{question}": answer for question, answer in answers.items()}


def _with_label(frame: pd.DataFrame, source: TableSource) -> pd.DataFrame:
    """The frame with the answers to the question about the label in the column `label`."""
    questions = [name.removeprefix(POTATO_SEPARATOR) for name in map(str, frame) if name.startswith(POTATO_SEPARATOR)]
    if not questions:
        return frame
    columns = {LABEL: _question(questions, source), SIGNIFICANCE: _significance_question(questions, source)}
    renamed = {f"{POTATO_SEPARATOR}{question}": name for name, question in columns.items() if question}
    # What the item's own data call `label` is not what an annotator chose.
    return frame.drop(columns=[name for name in renamed.values() if name in frame]).rename(columns=renamed)


def _question(questions: Iterable[str], source: TableSource) -> str:
    others = [question for question in questions if SIGNIFICANCE not in question]
    if LABEL in others or len(others) == 1:
        return LABEL if LABEL in others else others[0]
    fault = f"several questions could be the label ({', '.join(others) or 'none'})"
    advice = f"Allowed: one question, or one called '{LABEL}', and besides one whose name contains '{SIGNIFICANCE}'."
    raise source.refusal("", fault, f"{advice} Export that question alone.")


def _significance_question(questions: Iterable[str], source: TableSource) -> str:
    found = [question for question in questions if SIGNIFICANCE in question]
    if len(found) > 1 and SIGNIFICANCE not in found:
        raise source.refusal("", f"several questions could be the significance ({', '.join(found)})", "Export one of them.")
    return SIGNIFICANCE if SIGNIFICANCE in found else "".join(found)


def _potato_frame(frame: pd.DataFrame, written: Mapping[str, str], source: TableSource) -> pd.DataFrame:
    options = [name for name in map(str, frame) if POTATO_SEPARATOR in name]
    others = frame.drop(columns=options)
    for schema in dict.fromkeys(name.partition(POTATO_SEPARATOR)[0] for name in options):
        own = {name: written[name].partition(POTATO_SEPARATOR)[2] for name in options if name.partition(":::")[0] == schema}
        rows = ({str(name): cell for name, cell in row.items()} for row in frame.to_dict("records"))
        others[f"{POTATO_SEPARATOR}{schema}"] = [_chosen(row, own, source) for row in rows]
    return _with_label(others, source)


def _chosen(row: Mapping[str, str], options: Mapping[str, str], source: TableSource) -> str:
    marks = {option: visible(row[name]) for name, option in options.items() if plain(visible(row[name])) not in UNMARKED}
    if len(marks) > 1:
        raise source.refusal(row[ROW], f"{' and '.join(marks)} are both chosen", "Allowed: one label. Correct the row.")
    for option, mark in marks.items():
        others = {plain(other) for other in options.values() if other != option}
        if plain(mark) in others and not mark.isdigit():
            raise source.refusal(row[ROW], f"'{mark}' is in the column of {option}", "Correct the row.")
    return next(iter(marks), "")
