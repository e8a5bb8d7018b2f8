"""`audit systems`: measures of the answers of systems."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import asdict
from pathlib import Path

from tqdm import tqdm

from audit.cli.conventions import FINDINGS, OK, add_json, note, print_result
from audit.errors import AuditError, describe_error
from audit.evaluation.reference_metrics import DEFAULT_MODEL, REFERENCE_MEASURES, SCORERS, bertscore_scorer
from audit.evaluation.retrieval_measures import QUOTE_CHECK, RETRIEVAL_MEASURES
from audit.pipeline.judging.cited_texts import read_cited_texts
from audit.pipeline.judging.score_systems import (
    ScoredCounts,
    Values,
    counts_of,
    means,
    quote_values,
    reference_values,
    retrieval_values,
    without_refusals,
    write_measures,
)
from audit.pipeline.judging.system_records import MEASURES_FILE, SystemRecords, read_system_records
from audit.pipeline.value_cache import ValueCache
from audit.settings import Settings

RETRIEVAL, QUOTES = "retrieval", "quotes"
MEASURES = (*SCORERS, RETRIEVAL, QUOTES)
ABOUT = f"""Each answer is compared with the first reference answer to its question: BLEU-1 and BLEU-4 (NLTK), sentence BLEU-4
(sacrebleu), ROUGE-1 and ROUGE-L (rouge-score), and with --bertscore BERTScore. Where answers bring evidence and questions gold
sections, retrieval is measured too: P@5, recall@5, nDCG and MRR (ir_measures). Where answers quote what they cite, the share of
quotes that are in the cited section word for word (quote_check). Refusals and answers that could not be read are in no mean;
they are counted, and `audit metrics system_measures --set refusals=count` has means with them. The values are written to
{MEASURES_FILE} in the release's folder, where other measures stay. What was computed is kept in the data folder, under measures:
a stopped command continues where it was.

Exit code: 0 success, 1 written, but some records could not be read (`audit check` names them), 2 nothing was written."""


def score_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit systems score`."""
    parser.epilog = ABOUT
    parser.add_argument("release", type=Path, metavar="RELEASE", help="folder of a release with answers of systems")
    parser.add_argument(
        "--measures", nargs="+", choices=MEASURES, default=list(MEASURES), metavar="NAME",
        help=f"only some of: {', '.join(MEASURES)} (default: all)",
    )  # fmt: skip
    parser.add_argument(
        "--bertscore",
        nargs="?",
        const=DEFAULT_MODEL,
        metavar="MODEL",
        help=f"compute BERTScore too, by a model's name on Hugging Face or its folder (without one: {DEFAULT_MODEL})",
    )
    add_json(parser)


def score(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit systems score RELEASE`"""
    records = read_system_records(arguments.release, settings.max_object_bytes)
    counts = counts_of(records)
    values = _values(arguments, settings, records)
    if not values:
        raise AuditError(
            f"{arguments.release}: there is nothing to measure. {_counted(counts)} No answer has both evidence and gold "
            "sections. Nothing was written. Add reference answers in references.jsonl."
        )
    try:
        written = write_measures(records, values)
    except OSError as error:
        raise AuditError(
            f"{arguments.release / MEASURES_FILE} cannot be written ({describe_error(error)}). The file is unchanged; the values "
            "are kept. Run this again where the folder can be written."
        ) from error
    _print(arguments, records, counts, values, written)
    return FINDINGS if records.unreadable else OK


def _values(arguments: argparse.Namespace, settings: Settings, records: SystemRecords) -> Values:
    scorers = [SCORERS[name]() for name in SCORERS if name in arguments.measures]
    scorers += [bertscore_scorer(arguments.bertscore)] if arguments.bertscore else []
    cache = ValueCache(settings.data_dir / "measures" / "values.sqlite")
    values: Values = {}
    with tqdm(unit="answer", disable=None, dynamic_ncols=True) as bar:

        def progress(measure: str, done: int, total: int) -> None:
            bar.set_description(measure)
            bar.total, bar.n = total, done
            bar.refresh()

        for scorer in scorers:
            values |= reference_values(records, scorer, cache, progress)
    values |= retrieval_values(records) if RETRIEVAL in arguments.measures else {}
    if QUOTES in arguments.measures:
        values |= quote_values(records, read_cited_texts(arguments.release, settings.max_object_bytes))
    return values


def _print(arguments: argparse.Namespace, records: SystemRecords, counts: ScoredCounts, values: Values, written: int) -> None:
    path = arguments.release / MEASURES_FILE
    if records.unreadable:
        note(f"{records.unreadable:,} records could not be read and were left out. `audit check` names them.")
    table = list(means(without_refusals(records, values), (*REFERENCE_MEASURES, *RETRIEVAL_MEASURES, QUOTE_CHECK)))
    lines = [f"{system:<32}{measure:<13}{answers:>8,}{mean:>10.4f}" for system, measure, answers, mean in table]
    text = "\n".join(
        [
            _counted(counts),
            f"{'system':<32}{'measure':<13}{'answers':>8}{'mean':>10}",
            *lines,
            f"{written:,} values: {path}. Load the release again with: audit load {shlex.quote(str(arguments.release))}",
        ]
    )
    names = ("system_id", "measure", "answers", "mean")
    rows = [dict(zip(names, row, strict=True)) for row in table]
    result = {**asdict(counts), "unreadable": records.unreadable, "values": written, "file": str(path), "means": rows}
    print_result(arguments, text, result)


def _counted(counts: ScoredCounts) -> str:
    return (
        f"Answers compared with a reference: {counts.scored:,}; refused: {counts.refused:,}; could not be read: "
        f"{counts.unread:,}; without a reference answer: {counts.without_reference:,}."
    )
