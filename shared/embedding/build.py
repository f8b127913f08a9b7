"""From settings to an embedder. Only the chosen provider's libraries are loaded: ONNX Runtime alone takes 30 MB."""

from __future__ import annotations

from shared.embedding.embedder import Embedder
from shared.embedding.hashing import HashingEmbedder
from shared.embedding.http_embedder import HttpEmbedder
from shared.embedding.ollama import OllamaWire
from shared.embedding.openai_compatible import OpenAICompatibleWire
from shared.embedding.provider import Conduct, Endpoint, ModelSpec, RequestLimits
from shared.embedding.retrying import RetryPolicy
from shared.embedding.settings import EmbeddingSettings
from shared.embedding.windows import WindowLimits
from shared.embedding.wire import WireFormat
from shared.errors import InvalidInput

_WINDOW_TOKENS = {"openai": 7_500, "ollama": 2_000}
"""Below the 8,192 tokens of OpenAI's models and bge-m3, and the 2,048 that Ollama gives most models; the count is an
estimate."""


def build_embedder(settings: EmbeddingSettings) -> Embedder:
    """Return the embedder that the settings name; nothing is loaded or called yet. The caller closes it."""
    if settings.provider == "hashing":
        return HashingEmbedder(settings.vector_dimension)
    return _bundled(settings) if settings.provider == "bundled" else _http(settings)


def _bundled(settings: EmbeddingSettings) -> Embedder:
    try:
        from shared.embedding.bundled import BundledEmbedder  # noqa: PLC0415 - see the module's first line
    except ModuleNotFoundError as error:
        raise InvalidInput(
            f"the bundled embedding model needs `{error.name}`; run: pip install 'citebus[embedding,bundled-model]'"
        ) from error
    return BundledEmbedder(settings.threads)


def _http(settings: EmbeddingSettings) -> Embedder:
    model = settings.model_name
    wire: WireFormat
    if settings.provider == "openai":
        wire = OpenAICompatibleWire(model, _sent_dimension(settings), settings.encoding)
    else:
        wire = OllamaWire(model, _sent_dimension(settings))
    spec = ModelSpec(model, settings.vector_dimension, settings.document_prefix, settings.query_prefix)
    key = settings.api_key.get_secret_value() if settings.api_key else ""
    limits = RequestLimits(
        settings.batch_texts,
        settings.batch_chars,
        settings.concurrency,
        WindowLimits(settings.window_tokens or _WINDOW_TOKENS[settings.provider], settings.max_windows),
    )
    conduct = Conduct(limits, RetryPolicy(attempts=settings.retry_attempts))
    return HttpEmbedder(wire, spec, Endpoint(settings.url, key, settings.timeout_s), conduct)


def _sent_dimension(settings: EmbeddingSettings) -> int | None:
    return settings.vector_dimension if settings.send_dimension else None
