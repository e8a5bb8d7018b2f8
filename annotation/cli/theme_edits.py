"""`audit themes history | replay`: people's edits of the themes of a run, and replaying them on another taxonomy."""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

from annotation.cli.study import write_out
from annotation.label_store.engine import LabelStore, StudyError, open_label_store
from annotation.label_store.ledger import verify_edits
from annotation.label_store.theme_edits import count_edits
from annotation.studies.accounts import find_account
from annotation.theme_edits.edits import ThemeEdit, describe_change, effective_edits
from annotation.theme_edits.record import (
    NewEdit,
    curation_part,
    edits_from_jsonl,
    edits_to_jsonl,
    history_table,
    list_edits,
    record_edit,
)
from annotation.theme_edits.replay import apply_edits
from audit.cli.conventions import FINDINGS, OK, add_json, add_run, note, print_result
from audit.exports.context import CurationPart
from audit.exports.text_writers import csv_bytes
from audit.people_tables import TableSource, read_bytes, text_of
from audit.queries.themes import TOPIC_COUNTS, map_points, require_taxonomy, taxonomy_of
from audit.release.taxonomy import Taxonomy, read_taxonomy, write_taxonomy
from audit.settings import Settings
from audit.store.connection import open_store, rows
from audit.store.runs import Run, find_run

ABOUT_REPLAY = """Themes are matched by their ids, phrases by their text. An edit that no longer applies (its theme is gone, its
phrase is in another theme now, its name is taken) is listed and left out; the others are applied.

Exit code: 0 every edit applies, 1 some do not, 2 nothing was done."""


def history_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit themes history`."""
    parser.epilog = "Exit code: 0 no edit was altered, 1 an edit was altered after it was written, 2 nothing was done."
    add_run(parser)
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write the edits to a file: .csv for a spreadsheet, .jsonl to replay"
    )
    add_json(parser)


def history(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit themes history --run RUN`"""
    run, store = find_run(settings.store_dir, arguments.run), open_label_store(settings.studies_url)
    edits = list_edits(store, run.digest)
    if arguments.out:
        return _export(arguments, run, edits)
    built = taxonomy_of(run, settings.themes_dir)
    conflicts = apply_edits(built, edits).conflicts if built else ()
    table = history_table(edits, conflicts)
    faults = verify_edits(store, run.digest)
    lines = [_history_line(row) for row in reversed(table.to_dict("records"))]
    lines.append(f"{len(edits):,} edits of the themes of {run.key}; {len(effective_edits(edits)):,} of them are in effect.")
    lines += [conflict.sentence for conflict in conflicts]
    lines += faults or ["No edit was altered."]
    result = {
        "run": run.key,
        "edits": table.to_dict("records"),
        "in_effect": len(effective_edits(edits)),
        "conflicts": [conflict.sentence for conflict in conflicts],
        "faults": list(faults),
    }
    print_result(arguments, "\n".join(lines), result)
    return FINDINGS if faults else OK


def _history_line(row: dict[str, object]) -> str:
    when = str(row["made_at"])[:16].replace("T", " ")
    return f"{row['act']:>4}  {when}  {row['author']}: {row['what']}. {row['reason']} [{row['standing']}]"


def _export(arguments: argparse.Namespace, run: Run, edits: Sequence[ThemeEdit]) -> int:
    write_out(arguments.out, {".csv": lambda: csv_bytes(history_table(edits)), ".jsonl": lambda: edits_to_jsonl(edits).encode()})
    text = f"Wrote {len(edits):,} edits of the themes of {run.key} to {arguments.out}"
    return print_result(arguments, text, {"run": run.key, "edits": len(edits), "out": str(arguments.out)})


# -- for `audit export` --------------------------------------------------------------------------------------------------


def curated_themes(run: Run, built: Taxonomy, settings: Settings) -> CurationPart | None:
    """People's edits of a run's themes, if there are any."""
    if not settings.studies and not (settings.data_dir / "studies.db").is_file():
        return None  # opening the label store would create it
    edits = list_edits(open_label_store(settings.studies_url), run.digest)
    return curation_part(edits, apply_edits(built, edits))


# -- replay --------------------------------------------------------------------------------------------------------------


def replay_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit themes replay`."""
    parser.epilog = ABOUT_REPLAY
    add_run(parser)
    parser.add_argument("--taxonomy", type=Path, metavar="FILE", help="a themes.json other than the run's own")
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--from", dest="source", metavar="RUN", help="the edits of another run, such as an earlier judgement")
    source.add_argument("--edits", type=Path, metavar="FILE.jsonl", help="edits that `audit themes history --out` wrote")
    target = parser.add_mutually_exclusive_group()
    target.add_argument("--out", type=Path, metavar="FILE.json", help="write the edited taxonomy")
    target.add_argument(
        "--keep-as", metavar="NAME", help="with --from or --edits: record the edits that fit as the run's own, by this account"
    )
    add_json(parser)


def replay(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit themes replay --run RUN`"""
    run, store = find_run(settings.store_dir, arguments.run), open_label_store(settings.studies_url)
    edits, source = _edits(arguments, settings, store, run)
    if arguments.keep_as:
        return _record_as_own(arguments, store, run, _own_taxonomy(arguments, run, settings), edits, source)
    taxonomy = read_taxonomy(arguments.taxonomy) if arguments.taxonomy else require_taxonomy(run, settings.themes_dir)
    edited = apply_edits(taxonomy, edits)
    fitting = edited.edits - len(edited.conflicts)
    lines = [f"{edited.edits:,} edits are in effect; {fitting:,} of them fit the taxonomy as intended."]
    lines += [conflict.sentence for conflict in edited.conflicts]
    result = {"edits": edited.edits, "fitting": fitting, "conflicts": [conflict.sentence for conflict in edited.conflicts]}
    if arguments.out:
        positions = map_points(run, settings.themes_dir)
        written = write_taxonomy(edited.taxonomy, _edited_map(edited.taxonomy, run, positions), arguments.out)
        themes = written.counts["themes"]
        lines.append(f"Wrote the edited taxonomy, {themes:,} themes, sha256 {written.sha256[:12]}: {arguments.out}")
        result |= {"out": str(arguments.out), "sha256": written.sha256}
    print_result(arguments, "\n".join(lines), result)
    return FINDINGS if edited.conflicts else OK


def _edits(arguments: argparse.Namespace, settings: Settings, store: LabelStore, run: Run) -> tuple[list[ThemeEdit], str]:
    """The edits to replay, and a short name of their source."""
    if arguments.edits:
        file = TableSource(str(arguments.edits), "Nothing was done.", StudyError)
        data = read_bytes(arguments.edits, file, "theme edits")
        return edits_from_jsonl(text_of(data, file, "theme edits")), hashlib.sha256(data).hexdigest()[:16]
    other = find_run(settings.store_dir, arguments.source) if arguments.source else run
    return list_edits(store, other.digest), other.key


def _own_taxonomy(arguments: argparse.Namespace, run: Run, settings: Settings) -> Taxonomy:
    """The taxonomy of the run for which edits are recorded. Raises StudyError where the options do not go together."""
    if arguments.taxonomy or not (arguments.source or arguments.edits):
        raise StudyError(
            "--keep-as records the edits of another run or of a file (--from, --edits) as edits of this run, so they must fit "
            "its own taxonomy (no --taxonomy). Nothing was saved."
        )
    return require_taxonomy(run, settings.themes_dir)


def _record_as_own(
    arguments: argparse.Namespace, store: LabelStore, run: Run, taxonomy: Taxonomy, edits: Sequence[ThemeEdit], source: str
) -> int:
    """Record the edits that fit in the run's own ledger, under the account of whoever replays them.

    The reason of each names its source and its first author, so nobody appears to have made what another person made.
    """
    person = find_account(store, arguments.keep_as)
    if person is None:
        raise StudyError(f"There is no account '{arguments.keep_as}'. Nothing was saved. List them with: audit account list")
    left_out = []
    for edit in effective_edits(edits):
        reason = f"{edit.reason} [from {source}, edit {edit.seq} by {edit.author}, {edit.made_at[:10]}]"
        wish = NewEdit(edit.change, reason, f"{source[-80:]}/{edit.seq}", count_edits(store, run.digest))
        try:
            record_edit(store, run.digest, taxonomy, person, wish, datetime.now(UTC))
        except StudyError as error:
            left_out.append(f"Edit {edit.seq} ({describe_change(edit.change)}): {error}")
            note(left_out[-1])
    added = len(effective_edits(edits)) - len(left_out)
    text = f"{added:,} edits were added to those of the themes of {run.key}; {len(left_out):,} were left out."
    print_result(arguments, text, {"run": run.key, "kept": added, "left_out": left_out})
    return FINDINGS if left_out else OK


def _edited_map(taxonomy: Taxonomy, run: Run, positions: pd.DataFrame) -> pd.DataFrame:
    """The map of an edited taxonomy: the positions unchanged, the themes as they are now."""
    with open_store(run.path) as con:
        counts: dict[str, int] = dict(rows(con, TOPIC_COUNTS))
    phrases = pd.DataFrame(taxonomy.theme_of().items(), columns=["phrase", "theme_id"], dtype="str")
    phrases["count"] = [counts.get(phrase, 0) for phrase in phrases["phrase"]]
    return phrases.merge(positions, how="left", on="phrase")
