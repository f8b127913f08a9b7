"""The use case of a search: four phases in order, each timed, within the caller's deadline.

Reads the catalogue and the vector store, makes no inference call but the query's embedding, writes nothing. All
passages of a reply belong to the data version that the reply names.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from services.retrieval.assembly import citations, context_text, entry_text, results
from services.retrieval.budget import DEFAULT_PAGE_SHARE, Candidate, budget_tokens, select
from services.retrieval.completing import beside
from services.retrieval.expanding import Expander, Expansions, Start
from services.retrieval.expansion import Bounds
from services.retrieval.filters import point_filter
from services.retrieval.ports import LivePages, VaultState
from services.retrieval.profiles import Profiles
from services.retrieval.recent_vaults import RecentVaults, Vault
from services.retrieval.retriever import RetrievalQuery, Retriever
from services.retrieval.seeding import SeedBounds, find_seeds, standings
from services.retrieval.staleness import yielding
from shared.contracts.search import SearchReply, SearchRequest, Timings
from shared.errors import DeadlineExceeded, InvalidInput
from shared.page_graph import DEGREE_LIMIT
from shared.tokens import estimate_tokens
from shared.vectors.filter import PointFilter

_ATTEMPTS = 3
"""Searches started anew because a page changed between two reads; then what is left of the last one counts."""


@dataclass(frozen=True, slots=True)
class SearchBounds:
    """Limits of one search."""

    seeds: SeedBounds = field(default_factory=SeedBounds)
    max_expansions: int = 12
    fan_out: int = 32
    degree_limit: int = DEGREE_LIMIT
    tokens_per_expansion: int = 250
    """What a passage of phase 2 takes in the mean, low: no more pages are read than are likely to fit."""
    embed_share: float = 0.5
    """Of the deadline: what embedding may take before the search goes on by words only."""
    page_share: float = DEFAULT_PAGE_SHARE
    """Of the budget: what one page may take while others wait."""
    stale_penalty: int = 0
    """Places by which a chunk steps back whose page is older than a source."""
    completed_seeds: int = 0
    """Best seeds whose neighbours on their page are added when budget is left; costs one more read."""


@dataclass(slots=True)
class _Run:
    """What one search has come to; whole at any moment, as the deadline may end it at any."""

    vault_id: str
    request: SearchRequest
    retriever: Retriever
    query: RetrievalQuery
    vault: Vault
    budget: int
    state: VaultState
    seeds: tuple[Candidate, ...] = ()
    expansions: tuple[Candidate, ...] = ()
    beside: tuple[Candidate, ...] = ()
    dangling: int = 0
    degraded: str | None = None
    truncated: bool = False
    spent_ms: dict[str, float] = field(default_factory=dict[str, float])


class Search:
    """Answers searches; safe to use concurrently."""

    def __init__(
        self,
        pages: LivePages,
        vaults: RecentVaults,
        profiles: Profiles,
        bounds: SearchBounds | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._pages = pages
        self._vaults = vaults
        self._profiles = profiles
        self._bounds = bounds or SearchBounds()
        self._clock = clock
        self._expander = Expander(pages)

    async def search(self, vault_id: str, request: SearchRequest) -> SearchReply:
        """Return the context and its citations; empty when nothing is found.

        Raises InvalidInput (blank query, unknown profile or filter), NotFound (vault), Unavailable (store or
        catalogue), DeadlineExceeded when time is over before the vault is known; later it only cuts the reply short.
        """
        started = self._clock()
        if not request.query.strip():
            raise InvalidInput("The query holds nothing but blanks.")
        name, retriever = self._profiles.named(request.profile)
        vault = await self._vault(vault_id, request.deadline_ms)
        run = self._run(vault_id, request, retriever, vault, started)
        try:
            async with asyncio.timeout(request.deadline_ms / 1000 - (self._clock() - started)):
                await self._find(run)
        except TimeoutError:
            run.truncated = True
        return self._reply(run, name, started)

    async def _vault(self, vault_id: str, deadline_ms: int) -> Vault:
        try:
            async with asyncio.timeout(deadline_ms / 1000):
                return await self._vaults.get(vault_id)
        except TimeoutError as error:
            raise DeadlineExceeded(f"Nothing could be read within {deadline_ms} ms: allow more time.") from error

    def _run(self, vault_id: str, request: SearchRequest, retriever: Retriever, vault: Vault, started: float) -> _Run:
        query = RetrievalQuery(
            text=request.query,
            languages=vault.traits.languages,
            space=vault.space,
            where=self._where(vault_id, request, vault),
            limit=request.k,
            embed_timeout_s=self._bounds.embed_share * request.deadline_ms / 1000,
            vault_id=vault_id,
            until=started + request.deadline_ms / 1000,
        )
        budget = budget_tokens(request.context_window)
        return _Run(vault_id, request, retriever, query, vault, budget, vault.state)

    def _where(self, vault_id: str, request: SearchRequest, vault: Vault) -> PointFilter:
        """Leave out conditions that every point meets: each costs the engine more than the search itself.

        The snapshot decides in any case which hits are of this vault and may be cited; a condition left out too long
        only makes it drop more of them, and the search look deeper.
        """
        never_cite = vault.state.never_cite if vault.traits.uncited else ()
        return point_filter(None if vault.alone else vault_id, request.filters, never_cite)

    async def _find(self, run: _Run) -> None:
        """Run phases 1 and 2 until all that was found belongs to one data version."""
        for _ in range(_ATTEMPTS):
            with self._timed(run, "search"):
                await self._seed(run)
            with self._timed(run, "expansion"):
                if await self._expand(run):
                    await self._complete(run)
                    return

    async def _seed(self, run: _Run) -> None:
        run.expansions = ()
        seeds = await find_seeds(self._pages, run.retriever, run.vault_id, run.query, self._bounds.seeds)
        run.state, run.seeds = seeds.vault, seeds.candidates
        run.dangling, run.degraded, run.truncated = seeds.dangling, seeds.degraded, seeds.cut

    async def _expand(self, run: _Run) -> bool:
        """Add what is linked; return False when a seed's page changed meanwhile, so that phase 1 must run again."""
        bounds = self._walk_bounds(run)
        if not run.seeds or bounds.depth == 0 or bounds.total == 0:
            return True
        start = Start(
            pages=standings(run.seeds),
            hubs=run.vault.traits.hubs,
            filtered=bool(run.request.filters),
            uncited=run.vault.traits.uncited,
        )
        found = await self._expander.expand(run.vault_id, run.retriever, run.query, start, bounds)
        if found is None:
            return True
        if found.vault.data_version == run.state.data_version:
            run.expansions = found.candidates
            return True
        return await self._reconcile(run, found)

    async def _reconcile(self, run: _Run, found: Expansions) -> bool:
        """Read everything once more in one snapshot, as the vault changed between the two reads."""
        wanted = (*run.seeds, *found.candidates)
        snapshot = await self._pages.snapshot(run.vault_id, [each.chunk.chunk_id for each in wanted])

        def still_live(candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
            rows = ((each, snapshot.chunks.get(each.chunk.chunk_id)) for each in candidates)
            return tuple(
                replace(each, chunk=row) for each, row in rows if row is not None and snapshot.vault.cites(row.path)
            )

        before = len(run.seeds)
        run.state = snapshot.vault
        run.seeds, run.expansions = still_live(run.seeds), still_live(found.candidates)
        return len(run.seeds) == before

    async def _complete(self, run: _Run) -> None:
        """Add what stands beside the best seeds, unless budget or snapshot have no place for it."""
        found = (*yielding(run.seeds, self._bounds.stale_penalty), *run.expansions)
        tokens = sum(each.chunk.token_count for each in found)
        if found and self._bounds.completed_seeds and tokens < run.budget:
            count, version = self._bounds.completed_seeds, run.state.data_version
            run.beside = await beside(self._pages, run.vault_id, found, count, version)

    def _walk_bounds(self, run: _Run) -> Bounds:
        left = max(0, run.budget - sum(seed.chunk.token_count for seed in run.seeds))
        could_fit = -(-left // self._bounds.tokens_per_expansion)
        return Bounds(
            depth=run.request.expansion_depth,
            total=min(self._bounds.max_expansions, could_fit),
            fan_out=self._bounds.fan_out,
            degree_limit=self._bounds.degree_limit,
        )

    def _reply(self, run: _Run, profile: str, started: float) -> SearchReply:
        """Run phases 3 and 4: pure, and too short to be worth cutting."""
        with self._timed(run, "budget"):
            penalty = self._bounds.stale_penalty
            ranked = (*yielding(run.seeds, penalty), *yielding(run.expansions, penalty), *run.beside)
            selection = select(ranked, run.budget, entry_text, self._bounds.page_share)
        with self._timed(run, "assembly"):
            text = context_text(selection)
            cited = citations(selection)
        embed_ms = run.query.vectors.spent_s * 1000
        run.spent_ms["search"] = max(0.0, run.spent_ms.get("search", 0.0) - embed_ms)
        return SearchReply(
            query=run.request.query,
            text=text,
            citations=cited,
            token_budget=run.budget,
            approx_tokens=estimate_tokens(text),
            data_version=run.state.data_version,
            results=results(cited),
            dropped=selection.dropped,
            dangling=run.dangling,
            truncated=run.truncated,
            degraded=run.degraded,
            retriever=profile,
            space=run.query.space,
            timings_ms=Timings(embed=embed_ms, total=(self._clock() - started) * 1000, **run.spent_ms),
        )

    @contextmanager
    def _timed(self, run: _Run, phase: str) -> Generator[None]:
        started = self._clock()
        try:
            yield
        finally:
            run.spent_ms[phase] = run.spent_ms.get(phase, 0.0) + (self._clock() - started) * 1000
