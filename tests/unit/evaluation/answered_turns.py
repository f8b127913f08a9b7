"""Answers as their events tell them, and a client that gives them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field

from deploy.evaluation.answers.asking import Told, Use
from shared.contracts.chat import AnyTurnEvent, ChatRequest, SupportLabel, TurnEnd
from shared.contracts.conversations import DeleteReply, DeleteRequest
from shared.contracts.search import Citation
from tests.unit.cli.fakes import citation
from tests.unit.cli.scripted_turns import done


def cited(n: int, path: str, start: int = 0, end: int = 10_000) -> Citation:
    """Return what [n] is: one passage of a page."""
    passage = citation(n, path, 0.5).passages[0].model_copy(update={"char_start": start, "char_end": end})
    return citation(n, path, 0.5, path=path, passages=(passage,))


def told(*parts: tuple[str, int, SupportLabel | None] | str, end: TurnEnd | None = None, **pages: str) -> Told:
    """Return an answer of cited sentences (sentence, number, support) and plain text; `_1="path"` says what [1] is."""
    answer = Told("what?", end=end or done(), first_event_ms=1.0, first_delta_ms=2.0, end_ms=3.0)
    for part in parts:
        if isinstance(part, str):
            answer.text += part
            continue
        sentence, n, support = part
        start = len(answer.text)
        answer.text += f"{sentence} [{n}] "
        answer.uses.append(Use(start, start + len(sentence), n, support))
    answer.given = {int(name[1:]): cited(int(name[1:]), path) for name, path in pages.items()}
    return answer


@dataclass
class AnsweringClient:
    """Plays each question's events, and keeps the requests and what was deleted."""

    events: Callable[[ChatRequest], Sequence[AnyTurnEvent]]
    requests: list[ChatRequest] = field(default_factory=list[ChatRequest])
    deleted: list[DeleteRequest] = field(default_factory=list[DeleteRequest])

    async def ask(self, vault_id: str, request: ChatRequest) -> AsyncGenerator[AnyTurnEvent]:
        self.requests.append(request)
        for event in self.events(request):
            yield event

    @property
    def conversations(self) -> AnsweringClient:
        return self

    async def delete(self, vault_id: str, request: DeleteRequest) -> DeleteReply:
        self.deleted.append(request)
        return DeleteReply(conversation_id=request.conversation_id)
