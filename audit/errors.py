"""Errors with messages written for people: where, what was found, what is allowed, what happened to the data, what to do next."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

LEAST_FREE_BYTES = 64 * 1024
"""With less, SQLite cannot even open a database that another process may be writing to."""


class AuditError(Exception):
    """A problem a person can act on. Its text is shown unchanged, in a terminal or on a page."""


class ReleaseError(AuditError):
    """A release as a whole cannot be used: nothing was loaded."""


class DocumentError(AuditError):
    """A handbook's text, or the file it is in, cannot be used."""


class QuestionsError(AuditError):
    """Questions, the taxonomy of their tags, or the decisions about them cannot be read or written."""


class MissingLibraryError(AuditError):
    """A library that only an extra installs is needed but missing."""


class EmbeddingError(AuditError):
    """Texts cannot be turned into vectors: no such model, unexpected weights, or a damaged cache."""


class RetrievalError(AuditError):
    """Retrieval is impossible: an unknown strategy, or a table or list of questions that cannot be used."""


class ThemesError(AuditError):
    """A taxonomy of themes cannot be read, built or used."""


class UnknownRunError(AuditError):
    """No loaded run has the requested name."""


class NotInRunError(AuditError):
    """The run exists, but not the question, handbook, pair or answers requested from it."""


class ConfigError(AuditError):
    """A config of `audit run` is not valid."""


def describe_error(error: Exception) -> str:
    """The reason a file could not be used, without its path, for messages that name the path themselves."""
    if isinstance(error, UnicodeDecodeError):
        return f"the text is not UTF-8 (byte {error.start}); save the file as UTF-8"
    if isinstance(error, shutil.Error):  # of a folder that was copied: a list of files, each with its own reason as text
        return str(error.args[0][0][2]).partition("] ")[2].partition(":")[0].lower()
    # Not str(error), which repeats the path that the message already names.
    reason = error.strerror if isinstance(error, OSError) else None
    return f"{reason[0].lower()}{reason[1:]}" if reason else str(error)


def disk_problem(file: Path) -> str:
    """What is wrong with the disk of a file that a database cannot use, ` (...)`; "" where nothing is.

    SQLite calls a full disk an I/O error, and a folder that cannot be written a file that cannot be opened.
    """
    folder = file.absolute().parent
    if not folder.is_dir():
        return " (its folder is not there)"
    if not os.access(folder, os.W_OK):
        return " (its folder cannot be written)"
    return " (no space is left on its disk)" if shutil.disk_usage(folder).free < LEAST_FREE_BYTES else ""
