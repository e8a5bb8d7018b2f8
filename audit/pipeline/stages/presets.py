"""Presets of `audit run`: the settings of a published pipeline in one word, each with the section that states it.

with_preset(parsed, "paper")   # what a parsed config leaves open, as the paper has it
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from audit.pipeline.retrieval.settings import PAPER as PAPER_RETRIEVAL
from audit.pipeline.retrieval.settings import PAPER_ENCODER, PAPER_RERANKER
from audit.pipeline.stages.config import MODEL, Config, as_written


@dataclass(frozen=True)
class PresetOption:
    """One setting: its section and name in a config, its value, and where it is stated."""

    section: tuple[str, ...]
    name: str
    value: Any
    source: str

    @property
    def path(self) -> tuple[str, ...]:
        """The names that lead to it in a parsed config."""
        return (*self.section, self.name)


RETRIEVAL_OPTIONS, JUDGE = ("retrieval", "options"), ("judge",)
PAPER = (
    PresetOption(("retrieval",), "strategy", "hero", "section 4.2"),
    PresetOption(("retrieval",), "encoder", PAPER_ENCODER, "section 4.2"),
    PresetOption(("retrieval",), "reranker", PAPER_RERANKER, "section 4.2"),
    PresetOption(RETRIEVAL_OPTIONS, "fusion", PAPER_RETRIEVAL["fusion"], "section 4.2"),
    PresetOption(RETRIEVAL_OPTIONS, "expand_dense", PAPER_RETRIEVAL["expand_dense"], "section 4.2"),
    PresetOption(RETRIEVAL_OPTIONS, "neighbour_sections", PAPER_RETRIEVAL["neighbour_sections"], "section 4.2"),
    PresetOption(RETRIEVAL_OPTIONS, "parent_words", PAPER_RETRIEVAL["parent_words"], "section 4.2 expands to sections in full"),
    PresetOption(RETRIEVAL_OPTIONS, "leave_out", sorted(PAPER_RETRIEVAL["leave_out"]), "section 4.2 weighs no contents pages"),
    PresetOption(("generate",), "generator", MODEL, "section 4"),
    PresetOption(("generate",), "max_tokens", 512, "appendix D"),
    PresetOption(("generate",), "fixed_absence", True, "appendix D"),
    PresetOption(JUDGE, "judge", MODEL, "section 4"),
    PresetOption(JUDGE, "absence", "check", "section 4"),
    PresetOption(JUDGE, "name_centers", True, "section 4"),
    PresetOption(JUDGE, "protocol", "label_first", "section 4; the second protocol, of section 5.2, is label_only"),
)
PRESETS: Mapping[str, tuple[PresetOption, ...]] = {"paper": PAPER}
SOURCES = {"paper": "arXiv:2605.29084"}
FIXED = {
    "paper": "Temperature 0 and replies without a model's thinking apply in any case (appendix D). Prompts are our own: see the "
    "table of departures in audit/pipeline/README.md."
}
"""Settings of the paper that hold without a preset."""


def with_preset(parsed: Mapping[str, Any], preset: str) -> dict[str, Any]:
    """A parsed config with the preset's value for every option that it leaves open."""
    filled = dict(parsed)
    for option in PRESETS[preset] if preset else ():
        # Without a model there is no absence check, and nothing that reads names
        if not _states(filled, option) and not (option.section == JUDGE and _has_other_judge(parsed)):
            _set(filled, option)
    return filled


def _has_other_judge(parsed: Mapping[str, Any]) -> bool:
    judge = parsed.get("judge")
    return isinstance(judge, Mapping) and judge.get("judge", MODEL) != MODEL


def preset_lines(config: Config, preset: str) -> Iterator[str]:
    """A line for each setting of the preset, with its section; where the config has another value, that it has."""
    yield f"Preset {preset} ({SOURCES[preset]}):"
    for option in PRESETS[preset]:
        own: object = config
        for name in option.path:
            own = getattr(own, name)
        differs = "" if _same(own, option.value) else f"; this config: {as_written(own)}"
        yield f"  [{'.'.join(option.section)}] {option.name} = {as_written(option.value)} ({option.source}{differs})"
    yield f"  {FIXED[preset]}"


def _same(own: Any, value: Any) -> bool:
    return bool((sorted(own) if isinstance(own, list | tuple | set | frozenset) else own) == value)


def _states(parsed: Mapping[str, Any], option: PresetOption) -> bool:
    table: object = parsed
    for name in option.path:
        if not isinstance(table, Mapping):
            return True  # not a table: the config reader rejects it with a message
        if name not in table:
            return False
        table = table[name]
    return True


def _set(parsed: dict[str, Any], option: PresetOption) -> None:
    table = parsed
    for name in option.section:
        # Copies, so the parsed config stays as it was
        table[name] = dict(table.get(name, {}))
        table = table[name]
    table[option.name] = option.value
