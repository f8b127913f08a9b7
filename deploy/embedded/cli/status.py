"""`citebus status`: pages by state, what waits, what was rejected and why, spaces and sizes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import typer
from rich.console import Console

from deploy.embedded.cli.options import AsJson, DataDir, VaultName
from deploy.embedded.cli.screen import on_one_line, open_table, printable, size
from deploy.embedded.cli.session import chosen_vaults, folder_named, open_session
from deploy.embedded.cli.world import DONE, World, run
from deploy.embedded.provider_text import provider_text
from shared.contracts.ingest import RejectedFile, StatusReply
from shared.contracts.providers import ProviderInfo

_STORES = ("nats", "postgres", "vectors")


def status(context: typer.Context, data_dir: DataDir, vault: VaultName = None, json_output: AsJson = False) -> NoReturn:
    """Show how far ingest is: pages, chunks, vectors, what waits, what was rejected and why, who answers.

    \b
    Examples:
      citebus status
      citebus status --vault orveig
      citebus status --json | jq '.vaults[].rejected'

    Exit codes: 0 shown, 1 a service does not answer, 2 asked wrongly.
    """

    async def work(world: World) -> int:
        async with open_session(world, data_dir, folder_named(vault)) as session:
            vaults = chosen_vaults(session, vault) if vault is not None else tuple(sorted(session.vaults))
            replies = await asyncio.gather(*(session.client.status(vault_id) for vault_id in vaults))
            folders = dict(session.vaults)
            provider = await session.client.provider()
        sizes = await asyncio.to_thread(store_sizes, data_dir)
        if json_output:
            world.out.out(_as_json(replies, data_dir, sizes, provider), highlight=False)
            return DONE
        for reply in replies:
            show_status(world.out, reply, folders[reply.vault_id])
        world.out.print(printable(f"questions are answered by {provider_text(provider)}"), soft_wrap=True)
        stored = ", ".join(f"{name} {size(count)}" for name, count in sizes.items())
        world.out.print(f"{data_dir}: {stored}", style="dim", soft_wrap=True)
        return DONE

    run(context, work)


def show_status(console: Console, reply: StatusReply, folder: Path) -> None:
    """Print one vault's counts, its spaces, and its rejected files."""
    console.print(f"{reply.vault_id}  {printable(str(folder))}", style="bold", soft_wrap=True)
    table = open_table(console, "what", "count", right=("count",))
    for name, count in _counts(reply):
        table.add_row(name, count)
    console.print(table)
    for space in reply.spaces:
        live = "live" if space.live else "not live"
        console.print(f"space {space.name} ({live}): {space.points:,} points", soft_wrap=True)
    show_rejected(console, reply.rejected, reply.rejected_count)
    console.print()


def show_rejected(console: Console, rejected: Sequence[RejectedFile], count: int) -> None:
    """Print the rejected files with their reasons; `count` may be more than are listed."""
    if not count:
        return
    console.print(f"{count} rejected:", style="yellow")
    for file in rejected:
        kept = " (the last good revision stays searchable)" if file.last_good_is_live else ""
        console.print(on_one_line(f"  {file.path}: {file.reason}{kept}"), soft_wrap=True)
    if count > len(rejected):
        console.print(f"  and {count - len(rejected)} more")


def store_sizes(data_dir: Path) -> dict[str, int]:
    """Return what each store takes on disk, in bytes; files that go away meanwhile don't count."""
    return {name: sum(_size(file) for file in (data_dir / name).rglob("*")) for name in _STORES}


def _size(file: Path) -> int:
    try:
        return file.stat().st_size if file.is_file() else 0
    except OSError:
        return 0


def _counts(reply: StatusReply) -> list[tuple[str, str]]:
    return [
        ("pages", f"{reply.pages:,}"),
        ("chunks", f"{reply.chunks:,}"),
        ("chunks embedded", f"{reply.embedded_chunks:,}"),
        ("files rejected", f"{reply.rejected_count:,}"),
        ("files removed", f"{reply.removed:,}"),
        ("file changes waiting (all vaults)", f"{reply.files_lag:,}"),
        ("texts waiting (all vaults)", f"{reply.embed_lag:,}"),
        ("dead links", f"{reply.dead_links:,}"),
        ("ambiguous links", f"{reply.ambiguous_links:,}"),
        ("text", size(reply.text_bytes)),
        ("data version", f"{reply.data_version:,}"),
    ]


def _as_json(replies: Sequence[StatusReply], data_dir: Path, sizes: dict[str, int], provider: ProviderInfo) -> str:
    vaults = [reply.model_dump(mode="json") for reply in replies]
    chat = provider.model_dump(mode="json")
    whole = {"data_dir": str(data_dir), "size_bytes": sizes, "chat": chat, "vaults": vaults}
    return json.dumps(whole, ensure_ascii=False, indent=2)
