"""An embedder behind HTTP, whatever its wire format: batches within its limits, bounded concurrency, retries.

Guarantees: vectors come back in order, finite, of the stated dimension and of length 1, or the call fails; a text
longer than the window is cut and pooled, never cut off; queries do not wait behind documents; cancelling a call closes
its requests.
"""

from __future__ import annotations

import asyncio
from itertools import chain

import httpx
import numpy as np
import numpy.typing as npt

from shared.embedding.batching import gather_or_cancel, split_batches
from shared.embedding.embedder import Vector, Vectors
from shared.embedding.provider import Conduct, Endpoint, ModelSpec
from shared.embedding.provider_errors import refusal
from shared.embedding.windows import Window, pool, split_windows, unit_rows
from shared.embedding.wire import WireFormat
from shared.errors import InvalidInput, Unavailable

_BLANK = "(empty)"
"""Sent in place of a text of blanks only, which providers refuse."""

_LONG_CHARS = 50_000
"""Texts of more characters in one call are split off the event loop: it takes about 10 ms."""


class HttpEmbedder:
    """Embeds through one endpoint. A client that is given stays open at `aclose`; else one is built and closed."""

    def __init__(
        self,
        wire: WireFormat,
        model: ModelSpec,
        endpoint: Endpoint,
        conduct: Conduct | None = None,
        client: httpx.AsyncClient | None = None,
    ) -> None:
        self._wire, self._model, self._endpoint = wire, model, endpoint
        self._conduct = conduct or Conduct()
        self._client = client or httpx.AsyncClient()
        self._owns_client = client is None
        self._document_places = asyncio.Semaphore(self._conduct.limits.concurrency)
        self._query_places = asyncio.Semaphore(self._conduct.limits.concurrency)

    @property
    def model(self) -> str:
        """Name of the model, part of the space's name."""
        return self._model.space_model

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        return self._model.dimension

    async def embed_documents(self, texts: list[str]) -> Vectors:
        """Return one unit vector per text, in order; one text that the provider refuses fails the whole call."""
        return await self._embed(texts, self._model.document_prefix, self._document_places)

    async def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a query."""
        return (await self._embed([text], self._model.query_prefix, self._query_places))[0]

    async def aclose(self) -> None:
        """Close the client if it was built here."""
        if self._owns_client:
            await self._client.aclose()

    async def _embed(self, texts: list[str], prefix: str, places: asyncio.Semaphore) -> Vectors:
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        if sum(map(len, texts)) > _LONG_CHARS:
            windows = await asyncio.to_thread(self._windows, texts)
        else:
            windows = self._windows(texts)
        parts = [prefix + window.text for window in chain.from_iterable(windows)]
        batches = split_batches(parts, self._conduct.limits.max_texts, self._conduct.limits.max_chars)
        vectors = np.concatenate(await gather_or_cancel(self._request(batch, places) for batch in batches))
        return _pooled(vectors, windows)

    def _windows(self, texts: list[str]) -> list[list[Window]]:
        well_formed = (text.encode("utf-8", "replace").decode() for text in texts)  # JSON has no lone surrogates
        return [split_windows(text, self._conduct.limits.window) for text in well_formed]

    async def _request(self, texts: list[str], places: asyncio.Semaphore) -> Vectors:
        async with places:  # kept while waiting to retry: a provider that is struggling gets fewer requests
            return await self._conduct.retry.run(lambda: self._attempt(texts))

    async def _attempt(self, texts: list[str]) -> Vectors:
        response = await self._post(self._wire.body([text if text.strip() else _BLANK for text in texts]))
        if response.status_code != 200:
            raise refusal(response, self._endpoint.provider, self._endpoint.api_key, self._conduct.now())
        return self._checked(self._wire.rows(response.content), len(texts))

    async def _post(self, body: dict[str, object]) -> httpx.Response:
        key, timeout_s, provider = self._endpoint.api_key, self._endpoint.timeout_s, self._endpoint.provider
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        url = self._endpoint.base_url.rstrip("/") + self._wire.path
        try:
            async with asyncio.timeout(timeout_s):  # httpx's own timeouts are per read: a trickle would last for ever
                return await self._client.post(url, json=body, headers=headers, timeout=timeout_s)
        except (TimeoutError, httpx.TimeoutException) as error:
            raise Unavailable(f"{provider} did not answer within {timeout_s:g} s") from error
        except httpx.HTTPError as error:
            raise Unavailable(f"{provider} cannot be reached or broke off ({type(error).__name__})") from error

    def _checked(self, rows: list[npt.NDArray[np.float32]], count: int) -> Vectors:
        provider, dimension = self._endpoint.provider, self.dimension
        if len(rows) != count:
            raise InvalidInput(f"{provider} returned {len(rows)} vectors for {count} texts")
        wrong = next((len(row) for row in rows if row.shape != (dimension,)), None)
        if wrong is not None:
            raise InvalidInput(
                f"{provider} returned {wrong} dimensions where {dimension} are set: "
                f"set CITEBUS_EMBEDDING_DIMENSION={wrong}, which makes a new space, or another model"
            )
        vectors = np.stack(rows)
        if not np.isfinite(vectors).all() or not vectors.any(axis=1).all():
            raise InvalidInput(f"{provider} returned a vector that is not finite or is zero: the model does not work")
        return unit_rows(vectors)


def _pooled(vectors: Vectors, windows: list[list[Window]]) -> Vectors:
    """Return one row per text from the rows of all windows, in order."""
    if len(vectors) == len(windows):
        return vectors
    rows: list[Vector] = []
    start = 0
    for parts in windows:
        rows.append(pool(vectors[start : start + len(parts)], [part.weight for part in parts]))
        start += len(parts)
    return np.stack(rows)
