"""Settings of retrieval as pydantic models, made from their dataclasses so that each field is listed once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationInfo, create_model

from audit.pipeline.retrieval.across.library import RETRIEVERS
from audit.pipeline.retrieval.across.settings import (
    POOLS,
    SCALES,
    ConsolidationSettings,
    CrossSourceSettings,
    DaksSettings,
    GraphSettings,
    PackingSettings,
)
from audit.pipeline.retrieval.hybrid_settings import HybridSettings
from audit.pipeline.retrieval.settings import RetrievalSettings
from audit.pipeline.stages.config_types import ConfigSection, ExistingPath, Text, one_of


def _settings_model(name: str, settings: type[Any], **known: Any) -> type[BaseModel]:
    """The settings as a pydantic model.

    known  types that differ from the dataclass's
    """
    hints = get_type_hints(settings)
    kinds = {Path | None: ExistingPath | None, frozenset[str]: Annotated[frozenset[Text], Field(strict=False)]}
    model_fields: dict[str, Any] = {
        item.name: (
            known.get(item.name, kinds.get(hints[item.name], hints[item.name])),
            item.default if item.default_factory is MISSING else Field(default_factory=item.default_factory),
        )
        for item in fields(settings)
    }
    return create_model(name, __base__=ConfigSection, **model_fields)


def _validated_as(model: type[BaseModel], settings: type[Any]) -> BeforeValidator:
    """Checks a table against the model, then makes the dataclass of it, which knows what cannot be combined."""

    def validate(value: Any, info: ValidationInfo) -> object:
        if not isinstance(value, Mapping):
            return value
        checked = model.model_validate(value, context=info.context)
        try:
            return settings(**{name: getattr(checked, name) for name in model.model_fields})
        except ValueError as error:
            raise ValueError(f"cannot be combined: {error}.") from None

    return BeforeValidator(validate)


HYBRID_MODEL = _settings_model("retrieval.options.hybrid", HybridSettings)
SETTINGS_MODEL = _settings_model(
    "retrieval.options", RetrievalSettings, hybrid=Annotated[HybridSettings, _validated_as(HYBRID_MODEL, HybridSettings)]
)
RetrievalTable = Annotated[RetrievalSettings, _validated_as(SETTINGS_MODEL, RetrievalSettings)]


def _choice(*allowed: str) -> Any:
    return Annotated[Text, AfterValidator(one_of(allowed)), Field(json_schema_extra={"enum": list(allowed)})]


def _without_graph(value: Any) -> object:
    # TOML has no null
    return None if value is False else value


ACROSS_PARTS: dict[str, tuple[type[BaseModel], type[Any]]] = {
    "daks": (_settings_model("systems.across.daks", DaksSettings, scale=_choice(*SCALES)), DaksSettings),
    "consolidation": (_settings_model("systems.across.consolidation", ConsolidationSettings), ConsolidationSettings),
    "graph": (_settings_model("systems.across.graph", GraphSettings), GraphSettings),
    "packing": (_settings_model("systems.across.packing", PackingSettings), PackingSettings),
}


def _part(name: str) -> object:
    model, settings = ACROSS_PARTS[name]
    if name == "graph":
        return Annotated[settings | None, _validated_as(model, settings), BeforeValidator(_without_graph)]
    return Annotated[settings, _validated_as(model, settings)]


ACROSS_MODEL = _settings_model(
    "systems.across",
    CrossSourceSettings,
    retriever=_choice(*RETRIEVERS),
    pool=_choice(*POOLS),
    **{name: _part(name) for name in ACROSS_PARTS},
)
AcrossTable = Annotated[CrossSourceSettings, _validated_as(ACROSS_MODEL, CrossSourceSettings)]
TABLES: dict[str, type[BaseModel]] = {
    "retrieval.options": SETTINGS_MODEL,
    "retrieval.options.hybrid": HYBRID_MODEL,
    "systems.across": ACROSS_MODEL,
    **{f"systems.across.{name}": model for name, (model, _) in ACROSS_PARTS.items()},
}
"""Table of a config -> the model of its options."""


def retrieval_schema() -> dict[str, object]:
    """The JSON Schema of [retrieval.options]."""
    # pydantic would describe the dataclass, without what its model checks
    schema = SETTINGS_MODEL.model_json_schema()
    schema["properties"]["hybrid"] = HYBRID_MODEL.model_json_schema()
    return schema


def across_schema() -> dict[str, object]:
    """The JSON Schema of [systems.across]."""
    schema = ACROSS_MODEL.model_json_schema()
    schema.pop("$defs", None)
    for name, (model, _) in ACROSS_PARTS.items():
        schema["properties"][name] = model.model_json_schema()
    schema["properties"]["graph"] = {"anyOf": [schema["properties"]["graph"], {"const": False}]}
    return schema
