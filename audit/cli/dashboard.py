"""`audit serve | jobs work`: replaces this process with the dashboard, and carries out the jobs that the dashboard starts."""

from __future__ import annotations

import argparse
import logging
import os
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import audit
from audit.atomic_io import atomic_folder, write_atomic
from audit.cli.conventions import FINDINGS, OK, add_json, note, port, print_result
from audit.cli.main import parse
from audit.commands import DEMO_STUDIES, DEMO_THEMES, load_object
from audit.errors import AuditError, ReleaseError, describe_error
from audit.jobs.asking import prepare_for_questions
from audit.jobs.processes import run_job
from audit.jobs.table import Job
from audit.logs import start_logging
from audit.queries.themes import taxonomy_path
from audit.release.layout import open_release
from audit.result_cache import precompute_loaded_themes, prepare_in_background
from audit.settings import Settings
from audit.store.load import load_release
from audit.store.runs import Run


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
        from audit.jobs.processes import STARTING, Progress

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


# -- `audit demo | example tenancy`: data to try the program with before you have a release of your own ------


SHIPPED_SCALE, SHIPPED_SEED = "small", 2057
"""Of the demo that ships in data/demo: two release files, their themes, and what simulated annotators found in its studies."""
SHIPPED_BYTES = 2**30  # more than the release files unpack to
SIMULATOR = "tests.simulator"
"""What writes demos of any scale and seed, and wrote those that are shipped. It is started by its name: a wheel is without it."""
TRUTH = "truth.jsonl"
THEMES = {"paper": 991}  # scale -> number of themes, where the paper has one


def demo_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit demo`."""
    parser.add_argument(
        "--scale", choices=("small", "paper"), default="small", help="small, or paper: the published size, 5.7 million pairs"
    )
    parser.add_argument(
        "--earlier", action="store_true", help="at scale paper: also an earlier run to compare with, which takes as long again"
    )
    parser.add_argument("--seed", type=int, default=SHIPPED_SEED, help="seed of the handbooks and answers")
    parser.add_argument(
        "--studies",
        action="store_true",
        help="also make three studies, and accounts of annotators, adjudicator and PI; prints how to sign in",
    )
    parser.add_argument("--no-serve", action="store_true", help="write and load it without opening the dashboard")
    add_json(parser)
    serve_options(parser)


def demo(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit demo`"""
    earlier = None
    if arguments.earlier or arguments.scale == "small":
        earlier = load_release(_release(arguments, settings, earlier=True), settings)
    # loaded after the earlier run, so it is the newest and pages open with it
    path = _release(arguments, settings)
    loaded = load_release(path, settings, again=earlier is not None and earlier.fresh, progress=_step)
    if loaded.fresh:
        prepare_in_background(loaded.run, settings.themes_dir)
        prepare_for_questions(loaded.run, settings.data_dir)
    _add_themes(loaded.run, settings, THEMES.get(arguments.scale))
    if earlier is not None:
        _add_themes(earlier.run, settings, THEMES.get(arguments.scale), like=loaded.run)
    result = {"run": loaded.run.key, "verdict": loaded.run.report["verdict"]}
    text = f"Run {loaded.run.key}: {loaded.run.report['verdict']}"
    if arguments.studies:
        studies_text, studies = load_object(DEMO_STUDIES)(loaded.run, _readings(loaded.run, settings), settings)
        text, result = f"{text}\n{studies_text}", result | studies
    print_result(arguments, text, result)
    return OK if arguments.no_serve else serve(arguments, settings)


def _release(arguments: argparse.Namespace, settings: Settings, *, earlier: bool = False) -> Path:
    """The folder of the demo's release, or of the earlier run that it is compared with; written where it is missing."""
    what, suffix, options = ("the earlier run", "-earlier", ["--earlier"]) if earlier else ("the demo release", "", [])
    name = f"demo-{arguments.scale}-{arguments.seed}{suffix}"
    path = settings.releases_dir / name
    # The manifest is written last: a folder without one was interrupted
    if (path / "manifest.json").is_file():
        return path
    if (arguments.scale, arguments.seed) == (SHIPPED_SCALE, SHIPPED_SEED):
        _unpack(what, package_data("data", "demo") / f"{name}.tar.xz", path)
    else:
        _simulate(what, ["--scale", arguments.scale, "--seed", str(arguments.seed), *options], path, settings)
    return path


def _add_themes(run: Run, settings: Settings, target: int | None, like: Run | None = None) -> None:
    """Give a run themes where it has none: those that ship, or themes by words that are built here, about `target` of them.

    like  a run whose themes keep their ids where the phrases are the same, so the two can be compared
    """
    path = taxonomy_path(run, settings.themes_dir)
    shipped = package_data("data", "demo") / path.name
    if not shipped.is_file():
        load_object(DEMO_THEMES)(run, settings, like=like, target=target)
    elif not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        # The map first: a taxonomy that is there is complete
        for ending in (".parquet", ".json"):
            write_atomic(path.with_suffix(ending), shipped.with_suffix(ending).read_bytes())
        precompute_loaded_themes(run, settings.themes_dir)


def _readings(run: Run, settings: Settings) -> Path:
    """The file of what simulated annotators found on a run of the demo; written where it neither ships nor is there already."""
    shipped, path = (folder / readings_name(run) for folder in (package_data("data", "demo"), settings.releases_dir))
    if shipped.is_file():
        return shipped
    if not path.is_file():
        _simulate("what simulated annotators find", ["--readings", run.key], path, settings)
    return path


def readings_name(run: Run) -> str:
    """Name of the file of what simulated annotators found on a run: other records have other studies, and other readings."""
    return f"{run.key.replace('@', '-')}.readings.jsonl"


def _unpack(what: str, shipped: Path, path: Path) -> None:
    note(f"Writing {what} to {path} ...")
    if (path / TRUTH).exists():  # only a demo has it: one whose writing was interrupted
        shutil.rmtree(path)
    if path.exists() and any(path.iterdir()):
        raise ReleaseError(f"{path} is not empty and is not an earlier demo. Nothing was written. Name an empty folder.")
    with open_release(shipped, SHIPPED_BYTES) as (content, _), atomic_folder(path) as draft:
        shutil.copytree(content, draft, dirs_exist_ok=True)


def _simulate(what: str, options: list[str], path: Path, settings: Settings) -> None:
    """Let the simulator, which comes with a checkout, write what does not ship."""
    checkout = Path(audit.__file__).parents[1]
    if not checkout.joinpath(*SIMULATOR.split(".")).is_dir():
        raise AuditError(
            f"The installed package has the demo of scale {SHIPPED_SCALE} with seed {SHIPPED_SEED} only: the simulator that "
            "makes others comes with a checkout of the project. Nothing was written. Run this command in a checkout, or open "
            "the demo that ships with: audit demo"
        )
    note(f"Writing {what} to {path} ...")
    command = [sys.executable, "-m", SIMULATOR, *options, "--out", str(path.absolute())]
    environment = {**os.environ, "AUDIT_DATA_DIR": str(settings.data_dir.absolute())}
    done = subprocess.run(command, cwd=checkout, env=environment, check=False)  # noqa: S603 - this Python, options parsed above
    if done.returncode:
        raise AuditError(f"The simulator stopped with status {done.returncode}; what it said is above. Nothing was loaded.")


def _step(step: str) -> None:
    note(f"{step} ...")


def example_tenancy_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit example tenancy`."""
    parser.epilog = "The example has eight fictional tenancy codes, questions about them, and a config for `audit run`."
    parser.add_argument("folder", type=Path, metavar="DIR", help="a new folder for the example")
    add_json(parser)


def example_tenancy(arguments: argparse.Namespace, _: Settings) -> int:
    """`audit example tenancy DIR`"""
    folder: Path = arguments.folder
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise AuditError(f"{folder} already exists and is not an empty folder. Nothing was written. Name a new folder.")
    with atomic_folder(folder) as draft:
        shutil.copytree(package_data("examples", "tenancy"), draft, dirs_exist_ok=True)
    config = folder / "config.toml"
    text = f"Wrote the example to {folder}. Run it with:\n  audit run {shlex.quote(str(config))}"
    return print_result(arguments, text, {"folder": str(folder), "config": str(config)})


def package_data(*names: str) -> Path:
    """A folder of data: next to the package in a checkout, inside it in an installed wheel."""
    package = Path(audit.__file__).parent
    return next(path for path in (package.joinpath(*names), package.parent.joinpath(*names)) if path.is_dir())
