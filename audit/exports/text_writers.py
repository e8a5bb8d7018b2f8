"""Tables as CSV, Markdown, JSON and LaTeX (booktabs): the only writer of each."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Sequence
from typing import Any

import pandas as pd

from audit.exports.table_model import Table, known, metric_table, with_notice_column
from audit.formatting import MINUS, escape_markdown, markdown_table, printable, safe_cell
from audit.metrics import METRICS
from audit.previews import preview_notice
from audit.store.runs import Run
from audit.tables import HIGH, LOW, Column, ColumnKind
from audit.terms import fill

# A table with more lines is set over several pages
MAX_LINES = 40
# A column with longer texts is set as a paragraph
MAX_UNBROKEN = 40
PARAGRAPH = r">{{\raggedright\arraybackslash}}p{{{share}\linewidth}}"
PARAGRAPH_SHARES = {1: 0.3, 2: 0.22}
# Of the line, for each of more than two paragraphs
MIN_PARAGRAPH_SHARE = 0.16
# With more columns than this, a paragraph gets less room
MAX_BESIDE_PARAGRAPHS = 10
# Letters on a line of the page, in the size of a table over several pages
LETTERS_PER_LINE = 120
# A table over several pages with more columns is set in landscape
MAX_UPRIGHT = 6
SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": "$<$", ">": "$>$", "|": "$|$", '"': "''", "`": r"\`{}",
    "[": "{[}", "]": "{]}", "\N{HORIZONTAL ELLIPSIS}": r"\ldots{}",
    MINUS: "$-$", "\N{EN DASH}": r"\textendash{}", "\N{GREEK SMALL LETTER KAPPA}": r"$\kappa$", "\N{MIDDLE DOT}": r"$\cdot$",
    "\N{GREATER-THAN OR EQUAL TO}": r"$\geq$", "\N{LESS-THAN OR EQUAL TO}": r"$\leq$", "\N{NOT EQUAL TO}": r"$\neq$",
}  # fmt: skip
PORTRAIT = r"\begingroup\scriptsize", r"\endgroup"
LANDSCAPE = r"\begin{landscape}\scriptsize", r"\end{landscape}"
UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f]+")
PREAMBLE = r"""% Needs array, booktabs, graphicx, longtable and pdflscape; compile with pdflatex or lualatex, twice.
\documentclass[10pt]{article}
\usepackage{iftex}
\ifpdftex
  \usepackage[utf8]{inputenc}
  \usepackage{textcomp}
  \IfFileExists{lmodern.sty}{\usepackage[T1]{fontenc}\usepackage{lmodern}}{}
  % A letter that the fonts of pdflatex lack is printed as [?]; lualatex knows more of them.
  \makeatletter\def\UTFviii@undefined@err#1{[?]}\makeatother
\else
  \usepackage{fontspec}
\fi
\usepackage[a4paper,margin=18mm]{geometry}
\usepackage{array,booktabs,longtable,graphicx,pdflscape}
\setlength{\LTpre}{0pt}
% Here tables follow one another; in a paper they float.
\makeatletter
\renewenvironment{table}[1][]{\par\addvspace{2\bigskipamount}\noindent\begin{minipage}{\linewidth}\def\@captype{table}}
  {\end{minipage}\par}
\makeatother
\begin{document}
"""


def csv_text(frame: pd.DataFrame, notice: str = "") -> str:
    """The frame as CSV; an unknown value is an empty cell, and no cell runs as a formula.

    notice  what a reader must know of a preview; a last column repeats it, because a line of its own would break the table
    """
    frame = with_notice_column(frame, notice)
    # Numeric columns are left alone: a leading minus is a sign there and not the beginning of a formula.
    safe = frame.apply(lambda column: column if pd.api.types.is_numeric_dtype(column) else column.map(_csv_cell))
    lines = _Lines()
    safe.rename(columns=_csv_cell).to_csv(lines, index=False, lineterminator="\r\n")
    return lines.getvalue()


class _Lines(io.StringIO):
    """Rows of CSV that end in a line feed; the writer is told otherwise, or it would leave a bare carriage return unquoted."""

    def write(self, row: str) -> int:
        return super().write(row.removesuffix("\r\n") + "\n")


def _csv_cell(value: object) -> object:
    # Cleaned first: a spreadsheet drops a NUL, and what follows it would begin the cell.
    return safe_cell(printable(value) if isinstance(value, str) else value)


def csv_bytes(frame: pd.DataFrame, notice: str = "") -> bytes:
    """`csv_text` as UTF-8 with a byte order mark, which Excel needs to read accents right."""
    return csv_text(frame, notice).encode("utf-8-sig")


def csv_table(table: Table) -> bytes:
    """A table as CSV: numbers as numbers, the ends of intervals in columns of their own."""
    return csv_bytes(table.typed())


def file_name(run: Run, name: str) -> str:
    """`run-id_digest_name.csv`, so the name of a downloaded file identifies its data."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", f"{run.run_id}_{run.digest[:8]}_{name}") + ".csv"


def markdown(table: Table) -> str:
    """Title, table and notes as Markdown; numbers are aligned right."""
    table = table.for_print()
    notes = [escape_markdown(note) for note in (table.n, *table.notes) if note]
    return "\n\n".join([f"**{escape_markdown(table.title)}**", markdown_rows(table), *notes]) + "\n"


def markdown_rows(table: Table) -> str:
    """A table as Markdown without its title and notes."""
    heads = [escape_markdown(column.label) for column in table.columns]
    rules = ["---" if column.is_text else "---:" for column in table.columns]
    return markdown_table(heads, [[escape_markdown(cell) for cell in line] for line in table.lines()], rules)


def markdown_text(frame: pd.DataFrame, run: Run, name: str) -> str:
    """The frame of a metric as Markdown, by the metric's table specification."""
    return markdown(metric_table(name, frame, run).as_preview(preview_notice(run.manifest)))


def json_text(frame: pd.DataFrame, run: Run, name: str) -> str:
    """The frame of a metric with every column: `{"metric", "run", "digest", "rows": [...]}`; an unknown value is null.

    A run that rules made has `preview` too, the notice of `audit.previews`, and a metric with intervals `intervals_speak_of`.
    """
    rows = json.loads(frame.to_json(orient="records", force_ascii=False, double_precision=15))
    preview = {"preview": notice} if (notice := preview_notice(run.manifest)) else {}
    population = METRICS[name].table.population
    spoken_of = {"intervals_speak_of": fill(run, population)} if population else {}
    content = {"metric": name, "run": run.run_id, "digest": run.digest, **preview, **spoken_of, "rows": rows}
    return json.dumps(content, ensure_ascii=False, indent=1)


def json_table(table: Table, run: Run) -> str:
    """`{name, title, n, run, digest, columns, rows, notes}`; ends of intervals follow their values, unknown is null."""
    cells = {name: values for column in table.columns for name, values in _json_columns(table, column.name).items()}
    columns = [
        {"name": column.name, "header": column.heading, "unit": column.unit, "kind": json_kind(column.kind)}
        for column in table.columns
    ]
    preview = {"preview": table.preview} if table.preview else {}
    preview |= {"intervals_speak_of": table.population} if table.population else {}
    content = {
        "name": table.name, "title": table.title, "n": table.n, **preview, "run": run.key, "digest": run.digest,
        "columns": columns,
        "rows": [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)], "notes": list(table.notes),
    }  # fmt: skip
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def _json_columns(table: Table, name: str) -> dict[str, list[Any]]:
    column = next(column for column in table.columns if column.name == name)
    columns = {name: _json_values(table.values(column))}
    if table.has_interval(column):
        columns |= {name + end: _json_values(pd.to_numeric(table.frame[name + end]).astype(float)) for end in (LOW, HIGH)}
    return columns


def _json_values(values: pd.Series) -> list[Any]:
    return [value if known(value) else None for value in values.tolist()]


def json_kind(kind: ColumnKind) -> str:
    """The word for the kind of a column in JSON and HTML files."""
    # Files have known these three kinds since the first version.
    return {ColumnKind.NAME: "text", ColumnKind.SHARE: "decimal"}.get(kind, kind.value)


# -- LaTeX -------------------------------------------------------------------------------------------------------------


def latex_document(tables: Sequence[Table]) -> str:
    """A document that typesets the files of the tables, which are in the same folder."""
    return PREAMBLE + "".join(f"\\input{{{table.name}.tex}}\n\\par\\bigskip\n" for table in tables) + "\\end{document}\n"


def latex(table: Table) -> str:
    """The table alone, for an input command: caption, rules, footnotes. Every text is escaped."""
    paper = table.for_print()
    return (_long if _height(paper) > MAX_LINES else _short)(paper)


def _height(table: Table) -> int:
    """How many lines a table takes, with those that its paragraphs are broken into."""
    share, wide = _share(table), [_is_wide(table, column) for column in table.columns]
    return sum(
        max(1, *(math.ceil(len(cell) / (share * LETTERS_PER_LINE)) for cell, broken in zip(line, wide, strict=True) if broken), 1)
        for line in table.lines()
    )


def _share(table: Table) -> float:
    """The share of the line that each paragraph gets."""
    paragraphs = sum(_is_wide(table, column) for column in table.columns)
    return PARAGRAPH_SHARES.get(paragraphs + (len(table.columns) > MAX_BESIDE_PARAGRAPHS), MIN_PARAGRAPH_SHARE)


def _is_wide(table: Table, column: Column) -> bool:
    if not column.is_text or table.frame.empty:
        return False
    return int(table.frame[column.name].map(lambda value: len(column.display(value))).max()) > MAX_UNBROKEN


def escaped(text: str) -> str:
    """Text escaped for LaTeX."""
    return "".join(SPECIAL.get(letter, letter) for letter in UNPRINTABLE.sub(" ", text))


def _short(table: Table) -> str:
    return "\n".join(
        [
            r"\begin{table}[htbp]", r"\centering", _caption(table), r"\footnotesize", r"\setlength{\tabcolsep}{4pt}",
            r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            f"\\begin{{tabular}}{{@{{}}{_alignment(table)}@{{}}}}", *_head(table), *_body(table), r"\bottomrule",
            r"\end{tabular}}", *_notes(table), r"\end{table}", "",
        ]
    )  # fmt: skip


def _long(table: Table) -> str:
    head, (opening, closing) = _head(table), (LANDSCAPE if len(table.columns) > MAX_UPRIGHT else PORTRAIT)
    return "\n".join(
        [
            opening + r"\setlength{\tabcolsep}{4pt}\setlength{\LTcapwidth}{\linewidth}",
            f"\\begin{{longtable}}{{@{{}}{_alignment(table)}@{{}}}}",
            _caption(table) + r"\\", *head, r"\endfirsthead", *head, r"\endhead", r"\bottomrule", r"\endfoot", *_body(table),
            r"\end{longtable}", *_notes(table), closing, "",
        ]
    )  # fmt: skip


def _caption(table: Table) -> str:
    n = f" ({escaped(table.n)})" if table.n else ""
    return f"\\caption{{{escaped(table.title)}{n}}}\\label{{tab:{table.name}}}"


def _alignment(table: Table) -> str:
    return "".join(_aligned(table, column) for column in table.columns)


def _aligned(table: Table, column: Column) -> str:
    if not column.is_text:
        return "r"
    return PARAGRAPH.format(share=_share(table)) if _is_wide(table, column) else "l"


def _head(table: Table) -> list[str]:
    rows = [[column.heading for column in table.columns]]
    if table.has_units:
        rows.append([f"({column.unit})" if column.unit else "" for column in table.columns])
    return [r"\toprule", *(" & ".join(map(escaped, row)) + r" \\" for row in rows), r"\midrule"]


def _body(table: Table) -> list[str]:
    return [" & ".join(map(escaped, line)) + r" \\" for line in table.lines()]


def _notes(table: Table) -> list[str]:
    if not table.notes:
        return []
    notes = r"\par ".join(map(escaped, table.notes))
    return [r"\par\smallskip\noindent", f"\\parbox{{\\linewidth}}{{\\scriptsize\\raggedright {notes}}}"]
