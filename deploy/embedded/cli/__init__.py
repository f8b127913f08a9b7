"""The `citebus` command: starts the stack on one machine, and asks its services over NATS.

Exit codes of every command: 0 done; 1 it did not work, or the answer is no (a service does not answer, a file was
rejected, a check failed, the time is over); 2 asked wrongly (an option, a path, a value); 3 the vault does not answer
the question; 130 stopped with Ctrl-C.
Errors are one sentence on stderr. Output is rich on a terminal, and plain text when it goes anywhere else.
"""

import sys

_INTERRUPTED = 130


def main() -> None:
    """Run the command; Ctrl-C ends it in order from its first moment on, while it is still being loaded too."""
    try:
        from deploy.embedded.cli.app import main as run  # noqa: PLC0415

        run()
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)


__all__ = ["main"]
