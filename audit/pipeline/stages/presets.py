"""Presets: the settings of a published pipeline in one word. For `audit run` each with the section that states it.

with_preset(parsed, "paper")   # what a parsed config leaves open, as the paper has it
STRESS_BUILD["medrgb"]         # option of `audit stress build` -> its value
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from audit.papers.departures import PRESETS as PRESET_OF
from audit.papers.departures import Paper
from audit.pipeline.embedding.encoders import MINILM
from audit.pipeline.retrieval.across.library import DENSE
from audit.pipeline.retrieval.across.settings import CONCATENATED, MERGED, UNIFORM, CrossSourceSettings
from audit.pipeline.retrieval.settings import PAPER as PAPER_RETRIEVAL
from audit.pipeline.retrieval.settings import PAPER_ENCODER, PAPER_RERANKER
from audit.pipeline.stages.config import MODEL, NONE, PASSAGES, Config, as_written
from audit.pipeline.stages.system_options import CORPUS
from audit.pipeline.stress.building.facts import REWRITTEN
from audit.pipeline.stress.building.signal_search import MEDCPT
from audit.vocabulary import SystemMode


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
HYBRID = (*RETRIEVAL_OPTIONS, "hybrid")
S2 = (
    PresetOption(("retrieval",), "strategy", "hybrid", "section 2.5"),
    PresetOption(("retrieval",), "encoder", PAPER_ENCODER, "section 2.5"),
    # More than any corpus has: all that are above both thresholds
    PresetOption(HYBRID, "added_terms", 1_000_000, "equation 8"),
    PresetOption(("generate",), "generator", NONE, "systems answer, not handbooks"),
    PresetOption(
        (),
        "systems",
        [{"id": "closed-book", "mode": "closed_book"}, {"id": "rag", "mode": "retrieval", "search": CORPUS}],
        "section 2.4",
    ),
)
S1 = (
    PresetOption(("retrieval",), "encoder", MINILM, "a semantic retriever and ranker; which one is not printed"),
    PresetOption(("generate",), "generator", NONE, "systems answer, not handbooks"),
    PresetOption((), "systems", [{"id": "sources", "mode": "multi_source", "generator": PASSAGES}], "Tables 2 and 3"),
)
MEDRGB = PRESET_OF[Paper.S3]
STANDARD = {"mode": "retrieval", "search": CORPUS, "temperature": 0.0}
S3 = (
    PresetOption(("retrieval",), "strategy", DENSE, "offline retrieval"),
    PresetOption(("retrieval",), "encoder", MINILM, "a semantic retriever; MedCPT is one of `audit stress build`"),
    PresetOption(("generate",), "generator", NONE, "systems answer, not handbooks"),
    PresetOption(
        (),
        "systems",
        [
            {"id": "documents-0", "mode": "closed_book", "temperature": 0.0},
            {"id": "documents-5", **STANDARD},
            {"id": "documents-20", **STANDARD, "passages": 20},
        ],
        "Table 1",
    ),
)
PRESETS: Mapping[str, tuple[PresetOption, ...]] = {"paper": PAPER, "s1": S1, "s2": S2, MEDRGB: S3}
STRESS_BUILD: Mapping[str, Mapping[str, str]] = {
    MEDRGB: {"facts": MODEL, "counterfactual": REWRITTEN, "topics": MODEL, "retriever": MEDCPT}
}
"""Preset -> what it means for the options of `audit stress build`."""
SOURCES = {
    "paper": "arXiv:2605.29084",
    "s1": "Chen et al. 2026",
    "s2": "Fensore, Carrillo-Larco, Shah and Ho",
    MEDRGB: "arXiv:2411.09213",
}
FIXED = {
    "paper": "Temperature 0 and replies without a model's thinking apply in any case (appendix D). Prompts are our own.",
    "s1": "Each system of several sources is run once for each method of the paper; the values of settings are as set: the "
    "paper prints none. Measures need the primary sources and gold sections of [questions] references.",
    "s2": "Temperature 0.1 and 512 tokens of an answer apply in any case.",
    MEDRGB: "This is the standard test, on questions of your own. The four tests are those of `audit stress build` and "
    "`audit stress run`, each with --preset medrgb.",
}
"""What holds without a setting of the preset."""


def methods_of_s1() -> dict[str, CrossSourceSettings]:
    """Method of S1's Tables 2 and 3, as a published figure names it -> its settings."""
    paper = replace(CrossSourceSettings.paper(), retriever=DENSE)
    assert paper.graph is not None
    by_score = replace(paper.consolidation, retrieval_share=1.0)
    uniform = replace(paper.daks, weights={}, authority_weight=0.0)
    baseline = replace(paper, daks=uniform, consolidation=by_score, graph=None)
    return {
        "merged": replace(baseline, pool=MERGED),
        "concatenation": replace(baseline, pool=CONCATENATED),
        "uniform": replace(baseline, pool=UNIFORM),
        "daks": replace(paper, graph=None),
        "graph_fusion": replace(paper, daks=uniform),
        "score_only": replace(paper, consolidation=by_score, graph=None),
        "graph_support": replace(paper, graph=replace(paper.graph, bridged=0)),
        "graph_retrieval": paper,
        "daks_graph_fusion": paper,  # the same in Table 1
    }


def with_preset(parsed: Mapping[str, Any], preset: str) -> dict[str, Any]:
    """A parsed config with the preset's value for every option that it leaves open."""
    filled = dict(parsed)
    for option in PRESETS[preset] if preset else ():
        # Without a model there is no absence check, and nothing that reads names
        if not _states(filled, option) and not (option.section == JUDGE and _has_other_judge(parsed)):
            _set(filled, option)
    if preset == "s1" and isinstance(filled["systems"], list):
        filled["systems"] = [method for system in filled["systems"] for method in _as_methods(system)]
    return filled


def _as_methods(system: Any) -> list[Any]:
    """A system of several sources as one for each method of S1, with what it states; any other as it is."""
    if not isinstance(system, Mapping) or system.get("mode") != SystemMode.MULTI_SOURCE:
        return [system]
    return [
        {**system, "id": method, "across": _stated_over(settings.record(), system.get("across", {}))}
        for method, settings in methods_of_s1().items()
    ]


def _stated_over(values: Mapping[str, Any], stated: Any) -> Any:
    """The values with what is stated in their place, table by table."""
    if not (isinstance(values, Mapping) and isinstance(stated, Mapping)):
        return stated
    known = {name: _stated_over(values[name], value) if name in values else value for name, value in stated.items()}
    return {**values, **known}


def _has_other_judge(parsed: Mapping[str, Any]) -> bool:
    judge = parsed.get("judge")
    return isinstance(judge, Mapping) and judge.get("judge", MODEL) != MODEL


def preset_lines(config: Config, preset: str) -> Iterator[str]:
    """A line for each setting of the preset, with its section; where the config has another value, that it has."""
    yield f"Preset {preset} ({SOURCES[preset]}):"
    for option in PRESETS[preset]:
        if not option.section:
            yield f"  [[systems]] {', '.join(system.id for system in config.systems)} ({option.source})"
            continue
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
