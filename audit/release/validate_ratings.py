"""Validating labels that raters gave to pairs, as in `audit.release.validate`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from audit.release.validate import fields_of
from audit.release.values import Reject, Repairs, number, optional, required_text, text, vocabulary_term
from audit.vocabulary import LABEL_SPELLINGS, LABELS, SIGNIFICANCE_SPELLINGS, SIGNIFICANCES

RATER = re.compile(r"annotator_([a-z0-9]+)")
GOLD = "gold"
"""The name of the rater that represents the adjudicated label."""


def human_rating(record: Any, repairs: Repairs) -> dict[str, Any]:
    """A rated pair: its ids, stratum, design_weight, the judge's label and significance, and `raters`.

    `raters` has one entry per rater who gave a label: rater (a, b, ..., gold), label, significance, comment.
    """
    raw = fields_of(record, "human_rating")
    return {
        **{name: required_text(raw, name) for name in ("item_id", "question_id", "handbook_a", "handbook_b")},
        "stratum": (optional(text, raw, "stratum", repairs) or "").strip() or None,
        "design_weight": _weight(raw),
        "judge": _label(raw.get("judge"), "judge"),
        "judge_significance": optional(_significance, raw, "judge_significance", repairs),
        "raters": _raters(record, raw, repairs),
    }


def _weight(raw: Mapping[str, Any]) -> float | None:
    """The design weight. A wrong one rejects the record: without it, no figure of the run could be computed at all."""
    weight = number(raw.get("design_weight"), "design_weight")
    # The tolerance allows for weights written with few digits
    if weight is not None and weight < 1 - 1e-6:
        raise Reject(
            "wrong_weight",
            f"field 'design_weight' is {weight:g}, but must be at least 1, because an item represents at least itself.",
        )
    return weight


def _raters(record: Mapping[Any, Any], raw: Mapping[str, Any], repairs: Repairs) -> list[dict[str, Any]]:
    columns = {str(name).strip().lower(): value for name, value in record.items()}
    labels = {match[1]: value for name, value in columns.items() if (match := RATER.fullmatch(name))}
    # An unknown word rejects the record: dropping it as a missing label would favour the other raters
    labels_by_rater = {rater: _label(value, f"annotator_{rater}") for rater, value in labels.items()} | {
        GOLD: _label(raw.get(GOLD), GOLD)
    }
    return [
        {
            "rater": rater, "label": label,
            "significance": optional(_significance, columns, f"significance_{rater}", repairs),
            "comment": (optional(text, columns, f"comment_{rater}", repairs) or "").strip() or None,
        }
        for rater, label in labels_by_rater.items() if label is not None
    ]  # fmt: skip


def _label(value: Any, name: str) -> Any:
    return vocabulary_term(value, LABEL_SPELLINGS, name, LABELS)


def _significance(value: Any, name: str) -> Any:
    return vocabulary_term(value, SIGNIFICANCE_SPELLINGS, name, SIGNIFICANCES)
