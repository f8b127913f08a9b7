"""Events of turns in the JetStream stream TURNS (subjects `turn.<vault>.<turn_id>`), behind the port TurnStream.

Each event is stored only behind the one that its writer knows (`Nats-Expected-Last-Subject-Sequence`), so a turn has
one writer, whoever believes to be it. A server that restarts loses streams in memory; the first event afterwards makes
the stream again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from uuid import UUID

import nats.errors
import nats.js.errors
from nats.aio.client import Client
from nats.js import JetStreamContext, api
from pydantic import ValidationError

from services.chat.ports import StreamedTurn
from shared.bus import JETSTREAM_TIMEOUT_S, translated
from shared.contracts.chat import TurnEvent, turn_event
from shared.errors import Unavailable
from shared.topology import Topology

_WRONG_LAST_SEQUENCE = 10071
"""JetStream's code for "the subject's last message is another one"."""

_TRIES = 4

_ACK_S = 2.0
"""What storing an event in memory may take. Where somebody listens live, nothing else tells that the stream is gone."""


class NatsTurnStream:
    """Implements TurnStream; the client belongs to the caller."""

    def __init__(self, client: Client, topology: Topology, remake: Callable[[], Awaitable[None]]) -> None:
        """`remake` brings the stream into being when the server has lost it."""
        self._jetstream: JetStreamContext = client.jetstream(timeout=JETSTREAM_TIMEOUT_S)
        self._topology = topology
        self._remake = remake

    def place(self, vault_id: str, turn_id: UUID) -> tuple[str, str]:
        """See TurnStream.place."""
        return self._topology.turns, self._topology.turn(vault_id, str(turn_id))

    async def append(self, vault_id: str, event: TurnEvent, position: int) -> int | None:
        """See TurnStream.append."""
        subject = self._topology.turn(vault_id, str(event.turn_id))
        data = event.to_json()
        headers = {api.Header.EXPECTED_LAST_SUBJECT_SEQUENCE.value: str(position)}
        for _ in range(_TRIES):
            try:
                return (await self._jetstream.publish(subject, data, timeout=_ACK_S, headers=headers)).seq
            except (nats.js.errors.NoStreamResponseError, nats.errors.TimeoutError):
                await self._remake()  # no stream, or no answer: was it stored? The next try tells
            except nats.js.errors.BadRequestError as error:
                if error.err_code != _WRONG_LAST_SEQUENCE:
                    raise Unavailable(f"The bus refused an event: {error.description}") from error
                return await self._own(subject, data)
            except (nats.errors.Error, OSError) as error:
                raise Unavailable(f"NATS is not available (publishing an event): {error}") from error
        raise Unavailable("NATS did not store an event of the turn in time.")

    async def _own(self, subject: str, data: bytes) -> int | None:
        """Return the position of the newest event if it is this one: stored by a try whose answer got lost."""
        last = await self._last(subject)
        return last.seq if last is not None and last.data == data else None

    async def _last(self, subject: str) -> api.RawStreamMsg | None:
        with translated("reading a turn's last event"):
            try:
                return await self._jetstream.get_last_msg(self._topology.turns, subject, direct=True)
            except (nats.js.errors.NotFoundError, nats.errors.NoRespondersError):  # no event, or no stream any more
                return None

    async def read(self, vault_id: str, turn_id: UUID) -> StreamedTurn:
        """See TurnStream.read."""
        subject = self._topology.turn(vault_id, str(turn_id))
        last = await self._last(subject)
        if last is None or last.seq is None:
            return StreamedTurn((), 0)
        events: list[TurnEvent] = []
        position = 0
        with translated("reading a turn"):
            while position < last.seq:
                message = await self._next(subject, position + 1)
                if message is None or message.seq is None:
                    break
                position = message.seq
                events.append(_event(message.data or b""))
        return StreamedTurn(tuple(events), position)

    async def _next(self, subject: str, seq: int) -> api.RawStreamMsg | None:
        try:
            return await self._jetstream.get_msg(self._topology.turns, seq=seq, subject=subject, direct=True, next=True)
        except nats.js.errors.NotFoundError:
            return None


def _event(data: bytes) -> TurnEvent:
    try:
        return turn_event(data)
    except ValidationError as error:
        raise Unavailable("The stream holds an event that can't be read: is it of a later version?") from error
