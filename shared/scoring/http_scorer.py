"""A scorer behind HTTP: the rerank API of Cohere and Jina, which many servers speak, or that of TEI.

Sources: Cohere API reference, `POST /v2/rerank` (Jina, vLLM, Infinity, llama.cpp and LocalAI take the same body);
Hugging Face Text Embeddings Inference, `POST /rerank`. One request per call, no retry: somebody is waiting.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from typing import Literal

import httpx
from pydantic import AliasChoices, BaseModel, Field, RootModel

from shared.errors import InvalidInput
from shared.http_provider import HttpAddress, HttpProvider
from shared.scoring.scorer import check_count

Wire = Literal["cohere", "tei"]

_QUERY_CHARS = 4_000
_TEXT_CHARS = 8_000
"""Of each text: a window of 512 tokens holds less in every script; longer passages cost time and are cut anyway."""

_CONCURRENCY = 8
"""Requests at once; others wait, and their deadline ends that."""


class _Scored(BaseModel):
    index: int
    score: float = Field(validation_alias=AliasChoices("relevance_score", "score"))


class _CohereReply(BaseModel):
    results: list[_Scored]


class _TeiReply(RootModel[list[_Scored]]):
    pass


class HttpScorer:
    """Scores through one address, in the order of the texts whatever order the reply has."""

    def __init__(self, wire: Wire, model: str, address: HttpAddress, client: httpx.AsyncClient | None = None) -> None:
        self._wire: Wire = wire
        self._model = model
        self._provider = HttpProvider(address, client)
        self._places = asyncio.Semaphore(_CONCURRENCY)

    @property
    def name(self) -> str:
        """Name of the model; of the provider, when that has only one."""
        return self._model or self._provider.address.shown

    async def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score per text, in order, as the provider gives them."""
        check_count(texts)
        if not texts:
            return []
        asked, read = _sent(query, _QUERY_CHARS), [_sent(text, _TEXT_CHARS) for text in texts]
        async with self._places:
            scored = await (self._cohere(asked, read) if self._wire == "cohere" else self._tei(asked, read))
        by_index = {each.index: each.score for each in scored}
        if sorted(by_index) != list(range(len(texts))) or not all(map(math.isfinite, by_index.values())):
            raise InvalidInput(f"{self._provider.address.shown} did not score each of {len(texts)} texts once")
        return [by_index[index] for index in range(len(texts))]

    async def aclose(self) -> None:
        """Close the client if it was built here."""
        await self._provider.aclose()

    async def _cohere(self, query: str, texts: list[str]) -> list[_Scored]:
        body = {"model": self._model, "query": query, "documents": texts, "top_n": len(texts)}
        return (await self._provider.ask("/rerank", body, _CohereReply)).results

    async def _tei(self, query: str, texts: list[str]) -> list[_Scored]:
        body = {"query": query, "texts": texts, "raw_scores": False, "truncate": True}
        return (await self._provider.ask("/rerank", body, _TeiReply)).root


def _sent(text: str, most: int) -> str:
    """Return text that JSON and providers take: no lone surrogates, not empty."""
    well_formed = text[:most].encode("utf-8", "replace").decode()
    return well_formed if well_formed.strip() else "(empty)"
