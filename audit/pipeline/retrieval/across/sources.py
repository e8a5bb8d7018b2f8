"""Sources: groups of handbooks, each with an authority, its weight before anything is searched."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from audit.errors import RetrievalError
from audit.text.documents import Document

DEFAULT_AUTHORITY = 0.5
GROUPINGS = ("center", "organ")


@dataclass(frozen=True)
class Source:
    """Handbooks that are searched and cited as one. Raises RetrievalError for an authority outside [0, 1]."""

    source_id: str
    handbook_ids: tuple[str, ...]
    authority: float = DEFAULT_AUTHORITY

    def __post_init__(self) -> None:
        if not 0 <= self.authority <= 1:
            raise RetrievalError(
                f"Source '{self.source_id}' has the authority {self.authority:g}; allowed: 0 to 1. Nothing was searched. "
                "Give the most trusted source 1 and the least trusted 0."
            )


def sources_by(documents: Iterable[Document], grouping: str, authority: Mapping[str, float] | None = None) -> tuple[Source, ...]:
    """One source for each `center` or `organ`, in the order of the handbooks; `authority`: source -> its prior, else 0.5.

    Raises RetrievalError for another grouping.
    """
    if grouping not in GROUPINGS:
        raise RetrievalError(f"Sources cannot be grouped by '{grouping}'; allowed: {', '.join(GROUPINGS)}. Nothing was searched.")
    members: dict[str, list[str]] = defaultdict(list)
    for document in documents:
        members[getattr(document, grouping)].append(document.handbook_id)
    return _with_authority(members, authority)


def declared_sources(
    documents: Iterable[Document], groups: Mapping[str, Sequence[str]], authority: Mapping[str, float] | None = None
) -> tuple[Source, ...]:
    """The sources of `groups`: name -> ids or centers of its handbooks. A handbook in no group is not searched.

    Raises RetrievalError for a member that is neither a handbook nor a center, and for a handbook in two groups.
    """
    named: dict[str, list[str]] = defaultdict(list)
    for document in documents:
        for name in {document.handbook_id, document.center}:
            named[name].append(document.handbook_id)
    if unknown := [member for group in groups.values() for member in group if member not in named]:
        raise RetrievalError(
            f"The groups of sources name {unknown[0]!r}, which is neither a handbook nor a center; allowed: "
            f"{', '.join(sorted(named))}. Nothing was searched."
        )
    members = {name: [handbook for member in group for handbook in named[member]] for name, group in groups.items()}
    counts = Counter(handbook for handbooks in members.values() for handbook in handbooks)
    if twice := [handbook for handbook, count in counts.items() if count > 1]:
        raise RetrievalError(f"Handbook '{twice[0]}' is in more than one source. Nothing was searched. Leave it in one of them.")
    return _with_authority(members, authority)


def _with_authority(members: Mapping[str, Sequence[str]], authority: Mapping[str, float] | None) -> tuple[Source, ...]:
    priors = authority or {}
    if unknown := sorted(priors.keys() - members.keys()):
        raise RetrievalError(
            f"An authority is given for '{unknown[0]}', which is not a source; sources: {', '.join(members)}. "
            "Nothing was searched."
        )
    return tuple(Source(name, tuple(handbooks), priors.get(name, DEFAULT_AUTHORITY)) for name, handbooks in members.items())
