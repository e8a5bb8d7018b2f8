"""Commands about studies and accounts: `annotation sample | advance | release | verify | export | import | account | demo`.

`register` adds them to a command line; each is a function (arguments, settings) -> exit code, and faults are AuditErrors.
"""

from __future__ import annotations

import argparse
import getpass
import secrets
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from annotation.label_store.assignments import release_assignments
from annotation.label_store.engine import LabelStore, open_label_store
from annotation.label_store.errors import StudyError
from annotation.label_store.ledger import ledger_heads, verify_study
from annotation.label_store.studies import ItemKind, StudyState, advance_study, find_annotator, find_study
from annotation.studies.accounts import ROLES, add_account, change_password, find_account, list_accounts
from annotation.studies.adjudication import close_study
from annotation.studies.packets import import_packet, packet_csv, packet_xlsx
from annotation.studies.sampling import (
    ITEMS_PER_LABEL,
    MAX_STUDY_ITEMS,
    SECOND_CRITERIA,
    DrawnSample,
    SamplePlan,
    draw_sample,
    draw_study,
)
from annotation.studies.simulated_annotators import DEMO_ACCOUNTS, create_demo_studies
from annotation.studies.study_tables import codebook, ratings_table
from audit.atomic_io import write_atomic
from audit.cli.command import FAILED, FINDINGS, OK, add_command
from audit.cli.main import demo_release
from audit.cli.main import main as audit_command
from audit.exports.tables import csv_bytes
from audit.settings import Settings
from audit.store.load import load_release
from audit.store.runs import find_run
from audit.vocabulary import LABELS


def register(commands: Any) -> None:
    """Add the commands to `commands`, the sub-parsers of a command line."""
    _sample(commands)
    _advance(commands)
    _release(commands)
    _verify(commands)
    _export(commands)
    _import(commands)
    _account(commands)
    add_command(
        commands,
        "demo",
        demo,
        "Make the demo run, two simulated annotators with three studies, an adjudicator and a PI; print how to sign in.",
    )


def _sample(commands: Any) -> None:
    command = add_command(commands, "sample", sample, "Draw a stratified sample from a run and make a study of it.")
    command.add_argument("study", help="id of the new study, such as validation-1")
    command.add_argument("--annotators", required=True, metavar="NAME,NAME", help="two accounts, or more for open seats")
    command.add_argument("--run", help="run id or key (default: the newest whole run)")
    command.add_argument("--title", help="what people see (default: the id)")
    command.add_argument(
        "--per-label", type=int, default=ITEMS_PER_LABEL, metavar="N", help=f"items per label (default: {ITEMS_PER_LABEL})"
    )
    command.add_argument(
        "--items", action="append", default=[], metavar="LABEL=N", help="another number for one label, such as ABSENT=20"
    )
    command.add_argument("--by", choices=SECOND_CRITERIA, help="a second criterion to stratify by")
    command.add_argument("--calibration", type=int, default=SamplePlan.calibration, metavar="N", help="items before the study")
    command.add_argument(
        "--repeats", type=int, default=SamplePlan.repeats, metavar="N", help="items shown a second time, silently"
    )
    command.add_argument("--seed", type=int, default=SamplePlan.seed, help="another seed is another sample")
    command.add_argument("--show-names", action="store_true", help="let annotators see whose answer it is")
    command.add_argument("--dry-run", action="store_true", help="print the strata and make nothing")
    command.add_argument("--yes", action="store_true", help=f"although they are more than {MAX_STUDY_ITEMS:,} items")


def _advance(commands: Any) -> None:
    command = add_command(
        commands, "advance", advance, "Move a study to its next state: calibration, labelling, adjudication, closed."
    )
    command.add_argument("study")
    command.add_argument("--incomplete", action="store_true", help="although ratings are missing")


def _release(commands: Any) -> None:
    command = add_command(
        commands, "release", release, "With open seats, open again those that an annotator took and did not rate."
    )
    command.add_argument("study")
    command.add_argument("annotator")


def _verify(commands: Any) -> None:
    command = add_command(commands, "verify", check, "Check that no rating or decision of a study was changed, removed or added.")
    command.add_argument("study")


def _export(commands: Any) -> None:
    command = add_command(commands, "export", export, "Write a study's ratings with a codebook, or a packet for an annotator.")
    command.add_argument("study")
    command.add_argument("--packet", metavar="ANNOTATOR", help="the packet of this annotator, blinded, to be filled offline")
    command.add_argument("--out", type=Path, required=True, help="file: .csv, and for packets also .xlsx")


def _import(commands: Any) -> None:
    command = add_command(commands, "import", import_, "Store the ratings of a filled packet: all of them, or none.")
    command.add_argument("study")
    command.add_argument("annotator")
    command.add_argument("file", type=Path, help=".csv or .xlsx")


def _account(commands: Any) -> None:
    words = "Add an account, give one another password, or list them."
    group = commands.add_parser("account", help=words).add_subparsers(required=True, metavar="ACTION")
    add = add_command(group, "add", account_add, "Add an account; the password is asked for.")
    add.add_argument("--role", required=True, help=", ".join(ROLES))
    add.add_argument("--name", default="", help="the person's name (default: the username)")
    add.add_argument("--no-password", action="store_true", help="signs in through the identity provider only")
    other = add_command(group, "password", account_password, "Give an account another password, and end its sessions.")
    for command in (add, other):
        command.add_argument("username")
        command.add_argument("--password-stdin", action="store_true", help="read the password from standard input")
    add_command(group, "list", account_list, "List the accounts.")


# -- commands ----------------------------------------------------------------------------------------------------------


def sample(arguments: argparse.Namespace, settings: Settings) -> int:
    """`annotation sample STUDY --annotators A,B`"""
    run, plan = find_run(settings.store_dir, arguments.run), _plan(arguments)
    most = None if arguments.yes else MAX_STUDY_ITEMS
    if arguments.dry_run:
        _print_strata(draw_sample(run, plan, arguments.study, most))
        return OK
    annotators = [name.strip().casefold() for name in arguments.annotators.split(",") if name.strip()]
    drawn = draw_study(
        _store(settings), run, plan, study_id=arguments.study, title=arguments.title or arguments.study, annotators=annotators,
        now=_now(), max_items=most,
    )  # fmt: skip
    _print_strata(drawn)
    print(f"\nStudy '{arguments.study}' is made of run {run.key}. {', '.join(annotators)} can start: audit serve")
    return OK


def _plan(arguments: argparse.Namespace) -> SamplePlan:
    per_label = dict.fromkeys(map(str, LABELS), arguments.per_label)
    for text in arguments.items:
        label, _, count = text.partition("=")
        if not count.strip().isdigit():
            raise StudyError(f"--items {text}: expected LABEL=NUMBER, such as ABSENT=20. Nothing was drawn.")
        per_label[label.strip().upper()] = int(count)
    return SamplePlan(
        seed=arguments.seed, per_label=per_label, second=arguments.by, calibration=arguments.calibration,
        repeats=arguments.repeats, names_shown=arguments.show_names,
    )  # fmt: skip


def _print_strata(drawn: DrawnSample) -> None:
    print(f"{'stratum':<32}{'pairs N_h':>12}{'items n_h':>12}{'weight':>12}")
    for layer in drawn.strata:
        print(f"{layer.stratum:<32}{layer.population:>12,}{layer.sampled:>12,}{layer.weight:>12,.2f}")
    empty = [label for label in LABELS if label not in {layer.label for layer in drawn.strata}]
    kinds = [item.kind for item in drawn.items]
    study, calibration, repeats = (kinds.count(kind) for kind in (ItemKind.STUDY, ItemKind.CALIBRATION, ItemKind.REPEAT))
    print(f"{study} study items, {calibration} for calibration, {repeats} repeats.")
    print(f"No pair of the run is {', '.join(empty)}." if empty else "Every label occurs in the run.")
    print(f"{drawn.origin.unscored:,} of {drawn.origin.pairs:,} pairs have no verdict and are in no stratum.")


def advance(arguments: argparse.Namespace, settings: Settings) -> int:
    """`annotation advance STUDY`"""
    store = _store(settings)
    state = find_study(store, arguments.study).state
    if state is StudyState.ADJUDICATION:
        following = close_study(store, arguments.study)
    else:
        with store.begin() as tx:
            following = advance_study(tx, arguments.study, state, incomplete=arguments.incomplete)
    print(f"Study '{arguments.study}' was in {state} and is now in {following}.")
    return OK


def release(arguments: argparse.Namespace, settings: Settings) -> int:
    """`annotation release STUDY ANNOTATOR`"""
    store = _store(settings)
    freed = release_assignments(store, arguments.study, find_annotator(store, arguments.study, arguments.annotator))
    print(f"{freed:,} seats of study '{arguments.study}' are open again.")
    return OK


def check(arguments: argparse.Namespace, settings: Settings) -> int:
    """`annotation verify STUDY`"""
    store = _store(settings)
    find_study(store, arguments.study)
    faults = verify_study(store, arguments.study)
    for fault in faults:
        print(fault)
    for ledger, (entries, last) in ledger_heads(store, arguments.study).items():
        print(f"{ledger}: {entries:,} entries, the last one {last}")
    print("The ledgers are not as they were written." if faults else "Every entry is as it was written.")
    return FINDINGS if faults else OK


def export(arguments: argparse.Namespace, settings: Settings) -> int:
    """`annotation export STUDY --out FILE`"""
    store, out = _store(settings), arguments.out
    if arguments.packet:
        makers = {".csv": packet_csv, ".xlsx": packet_xlsx}
        maker = makers[_ending(out, *makers)]
        _write(out, maker(store, arguments.study, find_annotator(store, arguments.study, arguments.packet)))
        return OK
    _ending(out, ".csv")
    _write(out, csv_bytes(ratings_table(store, arguments.study)))
    _write(out.with_name(f"{out.stem}_codebook.csv"), csv_bytes(codebook()))
    return OK


def _ending(out: Path, *allowed: str) -> str:
    if out.suffix.lower() not in allowed:
        raise StudyError(f"--out {out}: the name must end in {' or '.join(allowed)}. Nothing was written.")
    return out.suffix.lower()


def _write(out: Path, data: bytes) -> None:
    try:
        write_atomic(out, data)
    except OSError as error:
        raise StudyError(f"{out} cannot be written: {error.strerror}. Name a file in a folder that is there.") from None
    print(f"Wrote {out}")


def import_(arguments: argparse.Namespace, settings: Settings) -> int:
    """`annotation import STUDY ANNOTATOR FILE`"""
    try:
        data = arguments.file.read_bytes()
    except OSError as error:
        raise StudyError(f"{arguments.file} cannot be read: {error.strerror}. No rating was stored.") from None
    store = _store(settings)
    annotator = find_annotator(store, arguments.study, arguments.annotator)
    done = import_packet(store, arguments.study, annotator, arguments.file.name, data, _now())
    print(f"{done.stored:,} ratings stored, {done.unchanged:,} were there already, {done.empty:,} rows are still empty.")
    return OK


def account_add(arguments: argparse.Namespace, settings: Settings) -> int:
    """`annotation account add NAME --role ROLE`"""
    password = None if arguments.no_password else _password(arguments)
    made = add_account(_store(settings), arguments.username, arguments.role, password, _now(), name=arguments.name)
    print(f"Account '{made.username}' has the role {made.role}.")
    return OK


def account_password(arguments: argparse.Namespace, settings: Settings) -> int:
    """`annotation account password NAME`"""
    store = _store(settings)
    change_password(store, arguments.username, _password(arguments))
    print(f"Account '{arguments.username}' has another password, and is signed out everywhere.")
    return OK


def _password(arguments: argparse.Namespace) -> str:
    if arguments.password_stdin or not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    password = getpass.getpass(f"Password for {arguments.username}: ")
    if getpass.getpass("The same again: ") != password:
        raise StudyError("The two passwords differ. Nothing was changed.")
    return password


def account_list(_: argparse.Namespace, settings: Settings) -> int:
    """`annotation account list`"""
    for each in list_accounts(_store(settings)):
        print(f"{each.username:<32}{each.role:<14}{each.name}")
    return OK


def demo(_: argparse.Namespace, settings: Settings) -> int:
    """`annotation demo`"""
    if audit_command(["demo", "--no-serve"]) == FAILED:
        return FAILED  # it has said why
    run = load_release(demo_release(settings), settings).run  # by its name it might be the demo of another seed
    store = _store(settings)
    new = [username for username in DEMO_ACCOUNTS if find_account(store, username) is None]
    passwords = {username: secrets.token_urlsafe(12) for username in new}
    made = create_demo_studies(store, run, settings, _now(), passwords)
    print(f"Studies made: {', '.join(made)}." if made else "The demo studies are there already.")
    for username, (name, role) in DEMO_ACCOUNTS.items():
        known = passwords.get(username, "as it was given when the account was made")
        print(f"  {role:<13}{username:<8}password {known}  {name}")
    print("See them with: audit serve")
    return OK


def _store(settings: Settings) -> LabelStore:
    return open_label_store(settings.studies_url)


def _now() -> datetime:
    return datetime.now(UTC)
