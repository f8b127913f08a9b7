"""Searches over NATS in a large vault: the whole round trip but the query's embedding.

Without and with a filter, in turns; then by each profile that is ready, with what its scorer or rewriter takes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain

from pydantic import JsonValue

from services.ingest.text.preparation import prepare_page
from shared.contracts.files import VaultSettings
from shared.contracts.search import SearchReply, SearchRequest
from tests.bench.corpus import SHELVES, TOPICS, Corpus
from tests.bench.figures import Bar, Figure, p50_p99, percentile
from tests.bench.memory import MIB, family_pss_bytes
from tests.bench.product import VAULT_ID, Product
from tests.bench.scenario import Run

_SAMPLE = 40
_WARM_UP = 30
_PROFILE_S = 30.0
"""For each profile: a reranking one takes a second a question."""


@dataclass(slots=True)
class Searches:
    """What was measured over many searches."""

    times_ms: list[float] = field(default_factory=list[float])
    phases_ms: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    short: int = 0
    """Replies with fewer than k hits; every filter used leaves more than k."""

    def add(self, took_ms: float, reply: SearchReply, k: int) -> None:
        """Take in one reply and its round trip."""
        timings = reply.timings_ms.model_dump()
        self.times_ms.append(took_ms - timings["embed"])
        self.short += _hits(reply) < k
        for phase, spent_ms in timings.items():
            self.phases_ms.setdefault(phase, []).append(spent_ms)

    def medians(self) -> str:
        """Say where the time goes."""
        return ", ".join(f"{phase} {percentile(times, 50):.1f}" for phase, times in self.phases_ms.items())


async def measure(run: Run) -> list[Figure]:
    """Ask many different questions, each with and without a filter, in turns."""
    corpus = Corpus(_files_for(run.scale.chunks))
    async with run.product() as product:
        chunks = await _bring_in(run, product, corpus)
        queries = corpus.queries(_WARM_UP + run.scale.queries)
        await _ask(product, queries[:_WARM_UP])
        run.log(f"{run.scale.queries} queries, twice")
        plain, filtered = await _ask(product, queries[_WARM_UP:])
        before_mib = family_pss_bytes(product.pid) / MIB
        profiles = await _by_profile(run, product, queries)
        after_mib = family_pss_bytes(product.pid) / MIB
    work = f"search at {chunks} chunks"
    ratio = percentile(filtered.times_ms, 50) / percentile(plain.times_ms, 50)
    return [
        *p50_p99(work, plain.times_ms, (Bar(5, 3), Bar(20, 10)), plain.medians()),
        *p50_p99(f"{work}, filtered", filtered.times_ms, None, filtered.medians()),
        Figure("filtered to unfiltered, p50", ratio, "×", Bar(1.5, 1.0), f"tags of 1/{SHELVES}, 1/{TOPICS}, 12 pages"),
        Figure("replies with fewer than k hits", plain.short + filtered.short, "replies", Bar(0, 0)),
        *chain.from_iterable(
            p50_p99(f"{work}, profile {name}", asked.times_ms, None, asked.medians())
            for name, asked in profiles.items()
        ),
        Figure("memory, default profile only", before_mib, "MiB", note=f"all processes, {chunks} chunks"),
        Figure("memory, every profile used", after_mib, "MiB"),
    ]


async def _by_profile(run: Run, product: Product, queries: Sequence[str]) -> dict[str, Searches]:
    """Ask by each profile that is ready, a slow one less often; by name."""
    measured: dict[str, Searches] = {}
    for profile in (await product.client.profiles()).profiles:
        if not profile.ready:
            run.log(f"profile {profile.name} is left out: {profile.missing}")
            continue
        run.log(f"profile {profile.name}")
        asked = measured[profile.name] = Searches()
        await _timed(product, _by(profile.name, "anything"), Searches())  # loads what the profile needs
        until = time.perf_counter() + _PROFILE_S
        for query in queries:
            await _timed(product, _by(profile.name, query), asked)
            if time.perf_counter() > until:
                break
    return measured


async def _bring_in(run: Run, product: Product, corpus: Corpus) -> int:
    """Return how many chunks there are when all is embedded."""
    run.log(f"bringing {corpus.size} files in")
    await asyncio.to_thread(corpus.write, run.folder / "fresh")
    began = product.put(run.folder / "fresh")
    embedded_at = await product.until_embedded(corpus.size)
    run.log(f"embedded after {embedded_at - began:.0f} s")
    status = await product.settled()
    await product.at_rest()
    run.log(f"at rest after {time.perf_counter() - began:.0f} s")
    return status.chunks


async def _ask(product: Product, queries: Sequence[str]) -> tuple[Searches, Searches]:
    """Ask each query bare and then with a filter, so that both meet the same moments of the machine."""
    plain, filtered = Searches(), Searches()
    filters: list[dict[str, JsonValue]] = [
        {"tags": tag} for number in range(TOPICS) for tag in (f"shelf-{number % SHELVES}", f"topic-{number}", "rare")
    ]
    for number, query in enumerate(queries):
        for searches, where in ((plain, {}), (filtered, filters[number % len(filters)])):
            await _timed(product, SearchRequest(query=query, filters=where, deadline_ms=10_000), searches)
    return plain, filtered


def _by(profile: str, query: str) -> SearchRequest:
    return SearchRequest(query=query, profile=profile, deadline_ms=10_000)


async def _timed(product: Product, request: SearchRequest, searches: Searches) -> None:
    began = time.perf_counter()
    reply = await product.client.search(VAULT_ID, request)
    searches.add((time.perf_counter() - began) * 1000, reply, request.k)


def _hits(reply: SearchReply) -> int:
    """Count the chunks found, those included that the budget had no place for."""
    found = sum(len(citation.passages) for citation in reply.citations if citation.phase == "vector")
    return found + reply.dropped


def _files_for(chunks: int) -> int:
    """Return how many notes are cut into about so many chunks."""
    sample, settings = Corpus(_SAMPLE), VaultSettings(vault_id=VAULT_ID)
    notes = map(sample.note, range(_SAMPLE))
    cut = sum(len(prepare_page(note.path, note.text.encode(), settings).chunks) for note in notes)
    return round(chunks * _SAMPLE / cut)
