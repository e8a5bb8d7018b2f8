"""A sample with its answers in a model's words, the originals sealed with the plan, and how many were kept as they were."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from annotation.label_store.engine import StudyError
from annotation.label_store.study_creation import NewItem
from annotation.studies.sampling import DrawnSample
from audit.text.rewording import Rewording, digest, reworded
from audit.vocabulary import NOTHING_SAID

REWORDED = "reworded"
"""In the plan of a study: whose words, how many texts, why how many originals are kept, and the digest of each original."""


def texts_to_reword(drawn: DrawnSample) -> str:
    """The texts of a sample that a model is to reword, as JSON Lines: each once, in an order that says nothing of whose it is."""
    texts = sorted({(digest(text), text) for item in drawn.items for text in _said(item)})
    return "".join(json.dumps({"sha256": sha256, "text": text}, ensure_ascii=False) + "\n" for sha256, text in texts)


def in_other_words(drawn: DrawnSample, known: Mapping[str, Rewording]) -> DrawnSample:
    """The sample with every answer that has a rewording which can stand for it in these words.

    Raises StudyError where not one has, or names are shown.
    """
    if drawn.origin.plan["names_shown"]:
        raise StudyError("Where raters see whose the answers are, other words hide nothing. Nothing was drawn.")
    texts = sorted({text for item in drawn.items for text in _said(item)})
    shown, kept = reworded(texts, known)
    if len(texts) == kept.total():
        raise StudyError(
            "No answer of this sample has a rewording that can stand for it. Nothing was drawn. Reword the texts of this very "
            "sample: audit study create STUDY --dry-run --texts FILE with the same options, then audit study reword FILE."
        )
    words = dict(zip(texts, shown, strict=True))
    items = [
        replace(item, answer_a=words.get(item.answer_a, item.answer_a), answer_b=words.get(item.answer_b, item.answer_b))
        for item in drawn.items
    ]
    sealed = {
        "by": sorted({known[digest(text)].model for text in texts if digest(text) in known}),
        "texts": len(texts),
        "kept": dict(kept.most_common()),
        "originals": {item.item_id: [digest(item.answer_a), digest(item.answer_b)] for item in drawn.items},
    }
    origin = replace(drawn.origin, plan={**drawn.origin.plan, REWORDED: sealed})
    return replace(drawn, items=items, origin=origin)


def rewording_words(plan: Mapping[str, Any]) -> str:
    """How the answers of a study were reworded, in words; "" where they were not."""
    if not (sealed := plan.get(REWORDED)):
        return ""
    kept: Mapping[str, int] = sealed["kept"]
    reasons = "; ".join(f"{reason}: {count:,}" for reason, count in kept.items())
    return (
        f"Raters read answers in a model's words ({', '.join(sealed['by'])}): {sealed['texts'] - sum(kept.values()):,} of "
        f"{sealed['texts']:,} texts, with amounts and negations checked"
        + (f"; the others as they were ({reasons})" if kept else "")
        + ". The plan has the digest of every original."
    )


def _said(item: NewItem) -> Sequence[str]:
    return [text for text in (item.answer_a, item.answer_b) if text != NOTHING_SAID]
