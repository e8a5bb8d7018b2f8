"""Encoders for tests: a handful of directions in a plane, or words, so that no test needs weights."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from audit.pipeline.embedding.encoders import Encoder
from audit.pipeline.embedding.vectors import Vectors


def compass(degrees: Mapping[str, float]) -> Encoder:
    """Plain phrase -> its direction in degrees; two phrases 11.5 degrees apart have the cosine distance 0.02."""

    def encode(phrases: object, _progress: object) -> Vectors:
        angle = np.radians([degrees[phrase] for phrase in phrases])  # type: ignore[attr-defined]
        return np.column_stack([np.cos(angle), np.sin(angle)]).astype(np.float32)

    return Encoder("compass", "c" * 64, encode)
