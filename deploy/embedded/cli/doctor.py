"""`citebus doctor`: what is right on this machine, what is wrong, and what to do about it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.text import Text

from deploy.embedded.cli import checks
from deploy.embedded.cli.checks import Finding
from deploy.embedded.cli.options import AsJson, DataDir
from deploy.embedded.cli.screen import printable
from deploy.embedded.cli.vault_checks import check_inotify, check_vault
from deploy.embedded.cli.world import DONE, FAILED, World, run
from deploy.embedded.known_vaults import known_vaults
from deploy.embedded.provider_text import provider_text, unreachable
from deploy.embedded.state import RunningStack, read_running_stack
from shared.contracts.providers import ProviderInfo
from shared.errors import CitebusError

Vaults = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="VAULT...",
        exists=True,
        file_okay=False,
        resolve_path=True,
        show_default=False,
        help="Folders to look at. Default: the known vaults.",
    ),
]


def doctor(context: typer.Context, data_dir: DataDir, vaults: Vaults = None, json_output: AsJson = False) -> NoReturn:
    """Check versions, programs, model, data folder, ports, stack, chat provider, limits and vaults; change nothing.

    \b
    Examples:
      citebus doctor
      citebus doctor ~/notes

    Exit codes: 0 all is well, 1 something is wrong: the lines with a cross say what to do.
    """

    async def work(world: World) -> int:
        folders = vaults or list(known_vaults(data_dir).values())
        findings = [await asyncio.to_thread(check) for check in machine_checks(data_dir, folders)]
        findings.append(await check_stack(world, data_dir))
        findings.append(await check_provider(world, data_dir))
        if json_output:
            world.out.out(json.dumps([asdict(finding) for finding in findings], indent=2), highlight=False)
        else:
            show_findings(world.out, findings)
        return DONE if all(finding.ok for finding in findings) else FAILED

    run(context, work)


def machine_checks(data_dir: Path, folders: Sequence[Path]) -> list[Callable[[], Finding]]:
    """Return all checks that need no stack, in the order in which they are shown."""
    return [
        checks.check_python,
        checks.check_packages,
        checks.check_nats_server,
        lambda: checks.check_postgres(data_dir),
        checks.check_model,
        lambda: checks.check_data_folder(data_dir),
        lambda: checks.check_ports(data_dir),
        lambda: check_inotify(list(folders)),
        *((lambda folder=folder: check_vault(folder)) for folder in folders),
    ]


async def check_stack(world: World, data_dir: Path) -> Finding:
    """The stack that is written down as running answers for each of its vaults; none running is well too."""
    name = "stack"
    try:
        running = read_running_stack(data_dir)
        if running is None:
            return Finding(name, True, f"none runs on {data_dir}; start one with citebus up VAULT")
        answered = await _ask(world, running)
    except CitebusError as error:
        return Finding(name, False, str(error), "stop it with Ctrl-C where it runs, and run citebus up again")
    since = f"{running.started_at:%Y-%m-%d %H:%M:%S}"
    return Finding(name, True, f"process {running.pid}, version {running.version}, since {since}: {answered}")


async def check_provider(world: World, data_dir: Path) -> Finding:
    """Who answers questions, by the running stack, else by the settings, has what it needs and can be reached."""
    name = "chat provider"
    try:
        info = await _provider(world, data_dir)
    except CitebusError as error:
        return Finding(name, False, str(error), "correct the settings CITEBUS_CHAT_*, or restart the stack")
    if not info.ready:
        return Finding(name, False, provider_text(info), info.missing or "see CITEBUS_CHAT_* in docs/settings.md")
    reason = await unreachable(info)
    if reason is not None:
        advice = "start that server, correct CITEBUS_CHAT_BASE_URL, or ask with --provider extractive"
        return Finding(name, False, f"{provider_text(info)}: {reason}", advice)
    return Finding(name, True, provider_text(info))


async def _provider(world: World, data_dir: Path) -> ProviderInfo:
    running = read_running_stack(data_dir)
    if running is None:
        return world.provider_by_settings()
    async with world.connect(running.nats_url) as client:
        return await client.provider()


async def _ask(world: World, running: RunningStack) -> str:
    async with world.connect(running.nats_url) as client:
        replies = [await client.status(vault.vault_id) for vault in running.vaults]
    return ", ".join(f"{reply.vault_id} {reply.pages} pages" for reply in replies) or "it watches no vault"


def show_findings(console: Console, findings: Sequence[Finding]) -> None:
    """Print a line per finding, and under a failed one what to do."""
    for finding in findings:
        mark = Text("✓ ", style="green") if finding.ok else Text("✗ ", style="bold red")
        mark.append(f"{finding.name}: ", style="bold")
        mark.append(printable(finding.seen), style="default")
        console.print(mark, soft_wrap=True)
        if not finding.ok:
            console.print(Text(f"  → {printable(finding.advice)}", style="yellow"), soft_wrap=True)
