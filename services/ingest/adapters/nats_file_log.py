"""The stream FILES as the watcher writes it (port `FileLog`): one message per file, the newest.

Every message carries its FileStamp in the header Citebus-File, so a manifest is rebuilt without contents. A removal is
a tombstone that the server drops after its time to live [30 days].
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Sequence
from itertools import groupby

import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js import JetStreamContext, api

from services.ingest.adapters.nats_file_history import NatsFileHistory
from shared.bus import JETSTREAM_TIMEOUT_S, translated
from shared.contracts.files import FileChanged, FileStamp
from shared.errors import NotFound, TooLarge, Unavailable
from shared.ids import file_key
from shared.publishing import Outgoing, Publisher
from shared.topology import FILE_STAMP_HEADER, Topology

TOMBSTONE_TTL_S = 30 * 86_400.0
"""How long a removal stays in the log: a worker or a manifest that was away for longer is rebuilt anyway."""

_BATCH = 1000
"""Stamps per fetch."""

_IDLE_S = 60.0
"""The server drops a reader of stamps that was left behind after this."""

_ROOM_BYTES = 64 * 1024
"""Room in a message for all but the content: paths of 4,096 bytes, escaped, twice, and the header."""


class NatsFileLog:
    """Writes FILES; the client belongs to the caller."""

    def __init__(self, client: Client, topology: Topology, *, tombstone_ttl_s: float = TOMBSTONE_TTL_S) -> None:
        self._client = client
        self._jetstream = client.jetstream(timeout=JETSTREAM_TIMEOUT_S)
        self._publisher = Publisher(client)
        self._topology = topology
        self._history = NatsFileHistory(client, topology)
        self._tombstone_ttl_s = tombstone_ttl_s

    @property
    def max_content_bytes(self) -> int:
        """Return what fits into one message as base64, by the limit that the server states."""
        return max(0, (self._client.max_payload - _ROOM_BYTES) * 3 // 4)

    async def publish(self, changes: Sequence[FileChanged], batch: int) -> int:
        """Send changes and wait until all are stored; see the port."""
        self._check_connected()
        last = 0
        # What is removed goes out after the answers for all ahead of it: a page that moved is never nowhere.
        for _, run in groupby(changes, key=lambda change: change.change == "removed"):
            last = max(last, await self._publisher.publish([self._outgoing(change, batch) for change in run]))
        return last

    async def stamps(self, vault_id: str) -> AsyncIterator[FileStamp]:
        """Read all headers of a vault with a consumer that keeps no state; see the port."""
        with translated("reading the stamps of files"):
            reader = await self._jetstream.pull_subscribe(
                self._topology.file(vault_id, "*"),
                stream=self._topology.files,
                config=api.ConsumerConfig(
                    ack_policy=api.AckPolicy.NONE,
                    headers_only=True,
                    inactive_threshold=_IDLE_S,
                    mem_storage=True,
                ),
            )
            name = (await reader.consumer_info()).name
            try:
                while (await reader.consumer_info()).num_pending:
                    for message in await _fetch(reader):
                        stamp = _stamp(message)
                        if stamp is not None:
                            yield stamp
            finally:
                await reader.unsubscribe()
                await self._jetstream.delete_consumer(self._topology.files, name)

    async def newest(self, vault_id: str, path: str) -> FileChanged | None:
        """Read one file's message; see the port."""
        found = await self._history.last(vault_id, file_key(path))
        return found[0] if found is not None else None

    async def identity(self) -> str:
        """Return the stream's creation time, to the microsecond."""
        self._check_connected()
        try:
            stream, _ = await self._history.state()
        except NotFound as error:
            raise Unavailable(str(error)) from error
        return stream

    def _outgoing(self, change: FileChanged, batch: int) -> Outgoing:
        payload = change.to_json()
        if len(payload) > self._client.max_payload:
            raise TooLarge(f"{change.path}: a message of {len(payload):,} bytes is more than NATS allows")
        key = file_key(change.path)
        headers = {
            FILE_STAMP_HEADER: _header(change),
            api.Header.MSG_ID.value: _message_id(change.vault_id, key, batch, payload),
            api.Header.EXPECTED_STREAM.value: self._topology.files,
        }
        if change.change == "removed":
            headers[api.Header.MSG_TTL.value] = str(int(self._tombstone_ttl_s))
        return Outgoing(self._topology.file(change.vault_id, key), payload, headers)

    def _check_connected(self) -> None:
        """Fail at once: what the client buffers while it reconnects could arrive after what is sent later."""
        if not self._client.is_connected:
            raise Unavailable("NATS is not connected; files are published once it is")


def _header(change: FileChanged) -> str:
    return json.dumps(change.model_dump(mode="json", include=set(FileStamp.model_fields), exclude_none=True))


def _message_id(vault_id: str, key: str, batch: int, payload: bytes) -> str:
    """Name one state of one file in one batch: a batch that is tried again is stored once, a later one anew.

    Without the batch, a file that goes back to an earlier state within the window of duplicates would be swallowed.
    """
    digest = hashlib.sha256(payload).hexdigest()[:16]
    return f"{vault_id}.{key}.{batch}.{digest}"


def _stamp(message: Msg) -> FileStamp | None:
    header = (message.headers or {}).get(FILE_STAMP_HEADER)
    return None if header is None else FileStamp.model_validate_json(header)


async def _fetch(reader: JetStreamContext.PullSubscription) -> list[Msg]:
    try:
        return await reader.fetch(_BATCH, timeout=1.0)
    except nats.errors.TimeoutError:
        return []  # what was pending has been replaced since; what replaced it is pending now
