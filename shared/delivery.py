"""What happens to a message after its handler: acked, delivered again later, or put aside for operators.

Reads a durable consumer in batches and maps each message's outcome: `Done` → ack, `Retry` → nak with a growing delay,
`Dead` → a copy in stream DEAD, then term. A handler that raises fails its whole batch; the batch is then tried one
by one, so that a bad message harms only itself. What is retryable is retried for ever: an outage loses nothing.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import nats.errors
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg

from shared.bus import translated
from shared.cancelling import end_if_cancelled
from shared.errors import CitebusError, NotFound, PermanentError, RetryableError, Unavailable
from shared.pull import Pull
from shared.telemetry import handling
from shared.topology import Topology

_log = structlog.get_logger(__name__)

MAX_SURPRISES = 5
"""Deliveries of a message whose handling raises something unexpected; then it is put aside."""

_PAUSE_S = 0.5
"""Pause before a lost consumer or server is tried again."""

_LONGEST_DELAY_S = 30.0
"""Longest delay of a redelivery."""


@dataclass(frozen=True, slots=True)
class Delivered:
    """A message as a handler sees it."""

    subject: str
    data: bytes
    sequence: int
    """Position in the stream."""
    deliveries: int
    """1 at the first delivery."""


@dataclass(frozen=True, slots=True)
class Done:
    """Handled; never delivered again."""


@dataclass(frozen=True, slots=True)
class Retry:
    """Deliver again, after `delay_s` or, when None, after a delay that grows with the deliveries."""

    reason: str
    delay_s: float | None = None


@dataclass(frozen=True, slots=True)
class Dead:
    """No retry can help; operators see it in stream DEAD."""

    reason: str


Outcome = Done | Retry | Dead
Handler = Callable[[Sequence[Delivered]], Awaitable[Sequence[Outcome]]]


@dataclass(frozen=True, slots=True)
class Consumer:
    """Which durable consumer, and how much at once."""

    stream: str
    name: str
    batch: int
    ack_wait_s: float


def growing_delay_s(deliveries: int) -> float:
    """Return the delay before the next delivery: 0.25 s doubling to 30 s, ±20 % so that retries spread."""
    return min(_LONGEST_DELAY_S, 0.25 * 2 ** min(deliveries - 1, 10)) * random.uniform(0.8, 1.2)


def asked_delay_s(delay_s: float) -> float:
    """Return a little more than the other side asked for: NATS may be early, and not all should return at once."""
    return delay_s * random.uniform(1.1, 1.2)


class Delivery:
    """Runs one handler on one consumer until cancelled; `repair` is called when the consumer is gone."""

    def __init__(
        self,
        client: Client,
        topology: Topology,
        consumer: Consumer,
        handler: Handler,
        repair: Callable[[], Awaitable[None]],
    ) -> None:
        self._client = client
        self._topology = topology
        self._consumer = consumer
        self._handler = handler
        self._repair = repair

    async def run(self) -> None:
        """Deliver until cancelled; a server that is away is waited for, a consumer that is gone is made again."""
        while True:
            try:
                async with self._pull() as pull:
                    while True:
                        await self._deliver(await pull.next_batch(), pull)
                        end_if_cancelled()
            except (CitebusError, nats.errors.Error) as error:
                _log.warning("delivery.interrupted", consumer=self._consumer.name, error=str(error))
                end_if_cancelled()
                await asyncio.sleep(_PAUSE_S)
                if isinstance(error, NotFound):
                    await self._try_repair()

    def _pull(self) -> Pull:
        return Pull(
            self._client, stream=self._consumer.stream, consumer=self._consumer.name, batch=self._consumer.batch
        )

    async def _try_repair(self) -> None:
        try:
            await self._repair()
        except CitebusError as error:
            _log.warning("delivery.repair_failed", consumer=self._consumer.name, error=str(error))

    async def _deliver(self, batch: list[Msg], pull: Pull) -> None:
        delivered = [_delivered(message) for message in batch]
        async with self._kept_alive(batch, pull):
            outcomes = await self._outcomes(delivered)
        for message, seen, outcome in zip(batch, delivered, outcomes, strict=True):
            await self._settle(message, seen, outcome)

    async def _outcomes(self, batch: Sequence[Delivered]) -> Sequence[Outcome]:
        try:
            with handling(f"deliver {self._consumer.name}", None):
                return await self._handler(batch)
        except RetryableError as error:
            _log.warning("delivery.retry", consumer=self._consumer.name, messages=len(batch), error=str(error))
            return [Retry(str(error), error.retry_after_s)] * len(batch)
        except Exception as error:  # noqa: BLE001  (the policy: nothing that a handler does ends the service)
            if len(batch) > 1:
                return [outcome for one in batch for outcome in await self._outcomes([one])]
            return [self._surprise(batch[0], error)]

    def _surprise(self, message: Delivered, error: Exception) -> Outcome:
        _log.exception("delivery.failed", consumer=self._consumer.name, subject=message.subject, exc_info=error)
        if isinstance(error, PermanentError) or message.deliveries >= MAX_SURPRISES:
            return Dead(f"{type(error).__name__}: {error}")
        return Retry(str(error))

    async def _settle(self, message: Msg, seen: Delivered, outcome: Outcome) -> None:
        with translated(f"settling a message of {self._consumer.name}"):
            match outcome:
                case Done():
                    await message.ack()
                case Retry(delay_s=delay_s):
                    await message.nak(delay=asked_delay_s(delay_s) if delay_s else growing_delay_s(seen.deliveries))
                case Dead(reason=reason):
                    await self._put_aside(message, reason)
                    await message.term()

    async def _put_aside(self, message: Msg, reason: str) -> None:
        subject = self._topology.dead_letter(self._consumer.name, message.subject.rpartition(".")[2])
        headers = {
            "Citebus-Reason": reason.encode("ascii", "backslashreplace").decode().replace("\n", " ")[:1000],
            "Citebus-Subject": message.subject,
        }
        await self._client.jetstream().publish(subject, message.data, headers=headers)
        _log.error("delivery.dead", consumer=self._consumer.name, subject=message.subject, reason=reason)

    @asynccontextmanager
    async def _kept_alive(self, batch: list[Msg], pull: Pull) -> AsyncGenerator[None]:
        """Tell the server while a batch is worked that its messages, and those behind it, are in good hands."""

        async def beat() -> None:
            while True:
                await asyncio.sleep(self._consumer.ack_wait_s / 3)
                with suppress(Unavailable):
                    await self._extend([*batch, *pull.waiting])

        task = asyncio.create_task(beat())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait({task})  # not `await task`: its cancellation must not be taken for ours

    async def _extend(self, messages: list[Msg]) -> None:
        with translated(f"extending {self._consumer.name}"):
            for message in messages:
                await message.in_progress()


def _delivered(message: Msg) -> Delivered:
    metadata = message.metadata
    return Delivered(message.subject, message.data, metadata.sequence.stream, metadata.num_delivered)
