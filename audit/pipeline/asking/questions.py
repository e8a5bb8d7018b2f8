"""The questions of a run that are nearest in meaning to what somebody types.

By three things together: vectors and words of the questions, and the words of their answers, because patients and handbooks
share more words there ("cigarettes") than in the questions ("smoking").
"""

from __future__ import annotations

from collections import Counter
from math import log
from pathlib import Path

import numpy as np

from audit.atomic_io import atomic_file
from audit.pipeline.embedding.encoders import Encoder
from audit.pipeline.embedding.static import weighted_vectors
from audit.pipeline.embedding.vectors import Vectors, no_progress
from audit.pipeline.retrieval.bm25 import Bm25, tokens
from audit.pipeline.stages.build_cache import code_digest, digest_of
from audit.queries.nearest_questions import question_index
from audit.store.connection import open_store, rows
from audit.text.statements import statements

COUNT = 7
LEAST = 0.25
"""The score from which a question is listed: a list claims nothing, and of what is left out nobody learns."""
TYPED_WHOLE = 0.999  # of a question's words, from which it comes first
# What the words of the question, and a unit of BM25 over its answers, count beside the cosine. Chosen on parts `tuned` to `later`
# of tests/queries/paraphrases.csv, where half or double changes three of 240.
BY_MODEL, BY_STATIC = (0.25, 0.05), (0.8, 0.1)
STOP_WEIGHT = 0.15  # of a word such as "how", where one that no question has weighs 1
FEW_ANSWERS = 3_000
"""So many are read in a second or two, while somebody types; more beforehand."""
ANSWERS = "select question, answer from answers where answer is not null and absent is false order by question, handbook"
CODE = ("pipeline/asking/questions.py", "pipeline/retrieval/bm25.py", "text")


class RunQuestions:
    """The questions of a run; a sentence model compares them once `prepare` has stored its vectors in `folder`."""

    def __init__(self, store: Path, encoder: Encoder | None, folder: Path) -> None:
        with open_store(store) as con:
            self._entries, self._words = question_index(con)
            ((count,),) = rows(con, f"select count(*) from ({ANSWERS})")
        self._store, self._has_few_answers = store, count <= FEW_ANSWERS
        self._answers_file = folder / f"answers-{digest_of([store.stem, code_digest(*CODE)])[:24]}.npz"
        self._texts = [entry.name for entry in self._entries]
        self._model, self._folder = encoder, folder
        self._answers: Bm25 | None = None
        self._asked = Counter(stem for text in self._texts for stem in set(tokens(text)))
        self._vectors: Vectors = np.zeros((0, 0), dtype=np.float32)
        self._vectors_by: object = None

    @property
    def is_prepared(self) -> bool:
        """Whether nothing is left for `prepare`."""
        return self._answers_file.is_file() and (self._model is None or self._file(self._model).is_file())

    def _file(self, encoder: Encoder) -> Path:
        return self._folder / f"questions-{digest_of([encoder.digest, self._texts])[:24]}.npy"

    def _answer_words(self) -> Bm25:
        """The words of the answers to each question, from the folder, or counted and stored there."""
        if self._answers_file.is_file():
            with np.load(self._answers_file, allow_pickle=False) as stored:
                return Bm25.from_arrays(dict(stored))
        said: dict[int, dict[str, None]] = {}
        with open_store(self._store) as con:
            order = [number for (number,) in rows(con, "select question from questions order by question")]
            for number, answer in rows(con, ANSWERS):
                said.setdefault(number, {}).update((statement.text, None) for statement in statements(answer))
        # Once each, or a sentence that many handbooks copy would count as often
        words = Bm25.build([tokens(" ".join(said.get(number, ()))) for number in order])
        self._folder.mkdir(parents=True, exist_ok=True)
        with atomic_file(self._answers_file) as draft, draft.open("wb") as file:
            np.savez(file, allow_pickle=False, **words.to_arrays())
        return words

    def prepare(self) -> None:
        """Count the words of the answers, and let the sentence model, where there is one, read the questions."""
        self._answers = self._answers or self._answer_words()
        if self._model and not self._file(self._model).is_file():
            vectors: Vectors = self._model.encode(self._texts, no_progress)
            with atomic_file(self._file(self._model)) as draft, draft.open("wb") as file:
                np.save(file, vectors, allow_pickle=False)

    def near(self, typed: str) -> list[str]:
        """Ids of at most COUNT questions, the nearest first; a text that is typed unfinished counts as it is."""
        if self._answers is None and (self._has_few_answers or self._answers_file.is_file()):
            self._answers = self._answer_words()
        model = self._model if self._model and self.is_prepared else None
        if self._vectors_by != (model, self._answers):
            self._vectors_by = model, self._answers
            self._vectors = np.load(self._file(model)) if model else weighted_vectors(self._texts, self._weight)
        of_words, of_answers = BY_MODEL if model else BY_STATIC
        asked = model.encode([typed], no_progress) if model else weighted_vectors([typed], self._weight)
        scores = np.asarray(self._vectors @ asked[0], dtype=np.float64)
        for number, score in self._words.scores(typed, unfinished=True).items():
            scores[number] += of_words * score + (score > TYPED_WHOLE)
        if self._answers:
            scores += of_answers * self._answers.scores(dict.fromkeys(tokens(typed), 1.0))
        best = np.argsort(-scores, kind="stable")[:COUNT]
        return [self._entries[number].value for number in best if scores[number] >= LEAST]

    def _weight(self, word: str) -> float:
        """The more, the fewer questions or answers to them have it."""
        size, answers = len(self._texts), self._answers
        having = [max(self._asked[stem], answers.document_frequency(stem) if answers else 0, 1) for stem in tokens(word)]
        return log(1 + size / min(having)) if having else STOP_WEIGHT * log(1 + size)
