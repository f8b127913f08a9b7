"""Turns into a server: detached from the terminal, bound to the life of its parent, as another user if asked.

Run as a script: `python -I -S launcher.py PARENT SIGNAL UID GID PROGRAM ARGUMENT…` (UID `-`: stay who you are). It is
a program of its own, not a function between fork and exec, because Python may not run there in a process with
threads. The process id stays the same, the interpreter goes away with exec.

Guarantee on Linux: when the thread that started this process ends, however it ends, the server gets SIGNAL. Elsewhere
a server whose parent was killed lives on until the next start on its folder stops it.
"""

from __future__ import annotations

import ctypes
import os
import sys

PR_SET_PDEATHSIG = 1
"""Option of prctl(2) that asks for a signal when the parent ends."""

EXIT_ORPHANED = 125
"""The parent ended before the launcher could bind itself to it."""

EXIT_NOT_RUN = 127
"""The program could not be run; what a shell says too."""


def main(arguments: list[str]) -> int:
    """Become the program; returns only when that failed."""
    parent, death_signal, uid, gid, *command = arguments
    if uid != "-":
        os.setgroups([])
        os.setgid(int(gid))
        os.setuid(int(uid))
    _die_with(int(parent), int(death_signal))  # after setuid: a change of user clears the death signal
    try:
        os.execv(command[0], command)
    except OSError as error:
        sys.stderr.write(f"cannot run {command[0]}: {error}\n")
    return EXIT_NOT_RUN


def _die_with(parent: int, death_signal: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, death_signal, 0, 0, 0)
    if os.getppid() != parent:
        raise SystemExit(EXIT_ORPHANED)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
