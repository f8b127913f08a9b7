"""A model behind HTTP that is asked with JSON, once and in little time: what its refusals and silences mean.

For calls in the middle of a request that somebody waits for: no retries. Guarantees: a call ends within its time, and
no message ever holds the key.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypeVar

import httpx
from pydantic import BaseModel, ValidationError

from shared.embedding.retrying import parse_retry_after
from shared.errors import CitebusError, InvalidInput, RateLimited, Unavailable

ReplyModel = TypeVar("ReplyModel", bound=BaseModel)

_PASSING = frozenset({408, 425, 429, 529})
"""Timeout, too early, too many requests, overloaded; with all of 500 to 599."""


@dataclass(frozen=True, slots=True)
class HttpAddress:
    """Where a provider is, and how messages call it."""

    role: str
    """As in "the scoring provider"."""
    base_url: str
    settings: str
    """Prefix of the settings that a refusal points to, e.g. `CITEBUS_SCORING_`."""
    api_key: str = field(default="", repr=False)
    timeout_s: float = 10.0
    """For one whole request, from connecting to the last byte."""

    @property
    def shown(self) -> str:
        """The provider without path and credentials."""
        return f"the {self.role} at {httpx.URL(self.base_url).netloc.decode()}"


class HttpProvider:
    """Posts JSON to one address. A client that is given stays open at `aclose`; else one is built and closed."""

    def __init__(self, address: HttpAddress, client: httpx.AsyncClient | None = None) -> None:
        self.address = address
        self._client = client or httpx.AsyncClient()
        self._owns_client = client is None

    async def ask(self, path: str, body: Mapping[str, object], reply: type[ReplyModel]) -> ReplyModel:
        """Return the reply to a POST. Raises Unavailable or RateLimited (try later), InvalidInput (wrong settings)."""
        response = await self._post(path, body)
        if response.status_code != 200:
            raise self._refusal(response)
        try:
            return reply.model_validate_json(response.content)
        except ValidationError as error:
            raise self._unreadable(error) from error

    async def aclose(self) -> None:
        """Close the client if it was built here."""
        if self._owns_client:
            await self._client.aclose()

    async def _post(self, path: str, body: Mapping[str, object]) -> httpx.Response:
        key, timeout_s = self.address.api_key, self.address.timeout_s
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        url = self.address.base_url.rstrip("/") + path
        try:
            async with asyncio.timeout(timeout_s):  # httpx's own timeouts are per read: a trickle would last for ever
                return await self._client.post(url, json=body, headers=headers, timeout=timeout_s)
        except (TimeoutError, httpx.TimeoutException) as error:
            raise Unavailable(f"{self.address.shown} did not answer within {timeout_s:g} s") from error
        except httpx.HTTPError as error:
            why = type(error).__name__
            raise Unavailable(f"{self.address.shown} cannot be reached or broke off ({why})") from error

    def _refusal(self, response: httpx.Response) -> CitebusError:
        status, who = response.status_code, self.address.shown
        if status in _PASSING or status >= 500:
            kind = RateLimited if status == 429 else Unavailable
            wait_s = parse_retry_after(response.headers.get("retry-after"), datetime.now(UTC))
            return kind(f"{who} answers {status}: try again later", retry_after_s=wait_s)
        which = "API_KEY" if status in {401, 403} else "*"
        return InvalidInput(f"{who} refuses with {status}: check {self.address.settings}{which}")

    def _unreadable(self, error: ValidationError) -> CitebusError:
        first = error.errors(include_url=False, include_input=False)[0]
        if first["type"] == "json_invalid":
            return Unavailable(f"the reply of {self.address.shown} is no JSON: cut off, or a proxy's page")
        where = ".".join(map(str, first["loc"])) or "body"
        return InvalidInput(
            f"the reply of {self.address.shown} has no valid `{where}`: check {self.address.settings}PROVIDER and "
            f"{self.address.settings}BASE_URL"
        )
