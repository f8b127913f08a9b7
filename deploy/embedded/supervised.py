"""Keeps one server running: starts it, waits until it really answers, restarts it after a crash, stops it in order.

A crash is reported and followed by a restart on the same port, at once after a long run, else after a pause that
doubles. A server that keeps crashing soon after its start is given up: `wait` raises, with the end of its log.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

import structlog

from deploy.embedded.processes import Child, Launch, bound_log, last_lines
from shared.errors import CitebusError, Unavailable

_log = structlog.get_logger(__name__)

_POLL_S = 0.01
"""How often a starting server is asked whether it answers."""

_LOG_CHECK_S = 30.0
"""How often the size of a log is looked at."""


class Server(Protocol):
    """A server that can be supervised."""

    @property
    def name(self) -> str:
        """What people call it."""
        ...

    async def prepare(self, *, restart: bool) -> Launch:
        """Make everything ready and say how to run it; called before every start. On a restart the port must stay.

        Stops leftovers of an earlier run. Raises CitebusError when it can't be started.
        """
        ...

    async def check(self) -> None:
        """Return when the server answers; raises Unavailable while it does not, PermanentError if it never will."""
        ...


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    """When to restart, when to give up, how long to wait."""

    quick_failures: int = 5
    """So many crashes in a row, each sooner than `quick_s` after its start, and the server is given up."""
    quick_s: float = 10.0
    first_delay_s: float = 0.1
    """Pause before the restart after the second quick crash in a row; doubled with each further one."""
    longest_delay_s: float = 5.0
    ready_s: float = 60.0
    """Longest start: after a crash a server may have much to recover."""
    grace_s: float = 10.0
    """Longest orderly stop, then it is killed."""
    port_attempts: int = 3
    """How often a first start is tried, each time with a port chosen again."""

    def delay_s(self, failures: int) -> float:
        """Return the pause after so many quick crashes in a row."""
        if failures <= 1:
            return 0.0
        return min(self.first_delay_s * 2.0 ** (failures - 2), self.longest_delay_s)


@dataclass(frozen=True, slots=True)
class Crashed:
    """A server ended unasked, or did not come back."""

    server: str
    how: str
    log_tail: str
    failures: int
    """Quick crashes in a row, this one included."""


@dataclass(frozen=True, slots=True)
class Restarted:
    """A server that had crashed answers again."""

    server: str


Report = Callable[[Crashed | Restarted], None]


class _EndedEarly(Unavailable):
    """The server ended before it answered."""


class Supervised:
    """One server under supervision, started and stopped once; an async context manager does both.

    Use it from one event loop, in a thread that lives as long as the server shall.
    """

    def __init__(self, server: Server, policy: RestartPolicy | None = None, report: Report | None = None) -> None:
        self._server = server
        self._policy = policy or RestartPolicy()
        self._report = report or _log_only
        self._stop_asked = asyncio.Event()
        self._child: Child | None = None
        self._keeping: asyncio.Task[None] | None = None
        self._failures = 0

    @property
    def pid(self) -> int | None:
        """Process id of the server, None while it does not run."""
        return self._child.pid if self._child is not None and self._child.running else None

    async def start(self) -> None:
        """Start the server and return when it answers.

        Raises Unavailable (it ended or did not answer in time; the message has the end of its log) or the
        PermanentError that makes a start impossible. Nothing is left running then.
        """
        child = await self._begin_somewhere()
        self._keeping = asyncio.create_task(self._keep(child))

    async def wait(self) -> None:
        """Return when the server was stopped; raises Unavailable when it was given up."""
        if self._keeping is not None:
            await asyncio.shield(self._keeping)

    async def stop(self) -> None:
        """Stop the server in order, kill it after the grace; does nothing when it does not run."""
        self._stop_asked.set()
        with suppress(CitebusError):  # given up before: that is for `wait` to tell
            await self.wait()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.stop()

    async def _begin_somewhere(self) -> Child:
        """Begin; when another process was faster to take the chosen port, the server ends: choose again."""
        for _ in range(self._policy.port_attempts - 1):
            with suppress(_EndedEarly):
                return await self._begin(restart=False)
        return await self._begin(restart=False)

    async def _begin(self, *, restart: bool) -> Child:
        launch = await self._server.prepare(restart=restart)
        child = self._child = await Child.spawn(launch)
        try:
            await self._become_ready(child)
        except BaseException:
            await child.stop(self._policy.grace_s)
            raise
        return child

    async def _become_ready(self, child: Child) -> None:
        clock = asyncio.get_running_loop().time
        deadline = clock() + self._policy.ready_s
        while child.running:
            try:
                return await self._server.check()
            except Unavailable as error:
                if self._stop_asked.is_set() or clock() > deadline:
                    raise Unavailable(self._explain("does not answer", child)) from error
            await child.wait(_POLL_S)
        raise _EndedEarly(self._explain(f"ended with {child.how_it_ended()} before it answered", child))

    async def _keep(self, child: Child) -> None:
        """Watch the server until it shall stop; restart it after each crash; raises when it is given up."""
        while not await self._stopped(child):
            if child.age_s() >= self._policy.quick_s:
                self._failures = 0
            restarted = await self._bring_back(child)
            if restarted is None:
                return
            child = restarted

    async def _stopped(self, child: Child) -> bool:
        """Wait until the child ends; return True when it was asked to. Keeps its log short meanwhile."""
        asked, ended = asyncio.create_task(self._stop_asked.wait()), asyncio.create_task(child.wait())
        while not (await asyncio.wait({asked, ended}, timeout=_LOG_CHECK_S, return_when=asyncio.FIRST_COMPLETED))[0]:
            bound_log(child.launch.log)
        asked.cancel()
        if self._stop_asked.is_set():
            await child.stop(self._policy.grace_s)
        await ended
        return self._stop_asked.is_set()

    async def _stop_within(self, seconds: float) -> bool:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stop_asked.wait(), seconds)
        return self._stop_asked.is_set()

    async def _bring_back(self, crashed: Child) -> Child | None:
        """Restart until the server answers; None when it was asked to stop meanwhile; raises when it is given up."""
        self._count_crash(crashed)
        while not await self._stop_within(self._policy.delay_s(self._failures)):
            try:
                child = await self._begin(restart=True)
            except Unavailable as error:
                _log.warning("embedded.server_did_not_come_back", server=self._server.name, error=str(error))
                if not self._stop_asked.is_set():
                    self._count_crash(self._child or crashed)
            else:
                self._report(Restarted(self._server.name))
                return child
        return None

    def _count_crash(self, child: Child) -> None:
        self._failures += 1
        how = child.how_it_ended()
        _log.warning("embedded.server_crashed", server=self._server.name, how=how, failures=self._failures)
        self._report(Crashed(self._server.name, how, last_lines(child.launch.log), self._failures))
        if self._failures >= self._policy.quick_failures:
            raise Unavailable(self._explain(f"crashed {self._failures} times in a row and was given up", child))

    def _explain(self, what: str, child: Child) -> str:
        log = child.launch.log
        return f"{self._server.name} {what}; the last lines of {log}:\n{last_lines(log)}"


def _log_only(event: Crashed | Restarted) -> None:
    del event
