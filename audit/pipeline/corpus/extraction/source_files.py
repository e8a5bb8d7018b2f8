"""The files of handbooks among paths and folders, and what else lies there: nothing is passed over without a word."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field
from pathlib import Path

from audit.errors import DocumentError
from audit.pipeline.corpus.extraction.formats import FORMATS
from audit.pipeline.corpus.extraction.identity import catalog_key, fields_of_file_name
from audit.text.corrections import SUFFIX as CORRECTIONS

PDF = ".pdf"
SUPPORTED = (PDF, *FORMATS)
# A browser saves the pictures and scripts of page.html into page_files
SAVED_PARTS = ("_files", "-Dateien", "_archivos", "_fichiers")
# Files about the folder
ABOUT = {"readme", "license", "licence", "notice", "sources", "changelog"}
MAX_NAMES = 5


@dataclass
class SourceFiles:
    """The source of each handbook (a file, or a folder of pages that is one handbook), and the files that cannot be read.

    corrections  files of corrections by people, which are beside the sources
    """

    sources: list[Path] = field(default_factory=list)
    corrections: list[Path] = field(default_factory=list)
    unsupported: list[Path] = field(default_factory=list)

    @property
    def note(self) -> str:
        """A sentence on the unsupported files; "" without any."""
        if not self.unsupported:
            return ""
        names = ", ".join(path.name for path in self.unsupported[:MAX_NAMES])
        more = f" and {len(self.unsupported) - MAX_NAMES:,} more" if len(self.unsupported) > MAX_NAMES else ""
        why = "because they are links or their formats are not supported"
        return f"Not read, {why}: {names}{more}. Save them as one of {', '.join(SUPPORTED)}."


def source_files(paths: Iterable[Path], named: Set[str] = frozenset(), ignored: Set[Path] = frozenset()) -> SourceFiles:
    """The sources among the paths and in the folders among them, subfolders included, by name.

    named    names in the catalog: a folder that it names is one handbook
    ignored  files that are not handbooks, such as the catalog

    Raises DocumentError where a path does not exist or a folder has no file that can be read.
    """
    files = SourceFiles()
    for path in paths:
        before = len(files.sources)
        for source in _sources_in(path, named, is_given=True) if path.exists() else ():
            if source.is_symlink() and source != path:
                files.unsupported.append(source)
            elif source.suffix.casefold() in SUPPORTED or source.is_dir():
                files.sources.append(source)
            elif source.name.endswith(CORRECTIONS):
                files.corrections.append(source)
            elif source.resolve() not in ignored:
                files.unsupported.append(source)
        if len(files.sources) == before:
            raise DocumentError(
                f"{path}: {_problem(path)}. Nothing was extracted. Name a file or folder with {', '.join(SUPPORTED)}."
            )
    return files


def _problem(path: Path) -> str:
    if not path.exists():
        return "there is no such file or folder"
    return "there are no files of handbooks in this folder" if path.is_dir() else "this format is not supported"


def _sources_in(path: Path, named: Set[str], is_given: bool = False) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    if is_one_handbook(path, named):
        yield path
        return
    for entry in sorted(path.iterdir()):
        hidden = entry.name.startswith((".", "~$"))
        about = entry.is_file() and entry.stem.casefold() in ABOUT and catalog_key(entry.name) not in named
        if entry.is_symlink():  # it may lead to any file of this machine, whose text would be sent to a model
            yield entry
        elif not (hidden or about or (entry.is_dir() and entry.name.endswith(SAVED_PARTS))):
            yield from _sources_in(entry, named)


def without_handbook(corrections: Iterable[Path], handbooks: Set[str]) -> list[str]:
    """A sentence on each file of corrections that belongs to none of these handbooks: a misspelled name would lose it."""
    return [
        f"{path}: no handbook here has the id '{name}', so its corrections were not used. Rename it to HANDBOOK_ID{CORRECTIONS}."
        for path in corrections
        if (name := path.name.removesuffix(CORRECTIONS)) not in handbooks
    ]


def is_one_handbook(folder: Path, named: Set[str] = frozenset()) -> bool:
    """Whether a folder of web pages or texts is one handbook: the catalog names it, or its name is organ_center_phase."""
    if catalog_key(folder.name) not in named and not fields_of_file_name(folder):
        return False
    files = [path.suffix.casefold() for path in folder.rglob("*") if path.is_file()]
    return PDF not in files and any(suffix in FORMATS for suffix in files)
