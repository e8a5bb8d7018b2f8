"""`audit demo | example tenancy`: data to try the program with before you have a release of your own."""

from __future__ import annotations

import argparse
import shlex
import shutil
from pathlib import Path

import audit
from audit.atomic_io import atomic_folder
from audit.cli.conventions import OK, add_json, note, print_result
from audit.cli.dashboard import serve, serve_options
from audit.commands import DEMO_STUDIES, DEMO_THEMES, load_object
from audit.demo.build import DEFAULT_SEED, TRUTH_OF_SYSTEMS, write_demo, write_earlier
from audit.errors import AuditError
from audit.result_cache import precompute_results
from audit.settings import Settings
from audit.store.load import Loaded, load_release


def demo_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit demo`."""
    parser.add_argument(
        "--scale", choices=("small", "paper"), default="small", help="small, or paper: the published size, 5.7 million pairs"
    )
    parser.add_argument(
        "--earlier", action="store_true", help="at scale paper: also an earlier run to compare with, which takes as long again"
    )
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, help="seed of the handbooks and answers")
    parser.add_argument(
        "--studies", action="store_true",
        help="also make three studies with simulated annotators, and accounts for the four roles; prints how to sign in",
    )  # fmt: skip
    parser.add_argument("--no-serve", action="store_true", help="write and load it without opening the dashboard")
    add_json(parser)
    serve_options(parser)


def demo(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit demo`"""
    earlier = _earlier_demo(arguments, settings) if arguments.earlier or arguments.scale == "small" else None
    path = settings.releases_dir / f"demo-{arguments.scale}-{arguments.seed}"
    # The manifest is written last; a demo without the true values of systems is from an earlier version
    if not all((path / name).is_file() for name in ("manifest.json", TRUTH_OF_SYSTEMS)):
        note(f"Writing the demo release to {path} ...")
        write_demo(path, arguments.scale, arguments.seed, _note_tenths)
    # loaded after the earlier run, so it is the newest and pages open with it
    loaded = load_release(path, settings, again=earlier is not None and earlier.fresh, progress=_step)
    if loaded.fresh:
        precompute_results(loaded.run, progress=_step)
    build_lexical_themes = load_object(DEMO_THEMES)
    build_lexical_themes(loaded.run, settings)
    if earlier is not None:
        build_lexical_themes(earlier.run, settings, like=loaded.run)
    result = {"run": loaded.run.key, "verdict": loaded.run.report["verdict"]}
    text = f"Run {loaded.run.key}: {loaded.run.report['verdict']}"
    if arguments.studies:
        studies_text, studies = load_object(DEMO_STUDIES)(loaded.run, settings)
        text, result = f"{text}\n{studies_text}", result | studies
    print_result(arguments, text, result)
    return OK if arguments.no_serve else serve(arguments, settings)


def _earlier_demo(arguments: argparse.Namespace, settings: Settings) -> Loaded:
    """The run that the demo is compared with, written and loaded before it."""
    path = settings.releases_dir / f"demo-{arguments.scale}-{arguments.seed}-earlier"
    if not (path / "manifest.json").is_file():
        note(f"Writing the earlier run to {path} ...")
        write_earlier(path, arguments.seed, arguments.scale, _note_tenths)
    return load_release(path, settings)


def _step(step: str) -> None:
    note(f"{step} ...")


def _note_tenths(done: int, total: int) -> None:
    if total >= 1_000 and done % (total // 10) == 0:
        note(f"  {done:,} of {total:,} questions ...")


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
        shutil.copytree(_examples() / "tenancy", draft, dirs_exist_ok=True)
    config = folder / "config.toml"
    text = f"Wrote the example to {folder}. Run it with:\n  audit run {shlex.quote(str(config))}"
    print_result(arguments, text, {"folder": str(folder), "config": str(config)})
    return OK


def _examples() -> Path:
    """The examples: next to the package in a checkout, inside it in an installed wheel."""
    package = Path(audit.__file__).parent
    return next(folder for folder in (package / "examples", package.parent / "examples") if (folder / "tenancy").is_dir())
