"""Publishes many messages to JetStream and waits for all their acks: one inbox, no task and no semaphore per message.

nats-py's `publish_async` costs several times as much per message, most of it for a task that guards a semaphore; a
cold ingest publishes one message per chunk.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nats.aio.client import Client
from nats.aio.msg import Msg

from shared.bus import JETSTREAM_TIMEOUT_S, translated
from shared.errors import Unavailable

_SLICE = 512
"""Messages that wait for their acks at once: the server's and the client's buffers stay small."""

NOT_STORED = (
    "NATS did not say in time that it stored what was sent. It says nothing when its disk is full: "
    "then free some space and restart it."
)
"""A stream of nats-server whose disk was full once refuses every message until the server is started anew (2.15)."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A message for a stream."""

    subject: str
    data: bytes
    headers: Mapping[str, str] | None = None


class Publisher:
    """Durable when `publish` returns; calls may overlap. The client belongs to the caller."""

    def __init__(self, client: Client, timeout_s: float = JETSTREAM_TIMEOUT_S) -> None:
        self._client = client
        self._timeout_s = timeout_s
        self._prefix = ""
        self._batches: dict[str, _Batch] = {}
        self._count = 0
        self._subscribing = asyncio.Lock()

    async def publish(self, messages: Sequence[Outgoing]) -> int:
        """Publish in order; return when each is stored, with the highest position that one has in its stream.

        Raises Unavailable when one is refused or not acked in time, TooLarge. Then any of them may be stored all the
        same: publish them again, with a `Nats-Msg-Id` where that matters. No messages: 0.
        """
        await self._listen()
        last = 0
        for start in range(0, len(messages), _SLICE):
            last = max(last, await self._publish(messages[start : start + _SLICE]))
        return last

    async def _publish(self, messages: Sequence[Outgoing]) -> int:
        self._count += 1
        name = str(self._count)
        batch = self._batches[name] = _Batch(len(messages))
        try:
            with translated("publishing"):
                for index, message in enumerate(messages):
                    reply = f"{self._prefix}{name}.{index}"
                    headers = dict(message.headers) if message.headers else None
                    await self._client.publish(message.subject, message.data, reply=reply, headers=headers)
            async with asyncio.timeout(self._timeout_s):
                await batch.complete.wait()
        except TimeoutError as error:
            raise Unavailable(NOT_STORED) from error
        finally:
            del self._batches[name]
        if batch.refused is not None:
            raise Unavailable(f"The bus refused a message: {batch.refused}")
        return batch.last

    async def _listen(self) -> None:
        async with self._subscribing:
            if not self._prefix:
                inbox = self._client.new_inbox()
                with translated("subscribing for acks"):
                    await self._client.subscribe(f"{inbox}.*.*", cb=self._on_ack)
                self._prefix = f"{inbox}."

    async def _on_ack(self, message: Msg) -> None:
        name, _, index = message.subject[len(self._prefix) :].partition(".")
        batch = self._batches.get(name)
        if batch is not None:
            batch.acked(int(index), message)


class _Batch:
    def __init__(self, count: int) -> None:
        self._waiting = set(range(count))
        self.complete = asyncio.Event()
        self.refused: str | None = None
        self.last = 0

    def acked(self, index: int, message: Msg) -> None:
        answer = _answer(message)
        if isinstance(answer, int):
            self.last = max(self.last, answer)
        else:
            self.refused = answer
        self._waiting.discard(index)
        if not self._waiting:
            self.complete.set()


def _answer(message: Msg) -> int | str:
    """Return the position at which the stream stored a message, or why it did not."""
    if (message.headers or {}).get("Status") == "503":
        return "no stream takes this subject: was it provisioned?"
    ack = json.loads(message.data)
    error = ack.get("error")
    return int(ack["seq"]) if error is None else str(error.get("description", error))
