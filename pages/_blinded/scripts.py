"""Where the script of a page lies: in the folder of the page, with its parts."""

from __future__ import annotations

from pathlib import PurePosixPath


def script_path(script: str) -> str:
    """The path that Streamlit knows a page by: `pages/ask/ask.py` of `ask`, `pages/studies/study/study.py` of `studies/study`."""
    # The script has the name of its folder, because Streamlit takes the address of a page from the name of its file. None lies in
    # `pages/` itself: Streamlit would run it without app.py, as a page of its older kind of multi-page app.
    return f"pages/{script}/{PurePosixPath(script).name}.py"
