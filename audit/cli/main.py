"""The command line: `audit demo | check | load | runs | metrics | questions | judge | export | themes | serve | schema`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from inspect import Parameter
from pathlib import Path
from typing import Any

import audit
from audit.cli import export, extract, generate, judge, questions, retrieve, serve, themes
from audit.cli import run as run_command
from audit.cli.command import FINDINGS, OK, add_command, answer
from audit.demo.build import DEFAULT_SEED, write_demo
from audit.demo.build import write_earlier
from audit.errors import AuditError
from audit.exports.tables import csv_text, json_text, markdown_text
from audit.metrics import METRICS, Metric
from audit.queries.run_taxonomy import require_taxonomy, taxonomy_of
from audit.release.report import report_as_text
from audit.release.schema import json_schema
from audit.settings import Settings
from audit.store.connection import Connection, open_store, open_two
from audit.store.load import Loaded, check_release, load_release
from audit.store.runs import Run, find_run, list_runs, unreadable_stores
from audit.vocabulary import nearest

WRITERS: dict[str, Callable[..., str]] = {"json": json_text, "md": markdown_text, "csv": lambda frame, *_: csv_text(frame)}
EXIT_CODES = "Exit code: 0 all is well, 1 loaded (or loadable) but the report has something to say, 2 nothing was done."


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    return answer(parser(), argv)


def parser() -> argparse.ArgumentParser:
    """The commands, their options and their help."""
    top = argparse.ArgumentParser(
        prog="audit",
        description="See where institutions' handbooks disagree.",
        epilog=Settings.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=audit.__version__)
    commands = top.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _demo(commands)
    extract.register(commands)
    _check(commands)
    _load(commands)
    _runs(commands)
    _metrics(commands)
    questions.register(commands)
    retrieve.register(commands)
    generate.register(commands)
    run_command.register(commands)
    judge.register(commands)
    export.register(commands)
    themes.register(commands)
    serve.register(commands)
    _schema(commands)
    return top


def _demo(commands: Any) -> None:
    command = add_command(commands, "demo", demo, "Write the synthetic demo release, load it, and open the dashboard on it.")
    command.add_argument(
        "--scale", choices=("small", "paper"), default="small", help="paper: the full published shape, 5.7 million pairs"
    )
    command.add_argument("--seed", type=int, default=DEFAULT_SEED, help="another seed is another world")
    command.add_argument("--no-serve", action="store_true", help="write and load only")
    serve.address(command)


def _check(commands: Any) -> None:
    command = add_command(commands, "check", check, "Say what loading a release would report, without loading it.", EXIT_CODES)
    command.add_argument("path", type=Path, help="release folder, .zip or .tar.gz")
    command.add_argument("--json", action="store_true", help="the report for machines, every finding included")


def _load(commands: Any) -> None:
    command = add_command(commands, "load", load, "Load a release as a run.", EXIT_CODES)
    command.add_argument("path", type=Path, help="release folder, .zip or .tar.gz")
    command.add_argument("--json", action="store_true", help="the report for machines, every finding included")
    command.add_argument("--again", action="store_true", help="rebuild the run even if the same content is loaded")


def _runs(commands: Any) -> None:
    command = add_command(commands, "runs", runs, "List the loaded runs, newest first.")
    command.add_argument("--json", action="store_true", help="for machines")


def _metrics(commands: Any) -> None:
    command = add_command(commands, "metrics", metrics, "Print one metric of a run.")
    command.add_argument("name", help="labels, organs, handbooks, ...; 'list' names them all")
    command.add_argument("--run", help="run id or key (default: the newest whole run)")
    command.add_argument("--against", metavar="RUN", help="the second run, for a metric that compares two")
    command.add_argument("--format", choices=("json", "csv", "md"), default="md")
    command.add_argument("--explain", action="store_true", help="print the definition and the SQL instead")
    command.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="an option of the metric, such as level=subtopic"
    )


def _schema(commands: Any) -> None:
    add_command(commands, "schema", schema, "Print the release format as a JSON Schema.")


# -- commands ----------------------------------------------------------------------------------------------------------


def check(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit check PATH`"""
    return _report(check_release(arguments.path, settings, _progress(arguments)), arguments.json)


def load(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit load PATH`"""
    loaded = load_release(arguments.path, settings, again=arguments.again, progress=_progress(arguments))
    code = _report(loaded, arguments.json)
    if not arguments.json:
        print(f"\nRun {loaded.run.key} is {'' if loaded.fresh else 'already '}loaded. See it with: audit serve")
    return code


def _progress(arguments: argparse.Namespace) -> Callable[[str], None]:
    return (lambda _: None) if arguments.json else _say


def _report(loaded: Loaded, as_json: bool) -> int:
    report = loaded.run.report
    if as_json:
        findings = [asdict(finding) for finding in loaded.report.findings] if loaded.report else []
        print(
            json.dumps(
                {"run": loaded.run.key, "fresh": loaded.fresh, **report, "details": findings}, indent=1, ensure_ascii=False
            )
        )
    else:
        print(report_as_text(loaded.report) if loaded.report else report["verdict"])
    return OK if report["clean"] else FINDINGS


def runs(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit runs`"""
    found = list_runs(settings.store_dir)
    for path, why in unreadable_stores(settings.store_dir).items():
        print(f"{path} is left out: it cannot be read ({why}). Load its release again, or delete it.", file=sys.stderr)
    if arguments.json:
        print(
            json.dumps(
                [{"run": r.key, "title": r.title, "loaded_at": r.loaded_at, "verdict": r.report["verdict"]} for r in found],
                indent=1,
            )
        )
        return OK
    for run in found:
        print(f"{run.key:<32} {run.loaded_at[:16]}  {run.title}: {run.report['verdict']}")
    if not found:
        print(f"No run is loaded in {settings.store_dir}. Load one with: audit load PATH, or see the demo with: audit demo")
    return OK


def schema(_: argparse.Namespace, __: Settings) -> int:
    """`audit schema`"""
    print(json.dumps(json_schema(), indent=1))
    return OK


def metrics(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit metrics NAME --run RUN`"""
    if arguments.name == "list":
        print("\n".join(f"{name:<18}{metric.docstring.splitlines()[0]}" for name, metric in METRICS.items()))
        return OK
    metric = _metric(arguments.name)
    if arguments.explain:
        print(f"{metric.docstring}\n{metric.sql}")
        return OK
    run = find_run(settings.store_dir, arguments.run)
    with _opened(metric, run, arguments.against, settings) as con:
        frame = metric.function(con, **_taxonomies(metric, run, arguments.against, settings), **_options(metric, arguments.set))
    print(WRITERS[arguments.format](frame, run, metric.name).rstrip())
    return OK


def _opened(metric: Metric[...], run: Run, against: str | None, settings: Settings) -> Connection:
    """A connection to the run, and for a metric that compares, to the other run too."""
    if metric.compares != bool(against):
        fault = "compares two runs: name the other with --against RUN" if metric.compares else "is of one run, without --against"
        raise AuditError(f"Metric '{metric.name}' {fault}. Nothing was counted.")
    if not against:
        return open_store(run.path)
    other = find_run(settings.store_dir, against)
    if other.path == run.path:
        raise AuditError(f"Run {run.key} was to be compared with itself. Nothing was counted. `audit runs` lists the others.")
    return open_two(run.path, other.path)


def _taxonomies(metric: Metric[...], run: Run, against: str | None, settings: Settings) -> dict[str, Any]:
    """What a metric that counts by themes takes; the second run's themes may be missing."""
    if not metric.by_theme:
        return {}
    found: dict[str, Any] = {"taxonomy": require_taxonomy(run, settings.themes_dir)}
    if against:
        found["against"] = taxonomy_of(find_run(settings.store_dir, against), settings.themes_dir)
    return found


def _metric(name: str) -> Metric[...]:
    if name not in METRICS:
        raise AuditError(
            f"There is no metric '{name}'.{nearest(name, tuple(METRICS))} Nothing was counted. Allowed: {', '.join(METRICS)}."
        )
    return METRICS[name]


def _options(metric: Metric[...], given: list[str]) -> dict[str, str]:
    """The metric's own options from NAME=VALUE texts, every required one among them."""
    options = dict(text.partition("=")[::2] for text in given)
    known = {name: default for name, default in metric.options.items() if default is Parameter.empty or isinstance(default, str)}
    needed = [name for name, default in known.items() if default is Parameter.empty and name not in options]
    unknown = [name for name in options if name not in known]
    if needed or unknown:
        fault = f"needs --set {needed[0]}=VALUE" if needed else f"has no option '{unknown[0]}'"
        raise AuditError(f"Metric '{metric.name}' {fault}. Nothing was counted. Its options: {', '.join(known) or 'none'}.")
    return options


def demo(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit demo`"""
    earlier = _earlier_demo(arguments.seed, settings) if arguments.scale == "small" else None
    path = demo_release(settings, arguments.scale, arguments.seed)
    if not (path / "manifest.json").is_file():  # the manifest is written last: a folder with one is complete
        _say(f"Writing the demo release to {path}")
        write_demo(path, arguments.scale, arguments.seed, _tenths)
    loaded = load_release(path, settings, again=earlier is not None and earlier.fresh, progress=_say)  # so it is the newest
    themes.by_words(loaded.run, settings)
    if earlier is not None:
        themes.by_words(earlier.run, settings, like=loaded.run)
    print(f"Run {loaded.run.key}: {loaded.run.report['verdict']}")
    return OK if arguments.no_serve else serve.serve(arguments, settings)


def demo_release(settings: Settings, scale: str = "small", seed: int = DEFAULT_SEED) -> Path:
    """Where `audit demo` writes the release of that scale and seed."""
    return settings.releases_dir / f"demo-{scale}-{seed}"


def _earlier_demo(seed: int, settings: Settings) -> Loaded:
    """The run that the demo is compared with, written and loaded before it."""
    path = settings.releases_dir / f"demo-small-{seed}-earlier"
    if not (path / "manifest.json").is_file():
        write_earlier(path, seed)
    return load_release(path, settings)


def _say(step: str) -> None:
    print(f"{step} ...", file=sys.stderr)


def _tenths(done: int, total: int) -> None:
    if total >= 1_000 and done % (total // 10) == 0:
        _say(f"  {done:,} of {total:,} questions")
