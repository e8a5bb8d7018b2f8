"""An amount as texts write it, with what is counted. Texts in, names out: nothing is invented."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from audit.text.quantity import Quantity, find_quantities
from audit.text.tokens import stems
from audit.text.units import COUNT, ONES, UNITS

# A range is named with the word before it, and not by a part of it
BETWEEN, GOES_ON = re.compile(r"\b[Bb]etween (?:the )?$"), re.compile(r" ?(?:to|or|-|–) ?(\w+)")
SIGNS = "%°"


def as_written(quantity: Quantity, texts: Sequence[str]) -> str | None:
    """The spelling that most of the texts use, with what is counted: "three types"; None for a bare token such as "daily"."""
    spellings = Counter(
        name for text in texts for other in find_quantities(text) if quantity.agrees(other) and (name := _in_words(text, other))
    )
    return next(iter(spellings.most_common(1)), (None, 0))[0]


def _in_words(text: str, quantity: Quantity) -> str | None:
    between = BETWEEN.search(text, 0, quantity.start)
    name = f"{between[0] if between else ''}{quantity.text} {quantity.noun if quantity.dimension == COUNT else ''}".strip()
    has_unit = any(stem not in ONES for stem in stems(name)) or any(sign in name for sign in SIGNS)
    following = GOES_ON.match(text, quantity.end)
    # "a few hours" is half of "a few hours to several days", and "a few seconds" of "a few seconds to minutes"
    goes_on = following is not None and any(one.start == following.start(1) for one in find_quantities(text))
    is_part = following is not None and (goes_on or following[1].isdecimal() or following[1].lower() in UNITS)
    return name.rstrip(".") if has_unit and (" " in name or name[:1].isdigit()) and not is_part else None
