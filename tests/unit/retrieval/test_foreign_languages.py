"""A model that does not know a query's language does not disturb what words find."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from services.retrieval.retriever import RetrievalQuery
from services.retrieval.retrievers.dense import DenseRetriever
from services.retrieval.retrievers.hybrid import Fusion, HybridRetriever
from services.retrieval.retrievers.sparse import SparseRetriever
from shared.embedding.languages import model_languages
from shared.vectors.bm25 import Bm25Encoder
from shared.vectors.filter import EVERYTHING
from shared.vectors.store import PointQuery, ScoredPoint
from tests.fakes.watched_search import WatchedEmbedder
from tests.unit.retrieval.scene import Scene, page, scene


class _EnglishEmbedder(WatchedEmbedder):
    """Embeds like the hashing one, under the name of a model for English."""

    @property
    def model(self) -> str:
        return "hashing-en"


@pytest.mark.parametrize(
    ("model", "languages"),
    [
        ("bge-small-en-v1.5", {"en"}),
        ("BAAI/bge-large-zh-v1.5", {"zh"}),
        ("jina-embeddings-v2-base-de", {"de"}),
        ("sentence-transformers/all-MiniLM-L6-v2", {"en"}),
        ("bge-m3", None),
        ("multilingual-e5-large", None),
        ("paraphrase-multilingual-mpnet-base-v2", None),
        ("text-embedding-3-small", None),
        ("hashing", None),
    ],
)
def test_a_models_name_tells_its_languages(model: str, languages: set[str] | None) -> None:
    assert model_languages(model) == languages


def test_a_query_is_in_the_language_of_its_stop_words() -> None:
    encoder = Bm25Encoder()
    assert encoder.leading("wie lange werden die Proben aufbewahrt", ("de", "en")) == ("de",)
    assert encoder.leading("how long are the samples kept", ("de", "en")) == ("en",)
    assert encoder.leading("Proben 2024", ("de", "en")) == ("de", "en")
    assert encoder.leading("Proben", ()) == ()


class _SameSpace:
    """Searches the scene's only space, whatever a query calls it."""

    def __init__(self, garden: Scene) -> None:
        self._garden = garden

    async def search(self, space: str, queries: Sequence[PointQuery]) -> list[list[ScoredPoint]]:
        return await self._garden.watched.search(self._garden.space, queries)


async def _scores(garden: Scene, languages: tuple[str, ...], text: str) -> list[float]:
    store, embedder = _SameSpace(garden), _EnglishEmbedder()
    hybrid = HybridRetriever(store, DenseRetriever(store, embedder), SparseRetriever(store, garden.encoder), Fusion())
    query = RetrievalQuery(text, languages, embedder.space.name, EVERYTHING, 10, embed_timeout_s=5)
    return [hit.score for hit in (await hybrid.retrieve(query)).hits]


async def test_in_a_foreign_language_words_decide_and_the_model_only_adds() -> None:
    pages = [page("rot.md", "rote Rosen"), page("teich.md", "Wasser und Fische"), page("eiche.md", "Eiche")]
    garden = await scene(*(replace(each, language="de") for each in pages))
    first, *rest = await _scores(garden, ("de",), "rote Rosen")
    assert first == pytest.approx(1 / 61, rel=1e-3)
    assert rest
    assert all(score < 1e-7 for score in rest)


async def test_in_a_language_that_it_knows_the_model_counts_as_much_as_words() -> None:
    garden = await scene(page("rose.md", "roses are red"), page("pond.md", "water and fish"))
    assert (await _scores(garden, ("de", "en"), "are the roses red"))[0] == pytest.approx(2 / 61)
