"""Leases in a bucket of NATS (port `LeaseStore`): a key per lease, its revision is the token.

The bucket drops an entry after its time to live; writing it anew, if its revision is still the known one, renews it.
"""

from __future__ import annotations

import nats.js.errors
from nats.aio.client import Client
from nats.js.kv import KeyValue

from shared.bus import JETSTREAM_TIMEOUT_S, translated
from shared.topology import Topology


class NatsLeaseStore:
    """Reads and writes the bucket of leases; the client belongs to the caller."""

    def __init__(self, client: Client, topology: Topology, *, ttl_s: float = 10.0) -> None:
        """`ttl_s`: what the bucket is provisioned with."""
        self._jetstream = client.jetstream(timeout=JETSTREAM_TIMEOUT_S)
        self._bucket = topology.leases
        self._ttl_s = ttl_s

    @property
    def ttl_s(self) -> float:
        """Return the bucket's time to live."""
        return self._ttl_s

    async def acquire(self, name: str, owner: str) -> int | None:
        """Create the entry; see the port.

        The client looks at the entry that was in the way. If that ran out meanwhile, it reports a missing key: nobody
        has the lease then, and the next try gets it.
        """
        with translated("acquiring a lease"):
            try:
                return await (await self._open()).create(name, owner.encode())
            except (nats.js.errors.KeyWrongLastSequenceError, nats.js.errors.KeyNotFoundError):
                return None

    async def owner(self, name: str) -> tuple[str, int] | None:
        """Read the entry; see the port."""
        with translated("reading a lease"):
            try:
                entry = await (await self._open()).get(name)
            except nats.js.errors.KeyNotFoundError:
                return None
        return (entry.value or b"").decode(), entry.revision or 0

    async def renew(self, name: str, owner: str, token: int) -> int | None:
        """Replace the entry if its revision is `token`; see the port."""
        with translated("renewing a lease"):
            try:
                return await (await self._open()).update(name, owner.encode(), last=token)
            except nats.js.errors.KeyWrongLastSequenceError:
                return None

    async def release(self, name: str, token: int) -> None:
        """Delete the entry if its revision is `token`; see the port."""
        with translated("releasing a lease"):
            try:
                await (await self._open()).delete(name, last=token)
            except nats.js.errors.APIError as error:
                if error.err_code not in _WRONG_LAST_SEQUENCE:
                    raise

    async def _open(self) -> KeyValue:
        return await self._jetstream.key_value(self._bucket)


_WRONG_LAST_SEQUENCE = (10071, 10164)
"""JetStream's codes for "the newest revision is another one"."""
