"""What the models took: totals added up by hand, and what is not stated stays unknown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audit.errors import AuditError
from audit.metrics.model_cost import model_cost
from audit.store.connection import Connection, open_store
from tests.support.loading import load, spoil
from tests.support.tiny import release_from

TABLE = "q1 kidney ab=DIVERGENT ac=CONSISTENT bc=CONSISTENT d=absent"
TOKENS = [{"input_tokens": 100, "output_tokens": 10, "latency_s": 1.5}, {"input_tokens": 300, "output_tokens": 30}, {}]


def use(record: dict[str, Any], usages: list[dict[str, float]]) -> None:
    judged = [pair for pair in record["pairs"] if pair.get("judge_metadata")]
    for pair, usage in zip(judged, usages, strict=True):
        pair["judge_metadata"] = usage


@pytest.fixture
def con(tmp_path: Path) -> Connection:
    """Two of three verdicts and one of four answers state what they took; the answer's in the words of a server."""
    folder = release_from(tmp_path / "releases", TABLE, gpu_hours=2.5)
    spoil(folder, "q1", lambda record: use(record, TOKENS))
    (path,) = folder.glob("answers*")
    first, *others = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    first["usage"] = {"prompt_tokens": 900, "completion_tokens": 90, "seconds": 3, "model": "m"}
    path.write_text("\n".join(json.dumps(record) for record in (first, *others)), "utf-8")
    return open_store(load(folder, tmp_path / "data").run.path)


def test_totals_are_of_the_records_that_state_them(con):
    table = model_cost(con).set_index(["step", "figure"])
    assert table.loc[("verdicts", "input tokens"), ["records", "stated", "total", "mean", "highest"]].tolist() == [
        3,
        2,
        400,
        200,
        300,
    ]
    assert table.loc[("verdicts", "seconds"), ["stated", "total"]].tolist() == [1, 1.5]
    assert table.loc[("answers", "output tokens"), ["records", "stated", "total"]].tolist() == [4, 1, 90]
    assert table.loc[("answers", "seconds"), "total"] == 3
    assert table.loc[("run", "GPU hours"), "total"] == 2.5
    assert table["cost"].isna().all()


def test_a_cost_is_tokens_at_the_given_price(con):
    table = model_cost(con, input_price="0.5", output_price="2").set_index(["step", "figure"])["cost"]
    assert table[("verdicts", "input tokens")] == pytest.approx(400 * 0.5 / 1e6)
    assert table[("answers", "output tokens")] == pytest.approx(90 * 2 / 1e6)
    assert np.isnan(table[("verdicts", "seconds")])


@pytest.mark.parametrize("price", ["free", "-1", "inf"])
def test_another_price_than_a_number_is_refused(con, price):
    with pytest.raises(AuditError, match=r"input_price is .* the price of a million tokens"):
        model_cost(con, input_price=price)


def test_what_is_not_stated_is_unknown_and_not_zero(tmp_path):
    folder = release_from(tmp_path / "releases", TABLE)
    spoil(folder, "q1", lambda record: use(record, [{}] * 3))
    table = model_cost(open_store(load(folder, tmp_path / "data").run.path))
    assert (table["stated"].tolist(), table["records"].tolist()) == ([0] * 6, [4] * 3 + [3] * 3)
    assert table["total"].isna().all()
