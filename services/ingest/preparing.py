"""From delivered files to what they say: few at a time in this process, many spread over the processors.

Preparing a page is pure Python: decoding, outline, chunks, the weights of its words. In one process it takes turns with
everything else, under one interpreter lock. So a bulk load is prepared by a pool of processes. It is started soon after
the service, as the first load often comes then, ended when none has come for a while, and started again by the next.
Until it is up, and whenever it breaks, pages are prepared here: the pool makes no promise but speed.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from itertools import chain
from multiprocessing import get_context

import structlog

from services.ingest.shelf import Outcome
from services.ingest.text.preparation import prepare_page
from shared.contracts.files import FileChanged, VaultSettings
from shared.errors import InvalidInput
from shared.process import end_with_parent
from shared.vectors.bm25 import Bm25Encoder

_log = structlog.get_logger(__name__)

_BM25 = Bm25Encoder()

_SAMPLE = b"# Warm-up\n\nThese few sentences are long enough for their language to be seen. They say nothing else.\n"


@dataclass(frozen=True, slots=True)
class PoolOptions:
    """When pages are prepared in processes of their own."""

    processes: int = max(1, (os.cpu_count() or 1) - 1)
    """One processor is left for the service itself. 0: never."""
    bulk: int = 32
    """Pages in a batch from which on it is worth it: handing a page over costs a tenth of preparing it."""
    slice: int = 8
    """Pages handed over at once."""
    start_after_s: float = 3.0
    """A service that lives shorter does not pay for it."""
    idle_s: float = 600.0
    """After so long without a large batch the pool is ended: each process takes some 90 MB."""


class Preparing:
    """Prepares the files of a batch; `end` it at last."""

    def __init__(self, options: PoolOptions) -> None:
        self._options = options
        self._pool: ProcessPoolExecutor | None = None
        self._ready: Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """Load what preparing needs, and start the pool in a while, whether a bulk load has come by then or not."""
        loop = asyncio.get_running_loop()
        loop.run_in_executor(None, _warm_up)
        if self._options.processes:
            self._timer = loop.call_later(self._options.start_after_s, self._is_up)

    async def outcomes(self, messages: Sequence[FileChanged], settings: VaultSettings) -> list[Outcome]:
        """Return for each message its page, the reason why it is rejected, or None where the file is gone."""
        if len(messages) >= self._options.bulk and self._options.processes and self._is_up():
            try:
                return await self._spread(messages, settings)
            except BrokenProcessPool as error:
                _log.warning("preparing.pool_broke", error=str(error))
                self.end()
        return await asyncio.to_thread(_outcomes, messages, settings)

    def end(self) -> None:
        """End the pool, if there is one; its processes do not outlive it."""
        if self._timer is not None:
            self._timer.cancel()
        pool, self._pool, self._ready = self._pool, None, None
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)

    async def _spread(self, messages: Sequence[FileChanged], settings: VaultSettings) -> list[Outcome]:
        assert self._pool is not None
        loop, size = asyncio.get_running_loop(), self._options.slice
        slices = [messages[start : start + size] for start in range(0, len(messages), size)]
        done = await asyncio.gather(
            *(loop.run_in_executor(self._pool, _weighed_outcomes, each, settings) for each in slices)
        )
        return list(chain.from_iterable(done))

    def _is_up(self) -> bool:
        """Tell whether the pool can be used now; start it when there is none."""
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                self._options.processes,
                mp_context=get_context("spawn"),
                initializer=_initialise,
                initargs=(os.getpid(),),
            )
            self._ready = self._pool.submit(_warm_up)
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(self._options.idle_s, self.end)
        return self._ready is not None and self._ready.done()


def _initialise(parent: int) -> None:
    end_with_parent(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's signals are the service's business


def _warm_up() -> None:
    """Load what preparing needs: the model of languages, stemmers, stop words."""
    page = prepare_page("warm-up.md", _SAMPLE, VaultSettings(vault_id="none"))
    _BM25.document(page.chunks[0].lexical_text, page.language)


def _weighed_outcomes(messages: Sequence[FileChanged], settings: VaultSettings) -> list[Outcome]:
    """Return outcomes with the weights of every chunk's words: in a bulk load nearly all chunks are new."""
    return [
        outcome if outcome is None or isinstance(outcome, str)
        else replace(
            outcome,
            weights=tuple(_BM25.document(chunk.lexical_text, outcome.language) for chunk in outcome.chunks),
        )
        for outcome in _outcomes(messages, settings)
    ]  # fmt: skip


def _outcomes(messages: Sequence[FileChanged], settings: VaultSettings) -> list[Outcome]:
    return [_outcome(message, settings) for message in messages]


def _outcome(message: FileChanged, settings: VaultSettings) -> Outcome:
    if message.change == "removed":
        return None
    if message.change == "unreadable" or message.content is None:
        return message.reason or "The file could not be read."
    try:
        return prepare_page(message.path, message.content, settings)
    except InvalidInput as error:
        return str(error)
