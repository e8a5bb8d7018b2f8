"""Make a release of the public data of "Does Domain-Specific RAG Help LLMs Answer Consumer Health Questions?".

    python examples/consumer_health/convert.py DATA --out data/releases/consumer-health
    audit load data/releases/consumer-health

README.md beside this file says what DATA contains and what the release holds. Exit code 1: a published score differs from the one
that was read here.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from audit.evaluation.criteria import CRITERIA, Criterion
from audit.pipeline.judging.criteria.task import Evaluation, evaluation_fields, parse_evaluation
from audit.release.write import write_release

Record = dict[str, Any]
MODELS = {"llama_8b": "llama-3.1-8b", "llama_70b": "llama-3.1-70b", "mixtral": "mixtral-8x7b"}
"""Name in head_to_head -> the model's name, and the beginning of its systems' ids."""
APPROACHES = {"closed_book": ("closed-book", "alone"), "rag": ("rag", "with retrieval")}
MODES = {"closed_book": "closed_book", "rag": "retrieval"}
JUDGE, CLINICIAN = "llama-3.1-70b-instruct", "clinician-1"
UNREAD = "The judge's reply could not be read; published as a tie."
SIDE = {"closed_book": "A", "rag": "B", "tie": "tie"}
# The data does not mark refusals. This is an answer that says the documents hold nothing on the question and gives no other.
REFUSAL = re.compile(
    r"The provided (reference )?documents? do(es)? not contain (?!.*\b(however|mentioned|suggests|recommended)\b)",
    re.IGNORECASE | re.DOTALL,
)
SETTINGS = {"temperature": 0.1, "max_new_tokens": 512, "quantization": "4 bit"}
MANIFEST = {
    "run_id": "consumer-health",
    "title": "Consumer health questions, closed book and with retrieval",
    "judge": JUDGE,
    "licence": "MIT; questions and reference answers CC BY 4.0 (MedQuAD, Ben Abacha and Demner-Fushman 2019)",
}


def read(folder: Path, name: str) -> list[Record]:
    """The records of one gzipped file of the data."""
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def system_id(model: str, approach: str) -> str:
    """The id of a system, such as `mixtral-8x7b-rag`."""
    return f"{MODELS[model]}-{APPROACHES[approach][0]}"


def systems() -> Iterator[Record]:
    """Every model alone and with retrieval; Mixtral first, which alone has all questions."""
    for model in ("mixtral", "llama_8b", "llama_70b"):
        for approach, (_, words) in APPROACHES.items():
            retriever = "bge-large-en-v1.5 and BM25, 5 passages" if approach == "rag" else None
            yield {
                "system_id": system_id(model, approach), "name": f"{MODELS[model].capitalize()} {words}", "model": MODELS[model],
                "mode": MODES[approach], "retriever": retriever, "settings": SETTINGS,
            }  # fmt: skip


def references(questions: list[Record]) -> Iterator[Record]:
    """The reference answers and the type of each question."""
    for question in questions:
        yield {
            "question_id": question["question_id"], "answers": question["reference_answers"],
            "question_type": question["question_type"], "url": question["document_url"],
        }  # fmt: skip


def system_answers(answers: list[Record], comparisons: list[Record]) -> Iterator[Record]:
    """The public answers, each once: one model's closed-book answers, and those of the head-to-head items."""
    texts = {(answer["system_id"], answer["question_id"]): answer["answer"] for answer in answers}
    for item in comparisons:
        for approach in APPROACHES:
            texts.setdefault((system_id(item["model"], approach), item["qid"]), item[f"{approach}_answer"])
    for (system, question_id), text in texts.items():
        yield {"question_id": question_id, "system_id": system, "answer": text, "refused": bool(REFUSAL.match(text))}


def criteria(replies: list[Record], evaluations: list[Evaluation]) -> Iterator[Record]:
    """The scores that were read from the judge's replies."""
    for reply, evaluation in zip(replies, evaluations, strict=True):
        ids = {name: reply[name] for name in ("question_id", "system_id", "judge")}
        yield ids | evaluation_fields(evaluation)


def preferences(comparisons: list[Record]) -> Iterator[Record]:
    """The clinician's choices, and the judge's by its sums of scores. The clinician always saw the closed-book answer first."""
    for item in comparisons:
        systems = {
            f"system_{side}": system_id(item["model"], approach) for side, approach in (("a", "closed_book"), ("b", "rag"))
        }
        shared = {"question_id": item["qid"], **systems}
        choice = SIDE[item["clinician"]]
        yield shared | {"preference": choice, "rater": CLINICIAN, "rater_kind": "human", "shown_first": "A"}
        unread = item["judge_total_closed_book"] is None or item["judge_total_rag"] is None
        comment = {"comment": UNREAD} if unread else {}
        yield shared | {"preference": judge_choice(item), "rater": JUDGE, "rater_kind": "judge", **comment}


def judge_choice(item: Record) -> str:
    """The answer with the higher sum of scores; equal sums, and sums that could not be read, are a tie as in the source."""
    change = (item["judge_total_closed_book"] or 0) - (item["judge_total_rag"] or 0)
    return "A" if change > 0 else "B" if change < 0 else "tie"


def compare_scores(replies: list[Record], evaluations: list[Evaluation]) -> tuple[int, int, int]:
    """Published scores that agree, that differ, and scores that were read here alone."""
    agree = differ = further = 0
    for reply, evaluation in zip(replies, evaluations, strict=True):
        # "4_extent_harm" and the like: the eight criteria in their order
        published = {int(name.partition("_")[0]): score for name, score in reply["published_scores"].items()}
        for number, criterion in enumerate(CRITERIA, 1):
            outcome = _compare(published.get(number), evaluation, criterion)
            agree, differ, further = (
                agree + (outcome == "agree"),
                differ + (outcome == "differ"),
                further + (outcome == "further"),
            )
    return agree, differ, further


def _compare(published: float | None, evaluation: Evaluation, criterion: Criterion) -> str:
    own = evaluation.scores[criterion]
    if published is None:
        return "unreadable" if own is None else "further"
    return "agree" if own == published else "differ"


def convert(folder: Path, out: Path) -> int:
    """Write the release and say what is in it; returns the exit code."""
    questions, answers, replies, comparisons = (
        read(folder, name) for name in ("questions", "answers", "judge_replies", "head_to_head")
    )
    evaluations = [parse_evaluation(reply["reply"]) for reply in replies]
    write_release(
        out,
        manifest=MANIFEST,
        questions=(
            {"question_id": q["question_id"], "question": q["question"], "organ": "general", "source": "MedQuAD, NIDDK"}
            for q in questions
        ),
        systems={
            "systems": systems(), "references": references(questions), "system_answers": system_answers(answers, comparisons),
            "criteria": criteria(replies, evaluations), "preferences": preferences(comparisons),
        },
    )  # fmt: skip
    agree, differ, further = compare_scores(replies, evaluations)
    print(f"Wrote {out}. Published scores: {agree:,} agree, {differ:,} differ; {further:,} further ones were readable.")
    return int(differ > 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path, metavar="DATA", help="the folder with the four .jsonl.gz files")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="the release folder to write")
    arguments = parser.parse_args()
    sys.exit(convert(arguments.data, arguments.out))
