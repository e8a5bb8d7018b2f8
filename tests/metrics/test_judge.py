import numpy as np
import pytest
from scipy.stats import binomtest

from audit.metrics import METRICS
from audit.metrics.judge import chosen_pairs_note, judge, judge_checks, judge_length, judge_reading
from audit.store.connection import open_store
from audit.vocabulary import CheckKind, Label
from tests.simulator.build import DEFAULT_SEED
from tests.simulator.judge import CheckNoise
from tests.support.loading import load

TABLE = """
    q1 kidney ab=DIVERGENT!strict+swap:CONSISTENT ac=CONSISTENT!strict+swap:CONSISTENT bc=UNSCORED!none:cut+swap:ABSENT
    q2 kidney ab=COMPLEMENTARY!lenient+swap:DIVERGENT  ac=COMPLEMENTARY!label+swap:CONSISTENT  bc=ABSENT!prose+swap:UNSCORED
    q3 kidney ab=UNSCORED!none:cut  ac=UNSCORED!none:empty  bc=CONSISTENT!strict+repeat:CONSISTENT  d=absent
"""


def test_checks_are_counted_by_what_they_changed(store):
    table = judge_checks(store(TABLE)).set_index(["kind", "figure"])
    counted = {index: (int(row["count"]), int(row["of"])) for index, row in table.iterrows()}
    # read twice: q1 ab, q1 ac, q2 ab, q2 ac; not read: q1 bc (first), q2 bc (again)
    assert counted["swap", "changed"] == (3, 4)
    assert counted["swap", "crossed"] == (2, 4)
    assert (counted["swap", "to disagreement"], counted["swap", "to agreement"]) == ((1, 4), (1, 4))
    assert counted["swap", "unread"] == (2, 6)
    assert counted["repeat", "changed"] == (0, 1)


def test_kappa_of_a_check_is_that_of_its_table(store):
    # first D C M M, again C C D C: observed 1/4; expected (C 1*3 + D 1*1 + M 2*0)/16 = 4/16; (1/4 - 1/4) / (3/4) = 0
    table = judge_checks(store(TABLE)).set_index(["kind", "figure"])
    assert table.loc[("swap", "kappa"), "value"] == pytest.approx(0)


def test_what_nobody_checked_is_not_measured_and_never_zero(store):
    table = judge(store("q1 kidney ab=DIVERGENT ac=CONSISTENT bc=UNSCORED"))
    checks = table[table["section"] == "check"]
    assert len(checks) == 30
    assert (checks["of"] == 0).all()
    assert checks[["value", "value_low", "value_high"]].isna().all(axis=None)


def test_a_release_that_does_not_say_how_replies_were_read_has_no_such_shares(store):
    table = judge_reading(store("q1 kidney ab=DIVERGENT ac=CONSISTENT bc=UNSCORED d=absent")).set_index(["part", "name"])
    assert table.loc["read", "value"].drop("not said").isna().all()
    assert tuple(table.loc[("read", "not said"), ["count", "of"]]) == (3, 3)
    assert table.loc[("unscored", "(all)"), "value"] == pytest.approx(1 / 3)
    assert table.loc[("unscored", "not said"), "count"] == 1


def test_ways_of_reading_and_reasons_are_shares_of_all_pairs_asked(store):
    table = judge_reading(store(TABLE)).set_index(["part", "name"])
    counted = table["count"].to_dict()
    names = ("strict", "lenient", "label", "prose", "none", "rules", "not said")
    assert [counted["read", name] for name in names] == [3, 1, 1, 1, 3, 0, 0]
    assert (counted["unscored", "(all)"], counted["unscored", "cut"], counted["unscored", "empty"]) == (3, 2, 1)
    assert set(table["of"]) == {9}


def test_fifths_by_length_hold_all_present_pairs_and_rho_is_spearman_s(store, tmp_path):
    con = store("\n".join(f"q{i} kidney ab={'DIVERGENT' if i > 5 else 'CONSISTENT'} cd=ABSENT" for i in range(1, 11)))
    con.execute("update answers set answer = repeat('x', 100) where handbook = 0")
    con.execute("update answers set answer = repeat('x', (100 - 5 * (question + 1))::integer) where handbook = 1")
    table = judge_length(con).set_index("fifth")
    assert table["count"].drop("(rho)").tolist() == [0, 0, 1, 2, 2]
    assert table["of"].drop("(rho)").tolist() == [2] * 5
    assert table.loc["1", ["least", "most"]].tolist() == pytest.approx([0.05, 0.10])
    # One pair a question: no two pairs of a question can be compared
    assert np.isnan(table.loc["(rho)", "value"])


def test_the_length_effect_compares_pairs_of_one_question(store):
    """In each of ten questions the more unlike of two pairs disagrees; questions as a whole say the opposite."""
    rows = [f"q{i} kidney ab=DIVERGENT ac=CONSISTENT bc=ABSENT" for i in range(1, 11)]
    con = store("\n".join(rows))
    con.execute("update answers set answer = repeat('x', 100) where handbook = 0")
    con.execute("update answers set answer = repeat('x', (90 - 5 * question)::integer) where handbook = 1")
    con.execute("update answers set answer = repeat('x', (91 - 5 * question)::integer) where handbook = 2")
    row = judge_length(con).set_index("fifth").loc["(rho)"]
    assert (row["value"], row["count"], row["of"]) == (pytest.approx(1.0), 10, 20)
    assert row["value_low"] == pytest.approx(1.0)


def test_what_changes_beyond_chance_is_taken_of_the_same_pairs(store):
    """Ten questions, one pair each: swapped, six labels change, and repeated, two; another pair was swapped alone."""
    con = store("\n".join(f"q{i} kidney ab=DIVERGENT ac=CONSISTENT bc=ABSENT" for i in range(1, 11)))
    con.execute("delete from checks")
    for kind, changed in (("swap", 6), ("repeat", 2)):
        con.execute(
            f"""
            insert into checks by name
            select question, handbook_a, handbook_b, '{kind}' as kind, 1 as number,
                   case when question < {changed} then 'COMPLEMENTARY' else label::varchar end as label
            from pairs where handbook_a = 0 and handbook_b = 1
            """
        )
    con.execute(
        "insert into checks by name select question, handbook_a, handbook_b, 'swap' as kind, 1 as number, 'ABSENT' as label "
        "from pairs where question = 0 and handbook_b = 2 and handbook_a = 0"
    )
    row = judge_checks(con).set_index(["kind", "figure"]).loc[("swap", "beyond repeat")]
    assert (row["count"], row["of"], row["value"]) == (6, 10, pytest.approx(0.4))
    assert np.isnan(row["value_low"]), "four questions carry the difference, too few for an interval"


def test_a_note_says_that_the_checked_pairs_were_chosen():
    assert chosen_pairs_note({"judge_settings": {"pairs": "study:v1"}}).startswith("The pairs were chosen (study:v1)")
    assert [chosen_pairs_note(manifest) for manifest in ({}, {"judge_settings": {"pairs": "all"}})] == ["", ""]


def test_a_run_without_answers_has_no_lengths(store):
    table = judge_length(store(TABLE, answers=False))
    assert table["fifth"].tolist() == ["(rho)"]
    assert np.isnan(table["value"].iloc[0])


@pytest.mark.parametrize("name", ["judge", "judge_checks", "judge_reading", "judge_length"])
def test_a_printed_statement_runs_as_it_stands(store, name):
    assert store(TABLE).cursor().execute(METRICS[name].sql).description


@pytest.fixture(scope="module")
def demos(written_demo, tmp_path_factory):
    """The checks of five worlds."""
    found = []
    for seed in range(5):
        scratch = tmp_path_factory.mktemp(f"demo{seed}")
        with open_store(load(written_demo(DEFAULT_SEED + seed), scratch).run.path) as con:
            labels = con.cursor().execute("select p.label::varchar, count(*) from checks c join pairs p "
                "using (question, handbook_a, handbook_b) where c.kind = 'blind' group by all").fetchall()  # fmt: skip
            found.append((judge_checks(con).set_index(["kind", "figure"]), dict(labels)))
    return found


def true_rate(kind: CheckKind, labels: dict[str, int]) -> float:
    """The chance that a check of this sample changes its label, by the rates that the simulated judge was given."""
    scored = {Label(label): count for label, count in labels.items() if label}
    return sum(count * CheckNoise().rate(kind, label) for label, count in scored.items()) / sum(scored.values())


@pytest.mark.parametrize("kind", list(CheckKind))
def test_the_simulated_judge_s_true_rates_lie_in_the_intervals(demos, kind):
    inside = [
        table.loc[(kind.value, "changed"), "value_low"]
        <= true_rate(kind, labels)
        <= table.loc[(kind.value, "changed"), "value_high"]
        for table, labels in demos
    ]
    assert sum(inside) >= 3  # of 5 at 95 %: fewer has a chance of 1 in 1,000


def test_the_simulated_repeats_make_the_judge_neither_stricter_nor_milder(demos):
    into, out = (
        sum(table.loc[("repeat", f"to {where}"), "count"] for table, _ in demos) for where in ("disagreement", "agreement")
    )
    assert binomtest(int(into), int(into + out)).pvalue > 0.01
    assert into + out > 18


def test_the_simulated_judge_is_milder_without_the_names_of_centers(demos):
    table = sum(found[["count", "of"]] for found, _ in demos)
    assert table.loc[("blind", "to agreement"), "count"] > 2 * table.loc[("blind", "to disagreement"), "count"]
