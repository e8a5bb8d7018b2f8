"""Where the script of a page lies: `pages/organs.py` is a page without parts, `pages/question/question.py` one with parts."""

from __future__ import annotations

from functools import cache
from pathlib import Path, PurePosixPath

PAGES = Path(__file__).parents[1]


@cache
def script_path(script: str) -> str:
    """The path that Streamlit knows a page by: of `question`, or of `studies/study`."""
    # The script of a folder has the folder's name, because Streamlit takes the address of a page from the name of its file.
    name = PurePosixPath(script).name
    in_folder = (PAGES / script / f"{name}.py").is_file()
    return f"pages/{script}/{name}.py" if in_folder else f"pages/{script}.py"
