"""`audit judge align`: the judge's prompt improved from a study's labels, and proved on labels that it has not learnt from."""

from __future__ import annotations

import argparse
import csv
import json
import shlex
import sys
from contextlib import redirect_stdout
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from annotation.agreement.versions import VERSIONS_TABLE
from annotation.cli.account import terminal_user
from annotation.cli.study import write_out
from annotation.label_store.engine import LabelStore, StudyError, open_label_store
from annotation.studies.alignment import (
    add_version,
    begin,
    items_to_judge,
    labels_from,
    lessons,
    proof_figures,
    proof_sentence,
    proposal,
)
from annotation.studies.learnt import Split, Version, judged_by, record_judged, versions_of
from annotation.studies.verdict_store import sample_digest
from audit.atomic_io import write_atomic
from audit.cli.conventions import FAILED, OK, add_json, count_or_zero, note, print_result
from audit.cli.main import parse
from audit.commands import PROPOSED_RULES, load_object
from audit.errors import AuditError
from audit.exports.table_model import Table
from audit.exports.text_writers import markdown_rows
from audit.jobs.processes import Progress
from audit.settings import Settings
from audit.store.runs import PAIR_PROTOCOLS, STRUCTURED, Run, list_runs
from audit.vocabulary import PAIR_COLUMNS

FOLDER = "alignment"
MAX_PAIRS = 12
"""Pairs that a model sees when it proposes rules."""
ABOUT = """Without a step: the parts of the study, its versions, and their figures on the part to prove on. The first call divides
the study by question, once, and seals that in its ledger; the prompt as shipped is the first version.

  1. --propose FILE    writes a prompt with examples from decided disagreements of the part to learn from, and with
                       rules of a model where an endpoint is set (AUDIT_JUDGE_URL)
  2. edit FILE: whatever is in it is what the judge will read
  3. --add FILE --name NAME    seals it as a version; one that has words of the part to prove on is refused
  4. --judge           judges both parts with each version that has not done so; stopped, the same command continues

From the first version on that has learnt from labels, Agreement and Prevalence leave these labels out.

A version may be of another protocol than the first (--protocol): it is then compared with it as any other. Protocol positions has
no versions: it is asked about single answers and not about pairs, so a pair with its label is no example for it."""


def align_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit judge align`."""
    parser.epilog = ABOUT
    # A background job puts a Progress here that stores its figures (audit.cli.dashboard)
    parser.set_defaults(progress=Progress())
    parser.add_argument("--study", required=True, metavar="ID", help="a closed study of this installation")
    step = parser.add_mutually_exclusive_group()
    step.add_argument("--propose", type=Path, metavar="FILE", help="write a prompt to edit (.md)")
    step.add_argument("--add", type=Path, metavar="FILE", help="seal an edited prompt as a version")
    step.add_argument("--judge", action="store_true", help="judge the study's pairs with each version")
    parser.add_argument("--name", default="", metavar="NAME", help="for --add: name of the version")
    parser.add_argument("--seed", type=count_or_zero, metavar="N", help="of the division (default: 1); it cannot be drawn again")
    parser.add_argument(
        "--protocol",
        choices=PAIR_PROTOCOLS,
        default=STRUCTURED,
        help="for --propose: how the judge is asked (default: %(default)s)",
    )
    add_json(parser)


def align(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit judge align --study ID`"""
    store, study, by = open_label_store(settings.studies_url), arguments.study, terminal_user().username
    split = begin(store, study, arguments.seed, by, datetime.now(UTC))
    if arguments.propose:
        return _propose(arguments, settings, store)
    if arguments.add:
        text = _read(arguments.add)
        version = add_version(store, study, arguments.name, text, by, datetime.now(UTC))
        message = f"Version {version.name} ({version.prompt}) is sealed. Judge with it: audit judge align --study {study} --judge"
        return print_result(arguments, message, {"study": study, "version": version.name, "digest": version.digest})
    if arguments.judge and judge_versions(store, study, settings, arguments.progress) == FAILED:
        return FAILED
    return _show(arguments, store, split)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"{path} cannot be read ({error}). Nothing was added.") from None


def _propose(arguments: argparse.Namespace, settings: Settings, store: LabelStore) -> int:
    text, message = proposed(store, arguments.study, settings, arguments.protocol)
    written = write_out(arguments.propose, {".md": text.encode})
    return print_result(arguments, f"Wrote {written}. {message}", {"file": written, "about": message})


def proposed(store: LabelStore, study_id: str, settings: Settings, protocol: str) -> tuple[str, str]:
    """A prompt for a person to edit, and what is in it: rules of a model where an endpoint is set, and examples."""
    found = lessons(store, study_id)
    rules: list[str] = []
    who = "No endpoint is set, so no model proposes rules."
    if settings.judge_urls and len(found):
        pairs = found.head(MAX_PAIRS).drop(columns=["item_id", "reason"]).to_dict("records")
        model, rules = load_object(PROPOSED_RULES)(settings, settings.data_dir / FOLDER / study_id, pairs)
        who = f"{model} proposes {len(rules)} rules; they are words of a model, for you to keep, change or delete."
    message = f"In the part to learn from people decided {len(found)} items otherwise than the judge. {who}"
    return proposal(found, rules, protocol), message


# -- judging -----------------------------------------------------------------------------------------------------------


def judge_versions(store: LabelStore, study_id: str, settings: Settings, progress: Progress) -> int:
    """Judge both parts with each version that has not done so, as `audit judge` does it; its exit code."""
    done = judged_by(store, study_id)
    for version in versions_of(store, study_id):
        if version.digest in done:
            continue
        release = settings.data_dir.resolve() / FOLDER / study_id / version.name
        if _judge(store, study_id, version, release, settings, progress) == FAILED:
            note(f"Continue with all versions:\n  audit judge align --study {study_id} --judge")
            return FAILED
        record_judged(store, study_id, labels_from(store, study_id, version, release), datetime.now(UTC))
    return OK


def _judge(store: LabelStore, study_id: str, version: Version, release: Path, settings: Settings, progress: Progress) -> int:
    templates, pairs = release.with_name(f"{release.name}.templates"), release.with_name("pairs.csv")
    templates.mkdir(parents=True, exist_ok=True)
    write_atomic(templates / f"{version.protocol}.md", version.text)
    with pairs.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([PAIR_COLUMNS, *items_to_judge(store, study_id)])
    command = [
        "judge",
        _run_of(store, study_id, settings).key,
        "--out",
        str(release),
        "--pairs",
        str(pairs),
        "--protocol",
        version.protocol,
    ]
    inner = parse([*command, "--templates", str(templates)])
    inner.progress = progress
    note(f"Version {version.name}: audit {shlex.join(command)}")
    # What it prints is about its release, and not the result of this command
    with redirect_stdout(sys.stderr):
        return int(inner.function(inner, settings))


def _run_of(store: LabelStore, study_id: str, settings: Settings) -> Run:
    digest = sample_digest(store, study_id)
    run = next((run for run in list_runs(settings.store_dir) if run.digest == digest), None)
    if run is None:
        raise AuditError(
            f"The run that study '{study_id}' was drawn from is not loaded. No model was called. Load its release again."
        )
    return run


# -- figures -----------------------------------------------------------------------------------------------------------


def _show(arguments: argparse.Namespace, store: LabelStore, split: Split) -> int:
    study = arguments.study
    versions, judged = versions_of(store, study), judged_by(store, study)
    lines = [
        f"Study {study}: {len(split.learn)} questions to learn from, {len(split.prove)} to prove on (seed {split.seed}, sealed)."
    ]
    lines += [
        f"  {version.name}: {version.prompt}, {len(version.examples)} examples, "
        f"{'judged by ' + judged[version.digest].model if version.digest in judged else 'not judged yet'}"
        for version in versions
    ]
    result: dict[str, Any] = {"study": study, "split": {"seed": split.seed, "learn": split.learn, "prove": split.prove}}
    result["versions"] = [{"name": version.name, "digest": version.digest, "learnt": len(version.learnt)} for version in versions]
    if judged:
        figures = proof_figures(store, study)
        models = next(iter(judged.values())).model
        table = Table("", VERSIONS_TABLE.title, figures, VERSIONS_TABLE.columns, VERSIONS_TABLE.notes)
        lines += ["", proof_sentence(figures, models), "", markdown_rows(table.for_print())]
        result |= {"figures": json.loads(figures.to_json(orient="records", double_precision=15))}
    return print_result(arguments, "\n".join(lines), result)
