"""Routing to sources: the measures of two systems on three questions by hand, and by ir_measures."""

from __future__ import annotations

from collections.abc import Iterator
from math import log2
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from audit.errors import AuditError, NotInRunError
from audit.evaluation.routing_measures import MEASURES, RoutedQuestion, routing_measures
from audit.metrics.routing import measures_of, routing, routing_differences, source_shares
from audit.stats.intervals import wilson
from audit.stats.means import mean_change
from audit.store.connection import Connection
from tests.support.routes import reference, route_tables, routed, routes_store

TWENTY = tuple(f"q{number}" for number in range(20))


@pytest.fixture(scope="module")
def con(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """`all` routed q1 and q2, `daks` q1 to q3: see tests.support.routes. All sections are equally long, so Dense is densest."""
    with routes_store(tmp_path_factory.mktemp("three")) as con:
        yield con


@pytest.fixture(scope="module")
def twenty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """Twenty questions whose primary source is Long: `all` ranks it first on 8, `daks` on 17 of them, 6 of which are the same."""
    tables = route_tables()
    tables["references"] = [reference(name, "Long", ["Long"], ["long-1/s1"]) for name in TWENTY]
    first = {"all": set(TWENTY[:8]), "daks": set(TWENTY[2:19])}
    tables["routes"] = [
        routed(name, system, ["Long", "Dense"] if name in right else ["Dense", "Long"], ["long-1/s1"])
        for system, right in first.items() for name in TWENTY
    ]  # fmt: skip
    with routes_store(tmp_path_factory.mktemp("twenty"), tables, TWENTY) as con:
        yield con


def means(table: pd.DataFrame, system: str, kind: str = "(all)") -> dict[str, tuple[float, int]]:
    own = table[(table["system_id"] == system) & (table["kind"] == kind)]
    return {row.measure: (row.mean, row.measured) for row in own.itertuples()}


def test_measures_of_three_questions_by_hand(con: Connection) -> None:
    table = routing(con)
    merged, daks = means(table, "all"), means(table, "daks")
    assert (merged["PrimaryAcc"], merged["Top2Hit"]) == ((0, 2), (1, 2))
    assert (daks["PrimaryAcc"], daks["Top2Hit"]) == ((1, 3), (1, 3))
    # 2 of 3 passages on q1 and all on q2 are from the encyclopedia; 1 of 2 on each question of `daks`
    assert merged["EDR"] == (pytest.approx((2 / 3 + 1) / 2), 2)
    assert daks["EDR"] == (0.5, 3)
    # Both questions need Long, which has the higher authority; q3 does not
    assert merged["AuthCov"] == (pytest.approx((1 + 0) / 2), 2)
    assert daks["AuthCov"] == (1, 2)
    # q2 alone needs two sources
    assert (merged["CrossEv@5"], daks["CrossEv@5"]) == ((0, 1), (1, 1))
    assert merged["EvRecall@5"] == (pytest.approx((1 + 1 / 2) / 2), 2)
    # q1: gold in place 3; q2: one of two, in place 1
    assert merged["EvNDCG@5"] == (pytest.approx((1 / log2(4) + 1 / (1 + 1 / log2(3))) / 2), 2)
    assert daks["EvNDCG@5"] == (1, 3)


def test_kinds_are_counted_apart(con: Connection) -> None:
    table = routing(con, by="kind")
    assert set(table["kind"]) == {"one", "several"}
    assert "CrossEv@5" not in means(table, "daks", "one"), "coverage of several sources is not asked of one"
    assert means(table, "daks", "several")["PrimaryAcc"] == (1, 1)
    assert means(table, "daks", "one")["PrimaryAcc"] == (1, 2)


def test_the_intervals_are_wilsons_where_all_are_hits(con: Connection, twenty: Connection) -> None:
    row = routing(con).set_index(["system_id", "measure"]).loc[("daks", "PrimaryAcc")]
    assert [row["mean_low"], row["mean_high"]] == pytest.approx([float(end) for end in wilson(3, 3)])
    mixed = routing(twenty).set_index(["system_id", "measure"]).loc[("all", "PrimaryAcc")]
    assert (mixed["mean"], mixed["measured"]) == (8 / 20, 20)
    assert 0.1 < mixed["mean_low"] < 0.3 < 0.5 < mixed["mean_high"] < 0.7


def test_equal_values_between_0_and_1_have_no_interval(con: Connection, twenty: Connection) -> None:
    row = routing(con).set_index(["system_id", "measure"]).loc[("daks", "EDR")]
    assert (row["mean"], row["measured"], np.isnan(row["mean_low"]), np.isnan(row["mean_high"])) == (0.5, 3, True, True)
    # All twenty pieces of evidence are from Long: no miss in twenty has Wilson's interval
    shares = source_shares(twenty).set_index(["system_id", "source_id"]).loc[("daks", "Long")]
    assert [shares["evidence"], shares["evidence_low"]] == pytest.approx([1, float(wilson(20, 20)[0])])


def test_differences_are_paired(con: Connection, twenty: Connection) -> None:
    row = routing_differences(twenty).set_index("measure").loc["PrimaryAcc"]
    assert (row["value"], row["first"], row["change"], row["of"]) == (17 / 20, 8 / 20, pytest.approx(9 / 20), 20)
    # q0 and q1 only by `all`, q8 to q18 only by `daks`
    assert row["questions"] == 2 + 11
    expected = mean_change(np.array([-1.0] * 2 + [1.0] * 11 + [0.0] * 7))
    assert (row["change_low"], row["change_high"]) == pytest.approx((expected["change_low"], expected["change_high"]), abs=0.06)
    assert row["moves"] == "rises"
    few = routing_differences(con, by="kind").set_index(["kind", "measure"]).loc[("several", "CrossEv@5")]
    assert (few["of"], few["change"], few["moves"]) == (1, 1, "too few questions")


def test_a_source_has_its_share_of_first_ranks_budgets_evidence_and_coverage(con: Connection) -> None:
    table = source_shares(con).set_index(["system_id", "source_id"])
    long = table.loc[("daks", "Long")]
    assert (long["routed"], long["first"], long["budget"]) == (3, pytest.approx(2 / 3), pytest.approx((14 + 14 + 6) / 3))
    assert (long["evidence"], long["required"], long["covered"]) == (0.5, 2, 1)
    assert table.loc[("all", "Long"), "covered"] == 0.5
    assert table.loc[("all", "Dense"), "first"] == 1
    several = source_shares(con, by="kind").set_index(["system_id", "source_id", "kind"])
    assert several.loc[("all", "Long", "several"), "covered"] == 0


def test_what_is_not_known_is_not_a_zero(tmp_path: Path) -> None:
    tables = route_tables()
    for source in tables["sources"]:
        source["authority"] = 0.5
    tables["references"] = [{"question_id": "q1", "answers": ["Call us."]}]
    tables["routes"] = [
        routed("q1", "daks", ["Long", "Dense"], ["long-1/s1"]) | {"routes": []},
        routed("q2", "daks", ["Dense"], []),
    ]
    with routes_store(tmp_path, tables) as con:
        assert set(routing(con)["measure"]) == {"EDR"}
        (row,) = routing(con, by="kind").to_dict("records")
        assert (row["kind"], row["measured"], row["mean"]) == ("unknown", 1, 0)
        shares = source_shares(con).set_index("source_id")
    # Without routes the ranking is that of the evidence, and no budget is stated
    assert shares["first"].to_dict() == {"Dense": 0.5, "Long": 0.5}
    assert (shares.loc["Long", "required"], np.isnan(shares.loc["Long", "covered"])) == (0, True)
    assert (shares.loc["Dense", "budget"], np.isnan(shares.loc["Long", "budget"])) == (20, True)


def test_a_run_without_routes_has_no_rows(tmp_path: Path) -> None:
    with routes_store(tmp_path, route_tables() | {"routes": []}) as con:
        assert all(metric(con).empty for metric in (routing, routing_differences, source_shares))


def test_an_unknown_source_system_or_group_is_an_error(con: Connection) -> None:
    assert means(routing(con, densest="Long"), "daks")["EDR"] == (0.5, 3)
    with pytest.raises(NotInRunError, match=r"Source 'Lon' is not in this run\. Did you mean 'Long'"):
        routing(con, densest="Lon")
    with pytest.raises(NotInRunError, match="System 'none'"):
        routing_differences(con, baseline="none")
    with pytest.raises(AuditError, match="Group 'type' is not available"):
        source_shares(con, by="type")


def test_the_measures_are_those_of_ir_measures() -> None:
    pytest.importorskip("ir_measures", reason="ir-measures is not installed (pip install -c constraints.txt -e .[pipeline])")
    generator = np.random.default_rng(1)
    questions = {}
    for number in range(50):
        passages = [f"s{passage}" for passage in generator.integers(8, size=generator.integers(0, 8))]
        evidence = [(("a", "b", None)[len(passage) % 3], passage) for passage in passages]
        gold = {f"s{passage}" for passage in generator.integers(8, size=generator.integers(0, 4))}
        questions[f"q{number}"] = RoutedQuestion(("a", "b"), evidence, "b", ("a", "b"), gold)
    theirs = routing_measures(questions, "a", {"b"})
    for name, one in questions.items():
        assert measures_of(one, "a", {"b"}) == pytest.approx(
            {measure: theirs[name][measure] for measure in MEASURES}, nan_ok=True
        )
