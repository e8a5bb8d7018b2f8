"""Files in memory, and archives of them that come out the same whenever they are made."""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from collections.abc import Mapping

Files = Mapping[str, bytes]
"""Path inside the package, with slashes -> content."""
LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a ZIP archive can tell."""
MODIFIED = re.compile(rb"(<dcterms:(created|modified)[^>]*>)[^<]*")


def zipped(files: Files) -> bytes:
    """An archive of the files, sorted by path, without the time it was made at."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for path in sorted(files):
            entry = zipfile.ZipInfo(path, LONG_AGO)
            entry.compress_type, entry.external_attr, entry.create_system = zipfile.ZIP_DEFLATED, 0o644 << 16, 3
            archive.writestr(entry, files[path])
    return buffer.getvalue()


def timeless(workbook: bytes) -> bytes:
    """A workbook (.xlsx) without the time it was made at, so that the same content is the same file."""
    with zipfile.ZipFile(io.BytesIO(workbook)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    core = "docProps/core.xml"
    return zipped({**parts, core: MODIFIED.sub(rb"\g<1>1980-01-01T00:00:00Z", parts[core])})


def digest(content: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(content).hexdigest()
