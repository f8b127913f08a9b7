"""What a profile is made of: a base retriever, and what refines its answer, from the inside out.

    base (dense, sparse, hybrid) → multi_query → rerank → mmr

Each part is optional but the base, and each stands once, so that a profile is no deeper than this.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

ProfileName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]

Need = Literal["embedding", "scorer", "rewriter"]
"""What a profile asks besides the vector store and the catalogue."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class MultiQuerySettings(_Part):
    """Asks in other wordings too, from a chat model (CITEBUS_RETRIEVAL_REWRITER_*)."""

    count: int = Field(default=3, ge=1, le=8, description="Wordings besides the asker's own.")
    weight: float = Field(default=0.5, gt=0, le=10, description="Of each, where the asker's own has 1.")
    time_share: float = Field(default=0.5, gt=0, lt=1, description="Of the time left: for the wordings.")


class RerankSettings(_Part):
    """Has the first hits read by a cross-encoder (CITEBUS_SCORING_*); the bundled one knows English only."""

    model: Literal["cross-encoder"] = "cross-encoder"
    depth: int = Field(
        default=12, ge=2, le=200, description="Hits that are read; the bundled model reads 15 in a CPU second."
    )
    weight: float = Field(default=0.5, gt=0, lt=1, description="Of the model's ranking; the inner one has the rest.")
    time_share: float = Field(default=0.6, gt=0, lt=1, description="Of the time left: for reading.")


class MmrSettings(_Part):
    """Puts hits further down that are like better ones (maximal marginal relevance over dense vectors)."""

    relevance: float = Field(default=0.7, ge=0, le=1, alias="lambda", description="1: the order as it was.")
    depth: int = Field(default=32, ge=2, le=200, description="Hits that are reordered.")


class ProfileSettings(_Part):
    """One profile. `rrf_k` and the weights are for `hybrid`."""

    kind: Literal["dense", "sparse", "hybrid"]
    rrf_k: float = Field(default=60.0, gt=0, le=10_000, description="Rank constant of the fusion.")
    dense_weight: float = Field(default=1.0, ge=0, le=1_000)
    sparse_weight: float = Field(default=1.0, ge=0, le=1_000)
    foreign_weight: float = Field(
        default=1e-6, ge=0, le=1_000, description="Of the dense ranking in languages that the model was not made for."
    )
    multi_query: MultiQuerySettings | None = None
    rerank: RerankSettings | None = None
    mmr: MmrSettings | None = None

    @model_validator(mode="after")
    def _fusion_has_rankings(self) -> Self:
        given = self.model_fields_set & {"rrf_k", "dense_weight", "sparse_weight", "foreign_weight"}
        if given and self.kind != "hybrid":
            named = ", ".join(sorted(given))
            raise ValueError(f"only a hybrid weighs rankings, and this is {self.kind}: remove {named}")
        if not (self.dense_weight or self.sparse_weight):
            raise ValueError("dense_weight and sparse_weight are both 0: nothing would be ranked")
        return self

    @property
    def needs(self) -> tuple[Need, ...]:
        """What the profile asks besides store and catalogue, from the inside out."""
        needs: list[Need] = [] if self.kind == "sparse" else ["embedding"]
        if self.multi_query:
            needs.append("rewriter")
        if self.rerank:
            needs.append("scorer")
        return tuple(needs)


BUILT_IN: Mapping[str, ProfileSettings] = {
    "hybrid": ProfileSettings(kind="hybrid"),
    "dense": ProfileSettings(kind="dense"),
    "sparse": ProfileSettings(kind="sparse"),
    "reranked": ProfileSettings(kind="hybrid", rerank=RerankSettings()),
    "diverse": ProfileSettings(kind="hybrid", mmr=MmrSettings()),
    "multi-query": ProfileSettings(kind="hybrid", multi_query=MultiQuerySettings()),
}
"""What every deployment has unless its settings say otherwise; the last one once a provider is configured."""
