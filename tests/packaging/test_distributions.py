"""The wheel and the sdist, built and used outside the checkout as somebody has them who installed the project."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from audit import __version__ as version

ROOT = Path(__file__).resolve().parents[2]
Audit = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist; the wheel is made from the sdist, so that the sdist is complete."""
    out = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT)], check=True, capture_output=True
    )
    return out


@pytest.fixture(scope="module")
def installed(distributions: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the wheel is installed, without its dependencies, which the test's own environment has."""
    target = tmp_path_factory.mktemp("site")
    (wheel,) = distributions.glob("*.whl")
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target), str(wheel)],
        check=True, capture_output=True,
    )  # fmt: skip
    return target


@pytest.fixture
def audit(installed: Path, tmp_path: Path) -> Audit:
    """Runs `audit` from the wheel, in an empty folder."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(installed), "AUDIT_DATA_DIR": str(tmp_path / "data")}
        command = [sys.executable, "-m", "audit", *arguments]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)

    return run


def test_the_wheel_carries_the_dashboard_the_examples_and_its_types(distributions: Path) -> None:
    (wheel,) = distributions.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {
        "audit/dashboard/app.py", "audit/dashboard/pages/start/start.py", "audit/dashboard/.streamlit/config.toml",
        "audit/examples/tenancy/config.toml", "audit/store/schema.sql",
        "audit/py.typed", "annotation/py.typed", "annotation/PROTOCOL.md",
    } <= names  # fmt: skip
    assert not [name for name in names if name.startswith(("tests/", "benchmarks/", "data/"))]


def test_the_wheel_carries_the_demo_and_not_the_simulator_that_made_it(distributions: Path) -> None:
    (wheel,) = distributions.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    shipped = {f"audit/data/demo/{path.name}" for path in (ROOT / "data" / "demo").iterdir()}
    assert len(shipped) == 7
    assert {name for name in names if name.startswith("audit/data/")} == shipped
    toml = {path.name for path in (ROOT / "tests" / "simulator").rglob("*.toml")}
    assert not [name for name in names if "simulator" in name or Path(name).name in toml]


def test_the_sdist_carries_the_tests(distributions: Path) -> None:
    (sdist,) = distributions.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {Path(*Path(name).parts[1:]).as_posix() for name in archive.getnames()}
    assert {"pyproject.toml", "constraints.txt", "CITATION.cff", "tests/conftest.py", ".ci/test", "app.py"} <= names


def test_the_code_comes_from_the_wheel(installed: Path, audit: Audit, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    command = [sys.executable, "-c", "import audit, annotation; print(audit.__file__, annotation.__file__)"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert all(path.startswith(str(installed)) for path in done.stdout.split())
    assert audit("--version").stdout.strip() == version


def test_the_demo_is_opened_and_measured_from_the_wheel(audit: Audit) -> None:
    done = audit("demo", "--no-serve")
    assert done.returncode == 0, done.stderr
    measured = audit("metrics", "organs", "--format", "csv")
    assert measured.returncode == 0, measured.stderr
    assert len(measured.stdout.splitlines()) > 2


def test_from_the_wheel_the_demo_at_paper_scale_is_refused_in_one_sentence(audit: Audit) -> None:
    refused = audit("demo", "--scale", "paper", "--no-serve")
    assert refused.returncode == 2
    assert "the simulator that makes others comes with a checkout of the project. Nothing was written." in refused.stderr


def test_the_example_of_the_readme_comes_with_the_wheel(audit: Audit, tmp_path: Path) -> None:
    done = audit("example", "tenancy", str(tmp_path / "tenancy"))
    assert done.returncode == 0, done.stderr
    planned = audit("run", str(tmp_path / "tenancy" / "config.toml"), "--dry-run")
    assert planned.returncode == 0, planned.stderr
