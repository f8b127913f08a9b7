from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.embedding.retrying import RetryPolicy, parse_retry_after
from shared.errors import InvalidInput, RateLimited, Unavailable

NOW = datetime(2025, 3, 1, 12, 0, 0, tzinfo=UTC)


@dataclass
class Flaky:
    """Raises its errors in order, then answers."""

    errors: Iterator[Exception]
    calls: int = 0
    waits: list[float] = field(default_factory=list[float])

    async def __call__(self) -> str:
        self.calls += 1
        error = next(self.errors, None)
        if error:
            raise error
        return "done"

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    def policy(self, attempts: int = 4) -> RetryPolicy:
        return RetryPolicy(attempts=attempts, first_delay_s=1, sleep=self.sleep, fraction=lambda: 0.0)


async def test_waits_double_until_the_call_succeeds():
    flaky = Flaky(iter([Unavailable("down")] * 3))

    assert await flaky.policy().run(flaky) == "done"
    assert flaky.waits == [0.5, 1.0, 2.0]


async def test_the_last_error_is_raised_without_another_wait():
    flaky = Flaky(iter([Unavailable("first"), Unavailable("last")]))

    with pytest.raises(Unavailable, match="last"):
        await flaky.policy(attempts=2).run(flaky)
    assert flaky.waits == [0.5]


async def test_a_permanent_error_is_raised_at_once():
    flaky = Flaky(iter([InvalidInput("no")]))

    with pytest.raises(InvalidInput):
        await flaky.policy().run(flaky)
    assert (flaky.calls, flaky.waits) == (1, [])


async def test_a_single_attempt_never_waits():
    flaky = Flaky(iter([RateLimited("later")]))

    with pytest.raises(RateLimited):
        await flaky.policy(attempts=1).run(flaky)
    assert flaky.waits == []


@given(attempt=st.integers(1, 10_000), fraction=st.floats(0, 1, exclude_max=True))
def test_a_wait_lies_between_half_and_all_of_the_backoff(attempt: int, fraction: float):
    delay = RetryPolicy(first_delay_s=1, max_delay_s=20, fraction=lambda: fraction).delay_s(attempt)
    backoff = min(20.0, 2.0 ** min(attempt - 1, 10))

    assert backoff / 2 <= delay <= backoff


@given(asked=st.floats(0, 60), fraction=st.floats(0, 1, exclude_max=True))
def test_a_wait_is_never_shorter_than_asked_for(asked: float, fraction: float):
    assert RetryPolicy(fraction=lambda: fraction).delay_s(1, asked) >= asked


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("0.25", 0.25),
        ("Sat, 01 Mar 2025 12:01:00 GMT", 60.0),
        ("Sat, 01 Mar 2025 13:01:00 +0100", 60.0),
        ("Saturday, 01-Mar-25 12:01:00 GMT", 60.0),
        ("Sat Mar  1 12:01:00 2025", 60.0),
        ("Sat, 01 Mar 2025 11:00:00 GMT", 0.0),
        (None, None),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("inf", None),
        ("nan", None),
        ("1e9", None),
        ("٣", None),
    ],
)
def test_retry_after_is_read_as_seconds_or_date(value: str | None, seconds: float | None):
    assert parse_retry_after(value, NOW) == seconds


@given(st.text())
def test_no_header_value_breaks_the_reading(value: str):
    seconds = parse_retry_after(value, NOW)

    assert seconds is None or seconds >= 0
