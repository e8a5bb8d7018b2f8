"""Labels of options: all different, because Streamlit's browser reports a choice by its label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import TypeVar

Option = TypeVar("Option")


def distinct_labels(
    options: Iterable[Option], named: Callable[[Option], str], *, numbered: bool = False
) -> Callable[[Option], str]:
    """A `format_func` that adds to a name that several options have their ids; or a number, where ids must not be seen.

    An option that is not among these is called what `named` says.
    """
    names = {option: named(option) for option in options}
    shared, labels = Counter(names.values()), dict[Option, str]()
    taken = set(names.values())
    for option, name in names.items():
        labels[option] = (
            name if shared[name] == 1 else next(text for text in _endings(name, option, numbered) if text not in taken)
        )
        taken.add(labels[option])
    return lambda option: labels[option] if option in labels else named(option)


def _endings(name: str, option: object, numbered: bool) -> Iterator[str]:
    if not numbered:
        yield f"{name} ({option})"
    yield from (f"{name} ({number})" for number in count(1))
