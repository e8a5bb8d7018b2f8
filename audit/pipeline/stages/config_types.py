"""The kinds of value in a config of `audit run`: texts, paths that count from the config's folder, names of models."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo

from audit.vocabulary import nearest


def _text(value: Any) -> Any:
    """Stripped of surrounding spaces. An empty text is not allowed: the option must be left out instead."""
    if isinstance(value, str) and not value.strip():
        raise ValueError("is empty: leave the option out instead.")
    return value.strip() if isinstance(value, str) else value


def _path(value: Any, info: ValidationInfo) -> object:
    """Paths count from the folder of the config, which the reader passes as context."""
    return ((info.context or {})["folder"] / Path(_text(value)).expanduser()).resolve() if isinstance(value, str) else value


def _existing(path: Path) -> Path:
    if not path.exists():
        raise ValueError(f"is {path}, which does not exist.")
    return path


def _name_or_path(value: Any, info: ValidationInfo) -> object:
    """A model may be named, or lie in a folder: an existing path is made absolute, anything else is a name."""
    path = _path(value, info)
    return str(path) if isinstance(path, Path) and path.exists() else _text(value)


def one_of(allowed: tuple[str, ...]) -> Callable[[str], str]:
    """Checks that a value is one of `allowed`; ValueError with the nearest of them otherwise."""

    def check(value: str) -> str:
        if value not in allowed:
            raise ValueError(f"is '{value}'.{nearest(value, allowed)} Allowed: {', '.join(allowed)}.")
        return value

    return check


Text = Annotated[str, BeforeValidator(_text)]
NewPath = Annotated[Path, BeforeValidator(_path)]
ExistingPath = Annotated[Path, BeforeValidator(_path), AfterValidator(_existing)]
NameOrPath = Annotated[str, BeforeValidator(_name_or_path)]
# Not strict: TOML has lists, and the fields are tuples.
Texts = Annotated[tuple[Text, ...], Field(strict=False)]


class ConfigSection(BaseModel):
    """A section of the config. An unknown option is an error; a number in quotes is not a number."""

    # Lax conversion would silently take 1 for true and "5" for a number.
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)
