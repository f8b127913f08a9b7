"""What a provider's error means: wait and try again, ask for less, or change a setting.

No message holds the provider's own words, as some repeat the key in them; and for the same reason the errors made here
are raised `from None`: a log of a traceback would print the driver's text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from services.chat.providers.spec import ProviderSpec
from shared.embedding.retrying import parse_retry_after
from shared.errors import CitebusError, InvalidInput, RateLimited, TooLarge, Unavailable

_TRY_AGAIN = frozenset({408, 409, 425, 499})
"""Timeout, conflict, too early, closed on the way; with all of 500 to 599."""

_TOO_LONG = re.compile(
    r"context.?(length|window|size)|context.?limit|maximum context|prompt.?is.?too.?long|too.?many.?(input.?)?tokens"
    r"|input.?(length|is).{0,40}(exceed|too long)|request_too_large|reduce the length|exceeds? .{0,30}max.?input",
    re.IGNORECASE | re.DOTALL,
)
"""How OpenAI, Anthropic, GLM, vLLM, llama.cpp and Ollama say that a prompt does not fit the model's window."""

_STATUS_OF_KIND = {
    "rate_limit": 429,
    "overloaded": 529,
    "authentication": 401,
    "permission": 403,
    "not_found": 404,
    "too_large": 413,
    "context_length": 413,
    "invalid": 400,
}
"""Parts of the codes that providers send as an event when the stream has begun, and a status can't be sent any more."""


def refused(
    spec: ProviderSpec,
    status: int,
    words: str = "",
    headers: Mapping[str, str] | None = None,
    now: datetime | None = None,
) -> CitebusError:
    """Return the error for an answer of that HTTP status.

    RateLimited for 429 and Unavailable for other passing states, with the wait that the provider asks for (`headers`);
    TooLarge when `words` (the body) say that the prompt does not fit; else InvalidInput with advice.
    """
    if status == 413 or (status != 429 and _TOO_LONG.search(words[:4_000])):
        return TooLarge(f"{spec.label} refuses with {status}: the prompt does not fit the window of `{spec.model}`")
    if status == 429 or status in _TRY_AGAIN or status >= 500:
        kind = RateLimited if status == 429 else Unavailable
        wait_s = retry_after_s(headers or {}, now or datetime.now(UTC))
        return kind(f"{spec.label} answers {status}: try again later", retry_after_s=wait_s)
    return InvalidInput(f"{spec.label} refuses with {status}: {_advice(spec, status)}")


def refused_amid(spec: ProviderSpec, kind: str, words: str = "") -> CitebusError:
    """Return the error that a provider sent as an event; `kind` is its code, a name or an HTTP status."""
    if re.fullmatch(r"[45]\d\d", kind):
        return refused(spec, int(kind), words)
    status = next((status for part, status in _STATUS_OF_KIND.items() if part in kind.lower()), 500)
    return refused(spec, status, words)


def unreachable(spec: ProviderSpec) -> Unavailable:
    """Return the error of a connection that failed or broke off; raise it with its cause."""
    return Unavailable(f"{spec.label} cannot be reached, or the connection broke off")


def garbled(spec: ProviderSpec) -> Unavailable:
    """Return the error of an answer that is not in the provider's format: cut, or a proxy's page."""
    return Unavailable(f"{spec.label} sends what is no answer: cut off, a proxy's page, or another kind of server")


def called_a_tool(spec: ProviderSpec) -> Unavailable:
    """Return the error of a model that calls a tool although none was offered."""
    return Unavailable(f"the model `{spec.model}` calls a tool that it was not offered: ask again, or another model")


def retry_after_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds that the headers (names in any case) ask to wait."""
    known = {name.lower(): value for name, value in headers.items()}
    milliseconds = known.get("retry-after-ms", "")  # OpenAI and Azure: finer than the standard header
    if milliseconds.isascii() and milliseconds.isdigit():
        return int(milliseconds[:9]) / 1000
    return parse_retry_after(known.get("retry-after"), now)


def _advice(spec: ProviderSpec, status: int) -> str:
    if status < 400:
        return "this is not the address of its API: check CITEBUS_CHAT_BASE_URL"
    return {
        401: f"the key was not accepted: check {spec.key_variable} or CITEBUS_CHAT_API_KEY",
        402: "the account has no credit",
        403: f"the key may not do this: check {spec.key_variable} or CITEBUS_CHAT_API_KEY and its rights",
        404: "no such address or model: check CITEBUS_CHAT_BASE_URL and CITEBUS_CHAT_MODEL",
    }.get(status, "the model or a setting does not suit it: check CITEBUS_CHAT_*")
