"""The larger commands of `audit`, one module each; `audit.cli.main` puts them together."""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from audit.errors import AuditError, describe_error
from audit.settings import Settings
from audit.store.connection import DuckDBError

OK, FINDINGS, FAILED = 0, 1, 2
FULL, REFUSED = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG), (errno.EACCES, errno.EPERM, errno.EROFS)
AS_IT_WAS = "What was loaded, stored or written whole before is as it was."
Run = Callable[[argparse.Namespace, Settings], int]


def add_command(commands: Any, name: str, run: Run, words: str, epilog: str = "") -> argparse.ArgumentParser:
    """Add the command `name`, which `run` carries out, and return its parser for the options."""
    command: argparse.ArgumentParser = commands.add_parser(name, help=words, description=words, epilog=epilog)
    command.set_defaults(command=run)
    return command


def answer(parser: argparse.ArgumentParser, argv: Sequence[str] | None) -> int:
    """Carry out the command that `argv` names and return its exit code; what goes wrong is one sentence on standard error."""
    try:
        try:
            arguments = parser.parse_args(argv)
            code: int = arguments.command(arguments, Settings())
            return code
        finally:
            _written()
    except BrokenPipeError:  # `audit ... | head`
        _let_go()
        return OK
    except KeyboardInterrupt:
        told = f"stopped. {AS_IT_WAS}"
    except AuditError as error:
        told = str(error)
    except OSError as error:
        _let_go()
        told = _of_the_machine(error)
    except DuckDBError as error:
        told = f"The store cannot be read or written: {str(error).splitlines()[0].rstrip('.')}. {AS_IT_WAS} {_remedy(str(error))}"
    print(f"{parser.prog}: {told}", file=sys.stderr)
    return FAILED


def _of_the_machine(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{describe_error(error)}. The command stopped there. {AS_IT_WAS} {_remedy(str(error))}"


def _remedy(told: str) -> str:
    if any(os.strerror(each) in told for each in FULL):
        return "Make room on that disk, or name a folder on another (AUDIT_DATA_DIR, --out), and run the same command again."
    if any(os.strerror(each) in told for each in REFUSED):
        return "Name a folder that you may write to (AUDIT_DATA_DIR, --out), and run the same command again."
    return "Correct that, and run the same command again."


def _written() -> None:
    """Send off what was printed: where nobody takes it, it is said here and not when the interpreter ends."""
    if sys.stdout is not None:  # None: started with its output closed
        sys.stdout.flush()


def _let_go() -> None:
    """What nobody takes is dropped, so that the interpreter does not try again when it ends."""
    try:
        _written()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
