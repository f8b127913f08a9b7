"""Who answers questions, in words; and whether it can be reached."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

from shared.contracts.providers import ProviderInfo

REACH_S = 3.0
"""A server that takes longer to accept a connection will not answer well either."""

_USUAL_PORTS = {"http": 80, "https": 443}


def provider_text(info: ProviderInfo) -> str:
    """Return provider, model, server and whether costs are known: `openai gpt-4o at api.openai.com, price known`."""
    if info.base_url is None:
        return f"{info.provider}, offline, from the vault's own sentences; no costs"
    who = f"{info.provider} {info.model}" if info.model else info.provider
    price = "price known" if info.priced else "price not known (CITEBUS_CHAT_PRICES_FILE)"
    state = "" if info.ready else f"; not ready: {info.missing}"
    return f"{who} at {urlsplit(info.base_url).netloc}, {price}{state}"


async def unreachable(info: ProviderInfo, timeout_s: float = REACH_S) -> str | None:
    """Return why the provider's server accepts no connection; None when it does, or there is none to ask."""
    if info.base_url is None:
        return None
    url = urlsplit(info.base_url)
    try:
        async with asyncio.timeout(timeout_s):
            _, writer = await asyncio.open_connection(url.hostname, url.port or _USUAL_PORTS.get(url.scheme, 443))
    except TimeoutError:
        return f"{url.netloc} does not answer within {timeout_s:g} s"
    except OSError as error:
        return f"{url.netloc} cannot be reached: {error.strerror or error}"
    writer.close()
    return None
