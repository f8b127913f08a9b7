"""Settings from the environment: what is wrong is said in a sentence, without the value."""

from __future__ import annotations

import pytest

from services.retrieval.settings import RetrievalSettings
from shared.embedding.settings import EmbeddingSettings
from shared.errors import InvalidInput
from shared.settings import ServiceSettings, settings_from_environment


def test_a_wrong_value_names_its_variable_and_not_the_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEBUS_EMBEDDING_PROVIDER", "s3cret")
    with pytest.raises(InvalidInput, match="CITEBUS_EMBEDDING_PROVIDER") as refused:
        settings_from_environment(EmbeddingSettings)
    assert "s3cret" not in str(refused.value)
    assert "bundled" in str(refused.value)


def test_settings_that_do_not_fit_together_say_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEBUS_EMBEDDING_PROVIDER", "openai")
    with pytest.raises(InvalidInput, match="CITEBUS_EMBEDDING"):
        settings_from_environment(EmbeddingSettings)


def test_right_values_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEBUS_NAMESPACE", "other")
    assert settings_from_environment(ServiceSettings).topology.root == "other.v1"


@pytest.mark.parametrize(
    ("profiles", "said"),
    [
        ('{"fast": {"kind": "hybrid", "rerank": {"depth": 1}}}', "PROFILES is wrong: fast.rerank.depth: .*equal to 2"),
        ('{"fast": s3cret}', "PROFILES is wrong: it is no JSON .*column 10"),
    ],
)
def test_what_is_wrong_inside_a_structured_value_is_said_by_its_place(
    monkeypatch: pytest.MonkeyPatch, profiles: str, said: str
) -> None:
    monkeypatch.setenv("CITEBUS_RETRIEVAL_PROFILES", profiles)
    with pytest.raises(InvalidInput, match=said) as refused:
        settings_from_environment(RetrievalSettings)
    assert "s3cret" not in str(refused.value)
