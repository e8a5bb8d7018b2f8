"""Static word vectors: the encoder that needs no library beyond numpy, for where no sentence model is installed.

The vector of a text is the mean of the vectors of its word pieces, of length 1. Those were distilled from MiniLM (Apache-2.0) by
model2vec (MIT; https://github.com/MinishLab/model2vec), see benchmarks/static_vectors.py. So "sore" is near "pain", but a text
is a bag of words: "not" changes hardly anything.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

from audit.atomic_io import sha256_of
from audit.pipeline.embedding.encoders import Encoder
from audit.pipeline.embedding.vectors import Progress, Vectors, no_progress, unit_rows
from audit.text.word_match import words_of

FILE = Path(__file__).with_name("static_minilm.npz")
NAME = "static vectors of MiniLM"
# A word or one sign, as MiniLM's tokenizer cuts before it looks for pieces.
WORD = re.compile(r"[^\W_]+|[^\w\s]|_")
LONGEST_WORD = 100


@cache
def static_encoder() -> Encoder:
    """The encoder that ships with the program; the vector of a text without a known word is zero."""
    return Encoder(NAME, sha256_of(FILE), _encode)


def _encode(phrases: Sequence[str], _progress: Progress = no_progress) -> Vectors:
    rows, scales = _table()[1:]
    vectors = np.zeros((len(phrases), rows.shape[1]), dtype=np.float32)
    for number, phrase in enumerate(phrases):
        words = WORD.findall(_plain(phrase))
        # Of a text in another language only the punctuation is known, by which all its texts are alike
        if any(_pieces(word) for word in words if word.isalpha()):
            pieces = [piece for word in words for piece in _pieces(word)]
            vectors[number] = scales[pieces] @ rows[pieces].astype(np.float32)
    return unit_rows(vectors)


def weighted_vectors(phrases: Sequence[str], weight: Callable[[str], float]) -> Vectors:
    """One vector a phrase, of length 1 or 0: the sum of its words' vectors, each of length 1 times the word's weight."""
    words = [words_of(phrase) for phrase in phrases]
    known = {word: row for row, word in enumerate(dict.fromkeys(word for own in words for word in own))}
    rows = _encode(list(known)) * np.array([[weight(word)] for word in known], dtype=np.float32).reshape(-1, 1)
    return unit_rows(np.stack([rows[[known[word] for word in own]].sum(axis=0) for own in words]))


def _plain(text: str) -> str:
    """Lower case without accents."""
    if text.isascii():
        return text.lower()
    return "".join(letter for letter in unicodedata.normalize("NFD", text.lower()) if unicodedata.category(letter) != "Mn")


@lru_cache(65536)
def _pieces(word: str) -> tuple[int, ...]:
    """The longest known pieces of a word from the left (WordPiece); () where a part of it is unknown."""
    vocabulary, pieces, start = _table()[0], list[int](), 0
    while start < len(word) <= LONGEST_WORD:
        for end in range(len(word), start, -1):
            piece = vocabulary.get(f"{'##' if start else ''}{word[start:end]}")
            if piece is not None:
                pieces.append(piece)
                start = end
                break
        else:
            return ()
    return tuple(pieces)


@cache
def _table() -> tuple[dict[str, int], Vectors, Vectors]:
    """Piece -> row; the rows as whole numbers; what each row is to be multiplied with."""
    with np.load(FILE, allow_pickle=False) as stored:
        pieces = bytes(stored["pieces"]).decode().split("\n")
        return {piece: row for row, piece in enumerate(pieces)}, stored["rows"], stored["scales"].astype(np.float32)
