from __future__ import annotations

import os

import pytest
from pydantic import ValidationError

from shared.embedding.build import build_embedder
from shared.embedding.hashing import HashingEmbedder
from shared.embedding.settings import EmbeddingSettings

PREFIX = "CITEBUS_EMBEDDING_"


@pytest.fixture(autouse=True)
def empty_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.upper().startswith(PREFIX)]:
        monkeypatch.delenv(name)


async def test_nothing_set_gives_the_offline_default():
    embedder = build_embedder(EmbeddingSettings())

    assert (embedder.model, embedder.dimension) == ("bge-small-en-v1.5", 384)
    await embedder.aclose()


@pytest.mark.parametrize(
    ("values", "model", "dimension"),
    [
        ({"PROVIDER": "bundled", "MODEL": "", "DIMENSION": "384", "THREADS": "1"}, "bge-small-en-v1.5", 384),
        ({"PROVIDER": "hashing"}, "hashing", 256),
        ({"PROVIDER": "hashing", "MODEL": "hashing", "DIMENSION": "64"}, "hashing", 64),
        ({"PROVIDER": "ollama", "MODEL": "bge-m3:latest"}, "bge-m3:latest", 1024),
        ({"PROVIDER": "ollama", "MODEL": "own", "DIMENSION": "7", "BASE_URL": "http://[::1]:1/"}, "own", 7),
        ({"PROVIDER": "openai", "MODEL": "text-embedding-3-small", "API_KEY": "k"}, "text-embedding-3-small", 1536),
        (
            {"PROVIDER": "openai", "MODEL": "bge-m3", "BASE_URL": "http://gpu:8000/v1", "DOCUMENT_PREFIX": "d: "},
            "bge-m3-p611bf4",
            1024,
        ),
    ],
    ids=str,
)
async def test_each_provider_is_built_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, values: dict[str, str], model: str, dimension: int
):
    for name, value in values.items():
        monkeypatch.setenv(PREFIX + name, value)

    embedder = build_embedder(EmbeddingSettings())

    assert (embedder.model, embedder.dimension) == (model, dimension)
    await embedder.aclose()


@pytest.mark.parametrize(
    ("values", "advice"),
    [
        ({"PROVIDER": "openai"}, "CITEBUS_EMBEDDING_MODEL"),
        ({"PROVIDER": "ollama"}, "CITEBUS_EMBEDDING_MODEL"),
        ({"PROVIDER": "ollama", "MODEL": "my-own"}, "set CITEBUS_EMBEDDING_DIMENSION"),
        ({"PROVIDER": "openai", "MODEL": "text-embedding-3-small"}, "CITEBUS_EMBEDDING_API_KEY"),
        ({"PROVIDER": "bundled", "DIMENSION": "768"}, "remove CITEBUS_EMBEDDING_DIMENSION"),
        ({"PROVIDER": "bundled", "MODEL": "bge-m3"}, "set CITEBUS_EMBEDDING_PROVIDER"),
        ({"PROVIDER": "hashing", "MODEL": "bge-m3"}, "set CITEBUS_EMBEDDING_PROVIDER"),
        ({"PROVIDER": "ollama", "MODEL": "bge-m3", "BASE_URL": "localhost:11434"}, "http://127.0.0.1:8000/v1"),
        ({"PROVIDER": "ollama", "MODEL": "bge-m3", "BASE_URL": "http://"}, "http://127.0.0.1:8000/v1"),
        ({"PROVIDER": "ollama", "MODEL": "bge-m3", "BASE_URL": "http://h:port"}, "http://127.0.0.1:8000/v1"),
        ({"PROVIDER": "ollama", "MODEL": "bge-m3", "BASE_URL": "http://u:secret@h"}, "CITEBUS_EMBEDDING_API_KEY"),
        ({"API_KEY": "secret\nkey"}, "CITEBUS_EMBEDDING_API_KEY"),
        ({"API_KEY": "secret ключ"}, "CITEBUS_EMBEDDING_API_KEY"),
        ({"PROVIDER": "oaipen", "API_KEY": "secret"}, "'bundled', 'openai', 'ollama' or 'hashing'"),
    ],
    ids=str,
)
def test_wrong_settings_say_what_to_set_and_never_the_key(
    monkeypatch: pytest.MonkeyPatch, values: dict[str, str], advice: str
):
    for name, value in values.items():
        monkeypatch.setenv(PREFIX + name, value)

    with pytest.raises(ValidationError) as raised:
        EmbeddingSettings()
    assert advice in str(raised.value)
    assert "secret" not in str(raised.value)


def test_the_key_is_not_shown():
    settings = EmbeddingSettings.model_validate({"provider": "hashing", "api_key": "secret"})

    assert "secret" not in repr(settings)
    assert isinstance(build_embedder(settings), HashingEmbedder)
