"""The methods of S1's Tables 1 to 3 on 500 questions over nine NIH handbooks; what is learned is reported on the other half.

    python -m benchmarks.cross_source_seeds [--questions FILE] [--seeds 1 2 3 4 5] [--retriever bm25|dense] [--cache DIR]

Every random half gives weights of routing, learned by `learn` of a system, which are measured on the other half; a question
counts with the mean of the seeds in which it was not learned from. Methods that learn nothing are measured on the same questions.
Intervals resample questions. CtxPrec and CtxRec go by gold sections, in place of a judge; faithfulness, answer relevance and
citation correctness are about answers: `audit systems judge --protocol evidence` asks a model for them.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from audit.evaluation.retrieval_measures import context_precision
from audit.evaluation.routing_measures import RoutedQuestion, routing_measures
from audit.pipeline.retrieval.across.entities import medical_recogniser
from audit.pipeline.retrieval.across.learning import learned_on
from audit.pipeline.retrieval.across.library import BM25, DENSE, Library
from audit.pipeline.retrieval.across.settings import CrossSourceSettings
from audit.stats.means import mean_change, mean_interval
from benchmarks.cross_source import AUTHORITATIVE, DATA, DENSEST, build, halves
from benchmarks.cross_source_methods import EQUAL, MERGED_ROW, UNIFORM_ROW, Method, Question, baselines, gathered

COLUMNS = ("CtxPrec", "CtxRec", "PrimaryAcc", "Top2Hit", "EDR", "AuthCov", "EvRecall@5", "EvNDCG@5", "CrossEv@5")
LEARNED, LEARNED_GRAPH = "DAKS learned, no graph", "DAKS learned, with graph"
Values = dict[str, dict[str, float]]
"""Question -> column -> value, NaN where the measure is not asked of it."""


def measured(method: Method, questions: Sequence[Question]) -> Values:
    """Every measure of every question."""
    routed, precision = {}, {}
    for question in questions:
        result = method(question)
        passages = [(one.source_id, "/".join(one.candidate.chunk_id[:2])) for one in result.evidence]
        routed[question.question_id] = RoutedQuestion(
            result.ranking, passages, question.primary, question.required, question.gold
        )
        useful = context_precision([section in question.gold for _, section in passages]) or 0.0
        precision[question.question_id] = useful if question.gold else np.nan
    values = routing_measures(routed, DENSEST, AUTHORITATIVE)
    return {
        name: {**own, "CtxPrec": precision[name], "CtxRec": own["EvRecall@5"]} for name, own in values.items()
    }  # fmt: skip


def fixed_methods(library: Library, budget: int, retriever: str) -> dict[str, Method]:
    """The methods that learn nothing."""
    recogniser = medical_recogniser()
    paper, own = replace(CrossSourceSettings.paper(), retriever=retriever), replace(CrossSourceSettings(), retriever=retriever)
    settings = {
        "S1's DAKS only, as set": replace(paper, graph=None),
        "S1's graph only, as set": replace(paper, daks=EQUAL),
        "S1's DAKS and graph, as set": paper,
        "defaults, no graph": replace(own, graph=None),
        "defaults, with graph": own,
    }
    return baselines(library, budget, retriever) | {
        name: gathered(library, across, recogniser) for name, across in settings.items()
    }


def learned_values(
    library: Library, questions: Sequence[Question], seeds: Sequence[int], retriever: str
) -> dict[str, list[Values]]:
    """The two learned methods: for each seed the values of the half that was not learned from."""
    rows: dict[str, list[Values]] = {LEARNED: [], LEARNED_GRAPH: []}
    for seed in seeds:
        chosen_on, reported = halves(questions, seed)
        known = [(question.text, question.primary) for question in chosen_on if question.primary]
        across = replace(CrossSourceSettings(), retriever=retriever)
        across = replace(across, daks=learned_on(library, known, across.daks, retriever))
        for name, settings in ((LEARNED, replace(across, graph=None)), (LEARNED_GRAPH, across)):
            rows[name].append(measured(gathered(library, settings, medical_recogniser()), reported))
            print(f"seed {seed}, {name}: {len(reported)} questions", flush=True)
    return rows


def over_seeds(by_seed: Sequence[Values], questions: Sequence[Question], column: str) -> np.ndarray:
    """The mean of each question over the seeds that have it; NaN where none has."""
    found = [[values[q.question_id][column] for values in by_seed if q.question_id in values] for q in questions]
    return np.array([np.mean(own) if own else np.nan for own in found])


def print_tables(rows: Mapping[str, Sequence[Values]], questions: Sequence[Question]) -> None:
    """The means, and the differences to the merged index and to equal budgets."""
    print(f"\n{'':<30}" + "".join(f"{name:>20}" for name in COLUMNS))
    columns = {name: {column: over_seeds(by_seed, questions, column) for column in COLUMNS} for name, by_seed in rows.items()}
    for name, own in columns.items():
        means = [mean_interval(own[column][~np.isnan(own[column])]) for column in COLUMNS]
        print(f"{name:<30}" + "".join(f"{m.value:>7.3f} [{m.low:.3f},{m.high:.3f}]" for m in means))
    for other in (MERGED_ROW, UNIFORM_ROW, "defaults, no graph", LEARNED):
        print(f"\nDifference to: {other}")
        for name in (name for name in columns if name != other and not name.startswith("only ")):
            cells = []
            for column in COLUMNS:
                difference = columns[name][column] - columns[other][column]
                change = mean_change(difference[~np.isnan(difference)])
                cells.append(f"{change['change']:+.3f} [{change['change_low']:+.3f},{change['change_high']:+.3f}]")
            print(f"{name:<30}" + "".join(f"{cell:>24}" for cell in cells))


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--questions", type=Path, help="another file of the layout of --data; default: that of --data")
    parser.add_argument("--cache", type=Path, help="folder of the indexes; default: a temporary one")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--budget", type=int, default=20, help="chunks in the pool of a baseline")
    parser.add_argument("--retriever", choices=(BM25, DENSE), default=BM25)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        cache = arguments.cache or Path(temporary)
        library, questions = build(arguments.data, cache, arguments.retriever == DENSE, arguments.questions)
        rows: dict[str, Sequence[Values]] = {}
        for name, method in fixed_methods(library, arguments.budget, arguments.retriever).items():
            rows[name] = [measured(method, questions)]
            print(f"{name}: {len(questions)} questions", flush=True)
    print_tables(rows | learned_values(library, questions, arguments.seeds, arguments.retriever), questions)


if __name__ == "__main__":
    main()
