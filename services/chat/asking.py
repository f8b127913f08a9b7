"""Accepts a question: checks it, stores it, starts the turn. What is refused is refused before anything is kept."""

from __future__ import annotations

import time

from services.chat.ports import BegunTurn, Clock, GroundingPages, NewTurn, Providers, TurnStore, TurnStream
from services.chat.prompting import check_window
from services.chat.question import clean_question
from services.chat.running_turns import RunningTurns
from services.chat.turn import Turn
from shared.contracts.chat import ChatAccepted, ChatRequest


class Asking:
    """The use case of a chat request."""

    def __init__(  # noqa: PLR0913, PLR0917  (one argument per port)
        self,
        store: TurnStore,
        stream: TurnStream,
        grounding: GroundingPages,
        providers: Providers,
        running: RunningTurns,
        clock: Clock = time.monotonic,
    ) -> None:
        self._store = store
        self._stream = stream
        self._grounding = grounding
        self._providers = providers
        self._running = running
        self._clock = clock

    async def ask(self, vault_id: str, request: ChatRequest) -> ChatAccepted:
        """Store the question and start the turn; the same request again is accepted without a second turn.

        Raises InvalidInput (an empty question, a window too small, an unknown provider, a conversation that is being
        answered), NotFound (no such vault or conversation), Unavailable (too many turns, a server is away).
        """
        started = self._clock()
        question = clean_question(request.question)
        check_window(question, request.context_window)
        provider = self._providers.choose(request.operation, request.provider)
        grounding = await self._grounding.grounding(vault_id)
        self._running.check_room()
        begun = await self._store.begin(NewTurn(vault_id, request.turn_id, request.conversation_id, question))
        if not begun.repeated:
            self._running.start(Turn(begun, request, question, provider, grounding, started))
        return self._accepted(begun)

    def _accepted(self, begun: BegunTurn) -> ChatAccepted:
        stream, subject = self._stream.place(begun.vault_id, begun.turn_id)
        return ChatAccepted(
            turn_id=begun.turn_id,
            conversation_id=begun.conversation_id,
            question_id=begun.question_id,
            message_id=begun.message_id,
            stream=stream,
            subject=subject,
        )
