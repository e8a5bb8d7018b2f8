"""Where the passages of a handbook are: characters of its sections. Kept as arrays, which are read back in no time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class PassagePlace:
    """Characters `start` to `end` of section number `section`, counted from 0.

    leads       the lines that introduce it ("Avoid the following:"), outermost first, which stand before it in the section
    statements  (start, end) of its statements
    """

    section: int
    start: int
    end: int
    leads: tuple[str, ...]
    statements: tuple[tuple[int, int], ...]


class PassagePlaces:
    """All of them, in reading order; a place is made when it is asked for, because a long handbook has tens of thousands.

    owners  for each statement the number of its passage, from 0
    """

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._arrays = arrays
        self._ends: list[int] = np.cumsum(arrays["places"][:, 3]).tolist()
        self._leads: dict[str, list[str]] = json.loads(arrays["leads"].tobytes())
        self.owners: NDArray[np.int64] = np.repeat(np.arange(len(self._ends)), arrays["places"][:, 3])

    @classmethod
    def of(cls, places: Iterable[PassagePlace]) -> PassagePlaces:
        """The places as arrays."""
        places = tuple(places)
        leads = json.dumps({str(number): place.leads for number, place in enumerate(places) if place.leads}, ensure_ascii=False)
        rows = [(place.section, place.start, place.end, len(place.statements)) for place in places]
        spans = [span for place in places for span in place.statements]
        tables = {"places": np.array(rows, np.int64).reshape(-1, 4), "statements": np.array(spans, np.int64).reshape(-1, 2)}
        return cls(tables | {"leads": np.frombuffer(leads.encode(), dtype=np.uint8)})

    def to_arrays(self) -> Mapping[str, NDArray[Any]]:
        """The arrays from which they can be made again."""
        return self._arrays

    def __len__(self) -> int:
        return len(self._ends)

    def __iter__(self) -> Iterator[PassagePlace]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, number: int) -> PassagePlace:
        section, start, end, count = self._arrays["places"][number].tolist()
        spans = self._arrays["statements"][self._ends[number] - count : self._ends[number]].tolist()
        return PassagePlace(section, start, end, tuple(self._leads.get(str(number), ())), tuple((a, b) for a, b in spans))
