"""All commands in one place, and the entry point of the distribution."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import NoReturn

import typer

from deploy.embedded.cli.demo import demo
from deploy.embedded.cli.doctor import doctor
from deploy.embedded.cli.ingest import ingest
from deploy.embedded.cli.rebuild import rebuild
from deploy.embedded.cli.search import search
from deploy.embedded.cli.status import status
from deploy.embedded.cli.up import up
from deploy.embedded.cli.version import version
from deploy.embedded.cli.wait import wait

COMMANDS: dict[Callable[..., NoReturn], str] = {
    up: "Start everything on this machine and keep vaults searchable.",
    search: "Find the passages that answer a question.",
    status: "Show what is there, what waits, what was rejected.",
    wait: "Wait until a file is searchable, or embedded.",
    ingest: "Bring a vault up to date once, and end.",
    rebuild: "Build all stores again from empty ones.",
    doctor: "Find out what is wrong on this machine.",
    demo: "Try it all on a sample vault.",
    version: "Print versions.",
}
"""Every command, with what the list of commands says about it."""

_HELP = """Keep a vault of Markdown searchable, with citations that stay true.

\b
First steps:
  citebus demo                      everything on a sample vault
  citebus up ~/notes                keep your own searchable
  citebus search "your question"    ask it

\b
Exit codes: 0 done; 1 it did not work, or the answer is no; 2 asked wrongly; 130 stopped with Ctrl-C.
"""


def build_app(*, rich_help: bool = False) -> typer.Typer:
    """Return the command line; `rich_help` draws help and usage errors in boxes, for a terminal."""
    app = typer.Typer(
        name="citebus",
        help=_HELP,
        no_args_is_help=True,
        rich_markup_mode="rich" if rich_help else None,
        pretty_exceptions_enable=False,  # shows local variables, and passwords are among them
    )
    for command, summary in COMMANDS.items():
        app.command(command.__name__, help=_flowing(command.__doc__ or ""), short_help=summary)(command)
    return app


def _flowing(text: str) -> str:
    """Return a docstring with its paragraphs unbroken, to be wrapped for the reader; what is marked with \\b stays."""
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(part if part.startswith("\b") else " ".join(part.split()) for part in paragraphs)


def main() -> None:
    """Run the command line and exit with its code."""
    build_app(rich_help=sys.stdout.isatty() and sys.stderr.isatty())(prog_name="citebus")
