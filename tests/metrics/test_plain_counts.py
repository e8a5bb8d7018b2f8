"""Every metric's counts against a plain loop over the same pairs and answers, on small releases drawn at random."""

from __future__ import annotations

import tempfile
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.metrics.coverage import coverage, gaps
from audit.metrics.handbooks import centers, handbooks, pairs
from audit.metrics.labels import labels
from audit.metrics.questions import organs, questions, topics
from audit.metrics.severity import WEIGHTS, severity
from tests.support.tiny import handbook
from tests.support.tiny_store import store_from

HANDBOOKS = {"a": ("kidney", "x"), "b": ("kidney", "x"), "c": ("kidney", "y"), "d": ("liver", "z")}
GIVEN = ("ABSENT", "CONSISTENT", "COMPLEMENTARY", "DIVERGENT/high", "DIVERGENT", "CONTRADICTORY/medium")
VERDICTS = (*GIVEN, "UNSCORED", "never judged")
RATES = (("r_abs", "absent", "scored"), ("r_div", "disagreeing", "present"), ("r_con", "consistent", "present"))
DISAGREEING = ("DIVERGENT", "CONTRADICTORY")
Question = dict[str, Any]

question = st.fixed_dictionaries({
    "organ": st.sampled_from(["kidney", "liver", "general"]),
    "topics": st.sets(st.sampled_from(["diet", "work", "travel"])),
    "state": st.fixed_dictionaries({h: st.sampled_from(["present", "present", "absent", "notasked"]) for h in HANDBOOKS}),
    "verdict": st.fixed_dictionaries({a + b: st.sampled_from(VERDICTS) for a, b in combinations(HANDBOOKS, 2)}),
})  # fmt: skip
releases = st.lists(question, min_size=1, max_size=4)


def line(number: int, q: Question) -> str:
    """The question in the notation of tests.support.tiny; a present answer is told from one not asked by `h=present`."""
    topics_told = [f"topics={','.join(sorted(q['topics']))}"] if q["topics"] else []
    told = [f"{h}={state}" for h, state in q["state"].items()]
    judged = [f"{pair}={label or 'UNSCORED'}" for pair, label, asked in pairs_of(q) if asked]
    return " ".join([f"q{number}", q["organ"], *topics_told, *told, *judged])


def pairs_of(q: Question) -> list[tuple[str, str | None, bool]]:
    """(couple, label with significance or None when unscored, whether the judge was asked) of each pair of a question."""
    found: list[tuple[str, str | None, bool]] = []
    for a, b in combinations(HANDBOOKS, 2):
        states, verdict = {q["state"][a], q["state"][b]}, q["verdict"][a + b]
        if "notasked" in states or (verdict == "never judged" and "absent" not in states):
            continue
        judged = "absent" not in states
        label = None if verdict == "UNSCORED" else verdict
        found.append((a + b, label if judged else "ABSENT", judged))
    return found


def plain(counted: list[tuple[str, str | None, bool]]) -> dict[str, int]:
    """The ten-line count."""
    by = Counter((label or "UNSCORED").partition("/")[0] for _, label, _ in counted)
    prescreened = sum(1 for _, label, asked in counted if not asked)
    present = sum(by[label] for label in ("CONSISTENT", "COMPLEMENTARY", *DISAGREEING))
    return {
        "pairs": len(counted), "scored": len(counted) - by["UNSCORED"], "unscored": by["UNSCORED"], "prescreened": prescreened,
        "absent": by["ABSENT"], "absent_judged": by["ABSENT"] - prescreened, "present": present, "consistent": by["CONSISTENT"],
        "complementary": by["COMPLEMENTARY"], "divergent": by["DIVERGENT"], "contradictory": by["CONTRADICTORY"],
        "disagreeing": by["DIVERGENT"] + by["CONTRADICTORY"],
    }  # fmt: skip


def check(row: pd.Series, expected: dict[str, int]) -> None:
    shared = [name for name in expected if name in row.index]
    assert {name: row[name] for name in shared} == {name: expected[name] for name in shared}
    for rate, part, whole in RATES:
        if rate in row.index:
            share = expected[part] / expected[whole] if expected[whole] else float("nan")
            assert row[rate] == pytest.approx(share, nan_ok=True)
            assert pd.isna(row.get(f"{rate}_low")) or 0 <= row[f"{rate}_low"] <= row[f"{rate}_high"] <= 1


def every(release: list[Question], wanted=lambda q: True) -> list[tuple[str, str | None, bool]]:
    return [pair for q in release if wanted(q) for pair in pairs_of(q)]


def check_groups_of_questions(con, release):
    for _, row in organs(con).iterrows():
        check(row, plain(every(release, lambda q, organ=row["organ"]: organ in (q["organ"], "(all)"))))
    for _, row in topics(con).iterrows():
        check(row, plain(every(release, lambda q, topic=row["topic"]: topic in (q["topics"] or {"(none)"}))))
    for (_, row), q in zip(questions(con).iterrows(), release, strict=True):
        check(row, plain(pairs_of(q)))
        assert (row["asked"], row["answering"]) == (
            sum(state != "notasked" for state in q["state"].values()), sum(state == "present" for state in q["state"].values()),
        )  # fmt: skip


def check_labels(con, release):
    expected, found = plain(every(release)), labels(con)["pairs"].tolist()
    assert found == [expected[name] for name in (
        "prescreened", "absent_judged", "consistent", "complementary", "divergent", "contradictory", "unscored",
    )]  # fmt: skip


def check_couples_and_sides(con, release):
    for _, row in pairs(con).iterrows():
        couple = row["handbook_a_id"] + row["handbook_b_id"]
        check(row, plain([pair for pair in every(release) if pair[0] == couple]))
    for _, row in handbooks(con).iterrows():
        expected = plain([pair for pair in every(release) if row["handbook_id"] in pair[0]])
        check(row.drop("absent"), expected)
        states = Counter(q["state"][row["handbook_id"]] for q in release)
        assert (row["asked"], row["absent"]) == (states["present"] + states["absent"], states["absent"])
    for _, row in centers(con).iterrows():
        own = [h for h, (_, center) in HANDBOOKS.items() if center == row["center"]]
        involved = [pair for pair in every(release) if set(pair[0]) & set(own)]
        check(row.drop("absent"), plain(involved))
        assert row["within_present"] == plain([pair for pair in involved if set(pair[0]) <= set(own)])["present"]
        assert row["absent"] == sum(q["state"][h] == "absent" for q in release for h in own)


def check_coverage(con, release):
    for _, row in coverage(con).iterrows():
        states = Counter(q["state"][row["handbook_id"]] for q in release if q["organ"] == row["question_organ"])
        assert (row["asked"], row["absent"]) == (states["present"] + states["absent"], states["absent"])


def check_severity(con, release):
    found = severity(con).set_index("unit")
    for number, q in enumerate(release):
        present = plain(pairs_of(q))["present"]
        grave = [(label or "").partition("/") for _, label, _ in pairs_of(q)]
        weight = sum(WEIGHTS[significance or "unstated"] for label, _, significance in grave if label in DISAGREEING)
        assert found.loc[f"q{number}", "severity"] == pytest.approx(weight / present if present else float("nan"), nan_ok=True)


def check_gaps(con, release):
    expected = set()
    for number, q in enumerate(release):
        if q["organ"] not in ("kidney", "general"):  # what a kidney handbook need not address
            continue
        kin = [q["state"][h] for h in "bc" if q["state"][h] != "notasked"]
        others = [q["state"][h] for h in "bcd" if q["state"][h] != "notasked"]
        peers = kin if len(kin) >= 3 else others
        if q["state"]["a"] == "absent" and peers.count("present") * 2 > len(peers):
            expected.add(f"q{number}")
    assert set(gaps(con, "a")["question_id"]) == expected


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(releases)
def test_every_metric_counts_what_a_plain_loop_counts(release):
    with tempfile.TemporaryDirectory() as folder:
        known = [handbook(h, organ, center) for h, (organ, center) in HANDBOOKS.items()]
        table = "\n".join(line(number, q) for number, q in enumerate(release))
        with store_from(Path(folder), table, known) as con:
            for compare in (
                check_labels, check_groups_of_questions, check_couples_and_sides, check_coverage, check_severity, check_gaps,
            ):  # fmt: skip
                compare(con, release)
