"""The port of wire formats: how one kind of provider is asked, and what its events mean."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from services.chat.provider import ChatMessage
from services.chat.providers.refusals import garbled
from services.chat.providers.spec import ProviderSpec

FinishReason = Literal["stop", "length", "filtered"]

ShapeT = TypeVar("ShapeT", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Piece:
    """What one event of a provider says; later figures replace earlier ones. An empty piece is a sign of life."""

    text: str = ""
    reason: FinishReason | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: Decimal | None = None
    model: str | None = None


class Wire(Protocol):
    """How one kind of provider is asked. Safe to call concurrently."""

    @property
    def spec(self) -> ProviderSpec:
        """Who is asked."""
        ...

    def stream(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[Piece]:
        """Yield what the events say; one piece at least has the reason, else the answer was cut off.

        Closing the generator closes the request. Raises only errors of shared/errors.py; keeps no time, no size.
        """
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...


def read_as(shape: type[ShapeT], event: object, spec: ProviderSpec) -> ShapeT:
    """Return an SDK's event as `shape`; Unavailable when it is another one: SDKs pass on what they can't read."""
    try:
        return shape.model_validate(event, from_attributes=True)
    except ValidationError as error:
        raise garbled(spec) from error
