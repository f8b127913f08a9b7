"""The providers that the settings name, each built when it is first asked for, and closed together."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack

from services.chat.provider import ChatProvider
from services.chat.providers.build import provider_of
from services.chat.providers.settings import ChatProviderSettings
from services.chat.providers.spec import ProviderSpec
from shared.errors import InvalidInput


class ConfiguredProviders:
    """Chooses by operation or by name. Operations with the same settings share a provider."""

    def __init__(self, settings: ChatProviderSettings, extractive: Callable[[], ChatProvider] | None = None) -> None:
        self._settings, self._extractive = settings, extractive
        self._built: dict[ProviderSpec, ChatProvider] = {}

    def choose(self, operation: str, name: str | None = None) -> ChatProvider:
        """Return who does an operation, or the provider `name` as any operation has it.

        The offline one is always there.

        Raises InvalidInput when the operation is unknown, the provider is not set up, has no key or lacks its package.
        """
        spec = self._spec(operation, name)
        if spec not in self._built:
            spec.check()
            self._built[spec] = provider_of(spec, self._settings, self._extractive)
        return self._built[spec]

    async def aclose(self) -> None:
        """Close what was built."""
        async with AsyncExitStack() as stack:
            for provider in self._built.values():
                stack.push_async_callback(provider.aclose)
            self._built.clear()

    def _spec(self, operation: str, name: str | None) -> ProviderSpec:
        known = self._settings.known_operations
        if operation not in known:
            raise InvalidInput(f"there is no operation `{operation[:32]}`; there are {', '.join(known)}")
        own = self._settings.spec(operation)
        if name is None or name == own.provider:
            return own
        specs = [self._settings.spec(candidate) for candidate in known]
        if name == "extractive":
            specs.append(ProviderSpec("extractive"))
        spec = next((candidate for candidate in specs if candidate.provider == name), None)
        if spec is None:
            raise InvalidInput(f"the chat provider `{name[:32]}` is not set up; see CITEBUS_CHAT_* in docs/settings.md")
        return spec
