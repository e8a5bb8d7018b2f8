"""When to retrieve, from a loaded run in which retrieval helps where its best score is high."""

from __future__ import annotations

import numpy as np
import pytest

from audit.errors import AuditError, NotInRunError
from audit.metrics.when_to_retrieve import retrieval_signals, when_to_retrieve
from tests.support.systems import answered, judged, system_tables, systems_store

pytest.importorskip("sklearn", reason="scikit-learn is not installed (extra models)")

NAMES = tuple(f"q{number}" for number in range(120))


def tables(tells: bool) -> dict:
    """Composites of `alone` are the same; those of `rag` are higher by 2 points in 14, or lower by 2, at random."""
    rng = np.random.default_rng(6)
    tables, better = system_tables(), (rng.random(len(NAMES)) < 0.5).tolist()
    scores = np.where(better if tells else rng.random(len(NAMES)) < 0.5, 0.8, 0.3) + rng.normal(0, 0.05, len(NAMES))
    tables["system_answers"] = [answered(name, "alone", "Rest.") for name in NAMES] + [
        answered(name, "rag", "Rest.", evidence=[{"section_id": "s1", "score": score, "text": "Rest."}])
        for name, score in zip(NAMES, scores, strict=True)
    ]
    tables["criteria"] = [judged(name, "alone", 1, 0, -1, 0, 0, 0, 1, 1) for name in NAMES] + [
        judged(name, "rag", 1, 0, 0 if helps else -2, 0, 0, 0, 1 + helps, 1) for name, helps in zip(NAMES, better, strict=True)
    ]
    tables["preferences"] = [
        {"question_id": name, "system_a": "rag", "system_b": "alone", "preference": "A" if helps else "B", "rater_kind": "human"}
        for name, helps in zip(NAMES, better, strict=True)
    ]
    return tables | {"measures": []}


@pytest.fixture(scope="module")
def telling(tmp_path_factory):
    return systems_store(tmp_path_factory.mktemp("telling"), tables(True), NAMES)


@pytest.fixture(scope="module")
def silent(tmp_path_factory):
    return systems_store(tmp_path_factory.mktemp("silent"), tables(False), NAMES)


def test_a_gain_that_exists_is_found_and_cannot_be_more_than_the_best(telling):
    table = when_to_retrieve(telling).set_index("rule")
    never, always, rule, best = (table.loc[name] for name in ("never", "always", "rule", "best"))
    assert never["quality"] == pytest.approx(12 / 14 * 10)
    assert (never["retrieved"], always["retrieved"]) == (0, 120)
    assert rule["over_never_low"] > 0
    assert rule["over_always_low"] > 0
    assert never["over_never"] == always["over_always"] == 0
    assert rule["quality"] <= best["quality"]
    assert rule["over_never"] == pytest.approx(rule["quality"] - never["quality"])
    assert rule["finding"].startswith("The rule gains ")
    assert (table["finding"] == "").sum() == 3
    assert set(table["retrieving"]) == {"Model with retrieval"}


def test_where_nothing_tells_the_sentence_claims_no_gain(silent):
    rule = when_to_retrieve(silent).set_index("rule").loc["rule"]
    assert rule["finding"].startswith("No gain")
    assert not (rule["over_never_low"] > 0 and rule["over_always_low"] > 0)


def test_the_rule_goes_by_the_score_that_tells(telling):
    table = retrieval_signals(telling)
    heaviest = table.iloc[0]
    assert heaviest["feature"] in ("top_score", "mean_score")
    assert 0 < heaviest["least"] <= heaviest["weight"] <= heaviest["most"]
    assert "sufficiency" not in set(table["feature"])  # the same for every question


def test_people_s_preferences_are_an_outcome_too(telling):
    table = when_to_retrieve(telling, outcome="preference").set_index("rule")
    assert table.loc["always", "quality"] == pytest.approx(1 - table.loc["never", "quality"])
    assert table.loc["best", "quality"] == 1
    assert table.loc["rule", "over_never_low"] > 0


def test_too_few_questions_and_unknown_systems_are_said(telling, tmp_path):
    con = systems_store(tmp_path, system_tables())
    rule = when_to_retrieve(con).set_index("rule").loc["rule"]
    assert rule["finding"] == "No rule: the two answers differ on fewer than 30 questions."
    assert np.isnan(rule["quality"])
    assert retrieval_signals(con).empty
    assert when_to_retrieve(con, organ="lung").empty
    with pytest.raises(NotInRunError, match="System 'x' is not in this run"):
        when_to_retrieve(telling, alone="x")
    with pytest.raises(AuditError, match="Outcome 'length' is not available"):
        when_to_retrieve(telling, outcome="length")


def test_a_run_without_two_such_systems_has_no_rows(store):
    assert when_to_retrieve(store("q1 kidney ab=CONSISTENT")).empty
