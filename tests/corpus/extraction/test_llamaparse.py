"""The engine llamaparse against a local server that answers as LlamaCloud's client expects; the service itself is not asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from audit.corpus.extraction import Identity, extract
from audit.errors import DocumentError
from tests.support.pdfs import FILLER, column, write_pdf

KEY = "llx-secret-of-a-test"
WHOSE = Identity("heart_alder_pre", "heart", "alder", "pre")
JOB = {"id": "j1", "project_id": "p1", "status": "COMPLETED"}
ITEMS = [
    {"type": "heading", "level": 1, "value": "At home", "md": "# At home"},
    {"type": "text", "value": f"{FILLER}\n\nRest.", "md": FILLER},
    {"type": "table", "rows": [["Sign", "Do"], ["Fever", None]], "csv": "", "html": "", "md": ""},
]


class StandIn(BaseHTTPRequestHandler):
    """Takes an upload, says that it is done, and gives the items of one page."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers["Authorization"] != f"Bearer {KEY}":
            self._answer(401, {"detail": f"no such key: {self.headers['Authorization']}"})
        else:
            self._answer(200, JOB)

    def do_GET(self) -> None:
        page = {"page_number": 1, "page_height": 842.0, "page_width": 595.0, "success": True, "items": ITEMS}
        self._answer(200, {"job": JOB, "items": {"pages": [page]}})

    def _answer(self, status: int, body: object) -> None:
        blob = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(blob)))
        self.end_headers()
        self.wfile.write(blob)

    def log_message(self, *_: object) -> None:
        """A test is quiet."""


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), StandIn)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setenv("LLAMA_CLOUD_BASE_URL", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("LLAMA_CLOUD_API_KEY", KEY)
    yield
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    return write_pdf(tmp_path / "book.pdf", [column(["# At home", FILLER])])


@pytest.mark.usefixtures("service")
def test_the_services_headings_paragraphs_and_rows_become_sections(pdf):
    document = extract(pdf, WHOSE, "llamaparse")
    (section,) = document.sections
    assert (section.heading, section.text) == ("At home", f"{FILLER}\n\nRest.\n\nSign | Do\nFever")
    assert document.pages == 1


@pytest.mark.usefixtures("service")
def test_a_refused_key_is_told_without_the_key(pdf, monkeypatch):
    monkeypatch.setenv("LLAMA_CLOUD_API_KEY", "llx-wrong")
    with pytest.raises(DocumentError, match="LlamaParse gave no answer") as told:
        extract(pdf, WHOSE, "llamaparse")
    assert "llx-wrong" not in str(told.value)


def test_without_a_key_nothing_is_sent(pdf, monkeypatch):
    monkeypatch.delenv("LLAMA_CLOUD_API_KEY", raising=False)
    with pytest.raises(DocumentError, match="needs a key of LlamaCloud in LLAMA_CLOUD_API_KEY"):
        extract(pdf, WHOSE, "llamaparse")
