"""SQL is assembled from constants only; every value is bound. So ruff's S608 can stay off.

The test reads the syntax tree of every module. Where a string with the look of SQL is put together (f-string, `+`, `%`,
`.format`), each inserted expression must be built from constants, or be listed below with the reason why it is safe.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SQL = re.compile(
    r"^\s*(select\s(?=[\s\S]*\bfrom\s)|with\s+\w+\s+as\s*\(|insert\s+into\s|delete\s+from\s|update\s+\S+\s+set\s|attach\s|alter\s+table\s"
    r"|create\s+(or\s+replace\s+)?(temp\s+)?(table|type|view)\s|copy\s|from\s+\S+\s+(select|join|where)\s)",
    re.IGNORECASE,
)
CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]*")

ALLOWED: dict[tuple[str, str], str] = {
    ("audit/jobs/table.py", "', '.join((f\"'{state.name}'\" for state in JobState))"): "the names of an enum, in a constraint",
    ("audit/jobs/table.py", "assignments"): "names of columns, keyword arguments in the module; their values are bound",
    ("audit/jobs/table.py", "condition"): "a literal of the module; its values are bound",
    ("audit/jobs/table.py", "clause"): "a literal of the module; its values are bound",
    ("audit/queries/search_index.py", "kind"): "topic or subtopic, a literal at both calls",
    ("audit/store/connection.py", "quoted"): "the path of a store file; its quotes are doubled, and ATTACH takes no parameter",
    ("audit/store/connection.py", "name"): "one of the two literals of the loop",
    ("audit/store/connection.py", "table"): "the name of a table, a literal at every call",
    ("audit/store/connection.py", "stored"): "what is inserted of the columns, a literal at every call",
    ("annotation/studies/whole_backup.py", "table"): "a value of TABLES, or the one table of a journal",
    ("audit/store/load_pairs.py", "name"): "a key of WORKING_COLUMNS or READING_COLUMNS",
    ("audit/store/load_pairs.py", "kind"): "a value of WORKING_COLUMNS or READING_COLUMNS",
    ("audit/store/load_pairs.py", "table"): "one of the two literals of the loop",
    ("audit/store/load_pairs.py", "condition"): "a constant condition on columns that are literals",
    ("audit/store/other_spellings.py", "metadata"): "names of columns from the schema",
    ("audit/store/other_spellings.py", "values"): "names of columns from the schema",
    ("audit/store/stage_pairs.py", "self.composed"): "empty, or the literal nfc_normalize",
    ("audit/store/tables.py", "name"): "the name of a vocabulary, a literal of audit.release.record_kind",
    ("audit/store/tables.py", "quoted"): "the terms of a vocabulary, which are constants",
    ("audit/store/tables.py", "kind.table"): "the table of a kind of record, a literal of its declaration",
    ("audit/store/tables.py", "columns"): "the columns of a kind of record and their types, literals of its declaration",
    ("audit/store/stage_pairs.py", "names"): "handbook ids; their quotes are doubled, and a type takes no parameter",
    ("audit/store/stage_pairs.py", "quoted"): "keys of the release's JSON as quoted identifiers; their quotes are doubled",
    ("audit/store/stage_pairs.py", "self.upper"): "empty, or the literal upper",
    ("audit/store/stage_pairs.py", "self.lower"): "empty, or the literal lower",
    ("audit/store/stage_pairs.py", "self._columns()"): "the same keys, quoted, with types that are constants",
    ("audit/store/stage_pairs.py", "_largest_object(paths)"): "an integer",
    ("audit/store/stage_pairs.py", "suspect"): "one of two constants",
    ("audit/store/stage_pairs.py", "grounds"): "names from the schema and quoted keys, or empty",
    ("audit/store/stage_pairs.py", "GROUND_COLUMNS if grounds else ''"): "a constant, or empty",
    ("annotation/label_store/engine.py", "one.table.name"): "the name of a table of our own schema",
    ("annotation/label_store/engine.py", "CreateColumn(one).compile(dialect=tx.dialect)"): "a column of our own schema",
    ("audit/store/stage_pairs.py", "reading"): "names from the schema and quoted keys, or empty",
    ("audit/store/stage_pairs.py", "reading_columns"): "names from the schema, or empty",
}
"""(module, inserted expression) -> why nothing from outside can reach the statement through it."""


def insertions(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """(line, source) of every expression that is inserted into SQL and is not built from constants."""
    templates = {name for name, text in string_constants(tree) if SQL.match(text)}
    for node in ast.walk(tree):
        for expression in inserted(node, templates):
            if not is_constant(expression, frozenset()):
                yield expression.lineno, ast.unparse(expression)


def inserted(node: ast.AST, templates: set[str]) -> list[ast.expr]:
    """The expressions that `node` inserts into a text with the look of SQL."""
    if isinstance(node, ast.JoinedStr) and SQL.match(literal_text(node)):
        return [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod) and SQL.match(literal_text(node.left)):
        return [node.right]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        template = node.func.value
        if SQL.match(literal_text(template)) or (isinstance(template, ast.Name) and template.id in templates):
            return [*node.args, *(keyword.value for keyword in node.keywords)]
    return []


def literal_text(node: ast.expr) -> str:
    """The constant text of a string expression; what is inserted counts as one letter."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(literal_text(part) if isinstance(part, ast.Constant) else "x" for part in node.values)
    return literal_text(node.left) + literal_text(node.right) if isinstance(node, ast.BinOp) else ""


def string_constants(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, literal_text(node.value)


def is_constant(node: ast.AST, bound: frozenset[str]) -> bool:
    """Whether an expression is built from literals, upper-case names, functions of those, and loop variables."""
    if isinstance(node, ast.Name):
        return bool(CONSTANT.fullmatch(node.id)) or node.id in bound
    if is_member(node):
        return True
    if isinstance(node, ast.Call):
        called = node.func.value if isinstance(node.func, ast.Attribute) else None
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        return (called is None or is_constant(called, bound)) and all(is_constant(argument, bound) for argument in arguments)
    if isinstance(node, ast.GeneratorExp | ast.ListComp):
        for loop in node.generators:
            if not is_constant(loop.iter, bound):
                return False
            bound |= {name.id for name in ast.walk(loop.target) if isinstance(name, ast.Name)}
        return is_constant(node.elt, bound)
    if isinstance(node, ast.Attribute | ast.FormattedValue | ast.Starred | ast.Subscript):
        return is_constant(node.value, bound)
    if isinstance(node, ast.BinOp | ast.JoinedStr | ast.Tuple | ast.List | ast.IfExp | ast.Compare | ast.BoolOp):
        return all(is_constant(part, bound) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr))
    return isinstance(node, ast.Constant)


def is_member(node: ast.AST) -> bool:
    """Whether an expression is a member of an enumeration, such as `Label.ABSENT`."""
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id[0].isupper()
        and bool(CONSTANT.fullmatch(node.attr))
    )


def modules() -> list[Path]:
    return [ROOT / "app.py", *(path for name in ("audit", "annotation", "pages") for path in sorted((ROOT / name).rglob("*.py")))]


def found_in_tree() -> dict[tuple[str, str], int]:
    found: dict[tuple[str, str], int] = {}
    for path in modules():
        for line, source in insertions(ast.parse(path.read_text(encoding="utf-8"))):
            found[path.relative_to(ROOT).as_posix(), source] = line
    return found


def test_nothing_but_constants_is_inserted_into_sql() -> None:
    unknown = [f"{path}:{line}: {source}" for (path, source), line in found_in_tree().items() if (path, source) not in ALLOWED]
    assert not unknown, "Bind the value ($name), or list it in ALLOWED with a reason: " + "; ".join(unknown)


def test_no_exception_is_listed_for_code_that_is_gone() -> None:
    assert set(ALLOWED) <= set(found_in_tree())


@pytest.mark.parametrize(
    "code",
    [
        'con.execute(f"select * from pairs where label = {label!r}")',
        'con.execute("select * from pairs where label = " + label)',
        'con.execute("delete from pairs where label = %s" % label)',
        'con.execute("select {} from pairs".format(column))',
        'QUERY = "select {column} from pairs"\ncon.execute(QUERY.format(column=request.column))',
        "con.execute(f\"select {', '.join(columns)} from pairs\")",
        'con.execute(f"select * from pairs where label = {choice.label}")',
        'con.execute(f"select * from pairs where label in {sql_list(labels)}")',
        'con.execute(f"""\n    with x as (select 1) select * from x where y = {clean(label)}""")',
    ],
)
def test_a_value_in_the_text_of_a_statement_is_found(code: str) -> None:
    assert list(insertions(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        'con.execute("select * from pairs where label = $label", {"label": label})',
        'QUERY = f"select {COLUMNS} from pairs where {PRESENT}"',
        "QUERY = f\"select * from pairs where label = '{Label.ABSENT}'\"",
        'QUERY = f"select * from pairs where label in {sql_list(DISAGREEING)}"',
        "QUERY = f\"select {', '.join(f'{name} as {name}' for name in COLUMNS)} from pairs\"",
        'print(f"Select {count} pairs")',
    ],
)
def test_bound_values_and_constants_are_let_pass(code: str) -> None:
    assert not list(insertions(ast.parse(code)))
