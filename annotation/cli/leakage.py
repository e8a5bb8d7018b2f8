"""`audit study leakage`: what the style of answers gives away of whose they are, to a classifier."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from datetime import UTC, datetime

from annotation.cli.study_creation import add_shown
from annotation.label_store.engine import StudyError, open_label_store
from annotation.label_store.studies import find_study
from annotation.studies.leakage import Leakage, leakage_of_run, leakage_of_study, record_leakage
from annotation.studies.sample_plan import SamplePlan
from annotation.studies.verdict_store import sample_digest
from audit.cli.conventions import add_json, add_run, print_result
from audit.settings import Settings
from audit.store.runs import find_run, list_runs


def leakage_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit study leakage`."""
    parser.epilog = "Of a study, the figure is kept in its ledger and stands in its methods text; of a run, nothing is kept."
    parser.add_argument("--study", metavar="STUDY", help="the items of a study, as they are stored (default: pairs of a run)")
    add_run(parser)
    add_shown(parser)
    parser.add_argument("--mask", action="append", default=[], metavar="NAME", help="also mask this name; may be repeated")
    add_json(parser)


def leakage(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit study leakage [--study STUDY | --run RUN]`"""
    if arguments.study is None:
        plan = SamplePlan(
            masked_words=tuple(arguments.mask), phrases_masked=arguments.mask_phrases, statements=arguments.statements
        )
        return _print(arguments, leakage_of_run(find_run(settings.store_dir, arguments.run), plan))
    if arguments.mask_phrases or arguments.statements or arguments.mask:
        raise StudyError(
            "How a study shows answers is fixed: --mask, --mask-phrases, --statements are for runs. Nothing was done."
        )
    store = open_label_store(settings.studies_url)
    study, digest = find_study(store, arguments.study), sample_digest(store, arguments.study)
    run = next((run for run in list_runs(settings.store_dir) if run.digest == digest), None)
    measured = leakage_of_study(store, study, run)
    record_leakage(store, study.study_id, measured, datetime.now(UTC))
    return _print(arguments, measured)


def _print(arguments: argparse.Namespace, measured: Leakage) -> int:
    lines = [measured.sentence(), ""]
    for whose, n, share, low, high, phrases in measured.by_handbook:
        lines.append(f"{whose:<32}{n:>7,} answers{share:>7.2f} ({low:.2f} to {high:.2f})  {phrases}")
    return print_result(arguments, "\n".join(lines), asdict(measured))
