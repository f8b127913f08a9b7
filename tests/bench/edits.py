"""Edits of one paragraph, one after the other: from the save until `ingest.wait` says that it is searchable."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise

from nats.aio.msg import Msg

from shared.topology import Topology
from tests.bench.corpus import Corpus
from tests.bench.figures import Bar, Figure, p50_p99, percentile
from tests.bench.product import HASHING, VAULT_ID, Product
from tests.bench.scenario import Run
from tests.bench.slow_provider import slow_provider

_SLOW_TEXTS_PER_S = 20.0
_WARM_UP = 3
"""Edits before the first one that counts: statements are prepared, caches are filled."""

_PAUSE_S = (0.05, 0.15)
"""Between two edits, at random, so that they meet the product's own rhythms at every phase."""


@dataclass(slots=True)
class Edits:
    """What was measured."""

    times_ms: list[float] = field(default_factory=list[float])
    stages_ms: list[tuple[float, float, float]] = field(default_factory=list[tuple[float, float, float]])
    """Save to published, published to announced as searchable, announced to the reply."""
    texts: list[int] = field(default_factory=list[int])
    """Texts queued for the embedder by each edit."""

    def add(self, moments_s: tuple[float, float, float, float], texts: int) -> None:
        """Take in one edit: when it was saved, published, announced and replied to."""
        self.times_ms.append((moments_s[3] - moments_s[0]) * 1000)
        watcher, worker, reply = ((after - before) * 1000 for before, after in pairwise(moments_s))
        self.stages_ms.append((watcher, worker, reply))
        self.texts.append(texts)

    def stages(self) -> str:
        """Say where the time goes."""
        watcher, worker, reply = (percentile(times, 50) for times in zip(*self.stages_ms, strict=True))
        return f"watcher {watcher:.1f}, worker {worker:.1f}, reply {reply:.1f} ms"


async def measure(run: Run) -> list[Figure]:
    """Edit in a small vault."""
    return await _measure_idle(run, run.scale.files)


async def measure_large(run: Run) -> list[Figure]:
    """Edit in a large vault, where an edit must cost the same."""
    return await _measure_idle(run, run.scale.large_files)


async def measure_behind_backlog(run: Run) -> list[Figure]:
    """Edit while many files are searchable and wait for the vectors of a slow provider."""
    files = run.scale.waiting_files
    async with slow_provider(_SLOW_TEXTS_PER_S) as environment:
        edits, waiting = await _edit_a_vault(run, files, environment, embedded=False)
    work = f"edit while {files} files wait for a slow embedder"
    note = f"{edits.stages()}; {waiting} texts wait at the end"
    p50, p99 = p50_p99(work, edits.times_ms, None, note)
    return [p50, Figure(p99.work, p99.measured, p99.unit, Bar(500, 200), p99.note)]


async def _measure_idle(run: Run, files: int) -> list[Figure]:
    edits, _ = await _edit_a_vault(run, files, HASHING, embedded=True)
    work = f"edit one paragraph of {files} files"
    several = sum(each > 1 for each in edits.texts)
    note = f"p50; more by {several} of {len(edits.texts)}, in the overlap of two chunks"
    texts = Figure(f"{work}: texts embedded", percentile(edits.texts, 50), "texts", Bar(1, 1), note)
    return [*p50_p99(work, edits.times_ms, (Bar(60, 30), Bar(300, 150)), edits.stages()), texts]


async def _edit_a_vault(run: Run, files: int, environment: Mapping[str, str], *, embedded: bool) -> tuple[Edits, int]:
    """Return what was measured, and how many texts waited for the embedder in the end."""
    corpus = Corpus(files)
    async with run.product(environment) as product:
        run.log(f"bringing {files} files in")
        await asyncio.to_thread(corpus.write, run.folder / "fresh")
        product.put(run.folder / "fresh")
        await product.until_indexed(files)
        if embedded:
            await product.settled()
            await product.at_rest()
        run.log(f"{run.scale.edits} edits")
        edits = await _edit(product, corpus, run.scale.edits, embedded=embedded)
        return edits, (await product.status()).embed_lag


async def _edit(product: Product, corpus: Corpus, count: int, *, embedded: bool) -> Edits:
    edits, choice = Edits(), random.Random(1)
    async with _published(product) as published:
        for number in range(-_WARM_UP, count):
            path = corpus.path(choice.randrange(corpus.size))
            file = product.vault / "fresh" / path
            data = corpus.edited(file.read_text(), number + _WARM_UP).encode()
            product.news.forget()
            published.clear()
            began = time.perf_counter()
            file.write_bytes(data)
            await product.wait(f"fresh/{path}", data)
            ended = time.perf_counter()
            await product.until_indexed(1)
            indexed_at = product.news.indexed_at
            if embedded:
                await product.until_embedded(1)
            if number >= 0:
                edits.add((began, published[0], indexed_at, ended), product.news.texts)
            await asyncio.sleep(choice.uniform(*_PAUSE_S))
    return edits


@asynccontextmanager
async def _published(product: Product) -> AsyncGenerator[list[float]]:
    """Yield the times at which file changes were published, by time.perf_counter, as they come."""
    times: list[float] = []

    async def on_file(_: Msg) -> None:
        times.append(time.perf_counter())

    subscription = await product.bus.subscribe(Topology().file(VAULT_ID, "*"), cb=on_file)
    try:
        yield times
    finally:
        await subscription.unsubscribe()
