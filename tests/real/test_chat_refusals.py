"""What can't be answered is refused at once, with a reason, and leaves nothing behind."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from uuid import uuid4

import pytest

from shared.contracts.error import ErrorReply
from shared.topology import Topology
from tests.chat_system import Asker, Kitchen, chatting, open_kitchen
from tests.fakes.scripted_provider import ScriptedProvider

ANSWER = ("Two percent [1].",)


@pytest.fixture
async def kitchen(nats_url: str, topology: Topology, database: str) -> AsyncGenerator[Kitchen]:
    """Yield a vault that knows of sauerkraut."""
    async with open_kitchen(nats_url, topology, database) as kitchen:
        yield kitchen


@pytest.mark.parametrize(
    ("question", "more", "code", "words"),
    [
        (" \n\u0007 ", {}, "invalid", "blanks"),
        ("How much salt?", {"context_window": 200}, "invalid", "too small"),
        ("How much salt?", {"conversation_id": uuid4()}, "not_found", "no conversation"),
        ("How much salt?", {"provider": "unknown"}, "invalid", "unknown"),
    ],
)
async def test_what_can_not_be_answered_is_refused_at_once_and_leaves_nothing(
    kitchen: Kitchen, question: str, more: dict[str, object], code: str, words: str
) -> None:
    async with chatting(kitchen, ScriptedProvider(ANSWER)) as asker:
        reply = ErrorReply.model_validate_json((await asker.send(question, uuid4(), **more)).data)
    assert reply.code == code
    assert words in reply.message
    assert await kitchen.pool.fetch("SELECT FROM messages") == []


async def test_an_unknown_vault_is_not_found(kitchen: Kitchen) -> None:
    async with chatting(kitchen, ScriptedProvider(ANSWER)) as asker:
        stranger = Asker(asker.client, asker.topology, "no-such-vault")
        reply = ErrorReply.model_validate_json((await stranger.send("How much salt?", uuid4())).data)
    assert reply.code == "not_found"


async def test_a_question_of_100_000_characters_is_refused_with_the_limit(kitchen: Kitchen) -> None:
    body = f'{{"question": "{"x" * 100_000}", "turn_id": "{uuid4()}"}}'.encode()
    async with chatting(kitchen, ScriptedProvider(ANSWER)) as asker:
        message = await asker.client.request(asker.topology.chat("kitchen"), body, timeout=10)
    reply = ErrorReply.model_validate_json(message.data)
    assert reply.code == "invalid"
    assert "8000" in reply.message
