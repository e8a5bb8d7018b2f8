"""One amount as a text states it, in a form in which two texts can be compared."""

from __future__ import annotations

from dataclasses import dataclass
from math import isclose

from audit.text.units import COUNT, TEMPERATURE, TEMPERATURE_TOLERANCE_C, TOLERANCE
from audit.text.words import stems


@dataclass(frozen=True)
class Quantity:
    """An amount: `low` and `high` are equal unless the text gives a range, and stand in the base unit of `dimension`.

    start, end   where it stands in the text, bound words included ("at least 3 months")
    text         those characters, spaces made plain
    dimension    duration (base: hour), interval (hours between two times), share (of 1), temperature (°C), mass (kg),
                 volume (litre), length (metre), count, ... ; a rate joins two with "/" ("volume/duration")
    system       units of one system convert exactly: 48 hours and 2 days; months and days do not
    bound        "at least", "at most", or "" for neither
    vague        "few" where the text gives no figure ("every few months"); low and high then measure one unit
    noun         what a bare count counts, the words that follow it: "main types" of "two main types of disease"
    """

    start: int
    end: int
    text: str
    dimension: str
    system: str
    low: float
    high: float
    bound: str = ""
    vague: str = ""
    noun: str = ""

    def comparable(self, other: Quantity) -> bool:
        """Whether both measure the same thing, so that their values can agree or differ."""
        if self.dimension != other.dimension:
            return False
        return self.dimension != COUNT or self.noun == other.noun or not set(stems(self.noun)).isdisjoint(stems(other.noun))

    def agrees(self, other: Quantity) -> bool:
        """Whether both state the same amount: "three months", "3-month", "90 days"; never "at least 3" and "at most 3".

        A range agrees with the same range only, a vague amount with a vague one in the same unit only. An amount
        without a bound agrees with the same amount with any bound.
        """
        if not self.comparable(other) or self.vague != other.vague:
            return False
        if self.bound != other.bound and self.bound and other.bound:
            return False
        return self._close(self.low, other.low, other.system) and self._close(self.high, other.high, other.system)

    def _close(self, mine: float, theirs: float, system: str) -> bool:
        if self.system == system:
            return isclose(mine, theirs, rel_tol=1e-6, abs_tol=1e-12)
        if self.dimension == TEMPERATURE:
            return abs(mine - theirs) <= TEMPERATURE_TOLERANCE_C
        return isclose(mine, theirs, rel_tol=TOLERANCE.get(self.dimension.split("/")[0], 1e-6))
