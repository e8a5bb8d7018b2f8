"""How a number is written, wherever one is written: a half is rounded away from zero, what rounds to zero has no sign.

0.0625 is 0.063 and 6.3 %, as a spreadsheet and a browser's table have it. Python's own formats round a half to the even
digit (0.062), and one that binary digits only come near to (0.0375) up or down as that falls.
"""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Context, Decimal
from numbers import Integral
from typing import SupportsFloat

MINUS = "\N{MINUS SIGN}"
ROOM = Context(prec=400, rounding=ROUND_HALF_UP)
"""Enough digits for the largest number with as many decimals as anybody asks for."""


def typed(value: float, digits: int) -> str:
    """`-1234.50`, as a person types it: for a terminal, and for a table that a program may read."""
    return f"{rounded(value, digits):z.{digits}f}"


def fixed(value: float, digits: int) -> str:
    """`1,234.50` to as many decimals, with a typeset minus."""
    return f"{rounded(value, digits):z,.{digits}f}".replace("-", MINUS)


def signed(value: float, digits: int) -> str:
    """A change: `+1,234.50`, and a typeset minus where it is one."""
    told = f"{rounded(value, digits):+z,.{digits}f}".replace("-", MINUS)
    return told if any(digit in told for digit in "123456789") else told.lstrip("+")


def rounded(value: SupportsFloat, digits: int) -> Decimal | float:
    """The number as it reads in decimal digits, a half away from zero; NaN and infinity as they are."""
    if isinstance(value, Integral):
        return Decimal(int(value))
    number = float(value)
    if not math.isfinite(number):
        return number
    return Decimal(repr(number)).quantize(Decimal(1).scaleb(-digits), context=ROOM)
