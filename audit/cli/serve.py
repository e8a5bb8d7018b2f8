"""`audit serve`: the dashboard takes this process over."""

from __future__ import annotations

import argparse
import os
import socket
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import audit
from audit.cli.arguments import port
from audit.cli.command import add_command
from audit.errors import AuditError, describe_error
from audit.settings import Settings


def register(commands: Any) -> None:
    """Add the command."""
    address(add_command(commands, "serve", serve, "Open the dashboard on the loaded runs."))


def address(command: argparse.ArgumentParser) -> None:
    """Add the options that say where the dashboard listens."""
    command.add_argument("--host", help="address to listen on (default: AUDIT_HOST, or 127.0.0.1)")
    command.add_argument("--port", type=port, help="port to listen on (default: AUDIT_PORT, or 8501)")


def serve(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit serve`"""
    settings = replace(settings, host=arguments.host or settings.host, port=arguments.port or settings.port)
    app = _app()
    _must_be_free(settings.host, settings.port)
    print(f"The dashboard opens at http://{settings.host}:{settings.port} (stop it with Ctrl-C).", file=sys.stderr)
    options = {
        "server.address": settings.host,
        "server.port": settings.port,
        "server.headless": "true",
        "server.fileWatcherType": "none",
        "browser.gatherUsageStats": "false",
    }
    flags = [f"--{name}={value}" for name, value in options.items()]
    os.execv(  # noqa: S606 - the dashboard takes this process over, so that Ctrl-C and signals reach it
        sys.executable, [sys.executable, str(app.parent / "pages" / "_blinded" / "serve.py"), "run", str(app), *flags]
    )


def _must_be_free(host: str, number: int) -> None:
    """Streamlit would say that a port is taken in the middle of its start, and of a wrong address nothing that helps."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        with socket.socket(family, kind, protocol) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server itself does: a port just left is free
            trial.bind(place)
    except (OSError, UnicodeError) as error:
        raise AuditError(
            f"The dashboard cannot listen on {host}, port {number}: {describe_error(error)}. It was not started. "
            "Name another with --host and --port (AUDIT_HOST, AUDIT_PORT), or stop what listens there."
        ) from None


def _app() -> Path:
    """app.py: beside the package in a checkout, inside it in an installed wheel."""
    package = Path(audit.__file__).parent
    places = [package.parent / "app.py", package / "dashboard" / "app.py"]
    return next(place for place in places if place.is_file() and (place.parent / "pages").is_dir())
