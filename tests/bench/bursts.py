"""Many files changed at once, and files renamed one after the other."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from shared.contracts.search import SearchRequest
from shared.ids import content_hash
from tests.bench.corpus import Corpus
from tests.bench.figures import Bar, BenchFailed, Figure, p50_p99
from tests.bench.product import VAULT_ID, Product
from tests.bench.scenario import Run

_ROUNDS = 3
_PATIENCE_S = 120.0


@dataclass(frozen=True, slots=True)
class Rename:
    """What one rename came to."""

    took_ms: float
    """Until it was announced that the old path is gone."""
    stale: bool
    """A search found the old path after that."""
    nowhere: bool
    """The page was removed and came back, instead of moving."""


async def measure_burst(run: Run) -> list[Figure]:
    """Change one paragraph in many files at once, until all are searchable."""
    corpus, burst = Corpus(run.scale.files), run.scale.burst_files
    async with run.product() as product:
        await _bring_in(product, corpus)
        times_s = [await _burst(product, corpus, burst, number) for number in range(_ROUNDS)]
    note = f"median of {', '.join(f'{each:.2f}' for each in times_s)}"
    return [
        Figure(f"{burst} files changed at once, all searchable", sorted(times_s)[_ROUNDS // 2], "s", Bar(2, 1), note)
    ]


async def measure_rename(run: Run) -> list[Figure]:
    """Rename files, until the old path is gone from search; texts that are embedded for it are counted."""
    corpus, renames = Corpus(run.scale.files), list[Rename]()
    async with run.product() as product:
        await _bring_in(product, corpus)
        product.news.texts = 0
        for number in range(run.scale.renames):
            renames.append(await _rename(product, corpus.path(number)))
        await product.settled()
        texts = product.news.texts
    stale, nowhere = sum(each.stale for each in renames), sum(each.nowhere for each in renames)
    times_ms = [each.took_ms for each in renames]
    p50, p99 = p50_p99("rename: old path gone", times_ms, None, f"{stale} old paths found after that")
    return [
        Figure("rename: texts embedded", texts, "texts", Bar(0, 0), f"by {len(renames)} renames"),
        Figure(p50.work, p50.measured, p50.unit, Bar(math.inf, 30), p50.note),
        p99,
        Figure("rename: page nowhere for a moment", nowhere, "pages", Bar(0, 0), "said to be removed, not moved"),
    ]


async def _bring_in(product: Product, corpus: Corpus) -> None:
    corpus.write(product.folder / "fresh")
    product.put(product.folder / "fresh")
    await product.until_embedded(corpus.size)
    await product.settled()


async def _burst(product: Product, corpus: Corpus, burst: int, number: int) -> float:
    files = [product.vault / "fresh" / corpus.path(index) for index in range(burst)]
    texts = [corpus.edited(file.read_text(), number * burst + index) for index, file in enumerate(files)]
    awaited = {content_hash(text.encode()) for text in texts}
    product.news.forget()
    began = time.perf_counter()
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    ended = await product.news.until(lambda news: awaited <= set(news.indexed.values()), _PATIENCE_S)
    await product.settled()
    return ended - began


async def _rename(product: Product, path: str) -> Rename:
    old = f"fresh/{path}"
    new = old.replace("note-", "moved-")
    file = product.vault / old
    title = file.read_text().split("\n# ", 1)[1].split("\n", 1)[0]
    request = SearchRequest(query=title, filters={"path": old}, expansion_depth=0)
    if not (await product.client.search(VAULT_ID, request)).citations:
        raise BenchFailed(f"{old} is not found before it is renamed")
    news = product.news
    began = time.perf_counter()
    file.rename(product.vault / new)
    gone_at = await news.until(lambda news: old in news.moved or old in news.removed, _PATIENCE_S)
    stale = bool((await product.client.search(VAULT_ID, request)).citations)
    await news.until(lambda news: new in news.embedded, _PATIENCE_S)
    return Rename((gone_at - began) * 1000, stale, nowhere=old not in news.moved)
