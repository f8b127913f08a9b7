"""What commands take from outside, in one object that `main` makes and tests replace."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import NoReturn, TypeVar

import typer
from rich.console import Console

from deploy.embedded.cli.screen import open_console, printable
from deploy.embedded.client import BusClient
from deploy.embedded.stack_types import OpenedStack, StackOpener, StackOptions
from shared.contracts.providers import ProviderInfo
from shared.errors import CitebusError, InvalidInput, NotFound
from shared.settings import settings_from_environment
from shared.telemetry import configure_logging

try:
    from uvloop import new_event_loop
except ImportError:  # not on Windows
    from asyncio import new_event_loop

ErrorT = TypeVar("ErrorT", bound=BaseException)

DONE = 0
FAILED = 1
MISUSED = 2
REFUSED = 3
"""Asked rightly, but the vault does not answer that."""

INTERRUPTED = 130  # 128 and the number of SIGINT, as shells have it

QUIET = "ERROR"
"""Log level of commands that end by themselves: what matters reaches the reader as an error sentence."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How progress is watched."""

    poll_s: float = 0.2
    stall_s: float = 60.0
    """Without any change for so long, nothing more is expected: longer than the slowest batch of an embedder."""


def _open_stack(options: StackOptions, /) -> AbstractAsyncContextManager[OpenedStack]:
    try:
        from deploy.embedded.stack import open_stack  # noqa: PLC0415  (loads every service: only when one is started)
    except ModuleNotFoundError as error:
        raise NotFound(f"the Python package {error.name} is not installed: pip install 'citebus[all]'") from error
    return open_stack(options)


def _provider_by_settings() -> ProviderInfo:
    try:
        from services.chat.providers.info import provider_info  # noqa: PLC0415  (as above)
        from services.chat.providers.settings import ChatProviderSettings  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise NotFound(f"the Python package {error.name} is not installed: pip install 'citebus[all]'") from error
    return provider_info(settings_from_environment(ChatProviderSettings))


def _configure_logging(level: str) -> None:
    configure_logging(level=level, style="console")


@dataclass(frozen=True, slots=True)
class World:
    """The outside: how a stack is opened, how services are reached, where output goes."""

    open_stack: StackOpener = _open_stack
    connect: Callable[[str], BusClient] = BusClient
    configure_logging: Callable[[str], None] = _configure_logging
    provider_by_settings: Callable[[], ProviderInfo] = _provider_by_settings
    """Who would answer questions in a stack that starts now; raises InvalidInput for settings that are wrong."""
    out: Console = field(default_factory=open_console)
    err: Console = field(default_factory=partial(open_console, stderr=True))
    pace: Pace = Pace()

    def note(self, text: str) -> None:
        """Say something beside the result, on stderr."""
        self.err.print(printable(text), style="dim", soft_wrap=True)

    def agreed(self, question: str) -> bool:
        """Ask on stderr and return whether the answer is yes; no answer is a no.

        Ask before the event loop runs, which would hold back Ctrl-C until the answer.
        """
        self.err.print(printable(f"{question} [y/N] "), end="", soft_wrap=True)
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    def complain(self, text: str) -> None:
        """Say what is wrong, on stderr, as one line."""
        self.err.print(f"citebus: {' '.join(printable(text).split())}", style="red", soft_wrap=True)


def world_of(context: typer.Context) -> World:
    """Return the world that a command runs in."""
    if not isinstance(context.obj, World):
        context.obj = World()
    return context.obj


def run(context: typer.Context, work: Callable[[World], Awaitable[int]], *, log_level: str = QUIET) -> NoReturn:
    """Run a command to its exit code; errors of citebus and of the system become a sentence on stderr, code 1 or 2."""
    world = world_of(context)
    world.configure_logging(log_level)

    async def working() -> int:
        return await work(world)

    try:
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            code = runner.run(working())
    except* (CitebusError, OSError) as errors:  # also out of a group, as tasks raise them
        code = _explain(world, errors)
    except* KeyboardInterrupt:
        code = INTERRUPTED
    raise typer.Exit(code)


def _explain(world: World, errors: BaseExceptionGroup[CitebusError | OSError]) -> int:
    """Say the first of the errors and return the exit code."""
    error = next(_leaves(errors))
    world.complain(str(error))
    return MISUSED if isinstance(error, InvalidInput) else FAILED


def _leaves(errors: BaseExceptionGroup[ErrorT]) -> Iterator[ErrorT]:
    """Yield the errors in a group and in the groups inside it, in order."""
    for error in errors.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _leaves(error)
        else:
            yield error
