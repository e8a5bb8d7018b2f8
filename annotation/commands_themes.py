"""Commands about curated themes: `annotation themes history | export | replay`.

`register` adds them to a command line; each is a function (arguments, settings) -> exit code, and faults are AuditErrors.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from annotation.label_store.engine import LabelStore, open_label_store
from annotation.label_store.errors import StudyError
from annotation.label_store.ledger import verify_edits
from annotation.label_store.theme_edits import count_edits
from annotation.studies.accounts import find_account
from annotation.theme_edits.edits import ThemeEdit, describe_change, effective_edits
from annotation.theme_edits.history import edits_from_jsonl, edits_to_jsonl, history_table
from annotation.theme_edits.record import NewEdit, list_edits, record_edit
from annotation.theme_edits.replay import EditConflict, apply_edits
from audit.atomic_io import write_atomic
from audit.cli.command import FINDINGS, OK, add_command
from audit.cli.themes import TOPICS
from audit.errors import describe_error
from audit.exports.tables import csv_bytes
from audit.queries.run_taxonomy import map_points, require_taxonomy, taxonomy_of
from audit.settings import Settings
from audit.store.connection import open_store, rows
from audit.store.runs import Run, find_run
from audit.themes.taxonomy import Taxonomy, read_taxonomy, write_taxonomy

REPLAY = """Themes are known by their ids, phrases by their text. An act that fits no longer (its theme is gone, its phrase is
elsewhere now, its name is taken) is listed and left out; the others are applied. Exit code: 0 every act fits, 1 some do not,
2 nothing was done."""


def register(commands: Any) -> None:
    """Add the command and its three parts to `commands`, the sub-parsers of a command line."""
    themes = commands.add_parser("themes", help="What people changed about the themes of a run.")
    parts = themes.add_subparsers(title="parts", required=True, metavar="history|export|replay")
    _of_run(add_command(parts, "history", history, "List every act of curation: author, time, reason, and whether it counts."))
    export_ = add_command(parts, "export", export, "Write every act of curation to a file.")
    _of_run(export_)
    export_.add_argument("--out", type=Path, required=True, help="file: .csv for a spreadsheet, .jsonl to replay")
    _replay(add_command(parts, "replay", replay, "Apply acts of curation to a taxonomy, and list what does not fit.", REPLAY))


def _of_run(command: argparse.ArgumentParser) -> None:
    command.add_argument("--run", help="run id or key (default: the newest whole run)")


def _replay(command: argparse.ArgumentParser) -> None:
    _of_run(command)
    command.add_argument("--taxonomy", type=Path, metavar="FILE", help="another themes.json than the run's own")
    source = command.add_mutually_exclusive_group()
    source.add_argument("--from", dest="source", metavar="RUN", help="the acts on another run, such as the one judged before")
    source.add_argument("--acts", type=Path, metavar="FILE.jsonl", help="acts that were exported")
    what = command.add_mutually_exclusive_group()
    what.add_argument("--out", type=Path, metavar="FILE.json", help="write the curated taxonomy")
    what.add_argument(
        "--keep-as", metavar="NAME", help="with --from or --acts: write those that fit to the run's own acts, by this account"
    )


def history(arguments: argparse.Namespace, settings: Settings) -> int:
    """`annotation themes history --run RUN`"""
    run, store = _run(arguments, settings), _store(settings)
    acts = list_edits(store, run.digest)
    built = taxonomy_of(run, settings.themes_dir)
    conflicts = apply_edits(built, acts).conflicts if built else ()
    for row in reversed(history_table(acts, conflicts).to_dict("records")):
        when = str(row["made_at"])[:16].replace("T", " ")
        print(f"{row['act']:>4}  {when}  {row['author']}: {row['what']}. {row['reason']} [{row['standing']}]")
    print(f"{len(acts):,} acts on the themes of {run.key}, {len(effective_edits(acts)):,} of which count.")
    _say_conflicts(conflicts)
    faults = verify_edits(store, run.digest)
    print("\n".join(faults) if faults else "Every entry is as it was written.")
    return FINDINGS if faults else OK


def export(arguments: argparse.Namespace, settings: Settings) -> int:
    """`annotation themes export --run RUN --out FILE`"""
    run = _run(arguments, settings)
    acts = list_edits(_store(settings), run.digest)
    makers = {".csv": lambda: csv_bytes(history_table(acts)), ".jsonl": lambda: edits_to_jsonl(acts).encode()}
    ending = arguments.out.suffix.lower()
    if ending not in makers:
        raise StudyError(f"--out {arguments.out}: the name must end in {' or '.join(makers)}. Nothing was written.")
    try:
        write_atomic(arguments.out, makers[ending]())
    except OSError as error:
        raise StudyError(f"{arguments.out} cannot be written: {error.strerror}. Name a file in a folder that is there.") from None
    print(f"Wrote {len(acts):,} acts on the themes of {run.key} to {arguments.out}")
    return OK


def replay(arguments: argparse.Namespace, settings: Settings) -> int:
    """`annotation themes replay --run RUN`"""
    run, store = _run(arguments, settings), _store(settings)
    acts, source = _acts(arguments, settings, store, run)
    if arguments.keep_as:
        return _keep(store, run, _own(arguments, run, settings), acts, source, arguments.keep_as)
    taxonomy = read_taxonomy(arguments.taxonomy) if arguments.taxonomy else require_taxonomy(run, settings.themes_dir)
    found = apply_edits(taxonomy, acts)
    print(f"{found.edits:,} acts count; {found.edits - len(found.conflicts):,} of them fit the taxonomy as they were meant.")
    _say_conflicts(found.conflicts)
    if arguments.out:
        places = map_points(run, settings.themes_dir)
        written = write_taxonomy(found.taxonomy, _points(found.taxonomy, run, places), arguments.out)
        print(f"Wrote the curated taxonomy, {written.counts['themes']:,} themes, sha256 {written.sha256[:12]}: {arguments.out}")
    return FINDINGS if found.conflicts else OK


def _acts(arguments: argparse.Namespace, settings: Settings, store: LabelStore, run: Run) -> tuple[list[ThemeEdit], str]:
    """The acts to replay, and a short name of where they are from."""
    if arguments.acts:
        try:
            data = arguments.acts.read_bytes()
            return edits_from_jsonl(data.decode("utf-8-sig")), hashlib.sha256(data).hexdigest()[:16]
        except (OSError, UnicodeDecodeError) as error:
            raise StudyError(f"{arguments.acts} cannot be read ({describe_error(error)}). Nothing was done.") from None
    other = find_run(settings.store_dir, arguments.source) if arguments.source else run
    return list_edits(store, other.digest), other.key


def _own(arguments: argparse.Namespace, run: Run, settings: Settings) -> Taxonomy:
    """The taxonomy of the run to which acts are written, where what was asked for makes sense."""
    if arguments.taxonomy or not (arguments.source or arguments.acts):
        raise StudyError(
            "--keep-as writes the acts of another run or of a file (--from, --acts) to those of this run, whose own taxonomy "
            "they have to fit (no --taxonomy). Nothing was saved."
        )
    return require_taxonomy(run, settings.themes_dir)


def _keep(store: LabelStore, run: Run, taxonomy: Taxonomy, acts: Sequence[ThemeEdit], source: str, name: str) -> int:
    """Write the acts that count and fit to the ledger of a run, by whoever carries them over; the reason says who made them."""
    person = find_account(store, name)
    if person is None:
        raise StudyError(f"There is no account '{name}'. Nothing was saved. See: annotation account list")
    left = 0
    for act in effective_edits(acts):
        reason = f"{act.reason} [from {source}, act {act.seq} by {act.author}, {act.made_at[:10]}]"
        wish = NewEdit(act.change, reason, f"{source[-80:]}/{act.seq}", count_edits(store, run.digest))
        try:
            record_edit(store, run.digest, taxonomy, person, wish, datetime.now(UTC))
        except StudyError as error:
            left += 1
            print(f"Act {act.seq} ({describe_change(act.change)}): {error}")
    print(f"{len(effective_edits(acts)) - left:,} acts are now among those on the themes of {run.key}; {left:,} were left out.")
    return FINDINGS if left else OK


def _points(taxonomy: Taxonomy, run: Run, places: pd.DataFrame) -> pd.DataFrame:
    """The map of a curated taxonomy: the places as they are, the themes as they are now."""
    with open_store(run.path) as con:
        occurs: dict[str, int] = dict(rows(con, TOPICS))
    phrases = pd.DataFrame(taxonomy.theme_of().items(), columns=["phrase", "theme_id"], dtype="str")
    phrases["count"] = [occurs.get(phrase, 0) for phrase in phrases["phrase"]]
    return phrases.merge(places, how="left", on="phrase")


def _say_conflicts(conflicts: Sequence[EditConflict]) -> None:
    for conflict in conflicts:
        print(conflict.sentence)


def _run(arguments: argparse.Namespace, settings: Settings) -> Run:
    return find_run(settings.store_dir, arguments.run)


def _store(settings: Settings) -> LabelStore:
    return open_label_store(settings.studies_url)
