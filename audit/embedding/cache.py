"""Vectors kept in a file, so that a phrase is embedded once per model."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np

from audit.embedding.basis import Progress, Vectors
from audit.embedding.encoders import LEXICAL, Encoder, sentence_encoder, words_encoder
from audit.errors import EmbeddingError

TABLE = "create table if not exists vectors (phrase text primary key, vector blob not null) without rowid"


def cached(encoder: Encoder, folder: Path) -> Encoder:
    """The same encoder, which looks first into `folder`: one SQLite file per model, named by the model's digest.

    A vector that is read back is bit for bit the one that was written. Raises EmbeddingError where the file is damaged.
    """
    path = folder / f"{encoder.digest[:16]}.sqlite"

    def encode(phrases: Sequence[str], progress: Progress) -> Vectors:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            with closing(sqlite3.connect(path, timeout=60)) as con, con:
                con.execute(TABLE)
                return _encode(con, phrases, encoder, progress)
        except sqlite3.DatabaseError as error:
            raise EmbeddingError(f"{path} cannot be used ({error}). Nothing was built. Delete it; it is only a cache.") from error

    return replace(encoder, encode=encode)


def _encode(con: sqlite3.Connection, phrases: Sequence[str], encoder: Encoder, progress: Progress) -> Vectors:
    known = _known(con, phrases)
    new = [phrase for phrase in phrases if phrase not in known]
    if new:
        made = encoder.encode(new, progress)
        rows = [(phrase, vector.tobytes()) for phrase, vector in zip(new, made, strict=True)]
        con.executemany("insert or replace into vectors values (?, ?)", rows)
        known |= dict(rows)
    return np.stack([np.frombuffer(known[phrase], dtype=np.float32) for phrase in phrases])


def _known(con: sqlite3.Connection, phrases: Sequence[str]) -> dict[str, bytes]:
    con.execute("create temp table asked (phrase text primary key)")
    con.executemany("insert or ignore into asked values (?)", [(phrase,) for phrase in phrases])
    return dict(con.execute("select phrase, vector from vectors join asked using (phrase)").fetchall())


def encoder_factory(name: str, folder: Path) -> Callable[[Sequence[str]], Encoder] | None:
    """What makes the encoder called `name` for some texts: `words` learns its features from them, the vectors of a sentence
    model are cached in `folder`, and `none` is no encoder at all (None).
    """
    if name == "none":
        return None
    return words_encoder if name == LEXICAL else lambda _: cached(sentence_encoder(name), folder)
