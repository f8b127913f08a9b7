"""What the service answers: a typed request with its vault in, a reply out; errors are turned into replies outside."""

from __future__ import annotations

from uuid import UUID

from services.chat.asking import Asking
from services.chat.running_turns import RunningTurns
from shared.contracts.chat import ChatAccepted, ChatRequest


class Handlers:
    """Handlers of the subjects `chat` and `cancel`; the vault comes from the subject, so the broker guards it."""

    def __init__(self, asking: Asking, running: RunningTurns) -> None:
        self._asking = asking
        self._running = running

    async def on_chat(self, vault_id: str, request: ChatRequest) -> ChatAccepted:
        """Accept a question. Raises as Asking.ask does."""
        return await self._asking.ask(vault_id, request)

    def on_cancel(self, vault_id: str, turn_id: str) -> None:
        """Stop a turn if it runs here; what is no turn's id stops nothing."""
        try:
            self._running.cancel(vault_id, UUID(turn_id))
        except ValueError:
            return
