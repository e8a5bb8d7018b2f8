"""From a TOML file to a Config, or one sentence that says which line will not do, and what is allowed."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from audit.errors import ConfigError
from audit.pipeline.config import SECTIONS, TERMS, Config, options_of
from audit.pipeline.options import PATH, BadValueError, read_value
from audit.vocabulary import nearest

RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
HEAD, KEY = re.compile(r"\s*\[\[?([^\[\]]+)\]"), re.compile(r"\s*([\w.\"' -]+?)\s*=")
NO_MODEL = "none"
NOTHING = "Nothing was done."


def read_config(path: Path) -> Config:
    """The config in `path`. Raises ConfigError, with the line, where something in it is unknown or will not do."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        raw = tomllib.loads(text)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read ({error.strerror}). {NOTHING}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 (byte {error.start:,}): save it as UTF-8. {NOTHING}") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is no TOML: {error}. {NOTHING}") from None
    return Reader(path, text).config(raw)


class Reader:
    """Reads one config, whose text it needs to tell lines."""

    def __init__(self, path: Path, text: str) -> None:
        self.path, self.places = path, places_in(text.splitlines())

    def config(self, raw: dict[str, Any]) -> Config:
        """The config of a parsed file."""
        for name in raw:
            if name not in SECTIONS:
                self._refuse(name, "", f"there is no section '{name}'.{nearest(name, tuple(SECTIONS))}", tuple(SECTIONS))
        config = Config(self.path.resolve(), **{name: self._section(name, raw.get(name, {})) for name in SECTIONS})
        self._check(config)
        return replace(config, release=replace(config.release, run_id=config.release.run_id or self.path.stem))

    def _section(self, section: str, raw: Any) -> Any:
        if not isinstance(raw, dict):
            self._refuse(section, "", f"'{section}' is a section and has options of its own: [{section}]")
        known = options_of(section)
        for name in raw:
            if name not in known:
                self._refuse(section, name, f"[{section}] has no option '{name}'.{nearest(name, tuple(known))}", tuple(known))
        return SECTIONS[section](**{name: self._value(section, name, value) for name, value in raw.items()})

    def _value(self, section: str, name: str, value: Any) -> Any:
        told = options_of(section)[name]
        try:
            found = read_value(told, value, self.path.resolve().parent)
        except BadValueError as error:
            self._refuse(section, name, f"{name} {error}")
        if told.kind == PATH and name != "work" and not found.exists():
            self._refuse(section, name, f"{name} is {found}, and there is no such file or folder.")
        return found

    def _check(self, config: Config) -> None:
        if (config.corpus.pdfs is None) == (config.corpus.documents is None):
            self._refuse("corpus", "documents", "[corpus] needs pdfs, or documents in their place, and not both.")
        if config.questions.file is None:
            self._refuse("questions", "", "[questions] needs file, the questions to ask.")
        for name in config.corpus.terms:
            if name not in TERMS:
                self._refuse("corpus.terms", name, f"there is no term '{name}'.{nearest(name, TERMS)}", TERMS)
        if config.themes.model == NO_MODEL:
            self._refuse("themes", "model", f"model is '{NO_MODEL}', and themes need one. Allowed: words, or a sentence model.")
        if config.release.run_id and not RUN_ID.fullmatch(config.release.run_id):
            self._refuse(
                "release",
                "run_id",
                f"run_id is '{config.release.run_id}'. Letters, digits, dots, dashes and underscores may be in it.",
            )

    def _refuse(self, section: str, name: str, said: str, allowed: tuple[str, ...] = ()) -> None:
        known = f" Allowed: {', '.join(allowed)}." if allowed else ""
        raise ConfigError(f"{self.path}, line {self._line(section, name)}: {said}{known} {NOTHING}")

    def _line(self, section: str, name: str) -> int:
        """The line on which an option stands, or else what it is in; 1 where neither is found."""
        wanted = f"{section}.{name}".strip(".")
        while wanted and wanted not in self.places:
            wanted = wanted.rpartition(".")[0]
        return self.places.get(wanted, 1)


def places_in(lines: Iterable[str]) -> dict[str, int]:
    """`section` and `section.option` -> the first line, from 1, that begins it. tomllib tells no places of what it has read."""
    found: dict[str, int] = {}
    section = ""
    for number, line in enumerate(lines, start=1):
        if head := HEAD.match(line):
            section = plain(head[1])
            found.setdefault(section, number)
        elif key := KEY.match(line):
            found.setdefault(f"{section}.{plain(key[1])}".strip("."), number)
    return found


def plain(name: str) -> str:
    """A dotted name without quotes and spaces."""
    return re.sub(r"[\s\"']", "", name)
