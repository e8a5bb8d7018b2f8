"""How a number is written, wherever one is written: what rounds to zero has no sign."""

from __future__ import annotations

MINUS = "\N{MINUS SIGN}"


def typed(value: float, digits: int) -> str:
    """`-1234.50`, as a person types it: for a terminal, and for a table that a program may read."""
    return f"{value:z.{digits}f}"


def fixed(value: float, digits: int) -> str:
    """`1,234.50` to as many decimals, with a typeset minus."""
    return f"{value:z,.{digits}f}".replace("-", MINUS)


def signed(value: float, digits: int) -> str:
    """A change: `+1,234.50`, and a typeset minus where it is one."""
    told = f"{value:+z,.{digits}f}".replace("-", MINUS)
    return told if any(digit in told for digit in "123456789") else told.lstrip("+")
