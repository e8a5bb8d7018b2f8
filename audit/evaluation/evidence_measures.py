"""How an answer relates to its evidence and to the reference: shares of statements, passages and citations that are accepted.

Sources: faithfulness, context precision and context recall after RAGAS (Es et al., arXiv:2309.15217), whose answer relevance
needs generated questions and a sentence model and is a judge's grade here; citation correctness after the citation precision of
ALCE (Gao et al., arXiv:2305.14627). Each function returns None, not 0, if there is nothing to measure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

FAITHFULNESS, CONTEXT_PRECISION, CONTEXT_RECALL = "faithfulness", "context_precision", "context_recall"
ANSWER_RELEVANCE, CITATION_CORRECTNESS, QUOTE_CHECK = "answer_relevance", "citation_correctness", "quote_check"
JUDGED_MEASURES = (FAITHFULNESS, CONTEXT_PRECISION, CONTEXT_RECALL, ANSWER_RELEVANCE, CITATION_CORRECTNESS)
EVIDENCE_MEASURES = (*JUDGED_MEASURES, QUOTE_CHECK)
RELEVANCE_GRADES = (0, 1, 2)
"""The answer does not address the question; addresses part of it, or adds much that was not asked; addresses it fully."""
SPACE = re.compile(r"\s+")


def share_accepted(accepted: Sequence[bool]) -> float | None:
    """The share of statements or citations that are accepted.

    Faithfulness: statements of the answer that the evidence supports. Context recall: statements of the reference answer that can
    be attributed to the evidence. Citation correctness: citations whose passage supports the whole statement that cites it.
    """
    return sum(accepted) / len(accepted) if accepted else None


def context_precision(useful: Sequence[bool]) -> float | None:
    """The mean of precision@k over the ranks k of the useful passages; 0 where none is useful.

    useful  whether each passage, best first, helps to arrive at the reference answer
    """
    if not useful:
        return None
    hits = [rank for rank, is_useful in enumerate(useful, 1) if is_useful]
    return sum(count / rank for count, rank in enumerate(hits, 1)) / len(hits) if hits else 0.0


def answer_relevance(grade: int) -> float:
    """A grade of `RELEVANCE_GRADES` as a share of the best one."""
    return grade / max(RELEVANCE_GRADES)


def is_verbatim(quote: str, text: str) -> bool:
    """Whether a quote is in a text word for word; white space does not matter. An empty quote is in none."""
    words = SPACE.sub(" ", quote).strip()
    return bool(words) and words in SPACE.sub(" ", text)
