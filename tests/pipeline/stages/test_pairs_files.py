"""Files of pairs to judge: those of people, of spreadsheets, and the product's own."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.errors import AuditError
from audit.people_tables import csv_text, visible
from audit.pipeline.stages.judging_runs import read_pairs
from audit.vocabulary import PAIR_COLUMNS

ids = st.one_of(
    st.sampled_from(["=1+1", "+x", "-3", "@id", "'=", "a;b", "007", "C:\\h 1"]), st.text(min_size=1, max_size=8)
).filter(lambda text: text == visible(text) and text.isprintable() and text)


@given(st.lists(st.tuples(ids, ids, ids), max_size=5))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_pairs_that_the_product_wrote_are_read_back(tmp_path: Path, pairs: list[tuple[str, str, str]]) -> None:
    (tmp_path / "pairs.csv").write_text(csv_text(PAIR_COLUMNS, pairs), encoding="utf-8", newline="")
    assert read_pairs(tmp_path / "pairs.csv")[0] == pairs


@pytest.mark.parametrize("text", [
    "sep=;\r\nquestion_id;handbook_a;handbook_b;note\r\nq1;'=a;b;\r\n;;;\r\n",
    "Question ID\thandbook_b\thandbook_a\nq1\tb\t=a\n",
    "\ufeffquestion_id,handbook_a,handbook_b\nq1,'=a,b\u00a0\n",
])  # fmt: skip
def test_pairs_from_any_spreadsheet_are_the_same(tmp_path: Path, text: str) -> None:
    (tmp_path / "pairs.csv").write_text(text, encoding="utf-8", newline="")
    assert read_pairs(tmp_path / "pairs.csv")[0] == [("q1", "=a", "b")]


@pytest.mark.parametrize(("text", "fault"), [
    ("question_id,handbook_a\nq1,a\n", "there is no column 'handbook_b'"),
    ("question_id,handbook_a,handbook_b,handbook_b\nq1,a,b,c\n", "column 'handbook_b' appears twice"),
    ("question_id,handbook_a,handbook_b\nq1,a\n", "row 2: it has 2 cells, and the first row names 3 columns"),
])  # fmt: skip
def test_an_ambiguous_file_of_pairs_is_refused(tmp_path: Path, text: str, fault: str) -> None:
    (tmp_path / "pairs.csv").write_text(text)
    with pytest.raises(AuditError, match=f"{fault}.*No model was called"):
        read_pairs(tmp_path / "pairs.csv")
