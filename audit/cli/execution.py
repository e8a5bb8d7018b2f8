"""How a command ends: its exit code, and one sentence on standard error for whatever went wrong."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable

from audit.errors import AuditError, describe_error

OK, FINDINGS, FAILED = 0, 1, 2
FULL, REFUSED = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG), (errno.EACCES, errno.EPERM, errno.EROFS)
UNCHANGED = "Whatever was loaded, stored or completely written before is unchanged."


def execute(program: str, command: Callable[[], int]) -> int:
    """Run `command` and return its exit code; whatever goes wrong is one sentence on standard error."""
    try:
        try:
            return command()
        finally:
            _flush()
    except BrokenPipeError:  # `audit ... | head`
        _drop_output()
        return OK
    except KeyboardInterrupt:
        message = f"stopped. {UNCHANGED}"
    except AuditError as error:
        message = str(error)
    except OSError as error:
        _drop_output()
        message = _system_error(error)
    except Exception as error:
        if not _is_of_duckdb(error):
            raise
        reason = str(error).splitlines()[0].rstrip(".")
        message = f"The store cannot be read or written: {reason}. {UNCHANGED} {_remedy(str(error))}"
    print(f"{program}: {message}", file=sys.stderr)
    return FAILED


def _is_of_duckdb(error: Exception) -> bool:
    """Whether DuckDB raised it. Importing the class for an `except` clause would cost every command DuckDB's import."""
    connection = sys.modules.get("audit.store.connection")
    return connection is not None and isinstance(error, connection.DuckDBError)


def _system_error(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{describe_error(error)}. The command stopped there. {UNCHANGED} {_remedy(str(error))}"


def _remedy(reason: str) -> str:
    if any(os.strerror(number) in reason for number in FULL):
        return "Free some disk space, or name a folder on another disk (AUDIT_DATA_DIR, --out), and run the same command again."
    if any(os.strerror(number) in reason for number in REFUSED):
        return "Name a folder that you may write to (AUDIT_DATA_DIR, --out), and run the same command again."
    return "Correct that, and run the same command again."


def _flush() -> None:
    """Send what was printed now: a full disk or a closed pipe is then reported here and not when the interpreter exits."""
    if sys.stdout is not None:  # None: the process was started with its output closed
        sys.stdout.flush()


def _drop_output() -> None:
    """Discard what cannot be written, so that the interpreter does not try again when it exits."""
    try:
        _flush()
    except OSError:
        # Python flushes standard output again at exit and would print a traceback after our sentence.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
