"""Exports of annotation tools (Label Studio, Argilla, potato) as rows of item, annotator and label.

Formats, by the names of their columns or keys:
    Label Studio  JSON: tasks with `annotations` (completed_by, result) and `data`; CSV and JSON-MIN are in long format already
    Argilla       JSON: records with `responses` by question, nested, or flattened (`label.responses`, `label.responses.users`)
    potato        CSV, TSV: user, instance_id, and a column `schema:::label` for each label, filled where it was chosen
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from audit.errors import AuditError

ROW = "_row"
"""The column that says where a row is in its file, in words."""
LABEL, SIGNIFICANCE = "label", "significance"
POTATO_SEPARATOR, ARGILLA_END = ":::", ".responses"
NO_ANSWERS = ("draft", "discarded")
Record = Mapping[str, Any]
Answers = dict[str, str]
"""Question -> answer."""


def frame_of_records(records: Sequence[Any], where: str) -> pd.DataFrame:
    """JSON records as a frame with a row for each item and annotator; every cell a text, and ROW says which record it is.

    Raises AuditError for a record that is not an object, and for exports in which several questions could be the label.
    """
    for number, record in enumerate(records, start=1):
        if not isinstance(record, Mapping):
            raise AuditError(f"{where}, record {number}: an object was expected. Nothing was computed. Export the labels again.")
    rows = [
        {ROW: f"record {number}"} | {name: cell_text(value) for name, value in row.items()}
        for number, record in enumerate(records, start=1)
        for row in _rows_of(record)
    ]
    return _with_label(pd.DataFrame(rows, dtype=object).fillna(""), where)


def frame_of_columns(frame: pd.DataFrame, where: str) -> pd.DataFrame:
    """A CSV export of a tool as a frame with a row for each item and annotator; others are returned as they are."""
    if any(str(name).endswith(ARGILLA_END) for name in frame):
        records = [_with_lists(record) for record in _records_of(frame)]
        rows = [{ROW: f"row {number}", **row} for number, record in enumerate(records, start=2) for row in _argilla_rows(record)]
        return _with_label(pd.DataFrame(rows, dtype=object).fillna("").map(cell_text), where)
    if any(POTATO_SEPARATOR in str(name) for name in frame):
        return _potato_frame(frame, where)
    return frame


def cell_text(value: object) -> str:
    """A value of JSON as a cell; a list or an object as JSON, so it is no label by accident."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, list) and len(value) == 1:
        return cell_text(value[0])
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict | bool) else str(value)


def _rows_of(record: Record) -> Iterator[Record]:
    if isinstance(record.get("annotations"), list):
        yield from _label_studio_rows(record)
    elif isinstance(record.get("responses"), Mapping):
        yield from _nested_argilla_rows(record)
    elif any(name.endswith(ARGILLA_END) for name in record):
        yield from _argilla_rows(record)
    else:
        yield record


def _label_studio_rows(task: Record) -> Iterator[Record]:
    data = task.get("data") if isinstance(task.get("data"), Mapping) else {}
    item = {"item_id": task.get("id"), **{str(name): value for name, value in (data or {}).items()}}
    for annotation in task["annotations"]:
        if annotation.get("was_cancelled"):
            continue
        by = annotation.get("completed_by")
        name = (by.get("email") or by.get("id")) if isinstance(by, Mapping) else by
        answers = {part["from_name"]: _choice(part.get("value", {})) for part in annotation.get("result", [])}
        yield {**item, "annotator": name, "seconds": annotation.get("lead_time"), **_questions(answers)}


def _choice(value: Record) -> str:
    return cell_text(next((value[kind] for kind in ("choices", "rating", "text") if kind in value), ""))


def _nested_argilla_rows(record: Record) -> Iterator[Record]:
    by_user: dict[str, Answers] = {}
    for question, responses in record["responses"].items():
        for response in responses:
            if response.get("status") not in NO_ANSWERS:
                by_user.setdefault(cell_text(response.get("user_id")), {})[question] = cell_text(response.get("value"))
    yield from _argilla_answers(record, by_user)


def _argilla_rows(record: Record) -> Iterator[Record]:
    by_user: dict[str, Answers] = {}
    for name in [name for name in record if name.endswith(ARGILLA_END)]:
        values, users = record[name] or [], record.get(f"{name}.users") or []
        states = record.get(f"{name}.status") or [""] * len(values)
        for value, user, state in zip(values, users, states, strict=False):
            if state not in NO_ANSWERS:
                by_user.setdefault(cell_text(user), {})[name.removesuffix(ARGILLA_END)] = cell_text(value)
    yield from _argilla_answers(record, by_user)


def _argilla_answers(record: Record, by_user: Mapping[str, Answers]) -> Iterator[Record]:
    metadata = record.get("metadata")
    item = {"item_id": record.get("id"), **(metadata if isinstance(metadata, Mapping) else {})}
    yield from ({**item, "annotator": user, **_questions(answers)} for user, answers in by_user.items())


def _records_of(frame: pd.DataFrame) -> list[dict[str, object]]:
    return [{str(name): value for name, value in record.items()} for record in frame.to_dict("records")]


def _with_lists(record: Record) -> dict[str, object]:
    """A row of a CSV file, in which Argilla's lists are texts such as "['ABSENT', 'DIVERGENT']"."""
    return {str(name): _list_of(value) if ARGILLA_END in str(name) else value for name, value in record.items()}


def _list_of(text: object) -> list[object]:
    try:
        value = ast.literal_eval(str(text))
    except (ValueError, SyntaxError):
        return [text] if text else []
    return list(value) if isinstance(value, list | tuple) else [value]


def _questions(answers: Mapping[str, str]) -> Answers:
    """Answers under names that no other column has."""
    return {f"{POTATO_SEPARATOR}{question}": answer for question, answer in answers.items()}


def _with_label(frame: pd.DataFrame, where: str) -> pd.DataFrame:
    """The frame with the answers to the question about the label in the column `label`."""
    names = [str(name) for name in frame]
    questions = [name.removeprefix(POTATO_SEPARATOR) for name in names if name.startswith(POTATO_SEPARATOR)]
    if not questions:
        return frame
    columns = {LABEL: _question(questions, where), SIGNIFICANCE: next((q for q in questions if SIGNIFICANCE in q.lower()), "")}
    renamed = {f"{POTATO_SEPARATOR}{question}": name for name, question in columns.items() if question}
    # What the item's own data call `label` is not what an annotator chose.
    return frame.drop(columns=[name for name in renamed.values() if name in frame]).rename(columns=renamed)


def _question(questions: Iterable[str], where: str) -> str:
    others = [question for question in questions if SIGNIFICANCE not in question.lower()]
    if LABEL in others or len(others) == 1:
        return LABEL if LABEL in others else others[0]
    raise AuditError(
        f"{where}: several questions could be the label ({', '.join(others) or 'none'}). Allowed: one question, or one called "
        f"'{LABEL}', and besides one whose name contains '{SIGNIFICANCE}'. Nothing was computed. Export that question alone."
    )


def _potato_frame(frame: pd.DataFrame, where: str) -> pd.DataFrame:
    options = [str(name).partition(POTATO_SEPARATOR) for name in frame if POTATO_SEPARATOR in str(name)]
    schemas = list(dict.fromkeys(schema for schema, _, _ in options))
    others = frame.drop(columns=["".join(option) for option in options])
    for schema in schemas:
        own = {"".join(option): option[2] for option in options if option[0] == schema}
        chosen = [_chosen(row, own, f"{where}, row {number + 2}") for number, row in enumerate(_records_of(frame))]
        others[f"{POTATO_SEPARATOR}{schema}"] = chosen
    return _with_label(others, where)


def _chosen(row: Record, options: Mapping[str, str], where: str) -> str:
    marked = [option for column, option in options.items() if str(row[column]).strip().lower() not in ("", "false")]
    if len(marked) > 1:
        raise AuditError(
            f"{where}: {' and '.join(marked)} are both chosen. Allowed: one label. Nothing was computed. Correct the row."
        )
    return marked[0] if marked else ""
