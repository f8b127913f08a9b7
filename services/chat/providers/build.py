"""From settings to a provider. Only the chosen provider's SDK is loaded, and only it must be installed."""

from __future__ import annotations

from collections.abc import Callable

from services.chat.provider import ChatProvider
from services.chat.providers.settings import ChatProviderSettings
from services.chat.providers.spec import ProviderSpec
from services.chat.providers.streamed import StreamedProvider
from services.chat.providers.wire import Wire
from shared.errors import InvalidInput


def build_provider(
    settings: ChatProviderSettings, operation: str, *, extractive: Callable[[], ChatProvider] | None = None
) -> ChatProvider:
    """Return who answers an operation; nothing is called yet. The caller closes it.

    `extractive` makes the offline provider, when the settings ask for it. InvalidInput: a package is missing.
    """
    return provider_of(settings.spec(operation), settings, extractive)


def provider_of(
    spec: ProviderSpec, settings: ChatProviderSettings, extractive: Callable[[], ChatProvider] | None = None
) -> ChatProvider:
    """Return the provider of a spec; see `build_provider`."""
    if spec.provider == "extractive":
        if extractive is None:
            raise InvalidInput("there is no offline provider here: set CITEBUS_CHAT_PROVIDER and CITEBUS_CHAT_MODEL")
        return extractive()
    try:
        return StreamedProvider(_wire(spec, settings))
    except ModuleNotFoundError as error:
        raise InvalidInput(
            f"the chat provider {spec.provider} needs the package `{error.name}`: "
            f"pip install 'citebus[{spec.provider}]'"
        ) from error


def _wire(spec: ProviderSpec, settings: ChatProviderSettings) -> Wire:
    if spec.provider == "openai":
        from services.chat.providers.openai_compatible import OpenAICompatibleWire  # noqa: PLC0415

        return OpenAICompatibleWire.connected(spec)
    if spec.provider == "anthropic":
        from services.chat.providers.anthropic import AnthropicWire  # noqa: PLC0415

        return AnthropicWire.connected(spec)
    if spec.provider == "ollama":
        from services.chat.providers.ollama import OllamaWire  # noqa: PLC0415

        return OllamaWire.connected(spec)
    from services.chat.providers.agent import AgentBounds, AgentWire  # noqa: PLC0415

    bounds = AgentBounds(
        settings.agent_max_turns, settings.agent_token_budget, settings.agent_concurrency, settings.agent_cli
    )
    return AgentWire(spec, bounds)
