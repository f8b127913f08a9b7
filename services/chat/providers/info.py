"""What the service says of its provider to whoever asks: never a key."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.util import find_spec

from services.chat.costs import PriceTable
from services.chat.provider import Usage
from services.chat.providers.settings import ChatProviderSettings
from services.chat.providers.spec import ProviderSpec
from shared.contracts.providers import ProviderInfo
from shared.errors import InvalidInput

_PACKAGES = {"openai": "openai", "anthropic": "anthropic", "ollama": "ollama", "agent": "claude_agent_sdk"}


def provider_info(settings: ChatProviderSettings, prices: PriceTable | None = None) -> ProviderInfo:
    """Return who answers questions that name no provider; nothing is called. `prices`: else those of the settings.

    Raises InvalidInput when the table of prices is wrong.
    """
    spec = settings.spec("chat")
    missing = _missing(spec)
    return ProviderInfo(
        provider=spec.provider,
        model=spec.model or None,
        base_url=spec.base_url or None,
        priced=_is_priced(spec, prices or PriceTable.load(settings.prices_file)),
        ready=missing is None,
        missing=missing,
    )


def _is_priced(spec: ProviderSpec, prices: PriceTable) -> bool:
    """Tell whether a call has a cost; the agent reports its own."""
    if spec.provider == "agent":
        return True
    return prices.cost_on(datetime.now(UTC).date(), spec.provider, spec.model, Usage(1, 1)) is not None


def _missing(spec: ProviderSpec) -> str | None:
    package = _PACKAGES.get(spec.provider)
    if package is not None and find_spec(package) is None:
        return f"the package {package} is not installed: pip install 'citebus[{spec.provider}]'"
    try:
        spec.check()
    except InvalidInput as error:
        return str(error)
    return None
