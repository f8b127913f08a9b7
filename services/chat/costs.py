"""What a call cost, from a table of prices with dates that users edit; a price that is not known is None, never 0.

The table is TOML; the one that ships is `prices.toml` beside this file, and `CITEBUS_CHAT_PRICES_FILE` names another,
which replaces it. A provider that reports the cost itself wins; local providers cost nothing. Of the rows that fit, the
one whose pattern has most literal characters counts, and of those the one valid last on that day.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from fnmatch import fnmatchcase
from importlib.resources import files
from operator import itemgetter
from pathlib import Path

import structlog
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from services.chat.provider import Usage
from shared.errors import InvalidInput

_log = structlog.get_logger(__name__)

LOCAL_PROVIDERS = frozenset({"extractive", "ollama"})
"""They run on the user's own machine."""

_MILLION = Decimal(1_000_000)

_STEP = Decimal("0.00000001")
"""Costs are rounded to a hundred-millionth of a dollar, half to even: below the price of one token of any model."""

_MAX_WARNED = 1_000
"""A provider may name its model anew for every answer."""


class Price(BaseModel):
    """One row of the table."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    providers: tuple[str, ...] = Field(min_length=1)
    models: tuple[str, ...] = Field(min_length=1)
    """Patterns with `*` and `?`, compared without regard to case."""
    valid_from: date
    input: Decimal = Field(ge=0)
    """US dollars for a million tokens."""
    output: Decimal = Field(ge=0)

    def rank(self, provider: str, model: str, day: date) -> tuple[int, date] | None:
        """Return how much the row has to say of a model on a day: literal characters, then date; None: nothing."""
        if provider not in self.providers or day < self.valid_from:
            return None
        literal = [_literal(name) for name in self.models if fnmatchcase(model.lower(), name.lower())]
        return (max(literal), self.valid_from) if literal else None


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid")

    price: tuple[Price, ...] = ()


class PriceTable:
    """Answers what a call cost; warns once for each model without a price."""

    def __init__(self, prices: tuple[Price, ...], today: Callable[[], date] = lambda: datetime.now(UTC).date()) -> None:
        self._prices, self._today = prices, today
        self._warned: set[tuple[str, str]] = set()

    @classmethod
    def load(cls, path: Path | None = None) -> PriceTable:
        """Read a table, that of the package unless given; InvalidInput that says what is wrong with it."""
        name = str(path or "prices.toml")
        try:
            text = path.read_text("utf-8") if path else files("services.chat").joinpath(name).read_text("utf-8")
            return cls(_Table.model_validate(tomllib.loads(text, parse_float=Decimal)).price)
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise InvalidInput(f"the table of prices {name} cannot be read: {error}") from error
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"]))
            raise InvalidInput(f"the table of prices {name} is wrong at {where}: {first['msg']}") from error

    def cost(self, provider: str, model: str, usage: Usage) -> Decimal | None:
        """Return US dollars at today's price (UTC); None when it is not known."""
        return self.cost_on(self._today(), provider, model, usage)

    def cost_on(self, day: date, provider: str, model: str, usage: Usage) -> Decimal | None:
        """Return US dollars at the price of a day; None when it is not known."""
        if usage.cost is not None:
            return usage.cost
        if provider in LOCAL_PROVIDERS:
            return Decimal(0)
        price = self._price(provider, model, day)
        if price is None:
            self._warn(provider, model)
            return None
        return ((usage.input_tokens * price.input + usage.output_tokens * price.output) / _MILLION).quantize(_STEP)

    def _price(self, provider: str, model: str, day: date) -> Price | None:
        ranked = [(rank, row) for row in self._prices if (rank := row.rank(provider, model, day))]
        return max(ranked, key=itemgetter(0))[1] if ranked else None

    def _warn(self, provider: str, model: str) -> None:
        if (provider, model) not in self._warned and len(self._warned) < _MAX_WARNED:
            self._warned.add((provider, model))
            _log.warning("chat.price_unknown", provider=provider, model=model, advice="add it to the table of prices")


def _literal(pattern: str) -> int:
    return len(pattern) - pattern.count("*") - pattern.count("?")
