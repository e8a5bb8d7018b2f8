"""Measures the code itself, so that a clean-up can show what it changed: `python .ci/measure.py [CHECKOUT]`.

Prints one figure a line: modules and lines of the product (audit, annotation, pages, app.py), tests apart; class names that are
defined in several modules; file and function lengths; the share of lines that are comments; bytes of README.md, lines of
pyproject.toml; and the CPU seconds (user + system, the best of five) of `audit --version` and `audit --help`.
"""

from __future__ import annotations

import ast
import io
import os
import resource
import subprocess
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import median

PRODUCT = ("audit", "annotation", "pages", "app.py")
COMMANDS = (("--version",), ("--help",))
ROUNDS = 5


def main() -> None:
    """Print every figure of the checkout."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1]).resolve()
    for name, value in figures(root):
        print(f"{name:45} {value}")


def figures(root: Path) -> Iterator[tuple[str, str]]:
    """Name and value of each figure."""
    files = list(modules(root, PRODUCT))
    texts = [path.read_text(encoding="utf-8") for path in files]
    lines = [text.count("\n") for text in texts]
    functions = [length for text in texts for length in function_lengths(text)]
    classes = several_meanings(root, files)
    yield "modules", str(len(files))
    yield "lines", f"{sum(lines):,}"
    yield "lines of tests", f"{sum(path.read_text(encoding='utf-8').count(chr(10)) for path in modules(root, ('tests',))):,}"
    yield "class names", str(classes[0])
    yield "class names with several meanings", f"{len(classes[1])} {', '.join(sorted(classes[1]))}".strip()
    yield "median file, lines", f"{median(lines):.0f}"
    yield "files of over 300 lines", str(sum(count > 300 for count in lines))
    yield "median function, lines", f"{median(functions):.0f}"
    yield "longest function, lines", str(max(functions))
    yield "share of lines with a comment", f"{100 * sum(comment_lines(text) for text in texts) / sum(lines):.1f} %"
    yield "bytes of README.md", f"{(root / 'README.md').stat().st_size:,}"
    yield "lines of pyproject.toml", str((root / "pyproject.toml").read_text().count("\n"))
    for command in COMMANDS:
        yield f"CPU s of audit {' '.join(command)}", f"{cpu_seconds(root, command):.2f}"


def modules(root: Path, places: tuple[str, ...]) -> Iterator[Path]:
    """Python files at these places. An `__init__.py` that holds nothing but a docstring is not counted: it names a package."""
    for place in places:
        for path in [root / place] if place.endswith(".py") else sorted((root / place).rglob("*.py")):
            if path.name != "__init__.py" or len(ast.parse(path.read_text(encoding="utf-8")).body) > 1:
                yield path


def several_meanings(root: Path, files: list[Path]) -> tuple[int, set[str]]:
    """How many names classes have, and those that are defined in more than one module."""
    homes: dict[str, set[Path]] = defaultdict(set)
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                homes[node.name].add(path.relative_to(root))
    return len(homes), {name for name, places in homes.items() if len(places) > 1}


def function_lengths(text: str) -> Iterator[int]:
    """Lines of each function without its docstring."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = node.body[0] if ast.get_docstring(node, clean=False) is not None else None
            own = (docstring.end_lineno or 0) - docstring.lineno + 1 if docstring else 0
            yield (node.end_lineno or node.lineno) - node.lineno + 1 - own


def comment_lines(text: str) -> int:
    """Lines that are, or end in, a comment to a reader; notes to a linter do not count."""
    comments = (token.string for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type == tokenize.COMMENT)
    return sum(not comment.startswith(("# fmt:", "# noqa", "# type:")) for comment in comments)


def cpu_seconds(root: Path, command: tuple[str, ...]) -> float:
    """The least user and system time of a few runs, bytecode cached."""
    environment = {**os.environ, "PYTHONPATH": str(root)}
    spent = []
    for _ in range(ROUNDS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "audit", *command], cwd=root, env=environment, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return min(spent)


if __name__ == "__main__":
    main()
