"""Reading the manifest of a release: every field is kept, also those that the format does not know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from audit.release.schema import MANIFEST
from audit.release.values import AS_JSON, Repairs

# Pages draw a manifest in full, and read it whenever they list runs
MAX_TEXT, MAX_CHARS = 2_000, 500_000


def read_manifest(record: Mapping[str, Any], repairs: Repairs) -> dict[str, Any]:
    """A manifest under the format's own names, with its unknown fields; values too large for a page are truncated or left out."""
    loaded: dict[str, Any] = {}
    if ambiguous := MANIFEST.ambiguity(record):
        repairs.append(f"{ambiguous} The first spelling of the format was loaded.")
    left = MAX_CHARS
    for name, full in (MANIFEST.canonical(record) | dict(record)).items():
        value = full[:MAX_TEXT] if isinstance(full, str) else full
        length = len(AS_JSON({name: value}))
        if value != full:
            repairs.append(f"field '{name[:80]}' has {len(full):,} characters; its first {MAX_TEXT:,} were loaded.")
        if length <= left:
            loaded[name], left = value, left - length
        else:
            repairs.append(f"field '{name[:80]}' has {length:,} characters; the release was loaded without it.")
    return loaded
