"""What profiles may be made of, which can be used, and how others see them."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from services.retrieval.profile_settings import BUILT_IN, ProfileSettings
from services.retrieval.profiles import Profiles, described, missing, retrievers
from services.retrieval.refining import NO_REFINERS, Refiners
from services.retrieval.retriever import Retriever
from services.retrieval.retrievers.mmr import MmrRetriever
from shared.errors import InvalidInput
from tests.fakes.refiners import FakeRefiners, InMemoryContents
from tests.unit.retrieval.scene import page, scene

READY_ALONE = ["dense", "hybrid", "sparse"]


async def built(profiles: dict[str, ProfileSettings], refiners: Refiners) -> dict[str, Retriever]:
    garden = await scene(page("rose.md", "roses are red"))
    return retrievers(profiles, garden.watched, garden.embedder, garden.encoder, refiners)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"kind": "magic"}, "'dense', 'sparse' or 'hybrid'"),
        ({"kind": "hybrid", "reranking": {}}, "Extra inputs"),
        ({"kind": "hybrid", "mmr": {"lambda": 1.5}}, "less than or equal to 1"),
        ({"kind": "hybrid", "rerank": {"weight": 1}}, "less than 1"),
        ({"kind": "hybrid", "multi_query": {"count": 100}}, "less than or equal to 8"),
        ({"kind": "hybrid", "rerank": {"mmr": {}}}, "Extra inputs"),
        ({"kind": "dense", "dense_weight": 2}, "only a hybrid weighs rankings, and this is dense: remove dense_weight"),
        ({"kind": "hybrid", "dense_weight": 0, "sparse_weight": 0}, "both 0"),
    ],
)
def test_a_profile_that_makes_no_sense_is_refused_with_the_reason(settings: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        ProfileSettings.model_validate(settings)


async def test_a_profile_is_wrapped_from_the_inside_out() -> None:
    parts: dict[str, object] = {"kind": "hybrid", "rerank": {}, "mmr": {}, "multi_query": {}}
    found = await built({"all": ProfileSettings.model_validate(parts)}, FakeRefiners().given())

    layers = ["MmrRetriever", "RerankedRetriever", "MultiQueryRetriever", "FallbackRetriever", "HybridRetriever"]
    retriever: object = found["all"]
    for layer in layers:
        assert type(retriever).__name__ == layer
        retriever = getattr(retriever, "_inner", None) or getattr(retriever, "_first", None)


async def test_only_profiles_that_have_what_they_need_are_built() -> None:
    assert sorted(await built(dict(BUILT_IN), NO_REFINERS)) == READY_ALONE
    assert set(await built(dict(BUILT_IN), FakeRefiners().given())) == set(BUILT_IN)

    contents_only = Refiners(contents=InMemoryContents())
    found = await built(dict(BUILT_IN), contents_only)
    assert isinstance(found["diverse"], MmrRetriever)
    assert sorted(missing(BUILT_IN, contents_only)) == ["multi-query", "reranked"]


async def test_a_profile_that_is_not_ready_says_what_it_needs_and_an_unknown_one_what_there_is() -> None:
    found = await built(dict(BUILT_IN), NO_REFINERS)
    profiles = Profiles(found, "hybrid", missing(BUILT_IN, NO_REFINERS))

    with pytest.raises(InvalidInput, match=r"'reranked' can't be used here: it needs a cross-encoder: pip install"):
        profiles.named("reranked")
    with pytest.raises(InvalidInput, match=r"'multi-query' .* set CITEBUS_RETRIEVAL_REWRITER_BASE_URL"):
        profiles.named("multi-query")
    with pytest.raises(InvalidInput, match=r"no retrieval profile 'fast'\. Known: dense, hybrid, sparse\."):
        profiles.named("fast")


async def test_a_default_that_is_not_ready_is_refused_at_once() -> None:
    found = await built(dict(BUILT_IN), NO_REFINERS)

    with pytest.raises(InvalidInput, match="'reranked' can't be used here"):
        Profiles(found, "reranked", missing(BUILT_IN, NO_REFINERS))


def test_others_see_every_profile_with_its_settings_needs_and_state() -> None:
    mine = ProfileSettings.model_validate({"kind": "sparse", "mmr": {"lambda": 0.5}, "rerank": {}})
    listed = described({**BUILT_IN, "mine": mine}, Refiners(contents=InMemoryContents()), "hybrid").profiles

    by_name = {profile.name: profile for profile in listed}
    assert list(by_name) == sorted([*BUILT_IN, "mine"])
    assert [profile.name for profile in listed if profile.default] == ["hybrid"]
    assert by_name["mine"].kind == "sparse"
    assert by_name["mine"].settings["mmr"] == {"lambda": 0.5, "depth": 32}
    assert "rrf_k" not in by_name["mine"].settings
    assert by_name["mine"].needs == ("scorer",)
    assert (by_name["mine"].ready, by_name["diverse"].ready, by_name["sparse"].needs) == (False, True, ())
    assert by_name["mine"].missing is not None
