"""`audit retrieve`: the passages of each handbook that answer each question, by one strategy or several."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from statistics import fmean
from textwrap import fill
from typing import Any

from tqdm import tqdm

from audit.cli.conventions import OK, add_json, count, count_or_zero, not_negative, note, print_result, share
from audit.errors import RetrievalError
from audit.evaluation.gold import Gold, read_gold, unused_gold
from audit.evaluation.retrieval_measures import retrieval_measures, write_trec_qrels, write_trec_run
from audit.pipeline.answers.evidence import meets
from audit.pipeline.answers.files import read_questions
from audit.pipeline.cli.retrieval_comparison import CORPUS, HANDBOOK, compare
from audit.pipeline.embedding.encoders import FULL_PRECISION, HALF_PRECISION, default_model
from audit.pipeline.retrieval.comparison import RELEVANT, SECTION
from audit.pipeline.retrieval.hybrid_settings import HybridSettings
from audit.pipeline.retrieval.model import Query
from audit.pipeline.retrieval.settings import (
    FUSIONS,
    PAPER_ENCODER,
    PAPER_RERANKER,
    PRESETS,
    RANKS,
    SCORES,
    WEIGHTS,
    RetrievalSettings,
    weight_field,
)
from audit.pipeline.retrieval.strategies import CLOSEST, HERO, STRATEGIES
from audit.pipeline.stages.build_cache import BuildCache, read_lines, write_lines
from audit.pipeline.stages.retrieve import MODEL_NOT_NEEDED, HandbookSearch, search_handbook, search_task
from audit.release.taxonomy import LEXICAL
from audit.settings import Settings
from audit.text.documents import Document, documents_and_paths
from audit.vocabulary import nearest

TRIALS = "trials"
NO_RERANKER = "none"
TUNABLE: dict[str, tuple[Any, str]] = {
    "whole_characters": (count_or_zero, "a handbook of at most this many characters is used in full; 0: never"),
    "passages": (count, "number of passages per question"),
    "chunk_words": (count, "length of a chunk in words"),
    "overlap_words": (count_or_zero, "words that a chunk shares with the previous one"),
    "depth": (count, "hits that are kept from each retriever"),
    "dense_weight": (not_negative, "weight of the vector search in HERO-QA's fusion"),
    "chunks_weight": (not_negative, "weight of BM25 over chunks"),
    "bodies_weight": (not_negative, "weight of BM25 over sections"),
    "headings_weight": (not_negative, "weight of BM25 over headings"),
    "neighbour_sections": (count_or_zero, "sections on either side of a hit's section that are added"),
    "sufficient": (share, "share of the question's words, by weight, that passages must contain, 0 to 1"),
    "fallback_characters": (
        count_or_zero,
        "where passages contain less, a handbook of at most this many characters is used in full",
    ),
}
"""Retrieval setting -> type of its value, help text."""
HYBRID_KINDS = {field.name: field.type for field in fields(HybridSettings)}
TREC_MEASURES = {"P@5": "P@5", "recall@5": "R@5", "nDCG": "nDCG", "MRR": "RR"}
"""Heading -> name in ir_measures."""
ABOUT = """Each question is asked of the handbooks of its organ; general questions are asked of all handbooks, and general
handbooks get all questions. Writes DIR/HANDBOOK_ID.jsonl, the passages of the first strategy, and DIR/trials.jsonl, the ranking
of every strategy. A handbook that was searched before with the same settings is not searched again; its index is kept in the
data folder, under retrieval.

closest finds whole passages of about 70 words, whose scores can be compared between handbooks; `audit generate` quotes them where
no model answers. The others find what a model is to answer from; hero is that of arXiv:2605.29084.

hybrid adds words of the handbook to the question, weighs vectors and BM25 equally, reranks the best ten chunks by the question's
words or by --reranker, and takes five that differ from each other. --hybrid changes a setting, for instance --hybrid final_k=3
leave_out=expansion,mmr (also dense, bm25, rerank). The others and their defaults:

{HYBRID}

--unit corpus makes one index of all handbooks that a question concerns: the five best passages may then be of one handbook, and a
word is as rare as it is in all of them. It writes DIR/corpus.jsonl, the passages of the first strategy. With --ablate, or of one
corpus, DIR/search_trials.jsonl has what every configuration found; as a file of a release it is drawn on the page Retrieval.

Exit code: 0 written, 2 nothing was written, or not everything."""


def retrieve_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit retrieve`."""
    defaults = " ".join(f"{name}={value}" for name, value in HybridSettings().record().items() if name != "leave_out")
    parser.epilog = ABOUT.replace("{HYBRID}", fill(defaults, 110, initial_indent="  ", subsequent_indent="  "))
    parser.add_argument(
        "documents", type=Path, metavar="DOCUMENTS", help="folder of handbooks as `audit extract` wrote them, or one handbook"
    )
    parser.add_argument("--questions", type=Path, required=True, metavar="FILE.jsonl", help="file that `audit questions` wrote")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for the passages")
    parser.add_argument(
        "--strategy", nargs="+", action="extend", choices=STRATEGIES, metavar="NAME",
        help=f"{', '.join(STRATEGIES)}; answers are written from the first one's passages (default: closest)",
    )  # fmt: skip
    parser.add_argument(
        "--preset", choices=tuple(PRESETS), help="paper: the settings of arXiv:2605.29084, section 4.2; other options change them"
    )
    parser.add_argument(
        "--unit", choices=(HANDBOOK, CORPUS), default=HANDBOOK,
        help="what is searched at once: each handbook, or all handbooks of a question as one corpus (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--ablate", action="store_true",
        help="with --gold: leave out each layer in turn, vary the passages and the chunks reranked, and combine several "
        "--encoder and --reranker; prints P, recall, nDCG and MRR with paired intervals",
    )  # fmt: skip
    parser.add_argument(
        "--relevant", choices=RELEVANT, default=SECTION,
        help="--unit corpus, --ablate: a passage is right where its section, or its handbook, is known to answer "
        "(default: %(default)s)",
    )  # fmt: skip
    _add_search_options(parser)
    add_json(parser)


def _add_search_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--gold", type=Path, metavar="FILE.jsonl", help="sections known to contain the answers; stored with the trials"
    )
    parser.add_argument(
        "--encoder",
        nargs="+",
        default=[],
        metavar="NAME|PATH",
        help=f"sentence model (with --ablate several), such as {PAPER_ENCODER}, or '{LEXICAL}' for no model (default: MiniLM if "
        f"installed; preset paper: {PAPER_ENCODER})",
    )
    parser.add_argument(
        "--precision",
        choices=(FULL_PRECISION, HALF_PRECISION),
        default=FULL_PRECISION,
        help="precision of the model; bfloat16 halves the time on processors that support it (default: %(default)s)",
    )
    parser.add_argument(
        "--threads", type=count, default=1, metavar="N", help="number of threads of the model (default: %(default)s)"
    )
    parser.add_argument(
        "--reranker",
        nargs="+",
        default=[],
        metavar="NAME|PATH",
        help=f"cross-encoder (with --ablate several) that ranks the best passages again, or '{NO_RERANKER}' (the default; "
        f"preset paper: {PAPER_RERANKER})",
    )
    parser.add_argument(
        "--expansion", type=Path, metavar="FILE.toml", help="lists of synonyms to search for too (default: medical ones)"
    )
    parser.add_argument(
        "--fusion", choices=FUSIONS, help=f"how HERO-QA combines its four rankings: by scores or by ranks (default: {SCORES})"
    )
    parser.add_argument(
        "--hybrid", nargs="+", default=[], metavar="NAME=VALUE", help="settings of the strategy hybrid, see below"
    )
    parser.add_argument(
        "--trec",
        type=Path,
        metavar="DIR",
        help="with --gold: write the rankings as STRATEGY.run and the known sections as qrels, the files of TREC, and print "
        "P@5, recall@5, nDCG and MRR",
    )
    for name, (kind, words) in TUNABLE.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=kind, metavar="N", help=f"{words} (default: {_default_of(name)})")


def _default_of(name: str) -> str:
    fallback = getattr(RetrievalSettings, name)
    if fallback is not None:
        return str(fallback)
    retriever = next(retriever for retriever in WEIGHTS[SCORES] if weight_field(retriever) == name)
    return f"{WEIGHTS[SCORES][retriever]:g} by scores, {WEIGHTS[RANKS][retriever]:g} by ranks"


def retrieve(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit retrieve DOCUMENTS --questions FILE --out DIR`"""
    arguments.strategy = arguments.strategy or [HERO if arguments.preset else CLOSEST]
    if arguments.trec and not arguments.gold:
        raise RetrievalError(
            "--trec writes known sections too, so it needs --gold. Nothing was retrieved. Add --gold FILE.jsonl."
        )
    if arguments.ablate or arguments.unit == CORPUS:
        return _compare(arguments, settings)
    if more := [name for name in ("encoder", "reranker") if len(getattr(arguments, name)) > 1]:
        raise RetrievalError(
            f"Several --{more[0]} are compared by --ablate only. Nothing was retrieved. Name one, or add --ablate."
        )
    searches = _searches(arguments, settings)
    cache = BuildCache(arguments.out / ".done")
    tasks = [(search, search_task(search, cache)) for search in searches]
    open_tasks = [(search, task) for search, task in tasks if not cache.done(task)]
    for search, task in tqdm(open_tasks, desc="retrieve", unit="handbook", disable=None, dynamic_ncols=True):
        cache.store(task, search_handbook(search))
    lines = [line for search in searches if search.trials for line in read_lines(search.trials)]
    write_lines(arguments.out / f"{TRIALS}.jsonl", lines)
    result = {
        "handbooks": len(searches), "searched_before": len(searches) - len(open_tasks),
        "questions": sum(len(search.questions) for search in searches), "strategies": arguments.strategy,
        "encoder": searches[0].encoder, "trials": len(lines), "out": str(arguments.out),
    }  # fmt: skip
    text = (
        f"Handbooks: {result['handbooks']:,}; {result['searched_before']:,} of them were searched before. "
        f"Questions asked: {result['questions']:,}.\n"
        f"Strategies: {', '.join(arguments.strategy)}. Encoder: {result['encoder']}. Trials: {len(lines):,}. {arguments.out}"
    )
    if any("message" in cache.figures(task) for _, task in tasks):
        note(MODEL_NOT_NEEDED)
    if arguments.trec:
        measures = _write_trec(arguments.trec, lines)
        result["measures"] = measures
        text += "".join(f"\n{name}: {_measures_text(values)}" for name, values in measures.items())
    print_result(arguments, text, result)
    return OK


def _compare(arguments: argparse.Namespace, settings: Settings) -> int:
    if arguments.ablate and not arguments.gold:
        raise RetrievalError(
            "--ablate compares what finds known sections, so it needs --gold. Nothing was retrieved. Add --gold FILE.jsonl."
        )
    documents = [document for document, _ in documents_and_paths(arguments.documents)]
    questions = read_questions(arguments.questions)
    gold = _gold(arguments.gold, documents, questions) if arguments.gold else {}
    encoders = [name if name != LEXICAL else "" for name in arguments.encoder or [_encoder(arguments)]]
    rerankers = [name if name != NO_RERANKER else "" for name in arguments.reranker or [_reranker(arguments) or NO_RERANKER]]
    folder = settings.data_dir.resolve() / "retrieval"
    return compare(arguments, folder, documents, questions, gold, _options(arguments), encoders, rerankers)


def _searches(arguments: argparse.Namespace, settings: Settings) -> list[HandbookSearch]:
    handbooks = documents_and_paths(arguments.documents)
    questions = read_questions(arguments.questions)
    gold = _gold(arguments.gold, [document for document, _ in handbooks], questions) if arguments.gold else {}
    out, encoder, options = arguments.out, _encoder(arguments), _options(arguments)
    return [
        HandbookSearch(
            document.handbook_id, path, tuple(_record(question) for question in questions if meets(question, document)),
            tuple(dict.fromkeys(arguments.strategy)), options, encoder, _reranker(arguments),
            settings.data_dir.resolve() / "retrieval", out / f"{document.handbook_id}.jsonl",
            out / TRIALS / f"{document.handbook_id}.jsonl", gold.get(document.handbook_id),
            arguments.precision, arguments.threads,
        )
        for document, path in handbooks
    ]  # fmt: skip


def _gold(path: Path, documents: Sequence[Document], questions: Sequence[Query]) -> Gold:
    """The gold sections of these handbooks; reports an empty file, and entries that match nothing."""
    gold = read_gold(path, documents)
    if not any(gold.values()):
        note(f"{path} has no gold sections for these handbooks, so the trials cannot be measured.")
    if warning := unused_gold(path, documents, {question.question_id for question in questions}):
        note(warning)
    return gold


def _record(question: Query) -> dict[str, Any]:
    return {"question_id": question.question_id, "question": question.text, "organ": question.organ, "topics": question.topics}


def _write_trec(folder: Path, trials: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """Write the files of TREC, a query being a question put to a handbook; returns strategy -> measure -> mean over queries."""
    folder.mkdir(parents=True, exist_ok=True)
    gold = {_query_id(trial): trial["gold"] for trial in trials if trial["gold"]}
    write_trec_qrels(folder / "qrels", gold)
    means = {}
    for strategy in dict.fromkeys(trial["strategy"] for trial in trials):
        ranked = {_query_id(trial): trial["ranked"] for trial in trials if trial["strategy"] == strategy}
        write_trec_run(folder / f"{strategy}.run", ranked, strategy)
        values = retrieval_measures(ranked, gold, TREC_MEASURES).values()
        means[strategy] = {name: fmean(value[name] for value in values) for name in TREC_MEASURES} if values else {}
    return means


def _query_id(trial: Mapping[str, Any]) -> str:
    return f"{trial['question_id']}/{trial['handbook_id']}"


def _measures_text(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.3f}" for name, value in values.items()) or "no known section, so nothing to measure"


def _options(arguments: argparse.Namespace) -> RetrievalSettings:
    try:
        asked = {name: getattr(arguments, name) for name in (*TUNABLE, "fusion", "expansion")}
        options = {name: value for name, value in asked.items() if value is not None}
        hybrid = HybridSettings(**dict(map(_hybrid_setting, arguments.hybrid)))
        return RetrievalSettings(**{**PRESETS.get(arguments.preset, {}), "hybrid": hybrid, **options})
    except ValueError as error:
        raise RetrievalError(f"With these settings {error}. Nothing was retrieved.") from error


def _hybrid_setting(written: str) -> tuple[str, Any]:
    """The name and the value of `NAME=VALUE`. Raises ValueError with a clause for another name or kind of value."""
    name, _, value = written.partition("=")
    if name not in HYBRID_KINDS:
        raise ValueError(f"hybrid has no '{name}'.{nearest(name, tuple(HYBRID_KINDS))} Allowed: {', '.join(HYBRID_KINDS)}")
    if name == "leave_out":
        return name, frozenset(filter(None, value.split(",")))
    try:
        return name, int(value) if HYBRID_KINDS[name] == "int" else float(value)
    except ValueError:
        raise ValueError(f"{name} must be a number, not '{value}'") from None


def _encoder(arguments: argparse.Namespace) -> str:
    """The sentence model; if none is named or installed, the encoder of words, with a message."""
    model: str | None = next(iter(arguments.encoder), None) or (PAPER_ENCODER if arguments.preset else default_model())
    if model is None:
        note("No sentence model is installed, so passages are found by their words.")
    return model or LEXICAL


def _reranker(arguments: argparse.Namespace) -> str:
    named: str = next(iter(arguments.reranker), "") or (PAPER_RERANKER if arguments.preset else NO_RERANKER)
    return "" if named == NO_RERANKER else named
