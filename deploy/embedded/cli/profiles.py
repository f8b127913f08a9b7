"""`citebus profiles`: the named ways to search that the running service has."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NoReturn

import typer
from pydantic import JsonValue
from rich.console import Console

from deploy.embedded.cli.options import AsJson, DataDir
from deploy.embedded.cli.screen import open_table, printable
from deploy.embedded.cli.session import open_session
from deploy.embedded.cli.world import DONE, World, run
from shared.contracts.profiles import ProfileInfo

_NEEDS = {"embedding": "embedding", "scorer": "cross-encoder", "rewriter": "chat model"}
"""Needs as people call them; a later service may have others."""


def profiles(context: typer.Context, data_dir: DataDir, json_output: AsJson = False) -> NoReturn:
    """List the retrieval profiles: what each does, what it needs, whether it can be used.

    A search names one with --profile, else the default answers. More are made in CITEBUS_RETRIEVAL_PROFILES, which
    docs/settings.md explains.

    \b
    Examples:
      citebus profiles
      citebus profiles --json | jq -r '.profiles[] | select(.ready) | .name'
      citebus search "brake pads" --profile sparse

    Exit codes: 0 listed, 1 the service does not answer, 2 asked wrongly.
    """

    async def work(world: World) -> int:
        async with open_session(world, data_dir) as session:
            found = (await session.client.profiles()).profiles
        if json_output:
            listed = [profile.model_dump(mode="json") for profile in found]
            world.out.out(json.dumps({"profiles": listed}, ensure_ascii=False, indent=2), highlight=False)
        else:
            show_profiles(world.out, found)
        return DONE

    run(context, work)


def show_profiles(console: Console, found: Sequence[ProfileInfo]) -> None:
    """Print one line per profile, and below what the ones need that can't be used."""
    table = open_table(console, "profile", "kind", "settings", "needs", "state")
    for profile in found:
        name = f"{profile.name} (default)" if profile.default else profile.name
        needs = ", ".join(_NEEDS.get(need, need) for need in profile.needs)
        state = "ready" if profile.ready else "not ready"
        row = (name, profile.kind, settings_text(profile.settings), needs or "nothing", state)
        table.add_row(*map(printable, row))
    console.print(table)
    for profile in found:
        if profile.missing:
            console.print(printable(f"{profile.name}: {profile.missing}"), style="yellow", soft_wrap=True)


def settings_text(settings: dict[str, JsonValue]) -> str:
    """Return settings as people read them: `rrf_k 60, mmr (lambda 0.7, depth 32)`."""
    return ", ".join(f"{name} {_value(value)}" for name, value in settings.items())


def _value(value: JsonValue) -> str:
    if isinstance(value, dict):
        return f"({settings_text(value)})"
    return f"{value:g}" if isinstance(value, float) else str(value)
