import pandas as pd

from audit.stats.interval_columns import with_interval


def test_an_interval_is_right_after_its_share():
    table = with_interval(pd.DataFrame({"r_div": [0.5], "pairs": [2]}), "r_div", [0.1], [0.9])
    assert list(table.columns) == ["r_div", "r_div_low", "r_div_high", "pairs"]
