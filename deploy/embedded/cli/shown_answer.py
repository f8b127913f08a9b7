"""An answer on the screen: its text as it is written, then its sources and what it lacks."""

from __future__ import annotations

from deploy.embedded.cli.answer import Answer
from deploy.embedded.cli.answer_view import AnswerPrinter, how_it_ended, show_end, show_sources
from deploy.embedded.cli.asking import Asking
from deploy.embedded.cli.session import Session
from deploy.embedded.cli.world import DONE, FAILED, INTERRUPTED, MISUSED, REFUSED, World
from shared.contracts.chat import AnyTurnEvent, ChatRequest, TurnDelta, TurnFailed


async def shown_answer(world: World, session: Session, vault_id: str, request: ChatRequest) -> Answer:
    """Ask, print the answer as it comes, its sources and what it lacks, and return it. Raises as BusClient.ask does."""
    printer = AnswerPrinter(world.out)

    def show(event: AnyTurnEvent) -> None:
        if isinstance(event, TurnDelta):
            printer.write(event.text)

    try:
        answer = await Asking(session.client, vault_id, request, show).finished()
    finally:
        printer.finish()
    show_sources(world.out, answer.text, answer.sources)
    show_end(world.out, answer)
    if answer.state in ("failed", "cancelled"):
        world.complain(how_it_ended(answer.end))
    return answer


def exit_code(answer: Answer) -> int:
    """Return what the command ends with."""
    if answer.interrupted:
        return INTERRUPTED
    if isinstance(answer.end, TurnFailed) and answer.end.code in ("invalid", "too_large"):
        return MISUSED
    return {"done": DONE, "refused": REFUSED}.get(answer.state, FAILED)
