"""The labels are listed in `audit/vocabulary.py` and nowhere else: another list of them would have to be found and changed too.

The test reads the syntax tree of every module. A list is two or more labels in a tuple, a list or a set, or in the text of an
SQL condition; `<> 'ABSENT'` is one as well, of all labels but one. A mapping from each label to something is not, nor is a key:
the change from one label to another.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from audit.vocabulary import LABELS

ROOT = Path(__file__).parents[2]
HOME = ROOT / "audit" / "vocabulary.py"
NAMES = frozenset(LABELS)
QUOTED = rf"'(?:{'|'.join(LABELS)})'"
CONDITION = re.compile(rf"\bin\s*\(\s*{QUOTED}\s*,|<>\s*{QUOTED}|!=\s*{QUOTED}|{QUOTED}\s*,\s*{QUOTED}")


def typed_lists(tree: ast.Module) -> Iterator[int]:
    """The lines of typed lists of labels, docstrings left out."""
    left_out = {id(part) for node in ast.walk(tree) for part in prose_and_keys(node)}
    for node in ast.walk(tree):
        if id(node) in left_out:
            continue
        if isinstance(node, ast.Tuple | ast.List | ast.Set) and sum(map(is_label, node.elts)) > 1:
            yield node.lineno
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from (node.lineno for _ in CONDITION.finditer(node.value))


def prose_and_keys(node: ast.AST) -> list[ast.expr | None]:
    """The docstring that a statement is, or the keys that an expression looks up or assigns."""
    if isinstance(node, ast.Expr):
        return [node.value]
    if isinstance(node, ast.Subscript):
        return [node.slice]
    if isinstance(node, ast.Dict):
        return node.keys
    looked_up = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get"
    return node.args[:1] if looked_up else []


def is_label(node: ast.expr) -> bool:
    """Whether an expression names one label: `Label.ABSENT`, its value, its code or its text."""
    while isinstance(node, ast.Attribute) and node.attr in {"value", "code"}:
        node = node.value
    if isinstance(node, ast.Attribute):
        return isinstance(node.value, ast.Name) and node.value.id == "Label" and node.attr in NAMES
    return isinstance(node, ast.Constant) and node.value in NAMES


def modules_with_labels() -> Iterator[tuple[Path, ast.Module]]:
    for name in ("audit", "annotation", "pages"):
        for path in sorted((ROOT / name).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if path != HOME and any(label in text for label in LABELS):
                yield path.relative_to(ROOT), ast.parse(text)


def test_no_list_of_labels_is_typed_outside_the_vocabulary() -> None:
    found = [f"{path}:{line}" for path, tree in modules_with_labels() for line in typed_lists(tree)]
    assert not found, "Take the list from audit/vocabulary.py, or ask the view judged_pairs: " + ", ".join(found)


@pytest.mark.parametrize(
    "code",
    [
        "DISPUTED = (Label.DIVERGENT, Label.CONTRADICTORY)",
        "codes = {Label.DIVERGENT.code, Label.CONTRADICTORY.code}",
        'labels = ["ABSENT", "CONSISTENT"]',
        "SQL = \"select * from pairs where label in ('DIVERGENT', 'CONTRADICTORY')\"",
        "SQL = f\"select {COLUMNS} from pairs where label <> 'ABSENT'\"",
        "SQL = \"values (0, 'ABSENT', 'CONSISTENT')\"",
    ],
)
def test_a_typed_list_is_found(code: str) -> None:
    assert list(typed_lists(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        '"""Either \'DIVERGENT\', \'CONTRADICTORY\' or none."""',
        "WORDS = {Label.ABSENT: 'left out', Label.DIVERGENT: 'differs'}",
        "SQL = \"select count(*) filter (label = 'CONSISTENT') from judged_pairs where disagrees\"",
        "needed = label in DISAGREEING or label is Label.ABSENT",
        "joint[Label.DIVERGENT.code, Label.COMPLEMENTARY.code] = moved.get((Label.DIVERGENT, Label.COMPLEMENTARY))",
        "ERRORS = {(Label.DIVERGENT, Label.COMPLEMENTARY): 'milder'}",
    ],
)
def test_prose_mappings_and_single_labels_are_let_pass(code: str) -> None:
    assert not list(typed_lists(ast.parse(code)))
