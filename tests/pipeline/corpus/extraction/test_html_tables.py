"""Tables of web pages: each row with all heads above it, and nothing of one row or cell in another."""

from __future__ import annotations

import pytest

from audit.pipeline.corpus.extraction.html_reader import read_html
from audit.text.documents import STRUCK

MONTHS = "Drug: A | After surgery, Month 1: 20 mg | After surgery, Month 2: 10 mg\nDrug: B | After surgery, Month 1: 5 mg"
BODY = "<tr><td>A<td>20 mg<td>10 mg</tr><tr><td>B<td>5 mg<td></tr>"


def texts_of(table: str) -> list[str]:
    return [block.text for block in read_html(f"<table>{table}</table>").blocks]


@pytest.mark.parametrize(
    "heads",
    [
        "<tr><th rowspan=2>Drug<th colspan=2>After surgery</tr><tr><th>Month 1<th>Month 2</tr>",
        "<thead><tr><td rowspan=2>Drug<td colspan=2>After surgery</tr><tr><td>Month 1<td>Month 2</tr></thead>",
        "<tr><td rowspan=2>Drug<td colspan=2>After surgery</tr><tr><td>Month 1<td>Month 2</tr>",
        "<tr><td><td colspan=2>After surgery</tr><tr><td>Drug<td>Month 1<td>Month 2</tr>",
        "<tr><td><b>Drug</b><td colspan=2><b>After surgery</b></tr><tr><td><td><b>Month 1</b><td><strong>Month 2</strong></tr>",
    ],
)
def test_two_rows_of_heads_are_both_in_each_cell_however_they_are_marked(heads):
    assert texts_of(heads + BODY) == [MONTHS]


def test_the_title_over_all_columns_and_heads_within_a_table_are_kept_apart():
    table = "<tr><th colspan=3>Doses</tr><tr><th>Drug<th>Day<th>Night</tr><tr><td>A<td>1 mg<td>2 mg</tr>"
    table += "<tr><th>Drug<th>Week 1<th>Week 2</tr><tr><td>B<td>3 mg<td>4 mg</tr>"
    assert texts_of(table) == ["Doses\nDrug: A | Day: 1 mg | Night: 2 mg\nDrug: B | Week 1: 3 mg | Week 2: 4 mg"]


def test_a_bold_row_below_others_is_a_row_of_values():
    table = "<tr><th>Drug<th>Dose</tr><tr><td>A<td>1 mg</tr><tr><td><b>Sum</b><td><b>1 mg</b></tr>"
    assert texts_of(table) == ["Drug: A | Dose: 1 mg\nDrug: Sum | Dose: 1 mg"]


def test_a_cell_of_several_lines_is_one_cell_and_goes_into_no_other_row():
    table = "<tr><th>Drug<th>Dose</tr><tr><td>A<td><p>1 mg</p><div>with <b>food</b><br>at 8</div></tr>"
    table += "<tr><td>B<td></tr><tr><td>C<td>2 mg</tr>"
    assert texts_of(table)[0].startswith("Drug: A | Dose: 1 mg with food at 8")
    assert "C | Dose: 2 mg" in texts_of(table)[-1]
    assert sum(text.count("1 mg") for text in texts_of(table)) == 1


def test_text_around_the_list_of_a_cell_stays_with_it_and_with_its_row():
    table = "<tr><th>Food<th>Advice</tr><tr><td>Fruit<td>Do not eat:<ul><li>pomelo</ul>Ask us.</tr><tr><td>Eggs<td>Boil them</tr>"
    assert texts_of(table) == [
        "Fruit | Advice: Do not eat:\n• pomelo",
        "Fruit | Advice: Ask us.",
        "Food: Eggs | Advice: Boil them",
    ]


def test_raised_struck_and_entered_text_in_cells_is_read_as_elsewhere():
    dose = "<s>4 mg</s> 3<sup>1</sup>/<sub>2</sub> mg"
    table = f"<tr><th>Drug<th>Dose<th>Due</tr><tr><td>A<sup>2</sup><td>{dose}<td><input type=checkbox></tr>"
    page = read_html(f"<table>{table}</table>")
    assert [block.text for block in page.blocks] == ["Drug: A [2] | Dose: 3 1/2 mg | Due: [ ]"]
    assert [(loss.kind, loss.letters) for loss in page.lost] == [(STRUCK, 3)]


def test_heads_without_rows_are_not_lost():
    page = read_html("<table><tr><th>Avoid<th>Prefer</tr><tr><td colspan=2>Ask the dietitian.</tr></table>")
    assert page.blocks[0].text == "Ask the dietitian.\nAvoid | Prefer"
    assert page.lost == ()
