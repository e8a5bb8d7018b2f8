"""Position groups against a world whose truth is known: which value each handbook holds."""

import json
from collections import Counter

import pytest
from sklearn.metrics import adjusted_rand_score

from audit.demo.build import write_demo
from audit.metrics.position_groups import position_groups
from audit.settings import Settings
from audit.store.connection import open_store
from audit.store.load import load_release
from audit.text.quantity import find_quantities


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Per question that at least three handbooks answer: its position groups with the value each handbook truly holds."""
    root = tmp_path_factory.mktemp("simulated")
    release = root / "demo"
    write_demo(release, "small", 1)
    run = load_release(release, Settings(data_dir=root)).run
    with (release / "truth.jsonl").open(encoding="utf-8") as lines, open_store(run.path) as con:
        return [table for line in lines if len(table := _answering(con, json.loads(line))) >= 3]


def _answering(con, truth):
    table = position_groups(con, truth["question_id"])
    table = table[table["state"] == "answers"]
    return table.assign(value=[str(truth["values"].get(handbook)) for handbook in table["handbook_id"]])


def test_position_groups_are_those_of_the_values_that_handbooks_hold(found):
    scores = [adjusted_rand_score(table["value"], table["group"].astype(int)) for table in found]
    assert len(scores) > 80
    assert sum(scores) / len(scores) > 0.85


def test_where_all_hold_one_value_there_is_nearly_always_one_position_group(found):
    agreed = [table["group"].nunique() == 1 for table in found if table["value"].nunique() == 1]
    assert sum(agreed) / len(agreed) > 0.9


def test_a_group_named_by_a_value_goes_by_the_value_most_of_it_holds(found):
    right = [_names_it(group) for table in found if table["value"].nunique() > 1 for _, group in _by_value(table)]
    assert len(right) > 40
    assert sum(right) / len(right) > 0.85


def _by_value(table):
    named = table[(table["basis"] == "value") & (table["size"] > 1)]
    return [
        (number, group)
        for number, group in named.groupby("group")
        if find_quantities(Counter(group["value"]).most_common(1)[0][0])
    ]


def _names_it(group):
    (true, *_) = find_quantities(Counter(group["value"]).most_common(1)[0][0])
    return any(true.agrees(named) or true.low == named.low for named in find_quantities(group["name"].iloc[0]))
