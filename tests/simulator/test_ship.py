"""The demo that ships is what the simulator writes."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from audit.cli.dashboard import SHIPPED_BYTES, SHIPPED_SCALE, SHIPPED_SEED, readings_name
from audit.queries.themes import taxonomy_path
from audit.release.layout import PARTS
from audit.release.taxonomy import read_taxonomy
from audit.settings import Settings
from audit.store.runs import find_run
from tests.simulator.annotators import write_readings
from tests.simulator.build import DEFAULT_SEED
from tests.simulator.ship import RELEASES, SHIPPED, pack, packed_files, write_themes
from tests.support.archives import differing_files


@pytest.mark.parametrize("name", RELEASES)
def test_the_simulator_still_writes_the_same_bytes(name: str, tmp_path: Path) -> None:
    """After an intended change: python -m tests.simulator --ship."""
    written = RELEASES[name](tmp_path / name)
    files = {f"{name}/{path.relative_to(written).as_posix()}": path.read_bytes() for path in written.rglob("*") if path.is_file()}
    assert differing_files(packed_files(SHIPPED / f"{name}.tar.xz"), files) == []


def test_the_simulated_annotators_still_find_the_same(demo_folder: Path, tmp_path: Path) -> None:
    settings = Settings(data_dir=demo_folder)
    run = find_run(settings.store_dir, "demo")
    write_readings(run, settings, tmp_path / "readings.jsonl")
    assert (tmp_path / "readings.jsonl").read_bytes() == (SHIPPED / readings_name(run)).read_bytes()


def test_the_same_themes_are_still_built(demo_folder: Path, tmp_path: Path) -> None:
    shown, built = Settings(data_dir=demo_folder), Settings(data_dir=tmp_path)
    runs = [find_run(shown.store_dir, name) for name in ("demo", "demo-earlier")]
    write_themes(*runs, built)
    for run in runs:
        ours, shipped = (read_taxonomy(taxonomy_path(run, folder)) for folder in (built.themes_dir, SHIPPED))
        # The file names the versions that built it, and the map's last digits may differ with them
        assert (ours.themes, ours.no_theme, ours.counts) == (shipped.themes, shipped.no_theme, shipped.counts)
        assert ours.built | {"versions": {}} == shipped.built | {"versions": {}}
        maps = (pd.read_parquet(taxonomy_path(run, folder).with_suffix(".parquet")) for folder in (built.themes_dir, SHIPPED))
        pd.testing.assert_frame_equal(*maps, rtol=1e-3)


def test_the_command_opens_what_ships() -> None:
    assert (SHIPPED_SCALE, SHIPPED_SEED) == ("small", DEFAULT_SEED)
    for name in RELEASES:
        assert sum(map(len, packed_files(SHIPPED / f"{name}.tar.xz").values())) < SHIPPED_BYTES
    assert {path.name for path in SHIPPED.glob("*.tar.xz")} == {f"{name}.tar.xz" for name in RELEASES}
    assert len(list(SHIPPED.glob("*.readings.jsonl"))) == 1


def test_the_same_files_are_packed_to_the_same_bytes(tmp_path: Path) -> None:
    packed = []
    for folder in ("first", "second"):
        release = tmp_path / folder / "release"
        release.mkdir(parents=True)
        for kind in reversed(PARTS) if packed else PARTS:  # written in another order, at another time
            (release / f"{kind}.jsonl").write_text(kind)
        pack(release, tmp_path / f"{folder}.tar.xz")
        packed.append((tmp_path / f"{folder}.tar.xz").read_bytes())
    assert packed[0] == packed[1]
