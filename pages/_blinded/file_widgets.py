"""The widgets through which files leave and come in, instead of Streamlit's own, which do not ask who is signed in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from pages._blinded.access import download_recorder, session_check
from pages._blinded.transfers import BROWSER, MAX_UPLOAD_MB, offer_download, offer_upload


def download_button(label: str, data: Callable[[], bytes], file_name: str, mime: str, key: str, **options: Any) -> None:
    """A button for a file that is made on the click and entered in the access log; nothing once this page's session has ended.

    options: of `st.download_button`. The address of the file answers this browser only, and for a minute.
    """
    # Streamlit makes the file in a thread that knows neither page nor visitor, so both are remembered here.
    check, record, browser = session_check(), download_recorder(file_name), _this_browser()

    def make() -> bytes:
        check()
        content = data()
        record()
        offer_download(content, mime, file_name, browser)
        return content

    st.download_button(label, make, file_name, mime, key=key, **{"on_click": "ignore", **options})


def upload_field(label: str, types: Sequence[str], key: str) -> Any:
    """A field for a file of at most MAX_UPLOAD_MB: the file, or None."""
    offer_upload(_this_browser(), session_check())
    return st.file_uploader(label, type=list(types), key=key, max_upload_size=MAX_UPLOAD_MB)


def _this_browser() -> str:
    return st.context.headers.get(BROWSER.decode(), "")
