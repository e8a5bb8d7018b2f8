"""How a table is specified, once: its columns, headings, units, notes. Pages, the command line and exports render it.

A specification is next to the metric whose frame it describes. Headings, units and notes are templates in the words
of `audit.terms`: `{Organ}` becomes the run's own term.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Protocol

from audit.terms import ALL, RunWords, display_name, terms


class Row(Protocol):
    """A row of a frame as pandas gives it: a value for each column, of the type that the table's specification says."""

    def __getitem__(self, column: str, /) -> Any:
        """The value in a column."""


LOW, HIGH = "_low", "_high"
"""Where a frame has `share_low` and `share_high`, they are the 95 % interval of `share`."""


class Population(StrEnum):
    """The population to which the intervals of a table generalise. Templates in the words of `audit.terms`."""

    QUESTIONS_AND_HANDBOOKS = "other {questions} and other {handbooks} like these"
    OTHERS_TO_COMPARE = "other {questions} and other {handbooks} to compare with, its own being fixed"
    QUESTIONS_TO_THESE = "other {questions} put to these {handbooks}"
    QUESTIONS = "other {questions} like these"
    HANDBOOKS = "this {question} put to other {handbooks}"
    UNITS = "other units like these"
    PAIRS = "other pairs like these"
    ITEMS = "other items drawn like these"
    RATERS = "these pairs as such raters would label them"
    AS_HEADED = "what the headings of its columns name"

    @property
    def as_judged(self) -> str:
        """The same of an interval made from the judge's labels alone: it has none of the judge's errors."""
        return f"{self}, as this judge labels"

    @property
    def as_judged_twice(self) -> str:
        """As `as_judged`, where two runs, and perhaps two judges, are compared."""
        return f"{self}, as each run's judge labels"


class IntervalKind(StrEnum):
    """How the 95 % of an interval are meant."""

    FIXED = "fixed"
    """Of all samples of this size, 95 % have an interval that contains the truth."""
    ALWAYS_VALID = "always valid"
    """The same however often somebody looks while ratings come in."""
    CREDIBLE = "credible"
    """The truth is in it with a probability of 95 %, given the prior."""


class IntervalNote(str):
    """The footnote on the 95 % intervals of a table: their population, and how they were made."""

    population: str

    def __new__(cls, population: str, method: str = "", more: str = "") -> IntervalNote:
        """`method` follows a colon; `more` is a further sentence."""
        how = f": {method}" if method else ""
        after = f" {more}" if more else ""
        note = super().__new__(
            cls, f"In brackets: 95 % intervals, which generalise to {population}{how}.{after} A dash: not known."
        )
        note.population = population
        return note


class ColumnKind(StrEnum):
    """The kind of a column's values, which decides their format."""

    TEXT = "text"
    NAME = "name"
    """A release's own name, such as an organ: underscores become spaces."""
    COUNT = "count"
    SHARE = "share"
    """In [0, 1], or a difference of two shares: in percent on a page, as a decimal on paper."""
    DECIMAL = "decimal"


@dataclass(frozen=True)
class Column:
    """One column of a table.

    name     the column of the frame
    heading  the noun above it
    unit     what a count counts, or what a share is a share of; may be empty
    words    what is shown for the codes of the frame; a code without words is shown as it is
    alone    its interval, where the frame has one, is not shown: its population differs from that of the other columns
    interval the kind of its interval, where the frame has one
    """

    name: str
    heading: str
    unit: str = ""
    kind: ColumnKind = ColumnKind.TEXT
    words: Mapping[str, str] = field(default_factory=dict)
    alone: bool = False
    interval: IntervalKind = IntervalKind.FIXED

    @classmethod
    def text(cls, name: str, heading: str, unit: str = "", words: Mapping[str, str] | None = None) -> Column:
        """A column of texts or of codes."""
        return cls(name, heading, unit, words=words or {})

    @classmethod
    def named(cls, name: str, heading: str, everything: str = "") -> Column:
        """A column of a release's own names; `everything` is the name of the row of the whole run."""
        return cls(name, heading, kind=ColumnKind.NAME, words={ALL: everything} if everything else {})

    @classmethod
    def count(cls, name: str, heading: str, unit: str = "") -> Column:
        """A column of counts."""
        return cls(name, heading, unit, ColumnKind.COUNT)

    @classmethod
    def share(cls, name: str, heading: str, unit: str = "") -> Column:
        """A column of shares, with their intervals where the frame has them."""
        return cls(name, heading, unit, ColumnKind.SHARE)

    @classmethod
    def decimal(cls, name: str, heading: str, unit: str = "") -> Column:
        """A column of coefficients and other decimals, with their intervals where the frame has them."""
        return cls(name, heading, unit, ColumnKind.DECIMAL)

    @property
    def is_text(self) -> bool:
        """Whether its values are texts."""
        return self.kind in (ColumnKind.TEXT, ColumnKind.NAME)

    def of_kind(self, kind: IntervalKind) -> Column:
        """The column, whose intervals are of that kind."""
        return replace(self, interval=kind)

    def has_interval(self, columns: Container[str]) -> bool:
        """Whether a frame with these columns has the ends of an interval that is shown beside this one."""
        return not self.is_text and not self.alone and self.name + LOW in columns and self.name + HIGH in columns

    @property
    def label(self) -> str:
        """Heading and unit in one line; no two columns of a table share both."""
        return f"{self.heading} ({self.unit})" if self.unit else self.heading

    def display(self, value: object) -> str:
        """The display text of one of its values."""
        text = self.words.get(str(value), str(value))
        return display_name(text) if self.kind is ColumnKind.NAME else text

    def filled(self, words: Mapping[str, str]) -> Column:
        """A copy in a run's own words."""
        # Only our own texts are templates: the text of a release never reaches `format`, where braces would be read.
        own = {code: text.format(**words) for code, text in self.words.items()}
        return replace(self, heading=self.heading.format(**words), unit=self.unit.format(**words), words=own)


@dataclass(frozen=True)
class TableSpec:
    """The specification of one table, independent of what renders it.

    title         one sentence
    columns       in the order of exports and of the command line; a page may pick some
    notes         footnotes: definitions, what is left out; an IntervalNote says how intervals were made
    printed_rows  how many of the first rows are printed on paper; None: all. Machine-readable files have every row
    """

    title: str
    columns: tuple[Column, ...]
    notes: tuple[str, ...] = ()
    printed_rows: int | None = None

    @property
    def population(self) -> str:
        """The population of its intervals, as a template; empty if it has none, or if a column states it row by row.

        Raises ValueError where two footnotes name different ones: such intervals belong in two tables.
        """
        populations = {str(note.population) for note in self.notes if isinstance(note, IntervalNote)}
        if len(populations) > 1:
            raise ValueError(f"'{self.title}' mixes intervals of {' and of '.join(sorted(populations))}: split the table.")
        return next(iter(populations), "")

    def for_run(self, run: RunWords) -> TableSpec:
        """A copy in a run's own words."""
        words = terms(run)
        columns = tuple(column.filled(words) for column in self.columns)
        return replace(self, title=self.title.format(**words), columns=columns, notes=self.notes_for(run))

    def notes_for(self, run: RunWords) -> tuple[str, ...]:
        """The footnotes in a run's own words."""
        words = terms(run)
        return tuple(note.format(**words) for note in self.notes)

    def named(self, *names: str) -> tuple[Column, ...]:
        """The specification limited to the named columns; all columns if none is named. Raises KeyError for an unknown name."""
        by_name = {column.name: column for column in self.columns}
        return tuple(by_name[name] for name in names or by_name)

    def pick(self, run: RunWords, *names: str) -> tuple[Column, ...]:
        """A copy in a run's own words."""
        return self.for_run(run).named(*names)
