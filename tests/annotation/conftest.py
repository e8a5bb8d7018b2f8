"""The same tests on SQLite and on PostgreSQL, and the data folder of the demo with its studies."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotation.label_store.engine import LabelStore, open_label_store
from tests.support.label_stores import postgres_database, postgres_template
from tests.support.postgres import NoPostgresError, postgres_server

NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a PostgreSQL server for this run of the tests."""
    try:
        with postgres_server() as url:
            yield url
    except NoPostgresError as reason:
        if os.environ.get("AUDIT_REQUIRE_POSTGRES"):
            raise
        pytest.skip(str(reason))


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str:
    """The kind of database."""
    kind: str = request.param
    return kind


@pytest.fixture(scope="session")
def template(postgres: str) -> str:
    """A database with the tables of a label store, to copy."""
    return postgres_template(postgres, f"template_{os.getpid()}", open_label_store)


@pytest.fixture
def url(database: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A database: empty, or for a test with a `store` one with its tables."""
    if database == "sqlite":
        return f"sqlite:///{tmp_path / 'studies.db'}"
    if "AUDIT_DATA_DIR" not in os.environ:  # where it is noted what a database of a server held
        monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path))
    copied = request.getfixturevalue("template") if "store" in request.fixturenames else None
    return postgres_database(request.getfixturevalue("postgres"), f"t{os.getpid()}_{next(NUMBERS)}", copied)


@pytest.fixture
def store(url: str) -> Iterator[LabelStore]:
    """A label store without studies."""
    opened = open_label_store(url)
    yield opened
    opened.close()


@pytest.fixture
def lite(tmp_path: Path) -> Iterator[LabelStore]:
    """The same on SQLite alone, where the database makes no difference."""
    opened = open_label_store(f"sqlite:///{tmp_path / 'lite.db'}")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def demo(demo_with_studies: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder after `audit demo --studies`, one for each module of tests, because some load further runs into it."""
    return Path(shutil.copytree(demo_with_studies, tmp_path_factory.mktemp("demo"), dirs_exist_ok=True))


@pytest.fixture
def in_demo(demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands use the demo's data folder."""
    monkeypatch.setenv("AUDIT_DATA_DIR", str(demo))
