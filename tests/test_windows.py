"""Windows: a stand-in for it. Modules that only Unix has are hidden from our code, and every module of it is imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STAND_IN = """
import builtins, importlib, os, pkgutil, signal, sys

UNIX = {"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "posix"}
OURS = ("audit", "annotation", "pages")
real = builtins.__import__

def without_unix(name, globals=None, locals=None, fromlist=(), level=0):
    importer = (globals or {}).get("__name__", "").partition(".")[0]
    if importer in OURS and not level and name.partition(".")[0] in UNIX:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return real(name, globals, locals, fromlist, level)

builtins.__import__ = without_unix
for name in ("fork", "getuid", "geteuid", "killpg", "setsid", "getpgid", "sysconf"):
    delattr(os, name)
for name in ("SIGKILL", "SIGHUP", "SIGUSR1", "SIGALRM", "SIGPIPE"):
    delattr(signal, name)

imported = 0
def is_left_out(name):
    *_, folder, module = name.split(".")
    return module == "__main__" or (name.startswith("pages.") and module == folder)

for package in ("audit", "annotation", "pages"):
    for found in pkgutil.walk_packages(importlib.import_module(package).__path__, package + "."):
        if not is_left_out(found.name):
            importlib.import_module(found.name)
            imported += 1
print(imported)
"""


def test_every_module_can_be_imported_without_what_only_unix_has():
    """Pages themselves are scripts that Streamlit runs; what they import is here."""
    preload = "import streamlit, pandas, duckdb, sqlalchemy, openai, aiohttp, argon2, uvicorn, filelock, scipy.stats\n"
    script = preload + STAND_IN
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    assert int(done.stdout) > 200
