"""How numbers are written everywhere: halves are rounded away from zero, and what rounds to zero has no sign.

0.0625 becomes 0.063 and 6.3 %, as in spreadsheets and browsers. Python's own formats round a half to the even digit (0.062),
and a decimal half without an exact binary form (0.0375) up or down, depending on its binary value.
"""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Context, Decimal
from numbers import Integral
from typing import SupportsFloat

MINUS = "\N{MINUS SIGN}"
CONTEXT = Context(prec=400, rounding=ROUND_HALF_UP)
"""Enough digits for the largest float with any number of decimals in use."""


def typed(value: float, digits: int) -> str:
    """`-1234.50`, as typed on a keyboard: for terminals, and for tables that programs may read."""
    return f"{rounded(value, digits):z.{digits}f}"


def fixed(value: float, digits: int) -> str:
    """`1,234.50`, with thousands separators and a typographic minus."""
    return f"{rounded(value, digits):z,.{digits}f}".replace("-", MINUS)


def signed(value: float, digits: int) -> str:
    """A change: `+1,234.50`, with a typographic minus where it is negative."""
    text = f"{rounded(value, digits):+z,.{digits}f}".replace("-", MINUS)
    return text if any(digit in text for digit in "123456789") else text.lstrip("+")


def rounded(value: SupportsFloat, digits: int) -> Decimal | float:
    """The number rounded in decimal digits, halves away from zero; NaN and infinity unchanged."""
    if isinstance(value, Integral):
        return Decimal(int(value))
    number = float(value)
    if not math.isfinite(number):
        return number
    return Decimal(repr(number)).quantize(Decimal(1).scaleb(-digits), context=CONTEXT)
