"""The release files of the demo that ships: what the simulator writes at scale small with the default seed, packed."""

from __future__ import annotations

import lzma
import tarfile
import tempfile
from pathlib import Path

from tests.simulator.build import DEFAULT_SEED, write_demo, write_earlier

SHIPPED = Path(__file__).parents[2] / "data" / "demo"
RELEASES = {f"demo-small-{DEFAULT_SEED}": write_demo, f"demo-small-{DEFAULT_SEED}-earlier": write_earlier}
"""Name of a release folder -> what writes it."""


def write_shipped(target: Path) -> None:
    """Write the release files into the folder `target`."""
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        for name, write in RELEASES.items():
            pack(write(Path(scratch) / name), target / f"{name}.tar.xz")


def pack(release: Path, file: Path) -> None:
    """Pack a release folder; the same files give the same members, in the same order and without dates or owners."""
    with tarfile.open(file, "w:xz", format=tarfile.USTAR_FORMAT, preset=9 | lzma.PRESET_EXTREME) as archive:
        for path in sorted(path for path in release.rglob("*") if path.is_file()):
            member = tarfile.TarInfo(f"{release.name}/{path.relative_to(release).as_posix()}")
            member.size = path.stat().st_size
            with path.open("rb") as content:
                archive.addfile(member, content)


def packed_files(file: Path) -> dict[str, bytes]:
    """Content of a release file by the name of each member."""
    with tarfile.open(file) as archive:
        return {member.name: archive.extractfile(member).read() for member in archive}
