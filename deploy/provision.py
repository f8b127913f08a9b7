"""`python -m deploy.provision`: make what the services need on NATS, Postgres and Qdrant. Idempotent.

Run it before the services of a deployment start, and after every upgrade; `citebus up` does it by itself. With
CITEBUS_READER_PASSWORD set, the role `citebus_reader` of the retrieval service is made or updated; with
CITEBUS_CHAT_PASSWORD, the role `citebus_chat` of the chat service.
"""

from __future__ import annotations

import asyncio
import os

from services.ingest.text.chunking import CHUNKER_VERSION
from shared.bus import open_bus
from shared.embedding.build import build_embedder
from shared.embedding.embedder import Space
from shared.embedding.settings import EmbeddingSettings
from shared.postgres.roles import CHAT_ROLE, READER_ROLE, ChatRole, ReaderRole
from shared.process import run_until_signal
from shared.provision import provision_bus, provision_database, provision_space
from shared.settings import ServiceSettings, settings_from_environment
from shared.telemetry import configure_logging
from shared.vectors.build import open_store


async def _provision(_: asyncio.Event) -> None:
    settings = settings_from_environment(ServiceSettings)
    dsn = settings.postgres_dsn.get_secret_value()
    reader, chat = os.environ.get("CITEBUS_READER_PASSWORD"), os.environ.get("CITEBUS_CHAT_PASSWORD")
    await provision_database(
        dsn, ReaderRole(READER_ROLE, reader) if reader else None, ChatRole(CHAT_ROLE, chat) if chat else None
    )
    async with open_bus(settings.nats_url, name="citebus-provision", connect_timeout_s=60) as client:
        await provision_bus(client, settings.topology)
    embedder = build_embedder(settings_from_environment(EmbeddingSettings))
    async with open_store(settings) as store:
        await provision_space(dsn, Space(embedder.model, embedder.dimension, CHUNKER_VERSION), store)
    await embedder.aclose()


def main() -> None:
    """Provision and end."""
    configure_logging(style="console")
    run_until_signal(_provision)


if __name__ == "__main__":
    main()
