"""The same tests on SQLite and on PostgreSQL, and the data folder of the demo with its studies."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from annotation.label_store.engine import LabelStore, open_label_store
from audit.cli.main import main
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
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'studies.db'}"
    server = request.getfixturevalue("postgres")
    name = f"t{os.getpid()}_{next(NUMBERS)}"
    engine = create_engine(server.replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT")
    with engine.connect() as con:
        con.execute(text(f"create database {name}"))
    engine.dispose()
    return server.rpartition("/")[0] + f"/{name}"


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
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder after `audit demo --studies`, one for each module of tests, because some load further runs into it."""
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUDIT_DATA_DIR", str(folder))
        assert main(["demo", "--studies", "--no-serve"]) == 0
    return folder


@pytest.fixture
def in_demo(demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands use the demo's data folder."""
    monkeypatch.setenv("AUDIT_DATA_DIR", str(demo))
