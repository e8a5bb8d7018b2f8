"""What the program is made of: hashes, a bill of materials and licences, in `examples/deploy`.

    python .ci/supply_chain.py          check, without the network: what is installed has an allowed licence, and the files name
                                        the versions of constraints.txt
    python .ci/supply_chain.py write    ask the package index by pip, and write the files

requirements-hashed.txt            the base install with the sha256 of every wheel for Linux and the Pythons below
hashed/EXTRA.txt                   what an extra needs besides, in the same form; build.txt: what building the wheel needs
bom.cdx.json                       all of these as a CycloneDX 1.6 bill of materials; wheels carry it in .dist-info/sboms
licences.md                        the same as a table

    python .ci/supply_chain.py vulnerabilities [FILE]    ask OSV (osv.dev) about every version in the bill of materials, or look
                                        in FILE, its list of PyPI (all.zip), without the network; without either it skips
"""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
import sys
import tempfile
import tomllib
import urllib.request
import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "examples" / "deploy"
PYTHONS, MACHINES = ("3.11", "3.12", "3.13"), ("x86_64", "aarch64")
BASE = "base"
EXTRAS = ("pipeline", "postgres", "oidc", "figures", "cluster", "cloud-parser")
"""Those with hashes. `models` is not: which torch is right depends on the machine's accelerator."""
MACHINES_OF_EXTRAS = ("x86_64",)
"""A package of `pipeline` (pytrec-eval-terrier) has no wheel for Linux on others."""
SOURCE_ONLY = ("rouge-score",)
"""Packages of extras without a wheel: the hash is that of the source."""
GLIBC = ("2_28", "2_27", "2_26", "2_24", "2_17")
ALLOWED = {
    "0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "CNRI-Python",
    "HPND", "ISC", "MIT", "MIT-0", "MIT-CMU", "MPL-2.0", "PSF-2.0", "Python-2.0", "Unlicense", "Zlib",
}  # fmt: skip
"""SPDX identifiers. MPL-2.0 asks for the source of its own files only."""
DATA = {
    "the demonstration run, the example of a tenancy, lists of words and figures: written for this program": "Apache-2.0",
    "static vectors of words, distilled from all-MiniLM-L6-v2": "Apache-2.0",
}
OSV = "https://api.osv.dev/v1/querybatch"
EXCEPTIONS = {
    "psycopg": "LGPL-3.0-only",
    "psycopg-binary": "LGPL-3.0-only",
    "python-stdnum": "LGPL-2.1-or-later",
    "ppi-python": "MIT",
    "pypdfium2": "BSD-3-Clause AND Apache-2.0",
    "scipy": "BSD-3-Clause",
    "altair": "BSD-3-Clause",
    "kaleido": "MIT",
    "logistro": "MIT",
}
"""Packages of extras under the LGPL, which are imported unchanged; and packages whose metadata does not name their licence."""
SPELLINGS = {
    "mit license": "MIT",
    "the mit license (mit)": "MIT",
    "apache software license": "Apache-2.0",
    "apache 2.0": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache 2.0 license": "Apache-2.0",
    "apache license, version 2.0": "Apache-2.0",
    "bsd": "BSD-3-Clause",
    "bsd license": "BSD-3-Clause",
    "bsd 3-clause": "BSD-3-Clause",
    "3-clause bsd license": "BSD-3-Clause",
    "2-clause bsd": "BSD-2-Clause",
    "isc license": "ISC",
    "psfl": "PSF-2.0",
    "python software foundation license": "PSF-2.0",
}
"""Older metadata, in lower case. `BSD License` is read as the variant that most packages mean."""


# -- licences ----------------------------------------------------------------------------------------------------------


def licence(name: str, metadata: Mapping[str, Any]) -> str:
    """The SPDX expression of a package: what its metadata says first; "" where it says nothing that is understood.

    metadata  pip's report: `license_expression`, `license`, `classifier`
    """
    if exception := EXCEPTIONS.get(canonicalize_name(name)):
        return exception
    old = (metadata.get("license") or "").strip()
    classifiers = [line.rpartition(" :: ")[2] for line in metadata.get("classifier") or () if line.startswith("License ::")]
    for text in filter(None, [metadata.get("license_expression"), old, *classifiers]):
        expression = SPELLINGS.get(text.casefold(), text)
        if refused(expression) == []:
            return expression
    return str(metadata.get("license_expression") or old or ", ".join(classifiers)).split("\n")[0]


def refused(expression: str) -> list[str]:
    """The identifiers of an expression that are not allowed. Of alternatives (OR) one allowed is enough."""
    alternatives = [re.split(r" AND ", part.strip(" ()")) for part in expression.split(" OR ")]
    rest = [[name.strip(" ()") for name in names if name.strip(" ()") not in ALLOWED] for names in alternatives]
    return min(rest, key=len)


def installed(requirements: Iterable[str]) -> dict[str, importlib.metadata.Distribution]:
    """Everything installed that these requirements need, directly or through others, by canonical name."""
    found: dict[str, importlib.metadata.Distribution] = {}
    waiting = [Requirement(text) for text in requirements]
    seen = set()
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        if (name, *sorted(wanted.extras)) in seen:
            continue
        seen.add((name, *sorted(wanted.extras)))
        try:
            found[name] = importlib.metadata.distribution(wanted.name)
        except importlib.metadata.PackageNotFoundError:
            continue  # of an extra that is not installed here
        needs = [Requirement(text) for text in found[name].requires or ()]
        extras = wanted.extras or {""}
        waiting += [need for need in needs if not need.marker or any(need.marker.evaluate({"extra": e}) for e in extras)]
    return found


def check() -> list[str]:
    """What is wrong, a line each."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [text for name, texts in project["optional-dependencies"].items() if name != "all" for text in texts]
    return [
        *_licences_of(installed([*project["dependencies"], *extras])),
        *_versions_of(installed(text for texts in wanted().values() for text in texts)),
    ]


def _licences_of(distributions: Mapping[str, importlib.metadata.Distribution]) -> Iterator[str]:
    for name, distribution in distributions.items():
        metadata = distribution.metadata.json
        expression = licence(name, metadata)
        if name not in EXCEPTIONS and (not expression or refused(expression)):
            yield f"{name}: licence '{expression or 'none given'}' is not in the list of allowed ones (.ci/supply_chain.py)."


def _versions_of(distributions: Mapping[str, importlib.metadata.Distribution]) -> Iterator[str]:
    pins = dict(re.findall(r"^([\w.-]+)==(\S+)", (ROOT / "constraints.txt").read_text(), re.MULTILINE))
    pinned = {canonicalize_name(name): version for name, version in pins.items()}
    texts = [file_of(part).read_text() for part in (BASE, *EXTRAS, "build")]
    hashed = {name: version for text in texts for name, version in re.findall(r"^([\w.-]+)==(\S+) \\$", text, re.MULTILINE)}
    listed = {part["name"]: part["version"] for part in json.loads((OUT / "bom.cdx.json").read_text())["components"]}
    again = "Run: python .ci/supply_chain.py write"
    for name in distributions:
        for file, versions in (("requirements-hashed.txt", hashed), ("bom.cdx.json", listed)):
            if versions.get(name) != pinned.get(name):
                yield f"{name}: {file} has version {versions.get(name)}, constraints.txt {pinned.get(name)}. {again}"


# -- the files ---------------------------------------------------------------------------------------------------------


def write() -> None:
    """Ask the package index for every Python and machine, and write the files."""
    parts = wanted()
    packages: dict[str, dict[str, Any]] = {}
    texts = [text for texts in parts.values() for text in texts]
    sources = [Requirement(text).name for text in texts if Requirement(text).name in SOURCE_ONLY]
    built = _reported([*sources, "--no-deps", "--no-build-isolation"])
    texts = [text for text in texts if Requirement(text).name not in SOURCE_ONLY]
    texts += [need for package in built for need in package["metadata"].get("requires_dist") or ()]
    for python in PYTHONS:
        for machine in MACHINES:
            both = texts if machine in MACHINES_OF_EXTRAS else [*parts[BASE], *parts["build"]]
            for package in [*built, *resolved(both, python, machine)]:
                name = canonicalize_name(package["metadata"]["name"])
                known = packages.setdefault(name, {**package["metadata"], "files": {}, "parts": set()})
                known["files"][package["download_info"]["url"]] = package["download_info"]["archive_info"]["hashes"]["sha256"]
    for part, texts in parts.items():
        for name in closure(texts, packages):
            packages[name]["parts"].add(part)
    ordered = dict(sorted(packages.items()))
    (OUT / "hashed").mkdir(exist_ok=True)
    for part in parts:
        own = {name: package for name, package in ordered.items() if _belongs(package["parts"], part)}
        file_of(part).write_text(hashed_requirements(own))
    (OUT / "bom.cdx.json").write_text(json.dumps(bill_of_materials(ordered), indent=1) + "\n")
    (OUT / "licences.md").write_text(licence_table(ordered))


def wanted() -> dict[str, list[str]]:
    """Requirements by part: the base install, the extras with hashes, and what building needs."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = settings["project"]["optional-dependencies"]
    build = settings["build-system"]["requires"]
    return {BASE: settings["project"]["dependencies"], **{name: extras[name] for name in EXTRAS}, "build": build}


def file_of(part: str) -> Path:
    """The file with the hashes of a part."""
    return OUT / "requirements-hashed.txt" if part == BASE else OUT / "hashed" / f"{part}.txt"


def _belongs(parts: Collection[str], part: str) -> bool:
    # An extra comes on top of the base install; the wheel is built where nothing else is
    return part in parts and (part in (BASE, "build") or BASE not in parts)


def closure(requirements: Iterable[str], packages: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """The packages that these requirements need, directly or through others, on some Python or machine."""
    found, seen, waiting = set(), set(), [Requirement(text) for text in requirements]
    while waiting:
        need = waiting.pop()
        name, extras = canonicalize_name(need.name), tuple(sorted(need.extras))
        if (name, extras) in seen or name not in packages:
            continue
        seen.add((name, extras))
        found.add(name)
        for inner in map(Requirement, packages[name].get("requires_dist") or ()):
            asked = re.findall(r"extra == .([\w.-]+)", str(inner.marker or ""))
            if not asked or {canonicalize_name(extra) for extra in asked} & {canonicalize_name(extra) for extra in extras}:
                waiting.append(inner)
    return found


def resolved(requirements: Iterable[str], python: str, machine: str) -> list[dict[str, Any]]:
    """What pip would install there, from its report: one entry a package, with its file and metadata."""
    short = python.replace(".", "")
    platforms = [f"--platform=manylinux_{glibc}_{machine}" for glibc in GLIBC] + [f"--platform=manylinux2014_{machine}"]
    abis = [f"--abi={abi}" for abi in (f"cp{short}", "abi3", "none")]
    with tempfile.TemporaryDirectory() as scratch:
        wanted = Path(scratch) / "wanted.txt"
        wanted.write_text("\n".join(requirements))
        return _reported([
            "--only-binary=:all:", f"--python-version={python}", "--implementation=cp", *abis, *platforms,
            f"--target={scratch}/none", f"--requirement={wanted}",
        ])  # fmt: skip


def _reported(arguments: Iterable[str]) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.json"
        subprocess.run(
            [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", f"--report={report}",
             f"--constraint={ROOT / 'constraints.txt'}", *arguments],
            check=True,
        )  # fmt: skip
        entries: list[dict[str, Any]] = json.loads(report.read_text())["install"]
        return entries


def hashed_requirements(packages: Mapping[str, Mapping[str, Any]]) -> str:
    """The text of requirements-hashed.txt."""
    where = f"Linux ({', '.join(MACHINES)}), Python {', '.join(PYTHONS)}"
    extras = f"extras: {', '.join(MACHINES_OF_EXTRAS)}"
    lines = [f"# Written by .ci/supply_chain.py for {where}; {extras}. pip install --require-hashes -r FILE"]
    for name, package in packages.items():
        hashes = [f"    --hash=sha256:{digest}" for digest in sorted(set(package["files"].values()))]
        lines.append(" \\\n".join([f"{name}=={package['version']}", *hashes]))
    return "\n".join(lines) + "\n"


def bill_of_materials(packages: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """CycloneDX 1.6: the program, every package with its files, its licence and what it is for, and which needs which."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    program = {"type": "application", "bom-ref": project["name"], "name": project["name"],
               "licenses": [{"license": {"id": project["license"]}}]}  # fmt: skip
    needs = {project["name"]: project["dependencies"], **{name: p.get("requires_dist") or () for name, p in packages.items()}}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": program},
        "components": [_component(name, package) for name, package in packages.items()],
        "dependencies": [{"ref": name, "dependsOn": sorted(_needed(texts) & packages.keys())} for name, texts in needs.items()],
    }


def _needed(requirements: Iterable[str]) -> set[str]:
    parsed = [Requirement(text) for text in requirements]
    return {canonicalize_name(need.name) for need in parsed if not need.marker or "extra" not in str(need.marker)}


def _component(name: str, package: Mapping[str, Any]) -> dict[str, Any]:
    files = [
        {"type": "distribution", "url": url, "hashes": [{"alg": "SHA-256", "content": digest}]}
        for url, digest in sorted(package["files"].items())
    ]
    return {
        "type": "library",
        "bom-ref": name,
        "name": name,
        "version": package["version"],
        "purl": f"pkg:pypi/{name}@{package['version']}",
        "scope": "required" if BASE in package["parts"] else "optional",
        "licenses": [{"expression": licence(name, package)}],
        "properties": [{"name": "handbook-audit:needed-by", "value": part} for part in sorted(package["parts"])],
        "externalReferences": files,
    }


def licence_table(packages: Mapping[str, Mapping[str, Any]]) -> str:
    """The text of licences.md."""
    rows = [
        f"| {name} | {package['version']} | {licence(name, package)} | {', '.join(sorted(package['parts']))} |"
        for name, package in packages.items()
    ]
    head = "# Licences of the base install, of the extras and of the data\n\nWritten by `.ci/supply_chain.py`."
    head += "\n\n| package | version | licence (SPDX) | needed by |\n|---|---|---|---|"
    data = "\n\n| data in the package | licence |\n|---|---|\n" + "\n".join(
        f"| {what} | {terms} |" for what, terms in DATA.items()
    )
    return "\n".join([head, *rows]) + data + "\n"


# -- known vulnerabilities ---------------------------------------------------------------------------------------------


def vulnerabilities(file: str = "") -> list[str]:
    """What is known against the versions in the bill of materials, a line each. Raises OSError where OSV cannot be asked."""
    parts = json.loads((OUT / "bom.cdx.json").read_text())["components"]
    if file:
        return list(_listed_in(Path(file), {part["name"]: part["version"] for part in parts}))
    queries = [{"package": {"purl": part["purl"]}} for part in parts]
    asked = urllib.request.Request(OSV, json.dumps({"queries": queries}).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(asked, timeout=20) as reply:
        results = json.load(reply)["results"]
    return [f"{part['purl']}: {one['id']}" for part, found in zip(parts, results, strict=True) for one in found.get("vulns", ())]


def _listed_in(file: Path, versions: Mapping[str, str]) -> Iterator[str]:
    with zipfile.ZipFile(file) as archive:
        for name in archive.namelist():
            entry = json.loads(archive.read(name))
            for affected in entry.get("affected", ()) if "withdrawn" not in entry else ():
                package = canonicalize_name(affected.get("package", {}).get("name", ""))
                if versions.get(package) in affected.get("versions", ()):
                    yield f"pkg:pypi/{package}@{versions[package]}: {entry['id']}"


def ask_for_vulnerabilities(arguments: list[str]) -> list[str]:
    """`vulnerabilities`, or one sentence that nothing could be asked."""
    try:
        known = vulnerabilities(*arguments)
    except OSError as error:
        print(f"Vulnerabilities: skipped, because OSV cannot be asked ({error}). Name its list: vulnerabilities all.zip")
        return []
    print("\n".join(known) or "Vulnerabilities: none is known of the versions in the bill of materials.")
    return known


if __name__ == "__main__":
    if sys.argv[1:] == ["write"]:
        write()
    if sys.argv[1:2] == ["vulnerabilities"]:
        sys.exit(bool(ask_for_vulnerabilities(sys.argv[2:])))
    problems = check()
    print("\n".join(problems) or "Supply chain: allowed licences, and files that agree with constraints.txt.")
    sys.exit(bool(problems))
