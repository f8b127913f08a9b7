"""Copies and optimises a shard in a process of its own: `python -m shared.vectors.compaction SOURCE COPY`.

The engine's optimiser holds the interpreter lock for as long as it runs (half a minute for 50,000 points), so no
process that serves anything can run it. The two processes talk in lines over the child's standard streams:

    child: ready      started; nothing read yet
    parent: copy      the source is flushed and nobody writes to it
    child: copied     the source may change again; reads of it never had to stop
    child: optimised  the copy is complete, flushed and closed

The child ends with its parent (Linux), and runs at low priority. Its copy is nobody's until the parent says so.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

from shared.errors import Unavailable
from shared.process import end_with_parent

_NICENESS = 5
"""A third of the share of a process that serves: behind it, but not starved by a bulk load."""
_EXIT_S = 5.0
"""Time for a killed child to be gone; longer means an uninterruptible disk."""


def optimise_copy(source: Path, copy: Path) -> None:
    """What the child does: wait for the word, copy, say so, optimise the copy, close it."""
    import qdrant_edge  # noqa: PLC0415 - so that "ready" is said, and the parent's watch begins, before it is loaded

    print("ready", flush=True)  # noqa: T201 - the protocol
    if sys.stdin.readline().strip() != "copy":
        return
    shutil.copytree(source, copy)
    print("copied", flush=True)  # noqa: T201 - the protocol
    shard = qdrant_edge.EdgeShard.load(str(copy))
    shard.optimize()
    shard.flush()
    shard.close()
    print("optimised", flush=True)  # noqa: T201 - the protocol


class CompactionChild:
    """The parent's end of the conversation. Each method raises Unavailable when the child died."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.pid = process.pid

    async def copy(self) -> None:
        """Return when the copy is made; the caller keeps the source from changing meanwhile."""
        assert self._process.stdin is not None
        with contextlib.suppress(ConnectionError):  # a dead child is told by the missing answer
            self._process.stdin.write(b"copy\n")
            await self._process.stdin.drain()
        await self._hear("copied")

    async def optimised(self) -> None:
        """Return when the copy is optimised and closed."""
        await self._hear("optimised")

    async def ready(self) -> None:
        """Return when the child is there."""
        await self._hear("ready")

    async def _hear(self, word: str) -> None:
        assert self._process.stdout is not None
        said = (await self._process.stdout.readline()).decode().strip()
        if said != word:
            code = await self._process.wait()
            raise Unavailable(f"The process that compacts the vectors ended early (exit {code}, before {word!r}).")


@contextlib.asynccontextmanager
async def compaction_child(source: Path, copy: Path) -> AsyncGenerator[CompactionChild]:
    """Start the child and see that it is gone at the end, whatever happened. Raises Unavailable when it can't start."""
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "shared.vectors.compaction", str(source), str(copy),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
    except OSError as error:
        raise Unavailable(f"The process that compacts the vectors can't be started: {error.strerror}.") from error
    child = CompactionChild(process)
    try:
        await child.ready()
        yield child
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _EXIT_S)


if __name__ == "__main__":
    end_with_parent()
    os.nice(_NICENESS)
    optimise_copy(Path(sys.argv[1]), Path(sys.argv[2]))
