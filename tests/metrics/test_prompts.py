"""The prompts that made a run: in full where the release has them, and no row where it was made by an earlier version."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from audit.metrics.prompts import prompts
from audit.store.connection import open_store
from tests.support.loading import load
from tests.support.tiny import release_from

TABLE = "q1 kidney  ab=DIVERGENT/high  ac=COMPLEMENTARY  bc=CONSISTENT"
RECORD = {
    "prompt": "structured-2@0123456789ab", "used_for": "judge", "system": "Compare {both}.", "user": "<question>",
    "max_tokens": 800, "temperature": 0,
}  # fmt: skip


def shown(tmp_path: Path, **manifest: object) -> pd.DataFrame:
    with open_store(load(release_from(tmp_path, TABLE, **manifest), tmp_path).run.path) as con:
        return prompts(con)


def test_instructions_and_what_follows_them_are_there_in_full(tmp_path):
    (row,) = shown(tmp_path, prompts=[RECORD]).itertuples()
    assert (row.prompt, row.used_for, row.max_tokens, row.temperature) == ("structured-2@0123456789ab", "judge", 800, 0)
    assert row.text == "Compare {both}.\n\n<question>"


def test_a_release_of_an_earlier_version_has_none(tmp_path):
    assert shown(tmp_path).empty


def test_a_field_of_another_form_is_not_read(tmp_path):
    assert shown(tmp_path, prompts={"structured": "structured-2@0123456789ab"}).empty
    (row,) = shown(tmp_path / "again", prompts=["a text", RECORD, {"system": "without a name"}]).itertuples()
    assert row.prompt == RECORD["prompt"]
