"""Earlier turns as messages of the prompt: whole ones, the oldest left out first, without citation numbers.

Numbers belong to one turn: `[2]` of an earlier answer is another page than `[2]` now, so a model must never see it.
"""

from __future__ import annotations

from collections.abc import Sequence

from services.chat.markers import MarkerParser
from services.chat.ports import PastTurn
from services.chat.provider import ChatMessage
from shared.tokens import estimate_tokens

MESSAGE_TOKENS = 8
"""What a message costs beyond its text, on the safe side: role and separators of chat templates."""


def history_messages(turns: Sequence[PastTurn], budget_tokens: int) -> tuple[ChatMessage, ...]:
    """Return the latest turns that fit, oldest first, each as a question and its answer.

    Turns without an answer, and refusals, are left out: they tell a model nothing. A turn that does not fit ends the
    history, so that it has no gap.
    """
    kept: list[ChatMessage] = []
    left = budget_tokens
    for turn in reversed([turn for turn in turns if turn.answer.strip() and turn.state in {"done", "cancelled"}]):
        pair = (
            ChatMessage("user", without_markers(turn.question)),
            ChatMessage("assistant", without_markers(turn.answer)),
        )
        left -= sum(message_tokens(message) for message in pair)
        if left < 0:
            break
        kept[:0] = pair
    return tuple(kept)


def message_tokens(message: ChatMessage) -> int:
    """Return what a message takes of the window, estimated."""
    return estimate_tokens(message.content) + MESSAGE_TOKENS


def without_markers(text: str) -> str:
    """Return `text` without anything that cites; code stays."""
    parser = MarkerParser(given=())
    return parser.feed(text).text + parser.finish().text
