"""What a call costs: dates, patterns, rounding, and that an unknown price is never 0."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from services.chat.costs import Price, PriceTable
from services.chat.provider import Usage
from shared.errors import InvalidInput

USAGE = Usage(input_tokens=1_000_000, output_tokens=1_000_000)


def price(*models: str, day: str = "2025-01-01", read: str = "1", written: str = "0") -> Price:
    return Price(
        providers=("openai",),
        models=models,
        valid_from=date.fromisoformat(day),
        input=Decimal(read),
        output=Decimal(written),
    )


def cost(*prices: Price, model: str = "m", day: str = "2025-06-01", usage: Usage = USAGE) -> Decimal | None:
    return PriceTable(prices).cost_on(date.fromisoformat(day), "openai", model, usage)


def test_input_and_output_have_their_own_price():
    usage = Usage(input_tokens=2_000, output_tokens=500)

    assert cost(price("m", read="2.50", written="10"), usage=usage) == Decimal("0.01")


@pytest.mark.parametrize(
    ("day", "dollars"),
    [("2024-12-31", None), ("2025-01-01", 1), ("2025-03-31", 1), ("2025-04-01", 2), ("2030-01-01", 2)],
)
def test_the_price_of_the_day_counts(day: str, dollars: int | None):
    assert cost(price("m", day="2025-04-01", read="2"), price("m", day="2025-01-01"), day=day) == dollars


@pytest.mark.parametrize(
    ("model", "dollars"),
    [("gpt-4o", 1), ("gpt-4o-2024-08-06", 1), ("gpt-4o-mini", 2), ("GPT-4o-MINI", 2), ("gpt-4", None)],
)
def test_the_most_literal_pattern_counts_whatever_its_date(model: str, dollars: int | None):
    rows = price("gpt-4o-mini*", day="2024-07-01", read="2"), price("gpt-4o*", day="2025-01-01")

    assert cost(*rows, model=model) == dollars
    assert cost(*rows[::-1], model=model) == dollars


def test_costs_are_rounded_to_a_hundred_millionth_half_to_even():
    one = Usage(input_tokens=1, output_tokens=0)

    assert cost(price("m", read="0.05"), usage=one) == Decimal("0.00000005")
    assert cost(price("m", read="0.005"), usage=one) == Decimal("0")
    assert cost(price("m", read="0.015"), usage=one) == Decimal("0.00000002")


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.decimals(0, 1000, places=2), st.decimals(0, 1000, places=2))
def test_prices_in_cents_are_exact(read: int, written: int, read_price: Decimal, written_price: Decimal):
    row = price("m", read=str(read_price), written=str(written_price))

    assert cost(row, usage=Usage(read, written)) == (read * read_price + written * written_price) / 10**6


def test_what_the_provider_reports_wins():
    usage = Usage(1, 1, cost=Decimal("0.00"))

    assert cost(price("m"), usage=usage) == Decimal("0.00")
    assert cost(usage=usage) == Decimal("0.00")


@pytest.mark.parametrize("provider", ["ollama", "extractive"])
def test_local_providers_cost_nothing(provider: str):
    assert PriceTable(()).cost(provider, "m", USAGE) == 0


def test_an_unknown_price_is_none_and_warned_of_once_per_model():
    table = PriceTable((price("m"),))

    with capture_logs() as logs:
        assert table.cost("openai", "x", USAGE) is None
        assert table.cost("openai", "x", USAGE) is None
        assert table.cost("openai", "y", USAGE) is None
        assert table.cost("anthropic", "m", USAGE) is None

    assert [(log["event"], log["provider"], log["model"]) for log in logs] == [
        ("chat.price_unknown", "openai", "x"),
        ("chat.price_unknown", "openai", "y"),
        ("chat.price_unknown", "anthropic", "m"),
    ]


def test_today_is_asked_for_each_call():
    today = [date(2025, 1, 1)]
    table = PriceTable((price("m"), price("m", day="2025-02-01", read="3")), today=lambda: today[0])
    first = table.cost("openai", "m", USAGE)
    today[0] = date(2025, 2, 1)

    assert (first, table.cost("openai", "m", USAGE)) == (1, 3)


def test_the_table_that_ships_is_read_and_knows_the_usual_models():
    table = PriceTable.load()
    day = date(2025, 12, 1)

    assert table.cost_on(day, "openai", "gpt-4o-mini-2024-07-18", USAGE) == Decimal("0.75")
    assert table.cost_on(day, "openai", "gpt-4o", USAGE) == Decimal("12.50")
    assert table.cost_on(day, "openai", "gpt-4o-audio-preview", USAGE) is None
    assert table.cost_on(day, "anthropic", "claude-sonnet-4-5-20250929", USAGE) == Decimal(18)
    assert table.cost_on(day, "agent", "claude-haiku-4-5", USAGE) == Decimal(6)


def test_a_users_table_replaces_the_one_that_ships(tmp_path: Path):
    file = tmp_path / "prices.toml"
    file.write_text(
        '[[price]]\nproviders = ["openai"]\nmodels = ["mine"]\nvalid_from = 2025-01-01\ninput = 0.1\noutput = 0.2\n'
    )
    table = PriceTable.load(file)

    assert table.cost("openai", "mine", USAGE) == Decimal("0.3"), "decimals, not binary fractions"
    assert table.cost("openai", "gpt-4o", USAGE) is None


@pytest.mark.parametrize(
    "text",
    [
        None,
        "[[price",
        '[[price]]\nproviders = ["openai"]\nmodels = ["m"]\nvalid_from = 2025-01-01\ninput = -1\noutput = 0\n',
        '[[price]]\nproviders = ["openai"]\nmodels = ["m"]\ninput = 1\noutput = 0\n',
        '[[price]]\nproviders = ["openai"]\nmodels = []\nvalid_from = 2025-01-01\ninput = 1\noutput = 0\n',
        "[[prices]]\n",
    ],
)
def test_a_wrong_table_is_refused_with_its_name(tmp_path: Path, text: str | None):
    file = tmp_path / "mine.toml"
    if text is not None:
        file.write_text(text)

    with pytest.raises(InvalidInput, match=r"mine\.toml"):
        PriceTable.load(file)
