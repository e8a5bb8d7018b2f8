"""Two runs beside each other: their rates, what changed in absence and in judgement, where they moved, what is left out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audit.errors import AuditError
from audit.metrics import METRICS
from audit.metrics.most_moved import handbooks_moved, questions_moved
from audit.metrics.records import left_out
from audit.metrics.runs import BOTH, HIDES, IN_ALL, JUDGES, LOST, NEITHER, NOTHING, REVEALED, REVEALS, runs, runs_change, verdict
from audit.queries.aligned_runs import PairedRuns
from audit.stats.paired import PairedShare, change_columns
from tests.metrics.two_stores import two
from tests.support.tiny import handbook

BEFORE = """
    q1 kidney  ab=DIVERGENT   c=absent  d=absent
    q2 kidney  ab=CONSISTENT  ac=COMPLEMENTARY  bc=DIVERGENT  d=absent
    q3 general ab=ABSENT      ac=UNSCORED       bc=CONSISTENT  d=absent
"""
AFTER = """
    q1 kidney  ab=DIVERGENT   ac=CONTRADICTORY/high  bc=COMPLEMENTARY  d=absent
    q2 kidney  ab=DIVERGENT   ac=COMPLEMENTARY       c=present bc=ABSENT  d=absent
    q3 general ab=CONSISTENT  ac=CONSISTENT          bc=UNSCORED  d=absent
"""
SEVEN = "\n".join(f"q{n} kidney ab=CONSISTENT ac=DIVERGENT bc=COMPLEMENTARY" for n in range(1, 8))


@pytest.fixture
def con(tmp_path):
    return two(tmp_path, BEFORE, AFTER)


def cell(table: pd.DataFrame, **which: str) -> pd.Series:
    return table[np.logical_and.reduce([table[name] == value for name, value in which.items()])].iloc[0]


def test_rates_are_of_the_pairs_that_both_runs_scored(con):
    # kidney, 12 pairs scored twice: 1 + 3 present before, 3 + 2 after
    kidney = runs(con).set_index(["organ", "rate"]).loc["kidney"]
    columns = ["count_first", "of_first", "count_second", "of_second"]
    assert kidney[columns].to_numpy().tolist() == [[8, 12, 7, 12], [2, 4, 3, 5], [1, 4, 0, 5], [2, 2, 2, 2]]
    assert kidney.loc["r_div", "change"] == pytest.approx(3 / 5 - 2 / 4)


def test_a_pair_that_one_run_could_not_score_is_compared_in_neither(con):
    # general: of ab, ac, bc and three with d, ac is unscored before and bc after
    general = cell(runs(con), organ="general", rate="r_abs")
    assert (general.count_first, general.of_first, general.count_second, general.of_second) == (4, 4, 3, 4)


def test_organs_stand_by_name_general_after_them_and_all_last(con):
    assert list(dict.fromkeys(runs(con)["organ"])) == ["kidney", "general", "(all)"]


def test_a_change_borne_by_fewer_than_five_questions_has_no_interval_and_no_direction(con):
    change = cell(runs(con), organ="(all)", rate="r_div")
    assert np.isnan(change.change_low)
    assert (change.questions, change.moves) == (2, "too few questions")


def test_a_share_without_a_whole_changes_to_nothing_known(con):
    change = cell(runs(con), organ="general", rate="r_div")
    assert np.isnan(change["first"])
    assert np.isnan(change["change"])
    assert change["moves"] == "too few questions"


def test_equal_runs_are_the_same_and_not_unclear(tmp_path):
    found = runs(two(tmp_path, SEVEN, SEVEN))
    assert set(found["moves"]) == {"the same"}
    assert set(found["change"]) == {0.0}


def test_a_change_alike_on_every_question_is_known_exactly(tmp_path):
    found = cell(runs(two(tmp_path, SEVEN, SEVEN.replace("COMPLEMENTARY", "CONTRADICTORY"))), organ="(all)", rate="r_div")
    assert (found.change, found.change_low, found.change_high) == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert found.moves == "rises"


def test_every_pair_is_revealed_lost_present_twice_or_absent_twice(con):
    kidney = runs_change(con).set_index(["organ", "part"]).loc["kidney"]
    columns = ["pairs", "relabelled", "disagreeing_first", "disagreeing_second", "change"]
    assert kidney[columns].T.to_dict("list") == {
        REVEALED: [2, 2, 0, 1, 1],  # q1 ac, bc
        LOST: [1, 1, 1, 0, -1],  # q2 bc
        BOTH: [3, 1, 1, 2, 1],  # q1 ab, q2 ab and ac
        NEITHER: [6, 0, 0, 0, 0],
        IN_ALL: [12, 4, 2, 3, 1],
    }


def test_shares_and_effects_by_hand(con):
    kidney = runs_change(con).set_index(["organ", "part"]).loc["kidney"]
    assert kidney["r_div_second"].to_dict() == pytest.approx(
        {REVEALED: 1 / 2, LOST: np.nan, BOTH: 2 / 3, NEITHER: np.nan, IN_ALL: 3 / 5}, nan_ok=True
    )
    assert kidney["effect"].to_dict() == pytest.approx(
        {REVEALED: 3 / 5 - 2 / 3, LOST: 1 / 3 - 2 / 4, BOTH: 2 / 3 - 1 / 3, NEITHER: 0, IN_ALL: 3 / 5 - 2 / 4}
    )


def random_cells(seed: int) -> PairedRuns:
    rng = np.random.default_rng(seed)
    labels = np.array(["ABSENT", "CONSISTENT", "COMPLEMENTARY", "DIVERGENT", "CONTRADICTORY"])
    drawn = {side: labels[rng.integers(5, size=400)] for side in ("first", "second")}
    organ = rng.choice(["heart", "lung", "general"], 30)
    question = rng.integers(30, size=400)
    cells = pd.DataFrame({"question": question, "organ": organ[question], **drawn, "pairs": rng.integers(1, 9, size=400)})
    return PairedRuns(cells.sort_values("question", ignore_index=True))


@pytest.mark.parametrize("seed", range(5))
def test_the_parts_always_add_up_to_the_whole(seed, monkeypatch):
    monkeypatch.setattr("audit.metrics.runs.paired_runs", lambda _: random_cells(seed))
    table = runs_change(None)
    parts, whole = table[table["part"] != IN_ALL].groupby("organ"), table[table["part"] == IN_ALL].set_index("organ").sort_index()
    for column in ("pairs", "relabelled", "disagreeing_first", "disagreeing_second", "change"):
        assert (parts[column].sum() == whole[column]).all(), column
    assert parts["effect"].sum().sub(whole["effect"]).abs().max() < 1e-12


def test_without_a_pair_present_in_both_no_effect_is_known(tmp_path):
    found = runs_change(two(tmp_path, "q1 kidney ab=DIVERGENT ac=ABSENT", "q1 kidney ab=ABSENT ac=DIVERGENT"))
    assert cell(found, organ="(all)", part=REVEALED)["change"] == 1
    assert np.isnan(cell(found, organ="(all)", part=REVEALED)["effect"])


@pytest.mark.parametrize(
    ("revealed", "lost", "effect", "word"),
    [
        ((40, 25, 60), (0, np.nan, np.nan), "the same", REVEALS),
        ((40, 25, 60), (-20, -24, -16), "not clear", REVEALS),
        ((40, 25, 60), (-20, -30, -10), "not clear", NOTHING),  # at the low ends more was lost than came to light
        ((2, np.nan, np.nan), (0, np.nan, np.nan), "the same", NOTHING),
        ((0, np.nan, np.nan), (-40, -60, -25), "not clear", HIDES),
        ((40, 25, 60), (0, np.nan, np.nan), "rises", JUDGES),
    ],
)
def test_a_conclusion_is_drawn_where_intervals_allow_it(revealed, lost, effect, word):
    rows = [(REVEALED, *revealed, "not clear"), (LOST, *lost, "not clear"), (BOTH, 0, np.nan, np.nan, effect)]
    table = pd.DataFrame(rows, columns=["part", "change", "change_low", "change_high", "moves"]).assign(organ="(all)")
    assert verdict(table) == word


def paired_sample(rng: np.random.Generator, questions: int) -> tuple[PairedShare, PairedShare]:
    """Questions unlike each other; in the second run a pair disagrees three points more often."""
    prone = rng.beta(1, 6, size=questions)
    whole = rng.integers(5, 40, size=questions).astype(float)
    base = rng.binomial(whole.astype(int), prone)
    more = rng.binomial((whole - base).astype(int), 0.03)
    return PairedShare(base[None, :], whole[None, :]), PairedShare((base + more)[None, :], whole[None, :])


def test_the_paired_interval_holds_the_true_change_and_is_narrower_than_two_unpaired_ones():
    rng, held, widths, spread = np.random.default_rng(5), [], [], []
    weights = np.random.default_rng(1).multinomial(60, np.full(60, 1 / 60), size=1000).T.astype(float)
    true = 0.03 * (1 - 1 / 7)
    for _ in range(200):
        first, second = paired_sample(rng, 60)
        found = change_columns("change", first, second, weights)
        held.append(found["change_low"][0] <= true <= found["change_high"][0])
        widths.append(found["change_high"][0] - found["change_low"][0])
        spread.append(np.ptp(np.nanpercentile(second.replicates(weights), [2.5, 97.5])))
    assert 0.91 <= np.mean(held) <= 0.99
    assert np.mean(widths) < np.mean(spread) / 2


MANY = "\n".join(f"q{n} kidney ab={'DIVERGENT' if n < 6 else 'CONSISTENT'} ac=CONSISTENT bc=CONSISTENT" for n in range(1, 8))


def test_questions_that_moved_are_told_with_what_came_to_light_and_what_is_judged_otherwise(con):
    table = questions_moved(con).set_index("question_id")
    columns = ["compared", "moved", "revealed", "lost", "judged_new", "judged_gone", "change"]
    assert table[columns].T.to_dict("list") == {"q1": [6, 1, 1, 0, 0, 0, 1], "q2": [6, 2, 0, 1, 1, 0, 0]}
    assert table.loc["q1", "share"] == pytest.approx(1 / 6)


def test_what_counts_as_moved_can_be_absence_or_any_label(con):
    assert questions_moved(con, "absence").set_index("question_id")["moved"].to_dict() == {"q1": 2, "q2": 1, "q3": 1}
    assert questions_moved(con, "label").set_index("question_id")["moved"].to_dict() == {"q1": 2, "q2": 2, "q3": 1}
    with pytest.raises(AuditError, match="Kind of change 'mood' is not available"):
        handbooks_moved(con, "mood")


def test_a_question_with_few_pairs_does_not_lead_one_with_many(tmp_path):
    # the one pair of q1 moved; of the 15 of q2, all but three did
    eight = [handbook(letter) for letter in "abcdef"]
    couples = [a + b for i, a in enumerate("abcdef") for b in "abcdef"[i + 1 :]]
    first = "q1 kidney ab=CONSISTENT\nq2 kidney " + " ".join(f"{pair}=CONSISTENT" for pair in couples)
    second = "q1 kidney ab=DIVERGENT\nq2 kidney " + " ".join(
        f"{pair}={'CONSISTENT' if n < 3 else 'DIVERGENT'}" for n, pair in enumerate(couples)
    )
    table = questions_moved(two(tmp_path, first, second, eight))
    assert list(zip(table["question_id"], table["moved"], table["compared"], strict=True)) == [("q2", 12, 15), ("q1", 1, 1)]


def test_a_pair_counts_for_both_its_handbooks(con):
    table = handbooks_moved(con).set_index("handbook_id")
    assert table["moved"].to_dict() == {"a": 2, "b": 2, "c": 2}  # q1 ac, q2 ab, q2 bc
    assert table.loc["c", ["revealed", "lost", "judged_new", "change"]].to_list() == [1, 1, 0, 0]
    assert table.loc["a", "questions"] == 3


def test_a_handbook_s_interval_resamples_questions(tmp_path):
    other = MANY.replace("DIVERGENT", "CONSISTENT")
    table = handbooks_moved(two(tmp_path, MANY, other)).set_index("handbook_id")
    assert list(table.index) == ["a", "b"]
    assert table.loc["a", "share"] == pytest.approx(5 / 14)
    assert table.loc["a", "share_low"] < 5 / 14 < table.loc["a", "share_high"] < 1


def test_what_only_one_run_has_is_named(tmp_path):
    con = two(tmp_path, "q1 kidney ab=DIVERGENT\nq2 lung ab=ABSENT", "q1 kidney ac=DIVERGENT")
    table = left_out(con)
    assert table[["what", "run", "id"]].to_numpy().tolist() == [
        ["handbook", "first", "b"], ["handbook", "second", "c"], ["question", "first", "q2"],
    ]  # fmt: skip
    assert table["name"].iloc[-1] == "What about q2?"


def test_runs_that_share_nothing_have_an_empty_row_for_all(tmp_path):
    con = two(tmp_path, "q1 kidney ab=DIVERGENT", "q9 kidney ab=DIVERGENT")
    assert set(runs(con)["organ"]) == {"(all)"}
    assert runs(con)["change"].isna().all()
    assert runs_change(con)["pairs"].sum() == 0
    assert questions_moved(con).empty
    assert handbooks_moved(con).empty


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("runs", {"scope": "matching"}),
        ("runs_change", {"scope": "all"}),
        ("runs_mean", {"scope": "all"}),
        ("left_out", {}),
        ("questions_moved", {"kind": "any"}),
        ("handbooks_moved", {"kind": "any"}),
    ],
)
def test_a_printed_statement_runs_as_it_stands(con, name, values):
    assert METRICS[name].compares
    assert con.cursor().execute(METRICS[name].sql, values).description
