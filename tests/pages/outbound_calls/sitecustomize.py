"""Read by every Python that starts with this folder on its path: notes what it wants outside this machine, and refuses it."""

import os
import socket

_connect, _lookup = socket.socket.connect, socket.getaddrinfo


def _is_here(host):
    return str(host) in ("localhost", "::", "::1", "0.0.0.0", "None") or str(host).startswith("127.")


def _refuse(host):
    with open(os.environ["OUTBOUND_CALLS"], "a") as calls:  # noqa: PTH123
        calls.write(f"{host}\n")
    raise OSError(f"no way out to {host}")


def _guarded_connect(self, address):
    if isinstance(address, tuple) and not _is_here(address[0]):
        _refuse(address[0])
    return _connect(self, address)


def _guarded_lookup(host, *arguments, **options):
    if not _is_here(host):
        _refuse(host)
    return _lookup(host, *arguments, **options)


socket.socket.connect, socket.getaddrinfo = _guarded_connect, _guarded_lookup
