"""The connection to NATS: opened once per process, patient with a server that comes later or goes away for a while."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager

import nats.errors
import structlog
from nats.aio.client import Client

from shared.errors import TooLarge, Unavailable

_log = structlog.get_logger(__name__)

RECONNECT_WAIT_S = 0.25
"""Pause between tries to reach a server: short, since freshness waits for it."""

JETSTREAM_TIMEOUT_S = 5.0
"""What an answer of JetStream may take before it counts as unavailable."""


@contextmanager
def translated(doing: str) -> Generator[None]:
    """Turn what the client raises for a server that is away into Unavailable, naming what was done.

    A message that is larger than the server allows is TooLarge: to send it again would not help.
    """
    try:
        yield
    except nats.errors.MaxPayloadError as error:
        raise TooLarge(f"A message is larger than NATS allows ({doing}).") from error
    except (nats.errors.Error, OSError, TimeoutError) as error:
        raise Unavailable(f"NATS is not available ({doing}): {str(error) or type(error).__name__}") from error


@asynccontextmanager
async def open_bus(url: str, *, name: str, connect_timeout_s: float | None = None) -> AsyncGenerator[Client]:
    """Connect, and drain at the end, so that what was published has left.

    Waits for a server that isn't there yet: for ever, or for `connect_timeout_s`, then raises Unavailable.
    """
    client = Client()
    with translated(f"connecting to {_without_secrets(url)}"):
        async with asyncio.timeout(connect_timeout_s):
            await _connect(client, url, name)
    try:
        yield client
    finally:
        await _close(client)


async def _connect(client: Client, url: str, name: str) -> None:
    async def on_disconnected() -> None:
        if not client.is_closed:  # closed by us
            _log.warning("bus.disconnected", server=_without_secrets(url))

    async def on_reconnected() -> None:
        _log.info("bus.reconnected", server=_without_secrets(url))

    async def on_error(error: Exception) -> None:
        if not isinstance(error, (ConnectionError, nats.errors.UnexpectedEOF, nats.errors.StaleConnectionError)):
            _log.warning("bus.error", error=str(error) or type(error).__name__)

    await _retrying_first(
        lambda: client.connect(
            url,
            name=name,
            max_reconnect_attempts=-1,
            reconnect_time_wait=RECONNECT_WAIT_S,  # pyright: ignore[reportArgumentType]  (a float is slept as well)
            ping_interval=10,
            max_outstanding_pings=2,
            allow_reconnect=True,
            disconnected_cb=on_disconnected,
            reconnected_cb=on_reconnected,
            error_cb=on_error,
            drain_timeout=10,
        )
    )


async def _retrying_first(connect: Callable[[], Awaitable[None]]) -> None:
    told = False
    while True:
        try:
            await connect()
        except (OSError, nats.errors.NoServersError, nats.errors.TimeoutError) as error:
            if not told:
                _log.info("bus.waiting_for_server", error=str(error))
                told = True
            await asyncio.sleep(RECONNECT_WAIT_S)
        else:
            return


async def _close(client: Client) -> None:
    if client.is_connected:
        try:
            await client.drain()
        except (nats.errors.Error, OSError) as error:
            _log.warning("bus.drain_failed", error=str(error))
    if not client.is_closed:
        await client.close()


def _without_secrets(url: str) -> str:
    """Return the URL without user and password."""
    scheme, _, rest = url.rpartition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}" if scheme else rest.rpartition("@")[2]
