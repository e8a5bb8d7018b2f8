"""The questions of a run that are nearest in meaning to what somebody types, by vectors and words together."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from audit.atomic_io import atomic_file
from audit.pipeline.embedding.encoders import Encoder
from audit.pipeline.embedding.static import static_encoder
from audit.pipeline.embedding.vectors import Vectors, no_progress
from audit.pipeline.stages.build_cache import digest_of
from audit.queries.nearest_questions import question_index
from audit.store.connection import open_store

COUNT = 7
# What the words count beside the cosine, and the score from which a question is worth a look; by parts `tuned` and `fresh` of
# tests/queries/paraphrases.csv. A sentence model reads whole questions; static vectors know only which words there are.
BY_MODEL, BY_STATIC = (0.25, 0.25), (1.0, 0.5)


class RunQuestions:
    """The questions of a run; a sentence model compares them once `prepare` has stored its vectors in `folder`."""

    def __init__(self, store: Path, encoder: Encoder | None, folder: Path) -> None:
        with open_store(store) as con:
            self._entries, self._words = question_index(con)
        self._texts = [entry.name for entry in self._entries]
        self._model, self._folder = encoder, folder
        self._encoder, self._vectors = static_encoder(), static_encoder().encode(self._texts, no_progress)

    @property
    def is_prepared(self) -> bool:
        """Whether nothing is left for `prepare`."""
        return self._model is None or self._file(self._model).is_file()

    def _file(self, encoder: Encoder) -> Path:
        return self._folder / f"questions-{digest_of([encoder.digest, self._texts])[:24]}.npy"

    def prepare(self) -> None:
        """Let the sentence model, where there is one, read the questions that it has not read."""
        if self._model and not self.is_prepared:
            vectors: Vectors = self._model.encode(self._texts, no_progress)
            with atomic_file(self._file(self._model)) as draft, draft.open("wb") as file:
                np.save(file, vectors, allow_pickle=False)

    def near(self, typed: str) -> list[str]:
        """Ids of at most COUNT questions, the nearest first; a text that is typed unfinished counts as it is."""
        if self._model and self._encoder is not self._model and self.is_prepared:
            self._encoder, self._vectors = self._model, np.load(self._file(self._model), allow_pickle=False)
        of_words, least = BY_MODEL if self._encoder is self._model else BY_STATIC
        scores = np.asarray(self._vectors @ self._encoder.encode([typed], no_progress)[0], dtype=np.float64)
        for number, score in self._words.scores(typed, unfinished=True).items():
            scores[number] += of_words * score
        best = np.argsort(-scores, kind="stable")[:COUNT]
        return [self._entries[number].value for number in best if scores[number] >= least]
