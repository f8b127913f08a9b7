"""The chat adapters, each beside a provider on loopback that speaks its format: what their suite runs on."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field

from pydantic import SecretStr

from services.chat.provider import ChatMessage, ChatProvider, Delta, Finished, ProviderEvent
from services.chat.providers.build import build_provider
from services.chat.providers.settings import ChatProviderSettings
from services.chat.providers.spec import ProviderName
from shared.contracts.search import SearchReply
from shared.errors import CitebusError
from tests.fakes.provider_servers.formats import FormatName
from tests.fakes.provider_servers.server import ProviderServer, provider_server

KEY = "sk-very-secret-4711"

MESSAGES = (
    ChatMessage("system", "Answer from the passages."),
    ChatMessage("user", "Who waters the roses?"),
    ChatMessage("assistant", "The gardener. [1]"),
    ChatMessage("user", "And when?"),
)

CONTEXT = SearchReply(
    query="when are the roses watered",
    text="",
    citations=(),
    token_budget=0,
    approx_tokens=0,
    data_version=1,
    results=(),
    retriever="hybrid",
    space="s",
)


@dataclass(frozen=True)
class Adapter:
    """What an adapter is and, as its provider differs, can't do."""

    provider: ProviderName
    format: FormatName
    path: str = ""
    """Behind the server's origin."""
    start_s: float = 0.0
    """Before its request arrives: the agent starts a process."""
    tells_the_wait: bool = True
    tells_a_filter: bool = True
    usage_may_lack: bool = True
    drops_words_before_a_cut: bool = False


ADAPTERS = {
    "openai": Adapter("openai", "openai", "/v1"),
    "anthropic": Adapter("anthropic", "anthropic"),
    "ollama": Adapter("ollama", "ollama", tells_a_filter=False),
    "agent": Adapter(
        "agent", "anthropic", start_s=15.0, tells_the_wait=False, usage_may_lack=False, drops_words_before_a_cut=True
    ),
}


@dataclass
class ChatSetting:
    """A scripted provider, and its adapter as the settings build it."""

    adapter: Adapter
    server: ProviderServer
    opened: list[ChatProvider] = field(default_factory=list[ChatProvider])

    def provider(self, *, key: str = KEY, path: str | None = None, **limits: float) -> ChatProvider:
        """Return the adapter; of `limits`, those on the first byte and the whole leave the agent time to start."""
        start = {name: value + self.adapter.start_s for name, value in limits.items() if name in _WITH_START}
        settings = ChatProviderSettings(
            provider=self.adapter.provider,
            model="m",
            base_url=self.server.origin + (self.adapter.path if path is None else path),
            api_key=SecretStr(key),
        )
        settings = ChatProviderSettings.model_validate(settings.model_dump() | limits | start)
        provider = build_provider(settings, "answer")
        self.opened.append(provider)
        return provider

    async def ask(self, provider: ChatProvider | None = None) -> list[ProviderEvent]:
        """Return all events of one answer."""
        chat = (provider or self.provider()).chat(MESSAGES, CONTEXT)
        return [event async for event in chat]

    async def ask_until_error(self, provider: ChatProvider | None = None) -> tuple[str, CitebusError]:
        """Return the text that came, and the error behind it."""
        said = ""
        try:
            async with aclosing((provider or self.provider()).chat(MESSAGES, CONTEXT)) as events:
                async for event in events:
                    said += event.text if isinstance(event, Delta) else "(finished)"
        except CitebusError as error:
            return said, error
        raise AssertionError(f"no error, but {said}")


_WITH_START = frozenset({"first_byte_timeout_s", "timeout_s"})


@asynccontextmanager
async def chat_setting(name: str) -> AsyncGenerator[ChatSetting]:
    """Run the provider of an adapter, and close what was opened."""
    adapter = ADAPTERS[name]
    async with provider_server(adapter.format) as server:
        setting = ChatSetting(adapter, server)
        try:
            yield setting
        finally:
            for provider in setting.opened:
                await provider.aclose()


def text_of(events: list[ProviderEvent]) -> str:
    """Return the answer; every delta has text."""
    deltas = [event.text for event in events if isinstance(event, Delta)]
    assert all(deltas)
    return "".join(deltas)


def finish_of(events: list[ProviderEvent]) -> Finished:
    """Return the last event; it is the only one of its kind."""
    last = events[-1]
    assert isinstance(last, Finished)
    assert [event for event in events if isinstance(event, Finished)] == [last]
    return last
