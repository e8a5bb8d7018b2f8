"""Measures the code itself: `python .ci/measure.py [CHECKOUT]` prints one figure a line, `--check` holds some against budgets.

The product is audit, annotation, pages and app.py; tests and benchmarks are counted apart. Below the wall is audit/pipeline,
which makes releases; above it is everything that reads one. A room is a folder of the top level, and each side of audit; an
arrow is an import, or several, from one room to another; a room's floor is one above the highest room that it imports.

A budget that is too small is raised in a commit that says why. CI runs `python .ci/measure.py --check`.
"""

from __future__ import annotations

import ast
import io
import os
import re
import resource
import subprocess
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median

PRODUCT = ("audit", "annotation", "pages", "app.py")
PIPELINE = "audit/pipeline"
ROOMS = ("app", "pages", "annotation", "audit.pipeline", "audit", "benchmarks", ".ci")
"""Top rooms by the beginning of a module's name; the first that fits counts."""
DOCUMENTS = ("README.md", "CHANGELOG.md", "data/README.md", "audit/README.md", "benchmarks/README.md", "annotation/README.md")
FIELD = "edition_of"
"""A field of a handbook; its homes are the files that name it where a record is declared, read, loaded or written."""
HOMES = ("audit/release", "audit/store", "audit/pipeline", "data")
COMMANDS = (("--version",), ("--help",))
ROUNDS = 5
BUDGETS = {
    # Corrections and doubts of documents with their page, latent positions, always-valid figures, limits of visitors; blinding
    # measured with its exit question, own account with a second factor, where the judge errs, decisions, verdicts' quotes, total
    # intervals by group, one backup of all; the source papers reproduced, with their departures; the figures of MedRGB by set of
    # questions, retrieval and model, and the document of a sub-answer; error rates by two readings; lists of
    # our own, scripts compressed; configurations of retrieval; figures drawn once for all visitors; a system of one's own in
    # the place of a paper's; titles that state findings, strips, stacked bars, fonts in part; why a printed figure is missing;
    # what one's own handbook says to a question, a search of all texts for it
    "lines above the wall": 76_950,
    # Extraction learns bullets and spacing, reads panels, tags and tables by cells, and divides long sections; replies checked;
    # stress tests from a library: topics, MedCPT, pages of a web search, documents rewritten as a whole; one corpus, ablations;
    # replies in plain words and in the layout of printed prompts; stems by language; tables and panels that touch, boxes of
    # drawings, weights of fonts that files have wrong; tables whose cells a PDF tags; a column of cells below a lead; tables
    # beside a caption, their heads of several lines, colors that only headings have; words of a question weighed by rarity
    # among the run's questions; passages that begin within a list; leaflets by their folds, columns by rules and headings;
    # titles above lists beside each other; Ask by two readings that have to agree; heads of tables by a shade of their own,
    # columns of colons
    "lines below the wall": 41_290,
    "homes of a field": 1,
    "arrows between top rooms": 10,
    "floors": 4,
    "imports across the wall": 0,
    "class names with several meanings": 0,
    "typed lists of labels": 0,
    "files of over 500 lines": 0,
}
"""Name of a figure -> the most that it may be."""


def main() -> int:
    """Print every figure of the checkout, or check the budgets; the exit code."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    root = Path(arguments[0] if arguments else Path(__file__).parents[1]).resolve()
    if "--check" not in sys.argv:
        for name, value in [*sizes(root), *structure(root), *commands(root)]:
            print(f"{name:45} {value}")
        return 0
    measured = dict([*sizes(root), *structure(root)])
    over = [
        f"{name}: {measured[name]}, but the budget is {most:,}. Delete something, or raise it in .ci/measure.py and say why."
        for name, most in BUDGETS.items()
        if int(measured[name].split()[0].replace(",", "")) > most
    ]
    print("\n".join(over) or f"Budgets: {len(BUDGETS)} kept.")
    return bool(over)


def sizes(root: Path) -> Iterator[tuple[str, str]]:
    """Name and value of each figure of the files."""
    files = list(modules(root, PRODUCT))
    texts = {path: path.read_text(encoding="utf-8") for path in files}
    lines = {path: text.count("\n") for path, text in texts.items()}
    below = [path for path in files if path.is_relative_to(root / PIPELINE)]
    functions = [length for text in texts.values() for length in function_lengths(text)]
    classes = several_meanings(root, files)
    yield "modules", str(len(files))
    yield "lines", f"{sum(lines.values()):,}"
    yield "lines above the wall", f"{sum(lines.values()) - sum(lines[path] for path in below):,}"
    yield "lines below the wall", f"{sum(lines[path] for path in below):,}"
    yield "lines of tests", f"{lines_of(root, 'tests'):,}"
    yield "lines of benchmarks", f"{lines_of(root, 'benchmarks'):,}"
    yield "class names", str(classes[0])
    yield "class names with several meanings", f"{len(classes[1])} {', '.join(sorted(classes[1]))}".strip()
    yield "median file, lines", f"{median(lines.values()):.0f}"
    yield "files of over 500 lines", str(sum(count > 500 for count in lines.values()))
    yield "median function, lines", f"{median(functions):.0f}"
    yield "longest function, lines", str(max(functions))
    yield "lines of over 110 columns", f"{sum(len(line) > 110 for text in texts.values() for line in text.splitlines()):,}"
    yield "# fmt: skip", str(sum(text.count("# fmt: skip") for text in texts.values()))
    yield "share of lines with a comment", f"{100 * sum(map(comment_lines, texts.values())) / sum(lines.values()):.1f} %"
    yield "Any", f"{sum(len(ANY.findall(text)) for text in texts.values()):,}"
    yield "dict[str, Any]", f"{sum(text.count('dict[str, Any]') for text in texts.values()):,}"
    yield "typed lists of labels", str(sum(typed_labels(path, text) for path, text in texts.items()))
    for name in DOCUMENTS:
        yield f"bytes of {name}", f"{(root / name).stat().st_size:,}"
    yield "lines of pyproject.toml", str((root / "pyproject.toml").read_text().count("\n"))


def structure(root: Path) -> Iterator[tuple[str, str]]:
    """Name and value of each figure of the imports."""
    imports = import_graph(root)
    arrows = {(room(a), room(b)) for a, targets in imports.items() for b in targets} - {(name, name) for name in ROOMS}
    importers: Counter[str] = Counter(target for targets in imports.values() for target in targets)
    homes = [path for place in HOMES for path in (root / place).rglob("*") if path.suffix in (".py", ".sql", ".md")]
    yield "floors", str(max(floors(arrows).values(), default=1))
    yield "arrows between top rooms", f"{len(arrows)}"
    yield "imports across the wall", str(
        sum(room(b) == "audit.pipeline" for a, targets in imports.items() for b in targets
            if room(a) in ("pages", "annotation", "audit", "app"))
    )  # fmt: skip
    yield "modules with one importer", str(sum(count == 1 for count in importers.values()))
    yield "homes of a field", str(sum(FIELD in path.read_text(encoding="utf-8") for path in homes))


def commands(root: Path) -> Iterator[tuple[str, str]]:
    """What commands cost that do nothing yet."""
    for command in COMMANDS:
        yield f"CPU s of audit {' '.join(command)}", f"{cpu_seconds(root, command):.2f}"


def lines_of(root: Path, place: str) -> int:
    """The lines of Python at a place."""
    return sum(path.read_text(encoding="utf-8").count("\n") for path in modules(root, (place,)))


ANY = re.compile(r"\bAny\b")
LABELS = ("ABSENT", "CONSISTENT", "COMPLEMENTARY", "DIVERGENT", "CONTRADICTORY")
LABEL = rf"(?:\b(?:Label\.)?(?:{'|'.join(LABELS)})\b)"
TYPED_LABELS = re.compile(rf"['\"]?{LABEL}['\"]?\s*,\s*['\"]?{LABEL}|(?:<>|!=|=)\s*'{LABEL}'")
VOCABULARY = "audit/vocabulary.py"


def typed_labels(path: Path, text: str) -> int:
    """How often code lists labels, or compares one in SQL, instead of naming a set of the vocabulary."""
    if path.as_posix().endswith(VOCABULARY):
        return 0
    strings = (token.string for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type != tokenize.COMMENT)
    code = " ".join(string for string in strings if not (string.startswith('"""') and "select" not in string))
    return len(TYPED_LABELS.findall(code))


def import_graph(root: Path) -> dict[str, set[str]]:
    """Module -> the modules of the checkout that it imports; tests are left out."""
    places = (*PRODUCT, "benchmarks", ".ci")
    paths = {module_name(root, path): path for place in places for path in all_modules(root, place)}
    return {name: set(imported(path, paths)) - {name} for name, path in paths.items()}


def module_name(root: Path, path: Path) -> str:
    """The dotted name of a module."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def all_modules(root: Path, place: str) -> list[Path]:
    """Every Python file of a place."""
    return [root / place] if place.endswith(".py") else sorted((root / place).rglob("*.py"))


def imported(path: Path, known: Mapping[str, Path]) -> Iterator[str]:
    """The known modules that a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in known else node.module for name in names if name in known or node.module in known)


def room(module: str) -> str:
    """The top room of a module."""
    return next(name for name in ROOMS if module == name or module.startswith(f"{name}."))


def floors(arrows: set[tuple[str, str]]) -> dict[str, int]:
    """Room -> its floor, from 1. Rooms in a circle would never settle, so the number of rounds is limited."""
    floor = {name: 1 for arrow in arrows for name in arrow}
    for _ in floor:
        for above, below in arrows:
            floor[above] = max(floor[above], floor[below] + 1)
    return floor


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
    sys.exit(main())
