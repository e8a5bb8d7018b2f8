"""`audit reproduce`: the tables of a source paper beside those of a run, and where the program departs from the paper."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import TextIO

from audit.cli.conventions import FAILED, OK, add_json, count, note, print_result
from audit.cli.main import parse
from audit.commands import STUDY_TABLES, load_object
from audit.errors import AuditError
from audit.exports.context import open_context
from audit.exports.package_request import StudyPart
from audit.exports.published.comparison import AGREES, DIFFERS, UNKNOWN
from audit.exports.published.reproduction import MEASURES, STANDS_IN, PrintedTable, Reproduction, needed, reproduction
from audit.exports.published.stress import published_model
from audit.formatting import text_table
from audit.papers.departures import CITATIONS, PRESETS, Departure, Paper, departures
from audit.queries.themes import taxonomy_of
from audit.settings import Settings
from audit.store.load import check_release, load_release
from audit.store.runs import Run, find_run

QUESTION_FILES = (".json", ".jsonl", ".json.gz", ".jsonl.gz")
RUN, CONFIG, QUESTIONS, RELEASE = "run", "config", "questions", "release"
JUDGED = {Paper.S1: "evidence", Paper.S2: "criteria"}
"""Paper -> the protocol by which a judge grades the answers of a config's systems."""
JUDGE_LATER = (
    "After that the model at AUDIT_JUDGE_URL grades each answer; once the release is written, "
    "`audit systems judge RELEASE --protocol {} --dry-run` counts these calls."
)
NOTHING = "Nothing was computed."
STAND_IN = "copycat"
"""The reader in the place of MedRGB's models where there is none: they mostly accept what a document says, and it always does."""
ABOUT = f"""PAPER is {"; ".join(f"{paper}: {citation}" for paper, citation in CITATIONS.items())}.

--corpus is a loaded run; the folder or archive of a release, which is loaded (for s2, a copy of it whose answers are measured
first); a config of `audit run`, which is run with the preset of the paper, and for s1 and s2 the model at AUDIT_JUDGE_URL then
grades each answer; or, for s3, a file of questions with their documents, from which the four tests are built and put to that
model, with --preset medrgb, and graded by it. Without a model rules build them, and readers with known curves reply.

Each printed table stands beside ours: agrees, differs, or why it cannot be computed. --stand-in SYSTEM compares a system of the
run, under its own id, with those of s2 or s3 that the run does not have; of a file of questions it is the model, or the reader
{STAND_IN}, which believes every document. Then every departure with the option that restores the paper's way. What was made stays
in the data folder, and the same command continues there.

Exit code: 0 something could be compared, 2 nothing was."""


def reproduce_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit reproduce`."""
    parser.epilog = ABOUT
    parser.add_argument("paper", choices=tuple(map(str, Paper)), metavar="PAPER", help=f"one of {', '.join(Paper)}")
    parser.add_argument(
        "--corpus", metavar="RUN|RELEASE|CONFIG|QUESTIONS", help="what is compared (default: the newest complete run)"
    )
    parser.add_argument("--against", metavar="RUN", help="s0: the earlier run, or that of the other protocol, for its figures")
    parser.add_argument("--study", metavar="ID", help="s0: the study of human labels for the figures of section 5.1")
    parser.add_argument(
        "--stand-in", metavar="SYSTEM", default="", help="s2, s3: a system of the run in the place of those of the paper"
    )
    parser.add_argument("--limit", type=count, metavar="N", help="s3: a random sample of N questions")
    parser.add_argument(
        "--dry-run", action="store_true", help="print calls, tokens and hours, and the departures; compute nothing"
    )
    add_json(parser)


def reproduce(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit reproduce PAPER [--corpus ...]`"""
    paper = Paper(arguments.paper)
    listed = departures(paper)
    if arguments.dry_run:
        plan = _plan(arguments, settings, paper)
        text = "\n\n".join([CITATIONS[paper], plan, "\n".join(_departure_lines(listed))])
        return print_result(arguments, text, {"plan": plan, "departures": _records(listed)})
    study: StudyPart | None = load_object(STUDY_TABLES)(arguments.study, settings) if arguments.study else None
    run = find_run(settings.store_dir, study.digest) if study and not arguments.corpus else _run(arguments, settings, paper)
    other = find_run(settings.store_dir, arguments.against) if arguments.against else None
    with open_context(run, other, taxonomy_of(run, settings.themes_dir)) as context:
        found = reproduction(paper, context, study.figures if study else {}, arguments.stand_in)
        texts = [
            "\n".join([CITATIONS[paper], f"{_counts(found)} Run {run.key}.", *_stand_in_lines(arguments.stand_in)]),
            *map(_table_text, found.tables),
            *_others_text(found, paper),
        ]
    text = "\n\n".join([*texts, "\n".join(_departure_lines(listed))])
    record = {
        "run": run.key, "stand_in": arguments.stand_in, "verdicts": found.verdicts, "departures": _records(listed),
        "tables": [{"table": table.title, "rows": table.frame.to_dict("records")} for table in found.tables],
        "other_systems": found.others.to_dict("records"),
    }  # fmt: skip
    print_result(arguments, text, record)
    return OK if found.verdicts.get(AGREES, 0) + found.verdicts.get(DIFFERS, 0) or len(found.others) else FAILED


# -- what is compared --------------------------------------------------------------------------------------------------


def _run(arguments: argparse.Namespace, settings: Settings, paper: Paper) -> Run:
    """The run that --corpus names, made from it where it is something else."""
    path, kind = Path(arguments.corpus or ""), _kind(arguments.corpus, paper)
    if kind == RUN:
        return find_run(settings.store_dir, arguments.corpus)
    if kind == CONFIG:
        made = Path(json.loads(_text(settings, "run", str(path), *_preset(paper), "--json"))["release"])
        name = load_release(made, settings).run.run_id
        judged = JUDGED.get(paper, "") if settings.judge_urls else ""
        return load_release(_measured(settings, made, paper, name, judged), settings).run
    if kind == QUESTIONS:
        return _stress_tests(arguments, settings, path)
    if paper is Paper.S2:  # before it is copied
        _check_release(path, settings, paper)
    return load_release(_measured(settings, path, paper, path.resolve().name), settings).run


def _kind(corpus: str | None, paper: Paper) -> str:
    """What --corpus names. Raises AuditError where it is not for this paper."""
    path = Path(corpus or "")
    if not corpus or not path.exists():
        return RUN
    if path.suffix == ".toml":
        if paper is Paper.S3:
            raise AuditError(f"{paper} puts tests to models and not questions to handbooks. {NOTHING} Name a file of questions.")
        return CONFIG
    if path.name.endswith(QUESTION_FILES):
        if paper is not Paper.S3:
            raise AuditError(
                f"{path} is a file of questions, which s3 takes. {NOTHING} {paper} needs a run, a release or a config."
            )
        return QUESTIONS
    return RELEASE


def _check_release(path: Path, settings: Settings, paper: Paper) -> None:
    """Raise AuditError where the release at `path` cannot be loaded, or is without what this paper is about."""
    if missing := needed(paper, check_release(path, settings).run):
        raise AuditError(f"{path}: {missing} {NOTHING}")


def _preset(paper: Paper) -> list[str]:
    return ["--preset", PRESETS[paper]]


def _measured(settings: Settings, release: Path, paper: Paper, name: str, protocol: str = "") -> Path:
    """A copy of a release whose answers are measured, and judged where a protocol is named; else, and an archive, as it is."""
    steps = [["score"]] if paper is Paper.S2 else []
    steps += [["judge", "--protocol", protocol]] if protocol else []
    if not steps or not release.is_dir():
        return release
    copy = settings.data_dir / "reproduce" / name
    shutil.copytree(release, copy, dirs_exist_ok=True)
    for step, *options in steps:
        try:
            _command(settings, "systems", step, str(copy), *options)
        except AuditError as reason:
            note(str(reason))  # what it has without these measures is compared all the same
    return copy


def _stress_tests(arguments: argparse.Namespace, settings: Settings, questions: Path) -> Run:
    """The run of the four tests on a file of questions."""
    preset = _preset(Paper.S3) if settings.judge_urls else []
    name = "-".join(filter(None, ["s3", questions.name.partition(".")[0], str(arguments.limit or ""), *preset[1:]]))
    out = settings.data_dir / "reproduce" / name
    _build(arguments, settings, questions, out, preset)
    _command(settings, "stress", "run", str(out), *(preset or ["--readers", "all"]))
    if preset:
        _command(settings, "stress", "grade", str(out))
    arguments.stand_in = arguments.stand_in or (_newest_system(out) if preset else STAND_IN)
    return load_release(out, settings).run


def _newest_system(out: Path) -> str:
    """The id of the last model that replied to the tests; empty where it is one of the paper's, which needs no stand-in."""
    *_, newest = map(json.loads, (out / "systems.jsonl").read_text("utf-8").splitlines())
    return "" if published_model(newest.get("model")) else str(newest["system_id"])


def _build(arguments: argparse.Namespace, settings: Settings, questions: Path, out: Path, preset: Iterable[str] = ()) -> None:
    if not (out / "manifest.json").is_file():
        _command(settings, "stress", "build", str(questions), "--out", str(out), *_limit(arguments), *preset)
    if not json.loads((out / "manifest.json").read_text("utf-8")).get("signal_documents"):
        shutil.rmtree(out)
        raise AuditError(
            f"{questions} has questions without documents, so there is nothing to put among noise. {NOTHING} Find them in a "
            "library: audit stress build QUESTIONS --library DIR --out OUT, and audit stress run OUT; then --corpus OUT."
        )


def _limit(arguments: argparse.Namespace) -> list[str]:
    return ["--limit", str(arguments.limit)] if arguments.limit else []


def _command(settings: Settings, *words: str, out: TextIO | None = None) -> None:
    """Carry out another command of `audit`; what it prints goes to the terminal and not into our result."""
    arguments = parse(words)
    with redirect_stdout(out or sys.stderr):
        if arguments.function(arguments, settings) == FAILED:
            raise AuditError(f"`audit {' '.join(words)}` did nothing. {NOTHING}")


def _text(settings: Settings, *words: str) -> str:
    """What another command of `audit` prints."""
    _command(settings, *words, out=(out := StringIO()))
    return out.getvalue().strip()


# -- the plan ----------------------------------------------------------------------------------------------------------


def _plan(arguments: argparse.Namespace, settings: Settings, paper: Paper) -> str:
    """Calls, tokens and hours of what would be made; what is only compared needs none."""
    path, kind = Path(arguments.corpus or ""), _kind(arguments.corpus, paper)
    if kind == CONFIG:
        judged = [JUDGE_LATER.format(JUDGED[paper])] if settings.judge_urls and paper in JUDGED else []
        return "\n".join([_text(settings, "run", str(path), *_preset(paper), "--dry-run"), *judged])
    if kind == QUESTIONS:
        with tempfile.TemporaryDirectory() as folder:
            _build(arguments, settings, path, out := Path(folder) / "tests")
            preset = _preset(paper) if settings.judge_urls else []
            made = ["stress", "build", str(path), "--out", f"{out}-by-model", *_limit(arguments)]
            build = [_text(settings, *made, *preset, "--dry-run")] if preset else []
            return "\n".join([*build, _text(settings, "stress", "run", str(out), *(preset or ["--readers", "all"]), "--dry-run")])
    if kind == RELEASE:
        _check_release(path, settings, paper)
    elif missing := "" if arguments.study else needed(paper, find_run(settings.store_dir, arguments.corpus)):
        raise AuditError(f"{missing} {NOTHING}")
    return "No calls, no tokens: the figures are computed from what the run has."


# -- words -------------------------------------------------------------------------------------------------------------


def _counts(found: Reproduction) -> str:
    verdicts = found.verdicts
    shown = {AGREES: "agree", DIFFERS: "differ", UNKNOWN: "cannot be computed"}
    return f"{sum(verdicts.values()):,} printed figures: {', '.join(f'{verdicts.get(v, 0):,} {w}' for v, w in shown.items())}."


def _stand_in_lines(system: str) -> list[str]:
    reader = " It is a reader without a model." if system == STAND_IN else ""
    return [STANDS_IN.format(system=system) + reader] if system else []


def _table_text(table: PrintedTable) -> str:
    head = f"== {table.title}"
    if table.reason:
        return f"{head}: none of {len(table.frame):,} can be computed. {table.reason}"
    columns = ["title", "published", "own", "verdict", "how"]
    rows = [["figure", "printed", "ours", "verdict", "criterion or reason"], *table.frame[columns].astype(str).values.tolist()]
    return f"{head}\n{text_table(rows)}"


def _others_text(found: Reproduction, paper: Paper) -> Iterator[str]:
    if len(found.others):
        rows = [list(found.others.columns), *found.others.astype(str).values.tolist()]
        yield f"== Systems here that the paper does not have, beside the printed ones. {MEASURES[paper]}\n{text_table(rows)}"


def _departure_lines(listed: tuple[Departure, ...]) -> Iterator[str]:
    yield f"== {len(listed)} departures from the paper"
    for row in listed:
        yield f"- {row.step}. The paper: {row.theirs}. Here: {row.ours}, because: {row.why}. To follow the paper: {row.way_back}."


def _records(listed: tuple[Departure, ...]) -> list[dict[str, str]]:
    return [{"step": row.step, "paper": row.theirs, "here": row.ours, "why": row.why, "way_back": row.way_back} for row in listed]
