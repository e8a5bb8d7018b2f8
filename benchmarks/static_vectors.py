"""Writes the static word vectors that ship (audit/pipeline/embedding/static_minilm.npz), from the packaged MiniLM.

    python -m benchmarks.static_vectors [FILE]

Needs model2vec[distill] 0.10 (MIT) and the extra `models`; four minutes on one core. 128 principal components of the vector that
MiniLM gives each piece of its vocabulary, weighted by rarity (model2vec's defaults), as whole numbers of 8 bits.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from audit.pipeline.embedding.encoders import MINILM, model_folder
from audit.pipeline.embedding.static import FILE

DIMENSIONS = 128


def main() -> None:
    """Distil and write."""
    from model2vec.distill import distill

    model = distill(model_name=str(model_folder(MINILM)), pca_dims=DIMENSIONS, device="cpu")
    vocabulary = json.loads(model.tokenizer.to_str())["model"]["vocab"]
    write(
        sorted(vocabulary, key=vocabulary.__getitem__),
        np.asarray(model.embedding),
        Path(*sys.argv[1:2]) if sys.argv[1:] else FILE,
    )


def write(pieces: list[str], vectors: NDArray[np.floating], path: Path) -> None:
    """Store a row for each piece, with its own scale, so that its largest number is 127 or -127."""
    scales = np.abs(vectors.astype(np.float32)).max(axis=1) / 127
    rows = np.rint(vectors / np.where(scales == 0, 1, scales)[:, None]).astype(np.int8)
    text = np.frombuffer("\n".join(pieces).encode(), dtype=np.uint8)
    np.savez_compressed(path, pieces=text, rows=rows, scales=scales.astype(np.float16))


if __name__ == "__main__":
    main()
