"""Labels with a row for each item and annotator: read by column names, refused by row and column where that would be a guess."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from annotation.ratings.labels_file import read_labels
from annotation.ratings.table import JUDGE, LABELS, ratings_from
from audit.errors import AuditError

LONG = """item,user,choice,judge,significance
q1,ben,divergent,DIVERGENT,high
q1,ana,DIVERGENT,DIVERGENT,low
q2,ana,Consistent,ABSENT,
q2,ben,absent,ABSENT,
q3,ana,absent,ABSENT,
"""
LABEL_STUDIO = [
    {
        "id": 7,
        "data": {"item_id": "q1", "label": "of the item, not of an annotator"},
        "annotations": [
            {"completed_by": {"email": "ana"}, "lead_time": 4.5, "result": [
                {"from_name": "relation", "value": {"choices": ["DIVERGENT"]}},
                {"from_name": "significance", "value": {"choices": ["high"]}},
            ]},
            {"completed_by": "ben", "result": [{"from_name": "relation", "value": {"choices": ["ABSENT"]}}]},
            {"completed_by": "eve", "was_cancelled": True, "result": []},
        ],
    }
]  # fmt: skip
ARGILLA = [
    {"id": "q1", "fields": {"text": "x"}, "metadata": {"judge": "ABSENT"}, "responses": {"label": [
        {"value": "DIVERGENT", "user_id": "u1", "status": "submitted"},
        {"value": "ABSENT", "user_id": "u2", "status": "submitted"},
        {"value": "CONSISTENT", "user_id": "u3", "status": "draft"},
    ]}},
]  # fmt: skip
ARGILLA_FLAT = (
    "id,label.responses,label.responses.users,label.responses.status\n"
    "q1,\"['DIVERGENT', 'ABSENT', 'CONSISTENT']\",\"['u1', 'u2', 'u3']\",\"['submitted', 'submitted', 'draft']\"\n"
)
POTATO = """user\tinstance_id\tdisplayed_text\trelation:::DIVERGENT\trelation:::ABSENT
ana\tq1\tx\tDIVERGENT\t
ben\tq1\tx\t\ttrue
"""


def written(folder: Path, name: str, content: object) -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_rows_of_item_annotator_and_label_become_one_row_per_item(tmp_path: Path):
    file = read_labels(written(tmp_path, "long.csv", LONG))
    ratings = ratings_from(file.frame)
    assert ratings.items.tolist() == ["q1", "q2", "q3"]
    words = {rater: [LABELS[code] if code >= 0 else "" for code in codes] for rater, codes in ratings.labels.items()}
    assert words["annotator_a"] == ["DIVERGENT", "CONSISTENT", "ABSENT"]
    assert words["annotator_b"] == ["DIVERGENT", "ABSENT", ""]
    assert words[JUDGE] == ["DIVERGENT", "ABSENT", "ABSENT"]
    assert ratings.significance["annotator_a"].tolist() == [0, -1, -1]
    assert file.notes[0].endswith("5 rows about 3 items. Annotators: A: ana; B: ben.")


@pytest.mark.parametrize(("name", "content"), [
    ("label_studio.json", LABEL_STUDIO),
    ("argilla.json", ARGILLA),
    ("argilla.jsonl", "\n".join(map(json.dumps, ARGILLA))),
    ("argilla.csv", ARGILLA_FLAT),
    ("columns.json", {"item": ["q1", "q1"], "rater": ["ana", "ben"], "label": ["DIVERGENT", "ABSENT"]}),
    ("potato.tsv", POTATO),
    ("min.csv", "annotation_id,annotator,choice,id,lead_time\n1,ana,DIVERGENT,q1,3\n2,ben,ABSENT,q1,4\n"),
])  # fmt: skip
def test_exports_of_other_tools_are_read_by_their_names(tmp_path: Path, name: str, content: object):
    ratings = ratings_from(read_labels(written(tmp_path, name, content)).frame)
    assert ratings.items.tolist() == ["q1"]
    assert [LABELS[ratings.labels[rater][0]] for rater in ratings.annotators] == ["DIVERGENT", "ABSENT"]


@pytest.mark.parametrize(("content", "fault"), [
    (LONG + "q1,ana,absent,DIVERGENT,\n", "row 7, column annotator: item 'q1' already has a row by 'ana', row 3"),
    (LONG.replace("Consistent", "agrees"), "row 4, column label: 'agrees' (item 'q2') is not in the vocabulary"),
    (LONG.replace("ben", "ana").replace("q1,ana,D", "q4,ana,D").replace("q2,ana,a", "q5,ana,a"), "only 'ana' gave labels"),
    (LONG.replace("q3,ana,absent,ABSENT", "q3,ana,,ABSENT").replace("q2,ben", "q2,"), "row 5, column annotator: it is empty"),
    (LONG.replace("q3,ana", ",ana"), "row 6, column item_id: it is empty"),
    (LONG.replace("q2,ben,absent,ABSENT", "q2,ben,absent,DIVERGENT"), "row 5, column judge: 'DIVERGENT' for item 'q2'"),
    (LONG.replace("significance", "value"), "row 1: columns choice and value could both be the label"),
    ("item,user\nq1,ana\n", "row 1: column 'label' is missing"),
    ("item,user,label\n", "the table has column names and no rows"),
    (POTATO.replace("\t", ",").replace("DIVERGENT,\n", "DIVERGENT,ABSENT\n"), "row 2: DIVERGENT and ABSENT are both chosen"),
])  # fmt: skip
def test_what_would_be_a_guess_is_refused_by_row_and_column(tmp_path: Path, content: str, fault: str):
    with pytest.raises(AuditError) as caught:
        read_labels(written(tmp_path, "labels.csv", content))
    assert fault in str(caught.value)
    assert "Nothing was computed." in str(caught.value)


def test_two_questions_of_a_tool_are_not_chosen_between(tmp_path: Path):
    task = json.loads(json.dumps(LABEL_STUDIO[0]).replace('"significance"', '"urgency"'))
    with pytest.raises(AuditError, match=r"several questions could be the label \(relation, urgency\)"):
        read_labels(written(tmp_path, "tasks.json", [task]))


@pytest.mark.parametrize(("name", "content"), [("x.json", "{"), ("x.json", '{"a": 1}'), ("x.jsonl", "[1]\n2"), ("x.json", "[1]")])
def test_json_that_is_no_list_of_records_is_refused(tmp_path: Path, name: str, content: str):
    with pytest.raises(AuditError, match="Nothing was computed"):
        read_labels(written(tmp_path, name, content))
