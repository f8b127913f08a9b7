"""The stream FILES read again, file by file (port `FileHistory`)."""

from __future__ import annotations

import nats.js.errors
from nats.aio.client import Client

from shared.bus import JETSTREAM_TIMEOUT_S, translated
from shared.contracts.files import FileChanged
from shared.errors import NotFound
from shared.topology import Topology


class NatsFileHistory:
    """Direct gets of the newest message per subject; the client belongs to the caller."""

    def __init__(self, client: Client, topology: Topology) -> None:
        self._jetstream = client.jetstream(timeout=JETSTREAM_TIMEOUT_S)
        self._topology = topology

    async def state(self) -> tuple[str, int]:
        """Return the stream's creation time, to the microsecond, and its last position."""
        with translated("asking for the stream of files"):
            try:
                info = await self._jetstream.stream_info(self._topology.files)
            except nats.js.errors.NotFoundError as error:
                raise NotFound(f"The stream {self._topology.files} does not exist: provisioning creates it.") from error
        return (info.created.isoformat() if info.created else ""), info.state.last_seq

    async def last(self, vault_id: str, file_key: str) -> tuple[FileChanged, int] | None:
        """Return the newest change of a file and its position in the stream."""
        subject = self._topology.file(vault_id, file_key)
        with translated("reading a file's last change"):
            try:
                message = await self._jetstream.get_last_msg(self._topology.files, subject, direct=True)
            except nats.js.errors.NotFoundError:
                return None
        if not message.data or message.seq is None:
            return None
        return FileChanged.model_validate_json(message.data), message.seq
