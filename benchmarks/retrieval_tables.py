"""What the tables of `benchmarks.retrieval` share: intervals, lines, and an encoder that has computed its vectors already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from audit.pipeline.embedding.encoders import Encoder
from audit.pipeline.embedding.vectors import no_progress
from benchmarks.retrieval_corpora import Task

REPLICATES = 2000


def with_vectors_of(encoder: Encoder, texts: Sequence[str]) -> Encoder:
    """The encoder with the vectors of these texts computed once, for the measurement of many strategies."""
    distinct = list(dict.fromkeys(texts))
    row_of = {text: row for row, text in enumerate(distinct)}
    vectors = encoder.encode(distinct, no_progress)
    return replace(encoder, encode=lambda queries, _: vectors[[row_of[text] for text in queries]])


def intervals(rows: Any, tasks: Sequence[Task], seed: int) -> Any:
    """Mean, low and high of each column: (3, columns); the bootstrap resamples questions with all their tasks."""
    names = sorted({task.question.question_id for task in tasks})
    number_of = {name: number for number, name in enumerate(names)}
    question = np.array([number_of[task.question.question_id] for task in tasks])
    sums = np.stack([np.bincount(question, column, len(names)) for column in rows.T], axis=1)
    counts = np.bincount(question, minlength=len(names))
    resampled = np.random.default_rng(seed).multinomial(len(names), np.full(len(names), 1 / len(names)), REPLICATES)
    means = (resampled @ sums) / (resampled @ counts)[:, None]
    return np.stack([rows.mean(axis=0), *np.quantile(means, (0.025, 0.975), axis=0)])


def table_line(name: str, estimates: Any, cpu: float | None, form: str) -> str:
    """One row of a table: each mean with its interval, and milliseconds of CPU."""
    cells = "".join(f"{mean:>{form}} [{low:{form}}, {high:{form}}]" for mean, low, high in estimates.T)
    return f"{name:<34}{cells}{'' if cpu is None else f'{1000 * cpu:>8.1f}'}"
