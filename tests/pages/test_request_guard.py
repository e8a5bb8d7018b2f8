"""What a server answers and what it refuses, asked over real sockets."""

from __future__ import annotations

import gzip
import http.client
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pyarrow as pa
import pytest
from streamlit.material_icon_names import ALL_MATERIAL_ICONS
from streamlit.proto.BackMsg_pb2 import BackMsg

from annotation.label_store.engine import LabelStore, open_label_store
from annotation.studies.accounts import open_session, sign_out
from pages._blinded.access import now
from pages._blinded.compressed import FIRST_PAINT, FONTS, ROOT
from pages._blinded.request_guard import MAX_BODY_BYTES, is_known, is_own_host, is_own_origin
from pages._blinded.session_cookie import NAME
from pages._blinded.transfers import MAX_UPLOAD_MB
from tests.browser.conftest import server
from tests.support.studies import people, study_of
from tests.support.visitor import opened, run

REPOSITORY = Path(__file__).parents[2]
FONT_FOLDER = REPOSITORY / "pages" / "_blinded" / "fonts"
PUBLIC = "audit.alder.example"
SPY = Path(__file__).with_name("outbound_calls")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("guard")


@pytest.fixture(scope="module")
def store(folder: Path) -> Iterator[LabelStore]:
    opened_store = open_label_store(f"sqlite:///{folder / 'studies.db'}")
    people(opened_store, "petra", role="pi")
    study_of(opened_store, 3)
    yield opened_store
    opened_store.close()


@pytest.fixture(scope="module")
def calls(folder: Path) -> Path:
    """The addresses outside this machine that the server tries to reach, one a line."""
    return folder / "calls"


@pytest.fixture(scope="module")
def address(folder: Path, store: LabelStore, calls: Path) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUDIT_BROWSING", "signed-in")
        patch.setenv("AUDIT_PUBLIC_HOSTS", PUBLIC)
        patch.setenv("PYTHONPATH", str(SPY), prepend=":")
        patch.setenv("OUTBOUND_CALLS", str(calls))
        with server(folder, folder / "log") as started:
            yield started


@pytest.fixture
def petra(store: LabelStore) -> dict[str, str]:
    return {"Cookie": f"{NAME}={open_session(store, 'petra', now())}"}


def status_of(address: str, path: str = "/", method: str = "GET", body: bytes | None = None, **headers: str) -> int:
    return answer(address, path, method, body, **headers).status


def answer(address: str, path: str, method: str = "GET", body: bytes | None = None, **headers: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=20)
    connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    response = connection.getresponse()
    response.read()
    connection.close()
    return response


def connects(address: str, **headers: str) -> bool:
    """Whether a handshake with these headers is accepted."""
    handshake = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec_WebSocket_Version": "13",
        "Sec_WebSocket_Key": "A" * 22 + "==",
    }
    status = status_of(address, "/_stcore/stream", **handshake, **headers)
    assert status in (101, 403)
    return status == 101


# -- names -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "LOCALHOST.", "127.0.0.1:9999", "[::1]:8501", PUBLIC, f"{PUBLIC}:443"]
)
def test_this_machine_s_own_names_and_the_configured_ones_are_answered(address: str, host: str) -> None:
    assert status_of(address, Host=host) == 200
    assert connects(address, Host=host)


@pytest.mark.parametrize(
    "host", ["evil.test", "localhost.evil.test", "evil-localhost", "10.0.0.5", f"x.{PUBLIC}", "a@localhost", "", "localhost:x"]
)
def test_any_other_name_is_refused_for_pages_and_connections(address: str, host: str) -> None:
    assert status_of(address, Host=host) == 421
    assert not connects(address, Host=host, Origin=f"http://{host}")


def test_the_address_that_was_connected_to_is_an_own_name_and_that_of_another_machine_is_not() -> None:
    assert is_own_host("10.1.2.3:8501", ("10.1.2.3", 8501), ())
    assert not is_own_host("10.1.2.4:8501", ("10.1.2.3", 8501), ())


@pytest.mark.parametrize(
    "origin", ["http://evil.test", "null", "http://127.0.0.1:1", "http://localhost:3000", "http://10.0.0.5", "file://", "x"]
)
def test_a_page_of_another_server_cannot_connect_and_no_outside_host_is_asked(address: str, calls: Path, origin: str) -> None:
    assert not connects(address, Origin=origin)
    assert status_of(address, "/session", "DELETE", Origin=origin) == 403
    assert status_of(address, "/_stcore/health", Origin=origin) == 403
    assert not calls.exists()


@pytest.mark.parametrize(
    ("host", "origin"),
    [(PUBLIC, f"https://{PUBLIC}"), ("127.0.0.1:8501", f"https://{PUBLIC}"), ("localhost:8501", "http://localhost:8501")],
    ids=["its own name", "behind a proxy that sends its own Host", "loopback"],
)
def test_a_page_of_this_server_connects_and_no_outside_host_is_asked(address: str, calls: Path, host: str, origin: str) -> None:
    assert connects(address, Host=host, Origin=origin)
    assert status_of(address, "/_stcore/health", Host=host, Origin=origin) == 200
    assert not calls.exists()


def test_the_trap_for_outbound_calls_catches_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    namespace: dict[str, object] = {}
    monkeypatch.setenv("OUTBOUND_CALLS", str(tmp_path / "calls"))
    connect, lookup = socket.socket.connect, socket.getaddrinfo
    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    exec((SPY / "sitecustomize.py").read_text(), namespace)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, pytest.raises(OSError, match="no way out"):
        probe.connect(("8.8.8.8", 1))
    assert "8.8.8.8" in (tmp_path / "calls").read_text()


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_a_server_on_all_addresses_asks_no_outside_host_when_it_starts(
    host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(SPY), prepend=":")
    monkeypatch.setenv("OUTBOUND_CALLS", str(tmp_path / "calls"))
    with server(tmp_path, command=("audit", "serve", f"--host={host}", "--port={port}")) as started:
        assert status_of(started) == 200
    assert not (tmp_path / "calls").exists()


def test_another_port_of_the_same_name_is_another_server() -> None:
    assert is_own_origin("https://a.example", "a.example", ("a.example",))
    assert not is_own_origin("https://a.example:9000", "a.example", ("a.example",))


# -- answers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("origin", ["http://[::1", "http://[x]", "null", "", "http://[::1]:x"])
def test_an_origin_that_is_no_address_is_refused(address: str, origin: str) -> None:
    assert status_of(address, "/_stcore/health", Origin=origin) == 403


@pytest.mark.parametrize("path", ["/", "/_stcore/health", "/static/none.js", "/media/none.csv", "/ready", "/_stcore/metrics"])
def test_every_answer_tells_the_browser_what_it_may_do_with_it(address: str, path: str) -> None:
    headers = answer(address, path).headers
    policy = dict(part.strip().split(" ", 1) for part in headers["Content-Security-Policy"].split(";"))
    assert (policy["object-src"], policy["base-uri"], policy["frame-ancestors"]) == ("'none'", "'self'", "'self'")
    # The browser tests fail where a page wants more than this
    assert not {"'unsafe-inline'", "'unsafe-eval'", "data:", "*", "https:"} & set(policy["script-src"].split())
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"


@pytest.mark.parametrize(
    "path", ["metrics", "metrics?families=cache_memory_bytes", "agent/openapi.json", "agent/mcp", "script-health-check"]
)
def test_figures_on_all_users_and_the_way_in_for_programs_are_not_there(address: str, petra: dict[str, str], path: str) -> None:
    assert status_of(address, f"/_stcore/{path}") == 404
    assert status_of(address, f"/_stcore/{path}", **petra) == 404


# -- bodies ------------------------------------------------------------------------------------------------------------


def first_line(address: str, request: bytes) -> bytes:
    """The server's first line to a request that never ends."""
    with socket.create_connection((urlsplit(address).hostname, urlsplit(address).port), timeout=20) as connection:
        connection.sendall(request)
        return connection.recv(200).splitlines()[0]


@pytest.mark.parametrize("path", ["/session", "/", "/_stcore/health", "/static/x"])
def test_a_large_body_is_refused_before_it_is_read(address: str, path: str) -> None:
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    assert b" 413 " in first_line(address, f"{head}Content-Length: 200000000\r\n\r\n".encode())


def test_a_body_without_a_length_is_cut_off(address: str) -> None:
    head = b"POST /session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunk = b"1000\r\n" + b"[" * 0x1000 + b"\r\n"
    assert b" 413 " in first_line(address, head + chunk + chunk)


def test_a_body_of_brackets_within_brackets_is_no_ticket(address: str) -> None:
    body = b"[" * (MAX_BODY_BYTES - 1)
    assert status_of(address, "/session", "POST", body, Content_Type="application/json") == 403


def xsrf_cookie(address: str) -> str:
    return answer(address, "/_stcore/health").headers["Set-Cookie"].partition(";")[0]


def upload(address: str, session: str, size: int, headers: dict[str, str]) -> int:
    token = headers["Cookie"].partition("_streamlit_xsrf=")[2]
    form = b'--x\r\nContent-Disposition: form-data; name="f"; filename="f.csv"\r\n\r\n' + b"a" * size + b"\r\n--x--\r\n"
    try:
        return status_of(
            address, f"/_stcore/upload_file/{session}/a-file", "PUT", form, Cookie=headers["Cookie"], X_Xsrftoken=token,
            Content_Type="multipart/form-data; boundary=x",
        )  # fmt: skip
    except (BrokenPipeError, ConnectionResetError):  # refused while the body was still on its way
        return 413


def test_a_file_is_taken_where_a_page_asks_for_it_in_a_session(address: str, store: LabelStore, petra: dict[str, str]) -> None:
    token = petra["Cookie"].partition("=")[2]
    strange, petra = ({"Cookie": f"{cookie}{xsrf_cookie(address)}"} for cookie in ("", petra["Cookie"] + "; "))

    async def uploads() -> dict[str, int]:
        async with opened(address, strange) as nobody, opened(address, petra) as tab:
            nobodys, own = nobody.session, tab.session
            before = upload(address, own, 10, petra)
            await tab.rerun(page="study")
            seen = {
                "nobody, own session": upload(address, nobodys, 10, strange),
                "nobody, petra's session": upload(address, own, 10, strange),
                "before the page asked": before,
                "asked": upload(address, own, 10, petra),
                "too large": upload(address, own, MAX_UPLOAD_MB * 2**20 + 1, petra),
                "much too large": upload(address, own, 2 * MAX_UPLOAD_MB * 2**20, petra),
            }
            sign_out(store, token, now())
            return {**seen, "after the session": upload(address, own, 10, petra)}

    assert run(uploads()) == {
        "nobody, own session": 403, "nobody, petra's session": 403, "before the page asked": 403, "asked": 204,
        "too large": 413, "much too large": 413, "after the session": 403,
    }  # fmt: skip


# -- messages ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("signed_in", [False, True])
def test_nobody_clears_the_caches_of_all(address: str, folder: Path, petra: dict[str, str], signed_in: bool) -> None:
    async def clear() -> None:
        async with opened(address, petra if signed_in else {}) as tab:
            await tab.send(BackMsg(clear_cache=True))
            await tab.rerun()  # the message before it has been dealt with

    before = (folder / "log").read_text().count("Ignored a message")
    run(clear())
    assert (folder / "log").read_text().count("Ignored a message") == before + 1


@pytest.mark.parametrize(
    ("fields", "known"),
    [
        ({"clear_cache": True}, False),
        ({"set_run_on_save": True}, False),
        ({"load_git_info": True}, False),
        ({"debug_shutdown_runtime": True}, False),
        ({"backend_operation_request": {"install_skills": {}}}, False),
        ({"backend_operation_request": {"deferred_file": {"file_id": "x"}}}, True),
        ({"rerun_script": {"query_string": "run=a"}}, True),
        ({"stop_script": True}, True),
        ({"app_heartbeat": True}, True),
        ({"file_urls_request": {}}, True),
    ],
)
def test_a_page_may_ask_for_what_pages_need(fields: dict[str, object], known: bool) -> None:
    assert is_known(BackMsg(**fields).SerializeToString()) is known


def test_a_forbidden_message_after_a_known_one_in_the_same_frame_is_forbidden() -> None:
    """The last of them counts, for Streamlit too."""
    known, forbidden = BackMsg(stop_script=True).SerializeToString(), BackMsg(clear_cache=True).SerializeToString()
    assert not is_known(known + forbidden)


def test_scripts_are_compressed_for_a_browser_that_takes_it_and_plain_for_others(address: str) -> None:
    script = next(path for path in sorted((ROOT / "static" / "js").glob("index.*.js")))
    at = http.client.HTTPConnection(urlsplit(address).netloc)
    answers = []
    takes_both, takes_gzip = {"Accept-Encoding": "gzip, deflate, br"}, {"Accept-Encoding": "gzip;q=0.5, gzip"}
    for headers in (takes_both, takes_gzip, {}, {"Accept-Encoding": "br", "Range": "bytes=0-9"}):
        at.request("GET", f"/static/js/{script.name}", headers=headers)
        answer = at.getresponse()
        answers.append((answer.getheader("Content-Encoding"), answer.getheader("X-Content-Type-Options"), answer.read()))
    assert [encoding for encoding, _, _ in answers] == ["br", "gzip", None, None]
    assert {guard for _, guard, _ in answers} == {"nosniff"}
    by_brotli, by_gzip, plain = (body for _, _, body in answers[:3])
    assert pa.decompress(by_brotli, decompressed_size=len(plain), codec="brotli", asbytes=True) == plain == script.read_bytes()
    assert gzip.decompress(by_gzip) == plain
    assert len(by_brotli) < 0.95 * len(by_gzip) < len(plain) / 2
    at.request("GET", "/static/js/../../../../pyproject.toml", headers={"Accept-Encoding": "gzip"})
    assert at.getresponse().status >= 400


def test_a_font_is_served_in_part_and_whole_to_who_needs_other_letters(address: str) -> None:
    at = http.client.HTTPConnection(urlsplit(address).netloc)

    def loaded(url: str) -> bytes:
        at.request("GET", url, headers={"Accept-Encoding": "gzip"})
        answer = at.getresponse()
        assert (answer.status, answer.getheader("X-Content-Type-Options")) == (200, "nosniff")
        return answer.read()

    assert len(FONTS) == 2
    for name, part in FONTS.items():
        whole = (ROOT / "static" / "media" / name).read_bytes()
        assert loaded(f"/static/media/{name}") == part.read_bytes()
        assert loaded(f"/static/media/{name}?whole") == whole
        assert len(part.read_bytes()) < len(whole) / 5
    styles = [
        gzip.decompress(loaded(f"/static/css/{path.name}")).decode() for path in (ROOT / "static" / "css").glob("index.*.css")
    ]
    assert any(f"url(../media/{name}?whole)" in style for name in FONTS for style in styles)
    assert any(all(own.read_text(encoding="utf-8") in style for own in FIRST_PAINT) for style in styles)


def test_the_part_of_the_icons_has_every_icon_that_a_page_or_streamlit_names() -> None:
    """Where this fails, run .ci/fonts.py."""
    kept = set((FONT_FOLDER / "icons.txt").read_text(encoding="utf-8").split())
    pages = (path for folder in ("pages", "annotation") for path in (REPOSITORY / folder).rglob("*.*"))
    texts = (path.read_text(encoding="utf-8") for path in pages if path.suffix in (".py", ".html", ".js"))
    scripts = (path.read_text(encoding="utf-8") for path in (ROOT / "static" / "js").glob("*.js"))
    named = {icon for text in (*texts, *scripts) for icon in re.findall(r":material/([a-z0-9_]+):", text)}
    assert len(named) > 100
    assert named & ALL_MATERIAL_ICONS <= kept
