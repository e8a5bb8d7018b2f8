"""`audit study sample | advance | release | export | import`: from a random sample to a closed study."""

from __future__ import annotations

import argparse
import json
import secrets
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from annotation.cli.account import terminal_user
from annotation.label_store.access_log import Event, record_event
from annotation.label_store.assignments import release_assignments
from annotation.label_store.engine import LabelStore, StudyError, open_label_store
from annotation.label_store.studies import ItemKind, StudyState, advance_study, find_annotator, find_study
from annotation.studies.accounts import find_account
from annotation.studies.adjudication import close_study
from annotation.studies.packets import import_packet, packet_csv, packet_xlsx
from annotation.studies.sample_plan import ITEMS_PER_LABEL, MAX_STUDY_ITEMS, SECOND_CRITERIA, SamplePlan
from annotation.studies.sampling import DrawnSample, draw_sample, draw_study
from annotation.studies.simulated_annotators import DEMO_ACCOUNTS, create_demo_studies
from annotation.studies.study_tables import codebook, ratings_table
from annotation.studies.validation import study_part
from annotation.studies.verification import heads_record
from audit.atomic_io import sha256_of, write_atomic
from audit.cli.conventions import OK, add_json, add_run, print_result
from audit.exports.package import StudyPart
from audit.exports.text_writers import csv_bytes
from audit.settings import Settings
from audit.store.runs import Run, find_run
from audit.vocabulary import LABELS


def _add_study(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", metavar="STUDY", help="id of the study")
    add_json(parser)


# -- sample --------------------------------------------------------------------------------------------------------------


def sample_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit study sample`."""
    parser.add_argument("study", metavar="STUDY", help="id of the new study, such as validation-1")
    parser.add_argument(
        "--annotators", required=True, metavar="NAME,NAME", help="two accounts; more, and any two of them rate each item"
    )
    add_run(parser)
    parser.add_argument("--title", help="what people see (default: the id)")
    parser.add_argument(
        "--per-label", type=int, default=ITEMS_PER_LABEL, metavar="N", help="items for each label (default: %(default)s)"
    )
    parser.add_argument(
        "--items", action="append", default=[], metavar="LABEL=N", help="a different number for one label, such as ABSENT=20"
    )
    parser.add_argument("--by", choices=SECOND_CRITERIA, help="a second criterion to stratify by")
    parser.add_argument(
        "--calibration", type=int, default=SamplePlan.calibration, metavar="N",
        help="items to practise on before the study (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--repeats", type=int, default=SamplePlan.repeats, metavar="N",
        help="items shown a second time, without saying so (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=SamplePlan.seed, help="another seed draws another sample")
    parser.add_argument("--show-names", action="store_true", help="show annotators which handbook an answer is from")
    parser.add_argument("--dry-run", action="store_true", help="print the strata, and create nothing")
    parser.add_argument("--yes", action="store_true", help=f"create a study of more than {MAX_STUDY_ITEMS:,} items")
    add_json(parser)


def sample(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit study sample STUDY --annotators A,B`"""
    run, plan = find_run(settings.store_dir, arguments.run), _plan(arguments)
    max_items = None if arguments.yes else MAX_STUDY_ITEMS
    # Before the label store is opened, which would create it.
    if arguments.dry_run:
        drawn = draw_sample(run, plan, arguments.study, max_items)
        print_result(arguments, _strata_text(drawn), _strata_record(drawn))
        return OK
    annotators = [name.strip().casefold() for name in arguments.annotators.split(",") if name.strip()]
    drawn = draw_study(
        _store(settings), run, plan, study_id=arguments.study, title=arguments.title or arguments.study, annotators=annotators,
        now=datetime.now(UTC), max_items=max_items,
    )  # fmt: skip
    created = f"Study '{arguments.study}' was created from run {run.key}. {', '.join(annotators)} can start: audit serve"
    record = {"study": arguments.study, "run": run.key, "annotators": annotators, **_strata_record(drawn)}
    print_result(arguments, f"{_strata_text(drawn)}\n\n{created}", record)
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


def _strata_text(drawn: DrawnSample) -> str:
    lines = [f"{'stratum':<32}{'pairs N_h':>12}{'items n_h':>12}{'weight':>12}"]
    lines += [
        f"{stratum.stratum:<32}{stratum.population:>12,}{stratum.sampled:>12,}{stratum.weight:>12,.2f}"
        for stratum in drawn.strata
    ]
    empty = [label for label in LABELS if label not in {stratum.label for stratum in drawn.strata}]
    study, calibration, repeats = _items_by_kind(drawn)
    lines.append(f"{study} study items, {calibration} for calibration, {repeats} repeats.")
    lines.append(f"No pair of the run is {', '.join(empty)}." if empty else "Every label occurs in the run.")
    lines.append(f"{drawn.origin.unscored:,} of {drawn.origin.pairs:,} pairs have no verdict and are in no stratum.")
    lines += [drawn.names_left_text()] if drawn.names_left_text() else []
    return "\n".join(lines)


def _items_by_kind(drawn: DrawnSample) -> list[int]:
    kinds = [item.kind for item in drawn.items]
    return [kinds.count(kind) for kind in (ItemKind.STUDY, ItemKind.CALIBRATION, ItemKind.REPEAT)]


def _strata_record(drawn: DrawnSample) -> dict[str, Any]:
    strata = [
        {"stratum": stratum.stratum, "pairs": stratum.population, "items": stratum.sampled, "weight": stratum.weight}
        for stratum in drawn.strata
    ]
    counts = dict(zip(("study_items", "calibration_items", "repeats"), _items_by_kind(drawn), strict=True))
    run = {"unscored_pairs": drawn.origin.unscored, "run_pairs": drawn.origin.pairs}
    return {"strata": strata, **counts, **run, "names_left": dict(drawn.names_left)}


# -- progress of a study -------------------------------------------------------------------------------------------------


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
    print_result(arguments, text, {"study": arguments.study, "from": str(state), "to": str(following)})
    return OK


def release_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit study release`."""
    parser.epilog = "For studies with more than two annotators, when one of them does not return."
    _add_study(parser)
    parser.add_argument("annotator", metavar="ANNOTATOR", help="username of the annotator")


def release(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit study release STUDY ANNOTATOR`"""
    store = _store(settings)
    annotator = find_annotator(store, arguments.study, arguments.annotator)
    released = release_assignments(store, arguments.study, annotator)
    text = f"Study '{arguments.study}': {released:,} items released by {annotator}."
    print_result(arguments, text, {"study": arguments.study, "annotator": str(annotator), "released": released})
    return OK


# -- ratings as files ----------------------------------------------------------------------------------------------------


def export_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit study export`."""
    _add_study(parser)
    parser.add_argument("--packet", metavar="ANNOTATOR", help="write this annotator's blinded packet, to be filled in offline")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help=".csv, and for packets also .xlsx")


def export(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit study export STUDY --out FILE`"""
    store, study, out = _store(settings), arguments.study, arguments.out
    if arguments.packet:

        def packet(write: Callable[[LabelStore, str, str], bytes]) -> bytes:
            return write(store, study, find_annotator(store, study, arguments.packet))

        written = [write_out(out, {".csv": lambda: packet(packet_csv), ".xlsx": lambda: packet(packet_xlsx)})]
    else:
        written = _write_ratings(store, study, out)
    record_event(store, Event.EXPORT, terminal_user(), datetime.now(UTC), f"study {study}: {', '.join(written)}")
    print_result(arguments, "\n".join(f"Wrote {path}" for path in written), {"files": written})
    return OK


def _write_ratings(store: LabelStore, study_id: str, out: Path) -> list[str]:
    heads = heads_record(store, study_id)  # before the ratings are read, so that the manifest seals none that the file lacks
    written = [
        write_out(out, {".csv": lambda: csv_bytes(ratings_table(store, study_id))}),
        write_out(out.with_name(f"{out.stem}_codebook.csv"), {".csv": lambda: csv_bytes(codebook())}),
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
        data = arguments.file.read_bytes()
    except OSError as error:
        raise StudyError(f"{arguments.file} cannot be read: {error.strerror}. No rating was stored.") from None
    store = _store(settings)
    annotator = find_annotator(store, arguments.study, arguments.annotator)
    counts = import_packet(store, arguments.study, annotator, arguments.file.name, data, datetime.now(UTC))
    text = f"{counts.stored:,} ratings stored, {counts.unchanged:,} were stored already, {counts.empty:,} rows are still empty."
    print_result(arguments, text, {"stored": counts.stored, "unchanged": counts.unchanged, "empty": counts.empty})
    return OK


# -- for other commands --------------------------------------------------------------------------------------------------


def study_pairs(study_id: str, settings: Settings) -> list[tuple[str, str, str]]:
    """The pairs of a study, calibration included, each once: question_id, handbook_a, handbook_b.

    Raises StudyError when there is no such study.
    """
    columns = ["question_id", "handbook_a", "handbook_b"]
    # A repeat is the same pair as its original, and each pair is judged once.
    table = ratings_table(_store(settings), study_id)[columns].drop_duplicates()
    return [(str(question), str(a), str(b)) for question, a, b in table.itertuples(index=False)]


def study_tables(study_id: str, settings: Settings) -> StudyPart:
    """What a study adds to `audit export`. Raises AuditError where there is no such study, or nothing is rated."""
    store = _store(settings)
    part = study_part(store, study_id)
    record_event(store, Event.EXPORT, terminal_user(), datetime.now(UTC), f"study {study_id}: its tables, with those of its run")
    return part


def make_demo_studies(run: Run, settings: Settings) -> tuple[str, dict[str, Any]]:
    """Make the demo's studies and accounts where they are missing; returns how to sign in, as text and as a record."""
    store = _store(settings)
    # A second run keeps the passwords, which somebody may have written down.
    new = [username for username in DEMO_ACCOUNTS if find_account(store, username) is None]
    passwords = {username: secrets.token_urlsafe(12) for username in new}
    studies = create_demo_studies(store, run, settings, datetime.now(UTC), passwords)
    lines = [f"Studies created: {', '.join(studies)}." if studies else "The demo studies exist already."]
    for username, (name, role) in DEMO_ACCOUNTS.items():
        password = passwords.get(username, "unchanged since the account was created")
        lines.append(f"  {role:<13}{username:<8}password {password}  {name}")
    lines.append("View them with: audit serve")
    people = [
        {"username": username, "role": str(role), "password": passwords.get(username)}
        for username, (_, role) in DEMO_ACCOUNTS.items()
    ]
    return "\n".join(lines), {"studies": list(studies), "accounts": people}


def _store(settings: Settings) -> LabelStore:
    return open_label_store(settings.studies_url)
