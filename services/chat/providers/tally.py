"""What an answer has come to so far: its text's size, its end, its usage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from services.chat.provider import ChatMessage, Finished, Usage
from services.chat.providers.spec import ProviderSpec
from services.chat.providers.wire import FinishReason, Piece
from shared.tokens import DENSE_RUN, estimate_tokens, weigh

_TOKENS_PER_MESSAGE = 4
"""Role and delimiters, as chat templates add them."""


@dataclass(slots=True)
class Tally:
    """Takes the pieces of one answer, in order."""

    messages: Sequence[ChatMessage]
    spec: ProviderSpec
    reason: FinishReason | None = None
    is_full: bool = False
    """The answer was cut at `Limits.max_answer_chars`: read no further."""
    _model: str = ""
    _input_tokens: int | None = None
    _output_tokens: int | None = None
    _cost: Decimal | None = None
    _chars: int = 0
    _dense: int = 0

    def take(self, piece: Piece) -> str:
        """Note what a piece says; return its text, as far as there is room."""
        self._note(piece)
        room = self.spec.limits.max_answer_chars - self._chars
        text = piece.text[:room]
        self._chars += len(text)
        self._dense += 0 if text.isascii() else sum(map(len, DENSE_RUN.findall(text)))
        if len(piece.text) > room:
            self.is_full, self.reason = True, "length"
        return text

    def finished(self, reason: FinishReason) -> Finished:
        """Return the last event."""
        return Finished(reason=reason, usage=self._usage(), model=self._model or self.spec.model)

    def _note(self, piece: Piece) -> None:
        if self.reason != "filtered":  # a refusal ends like any other answer
            self.reason = piece.reason or self.reason
        self._model = piece.model or self._model
        self._cost = self._cost if piece.cost is None else piece.cost
        self._input_tokens = self._input_tokens if piece.input_tokens is None else piece.input_tokens
        self._output_tokens = self._output_tokens if piece.output_tokens is None else piece.output_tokens

    def _usage(self) -> Usage:
        """The provider's figures; those of an answer that was cut here are of another moment, so they are counted."""
        if self._input_tokens is not None and self._output_tokens is not None and not self.is_full:
            return Usage(self._input_tokens, self._output_tokens, cost=self._cost)
        read = self._input_tokens
        if read is None:
            read = sum(estimate_tokens(message.content) + _TOKENS_PER_MESSAGE for message in self.messages)
        return Usage(read, weigh(self._chars, self._dense), counted=True, cost=self._cost)
