"""Libraries that only an extra installs: imported when they are needed, never when a module is imported."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from audit.errors import MissingLibraryError

CHECKOUT = Path(__file__).resolve().parent.parent


def optional(module: str, purpose: str, extra: str) -> Any:
    """The module `module`, which the extra `extra` of this project installs.

    purpose  what needs it, as the subject of a sentence: "The map"

    Raises MissingLibraryError, with the command that installs it, if it is missing.
    """
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        # `from None`: the traceback of the import would bury the message that names the package to install.
        raise MissingLibraryError(
            f"{purpose} needs {package}, which is not installed. Nothing was done. {install_hint(extra)}"
        ) from None


def install_hint(extra: str) -> str:
    """The sentence with the command that installs an extra, with the pinned versions, from the folder of the source.

    Never by name: whoever registers this program's name at a package index would be run.
    """
    # Only a checkout has pyproject.toml next to the package, and then runs from there
    where, editable = ("", "-e ") if (CHECKOUT / "pyproject.toml").is_file() else (", in the folder of its source", "")
    return f"Install it with{where}: pip install -c constraints.txt {editable}'.[{extra}]'"
