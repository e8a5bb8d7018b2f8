"""The deployment example: every file of it is tried by the program that reads it, where a machine has that program."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import shutil
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus

from annotation.label_store.engine import open_label_store
from annotation.studies.whole_backup import read_backup
from audit.settings import Settings
from pages._blinded.session_cookie import NAME as COOKIE
from tests.browser.conftest import server
from tests.support.ports import free_port, free_ports
from tests.support.postgres import NoPostgresError, postgres_server
from tests.support.studies import PASSWORD, people
from tests.support.visitor import sign_in, visit

FOLDER = Path(__file__).parents[2] / "examples" / "deploy"
NAME = "audit.example.org"


def tool(name: str) -> str:
    """The path of a program, or a skip."""
    path = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    return path or pytest.skip(f"{name} is not installed on this machine")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a PI, and a certificate."""
    folder = tmp_path_factory.mktemp("deployed")
    store = open_label_store(f"sqlite:///{folder / 'studies.db'}")
    people(store, "petra", role="pi")
    store.close()
    subprocess.run(
        [tool("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost", "-keyout", folder / "tls.key", "-out", folder / "tls.pem"],
        check=True, capture_output=True,
    )  # fmt: skip
    return folder


@pytest.fixture(scope="module", params=["", "audit"], ids=["own name", "sub-path"])
def dashboard(request: pytest.FixtureRequest, folder: Path) -> Iterator[tuple[str, str]]:
    """(address behind the proxy, sub-path) of a dashboard with the settings of the example and a header for single sign-on."""
    settings = dict(re.findall(r"^(AUDIT_\w+)=(.*)$", (FOLDER / "audit.env").read_text(), re.MULTILINE))
    settings.update(
        AUDIT_PUBLIC_HOSTS="localhost", AUDIT_TRUSTED_USER_HEADER="X-Remote-User", STREAMLIT_SERVER_BASE_URL_PATH=request.param
    )
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:  # for the server that starts, and not for the tests
            for name, value in settings.items():
                patch.setenv(name, value)
            address = stack.enter_context(server(folder, folder / "log", base_path=request.param))
        yield address, request.param


@contextmanager
def nginx(folder: Path, backend: str, change: Callable[[str], str]) -> Iterator[str]:
    """The shipped configuration with names, ports and files of this test."""
    port, plain = free_ports(2)
    site = (FOLDER / "nginx.conf").read_text()
    for old, new in {
        "listen 443 ssl http2": f"listen 127.0.0.1:{port} ssl http2", "listen 80": f"listen 127.0.0.1:{plain}",
        "127.0.0.1:8501": backend, NAME + ";": "localhost;",
        f"/etc/ssl/certs/{NAME}.pem": f"{folder}/tls.pem", f"/etc/ssl/private/{NAME}.key": f"{folder}/tls.key",
    }.items():  # fmt: skip
        assert old in site
        site = site.replace(old, new)
    paths = " ".join(f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    user = "user root;" if os.geteuid() == 0 else ""  # or nobody could not read the test's folder
    (folder / "nginx.conf").write_text(
        f"daemon off; {user} pid {folder}/nginx.pid; error_log {folder}/nginx.log; events {{}}\n"
        f"http {{ access_log off; {paths}\n{change(site)}\n}}\n"
    )
    with running([tool("nginx"), "-c", str(folder / "nginx.conf"), "-p", str(folder)], port):
        yield f"https://localhost:{port}"


@contextmanager
def caddy(folder: Path, backend: str, change: Callable[[str], str]) -> Iterator[str]:
    """The shipped configuration with the name, port and files of this test, and without asking for a certificate."""
    port = free_port()
    site = (FOLDER / "Caddyfile").read_text()
    for old, new in {
        f"\n{NAME} {{": f"\n{{\n\tadmin off\n\tauto_https off\n\tdefault_bind 127.0.0.1\n}}\nhttps://localhost:{port} {{\n"
        f"\ttls {folder}/tls.pem {folder}/tls.key",
        "127.0.0.1:8501": backend,
    }.items():  # fmt: skip
        assert old in site
        site = site.replace(old, new)
    (folder / "Caddyfile").write_text(change(site))
    with running([tool("caddy"), "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")], port):
        yield f"https://localhost:{port}"


@contextmanager
def running(command: list[str], port: int) -> Iterator[None]:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        for _ in range(200):
            assert process.poll() is None, process.stderr and process.stderr.read()
            try:
                ssl.get_server_certificate(("localhost", port))
                break
            except OSError:
                time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait(20)


def status(address: str, tls: ssl.SSLContext) -> int:
    try:
        with urllib.request.urlopen(address, timeout=30, context=tls) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code


PROXIES = {"nginx": nginx, "caddy": caddy}


@pytest.mark.parametrize("proxy", PROXIES)
def test_one_signs_in_by_password_and_reads_a_page_through_the_proxy(proxy, dashboard, folder):
    backend, path = dashboard
    tls = ssl.create_default_context(cafile=str(folder / "tls.pem"))
    with PROXIES[proxy](folder, backend.removeprefix("http://"), str) as host:
        address = f"{host}/{path}".rstrip("/")
        assert status(f"{address}/_stcore/health", tls) == 200
        assert status(f"{address}/ready", tls) == 200
        assert visit(address, tls=tls).pages == ["Sign in"]
        assert visit(address, {"X-Remote-User": "petra", "X-Forwarded-For": "127.0.0.1"}, tls).pages == ["Sign in"]
        cookie = sign_in(address, "petra", PASSWORD, tls)
        assert {"HttpOnly", "SameSite=strict", "Secure"} <= set(cookie.split("; "))
        token = re.search(f"(?:__Host-)?{COOKIE}=([^;]+)", cookie)
        assert token is not None
        assert "Studies" in visit(address, {"Cookie": token[0]}, tls).pages


def test_nginx_serves_200_requests_of_one_address_at_once_and_refuses_more(folder):
    tls = ssl.create_default_context(cafile=str(folder / "tls.pem"))

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()  # until nginx hangs up
        writer.close()

    async def ask(port: str) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(port), ssl=tls, server_hostname="localhost")
        writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        try:
            return await reader.readline()
        finally:
            writer.close()

    async def refused() -> list[bytes]:
        behind = await asyncio.start_server(silent, "127.0.0.1", 0)
        host, port, *_ = behind.sockets[0].getsockname()
        with nginx(folder, f"{host}:{port}", str) as address:
            asked = [asyncio.create_task(ask(address.rpartition(":")[2])) for _ in range(210)]
            for _ in range(100):
                done, waiting = await asyncio.wait(asked, timeout=0.2)
                if len(done) >= 10:
                    break
            for one in waiting:
                one.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
        return [one.result() for one in done]

    assert [line.split()[1] for line in asyncio.run(refused())] == [b"503"] * 10


def with_passwords(proxy: str, folder: Path, site: str) -> str:
    """The configuration with the proxy's own passwords, and with the header in which it names its users."""
    if proxy == "nginx":
        hashed = subprocess.run([tool("openssl"), "passwd", "-apr1", PASSWORD], capture_output=True, text=True, check=True).stdout
        (folder / "users").write_text(f"petra:{hashed}")
        return site.replace(
            'proxy_set_header X-Remote-User "";',
            f"proxy_set_header X-Remote-User $remote_user; auth_basic audit; auth_basic_user_file {folder}/users;",
        )
    command = [tool("caddy"), "hash-password", "--plaintext", PASSWORD]
    hashed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    return site.replace("header_up -X-Remote-User", "header_up X-Remote-User {http.auth.user.id}").replace(
        "\treverse_proxy", f"\tbasicauth {{\n\t\tpetra {hashed}\n\t}}\n\treverse_proxy"
    )


@pytest.mark.parametrize("proxy", PROXIES)
def test_the_proxy_signs_people_in_by_a_header_that_nobody_else_can_send(proxy, dashboard, folder):
    backend, path = dashboard
    tls = ssl.create_default_context(cafile=str(folder / "tls.pem"))
    with PROXIES[proxy](folder, backend.removeprefix("http://"), lambda site: with_passwords(proxy, folder, site)) as host:
        address = f"{host}/{path}".rstrip("/")
        for password in ("", f"petra:{PASSWORD}x"):
            with pytest.raises(InvalidStatus, match="401"):
                visit(address, {"X-Remote-User": "petra", **basic(password)}, tls)
        assert "Studies" in visit(address, {"X-Remote-User": "eve", **basic(f"petra:{PASSWORD}")}, tls).pages


def basic(name_and_password: str) -> dict[str, str]:
    return {"Authorization": f"Basic {b64encode(name_and_password.encode()).decode()}"} if name_and_password else {}


def test_of_two_processes_behind_nginx_with_postgresql_one_may_stop_and_nobody_signs_in_again(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("AUDIT_BROWSING", "signed-in")
    tls = ssl.create_default_context(cafile=str(folder / "tls.pem"))
    with ExitStack() as all_of_it, ExitStack() as one_of_them:
        try:
            url = all_of_it.enter_context(postgres_server())
        except NoPostgresError as missing:
            pytest.skip(f"no PostgreSQL: {missing}")
        monkeypatch.setenv("AUDIT_STUDIES_URL", url)
        store = open_label_store(url)
        people(store, "petra", role="pi")
        store.close()
        backends = [stack.enter_context(server(tmp_path)).removeprefix("http://") for stack in (one_of_them, all_of_it)]
        address = all_of_it.enter_context(nginx(folder, f"{backends[0]}; server {backends[1]}; ip_hash", str))
        cookie = sign_in(address, "petra", PASSWORD, tls).split(";")[0]
        for _ in range(4):
            assert "Studies" in visit(address, {"Cookie": cookie}, tls).pages
        one_of_them.close()
        for _ in range(4):
            assert "Studies" in visit(address, {"Cookie": cookie}, tls).pages


@pytest.mark.parametrize("name", ["handbook-audit.service", "handbook-audit-backup.service"])
def test_the_unit_is_valid_and_little_of_the_system_is_exposed_to_it(tmp_path, name):
    analyze = tool("systemd-analyze")
    unit = tmp_path / name
    unit.write_text(re.sub("ExecStart=.*", "ExecStart=/bin/true", (FOLDER / unit.name).read_text()))
    verified = subprocess.run([analyze, "verify", unit], capture_output=True, text=True)
    assert (verified.returncode, verified.stderr) == (0, "")
    checked = subprocess.run([analyze, "security", "--offline=true", "--threshold=20", unit], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout.splitlines()[-1:]


def test_the_timer_starts_the_backup_every_night(tmp_path):
    for name in ("handbook-audit-backup.timer", "handbook-audit-backup.service"):
        unit = (FOLDER / name).read_text()
        (tmp_path / name).write_text(re.sub("ExecStart=.*", "ExecStart=/bin/true", unit))
    verified = subprocess.run(
        [tool("systemd-analyze"), "verify", tmp_path / "handbook-audit-backup.timer"], capture_output=True, text=True
    )
    assert (verified.returncode, verified.stderr) == (0, "")
    (when,) = re.findall("OnCalendar=(.*)", (FOLDER / "handbook-audit-backup.timer").read_text())
    subprocess.run([tool("systemd-analyze"), "calendar", when], check=True, capture_output=True)


def test_the_backup_service_writes_a_backup_and_deletes_old_ones_only(folder, tmp_path):
    (tmp_path / "studies-20200101-020000.db").touch()
    os.utime(tmp_path / "studies-20200101-020000.db", (0, 0))
    unit = (FOLDER / "handbook-audit-backup.service").read_text().replace("%%", "%")
    unit = unit.replace("/var/lib/handbook-audit-backup", str(tmp_path))
    unit = unit.replace("/opt/handbook-audit/.venv/bin/audit", f"{sys.executable} -m audit")
    for command in re.findall("^ExecStart(?:Post)?=(.*)", unit, re.MULTILINE):
        subprocess.run(shlex.split(command), check=True, env={**os.environ, "AUDIT_DATA_DIR": str(folder)}, capture_output=True)
    whole, backup = sorted(tmp_path.iterdir())
    assert re.fullmatch(r"studies-20\d{6}-\d{6}\.db", backup.name)
    assert b"petra" in backup.read_bytes()
    assert read_backup(whole).holds["accounts"] > 0


def test_the_environment_file_names_every_setting():
    documented = set(re.findall(r"^    .*?(AUDIT_[A-Z_]+)", Settings.__doc__ or "", re.MULTILINE)) | {"AUDIT_PORT"}
    assert documented == set(re.findall(r"AUDIT_[A-Z_]+", (FOLDER / "audit.env").read_text()))


@pytest.mark.parametrize(("image", "code"), [("python:3.13", 1), ("", 1), (f"docker.io/library/python@sha256:{'a' * 64}", 0)])
def test_a_base_image_without_a_digest_stops_the_build(image, code):
    text = (FOLDER / "Containerfile").read_text()
    (check,) = re.findall("^RUN (case .*)", text, re.MULTILINE)
    assert subprocess.run(["sh", "-c", check], env={"PYTHON": image}, capture_output=True, check=False).returncode == code
    assert "ARG PYTHON=" not in text


def test_the_containerfile_has_no_finding_of_hadolint():
    subprocess.run([tool("hadolint"), FOLDER / "Containerfile"], check=True)
