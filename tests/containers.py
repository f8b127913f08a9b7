"""Servers in containers, for machines that have Docker and not the wheels' platform."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import asyncpg
import nats
import nats.errors
from docker.errors import DockerException
from testcontainers.core.container import DockerContainer

from shared.errors import Unavailable

NATS_IMAGE = "nats:2.12-alpine"
POSTGRES_IMAGE = "postgres:18-alpine"
PASSWORD = "only-for-tests"

_READY_S = 60.0
_NATS_SCRIPT = (
    'printf "max_payload: 8MB\\njetstream { store_dir: /tmp/js }\\n" >/tmp/n.conf && exec nats-server -c /tmp/n.conf'
)


async def nats_container(stack: AsyncExitStack, folder: Path) -> str:
    """Run NATS with JetStream in a container until the stack closes; raises Unavailable without Docker."""
    del folder
    url = await _address(
        stack, _on_docker(NATS_IMAGE, 4222, lambda c: c.with_command(["sh", "-c", _NATS_SCRIPT])), 4222
    )

    async def check() -> None:
        client = await nats.connect(f"nats://{url}", allow_reconnect=False)
        await client.close()

    await _answers(check)
    return f"nats://{url}"


async def postgres_container(stack: AsyncExitStack, folder: Path) -> str:
    """Run Postgres in a container until the stack closes; raises Unavailable without Docker."""
    del folder
    container = _on_docker(POSTGRES_IMAGE, 5432, lambda c: c.with_env("POSTGRES_PASSWORD", PASSWORD))
    dsn = f"postgresql://postgres:{PASSWORD}@{await _address(stack, container, 5432)}/postgres"

    async def check() -> None:
        connection = await asyncpg.connect(dsn, timeout=5)
        await connection.close()

    await _answers(check)
    return dsn


def _on_docker(image: str, port: int, configure: Callable[[DockerContainer], object]) -> DockerContainer:
    try:
        container = DockerContainer(image).with_exposed_ports(port)
    except DockerException as error:
        raise Unavailable(f"no container of {image}: Docker does not answer") from error
    configure(container)
    return container


async def _address(stack: AsyncExitStack, container: DockerContainer, port: int) -> str:
    try:
        await asyncio.to_thread(container.start)
    except DockerException as error:
        raise Unavailable(f"no container of {container.image}: {error}") from error
    stack.push_async_callback(asyncio.to_thread, container.stop)
    return f"{container.get_container_host_ip()}:{container.get_exposed_port(port)}"


async def _answers(check: Callable[[], Awaitable[None]]) -> None:
    deadline = asyncio.get_running_loop().time() + _READY_S
    while True:
        try:
            return await check()
        except (OSError, TimeoutError, nats.errors.Error, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            if asyncio.get_running_loop().time() > deadline:
                raise Unavailable(f"the container does not answer: {error}") from error
        await asyncio.sleep(0.2)
