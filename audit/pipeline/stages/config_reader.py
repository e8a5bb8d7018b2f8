"""Reads the config of `audit run`: from TOML to a `Config`, or one sentence that names the line and what is allowed there."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn, get_args

from pydantic import BaseModel, ValidationError

from audit.errors import ConfigError
from audit.pipeline.retrieval.found import WAYS
from audit.pipeline.retrieval.strategies import CLOSEST
from audit.pipeline.stages.config import MODEL, NONE, PASSAGES, SECTIONS, STAND_IN, TERMS, Config, JudgeOptions, as_written
from audit.pipeline.stages.presets import PRESETS, with_preset
from audit.pipeline.stages.settings_models import TABLES
from audit.pipeline.stages.system_options import search_problems, source_problems
from audit.release.taxonomy import HDBSCAN, HDBSCAN_LIBRARIES
from audit.vocabulary import nearest

# It becomes a folder and a part of file names.
RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
SECTION_HEADING, OPTION_NAME = re.compile(r"\s*\[(\[?)([^\[\]]+)\]"), re.compile(r"\s*+([\w.\"'-](?:[\w.\"' -]*[\w.\"'-])?)\s*=")
NO_MODEL, POSITIONS = "none", "positions"
NOTHING_DONE = "Nothing was done."


def read_config(path: Path, preset: str = "") -> Config:
    """The config in `path`; options left open are taken from the `preset`, if one is named.

    Raises ConfigError, with the line, where an option is unknown or its value is not allowed.
    """
    try:
        # Editors on Windows begin a file with a byte order mark.
        text = path.read_text(encoding="utf-8-sig")
        parsed = tomllib.loads(text)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read ({error.strerror}). {NOTHING_DONE}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 (byte {error.start:,}): save it as UTF-8. {NOTHING_DONE}") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}. {NOTHING_DONE}") from None
    refuse = _Refusal(path, text.splitlines(), preset)
    if "path" in parsed:  # our own field, no section of the file
        refuse(("path",), f"there is no section 'path'. Allowed: {', '.join(SECTIONS)}.")
    try:
        config = Config.model_validate(
            {**with_preset(parsed, preset), "path": path.resolve()}, context={"folder": path.resolve().parent}
        )
    except ValidationError as error:
        # One problem at a time: the first one often causes the others.
        problem = error.errors()[0]
        refuse(problem["loc"], _sentence(problem))
    _check_together(config, refuse)
    # A config needs no run_id: its file name is one.
    release = config.release.model_copy(update={"run_id": config.release.run_id or path.stem})
    return config.model_copy(update={"release": release})


class _Refusal:
    """Raises ConfigError with the line of an option, and the preset where that has set it."""

    def __init__(self, path: Path, lines: list[str], preset: str) -> None:
        self.path, self.lines = path, line_numbers(lines)
        self.preset, self.of_preset = preset, {option.path for option in PRESETS[preset]} if preset else set()

    def __call__(self, location: Iterable[int | str], sentence: str) -> NoReturn:
        place = tuple(map(str, location))
        source = f"By --preset {self.preset}, " if place in self.of_preset and ".".join(place) not in self.lines else ""
        raise ConfigError(f"{self.path}, line {self._line(place)}: {source}{sentence} {NOTHING_DONE}")

    def _line(self, location: Iterable[int | str]) -> int:
        """The line of an option, or else of its section; 1 where neither is written down."""
        wanted = ".".join(str(part) for part in location)
        while wanted and wanted not in self.lines:
            wanted = wanted.rpartition(".")[0]
        return self.lines.get(wanted, 1)


def _check_together(config: Config, refuse: _Refusal) -> None:
    """Checks that involve several options."""
    if (config.corpus.pdfs and config.corpus.documents) or (
        (config.retrieves or config.asks_sources) and not (config.corpus.pdfs or config.corpus.documents)
    ):
        refuse(("corpus", "documents"), "[corpus] needs either pdfs or documents, and not both.")
    if not config.answers_handbooks and not config.systems:
        refuse(("generate", "generator"), f"generator is '{NONE}', so there must be [[systems]] that answer, and there are none.")
    _check_judge(config.judge, refuse)
    _check_generator(config, refuse)
    _check_systems(config, refuse)
    if config.questions.file is None:
        refuse(("questions",), "[questions] needs file, the questions to ask.")
    for name in config.corpus.terms:
        if name not in TERMS:
            refuse(("corpus", "terms", name), f"there is no term '{name}'.{nearest(name, TERMS)} Allowed: {', '.join(TERMS)}.")
    if config.themes.model == NO_MODEL:
        refuse(("themes", "model"), f"model is '{NO_MODEL}', but themes need one. Allowed: words, or a sentence model.")
    if config.themes.method == HDBSCAN and (missing := [name for name in HDBSCAN_LIBRARIES if not find_spec(name)]):
        problem = f"method is 'hdbscan', which needs {', '.join(missing)}, and that is not installed."
        refuse(("themes", "method"), f"{problem} Install the extra `models`, or leave method out.")
    if config.release.run_id and not RUN_ID.fullmatch(config.release.run_id):
        problem = f"run_id is '{config.release.run_id}'. It may contain letters, digits, dots, dashes and underscores."
        refuse(("release", "run_id"), problem)


def _check_generator(config: Config, refuse: _Refusal) -> None:
    """Quoted passages carry a score, which has a known meaning only for some ways to find them."""
    if config.generate.generator != PASSAGES:
        return
    if config.strategy != CLOSEST:
        problem = f"strategy is '{config.strategy}', but generator = \"{PASSAGES}\" quotes what '{CLOSEST}' finds."
        refuse(("retrieval", "strategy"), f"{problem} Let a model answer, or take '{CLOSEST}' and name the other in compare.")
    if config.retrieval.encoder not in WAYS and not Path(config.retrieval.encoder).is_dir():
        problem = f"encoder is '{config.retrieval.encoder}', and what its scores mean was never measured."
        refuse(("retrieval", "encoder"), f'{problem} Allowed with generator = "{PASSAGES}": {", ".join(WAYS)}.')


def _check_judge(judge: JudgeOptions, refuse: _Refusal) -> None:
    options = ("swap", "blind_centers", "name_centers", "repeat", "absence")
    # What differs from its default asks for a check
    checks = [name for name in options if getattr(judge, name) != JudgeOptions.model_fields[name].default]
    if checks and judge.protocol == POSITIONS:
        refuse(("judge", "protocol"), f"protocol is '{POSITIONS}', which has no checks: leave out {', '.join(options)}.")
    if checks and judge.judge != MODEL:
        refuse(("judge", checks[0]), f"judge is '{judge.judge}', which calls no model: leave out {', '.join(checks)}.")
    if judge.judge == STAND_IN and judge.truth is None:
        refuse(("judge", "judge"), f"judge is '{STAND_IN}', which needs truth, the table that it reads.")


def _check_systems(config: Config, refuse: _Refusal) -> None:
    for number, name in enumerate(ids := [system.id for system in config.systems]):
        if name in ids[:number]:
            refuse(("systems", number, "id"), f"id is '{name}', which another system has too. Give each system an id of its own.")
    for number, system in enumerate(config.systems):
        for option, sentence in (*search_problems(system), *source_problems(system)):
            refuse(("systems", number, option), sentence)


def _sentence(problem: Mapping[str, Any]) -> str:
    """A pydantic error as a message about the option."""
    location, kind, limits = [str(part) for part in problem["loc"]], problem["type"], problem.get("ctx", {})
    name = next((part for part in reversed(location) if not part.isdigit()), "")
    if kind == "extra_forbidden":
        return _unknown([part for part in location if not part.isdigit()])
    if location == ["systems"]:
        return "'systems' is a list of sections, one for each system: write [[systems]] above the options of each."
    if kind == "missing":
        return f"a system of [[systems]] needs {name}."
    if kind == "value_error":
        return f"{name} {limits['error']}"
    if kind == "literal_error":
        allowed = get_args(SECTIONS[location[0]].model_fields[name].annotation)
        return f"{name} is '{problem['input']}'.{nearest(str(problem['input']), allowed)} Allowed: {', '.join(allowed)}."
    if kind in ("greater_than_equal", "less_than_equal"):
        least = kind == "greater_than_equal"
        return f"{name} must be at {'least' if least else 'most'} {limits['ge' if least else 'le']:g}, not {problem['input']:g}."
    if kind in ("model_type", "model_attributes_type") and len(location) == 1:
        return f"'{name}' is a section and has options of its own: [{name}]"
    return f"{name} must be {KINDS.get(kind, problem['msg'])}, not {as_written(problem['input'])}."


# What an option must be, by pydantic's name for the error.
KINDS = {
    "bool_type": "true or false", "int_type": "a whole number", "float_type": "a number", "finite_number": "a number",
    "string_type": "a text in quotes", "path_type": "a text in quotes", "is_instance_of": "a text in quotes",
    "tuple_type": 'a list of texts such as ["one", "two"]', "frozen_set_type": 'a list of texts such as ["one", "two"]',
    "dict_type": "a table of texts", "dataclass_type": "a table", "dataclass_exact_type": "a table",
}  # fmt: skip


def _unknown(location: list[str]) -> str:
    name, section = location[-1], location[:-1]
    if not section:
        allowed: tuple[str, ...] = tuple(SECTIONS)
        return f"there is no section '{name}'.{nearest(name, allowed)} Allowed: {', '.join(allowed)}."
    model: type[BaseModel] = TABLES.get(".".join(section)) or SECTIONS[section[0]]
    allowed = tuple(model.model_fields)
    return f"[{'.'.join(section)}] has no option '{name}'.{nearest(name, allowed)} Allowed: {', '.join(allowed)}."


def line_numbers(lines: Iterable[str]) -> dict[str, int]:
    """`section`, `section.option`, `sections.0.option` -> its first line, from 1.

    tomllib does not report where it read a value.
    """
    numbers: dict[str, int] = {}
    listed: Counter[str] = Counter()
    section = ""
    for number, line in enumerate(lines, start=1):
        if heading := SECTION_HEADING.match(line):
            section = _bare(heading[2])
            first, _, rest = section.partition(".")
            if rest and first in listed:  # a table of the last one of a list of sections: systems.0.across
                section = f"{first}.{listed[first] - 1}.{rest}"
            numbers.setdefault(section, number)
            if heading[1]:  # one of a list of sections: systems.0, systems.1, ...
                listed[section] += 1
                section = f"{section}.{listed[section] - 1}"
                numbers[section] = number
        elif option := OPTION_NAME.match(line):
            numbers.setdefault(f"{section}.{_bare(option[1])}".strip("."), number)
    return numbers


def _bare(name: str) -> str:
    """A dotted name without quotes and spaces."""
    return re.sub(r"[\s\"']", "", name)
