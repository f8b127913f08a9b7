"""Ports of the embedded servers: free when chosen, written down, and kept from one start to the next while free."""

from __future__ import annotations

import random
import socket
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from deploy.embedded.private_files import write_private
from shared.errors import Unavailable

LOOPBACK = "127.0.0.1"
"""The only address that embedded servers listen on."""

CANDIDATES = range(20_000, 30_000)
"""Below the ranges from which Linux (32768) and macOS (49152) give ports to outgoing connections: while a server is
down, a client that dials a port of that range can be given the very port as its own and connect to itself."""

_ATTEMPTS = 200
_BOOK = TypeAdapter(dict[str, int])


@dataclass(frozen=True, slots=True)
class PortBook:
    """The file in which the ports of one data folder are written down."""

    path: Path

    def choose(self, name: str) -> int:
        """Return the port of the server `name`: the one written down if it is free, else another free one.

        The choice is written down. Raises Unavailable when no free port was found. Another process can still take
        the port before the server does; then the server fails to start and the caller chooses again.
        """
        book = self.read()
        port = book.get(name)
        if port is None or not is_free(port):
            port = _find_free(taken=set(book.values()))
            write_private(self.path, _BOOK.dump_json(book | {name: port}, indent=2).decode())
        return port

    def read(self) -> dict[str, int]:
        """Return what is written down; a missing or damaged file counts as empty."""
        try:
            return _BOOK.validate_json(self.path.read_bytes())
        except (FileNotFoundError, ValidationError):
            return {}


def is_free(port: int) -> bool:
    """Tell whether a server could listen on this loopback port now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do: old connections don't count
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def _find_free(taken: set[int]) -> int:
    for port in random.sample(CANDIDATES, _ATTEMPTS):
        if port not in taken and is_free(port):
            return port
    raise Unavailable(f"no free port found between {CANDIDATES.start} and {CANDIDATES.stop} on {LOOPBACK}")
