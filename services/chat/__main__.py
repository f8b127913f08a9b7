"""`python -m services.chat`: the chat service as a process.

Servers, providers and limits come from the environment (CITEBUS_*, see docs/settings.md). Ends cleanly on SIGINT and
SIGTERM: turns that run are stored and told as cancelled.
"""

from __future__ import annotations

import asyncio

from services.chat.app import running_alone
from services.chat.providers.settings import ChatProviderSettings
from services.chat.settings import ChatSettings
from shared.process import run_until_signal
from shared.scoring.settings import ScoringSettings
from shared.settings import ServiceSettings, settings_from_environment
from shared.telemetry import configure_logging, configure_tracing


async def _run(stop: asyncio.Event) -> None:
    async with running_alone(
        settings_from_environment(ServiceSettings),
        settings_from_environment(ChatSettings),
        settings_from_environment(ChatProviderSettings),
        settings_from_environment(ScoringSettings),
    ):
        await stop.wait()


def main() -> None:
    """Run until a signal."""
    settings = settings_from_environment(ServiceSettings)
    configure_logging(level=settings.log_level, style=settings.log_format)
    configure_tracing("chat")
    run_until_signal(_run)


if __name__ == "__main__":
    main()
