"""Files in memory, and archives of them that are the same whenever they are made."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Mapping

Files = Mapping[str, bytes]
"""Path inside the package, with slashes -> content."""
EARLIEST = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a ZIP archive can store."""


def zipped(files: Files) -> bytes:
    """An archive of the files, sorted by path, without the time at which it was made."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for path in sorted(files):
            entry = zipfile.ZipInfo(path, EARLIEST)
            # 3 is Unix: zipfile would write the platform it runs on, and the same files would give another archive.
            entry.compress_type, entry.external_attr, entry.create_system = zipfile.ZIP_DEFLATED, 0o644 << 16, 3
            archive.writestr(entry, files[path])
    return buffer.getvalue()


def digest(content: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(content).hexdigest()
