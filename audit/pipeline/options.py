"""One option of a config: what it means, what it may be, and the value that somebody wrote for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from math import isfinite
from pathlib import Path
from typing import Any

from audit.retrieval.settings import RetrievalSettings
from audit.vocabulary import nearest

PATH, NAMED, TEXT, TEXTS, WHOLE, NUMBER, FLAG, WORDS, SETTINGS = (
    "path",
    "named",
    "text",
    "texts",
    "whole",
    "number",
    "flag",
    "words",
    "settings",
)
OPTION = "option"


class BadValueError(ValueError):
    """Why a value will not do, as the end of a sentence that begins with the option's name."""


@dataclass(frozen=True)
class Option:
    """What stands in the table of options.

    kind     path (from the config file's folder on), named (a path where there is one, else a name), text, texts, whole,
             number, flag, words (a table of texts), settings (a table: the fields of audit.retrieval.settings.RetrievalSettings)
    words    what it means; unit: of a number
    allowed  the texts it may be; empty: any
    least    the smallest number it may be; most: the largest
    """

    kind: str
    words: str
    unit: str = ""
    allowed: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None


def option(
    kind: str,
    words: str,
    default: Any,
    *,
    unit: str = "",
    allowed: tuple[str, ...] = (),
    least: float | None = None,
    most: float | None = None,
) -> Any:
    """A field of a section of the config, with its line in the table of options."""
    metadata = {OPTION: Option(kind, words, unit, allowed, least, most)}
    if isinstance(default, Mapping):
        return field(default_factory=lambda: dict(default), metadata=metadata)
    return field(default=default, metadata=metadata)


def read_value(told: Option, value: Any, beside: Path) -> Any:
    """`value`, as TOML has it, in the option's own type. Raises BadValueError."""
    found = READERS[told.kind](value, beside)
    for text in found if isinstance(found, tuple) else (found,):
        if told.allowed and text not in told.allowed:
            raise BadValueError(f"is '{text}'.{nearest(str(text), told.allowed)} Allowed: {', '.join(told.allowed)}.")
    if told.least is not None and found < told.least:
        raise BadValueError(f"is {found:g}, and the least it may be is {told.least:g}{_of(told.unit)}.")
    if told.most is not None and found > told.most:
        raise BadValueError(f"is {found:g}, and the most it may be is {told.most:g}{_of(told.unit)}.")
    return found


def _of(unit: str) -> str:
    return f" {unit}" if unit else ""


def _path(value: Any, beside: Path) -> Path:
    return (beside / Path(_text(value, beside)).expanduser()).resolve()


def _named(value: Any, beside: Path) -> str:
    path = _path(value, beside)
    return str(path) if path.exists() else _text(value, beside)


def _text(value: Any, _: Path) -> str:
    if not isinstance(value, str) or not value.strip():
        raise BadValueError(f"is {_shown(value)}, and must be a text in quotes.")
    return value.strip()


def _texts(value: Any, beside: Path) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise BadValueError(f'is {_shown(value)}, and must be a list of texts: ["one", "two"].')
    return tuple(_text(each, beside) for each in value)


def _whole(value: Any, _: Path) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadValueError(f"is {_shown(value)}, and must be a whole number.")
    return value


def _number(value: Any, _: Path) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not isfinite(value):
        raise BadValueError(f"is {_shown(value)}, and must be a number.")
    return float(value)


def _flag(value: Any, _: Path) -> bool:
    if not isinstance(value, bool):
        raise BadValueError(f"is {_shown(value)}, and must be true or false.")
    return value


def _words(value: Any, beside: Path) -> dict[str, str]:
    if not isinstance(value, dict):
        raise BadValueError(f"is {_shown(value)}, and must be a table of texts.")
    return {name: _text(each, beside) for name, each in value.items()}


def _settings(value: Any, beside: Path) -> RetrievalSettings:
    if not isinstance(value, dict):
        raise BadValueError(f"is {_shown(value)}, and must be a table.")
    defaults = {each.name: each.default for each in fields(RetrievalSettings)}
    found: dict[str, Any] = {}
    for name, each in value.items():
        if name not in defaults:
            raise BadValueError(f"has no '{name}'.{nearest(name, tuple(defaults))} Allowed: {', '.join(defaults)}.")
        try:
            found[name] = KINDS[type(defaults[name])](each, beside)
        except BadValueError as error:
            raise BadValueError(f"are refused: {name} {error}") from None
    try:
        return RetrievalSettings(**found)
    except ValueError as error:
        raise BadValueError(f"cannot be: {error}.") from None


def _shown(value: Any) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)[:60]


READERS: dict[str, Callable[[Any, Path], Any]] = {
    PATH: _path, NAMED: _named, TEXT: _text, TEXTS: _texts, WHOLE: _whole, NUMBER: _number, FLAG: _flag, WORDS: _words,
    SETTINGS: _settings,
}  # fmt: skip
KINDS: dict[type[Any], Callable[[Any, Path], Any]] = {
    int: _whole, float: _number, bool: _flag, str: _text, type(None): _path,
    frozenset: lambda value, beside: frozenset(_texts(value, beside)),
}  # fmt: skip
"""By the type of a setting's default, how it is read."""
