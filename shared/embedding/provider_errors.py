"""What a provider's refusal means: wait and try again, or change a setting. No message ever holds the key."""

from __future__ import annotations

from datetime import datetime

import httpx

from shared.embedding.retrying import parse_retry_after
from shared.errors import CitebusError, InvalidInput, RateLimited, Unavailable

_EXCERPT_CHARS = 200
"""Of the provider's own words: enough for its error message, too little for a page of HTML."""

_TRY_AGAIN = frozenset({408, 425, 429, 529})
"""Timeout, too early, too many requests, overloaded (Anthropic and some proxies); with all of 500 to 599."""

_ADVICE = {
    401: "the key was not accepted: check CITEBUS_EMBEDDING_API_KEY",
    403: "the key may not do this: check CITEBUS_EMBEDDING_API_KEY and its rights",
    404: "no such address or model: check CITEBUS_EMBEDDING_BASE_URL and CITEBUS_EMBEDDING_MODEL",
    413: "the request is too large: lower CITEBUS_EMBEDDING_BATCH_TEXTS or CITEBUS_EMBEDDING_BATCH_CHARS",
}
_REDIRECT_ADVICE = "this is not the address of its API: check CITEBUS_EMBEDDING_BASE_URL"
_OTHER_ADVICE = "the model, the dimension or the length of a text may not suit it: check CITEBUS_EMBEDDING_*"


def refusal(response: httpx.Response, provider: str, secret: str, now: datetime) -> CitebusError:
    """Return the error for a read response whose status is not 200.

    RateLimited for 429 and Unavailable for other passing states, each with the wait that the provider asks for; else
    InvalidInput with advice and the start of the provider's own words, `secret` blotted out. Nothing is quoted when the
    key was refused, as some providers repeat parts of it.
    """
    status = response.status_code
    if status in _TRY_AGAIN or status >= 500:
        kind = RateLimited if status == 429 else Unavailable
        return kind(f"{provider} answers {status}: try again later", retry_after_s=_retry_after_s(response, now))
    advice = _REDIRECT_ADVICE if status < 400 else _ADVICE.get(status, _OTHER_ADVICE)
    message = f"{provider} refuses with {status}: {advice}"
    said = "" if status in {401, 403} else _excerpt(response, secret)
    return InvalidInput(f"{message} (it says: {said})" if said else message)


def _retry_after_s(response: httpx.Response, now: datetime) -> float | None:
    milliseconds = response.headers.get("retry-after-ms", "")  # OpenAI and Azure: finer than the standard header
    if milliseconds.isascii() and milliseconds.isdigit():
        return int(milliseconds[:9]) / 1000
    return parse_retry_after(response.headers.get("retry-after"), now)


def _excerpt(response: httpx.Response, secret: str) -> str:
    words = " ".join(response.text.split())
    if secret:
        words = words.replace(secret, "***")
    return words if len(words) <= _EXCERPT_CHARS else words[:_EXCERPT_CHARS] + "…"
