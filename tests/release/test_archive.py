"""Releases in archives: the same run as the folder, nothing outside it, and no bomb."""

from __future__ import annotations

import io
import random
import shutil
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from audit.errors import ReleaseError
from audit.settings import Settings
from tests.support.loading import load, pairs_in, quarantined


def zipped(folder: Path, target: Path, prefix: str = "") -> Path:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, prefix + path.relative_to(folder).as_posix())
    return target


def tarred(folder: Path, target: Path) -> Path:
    with tarfile.open(target, "w:gz") as archive:
        archive.add(folder, arcname="wrapped")
    return target


def test_a_zip_and_a_tar_are_the_same_run_as_their_folder(release: Path, tmp_path: Path) -> None:
    plain = load(release, tmp_path / "a")
    from_zip = load(zipped(release, tmp_path / "r.zip"), tmp_path / "b")
    from_tar = load(tarred(release, tmp_path / "r.tar.gz"), tmp_path / "c")
    assert pairs_in(plain) == pairs_in(from_zip) == pairs_in(from_tar)
    assert plain.run.digest == from_zip.run.digest == from_tar.run.digest


def test_a_member_that_climbs_out_is_refused_and_the_others_are_loaded(release: Path, tmp_path: Path) -> None:
    path = zipped(release, tmp_path / "r.zip")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("../../climbed.json", "{}")
        archive.writestr("/absolute.json", "{}")
        archive.writestr("C:/drive.json", "{}")
    loaded = load(path, tmp_path / "data")
    assert [code for _, _, code in quarantined(loaded)] == ["unsafe_path"] * 3
    assert len(pairs_in(loaded)) == 12
    assert not list(tmp_path.rglob("climbed.json"))
    assert not loaded.run.report["clean"]


@pytest.mark.parametrize("packed", [zipped, tarred])
def test_an_archive_that_is_no_release_is_named_and_not_where_it_was_unpacked(
    tmp_path: Path, packed: Callable[[Path, Path], Path]
) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "one.txt").write_text("no release")
    archive = packed(tmp_path / "photos", tmp_path / "photos.packed")
    with pytest.raises(ReleaseError) as error:
        load(archive, tmp_path / "data")
    assert str(error.value).startswith(
        f"{archive}: this is not a release: it has no handbooks and no questions and no comparisons."
    )


def test_a_link_in_a_tar_is_refused(release: Path, tmp_path: Path) -> None:
    path = tmp_path / "r.tar"
    with tarfile.open(path, "w") as archive:
        archive.add(release, arcname=".")
        link = tarfile.TarInfo("comparisons/q3.json")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    assert [code for _, _, code in quarantined(load(path, tmp_path / "data"))] == ["unsafe_path"]


def test_a_bomb_is_stopped_before_it_fills_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDIT_MAX_ARCHIVE_MB", "5")
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("questions.jsonl", b"\0" * 50_000_000)
    with pytest.raises(ReleaseError, match=r"more than 5 MB .* zip bomb.* Nothing was loaded.* AUDIT_MAX_ARCHIVE_MB"):
        load(tmp_path / "bomb.zip", tmp_path / "data")
    assert not list((tmp_path / "data").rglob("*"))


def test_a_release_that_would_fill_the_disk_is_stopped_before_it_does(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1_000))
    with pytest.raises(ReleaseError, match=r"half of what is free in .* is used"):
        load(zipped(release, tmp_path / "r.zip"), tmp_path / "data")
    assert not list((tmp_path / "data").rglob("*"))


def test_a_bomb_that_lies_about_its_size_is_stopped_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDIT_MAX_ARCHIVE_MB", "1")
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("questions.jsonl", b"\0" * 5_000_000)
    lying = content.getvalue().replace((5_000_000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    (tmp_path / "bomb.zip").write_bytes(lying)
    with pytest.raises(ReleaseError):
        load(tmp_path / "bomb.zip", tmp_path / "data")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("r.zip", b"PK\x03\x04 and then nothing", "neither a folder nor an archive"),
        ("r.txt", b"hello", "neither a folder nor an archive"),
        ("r.tar.gz", b"\x1f\x8b\x08\x00 cut", "damaged"),
    ],
)
def test_what_is_no_archive_is_said(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ReleaseError, match=words):
        load(tmp_path / name, tmp_path / "data")


def marked(path: Path, offset_in_local: int, value: int) -> Path:
    """The archive with one byte of each member's headers replaced: the central one has it two bytes farther on."""
    raw = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", offset_in_local), (b"PK\x01\x02", offset_in_local + 2)):
        place = raw.find(signature)
        while place >= 0:
            raw[place + offset] = value
            place = raw.find(signature, place + 4)
    path.write_bytes(raw)
    return path


@pytest.mark.parametrize(("offset", "value"), [(6, 1), (8, 99)], ids=["password", "unknown packing"])
def test_an_archive_that_cannot_be_unpacked_here_is_said(release: Path, tmp_path: Path, offset: int, value: int) -> None:
    path = marked(zipped(release, tmp_path / "r.zip"), offset, value)
    with pytest.raises(ReleaseError, match=r"cannot be unpacked .* Nothing was loaded"):
        load(path, tmp_path / "data")


def xz(folder: Path, target: Path) -> Path:
    with tarfile.open(target, "w:xz") as archive:
        archive.add(folder, arcname="wrapped")
    return target


@pytest.mark.parametrize(("pack", "place"), [(zipped, 60), (xz, 20_000)])
def test_an_archive_with_spoiled_content_is_said(
    release: Path, tmp_path: Path, pack: Callable[[Path, Path], Path], place: int
) -> None:
    (release / "notes.txt").write_text(random.Random(1).randbytes(50_000).hex())
    path = pack(release, tmp_path / "r")
    raw = bytearray(path.read_bytes())
    raw[place : place + 60] = bytes(byte ^ 0x5A for byte in raw[place : place + 60])
    path.write_bytes(raw)
    with pytest.raises(ReleaseError, match="damaged"):
        load(path, tmp_path / "data")


def test_a_member_without_a_name_is_refused(release: Path, tmp_path: Path) -> None:
    path = zipped(release, tmp_path / "r.zip")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(".", "x")
    assert [code for _, _, code in quarantined(load(path, tmp_path / "data"))] == ["unsafe_path"]


def test_a_damaged_archive_is_said(release: Path, tmp_path: Path) -> None:
    path = tarred(release, tmp_path / "r.tar.gz")
    path.write_bytes(path.read_bytes()[:-300])
    with pytest.raises(ReleaseError, match="damaged"):
        load(path, tmp_path / "data")


def test_nothing_there_is_said_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match=r"no such file or folder\. Nothing was loaded\. Give"):
        load(tmp_path / "nowhere", tmp_path / "data")


def test_a_folder_that_is_no_release_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="no handbooks and no questions and no comparisons"):
        load(tmp_path, tmp_path / "data")
    assert Settings(data_dir=tmp_path / "data").store_dir.exists() is False


def test_a_member_whose_name_speaks_to_a_terminal_is_reported_on_one_plain_line(release: Path, tmp_path: Path) -> None:
    path = zipped(release, tmp_path / "r.zip")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("../\x1b[31m\nerror: forged", "x")
    report = load(path, tmp_path / "data").report
    (line,) = [finding.sentence() for finding in report.findings if finding.code == "unsafe_path"]
    assert "\x1b" not in line
    assert "\n" not in line
