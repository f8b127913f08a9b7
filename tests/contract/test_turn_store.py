"""Every store of turns keeps the same promises."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any
from uuid import UUID, uuid4

import pytest

from services.chat.adapters.postgres.turns import PostgresTurns
from services.chat.ports import BegunTurn, NewTurn, TurnStore
from services.chat.record import stored_answer
from services.chat.turn import Turn
from shared.contracts.chat import ChatRequest, TurnCitation, TurnDelta, TurnDone, TurnEvent, TurnSources
from shared.errors import InvalidInput, NotFound, Unavailable
from shared.postgres.pool import open_pool
from tests.fakes.found_passages import sauerkraut
from tests.fakes.in_memory_turns import InMemoryTurns
from tests.fakes.scripted_provider import ScriptedProvider


@pytest.fixture(params=["memory", "postgres"])
def dsn(request: pytest.FixtureRequest) -> str | None:
    """Return the database of the store; None for the one in memory."""
    return request.getfixturevalue("database") if request.param == "postgres" else None


@pytest.fixture
async def store(dsn: str | None) -> AsyncGenerator[TurnStore]:
    """Yield an empty store."""
    if dsn is None:
        yield InMemoryTurns()
        return
    async with open_pool(dsn) as pool:
        yield PostgresTurns(pool)


def question(text: str = "How much salt?", conversation_id: UUID | None = None, vault_id: str = "kitchen") -> NewTurn:
    return NewTurn(vault_id, uuid4(), conversation_id, text)


def ending(begun: BegunTurn, **more: Any) -> TurnDone:
    ids = {"turn_id": begun.turn_id, "conversation_id": begun.conversation_id, "message_id": begun.message_id}
    fields = {"seq": 4, "citations": (), "finish_reason": "stop", "cost": "0.0000001234", "provider": "p", "model": "m"}
    return TurnDone.model_validate({**ids, **fields, **more})


def streamed(begun: BegunTurn, text: str = "It takes two percent [1].") -> list[TurnEvent]:
    reply = sauerkraut()
    ids = {"turn_id": begun.turn_id}
    source = {"query": "q", "citations": reply.citations, "data_version": 1, "retriever": "hybrid"}
    place = {"n": 1, "start": 0, "end": len(text), "marker_start": 21, "marker_end": 24}
    return [
        TurnSources.model_validate({**ids, "seq": 1, **source}),
        TurnDelta(turn_id=begun.turn_id, seq=2, text=text, start=0),
        TurnCitation.model_validate({**ids, "seq": 3, **place, "support": "quoted", "score": 1.0}),
    ]


async def finished(store: TurnStore, begun: BegunTurn, text: str = "It takes two percent [1].") -> None:
    turn = Turn(begun, ChatRequest(question="x", turn_id=begun.turn_id), "x", ScriptedProvider(()), (), 0.0)
    message = stored_answer(turn.unanswered(), streamed(begun, text), ending(begun))
    assert await store.finish(begun.vault_id, message, ending(begun)) == "stored"


async def test_a_new_question_begins_a_conversation_without_history(store: TurnStore) -> None:
    begun = await store.begin(question())
    assert (begun.history, begun.repeated) == ((), False)
    assert await store.keep_alive([begun.message_id, uuid4()]) == {begun.message_id}


async def test_a_later_turn_has_the_earlier_ones_as_history_oldest_first(store: TurnStore) -> None:
    begun = await store.begin(question("First?"))
    await finished(store, begun, "One is enough [1].")
    second = await store.begin(question("Second?", begun.conversation_id))
    await finished(store, second, "Two is enough [1].")
    third = await store.begin(question("Third?", begun.conversation_id))
    assert [(past.question, past.answer, past.state) for past in third.history] == [
        ("First?", "One is enough [1].", "done"),
        ("Second?", "Two is enough [1].", "done"),
    ]


async def test_only_one_answer_streams_in_a_conversation(store: TurnStore) -> None:
    begun = await store.begin(question())
    with pytest.raises(Unavailable, match="being answered"):
        await store.begin(question("And?", begun.conversation_id))
    await finished(store, begun)
    outcomes = await asyncio.gather(
        *(store.begin(question(f"{number}?", begun.conversation_id)) for number in range(5)), return_exceptions=True
    )
    assert sum(isinstance(outcome, BegunTurn) for outcome in outcomes) == 1
    assert sum(isinstance(outcome, Unavailable) for outcome in outcomes) == 4


async def test_the_same_turn_again_is_the_same_turn(store: TurnStore) -> None:
    turn = question()
    begun = await store.begin(turn)
    again = await store.begin(turn)
    assert again.repeated
    assert (again.conversation_id, again.message_id) == (begun.conversation_id, begun.message_id)
    with pytest.raises(InvalidInput, match="another question"):
        await store.begin(NewTurn("kitchen", turn.turn_id, None, "Something else?"))


async def test_an_unknown_conversation_is_not_found(store: TurnStore) -> None:
    with pytest.raises(NotFound):
        await store.begin(question(conversation_id=uuid4()))


async def test_a_turn_is_ended_once_and_told_once(store: TurnStore) -> None:
    begun = await store.begin(question())
    await finished(store, begun)
    message = Turn(
        begun, ChatRequest(question="x", turn_id=begun.turn_id), "x", ScriptedProvider(()), (), 0.0
    ).unanswered()
    assert await store.finish("kitchen", message, ending(begun)) == "ended"
    assert await store.keep_alive([begun.message_id]) == set()
    (waiting,) = await store.unannounced(0.0, 10)
    assert waiting.ending == ending(begun)
    assert waiting.message.text == "It takes two percent [1]."
    assert waiting.message.cost == "0.0000001234"
    assert waiting.message.citations[0].spans[0].support == "quoted"
    await store.announced(begun.message_id)
    assert await store.unannounced(0.0, 10) == []


async def test_an_answer_that_is_gone_can_not_be_ended(store: TurnStore) -> None:
    begun = await store.begin(question())
    turn = Turn(begun, ChatRequest(question="x", turn_id=begun.turn_id), "x", ScriptedProvider(()), (), 0.0)
    unknown = turn.unanswered().model_copy(update={"message_id": uuid4()})
    assert await store.finish("kitchen", unknown, ending(begun)) == "gone"


async def test_a_turn_is_taken_over_only_after_its_silence(store: TurnStore) -> None:
    begun = await store.begin(question())
    turn = Turn(begun, ChatRequest(question="x", turn_id=begun.turn_id), "x", ScriptedProvider(()), (), 0.0)
    assert await store.abandoned(60.0, 10) == []
    assert not await store.take_over("kitchen", turn.unanswered(), ending(begun), 60.0)
    assert await store.keep_alive([begun.message_id]) == {begun.message_id}
