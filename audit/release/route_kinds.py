"""Sources (groups of handbooks), and how a system routed a question to them and gathered its evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from audit.release import record_kind as f
from audit.release.record_kind import EARLIER, Record, RecordKind
from audit.release.values import Reject, Repairs, type_name

DEFAULT_AUTHORITY = 0.5
SHARE_TOLERANCE = 0.01
"""Tolerance for the sum of a question's shares, which may be written with two decimals."""
OF_ROUTING = {"question": "integer not null", "system": "smallint not null", "rank": "integer not null"}


def _check_source(_: Record, values: Record, __: Repairs) -> None:
    values["handbook_ids"] = list(dict.fromkeys(values["handbook_ids"]))
    if not values["handbook_ids"]:
        raise Reject("missing_field", "field 'handbook_ids' is empty: a source needs at least one handbook.")


SOURCE = RecordKind(
    "source",
    (
        f.Text("source_id", "unique id, such as a center or an organ", "id", "source", "name", required=True, names=True),
        f.Texts(
            "handbook_ids",
            "its handbooks; a handbook is in one source at most",
            "handbooks",
            "members",
            required=True,
            names=True,
        ),
        f.Number(
            "authority",
            "0 to 1: its weight before anything is searched; left out: 0.5",
            "prior",
            least=0,
            most=1,
            strict=True,
            default=DEFAULT_AUTHORITY,
        ),
        f.Text("description", "what else is worth knowing", "about"),
    ),
    about=(
        "Optional: one record per group of handbooks that is searched and cited as one, such as those of a center. A "
        "handbook may be in no source; it is never in two. In a release without `handbooks` and without `systems`, a file "
        "of this name contains the handbooks."
    ),
    files=("sources",),
    counted=f.count("sources", "groups of handbooks"),
    group="routes",
    check=_check_source,
    numbers="source",
    same=f"source_id '{{source_id}}' {EARLIER}",
    table="sources",
    columns={"handbook_ids": ""},
)
SOURCE_ROUTE = RecordKind(
    "source_route",
    (
        f.Text("source_id", "the source", "source", required=True, names=True),
        f.Number("authority", "its authority, 0 to 1", "prior", least=0, most=1, strict=True),
        f.Integer("probed", "chunks in its probe", least=0, strict=True),
        f.Number("peak", "best score of the probe"),
        f.Number("mean", "mean of its best scores"),
        f.Number("margin", "best score less the last of the best"),
        f.Number("entropy", "entropy of the probe's scores"),
        f.Number("coverage", "sections in the probe, as a count or a share"),
        f.Number("score", "what the sources are ranked by"),
        f.Number("share", "its share of the budget, 0 to 1; the shares of a question add up to 1", least=0, most=1, strict=True),
        f.Integer("budget", "chunks to take from it, from 0", least=0, strict=True),
    ),
    about="Features and scores are on the scale of the system that wrote them.",
    ids=("source",),
    table="routes",
    columns=OF_ROUTING,
)


def _check_place(_: Record, values: Record, __: Repairs) -> None:
    start, end = values["start"], values["end"]
    if (start is None) != (end is None) or (start is not None and end is not None and start >= end):
        raise Reject("bad_place", f"it is from {start} to {end}, but a position needs a start and a later end.")


ROUTED_EVIDENCE = RecordKind(
    "routed_evidence",
    (
        f.Text("handbook_id", "the handbook it is from", "handbook", required=True, names=True),
        f.Text("section_id", "its section there", "section", names=True),
        f.Integer(
            "start", "its first character in the section's text, from 0; left out: the whole section", least=0, strict=True
        ),
        f.Integer("end", "the character after its last", least=0, strict=True),
        f.Word("source_id", "its source; left out: that of its handbook", "source", strict=True, names=True),
        f.Integer("rank", "its rank, from 1; left out: its place in the list", "position", least=1, strict=True),
        f.Number("base", "score of the search, before fusion"),
        f.Number("support", "score of its support in the graph of entities"),
        f.Number("final", "score after fusion", "score"),
        f.Flag("bridged", "it was found through the graph and not by the search", default=False),
        f.Text("text", "its text, where the release has no sections", "passage"),
    ),
    check=_check_place,
    ids=("handbook", "source"),
    table="routed_evidence",
    columns=OF_ROUTING | {"source": "smallint"},  # null: its handbook is in no source
)


def _check_route(_: Record, values: Record, repairs: Repairs) -> None:
    routes = _entries(values["routes"], "routes", SOURCE_ROUTE, repairs)
    passages = _entries(values["evidence"], "evidence", ROUTED_EVIDENCE, repairs)
    if not (routes or passages or values["trace"]):
        raise Reject("empty_route", "it has neither routes nor evidence nor a trace, so nothing shows what was routed.")
    _check_unique([one["source_id"] for one in routes], "source", "of the routes")
    _check_shares([one["share"] for one in routes])
    ranked = [passage | {"rank": passage["rank"] or index} for index, passage in enumerate(passages, 1)]
    _check_unique([passage["rank"] for passage in ranked], "rank", "of the evidence")
    values |= {"routes": [one | {"rank": rank} for rank, one in enumerate(routes, 1)], "evidence": ranked}


def _entries(listed: list[Any], name: str, kind: RecordKind, repairs: Repairs) -> list[Record]:
    """The entries of a list. A bad entry rejects it: without it, the shares and ranks of the others would be wrong."""
    entries = []
    for position, entry in enumerate(listed, 1):
        if not isinstance(entry, Mapping):
            raise Reject("wrong_type", f"entry {position} of '{name}' is {type_name(entry)}, but must be an object.")
        try:
            entries.append(kind.read(entry, repairs))
        except Reject as reject:
            raise Reject(reject.code, f"entry {position} of '{name}': {reject}") from reject
    return entries


def _check_shares(shares: list[float | None]) -> None:
    known = [share for share in shares if share is not None]
    # If a share is missing, the sum of the others is unknown
    if shares and len(known) == len(shares) and abs(sum(known) - 1) > SHARE_TOLERANCE:
        raise Reject(
            "shares_do_not_sum", f"the shares of its {len(shares)} sources add up to {sum(known):.3g}, but must add up to 1."
        )


def _check_unique(values: list[Any], name: str, of: str) -> None:
    if twice := [value for value, times in Counter(values).items() if times > 1]:
        raise Reject(f"duplicate_{name}", f"{name} {twice[0]!r} {of} occurs twice.")


ROUTE = RecordKind(
    "route",
    (
        f.QUESTION_ID,
        f.SYSTEM_ID,
        f.List("routes", "what was decided about each source, best first", "sources", "ranking", strict=True, of=SOURCE_ROUTE),
        f.List("evidence", "the passages that were packed, best first", "passages", strict=True, of=ROUTED_EVIDENCE),
        f.Settings("trace", "settings, entities, seeds, edges of the drawn part of the graph, packing and notes"),
    ),
    about=(
        "Optional: one record per question and system that routed it, and what a reader needs to follow it. A question "
        "without a record was *not routed* by that system, which no measure counts as a miss. A record with a bad entry is "
        "quarantined whole: without the entry, shares and ranks of the others would be wrong."
    ),
    files=("routes",),
    counted=f.count("routes", "questions that a system routed to sources"),
    group="routes",
    check=_check_route,
    ids=("question", "system"),
    unique=("question", "system"),
    same=f"a routing of question '{{question_id}}' by '{{system_id}}' {EARLIER}",
    table="route_traces",
)
