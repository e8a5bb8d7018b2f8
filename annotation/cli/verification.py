"""`audit study verify`: whether a study is unaltered."""

from __future__ import annotations

import argparse
from pathlib import Path

from annotation.label_store.engine import open_label_store
from annotation.studies.verification import heads_record, read_sealed_heads, verify_study
from audit.cli.conventions import FINDINGS, OK, add_json, print_result
from audit.settings import Settings


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
