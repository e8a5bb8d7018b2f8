"""`audit study advance | release | export | import`: from the first rating to a closed study, and what other commands need."""

from __future__ import annotations

import argparse
import json
import secrets
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from annotation.cli.account import terminal_user
from annotation.label_store.access_log import Event, record_event
from annotation.label_store.assignments import release_assignments
from annotation.label_store.engine import LabelStore, StudyError, open_label_store
from annotation.label_store.studies import StudyState, advance_study, find_annotator, find_study
from annotation.schemes import PAIRS
from annotation.studies.accounts import find_account
from annotation.studies.adjudication import close_study
from annotation.studies.backup import CheckedCopy, back_up, check_copy, restore
from annotation.studies.demo_studies import DEMO_ACCOUNTS, RecordedReaders, create_demo_studies
from annotation.studies.head_to_head import preferences_jsonl
from annotation.studies.packet_reader import MAX_PACKET_BYTES
from annotation.studies.packets import import_packet, packet_csv, packet_xlsx
from annotation.studies.study_tables import codebook, ratings_table
from annotation.studies.validation import study_part
from annotation.studies.verification import heads_record, read_sealed_heads, verify_study
from audit.atomic_io import sha256_of, write_atomic
from audit.cli.conventions import FINDINGS, OK, add_json, print_result
from audit.closed_folder import read_plain
from audit.exports.package_request import StudyPart
from audit.exports.text_writers import csv_bytes
from audit.settings import Settings
from audit.store.runs import Run, list_runs


def _add_study(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", metavar="STUDY", help="id of the study")
    add_json(parser)


def advance_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit study advance`."""
    _add_study(parser)
    parser.add_argument("--incomplete", action="store_true", help="continue with missing ratings")


def advance(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit study advance STUDY`"""
    store = _store(settings)
    state, now = find_study(store, arguments.study).state, datetime.now(UTC)
    # Closing also checks that every dispute is decided.
    if state is StudyState.ADJUDICATION:
        following = close_study(store, arguments.study, now)
    else:
        with store.begin() as tx:
            following = advance_study(tx, arguments.study, state, now, incomplete=arguments.incomplete)
    text = f"Study '{arguments.study}' was in {state} and is now in {following}."
    return print_result(arguments, text, {"study": arguments.study, "from": str(state), "to": str(following)})


def release_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit study release`."""
    parser.epilog = "For studies with more than two annotators, if one of them does not return."
    _add_study(parser)
    parser.add_argument("annotator", metavar="ANNOTATOR", help="username of the annotator")


def release(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit study release STUDY ANNOTATOR`"""
    store = _store(settings)
    annotator = find_annotator(store, arguments.study, arguments.annotator)
    released = release_assignments(store, arguments.study, annotator)
    text = f"Study '{arguments.study}': {released:,} items released by {annotator}."
    return print_result(arguments, text, {"study": arguments.study, "annotator": str(annotator), "released": released})


# -- ratings as files ----------------------------------------------------------------------------------------------------


def export_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit study export`."""
    _add_study(parser)
    parser.add_argument("--packet", metavar="ANNOTATOR", help="write this annotator's blinded packet, to be filled in offline")
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="FILE",
        help=".csv; for packets also .xlsx; .jsonl: the choices of a head-to-head study, as a release has them",
    )


def export(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit study export STUDY --out FILE`"""
    store, study, out = _store(settings), arguments.study, arguments.out
    if arguments.packet:

        def packet(write: Callable[[LabelStore, str, str], bytes]) -> bytes:
            return write(store, study, find_annotator(store, study, arguments.packet))

        written = [write_out(out, {".csv": lambda: packet(packet_csv), ".xlsx": lambda: packet(packet_xlsx)})]
    elif out.suffix.lower() == ".jsonl":
        written = [write_out(out, {".jsonl": lambda: preferences_jsonl(store, study)})]
    else:
        written = _write_ratings(store, study, out)
    record_event(store, Event.EXPORT, terminal_user(), datetime.now(UTC), f"study {study}: {', '.join(written)}")
    return print_result(arguments, "\n".join(f"Wrote {path}" for path in written), {"files": written})


def _write_ratings(store: LabelStore, study_id: str, out: Path) -> list[str]:
    heads = heads_record(store, study_id)  # before the ratings are read, so the manifest seals none that the file lacks
    written = [
        write_out(out, {".csv": lambda: csv_bytes(ratings_table(store, study_id))}),
        write_out(
            out.with_name(f"{out.stem}_codebook.csv"), {".csv": lambda: csv_bytes(codebook(find_study(store, study_id).scheme))}
        ),
    ]
    files = {Path(name).name: {"sha256": sha256_of(Path(name))} for name in written}
    manifest = json.dumps({"study": {"study_id": study_id, "ledgers": heads}, "files": files}, indent=1) + "\n"
    return [*written, write_out(out.with_name(f"{out.stem}_manifest.json"), {".json": manifest.encode})]


def write_out(out: Path, writers: Mapping[str, Callable[[], bytes]]) -> str:
    """Write a file by the ending of its name; returns the name. Raises StudyError for another ending and for a failed write."""
    if (suffix := out.suffix.lower()) not in writers:
        raise StudyError(f"--out {out}: the name must end in {' or '.join(writers)}. Nothing was written.")
    try:
        write_atomic(out, writers[suffix]())
    except OSError as error:
        raise StudyError(
            f"{out} cannot be written: {error.strerror}. Nothing was written. Name a file in an existing folder."
        ) from None
    return str(out)


def import_ratings_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit study import`."""
    _add_study(parser)
    parser.add_argument("annotator", metavar="ANNOTATOR", help="username of the annotator")
    parser.add_argument("file", type=Path, metavar="FILE", help=".csv or .xlsx")


def import_ratings(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit study import STUDY ANNOTATOR FILE`"""
    try:
        data = read_plain(arguments.file.resolve(), MAX_PACKET_BYTES)
    except OSError as error:
        raise StudyError(f"{arguments.file} cannot be read: {error.strerror}. No rating was stored.") from None
    store = _store(settings)
    annotator = find_annotator(store, arguments.study, arguments.annotator)
    counts = import_packet(store, arguments.study, annotator, arguments.file.name, data, datetime.now(UTC))
    text = (
        f"{counts.rows:,} rows in the file: {counts.stored:,} ratings stored, {counts.unchanged:,} already stored, "
        f"{counts.empty:,} without a label."
    )
    record = {"rows": counts.rows, "stored": counts.stored, "unchanged": counts.unchanged, "empty": counts.empty}
    return print_result(arguments, text, record)


# -- for other commands --------------------------------------------------------------------------------------------------


def study_pairs(study_id: str, settings: Settings) -> list[tuple[str, str, str]]:
    """The pairs of a study, calibration included, each once: question_id, handbook_a, handbook_b.

    Raises StudyError when there is no such study.
    """
    columns, store = ["question_id", "handbook_a", "handbook_b"], _store(settings)
    if find_study(store, study_id).scheme is not PAIRS:
        raise StudyError(f"Study '{study_id}' compares answering systems, so it has no pairs to judge. Nothing was judged.")
    # A repeat is the same pair as its original, and each pair is judged once.
    table = ratings_table(store, study_id)[columns].drop_duplicates()
    return [(str(question), str(a), str(b)) for question, a, b in table.itertuples(index=False)]


def study_tables(study_id: str, settings: Settings) -> StudyPart:
    """The study's part of `audit export`. Raises AuditError where there is no such study, or nothing is rated."""
    store = _store(settings)
    part = study_part(store, study_id, list_runs(settings.store_dir))
    record_event(store, Event.EXPORT, terminal_user(), datetime.now(UTC), f"study {study_id}: its tables, with those of its run")
    return part


def make_demo_studies(run: Run, readings: Path, settings: Settings) -> tuple[str, dict[str, object]]:
    """Make the demo's studies and accounts where they are missing; returns how to sign in, as text and as a record.

    `readings` is a file of what the annotators and the adjudicator found.
    """
    store = _store(settings)
    # A second run keeps the passwords, which somebody may have written down.
    new = [username for username in DEMO_ACCOUNTS if find_account(store, username) is None]
    passwords = {username: secrets.token_urlsafe(12) for username in new}
    studies = create_demo_studies(store, run, RecordedReaders(readings), datetime.now(UTC), passwords)
    lines = [f"Studies created: {', '.join(studies)}." if studies else "The demo studies exist already."]
    for username, (name, role) in DEMO_ACCOUNTS.items():
        password = passwords.get(username, "unchanged since the account was created")
        lines.append(f"  {role:<13}{username:<8}password {password}  {name}")
    lines.append("Where the dashboard is not open yet: audit serve")
    people = [
        {"username": username, "role": str(role), "password": passwords.get(username)}
        for username, (_, role) in DEMO_ACCOUNTS.items()
    ]
    return "\n".join(lines), {"studies": list(studies), "accounts": people}


def _store(settings: Settings) -> LabelStore:
    return open_label_store(settings.studies_url)


# -- `audit study backup | restore`: copies of the studies, ratings and accounts -----------------------------


def backup_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit study backup`."""
    parser.epilog = (
        "The copy is consistent while people rate; `cp` of the live file is not. It has everybody's ratings and password hashes, "
        "so only its owner can read it. PostgreSQL: use pg_dump."
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="a new file; an existing one is never overwritten")
    add_json(parser)


def backup(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit study backup FILE`"""
    checked = back_up(settings.studies_url, arguments.file)
    store = open_label_store(settings.studies_url)
    record_event(store, Event.EXPORT, terminal_user(), datetime.now(UTC), f"backup: {arguments.file}")
    store.close()
    return _print_checked(arguments, f"Wrote {arguments.file}", checked)


def verify_backup_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit study backup-verify`."""
    parser.add_argument("file", type=Path, metavar="FILE", help="a backup, of this version or an older one")
    add_json(parser)


def verify_backup(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit study backup-verify FILE`"""
    return _print_checked(arguments, f"{arguments.file} is a backup that can be read.", check_copy(arguments.file))


def restore_backup_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit study restore`."""
    parser.epilog = "Stop the dashboard first. Everyone has to sign in again. PostgreSQL: use pg_restore."
    parser.add_argument("file", type=Path, metavar="FILE", help="a backup, of this version or an older one")
    parser.add_argument("--accept-faults", action="store_true", help="restore even if something in it was altered")
    add_json(parser)


def restore_backup(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit study restore FILE`"""
    url, now = settings.studies_url, datetime.now(UTC)
    checked, replaced_copy = restore(url, arguments.file, now, accept_faults=arguments.accept_faults, actor=terminal_user())
    previous = f"The database that it replaced is kept as {replaced_copy}." if replaced_copy else "It replaced no database."
    return _print_checked(arguments, f"Restored {arguments.file}. {previous}", checked)


def _print_checked(arguments: argparse.Namespace, done: str, checked: CheckedCopy) -> int:
    contents = f"Studies: {checked.studies:,}. Ratings, revisions included: {checked.ratings:,}."
    integrity = "Some of them were altered after they were written." if checked.faults else "Nothing in them was altered."
    record = {"studies": checked.studies, "ratings": checked.ratings, "faults": list(checked.faults)}
    print_result(arguments, "\n".join([done, *checked.faults, f"{contents} {integrity}"]), record)
    return FINDINGS if checked.faults else OK


# -- `audit study verify`: whether a study is unaltered ------------------------------------------------------


def verify_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit study verify`."""
    parser.epilog = (
        "Anyone who can write to the database could rewrite an entire ledger. Compare with an export stored elsewhere: "
        "--against FILE."
    )
    parser.add_argument("study", metavar="STUDY", help="id of the study")
    parser.add_argument(
        "--against",
        type=Path,
        metavar="FILE",
        help="also compare with an earlier export: its manifest, or a package of audit export --study",
    )
    add_json(parser)


def verify(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit study verify STUDY`"""
    sealed = read_sealed_heads(arguments.against) if arguments.against else None
    store = open_label_store(settings.studies_url)
    faults = verify_study(store, arguments.study, sealed)
    heads = heads_record(store, arguments.study)
    lines = [*faults, *(f"{name}: {head['entries']:,} entries, the last one {head['last']}" for name, head in heads.items())]
    if sealed and not faults:
        lines.append(f"Everything that {arguments.against} sealed is there and unchanged.")
    lines.append("The study was altered after it was written." if faults else "Nothing in this study was altered.")
    record = {"study": arguments.study, "faults": faults, "ledgers": heads}
    print_result(arguments, "\n".join(lines), record)
    return FINDINGS if faults else OK
