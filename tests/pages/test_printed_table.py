"""Tables on paper: every row in letters, texts escaped, and a word on rows that only the file has."""

from __future__ import annotations

import pandas as pd

from audit.tables import Column
from pages._shared.widgets import MAX_ROWS, printed_table
from tests.support.directions import without_directions

COLUMNS = (Column.text("name", "Name"), Column.count("pairs", "Pairs"), Column.share("share", "Share"))


def test_numbers_are_written_as_on_the_screen_and_texts_are_escaped() -> None:
    shown = pd.DataFrame(
        {"name": ["<b>A</b>", None], "pairs": [1200, 3], "share": [12.34, None], "share_interval": ["10 to 15 %", "–"]}
    )
    html = without_directions(printed_table(shown, COLUMNS, digits=1, decimals=2))
    assert "<th>Name</th><th>Pairs</th><th>Share</th><th>95 % interval</th>" in html
    assert '<td>&lt;b&gt;A&lt;/b&gt;</td><td class="number">1,200</td><td class="number">12.3 %</td><td>10 to 15 %</td>' in html
    assert '<td>–</td><td class="number">3</td><td>–</td><td>–</td>' in html
    assert "<tfoot>" not in html


def test_rows_that_are_not_printed_are_counted() -> None:
    html = printed_table(pd.DataFrame({"pairs": range(MAX_ROWS + 5)}), (COLUMNS[1],), digits=1, decimals=2)
    assert html.count("<tr>") == 1 + MAX_ROWS + 1
    assert "300 of 305 rows. The CSV file has all of them." in html
