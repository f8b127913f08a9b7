from __future__ import annotations

import pytest

from services.retrieval.profile_settings import BUILT_IN
from services.retrieval.settings import RetrievalSettings


def test_profiles_of_the_settings_add_to_the_built_in_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEBUS_RETRIEVAL_PROFILES", '{"words": {"kind": "sparse"}, "dense": {"kind": "sparse"}}')
    profiles = RetrievalSettings().all_profiles()

    assert set(profiles) == {*BUILT_IN, "words"}
    assert profiles["dense"].kind == "sparse"


def test_bounds_carry_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEBUS_RETRIEVAL_CANDIDATES", "80")
    monkeypatch.setenv("CITEBUS_RETRIEVAL_MAX_EXPANSIONS", "7")
    bounds = RetrievalSettings().bounds()

    assert bounds.seeds.depth == 80
    assert bounds.max_expansions == 7
