"""Conversations over the bus: what was asked and answered is found again, by its own vault only."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncGenerator
from typing import Any, TypeVar
from uuid import UUID, uuid4

import pytest

from services.chat.adapters.postgres.conversations import PostgresConversations
from shared.contracts import conversations as c
from shared.contracts.chat import ChatAccepted, TurnCancelled, TurnDelta, TurnDone
from shared.contracts.error import ErrorReply
from shared.contracts.message import Message
from shared.contracts.stored_turns import ChatTurn
from shared.topology import Topology
from tests.chat_system import Asker, Kitchen, Reading, chatting, open_kitchen
from tests.fakes.scripted_provider import SILENCE, ScriptedProvider
from tests.stored_turns import PostgresShelf, stored_turn

ReplyT = TypeVar("ReplyT", bound=Message)

ANSWER = ("Sauerkraut takes two percent of its weight in salt [1].",)


@pytest.fixture
async def kitchen(nats_url: str, topology: Topology, database: str) -> AsyncGenerator[Kitchen]:
    """Yield a vault that knows of sauerkraut."""
    async with open_kitchen(nats_url, topology, database) as kitchen:
        yield kitchen


@pytest.fixture
async def asker(kitchen: Kitchen) -> AsyncGenerator[Asker]:
    """Yield somebody who asks a chat service that answers at once."""
    async with chatting(kitchen, ScriptedProvider(ANSWER)) as asker:
        yield asker


async def send(asker: Asker, operation: str, request: Message | bytes, vault_id: str | None = None) -> bytes:
    subject = asker.topology.conversation(operation, vault_id or asker.vault_id)
    data = request if isinstance(request, bytes) else request.to_json()
    return (await asker.client.request(subject, data, timeout=15)).data


async def ask(
    asker: Asker, operation: str, request: Message, reply: type[ReplyT], vault_id: str | None = None
) -> ReplyT:
    return reply.model_validate_json(await send(asker, operation, request, vault_id))


async def code(asker: Asker, operation: str, request: Message | bytes, vault_id: str | None = None) -> str:
    return ErrorReply.model_validate_json(await send(asker, operation, request, vault_id)).code


async def answered(asker: Asker, question: str = "How much salt?", **more: Any) -> tuple[ChatAccepted, Reading]:
    accepted, reading = await asker.ask(question, **more)
    assert isinstance(await reading.end(), TurnDone)
    return accepted, reading


async def whole(asker: Asker, conversation_id: UUID) -> c.GetReply:
    return await ask(asker, "get", c.GetRequest(conversation_id=conversation_id), c.GetReply)


async def test_what_was_streamed_is_found_again_word_for_word(asker: Asker) -> None:
    accepted, reading = await answered(asker)
    await answered(asker, "And how long?", conversation_id=accepted.conversation_id)
    got = await whole(asker, accepted.conversation_id)
    assert [turn.question.text for turn in got.turns] == ["How much salt?", "And how long?"]
    assert got.turns[0].answer.text == reading.text
    assert [span.n for span in got.turns[0].answer.citations if span.spans] == [1]
    assert (got.conversation.title, got.conversation.turns, got.next_cursor) == ("How much salt?", 2, None)
    listed = await ask(asker, "list", c.ListRequest(), c.ListReply)
    assert [each.conversation_id for each in listed.conversations] == [accepted.conversation_id]


async def test_a_conversation_that_is_created_is_asked_in_and_renamed(asker: Asker) -> None:
    made = (await ask(asker, "create", c.CreateRequest(), c.SummaryReply)).conversation
    await answered(asker, "How much salt?", conversation_id=made.conversation_id)
    assert (await whole(asker, made.conversation_id)).conversation.title == "How much salt?"
    rename = c.RenameRequest(conversation_id=made.conversation_id, title="  Salt \n and brine\x00 ")
    assert (await ask(asker, "rename", rename, c.SummaryReply)).conversation.title == "Salt and brine"
    blank = c.RenameRequest(conversation_id=made.conversation_id, title=" \n ")
    assert await code(asker, "rename", blank) == "invalid"


async def test_pages_of_the_list_and_of_turns_go_on_where_they_ended(asker: Asker) -> None:
    ids = [(await answered(asker, f"Question {number}?"))[0].conversation_id for number in range(3)]
    first = await ask(asker, "list", c.ListRequest(limit=2), c.ListReply)
    rest = await ask(asker, "list", c.ListRequest(limit=2, cursor=first.next_cursor), c.ListReply)
    assert [each.conversation_id for each in (*first.conversations, *rest.conversations)] == ids[::-1]
    assert rest.next_cursor is None
    await answered(asker, "More?", conversation_id=ids[0])
    page = await ask(asker, "get", c.GetRequest(conversation_id=ids[0], limit=1), c.GetReply)
    behind = c.GetRequest(conversation_id=ids[0], limit=1, cursor=page.next_cursor)
    assert [turn.question.text for turn in (await ask(asker, "get", behind, c.GetReply)).turns] == ["More?"]
    for operation, request in (
        ("list", c.ListRequest(cursor="yesterday")),
        ("list", c.ListRequest(cursor=f"2026-01-01T00:00:00~{ids[0]}")),
        ("get", c.GetRequest(conversation_id=ids[0], cursor="-1")),
        ("get", c.GetRequest(conversation_id=ids[0], cursor="9" * 19)),
    ):
        assert await code(asker, operation, request) == "invalid"


async def test_a_search_shows_the_words_in_their_place(asker: Asker) -> None:
    accepted, _ = await answered(asker)
    found = await ask(asker, "search", c.ConversationSearchRequest(query="percent weig"), c.ConversationSearchReply)
    (hit,) = found.hits
    assert (hit.message_id, hit.role, hit.title) == (accepted.message_id, "assistant", "How much salt?")
    assert [hit.excerpt[mark.start : mark.end] for mark in hit.marks] == ["percent", "weight"]
    assert await code(asker, "search", c.ConversationSearchRequest(query="?! ")) == "invalid"
    for odd in ("salt' | !", "100% (salt", "\\salt:*", "salt\u0000"):
        await ask(asker, "search", c.ConversationSearchRequest(query=odd), c.ConversationSearchReply)


async def test_a_conversation_is_written_down_as_markdown_and_json(asker: Asker) -> None:
    accepted, reading = await answered(asker)
    request = c.ExportRequest(conversation_id=accepted.conversation_id)
    exported = await ask(asker, "export", request, c.ExportReply)
    assert (exported.file_name, exported.next_cursor) == ("how-much-salt.md", None)
    assert "## 1. How much salt?\n\nSauerkraut takes two percent of its weight in salt [^1-1]." in exported.text
    assert "[^1-1]: Sauerkraut, `wiki/sauerkraut.md`, line 1, revision 7" in exported.text
    as_json = await ask(asker, "export", request.model_copy(update={"format": "json"}), c.ExportReply)
    (turn,) = json.loads(as_json.text)["turns"]
    assert ChatTurn.model_validate(turn).answer.text == reading.text


async def test_a_long_conversation_comes_in_parts_that_fit_into_messages(asker: Asker, kitchen: Kitchen) -> None:
    store = PostgresConversations(kitchen.pool)
    made = (await store.create("kitchen", "Long")).conversation_id
    shelf = PostgresShelf(kitchen.pool, store)
    size = kitchen.client.max_payload * 2 // 5
    for number in range(5):
        await shelf.add(made, stored_turn(f"Question {number}?", f"{number}" * size))
    got = await ask(asker, "get", c.GetRequest(conversation_id=made), c.GetReply)
    assert len(got.turns) == 2
    texts: list[str] = []
    request = c.ExportRequest(conversation_id=made, format="json")
    while True:
        part = await ask(asker, "export", request, c.ExportReply)
        texts.append(part.text)
        if part.next_cursor is None:
            break
        request = request.model_copy(update={"cursor": part.next_cursor})
    assert len(texts) == 3
    assert [turn["question"]["text"] for turn in json.loads("".join(texts))["turns"]] == [
        f"Question {number}?" for number in range(5)
    ]
    await shelf.add(made, stored_turn("Huge?", "x" * kitchen.client.max_payload))
    last = c.GetRequest(conversation_id=made, cursor=request.cursor)
    assert [turn.question.text for turn in (await ask(asker, "get", last, c.GetReply)).turns] == ["Question 4?"]
    behind = await ask(asker, "get", last, c.GetReply)
    assert await code(asker, "get", last.model_copy(update={"cursor": behind.next_cursor})) == "too_large"


async def test_what_is_deleted_is_gone_and_the_turn_that_ran_ends(kitchen: Kitchen) -> None:
    provider = ScriptedProvider(("Wait ", SILENCE))
    async with chatting(kitchen, provider) as asker:
        accepted, reading = await asker.ask("How much salt?")
        await reading.until(TurnDelta)
        share = c.ShareRequest(conversation_id=accepted.conversation_id)
        token = (await ask(asker, "share", share, c.ShareReply)).token
        await ask(asker, "delete", c.DeleteRequest(conversation_id=accepted.conversation_id), c.DeleteReply)
        assert isinstance(await reading.end(), TurnCancelled)
        assert provider.closed.is_set()
        assert await code(asker, "get", c.GetRequest(conversation_id=accepted.conversation_id)) == "not_found"
        assert await code(asker, "shared", c.SharedRequest(token=token)) == "not_found"
        assert await code(asker, "delete", c.DeleteRequest(conversation_id=accepted.conversation_id)) == "not_found"
    for table in ("conversations", "messages", "shares", "scores"):
        assert await kitchen.pool.fetch(f"SELECT FROM {table}") == []


async def test_a_share_shows_the_conversation_until_it_is_revoked(asker: Asker, kitchen: Kitchen) -> None:
    accepted, _ = await answered(asker)
    request = c.ShareRequest(conversation_id=accepted.conversation_id)
    one, other = [await ask(asker, "share", request, c.ShareReply) for _ in range(2)]
    assert one.token != other.token
    stored = {row["token_hash"] for row in await kitchen.pool.fetch("SELECT token_hash FROM shares")}
    assert stored == {hashlib.sha256(share.token.encode()).hexdigest() for share in (one, other)}
    shared = await ask(asker, "shared", c.SharedRequest(token=one.token), c.GetReply)
    assert shared == await whole(asker, accepted.conversation_id)
    assert await code(asker, "shared", c.SharedRequest(token=one.token), "cellar") == "not_found"
    assert await code(asker, "shared", c.SharedRequest(token="x" * 43)) == "not_found"
    revoke = c.UnshareRequest(conversation_id=accepted.conversation_id, share_id=one.share_id)
    assert (await ask(asker, "unshare", revoke, c.UnshareReply)).revoked == 1
    assert await code(asker, "shared", c.SharedRequest(token=one.token)) == "not_found"
    assert (await ask(asker, "shared", c.SharedRequest(token=other.token), c.GetReply)).turns


async def test_costs_count_what_has_no_price_apart(asker: Asker, kitchen: Kitchen) -> None:
    await answered(asker)
    row = await kitchen.pool.fetchrow("SELECT (now() AT TIME ZONE 'UTC')::date AS today")
    assert row is not None
    request = c.CostsRequest(first_day=row["today"], last_day=row["today"])
    (day,) = (await ask(asker, "costs", request, c.CostsReply)).days
    assert (day.answers, day.cost, day.unpriced, day.input_tokens, day.output_tokens) == (1, "0", 1, 100, 20)
    wrong = request.model_copy(update={"first_day": row["today"].replace(year=row["today"].year - 2)})
    assert await code(asker, "costs", wrong) == "invalid"
    assert await code(asker, "costs", request.model_copy(update={"conversation_id": uuid4()})) == "not_found"


@pytest.mark.parametrize("vault_id", ["cellar", "kitchen"])
async def test_another_vault_and_an_unknown_id_get_not_found_and_nothing_else(asker: Asker, vault_id: str) -> None:
    accepted, _ = await answered(asker)
    conversation_id = accepted.conversation_id if vault_id == "cellar" else uuid4()
    turn_id = accepted.turn_id if vault_id == "cellar" else uuid4()
    requests: list[tuple[str, Message]] = [
        ("get", c.GetRequest(conversation_id=conversation_id)),
        ("rename", c.RenameRequest(conversation_id=conversation_id, title="Mine")),
        ("delete", c.DeleteRequest(conversation_id=conversation_id)),
        ("export", c.ExportRequest(conversation_id=conversation_id)),
        ("share", c.ShareRequest(conversation_id=conversation_id)),
        ("unshare", c.UnshareRequest(conversation_id=conversation_id)),
        ("save", c.SaveRequest(turn_id=turn_id)),
    ]
    for operation, request in requests:
        assert await code(asker, operation, request, vault_id) == "not_found", operation
    assert (await whole(asker, accepted.conversation_id)).conversation.title == "How much salt?"
    found = c.ConversationSearchRequest(query="salt")
    assert not (await ask(asker, "search", found, c.ConversationSearchReply, "cellar")).hits
    assert not (await ask(asker, "list", c.ListRequest(), c.ListReply, "cellar")).conversations
    assert not (await ask(asker, "score", c.ScoreRequest(), c.ScoreReply, "cellar")).scores


@pytest.mark.parametrize(
    "operation",
    ["rename", "get", "delete", "search", "export", "share", "unshare", "shared", "costs", "save", "list", "score"],
)
async def test_what_is_no_request_is_invalid(asker: Asker, operation: str) -> None:
    for body in (b"[]", b'{"limit": -1, "title": 7, "cursor": 3, "deadline_ms": "x"}', b"\xff"):
        assert await code(asker, operation, body) == "invalid"


async def test_saving_where_nobody_watches_says_so(asker: Asker) -> None:
    accepted, _ = await answered(asker)
    assert await code(asker, "save", c.SaveRequest(turn_id=accepted.turn_id)) == "unavailable"
