"""The demo that ships: what the simulator writes at scale small with the default seed, its themes and readings of its studies."""

from __future__ import annotations

import lzma
import shutil
import tarfile
import tempfile
from pathlib import Path

from audit.cli.dashboard import readings_name
from audit.pipeline.cli.themes import build_lexical_themes
from audit.settings import Settings
from audit.store.load import load_release
from audit.store.runs import Run
from tests.simulator.annotators import write_readings
from tests.simulator.build import DEFAULT_SEED, write_demo, write_earlier

SHIPPED = Path(__file__).parents[2] / "data" / "demo"
MAIN = f"demo-small-{DEFAULT_SEED}"
RELEASES = {MAIN: write_demo, f"{MAIN}-earlier": write_earlier}
"""Name of a release folder -> what writes it."""


def write_shipped(target: Path) -> None:
    """Write the files of the demo into the folder `target`, in place of what is there."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as scratch:
        settings = Settings(data_dir=Path(scratch))
        for name, write in RELEASES.items():
            pack(write(settings.releases_dir / name), target / f"{name}.tar.xz")
        run, earlier = (load_release(settings.releases_dir / name, settings).run for name in RELEASES)
        write_readings(run, settings, target / readings_name(run))
        write_themes(run, earlier, settings)
        shutil.copytree(settings.themes_dir, target, dirs_exist_ok=True)


def write_themes(run: Run, earlier: Run, settings: Settings) -> None:
    """Write the themes of the demo's two runs into the folder of themes."""
    build_lexical_themes(run, settings)
    build_lexical_themes(earlier, settings, like=run)


def pack(release: Path, file: Path) -> None:
    """Pack a release folder; the same files give the same members, in the same order and without dates or owners."""
    with (
        lzma.open(file, "wb", preset=9 | lzma.PRESET_EXTREME) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for path in sorted(path for path in release.rglob("*") if path.is_file()):
            member = tarfile.TarInfo(f"{release.name}/{path.relative_to(release).as_posix()}")
            member.size = path.stat().st_size
            with path.open("rb") as content:
                archive.addfile(member, content)


def packed_files(file: Path) -> dict[str, bytes]:
    """Content of a release file by the name of each member."""
    with tarfile.open(file) as archive:
        return {member.name: archive.extractfile(member).read() for member in archive}
