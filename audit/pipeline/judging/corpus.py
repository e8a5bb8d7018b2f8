"""The input and output of a judge as plain records: a judge knows neither the store nor the files behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from audit.text.blinding import Masker, masker_of
from audit.vocabulary import says_absence

HandbookPair = tuple[str, str]
Record = Mapping[str, Any]


@dataclass(frozen=True)
class AnswerToJudge:
    """One handbook's answer to one question; `absent` and `method` are the run's own finding.

    `absent` is None if the generator's reply was unparseable, for `unread_reason`; `usage` is what writing it took; `center` is
    the name shown to the judge with it, empty if none is shown; `found` is how surely a search found it, where no model wrote it.
    """

    @property
    def shown(self) -> str:
        """The text shown to a judge."""
        return f"From {self.center}:\n{self.text or ''}" if self.center else self.text or ""

    text: str | None
    absent: bool | None = False
    method: str | None = None
    retrieval: Record | None = None
    unread_reason: str | None = None
    usage: Record | None = None
    center: str = ""
    found: str | None = None

    @property
    def says_absence(self) -> bool:
        """Whether its words are those of an absence, which settles it without a model."""
        return says_absence(self.text)


@dataclass(frozen=True)
class QuestionToJudge:
    """One question with all its answers, and the pairs to be judged.

    `question` is its record in the release (question_id, question, organ, topics, ...), `answers` maps handbook ids to answers,
    and `pairs` are pairs of handbook ids in release order, sorted by the first one. There are none if fewer than two handbooks
    answer.
    """

    question: Record
    answers: Mapping[str, AnswerToJudge]
    pairs: tuple[HandbookPair, ...]

    @property
    def question_id(self) -> str:
        """The id of the question; its calls stay together on one endpoint."""
        return str(self.question["question_id"])

    @property
    def in_pairs(self) -> tuple[str, ...]:
        """The handbooks that are in a pair, each once."""
        return tuple(dict.fromkeys(handbook for pair in self.pairs for handbook in pair))


@dataclass(frozen=True)
class Corpus:
    """The input of a judge.

    run        its origin: run_id, digest, title, synthetic, terms, licence, generator, retriever. Without a digest it was never
               a run, and the names are those of the run to be written
    handbooks  the records of all handbooks in release order
    items      may be called repeatedly, and yields one question at a time
    selection, limit  describes which pairs were chosen, and of those only the first ones that need a judge
    sections, trials   the run's texts of handbooks and its retrieval trials, which are copied into the new release; None: none
    names_centers  whether a judge is told whose answer a text is
    """

    run: Record
    handbooks: tuple[Record, ...]
    items: Callable[[], Iterator[QuestionToJudge]]
    selection: str = "all"
    sections: Callable[[], Iterator[Record]] | None = None
    trials: Callable[[], Iterator[Record]] | None = None
    names_centers: bool = False
    limit: int | None = None

    @cached_property
    def masker(self) -> Masker:
        """Masks everything that reveals whose answer a text is, for `--blind-centers`."""
        return masker_of(self.handbooks)

    @property
    def chosen(self) -> str:
        """Which pairs are in it, in words. A journal is bound to the selection alone: a limit may be raised later."""
        return f"{self.selection}, the first {self.limit:,} that need a judge" if self.limit else self.selection

    @property
    def source(self) -> Record:
        """The run that it was taken from, as a manifest names it; empty if it was never a run."""
        digest = self.run.get("digest")
        return {"source_run": self.run["run_id"], "source_digest": digest} if digest else {}


def with_centers(corpus: Corpus) -> Corpus:
    """The corpus with the name of its center at each answer, for the judge to read (as in arXiv:2605.29084, section 4)."""
    centers = {str(handbook["handbook_id"]): str(handbook["center"]) for handbook in corpus.handbooks}

    def items() -> Iterator[QuestionToJudge]:
        for item in corpus.items():
            named = {handbook: replace(answer, center=centers[handbook]) for handbook, answer in item.answers.items()}
            yield replace(item, answers=named)

    return replace(corpus, items=items, names_centers=True)


def first_pairs(corpus: Corpus, count: int) -> Corpus:
    """The corpus up to the `count`-th pair of answers that the run does not call absent."""

    def items() -> Iterator[QuestionToJudge]:
        remaining = count
        for item in corpus.items():
            # the numbers, from 1, of the pairs that count
            present = [
                number for number, pair in enumerate(item.pairs, 1) if not any(_is_absent(item, handbook) for handbook in pair)
            ]
            if len(present) >= remaining:
                yield replace(item, pairs=item.pairs[: present[remaining - 1]])
                return
            remaining -= len(present)
            yield item

    return replace(corpus, items=items, limit=count)


def _is_absent(item: QuestionToJudge, handbook: str) -> bool:
    return handbook in item.answers and item.answers[handbook].absent is True
