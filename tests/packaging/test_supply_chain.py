"""Licences and pinned versions: what the check in CI refuses."""

from __future__ import annotations

import importlib.util
import json
import re
import zipfile
from importlib import metadata
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def supply_chain() -> ModuleType:
    """The script of CI as a module of its own for each test."""
    spec = importlib.util.spec_from_file_location("supply_chain", ROOT / ".ci" / "supply_chain.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_is_installed_and_written_passes(supply_chain):
    assert supply_chain.check() == []


@pytest.mark.parametrize(
    ("expression", "refused"),
    [
        ("MIT", []),
        ("Apache-2.0 OR GPL-3.0-only", []),
        ("(MIT OR Apache-2.0)", []),
        ("MIT AND GPL-3.0-only", ["GPL-3.0-only"]),
        ("AGPL-3.0-or-later", ["AGPL-3.0-or-later"]),
        ("", [""]),
    ],
)
def test_an_expression_is_allowed_as_a_lawyer_reads_it(supply_chain, expression, refused):
    assert supply_chain.refused(expression) == refused


@pytest.mark.parametrize(
    ("metadata", "licence"),
    [
        ({"license_expression": "BSD-3-Clause", "license": "GPL"}, "BSD-3-Clause"),
        ({"license": "Copyright 2001\nthe whole text", "classifier": ["License :: OSI Approved :: BSD License"]}, "BSD-3-Clause"),
        ({"classifier": ["License :: OSI Approved :: MIT License"]}, "MIT"),
        ({"classifier": ["License :: OSI Approved :: GNU Affero v3"]}, "GNU Affero v3"),
        ({}, ""),
    ],
)  # fmt: skip
def test_a_licence_is_what_the_metadata_says_first(supply_chain, metadata, licence):
    assert supply_chain.licence("somebody-elses", metadata) == licence


def test_a_package_whose_licence_is_not_allowed_fails(supply_chain):
    supply_chain.ALLOWED.remove("MIT")
    assert any(problem.startswith("sqlalchemy: licence 'MIT'") for problem in supply_chain.check())


def test_another_version_in_constraints_asks_for_the_files_to_be_written_again(supply_chain, tmp_path, monkeypatch):
    (tmp_path / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    constraints = (ROOT / "constraints.txt").read_text()
    assert "\nduckdb==2.0.0\n" in constraints
    (tmp_path / "constraints.txt").write_text(constraints.replace("\nduckdb==2.0.0\n", "\nduckdb==2.0.1\n"))
    monkeypatch.setattr(supply_chain, "ROOT", tmp_path)
    assert [problem.split(" has ")[0] for problem in supply_chain.check()] == [
        "duckdb: requirements-hashed.txt", "duckdb: bom.cdx.json",
    ]  # fmt: skip


def test_the_bill_of_materials_names_every_package_with_its_licence_files_and_needs():
    bill = json.loads((ROOT / "examples" / "deploy" / "bom.cdx.json").read_text())
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    parts = {part["bom-ref"]: part for part in bill["components"]}
    assert parts["numpy"]["purl"] == f"pkg:pypi/numpy@{parts['numpy']['version']}"
    assert all(part["licenses"][0]["expression"] and part["externalReferences"] for part in parts.values())
    needs = {need["ref"]: need["dependsOn"] for need in bill["dependencies"]}
    assert "numpy" in needs["pandas"]
    assert {ref for refs in needs.values() for ref in refs} <= set(parts)


def test_every_pinned_version_can_be_installed_for_the_python_of_debian_12():
    """It is 3.11.2; a pin for 3.11.5 and newer made the command that sets up the tests end in "conflicting dependencies"."""
    needs = {found.name: found.metadata.get("Requires-Python") for found in metadata.distributions()}
    assert {name for name, need in needs.items() if need and not SpecifierSet(need).contains("3.11.2")} == set()


def test_every_extra_has_hashes_on_top_of_the_base_install_and_building_has_its_own(supply_chain):
    def names(part: str) -> set[str]:
        return set(re.findall(r"^([\w.-]+)==", supply_chain.file_of(part).read_text(), re.MULTILINE))

    for part, texts in supply_chain.wanted().items():
        text = supply_chain.file_of(part).read_text()
        assert text.count("--hash=sha256:") >= text.count("==")
        assert {canonicalize_name(Requirement(one).name) for one in texts} <= names(part) | names("base")
        assert part in ("base", "build") or not names(part) & names("base")
    assert {"hatchling", "packaging", "pathspec", "pluggy"} <= names("build")
    left_out = set(supply_chain.tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])
    assert left_out - set(supply_chain.EXTRAS) == {"models", "all"}


def test_a_known_vulnerability_is_found_in_the_list_without_a_network(supply_chain, tmp_path):
    bill = json.loads((ROOT / "examples" / "deploy" / "bom.cdx.json").read_text())
    (version,) = [part["version"] for part in bill["components"] if part["name"] == "sqlalchemy"]
    known = {"id": "PYSEC-1", "affected": [{"package": {"name": "SQLAlchemy"}, "versions": [version]}]}
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("PYSEC-1.json", json.dumps(known))
        archive.writestr("PYSEC-2.json", json.dumps({**known, "id": "PYSEC-2", "withdrawn": "2026-01-01T00:00:00Z"}))
    assert supply_chain.vulnerabilities(str(tmp_path / "all.zip")) == [f"pkg:pypi/sqlalchemy@{version}: PYSEC-1"]


def test_without_a_network_and_a_list_the_check_says_that_it_skips(supply_chain, monkeypatch, capsys):
    monkeypatch.setattr(supply_chain, "OSV", "http://127.0.0.1:1/")
    assert supply_chain.ask_for_vulnerabilities([]) == []
    assert "skipped" in capsys.readouterr().out
