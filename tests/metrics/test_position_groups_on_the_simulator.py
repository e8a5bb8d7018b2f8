"""Position groups and positions against a world whose truth is known: which value each handbook holds."""

import json
import shutil
from collections import Counter
from statistics import fmean

import pytest
from sklearn.metrics import adjusted_rand_score

from audit.metrics.likely_disputed import dispute_decisions, likely_disputed
from audit.metrics.position_groups import FEW_HANDBOOKS, position_groups
from audit.metrics.question_positions import positions_in, positions_of, question_positions
from audit.settings import Settings
from audit.store.connection import open_store, rows
from audit.store.load import load_release
from audit.text.clashing import clashing_sentences
from audit.text.quantity import find_quantities
from tests.simulator.build import write_demo

DISAGREEING_PAIRS = """
select question_id, q.text, a.handbook_id, b.handbook_id, first.answer, second.answer, reasoning, divergence_topic
from pairs p join questions q using (question)
join handbooks a on a.handbook = p.handbook_a join handbooks b on b.handbook = p.handbook_b
join answers first on first.question = p.question and first.handbook = p.handbook_a
join answers second on second.question = p.question and second.handbook = p.handbook_b
where label in ('DIVERGENT', 'CONTRADICTORY') order by 1, 3, 4
"""


def groups_of(release, path):
    """Per question that at least three handbooks answer: its position groups with the value each handbook truly holds."""
    with (release / "truth.jsonl").open(encoding="utf-8") as lines, open_store(path) as con:
        return [table for line in lines if len(table := _answering(con, json.loads(line))) >= 3]


@pytest.fixture(scope="module")
def read_twice(tmp_path_factory):
    """A simulated release with a second judge, and its store."""
    root = tmp_path_factory.mktemp("simulated")
    release = root / "demo"
    write_demo(release, "small", 1)
    return release, load_release(release, Settings(data_dir=root)).run.path


def test_the_table_of_positions_has_all_that_a_page_shows_of_them(read_twice):
    with open_store(read_twice[1]) as con:
        ids = [question_id for (question_id,) in rows(con, "select question_id from questions order by question limit 12")]
        found = [(positions_of(con, question_id), positions_in(question_positions(con, question_id))) for question_id in ids]
    assert [(kept.positions, kept.others) for _, kept in found] == [(all_of.positions, all_of.others) for all_of, _ in found]
    assert sum(bool(kept.positions) for _, kept in found) > 5


@pytest.fixture(scope="module")
def world(read_twice, tmp_path_factory):
    """The same without the second judge, so that how often the judge errs is assumed."""
    root = tmp_path_factory.mktemp("read-once")
    release = root / "demo"
    shutil.copytree(read_twice[0], release, ignore=shutil.ignore_patterns("further_verdicts.jsonl"))
    return release, load_release(release, Settings(data_dir=root)).run.path


def _answering(con, truth):
    table = position_groups(con, truth["question_id"])
    table = table[table["state"] == "answers"]
    return table.assign(value=[str(truth["values"].get(handbook)) for handbook in table["handbook_id"]])


def right_groups(found):
    """The mean adjusted Rand index of the groups with the true ones."""
    assert len(found) > 80
    return fmean(adjusted_rand_score(table["value"], table["group"].astype(int)) for table in found)


def test_position_groups_are_those_of_the_values_that_handbooks_hold(found):
    assert right_groups(found) > 0.85


def test_so_are_those_with_the_error_rates_that_a_second_judge_shows(read_twice):
    assert right_groups(groups_of(*read_twice)) > 0.85


def test_the_list_of_disputed_questions_is_right_though_the_judge_errs_on_some_questions_more_than_on_others(world):
    table, decided, disputed = _listed(*world)
    assert disputed[table["listed"] == "yes"].mean() >= 0.93
    # Of those on which the judge calls any pair a disagreement: on the others nothing shows one
    assert (table.loc[disputed & (table["disagreeing"] > 0), "listed"] == "yes").mean() >= 0.93

    # What the decision view expects is what the truth has, within four of a hundred questions
    for row in decided.to_dict("records"):
        shown = table["probability"] >= row["threshold"]
        true = {"found": disputed & shown, "false": ~disputed & shown, "missed": disputed & ~shown}
        assert {name: 100 * own.mean() for name, own in true.items()} == pytest.approx({n: row[n] for n in true}, abs=4)


def test_the_list_stays_precise_with_the_error_rates_that_a_second_judge_shows(read_twice):
    """They are higher than the assumed ones here, as its errors are its own, so the list is stricter."""
    table, _, disputed = _listed(*read_twice)
    assert disputed[table["listed"] == "yes"].mean() >= 0.93
    assert (table.loc[disputed & (table["disagreeing"] > 0), "listed"] == "yes").mean() >= 0.9


def _listed(release, path):
    """The questions, what the decision view expects of a list, and whether handbooks truly hold several values on each."""
    with (release / "truth.jsonl").open(encoding="utf-8") as lines, open_store(path) as con:
        held = {one["question_id"]: {*one["values"].values()} - {None} for one in map(json.loads, lines)}
        table, decided = likely_disputed(con), dispute_decisions(con)
    return table, decided, table["question_id"].map(lambda question_id: len(held[question_id]) > 1)


def test_where_all_hold_one_value_the_judges_errors_alone_make_several_groups(found):
    """Among few handbooks each disagreement that the judge calls is shown side by side, as it may be true."""
    agreed = [(len(table), table["group"].nunique() == 1) for table in found if table["value"].nunique() == 1]
    assert sum(one for _, one in agreed) / len(agreed) > 0.85
    many = [one for handbooks, one in agreed if handbooks >= FEW_HANDBOOKS]
    assert len(many) > 20, len(many)
    assert sum(many) / len(many) > 0.9


@pytest.fixture(scope="module")
def found(world):
    return groups_of(*world)


@pytest.fixture(scope="module")
def taken(world):
    """(true value of each handbook, positions) for every question that at least three handbooks answer."""
    release, path = world
    with (release / "truth.jsonl").open(encoding="utf-8") as lines, open_store(path) as con:
        both = [(truth["values"], positions_of(con, truth["question_id"]).positions) for truth in map(json.loads, lines)]
    return [(values, positions) for values, positions in both if sum(len(position.holders) for position in positions) >= 3]


def test_nearly_every_statement_gives_the_value_that_most_of_its_holders_truly_hold(taken):
    checked = [
        _states(
            position.statement, Counter(str(values.get(holder.handbook_id)) for holder in position.holders).most_common(1)[0][0]
        )
        for values, positions in taken
        for position in positions
        if len(positions) > 1 and len(position.holders) > 1
    ]
    checked = [right for right in checked if right is not None]
    assert len(checked) > 50
    assert sum(checked) / len(checked) >= 0.95


def test_nearly_every_holder_is_quoted_with_the_value_it_truly_holds(taken):
    checked = [
        _states(holder.quote, str(values.get(holder.handbook_id)))
        for values, positions in taken
        for position in positions
        for holder in position.holders
    ]
    checked = [right for right in checked if right is not None]
    assert len(checked) > 400
    assert sum(checked) / len(checked) >= 0.95


def _states(sentence, value):
    """Whether a sentence states a true value; None where the value is no quantity that could be compared."""
    true = find_quantities(value)
    if not true:
        return None
    # "3 liters a day" is a rate, and its value in the simulator's words the amount: "3 liters"
    return value.casefold() in sentence.casefold() or any(true[0].agrees(other) for other in find_quantities(sentence))


def test_of_pairs_that_truly_disagree_nearly_all_have_both_true_values_in_the_sentences_that_are_marked(world):
    release, path = world
    with (release / "truth.jsonl").open(encoding="utf-8") as lines, open_store(path) as con:
        values = {truth["question_id"]: truth["values"] for truth in map(json.loads, lines)}
        pairs = rows(con, DISAGREEING_PAIRS)
    checked = [
        both
        for question_id, question, a, b, first, second, reasoning, topic in pairs
        if (clash := clashing_sentences(question, first, second, reasoning or "", topic or "", ((a,), (b,))))
        and values[question_id].get(a) != values[question_id].get(b)
        and None not in (
            both := (
                _states(first[slice(*clash.first[:2])], str(values[question_id].get(a))),
                _states(second[slice(*clash.second[:2])], str(values[question_id].get(b))),
            )
        )
    ]  # fmt: skip
    assert len(checked) > 150, len(checked)
    assert sum(all(both) for both in checked) / len(checked) >= 0.95
