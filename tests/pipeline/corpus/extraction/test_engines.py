"""The engine llamaparse against a local server that answers as LlamaCloud's client expects; the service itself is not called."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from audit.cli.main import main
from audit.errors import DocumentError, MissingLibraryError
from audit.pipeline.corpus.extraction.identity import Identity
from audit.pipeline.corpus.extraction.run import extract
from tests.support.pdfs import FILLER, column, write_pdf

KEY = "llx-secret-of-a-test"
IDENTITY = Identity("heart_alder_pre", "heart", "alder", "pre")
JOB = {"id": "j1", "project_id": "p1", "status": "COMPLETED"}
ITEMS = [
    {"type": "heading", "level": 1, "value": "At home", "md": "# At home"},
    {"type": "text", "value": f"{FILLER}\n\nRest.", "md": FILLER},
    {"type": "table", "rows": [["Sign", "Do"], ["Fever", None]], "csv": "", "html": "", "md": ""},
]


class FakeLlamaCloud(BaseHTTPRequestHandler):
    """Accepts an upload, reports the job as completed, and returns the items of one page."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers["Authorization"] != f"Bearer {KEY}":
            self._reply(401, {"detail": f"no such key: {self.headers['Authorization']}"})
        else:
            self._reply(200, JOB)

    def do_GET(self) -> None:
        page = {"page_number": 1, "page_height": 842.0, "page_width": 595.0, "success": True, "items": ITEMS}
        self._reply(200, {"job": JOB, "items": {"pages": [page]}})

    def _reply(self, status: int, body: object) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), FakeLlamaCloud)
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
    document = extract(pdf, IDENTITY, "llamaparse")
    (section,) = document.sections
    assert (section.heading, section.text) == ("At home", f"{FILLER}\n\nRest.\n\nSign | Do\nFever")
    assert document.pages == 1


@pytest.mark.usefixtures("service")
def test_the_command_has_the_service_read_a_file(pdf, tmp_path):
    named = pdf.rename(tmp_path / "heart_alder_pre.pdf")
    assert main(["extract", str(named), "--out", str(tmp_path / "texts"), "--engine", "llamaparse"]) == 0
    (document,) = (tmp_path / "texts").glob("*.json")
    (section,) = json.loads(document.read_text())["sections"]
    assert (section["heading"], section["text"].splitlines()[-2:]) == ("At home", ["Sign | Do", "Fever"])


@pytest.mark.usefixtures("service")
def test_a_refused_key_is_reported_without_the_key(pdf, monkeypatch):
    monkeypatch.setenv("LLAMA_CLOUD_API_KEY", "llx-wrong")
    with pytest.raises(DocumentError, match="LlamaParse returned an error") as error:
        extract(pdf, IDENTITY, "llamaparse")
    assert "llx-wrong" not in str(error.value)


def test_without_a_key_nothing_is_sent(pdf, monkeypatch):
    monkeypatch.delenv("LLAMA_CLOUD_API_KEY", raising=False)
    with pytest.raises(DocumentError, match="needs a LlamaCloud key in the environment variable LLAMA_CLOUD_API_KEY"):
        extract(pdf, IDENTITY, "llamaparse")


def test_without_its_library_the_message_names_the_extra_that_has_it(pdf, monkeypatch):
    monkeypatch.setitem(sys.modules, "llama_cloud", None)
    with pytest.raises(MissingLibraryError, match=r"The engine llamaparse needs llama_cloud, .*\[cloud-parser\]"):
        extract(pdf, IDENTITY, "llamaparse")
