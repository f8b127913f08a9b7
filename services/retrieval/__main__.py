"""`python -m services.retrieval`: the retrieval service as a process.

Servers and limits come from the environment (CITEBUS_*, see docs/settings.md). Ends cleanly on SIGINT and SIGTERM.
"""

from __future__ import annotations

import asyncio

from services.retrieval.app import running_alone
from services.retrieval.settings import RetrievalSettings
from shared.embedding.settings import EmbeddingSettings
from shared.process import run_until_signal
from shared.scoring.settings import ScoringSettings
from shared.settings import ServiceSettings, settings_from_environment
from shared.telemetry import configure_logging, configure_tracing


async def _run(stop: asyncio.Event) -> None:
    async with running_alone(
        settings_from_environment(ServiceSettings),
        settings_from_environment(EmbeddingSettings),
        settings_from_environment(RetrievalSettings),
        settings_from_environment(ScoringSettings),
    ):
        await stop.wait()


def main() -> None:
    """Run until a signal."""
    settings = settings_from_environment(ServiceSettings)
    configure_logging(level=settings.log_level, style=settings.log_format)
    configure_tracing("retrieval")
    run_until_signal(_run)


if __name__ == "__main__":
    main()
