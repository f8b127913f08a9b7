"""Which provider is chosen, that its SDK alone is loaded, and what is said when something is missing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence

import pytest
from pydantic import SecretStr

from services.chat.provider import ChatMessage, ProviderEvent
from services.chat.providers.build import build_provider
from services.chat.providers.configured import ConfiguredProviders
from services.chat.providers.settings import ChatProviderSettings, OperationSettings
from services.chat.providers.spec import ProviderName
from shared.contracts.search import SearchReply
from shared.errors import InvalidInput

PACKAGES = {"openai": "openai", "anthropic": "anthropic", "ollama": "ollama", "agent": "claude_agent_sdk"}


class Offline:
    """Stands for the offline provider."""

    name = "extractive"
    model = ""

    def __init__(self) -> None:
        self.is_closed = False

    def chat(self, messages: Sequence[ChatMessage], context: SearchReply) -> AsyncGenerator[ProviderEvent]:
        raise NotImplementedError

    async def aclose(self) -> None:
        self.is_closed = True


def settings_of(provider: ProviderName, key: str | None = "k", **operations: OperationSettings) -> ChatProviderSettings:
    return ChatProviderSettings(
        provider=provider, model="m", api_key=SecretStr(key) if key else None, operations=operations
    )


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OLLAMA_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def test_the_offline_provider_is_made_by_whoever_has_it():
    offline = Offline()

    assert build_provider(ChatProviderSettings(), "chat", extractive=lambda: offline) is offline
    with pytest.raises(InvalidInput, match="CITEBUS_CHAT_PROVIDER"):
        build_provider(ChatProviderSettings(), "chat")


@pytest.mark.parametrize("provider", PACKAGES)
def test_a_missing_package_is_named_with_what_installs_it(provider: ProviderName, monkeypatch: pytest.MonkeyPatch):
    for name in [name for name in sys.modules if name.startswith(("services.chat.providers.", PACKAGES[provider]))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, PACKAGES[provider], None)

    with pytest.raises(InvalidInput, match=rf"pip install 'citebus\[{provider}\]'"):
        build_provider(settings_of(provider), "chat")


def test_without_a_provider_no_sdk_is_loaded():
    code = (
        "import sys, services.chat.providers.configured, services.chat.costs\n"
        f"print([name for name in {[*PACKAGES.values(), 'httpx2']} if name in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


async def test_operations_with_the_same_settings_share_a_provider():
    fast = OperationSettings(model="fast")
    providers = ConfiguredProviders(settings_of("ollama", rewrite=fast))

    assert providers.choose("chat") is providers.choose("judge")
    assert providers.choose("rewrite").model == "fast"
    await providers.aclose()


async def test_a_provider_is_chosen_by_name_as_any_operation_has_it():
    judge = OperationSettings(provider="ollama", model="judge")
    offline = Offline()
    providers = ConfiguredProviders(settings_of("openai", judge=judge), lambda: offline)

    assert providers.choose("chat", "openai").model == "m"
    assert providers.choose("chat", "ollama").model == "judge"
    assert providers.choose("chat", "extractive") is offline
    await providers.aclose()
    assert offline.is_closed


@pytest.mark.parametrize(("operation", "name"), [("sing", None), ("chat", "anthropic"), ("chat", "nobody")])
def test_what_is_not_set_up_is_refused(operation: str, name: str | None):
    with pytest.raises(InvalidInput, match=name or operation):
        ConfiguredProviders(settings_of("ollama")).choose(operation, name)


@pytest.mark.parametrize(
    ("provider", "variable"),
    [("openai", "OPENAI_API_KEY"), ("anthropic", "ANTHROPIC_API_KEY"), ("agent", "ANTHROPIC_API_KEY")],
)
def test_a_missing_key_is_told_before_anything_is_asked(provider: ProviderName, variable: str):
    with pytest.raises(InvalidInput, match=variable):
        ConfiguredProviders(settings_of(provider, key=None)).choose("chat")
