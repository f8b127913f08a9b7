"""When a provider fails for now: wait longer each time, with jitter, and as long as it asks to.

Source: exponential backoff with equal jitter (Brooker, AWS Architecture Blog, 2015); Retry-After: RFC 9110, 10.2.3.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from shared.errors import RetryableError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """At most `attempts` calls. The n-th wait is between half and all of `first_delay_s` × 2ⁿ⁻¹, at most `max_delay_s`.

    A longer `retry_after_s` of the error is respected, up to `max_retry_after_s`: beyond that the error goes to the
    caller at once, who has better means to wait (a message that is delivered again later).
    """

    attempts: int = 5
    first_delay_s: float = 0.5
    max_delay_s: float = 20.0
    max_retry_after_s: float = 60.0
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    fraction: Callable[[], float] = random.random
    """Uniform in [0, 1)."""

    async def run(self, operation: Callable[[], Awaitable[T]]) -> T:
        """Return what the operation returns; raise its last RetryableError, or any other error at once."""
        for attempt in range(1, self.attempts):
            try:
                return await operation()
            except RetryableError as error:
                if (error.retry_after_s or 0.0) > self.max_retry_after_s:
                    raise
                delay = self.delay_s(attempt, error.retry_after_s)
            await self.sleep(delay)
        return await operation()

    def delay_s(self, attempt: int, retry_after_s: float | None = None) -> float:
        """Return the wait after failed attempt number `attempt` (from 1), in seconds.

        After a Retry-After it is up to a tenth longer, so that not all who were refused return at the same moment.
        """
        backoff = min(self.max_delay_s, self.first_delay_s * 2.0 ** min(attempt - 1, 32))
        jittered = backoff * (0.5 + 0.5 * self.fraction())
        return max(jittered, (retry_after_s or 0.0) * (1 + 0.1 * self.fraction()))


def parse_retry_after(value: str | None, now: datetime) -> float | None:
    """Return the seconds that a Retry-After header asks for, never negative; None when absent or not understood.

    `now` has a time zone. Fractions of a second, which some providers send, are understood too.
    """
    value = (value or "").strip()
    if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", value, re.ASCII):
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())
