"""A second `citebus up` on a data folder that is in use says so and leaves the first one alone."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path

import pytest

from tests.real.outages import eventually, note

pytestmark = [pytest.mark.real, pytest.mark.usefixtures("wheels"), pytest.mark.timeout(120)]

_ENVIRONMENT = os.environ | {"CITEBUS_EMBEDDING_PROVIDER": "hashing", "COLUMNS": "200"}


async def citebus(*words: str | Path) -> Process:
    """Start the command."""
    program = "from deploy.embedded.cli import main; main()"
    return await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, *map(str, words), env=_ENVIRONMENT, stdout=PIPE, stderr=PIPE
    )


@pytest.fixture
async def started() -> AsyncGenerator[Callable[[Path, Path], Awaitable[Process]]]:
    """Yield a function that starts a stack and returns when it says that all runs; it is stopped at the end."""
    stacks: list[Process] = []

    async def start(vault: Path, data_dir: Path) -> Process:
        stack = await citebus("up", vault, "--data-dir", data_dir)
        stacks.append(stack)
        assert stack.stdout is not None
        while (line := await stack.stdout.readline()) and not line.startswith(b"Up."):
            pass
        assert line
        return stack

    yield start
    for stack in stacks:
        if stack.returncode is None:
            stack.terminate()
        await stack.wait()


async def found(data_dir: Path, query: str) -> list[str]:
    """Search the running stack with the command."""
    process = await citebus("search", query, "--data-dir", data_dir, "--json")
    out, error = await process.communicate()
    assert process.returncode == 0, error.decode()
    return [hit["path"] for hit in json.loads(out)["hits"]]


async def test_a_second_up_is_refused_and_after_a_kill_the_next_one_recovers(
    data_dir: Path, started: Callable[[Path, Path], Awaitable[Process]]
) -> None:
    vault = data_dir.parent / "vault"
    vault.mkdir()
    (vault / "n1.md").write_text(note(1))
    first = await started(vault, data_dir)
    second = await citebus("up", vault, "--data-dir", data_dir)
    _, said = await second.communicate()
    assert second.returncode == 2
    assert f"already running on {data_dir}: process {first.pid}" in " ".join(said.decode().split())
    await until_found(data_dir, "m1x", "n1.md")
    first.send_signal(signal.SIGKILL)
    await first.wait()
    (vault / "n2.md").write_text(note(2))
    third = await started(vault, data_dir)
    await until_found(data_dir, "m2x", "n2.md")
    assert (await found(data_dir, "m1x"))[0] == "n1.md"
    third.send_signal(signal.SIGTERM)
    assert await third.wait() == 0


async def until_found(data_dir: Path, query: str, path: str) -> None:
    """Search until the first citation is this page."""

    async def first() -> bool:
        return (await found(data_dir, query))[:1] == [path]

    await eventually(first)
