"""The reference metrics that Fensore, Carrillo-Larco, Shah and Ho print for Mixtral 8x7B without retrieval, from its answers.

ROUGE-1 .3135 and ROUGE-L .1674 come out to the last digit, by rouge-score with stemming, against the first reference answer.
BLEU depends on how words are cut: NLTK's sentence BLEU of lower-cased text with smoothing method 1 gives their BLEU-1 .2091 and
BLEU-4 .0314 where sentences are cut by Punkt, here without the trained abbreviations that NLTK downloads (.20914 and .03141).
With a cut after every full stop it would be .2115 and .0315, because the numbers of lists ("1.") then become two tokens.
Sacrebleu's tokens give BLEU-4 .0306.
"""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from audit.evaluation.reference_metrics import SCORERS
from tests.published.conftest import shared

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def texts() -> tuple[list[str], list[str]]:
    """828 answers and the first reference answer to each of their questions."""
    references = {record["question_id"]: record["reference_answers"][0] for record in _records("questions")}
    answers = _records("answers")
    return [record["answer"] for record in answers], [references[record["question_id"]] for record in answers]


def _records(name: str) -> list[dict[str, Any]]:
    with gzip.open(shared(f"consumer_health/{name}.jsonl.gz"), "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@pytest.mark.parametrize(
    ("group", "library", "printed"),
    [("rouge", "rouge_score", [0.3135, 0.1674]), ("bleu", "nltk", [0.2091, 0.0314]), ("sacrebleu", "sacrebleu", [0.0306])],
)
def test_the_means_over_828_answers(texts, group, library, printed):
    pytest.importorskip(library, reason=f"{library} is not installed (extra pipeline)")
    means = SCORERS[group]().score(*texts).mean(axis=0)
    assert len(texts[0]) == 828
    assert means.round(4).tolist() == printed
