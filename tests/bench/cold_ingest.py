"""Cold ingest: all files of a vault appear at once; how long until all are searchable, and all are embedded."""

from __future__ import annotations

import time

from services.ingest.text.preparation import prepare_page
from shared.contracts.files import VaultSettings
from shared.embedding.hashing import HashingEmbedder
from tests.bench.corpus import Corpus
from tests.bench.figures import Bar, BenchFailed, Figure
from tests.bench.memory import family_cpu_s, sampled_memory
from tests.bench.product import VAULT_ID
from tests.bench.scenario import Run


async def measure(run: Run) -> list[Figure]:
    """Measure files a second for both stages, memory, and the embedder alone on the same texts."""
    files, corpus = run.scale.files, Corpus(run.scale.files)
    async with run.product() as product:
        corpus.write(run.folder / "fresh")
        run.log(f"{files} files appear")
        with sampled_memory(product.pid) as memory:
            busy_s = family_cpu_s(product.pid)
            began = product.put(run.folder / "fresh")
            searchable_s = await product.until_indexed(files) - began
            embedded_s = await product.until_embedded(files) - began
            busy_s = family_cpu_s(product.pid) - busy_s
        status = await product.settled()
    if (status.pages, status.rejected_count) != (files, 0):
        raise BenchFailed(f"{status.pages} pages and {status.rejected_count} rejected files of {files}")
    embedding_s, texts = await _embedder_alone(corpus)
    work = f"cold ingest of {files} files"
    asked = Bar(300, 500, more_is_better=True)
    return [
        Figure(f"{work}: searchable", files / searchable_s, "files/s", None, f"{searchable_s:.2f} s"),
        Figure(f"{work}: embedded", files / embedded_s, "files/s", asked, f"{embedded_s:.2f} s"),
        Figure("its processor time, all processes", busy_s, "s", None, f"{files / busy_s:.0f} files a second and core"),
        Figure("its embedder alone", embedding_s, "s", None, f"{texts} texts, {status.chunks} chunks"),
        Figure("its peak memory, all processes", memory.peak_mib, "MiB", Bar(700, 500), f"{memory.samples} samples"),
    ]


async def _embedder_alone(corpus: Corpus) -> tuple[float, int]:
    settings = VaultSettings(vault_id=VAULT_ID)
    notes = map(corpus.note, range(corpus.size))
    pages = [prepare_page(note.path, note.text.encode(), settings) for note in notes]
    texts = list(dict.fromkeys(chunk.embed_text for page in pages for chunk in page.chunks))
    embedder, began = HashingEmbedder(), time.perf_counter()
    for start in range(0, len(texts), 64):
        await embedder.embed_documents(texts[start : start + 64])
    return time.perf_counter() - began, len(texts)
