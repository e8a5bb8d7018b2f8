"""The fast road and the careful road give the same rows, whatever the release."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from audit.store import load as loading
from audit.store.bulk import BulkRoad
from tests.support.loading import checks_in, load, pairs_in, readings_in
from tests.support.tiny import release_from

VERDICTS = ("ABSENT", "CONSISTENT", "COMPLEMENTARY", "DIVERGENT", "DIVERGENT/low", "CONTRADICTORY/high", "UNSCORED", None)
READINGS = ("", "", "!strict", "!none:cut", "!label", "!odd")
CHECKS = ("", "", "+swap:DIVERGENT/low", "+swap:UNSCORED+repeat:ABSENT+repeat:CONSISTENT", "+blind:ABSENT/low", "+odd:ABSENT")
LETTERS = "abcd"


@st.composite
def verdicts(draw: st.DrawFn) -> str | None:
    verdict = draw(st.sampled_from(VERDICTS))
    return verdict and verdict + draw(st.sampled_from(READINGS)) + draw(st.sampled_from(CHECKS))


@st.composite
def tables(draw: st.DrawFn) -> str:
    lines = []
    for number in range(draw(st.integers(1, 4))):
        states = {letter: draw(st.sampled_from(["", "absent", "notasked"])) for letter in LETTERS}
        present = [letter for letter in LETTERS if not states[letter]]
        tokens = [f"{letter}={state}" for letter, state in states.items() if state]
        for i, a in enumerate(present):
            tokens += [f"{a}{b}={v}" for b in present[i + 1 :] if (v := draw(verdicts()))]
        lines.append(f"q{number} kidney topics=t {' '.join(tokens)} a={states['a'] or 'present'}")
    return "\n".join(lines)


@settings(max_examples=25, deadline=None)
@given(tables())
def test_both_roads_give_the_same_pairs(table: str) -> None:
    with tempfile.TemporaryDirectory() as scratch, pytest.MonkeyPatch.context() as patch:
        folder = release_from(Path(scratch) / "r", table)
        fast = load(folder, Path(scratch) / "fast")
        patch.setattr(BulkRoad, "take", lambda self, paths: list(paths))
        careful = load(folder, Path(scratch) / "careful")
        assert pairs_in(fast) == pairs_in(careful)
        assert readings_in(fast) == readings_in(careful)
        assert checks_in(fast) == checks_in(careful)
        assert fast.run.report["totals"] == careful.run.report["totals"]
        assert fast.run.report["checks"] == careful.run.report["checks"]


def test_a_sound_release_takes_the_fast_road(release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("the careful road was taken")

    monkeypatch.setattr(loading.CarefulRoad, "take", refuse)
    assert len(pairs_in(load(release, tmp_path))) == 12


def test_readings_and_checks_take_the_fast_road_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading.CarefulRoad, "take", lambda *_: pytest.fail("the careful road was taken"))
    loaded = load(release_from(tmp_path, "q1 kidney ab=DIVERGENT!label+swap:CONSISTENT ac=ABSENT bc=ABSENT"), tmp_path)
    assert (len(readings_in(loaded)), len(checks_in(loaded))) == (1, 1)


def test_the_nih_release_takes_the_fast_road(nih: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading.CarefulRoad, "take", lambda *_: pytest.fail("the careful road was taken"))
    load(nih, tmp_path)
