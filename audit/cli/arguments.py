"""What an option of a command may be: numbers in their bounds, refused in words by argparse."""

from __future__ import annotations

import argparse

from audit.settings import MAX_PORT

MOST = 1_000_000_000


def count(text: str) -> int:
    """A whole number from 1 on."""
    return _whole(text, 1, f"'{text}' is no number from 1 on")


def count_or_none(text: str) -> int:
    """A whole number from 0 on."""
    return _whole(text, 0, f"'{text}' is no number from 0 on")


def port(text: str) -> int:
    """A port that a server can listen on."""
    return _whole(text, 1, f"'{text}' is no port from 1 to {MAX_PORT}", MAX_PORT)


def share(text: str) -> float:
    """A number from 0 to 1."""
    return _decimal(text, 1, f"'{text}' is no share from 0 to 1")


def distance(text: str) -> float:
    """A cosine distance."""
    return _decimal(text, 2, f"'{text}' is no cosine distance from 0 to 2")


def _whole(text: str, least: int, refusal: str, most: int = MOST) -> int:
    if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
        raise argparse.ArgumentTypeError(refusal)
    return int(text)


def _decimal(text: str, most: float, refusal: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= most:
        raise argparse.ArgumentTypeError(refusal)
    return number
