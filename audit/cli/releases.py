"""`audit check | load | runs | schema`: releases, and the runs that are loaded from them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from audit.cli.conventions import FINDINGS, OK, add_json, note, print_result
from audit.jobs.asking import prepare_for_questions
from audit.release.report import report_as_text
from audit.release.schema import json_schema, markdown
from audit.result_cache import prepare_in_background
from audit.settings import Settings
from audit.store.load import Loaded, check_release, load_release
from audit.store.runs import read_stores

EXIT_CODES = "Exit code: 0 success, 1 the load report has findings, 2 nothing was done."


def check_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit check`."""
    parser.epilog = EXIT_CODES
    parser.add_argument("path", type=Path, help="release folder, .zip or .tar.gz")
    add_json(parser)


def check(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit check PATH`"""
    return _print_report(arguments, check_release(arguments.path, settings, _progress(arguments)))


def load_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit load`."""
    check_options(parser)
    parser.add_argument("--again", action="store_true", help="rebuild the run even if the same content is loaded")


def load(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit load PATH`"""
    loaded = load_release(arguments.path, settings, again=arguments.again, progress=_progress(arguments))
    if loaded.fresh:
        prepare_in_background(loaded.run, settings.themes_dir)
        prepare_for_questions(loaded.run, settings.data_dir)
    code = _print_report(arguments, loaded)
    if not arguments.json:
        print(f"\nRun {loaded.run.key} is {'' if loaded.fresh else 'already '}loaded. View it with: audit serve")
    return code


def _progress(arguments: argparse.Namespace) -> Callable[[str], None]:
    return (lambda _: None) if arguments.json else (lambda step: note(f"{step} ..."))


def _print_report(arguments: argparse.Namespace, loaded: Loaded) -> int:
    report: dict[str, Any] = loaded.run.report
    text = report_as_text(loaded.report) if loaded.report else report["verdict"]
    findings = [asdict(finding) for finding in loaded.report.findings] if loaded.report else []
    print_result(arguments, text, {"run": loaded.run.key, "fresh": loaded.fresh, **report, "details": findings})
    return OK if report["clean"] else FINDINGS


def runs_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit runs`."""
    add_json(parser)


def runs(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit runs`"""
    loaded, problems = read_stores(settings.store_dir)
    for path, reason in problems.items():
        note(f"{path} is left out because it cannot be read ({reason}). Load its release again, or delete the file.")
    lines = [f"{run.key:<32} {run.loaded_at[:16]}  {' '.join(run.title.split())}: {run.report['verdict']}" for run in loaded]
    none = f"No run is loaded in {settings.store_dir}. Load one with: audit load PATH, or try the demo with: audit demo"
    records = [
        {"run": run.key, "title": run.title, "loaded_at": run.loaded_at, "verdict": run.report["verdict"]} for run in loaded
    ]
    return print_result(arguments, "\n".join(lines) or none, records)


def schema_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit schema`."""
    parser.add_argument("--markdown", action="store_true", help="the tables of the data card instead of a JSON Schema")


def schema(arguments: argparse.Namespace, _: Settings) -> int:
    """`audit schema`"""
    print(markdown() if arguments.markdown else json.dumps(json_schema(), indent=1))
    return OK
