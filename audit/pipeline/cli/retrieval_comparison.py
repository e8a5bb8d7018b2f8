"""`audit retrieve --ablate` and `--unit corpus`: configurations of retrieval on the same questions, with paired intervals."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from tqdm import tqdm

from audit.cli.conventions import OK, print_result
from audit.errors import RetrievalError
from audit.evaluation.gold import Gold
from audit.evaluation.retrieval_measures import write_trec_qrels, write_trec_run
from audit.evaluation.search_trials import COMPARISONS, MEASURES, configuration_changes, configuration_means, measured_trials
from audit.pipeline.answers.evidence import meets
from audit.pipeline.embedding.encoders import Encoder, cached_encoder, in_memory, loaded_encoder
from audit.pipeline.retrieval.comparison import (
    Collection,
    ConfigurationSearch,
    ablations,
    check_gold,
    strategies,
)
from audit.pipeline.retrieval.merged import corpus_settings, home_of, merged_document, merged_id
from audit.pipeline.retrieval.model import Query, Retrieval
from audit.pipeline.retrieval.retrievers import Reranker, cross_encoder
from audit.pipeline.retrieval.settings import RetrievalSettings
from audit.pipeline.retrieval.strategies import CLOSEST, CORPUS_STRATEGIES
from audit.pipeline.stages.build_cache import write_lines
from audit.release.taxonomy import LEXICAL
from audit.text.documents import Document

HEADINGS = dict(zip(MEASURES, ("P", "recall", "nDCG", "MRR"), strict=True))
HANDBOOK, CORPUS = "handbook", "corpus"
Record = dict[str, Any]


def compare(
    arguments: argparse.Namespace, folder: Path, documents: Sequence[Document], questions: Sequence[Query], gold: Gold,
    options: RetrievalSettings, encoders: Sequence[str], rerankers: Sequence[str],
) -> int:  # fmt: skip
    """Search, write DIR/search_trials.jsonl and, of one corpus, DIR/corpus.jsonl, and print every table."""
    names = list(dict.fromkeys(arguments.strategy))
    if CLOSEST in names:
        raise RetrievalError(
            f"Strategy '{CLOSEST}' is about what is usual in one handbook and has no layers, so it cannot be used with --unit "
            f"corpus or --ablate. Nothing was searched. Name another with --strategy: {', '.join(CORPUS_STRATEGIES)}."
        )
    whole = arguments.unit == CORPUS
    collections = list((_corpora if whole else _handbooks)(documents, questions, gold))
    rows = (
        strategies(names, corpus_settings(options), encoders[0], rerankers[0]) if len(names) > 1 or not arguments.ablate else []
    )
    if arguments.ablate:
        check_gold(collections)
        rows += [row for name in names for row in ablations(name, options, encoders, rerankers)]
    comparison = ConfigurationSearch(
        folder / "indexes", partial(_encoder, arguments, folder / "vectors"), _reranker, arguments.relevant
    )
    trials, passages = [], []
    for row in tqdm(rows, desc="retrieve", unit="configuration", disable=None, dynamic_ncols=True):
        for collection in collections:
            for trial, retrieval in comparison.trials(collection, row):
                trials.append(trial)
                passages += [_passages(trial, retrieval)] if whole and row is rows[0] else []
    write_lines(arguments.out / "search_trials.jsonl", trials)
    if whole:
        write_lines(arguments.out / "corpus.jsonl", passages)
    measured = measured_trials(trials)
    means, changes = configuration_means(measured), configuration_changes(measured)
    if arguments.trec:
        _write_trec(arguments.trec, trials)
    result = {
        "unit": arguments.unit, "relevant": arguments.relevant, "questions": len(questions), "handbooks": len(documents),
        "trials": len(trials), "measures": _records(means), "changes": _records(changes), "out": str(arguments.out),
    }  # fmt: skip
    print_result(arguments, _text(result, means, changes), result)
    return OK


def _handbooks(documents: Iterable[Document], questions: Sequence[Query], gold: Gold) -> Iterable[Collection]:
    for document in documents:
        asked = tuple(question for question in questions if meets(question, document))
        yield Collection(document.handbook_id, document, asked, gold.get(document.handbook_id, {}))


def _corpora(documents: Sequence[Document], questions: Sequence[Query], gold: Gold) -> Iterable[Collection]:
    """The handbooks that the questions of each organ concern, as one document."""
    for organ in dict.fromkeys(question.organ for question in questions):
        asked = tuple(question for question in questions if question.organ == organ)
        concerned = [document for document in documents if meets(asked[0], document)]
        known = {
            question.question_id: [
                merged_id(document.handbook_id, section)
                for document in concerned
                for section in gold.get(document.handbook_id, {}).get(question.question_id, ())
            ]
            for question in asked
        }
        if concerned:
            yield Collection(organ, merged_document(concerned), asked, known)


def _encoder(arguments: argparse.Namespace, folder: Path, name: str) -> Encoder | None:
    if name in ("", LEXICAL):
        return None
    if name not in _KEPT:
        _KEPT[name] = in_memory(cached_encoder(loaded_encoder(name, arguments.threads, arguments.precision), folder))
    return _KEPT[name]


_KEPT: dict[str, Encoder] = {}


def _reranker(name: str) -> Reranker | None:
    return cross_encoder(name) if name else None


def _passages(trial: Mapping[str, Any], retrieval: Retrieval) -> Record:
    """What was found for a question in the corpus, each passage with its handbook."""
    found = [
        {"handbook_id": handbook, **replace(passage, section_id=section).record(number)}
        for number, passage in enumerate(retrieval.passages, 1)
        for handbook, section in [home_of(passage.section_id)]
    ]
    return {"question_id": trial["question_id"], "strategy": retrieval.strategy, "passages": found}


# -- measures -----------------------------------------------------------------------------------------------------------


def _records(frame: pd.DataFrame) -> list[Record]:
    """The rows as JSON values: JSON has no NaN."""
    return [{str(name): None if pd.isna(value) else value for name, value in row.items()} for row in frame.to_dict("records")]


def _query(trial: Mapping[str, Any]) -> str:
    return f"{trial['question_id']}\n{trial['collection']}"


def _text(result: Mapping[str, Any], means: pd.DataFrame, changes: pd.DataFrame) -> str:
    lines = [f"{result['handbooks']:,} handbooks, unit {result['unit']}; questions: {result['questions']:,}. {result['out']}"]
    if means.empty:
        return "\n".join([*lines, "No section is known to answer, so nothing was measured; --gold names the file that says so."])
    wide = means["configuration"].str.len().max() + 1
    for comparison, rows in means.groupby("comparison", sort=False):
        searches = f"{rows['searches'].max():,} searches with a known {result['relevant']}"
        lines += ["", f"{COMPARISONS[str(comparison)]}: {searches}, 95 % intervals"]
        lines.append(" " * wide + "".join(f"{HEADINGS[name]:>22}" for name in MEASURES) + "   ms CPU")
        for row in rows.to_dict("records"):
            cells = "".join(_cell(row[name], row[f"{name}_low"], row[f"{name}_high"]) for name in MEASURES)
            lines.append(f"{row['configuration']:<{wide}}{cells}{1000 * row['seconds']:>9.1f}")
        compared = changes[changes["comparison"] == comparison]
        lines += [f"Difference to {compared['against'].iloc[0]}, question by question"] if len(compared) else []
        for name, own in compared.groupby("configuration", sort=False):
            cells = "".join(_cell(row["change"], row["change_low"], row["change_high"], "+") for row in own.to_dict("records"))
            lines.append(f"{name!s:<{wide}}{cells}")
    return "\n".join(lines)


def _cell(value: float, low: float, high: float, sign: str = "") -> str:
    """`  0.448 [0.392,0.504]`, as wide where no interval is known, as of very few questions."""
    ends = "[not known]" if pd.isna(low) or pd.isna(high) else f"[{low:{sign}.3f},{high:{sign}.3f}]"
    return f"{value:>{sign}7.3f} {ends:<{13 + 2 * len(sign)}}"


def _write_trec(folder: Path, trials: Sequence[Mapping[str, Any]]) -> None:
    """A run for each configuration, in a folder for each comparison, and what is relevant as qrels."""
    folder.mkdir(parents=True, exist_ok=True)
    write_trec_qrels(folder / "qrels", {_query(trial): trial["gold"] for trial in trials if trial["gold"]})
    ranked: dict[tuple[str, str], dict[str, list[str]]] = {}
    for trial in trials:
        ranked.setdefault((trial["comparison"], trial["configuration"]), {})[_query(trial)] = trial["ranked"]
    for (comparison, name), lists in ranked.items():
        (folder / comparison).mkdir(exist_ok=True)
        write_trec_run(folder / comparison / f"{re.sub(r'[^A-Za-z0-9._-]+', '_', name)}.run", lists, name)
