"""What a person reads where an optional library is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit import optional_imports
from audit.errors import MissingLibraryError
from audit.optional_imports import install_hint, optional


def test_a_missing_library_is_named_with_what_needs_it_and_how_to_install_it() -> None:
    with pytest.raises(MissingLibraryError, match=r"The map needs no_such_library, .* Install it with: "):
        optional("no_such_library.inner", "The map", "models")


def test_a_library_that_is_there_is_returned() -> None:
    assert optional("json.decoder", "The map", "models").JSONDecoder


def test_in_a_checkout_the_hint_installs_the_checkout_with_pinned_versions() -> None:
    assert install_hint("models") == "Install it with: pip install -c constraints.txt -e '.[models]'"


def test_from_a_wheel_the_hint_names_the_folder_and_no_package_that_anybody_could_register(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(optional_imports, "CHECKOUT", tmp_path)
    assert install_hint("models") == "Install it with, in the folder of its source: pip install -c constraints.txt '.[models]'"
