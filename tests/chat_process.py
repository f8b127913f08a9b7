"""A chat service as a process of its own, with a provider that never stops talking: to be killed, or frozen.

Takes the addresses of NATS and Postgres and the namespace; says `ready` when it answers.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Sequence
from itertools import count

from services.chat.app import ChatParts, running_chat
from services.chat.provider import ChatMessage, Delta, ProviderEvent
from services.chat.settings import ChatSettings
from shared.bus import open_bus
from shared.contracts.search import SearchReply
from shared.postgres.pool import open_pool
from shared.topology import Topology
from tests.chat_system import FAST
from tests.fakes.scripted_provider import OneProvider


class TalkingProvider:
    """Says a new word every few milliseconds, for ever."""

    name = "talking"
    model = "talk-1"

    async def chat(self, messages: Sequence[ChatMessage], context: SearchReply) -> AsyncGenerator[ProviderEvent]:
        """Talk."""
        del messages, context
        for number in count():
            yield Delta(f"Word {number} [1]. ")
            await asyncio.sleep(0.02)

    async def aclose(self) -> None:
        """Nothing is open."""


async def main(nats_url: str, dsn: str, namespace: str) -> None:
    """Answer until killed."""
    parts = ChatParts(OneProvider(TalkingProvider()), times=FAST)
    async with (
        open_bus(nats_url, name="talking", connect_timeout_s=10) as client,
        open_pool(dsn) as pool,
        running_chat(client, Topology(namespace), pool, parts, ChatSettings()),
    ):
        await client.flush()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
