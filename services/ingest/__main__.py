"""`python -m services.ingest worker embedder` or `… watcher VAULT…`: roles of the ingest service as a process.

Servers and limits come from the environment (CITEBUS_*, see docs/settings.md); what the roles need must have been
provisioned (`python -m deploy.provision`). Ends cleanly on SIGINT and SIGTERM.
"""

from __future__ import annotations

import argparse
import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

from services.ingest.app import open_resources, running_embedders, running_workers
from services.ingest.settings import IngestSettings
from services.ingest.watcher.app import running_watcher
from shared.bus import open_bus
from shared.embedding.settings import EmbeddingSettings
from shared.process import run_until_signal
from shared.settings import ServiceSettings, settings_from_environment
from shared.telemetry import configure_logging, configure_tracing

_ROLES = ("worker", "embedder", "watcher")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m services.ingest", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("roles", nargs="+", help=f"{', '.join(_ROLES)}; folders after 'watcher' are vaults")
    parser.add_argument("--state-dir", type=Path, default=Path("/var/lib/citebus/watcher"), help="watcher's manifests")
    return parser.parse_args()


async def _run(arguments: argparse.Namespace, roles: set[str], vaults: list[Path], stop: asyncio.Event) -> None:
    settings, ingest = settings_from_environment(ServiceSettings), settings_from_environment(IngestSettings)
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(open_bus(settings.nats_url, name="citebus-ingest"))
        if roles & {"worker", "embedder"}:
            resources = await stack.enter_async_context(
                open_resources(client, settings, settings_from_environment(EmbeddingSettings))
            )
            if "embedder" in roles:
                await stack.enter_async_context(running_embedders(resources, ingest))
            if "worker" in roles:
                await stack.enter_async_context(running_workers(resources, ingest))
        for vault in vaults:
            await stack.enter_async_context(running_watcher(client, settings.topology, vault, arguments.state_dir))
        await stop.wait()


def main() -> None:
    """Run the roles that the command line names."""
    arguments = _arguments()
    words: list[str] = arguments.roles
    roles = {word for word in words if word in _ROLES}
    vaults = [Path(word) for word in words if word not in _ROLES]
    if not roles or bool(vaults) != ("watcher" in roles):
        raise SystemExit(f"name one or more roles ({', '.join(_ROLES)}), and folders for 'watcher' alone: --help")
    settings = settings_from_environment(ServiceSettings)
    configure_logging(level=settings.log_level, style=settings.log_format)
    configure_tracing("ingest")
    run_until_signal(lambda stop: _run(arguments, roles, vaults, stop))


if __name__ == "__main__":
    main()
