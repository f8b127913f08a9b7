"""All commands in one place, and the entry point of the distribution."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import NoReturn

import typer

from deploy.embedded.cli.ask import ask
from deploy.embedded.cli.calibrate import calibrate
from deploy.embedded.cli.chat import chat
from deploy.embedded.cli.conversations import export, list_conversations, rename, search_conversations, show
from deploy.embedded.cli.conversations_figures import costs, score
from deploy.embedded.cli.conversations_keeping import delete, read, share, unshare
from deploy.embedded.cli.demo import demo
from deploy.embedded.cli.doctor import doctor
from deploy.embedded.cli.eval import eval
from deploy.embedded.cli.ingest import ingest
from deploy.embedded.cli.profiles import profiles
from deploy.embedded.cli.rebuild import rebuild
from deploy.embedded.cli.save import save
from deploy.embedded.cli.search import search
from deploy.embedded.cli.status import status
from deploy.embedded.cli.up import up
from deploy.embedded.cli.version import version
from deploy.embedded.cli.wait import wait

COMMANDS: dict[Callable[..., NoReturn], str] = {
    up: "Start everything on this machine and keep vaults searchable.",
    ask: "Ask a question; the answer cites its sources.",
    chat: "Talk with a vault: answers stream, follow-ups work.",
    search: "Find the passages that answer a question.",
    save: "Make a wiki page of an answer.",
    profiles: "List the ways to search, and what each needs.",
    status: "Show what is there, what waits, what was rejected.",
    wait: "Wait until a file is searchable, or embedded.",
    ingest: "Bring a vault up to date once, and end.",
    rebuild: "Build all stores again from empty ones.",
    doctor: "Find out what is wrong on this machine.",
    demo: "Try it all on a sample vault.",
    calibrate: "Find when a vault should rather not answer.",
    eval: "Measure how good retrieval is on judged questions.",
    version: "Print versions.",
}
"""Every command, with what the list of commands says about it."""

CONVERSATIONS: dict[str, tuple[Callable[..., NoReturn], str]] = {
    "list": (list_conversations, "List conversations, the latest first."),
    "show": (show, "Show one word for word, with sources and costs."),
    "search": (search_conversations, "Find questions and answers by their words."),
    "rename": (rename, "Give one another title."),
    "delete": (delete, "Delete one for good."),
    "export": (export, "Write one down as Markdown or JSON."),
    "share": (share, "Make a token to read one with."),
    "read": (read, "Read one that somebody shared."),
    "unshare": (unshare, "Revoke shares of one."),
    "costs": (costs, "Sum tokens and costs by day."),
    "score": (score, "Score how faithful answers are."),
}
"""The commands of `citebus conversations`."""

_HELP = """Keep a vault of Markdown searchable, with citations that stay true.

\b
First steps:
  citebus demo                      everything on a sample vault
  citebus up ~/notes                keep your own searchable
  citebus ask "your question"       ask it; citebus chat asks on

\b
Exit codes: 0 done; 1 it did not work, or the answer is no; 2 asked wrongly; 3 the vault does
not answer that; 130 stopped with Ctrl-C.
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
    group = _conversations(rich_help=rich_help)
    app.add_typer(group, name="conversations", short_help="What was asked and answered before.")
    return app


def _conversations(*, rich_help: bool) -> typer.Typer:
    group = typer.Typer(
        help="List, show, find, export, share and delete what was asked and answered.",
        no_args_is_help=True,
        rich_markup_mode="rich" if rich_help else None,
    )
    for name, (command, summary) in CONVERSATIONS.items():
        group.command(name, help=_flowing(command.__doc__ or ""), short_help=summary)(command)
    return group


def _flowing(text: str) -> str:
    """Return a docstring with its paragraphs unbroken, to be wrapped for the reader; what is marked with \\b stays."""
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(part if part.startswith("\b") else " ".join(part.split()) for part in paragraphs)


def main() -> None:
    """Run the command line and exit with its code."""
    build_app(rich_help=sys.stdout.isatty() and sys.stderr.isatty())(prog_name="citebus")
