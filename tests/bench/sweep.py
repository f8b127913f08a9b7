"""Sweeps over files that did not change: what a start costs."""

from __future__ import annotations

import asyncio
import os

from shared.contracts.ingest import SyncReply
from tests.bench.corpus import OLD_NS, Corpus
from tests.bench.figures import Bar, BenchFailed, Figure, percentile
from tests.bench.product import VAULT_ID
from tests.bench.scenario import Run
from tests.unit.watcher.vault import Vault

_SWEEPS = 5


async def measure(run: Run) -> list[Figure]:
    """Sweep the product's vault a few times, over NATS."""
    files = run.scale.files
    async with run.product() as product:
        Corpus(files).write(run.folder / "fresh")
        product.put(run.folder / "fresh")
        await product.until_embedded(files)
        await product.settled()
        product.news.forget()
        swept = [_unchanged(await product.client.sync(VAULT_ID), files) for _ in range(_SWEEPS)]
        await product.settled()
        texts = product.news.texts
    return [
        Figure(f"sweep of {files} unchanged files", percentile(swept, 50), "s", Bar(0.4, 0.2), f"median of {_SWEEPS}"),
        Figure("texts embedded by it", texts, "texts", Bar(0, 0)),
    ]


async def measure_large(run: Run) -> list[Figure]:
    """Sweep a large folder as a starting watcher does; its log is in memory, as bringing so many in takes too long."""
    files = run.scale.swept_files
    vault = Vault(run.folder)
    run.log(f"writing {files} files")
    await asyncio.to_thread(_write_many, vault, files)
    await vault.sync()
    swept: list[float] = []
    for _ in range(_SWEEPS):
        with vault.watcher() as watcher:
            swept.append(_unchanged(await watcher.sync(), files))
    note = f"median of {_SWEEPS}; a watcher that starts, its log in memory"
    return [Figure(f"sweep of {files} unchanged files", percentile(swept, 50), "s", Bar(10, 5), note)]


def _write_many(vault: Vault, files: int) -> None:
    for number in range(files):
        file = vault.write(f"area-{number % 400:03}/note-{number:06}.md", f"# Note {number}\n\nSaid once.\n")
        os.utime(file, ns=(OLD_NS, OLD_NS))


def _unchanged(reply: SyncReply, files: int) -> float:
    """Return the sweep's seconds."""
    if (reply.files, reply.published, reply.removed) != (files, 0, 0):
        raise BenchFailed(f"a sweep of {files} unchanged files found {reply}")
    return reply.duration_ms / 1000
