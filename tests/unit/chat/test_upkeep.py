"""Turns that nobody answers any more get one end, and the store and the stream agree on it."""

from __future__ import annotations

from uuid import uuid4

import pytest

from services.chat.ports import BegunTurn, NewTurn
from services.chat.record import stored_answer
from shared.contracts.chat import TurnDelta, TurnDone, TurnEnd, TurnEvent, TurnFailed
from shared.errors import Unavailable
from tests.fakes.scripted_provider import ScriptedProvider
from tests.unit.chat.scene import Scene


async def abandoned(scene: Scene, *words: str, silent_s: float = 60.0) -> BegunTurn:
    """Begin a turn, and stream words, as a process did that is no more."""
    begun = await scene.store.begin(NewTurn("kitchen", uuid4(), None, "How much salt?"))
    start = 0
    for seq, text in enumerate(words, start=1):
        event = TurnDelta(turn_id=begun.turn_id, seq=seq, text=text, start=start)
        await scene.stream.append("kitchen", event, seq - 1)
        start += len(text)
    scene.store.rows[begun.message_id].silent_s = silent_s
    return begun


def ends(events: list[TurnEvent]) -> list[type[TurnEvent]]:
    """Return the kinds of the last events."""
    return [type(event) for event in events if isinstance(event, TurnEnd)]


def done(begun: BegunTurn, seq: int) -> TurnDone:
    """The end of an answer."""
    ids = {"conversation_id": begun.conversation_id, "message_id": begun.message_id, "turn_id": begun.turn_id}
    return TurnDone.model_validate({**ids, "seq": seq, "citations": (), "finish_reason": "stop"})


@pytest.fixture
def scene() -> Scene:
    return Scene(ScriptedProvider(()))


async def test_an_abandoned_turn_ends_once_with_what_was_streamed(scene: Scene) -> None:
    begun = await abandoned(scene, "It takes ", "salt")
    await scene.upkeep.sweep_abandoned()
    await scene.upkeep.sweep_abandoned()
    events = scene.events(begun.turn_id)
    message = scene.store.rows[begun.message_id].message
    assert (ends(events), events[-1].seq) == ([TurnFailed], 3)
    assert (message.state, message.text, message.last_seq) == ("failed", "It takes salt", 3)
    assert scene.store.rows[begun.message_id].ending is None


async def test_a_turn_that_died_before_its_first_event_ends_with_the_first(scene: Scene) -> None:
    begun = await abandoned(scene)
    await scene.upkeep.sweep_abandoned()
    assert [event.seq for event in scene.events(begun.turn_id)] == [1]


async def test_a_turn_that_shows_signs_of_life_is_left_alone(scene: Scene) -> None:
    begun = await abandoned(scene, "It takes ", silent_s=1.0)
    await scene.upkeep.sweep_abandoned()
    assert ends(scene.events(begun.turn_id)) == []


async def test_a_turn_that_was_told_but_not_stored_is_stored_as_it_was_told(scene: Scene) -> None:
    begun = await abandoned(scene, "It takes salt.")
    await scene.stream.append("kitchen", done(begun, 2), 1)
    await scene.upkeep.sweep_abandoned()
    message = scene.store.rows[begun.message_id].message
    assert (message.state, message.text) == ("done", "It takes salt.")
    assert ends(scene.events(begun.turn_id)) == [TurnDone]


async def test_a_turn_that_was_stored_but_not_told_is_told(scene: Scene) -> None:
    begun = await abandoned(scene, "It takes salt.", silent_s=0.0)
    row = scene.store.rows[begun.message_id]
    message = stored_answer(row.message, scene.events(begun.turn_id), done(begun, 2))
    await scene.store.finish("kitchen", message, done(begun, 2))
    await scene.upkeep.sweep_unannounced()
    await scene.upkeep.sweep_unannounced()
    assert ends(scene.events(begun.turn_id)) == [TurnDone]
    assert row.ending is None


async def test_words_that_came_after_an_end_was_stored_are_stored_too(scene: Scene) -> None:
    begun = await abandoned(scene, "It takes ", silent_s=0.0)
    row = scene.store.rows[begun.message_id]
    message = stored_answer(row.message, scene.events(begun.turn_id), done(begun, 2))
    await scene.store.finish("kitchen", message, done(begun, 2))
    await scene.stream.append("kitchen", TurnDelta(turn_id=begun.turn_id, seq=2, text="salt", start=9), 1)
    await scene.upkeep.sweep_unannounced()
    assert [event.seq for event in scene.events(begun.turn_id)] == [1, 2, 3]
    assert row.message.text == "It takes salt"
    assert row.message.last_seq == 3


async def test_a_store_that_is_away_when_the_turn_ends_is_told_as_a_failure(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.chat.ending.STORE_S", 0.0)
    scene = Scene(ScriptedProvider(("It takes salt.",)))
    scene.store.error = Unavailable("Postgres is away.")
    turned = await scene.ask()
    assert isinstance(turned.end, TurnFailed)
    assert turned.end.code == "unavailable"
    scene.store.error = None
    scene.store.rows[turned.accepted.message_id].silent_s = 60.0
    await scene.upkeep.sweep_abandoned()
    stored = scene.turned(turned.accepted)
    assert (ends(stored.events), stored.message and stored.message.state) == ([TurnFailed], "failed")
    assert stored.message is not None
    assert stored.message.text == stored.text == "It takes salt."


async def test_a_turn_that_was_ended_elsewhere_is_stopped_and_adds_no_second_end() -> None:
    scene = Scene(ScriptedProvider(("It takes ", 0)))
    accepted = await scene.start()
    scene.store.rows[accepted.message_id].silent_s = 60.0
    await scene.upkeep.sweep_abandoned()
    await scene.upkeep.beat()
    turned = await scene.over(accepted)
    assert ends(turned.events) == [TurnFailed]
