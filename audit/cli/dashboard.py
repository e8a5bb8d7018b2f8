"""`audit serve | jobs work`: replaces this process with the dashboard, and carries out the jobs that the dashboard starts."""

from __future__ import annotations

import argparse
import logging
import os
import socket
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import audit
from audit.cli.conventions import FINDINGS, OK, note, port
from audit.cli.main import parse
from audit.errors import AuditError, describe_error
from audit.jobs.processes import run_job
from audit.jobs.table import Job
from audit.logs import start_logging
from audit.settings import Settings


def serve_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit serve`, and of `audit demo`, which ends in it."""
    parser.add_argument("--host", help="address to listen on (default: AUDIT_HOST, or 127.0.0.1)")
    parser.add_argument("--port", type=port, help="port to listen on (default: AUDIT_PORT, or 8501)")


def serve(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit serve`"""
    settings = replace(settings, host=arguments.host or settings.host, port=arguments.port or settings.port)
    app = _app()
    _check_address(settings.host, settings.port)
    _announce(f"The dashboard opens at http://{settings.host}:{settings.port} (stop it with Ctrl-C).", settings)
    options = {
        "server.address": settings.host,
        "server.port": settings.port,
        # Otherwise Streamlit asks for an e-mail address at its first start, and waits
        "server.headless": "true",
        # The code of a running dashboard does not change, and watching every file costs CPU time
        "server.fileWatcherType": "none",
        # A dashboard with confidential texts must not send usage statistics
        "browser.gatherUsageStats": "false",
        "logger.level": settings.log_level,
        "logger.hideWelcomeMessage": "true",
    }
    flags = [f"--{name}={value}" for name, value in options.items()]
    os.execv(  # noqa: S606 - the dashboard replaces this process, so Ctrl-C and signals reach it
        sys.executable, [sys.executable, str(app.parent / "pages" / "_blinded" / "serve.py"), "run", str(app), *flags]
    )


def _announce(message: str, settings: Settings) -> None:
    """Print a message for the person who started the server, or log it for the program that reads its log."""
    if settings.log_format == "text":
        note(message)
    else:
        start_logging(settings.log_format, settings.log_level)
        logging.getLogger(__name__).info(message)


def _check_address(host: str, number: int) -> None:
    # Tested first: Streamlit reports a port in use in the middle of its start, and a wrong address not at all.
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        with socket.socket(family, kind, protocol) as trial:
            # as the server itself does: a port that was just closed counts as free
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(address)
    except (OSError, UnicodeError) as error:
        raise AuditError(
            f"The dashboard cannot listen on {host}, port {number}: {describe_error(error)}. It was not started. "
            "Name another address with --host and --port (AUDIT_HOST, AUDIT_PORT), or stop the program that listens there."
        ) from None


def _app() -> Path:
    """app.py: next to the package in a checkout, inside it in an installed wheel."""
    package = Path(audit.__file__).parent
    candidates = [package.parent / "app.py", package / "dashboard" / "app.py"]
    return next(path for path in candidates if path.is_file() and (path.parent / "pages").is_dir())


def work_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit jobs work`."""
    parser.add_argument("job", metavar="NAME", help="name of the job")


def work(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit jobs work NAME`"""

    def carry_out(job: Job, store: Callable[[Mapping[str, Any]], None]) -> str:
        from audit.jobs.progress import STARTING, Progress

        progress = Progress(store)
        progress.update(phase=STARTING)
        command = parse(job.command)
        command.progress = progress
        code = command.function(command, settings)
        return (
            "" if code in (OK, FINDINGS) else str(progress.values.get("message") or f"The command ended with exit code {code}.")
        )

    run_job(settings, arguments.job, carry_out)
    return OK
