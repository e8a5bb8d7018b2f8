"""The table of attacks names every attack, with as many tests as repeat it, and each of these exists."""

from __future__ import annotations

from pathlib import Path

from benchmarks import attacks


def test_the_document_has_the_table_that_the_command_prints_where_all_hold():
    names = {name for one in attacks.ATTACKS for name in one.tests}
    assert attacks.node_ids(names).keys() == names
    printed = attacks.table(dict.fromkeys(names, "held"))
    assert printed in Path(attacks.__file__).with_suffix(".md").read_text("utf-8")
