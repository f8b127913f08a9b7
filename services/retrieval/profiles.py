"""Named ways to search: which retriever a request's `profile` means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from services.retrieval.ports import LexicalEncoder, Retriever, VectorSearch
from services.retrieval.retrievers.dense import DenseRetriever
from services.retrieval.retrievers.fallback import FallbackRetriever
from services.retrieval.retrievers.hybrid import Fusion, HybridRetriever
from services.retrieval.retrievers.sparse import SparseRetriever
from shared.embedding.embedder import Embedder
from shared.errors import InvalidInput


class ProfileSettings(BaseModel):
    """One profile; the fusion fields count for `hybrid` only."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["dense", "sparse", "hybrid"]
    rrf_k: float = Field(default=60.0, gt=0, description="Rank constant of the fusion.")
    dense_weight: float = Field(default=1.0, ge=0)
    sparse_weight: float = Field(default=1.0, ge=0)


BUILT_IN: Mapping[str, ProfileSettings] = {
    "hybrid": ProfileSettings(kind="hybrid"),
    "dense": ProfileSettings(kind="dense"),
    "sparse": ProfileSettings(kind="sparse"),
}
"""What every deployment has unless its settings say otherwise."""


class Profiles:
    """Retrievers by name; one of them is the default."""

    def __init__(self, retrievers: Mapping[str, Retriever], default: str) -> None:
        """Raises InvalidInput when the default is not among the names."""
        self._retrievers = dict(retrievers)
        self._default = default
        self.named(None)

    def named(self, name: str | None) -> tuple[str, Retriever]:
        """Return the name and its retriever; None means the default. Raises InvalidInput naming those that exist."""
        chosen = self._default if name is None else name
        retriever = self._retrievers.get(chosen)
        if retriever is None:
            known = ", ".join(sorted(self._retrievers))
            raise InvalidInput(f"There is no retrieval profile '{chosen[:80]}'. Known: {known}.")
        return chosen, retriever


def retrievers(
    profiles: Mapping[str, ProfileSettings], store: VectorSearch, embedder: Embedder, encoder: LexicalEncoder
) -> dict[str, Retriever]:
    """Return one retriever per profile; those that need embedding search by words while embedding is away."""
    dense = DenseRetriever(store, embedder)
    sparse = SparseRetriever(store, encoder)

    def one(profile: ProfileSettings) -> Retriever:
        if profile.kind == "sparse":
            return sparse
        if profile.kind == "dense":
            return FallbackRetriever(dense, sparse)
        fusion = Fusion(profile.rrf_k, profile.dense_weight, profile.sparse_weight)
        return FallbackRetriever(HybridRetriever(store, dense, sparse, fusion), sparse)

    return {name: one(profile) for name, profile in profiles.items()}
