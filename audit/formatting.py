"""How values are written in all output: numbers, texts in spreadsheet cells, tables in Markdown.

Halves are rounded away from zero, and what rounds to zero has no sign: 0.0625 becomes 0.063 and 6.3 %, as in spreadsheets and
browsers. Python's own formats round a half to the even digit (0.062), and a decimal half without an exact binary form (0.0375)
up or down, depending on its binary value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from numbers import Integral
from typing import SupportsFloat
from unicodedata import bidirectional

MINUS = "\N{MINUS SIGN}"
MAX_TEXT_LENGTH = 20_000
"""Characters of a text that are compared and shown; no handbook's answer comes near, a broken release may."""
# Enough digits for the largest float with any number of decimals in use.
CONTEXT = Context(prec=400, rounding=ROUND_HALF_UP)


def typed(value: float, digits: int) -> str:
    """`-1234.50`, as typed on a keyboard: for terminals, and for tables that programs may read."""
    return f"{rounded(value, digits):z.{digits}f}"


def fixed(value: float, digits: int) -> str:
    """`1,234.50`, with thousands separators and a typographic minus."""
    return f"{rounded(value, digits):z,.{digits}f}".replace("-", MINUS)


def signed(value: float, digits: int) -> str:
    """A signed change: `+1,234.50`, with a typographic minus if it is negative."""
    text = f"{rounded(value, digits):+z,.{digits}f}".replace("-", MINUS)
    # A change that rounds to zero has no sign, so nobody reads +0.0 as a rise.
    return text if any(digit in text for digit in "123456789") else text.lstrip("+")


BEFORE_PERCENT = re.compile(r"(?<=\d) (?=\\?%)")


def unbroken(text: str) -> str:
    """The text, with every number and its percent sign on one line."""
    return BEFORE_PERCENT.sub("\N{NO-BREAK SPACE}", text)


def rounded(value: SupportsFloat, digits: int) -> Decimal | float:
    """The number rounded in decimal digits, halves away from zero; NaN and infinity unchanged."""
    if not isinstance(value, float) and isinstance(value, Integral):
        return Decimal(int(value))
    number = float(value)
    if not math.isfinite(number):
        return number
    # `repr` is the shortest decimal that a person would type: 0.0375, not the binary value just below or above it.
    return Decimal(repr(number)).quantize(Decimal(1).scaleb(-digits), context=CONTEXT)


def duration(seconds: float) -> str:
    """A time in the unit that a person would choose: `60 s`, `10 min`, `25.0 hours`."""
    if seconds < 100:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 3600:.1f} hours" if seconds >= 3600 else f"{round(seconds / 60)} min"


def some_of(names: Sequence[str], most: int = 3) -> str:
    """The first few names of a list: `a, b, c and 4 more`."""
    rest = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{rest}"


# Controls but tab and line ends, halves of surrogate pairs, and what is no character: they break pictures, databases, terminals
UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]")
SURROGATE = re.compile(r"[\ud800-\udfff]")
# The start of a text that a spreadsheet may run as a formula (full-width forms too), or that looks like output of `safe_cell`.
FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
ESCAPED = re.compile(r"'+[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
# Where Markdown renderers turn a bare address into a link, whatever is escaped: after http and www, before an @ whose host
# has a dot. The @ of a run's key stays as it is: people copy keys from pages into commands.
ADDRESS = re.compile(r"(?<=http)(?=s?:)|(?<=www)(?=\.)|(?:(?<=ftp)|(?<=mailto)|(?<=xmpp))(?=:)|(?=@[\w-]+\.)", re.IGNORECASE)
WORD_JOINER = "\N{WORD JOINER}"


def shortened(text: str) -> str:
    """`text`, cut with a notice where it is longer than any real answer."""
    if len(text) <= MAX_TEXT_LENGTH:
        return text
    return f"{text[:MAX_TEXT_LENGTH]} ... (cut after {MAX_TEXT_LENGTH:,} of {len(text):,} characters)"


def printable(text: str) -> str:
    """`text` with a space for each control character but tab and line ends, and U+FFFD for half a surrogate pair."""
    return SURROGATE.sub("\N{REPLACEMENT CHARACTER}", UNPRINTABLE.sub(" ", text))


# Around a text whose own first letter decides its direction
ISOLATE, END_ISOLATE = "\N{FIRST STRONG ISOLATE}", "\N{POP DIRECTIONAL ISOLATE}"
RIGHT_TO_LEFT = ("R", "AL")


def isolated(text: str) -> str:
    """`text`, in its own direction where it has letters that are written from right to left; for a place without `dir`."""
    is_right_to_left = any(letter > "\u0590" and bidirectional(letter) in RIGHT_TO_LEFT for letter in text)
    return f"{ISOLATE}{text}{END_ISOLATE}" if is_right_to_left else text


def unlinked(text: str) -> str:
    """`text` with an invisible word joiner inside each bare web or e-mail address, so no renderer turns it into a link."""
    return ADDRESS.sub(WORD_JOINER, text)


def safe_cell(value: object) -> object:
    """Text that a spreadsheet would run as a formula gets a leading apostrophe; numbers stay numbers."""
    return f"'{value}" if isinstance(value, str) and FORMULA.match(value) else value


def plain_cell(text: str) -> str:
    """The inverse of `safe_cell`, for every text."""
    return text[1:] if ESCAPED.match(text) else text


def escape_markdown(text: str) -> str:
    """Text that cannot break out of a Markdown table cell and does not become a link."""
    return re.sub(r"([\\|`*_\[\]<>$])", r"\\\1", unlinked(" ".join(printable(text).split())))


def text_table(rows: Sequence[Sequence[str]]) -> str:
    """A table in plain text, whose first row is its head; columns of numbers and `-` are aligned right."""
    columns = map(_aligned, zip(*rows, strict=True))
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))


def _aligned(column: Sequence[str]) -> list[str]:
    width = max(map(len, column))
    numbers = all(cell[:1].isdigit() or cell == "-" for cell in column[1:])
    return [cell.rjust(width) if numbers else cell.ljust(width) for cell in column]


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]], rules: Sequence[str] = ()) -> str:
    """A table of cells that are already escaped; `rules` are the dashes under the header, `---:` to align right."""
    lines = (header, rules or ["---"] * len(header), *rows)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
