"""Libraries that only one extra brings: fetched when they are needed, never when a module is imported."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from audit.errors import MissingLibraryError


def optional(module: str, purpose: str, extra: str) -> Any:
    """The module `module`, which the extra `extra` of this project installs.

    purpose  what needs it, as the beginning of a sentence: "The map"
    Raises MissingLibraryError, with the command that installs it, where it is not there.
    """
    try:
        return import_module(module)
    except ImportError:
        raise MissingLibraryError(
            f"{purpose} needs {module.partition('.')[0]}, which is not installed. Nothing was done. "
            f"Install it with: pip install -c constraints.txt -e '.[{extra}]'"
        ) from None
