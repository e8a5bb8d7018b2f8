"""What is judged, as plain records: a judge knows neither the store nor the files they come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from audit.vocabulary import NOT_ADDRESSED

Couple = tuple[str, str]
Record = Mapping[str, Any]


@dataclass(frozen=True)
class Answer:
    """What one handbook answers to one question; `absent` and `method` are what the run says of it.

    `absent` is None where the generator's reply could not be read, for the reason `unread`; `usage` is what writing it took.
    """

    text: str | None
    absent: bool | None = False
    method: str | None = None
    retrieval: Record | None = None
    unread: str | None = None
    usage: Record | None = None

    @property
    def silent(self) -> bool:
        """It begins with the canonical prefix, which settles its absence without asking anybody."""
        return (self.text or "").lstrip()[: len(NOT_ADDRESSED)].upper() == NOT_ADDRESSED


@dataclass(frozen=True)
class Item:
    """One question with all its answers, and the pairs that are to be judged.

    `question` is its record as a release has it (question_id, question, organ, topics, ...), `answers` goes by handbook id,
    and `pairs` are couples of handbook ids in release order, sorted: equal first answers stand together; none where fewer than
    two handbooks answer.
    """

    question: Record
    answers: Mapping[str, Answer]
    pairs: tuple[Couple, ...]

    @property
    def question_id(self) -> str:
        """The question's id: what must stay together on one endpoint."""
        return str(self.question["question_id"])


@dataclass(frozen=True)
class Corpus:
    """Everything that a judge is given.

    `run` says where it comes from (run_id, digest, title, synthetic, terms, licence, generator, retriever; without a digest
    it was never a run, and the names are those of the run that it becomes), `handbooks` are
    the records of all handbooks in release order, `selection` says in words which pairs were chosen. `items` may be called
    again and again, and yields one question at a time. `sections` and `trials` are what the run holds of the handbooks' texts
    and of retrieval (None: nothing); they go along into the new release.
    """

    run: Record
    handbooks: tuple[Record, ...]
    items: Callable[[], Iterator[Item]]
    selection: str = "all"
    sections: Callable[[], Iterator[Record]] | None = None
    trials: Callable[[], Iterator[Record]] | None = None
    names: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Gather the names of centers and titles of handbooks, which `--blind-centers` masks."""
        names = {str(book[key]) for book in self.handbooks for key in ("center", "title") if book.get(key)}
        object.__setattr__(self, "names", tuple(sorted(names)))

    @property
    def source(self) -> Record:
        """The run that it was taken from, as a manifest names it; empty where it was never a run."""
        digest = self.run.get("digest")
        return {"source_run": self.run["run_id"], "source_digest": digest} if digest else {}


def first_pairs(corpus: Corpus, count: int) -> Corpus:
    """The corpus up to the `count`-th pair of answers that the run does not call absent."""

    def items() -> Iterator[Item]:
        left = count
        for item in corpus.items():
            places = [place for place, pair in enumerate(item.pairs, 1) if not any(_absent(item, handbook) for handbook in pair)]
            if len(places) >= left:
                yield replace(item, pairs=item.pairs[: places[left - 1]])
                return
            left -= len(places)
            yield item

    return replace(corpus, items=items)


def _absent(item: Item, handbook: str) -> bool:
    return handbook in item.answers and item.answers[handbook].absent is True
