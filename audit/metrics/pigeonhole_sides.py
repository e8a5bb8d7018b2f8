"""The pigeonhole bootstrap for pairs that involve one handbook, or the handbooks of one center."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from audit.metrics.intervals import Floats, Interval, Ints
from audit.metrics.pair_blocks import Block, Pairs
from audit.metrics.pigeonhole import Rate, Support, Weighed, handbook_draws, interval, kinds, question_draws, rare

Scoped = dict[str, Weighed]


def side_intervals(pairs: Pairs, group: Ints, groups: int, rates: Mapping[str, Rate]) -> dict[str, dict[str, Interval]]:
    """Intervals of rates over the pairs that involve a group of handbooks: a center's, or a single one.

    `group` is the group, from 0, of each of pairs.handbooks. A group's own handbooks are fixed: they are all it has, and
    drawing a single handbook zero times would leave nothing. Questions are resampled, and so are the handbooks of other
    groups: a pair counts w_q * w_other times, and w_q times where both its handbooks are the group's own.

    Returns scope to name to (low, high), one value per group; the scopes are 'within' (both handbooks are the group's
    own), 'between' (one is) and 'all'. NaN where fewer than two questions, or just one other handbook, stand in the
    denominator; rare events as in audit.metrics.pigeonhole.
    """
    weighed = _weigh(pairs, group, groups, rates)
    return {
        scope: {name: _interval(weighed[part][scope], weighed[whole][scope]) for name, (part, whole) in rates.items()}
        for scope in ("within", "between", "all")
    }


def _weigh(pairs: Pairs, group: Ints, groups: int, rates: Mapping[str, Rate]) -> dict[frozenset[int], Scoped]:
    w_question, w_handbook = question_draws(pairs), handbook_draws(pairs)
    shape = (groups, len(pairs.questions), len(pairs.handbooks))
    weighed = {kind: {"within": Weighed.nothing(*shape), "between": Weighed.nothing(*shape)} for kind in kinds(rates)}
    for block in pairs.blocks():
        for kind, scopes in weighed.items():
            held = block.holds(kind)
            w_held = held.T @ w_question[block.questions]
            own = group[block.a] == group[block.b]
            _add(scopes["within"], block, held, w_held, own * _members(group[block.a], groups))
            for mine, other in ((block.a, block.b), (block.b, block.a)):
                members = ~own * _members(group[mine], groups)
                _add(scopes["between"], block, held, w_held * w_handbook[other], members)
                scopes["between"].handbooks += (members * held.sum(axis=0)) @ _members(other, len(pairs.handbooks)).T
    return {kind: {**scopes, "all": _together(scopes)} for kind, scopes in weighed.items()}


def _add(sums: Weighed, block: Block, held: Floats, weight: Floats, members: Floats) -> None:
    sums.weight += members @ weight
    sums.questions[:, block.questions] += members @ held.T


def _members(group: Ints, groups: int) -> Floats:
    member: Floats = (np.arange(groups)[:, None] == group).astype(np.float32)
    return member


def _together(scopes: Scoped) -> Weighed:
    within, between = scopes["within"], scopes["between"]
    return Weighed(within.weight + between.weight, within.questions + between.questions, within.handbooks + between.handbooks)


def _interval(part: Weighed, whole: Weighed) -> Interval:
    questions, others = np.count_nonzero(whole.questions, axis=1), np.count_nonzero(whole.handbooks, axis=1)
    units = np.where(others > 0, np.minimum(questions, others), questions)
    return interval(part, whole, Support((questions >= 2) & (others != 1), rare(part, whole), units, questions))
