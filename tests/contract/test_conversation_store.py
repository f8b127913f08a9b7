"""Every store of conversations keeps the same promises."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import date, timedelta
from uuid import uuid4

import pytest

from services.chat.adapters.postgres.conversations import PostgresConversations
from services.chat.conversation_store import UNNAMED, ListPlace, SearchedWords, Span
from shared.errors import NotFound
from shared.postgres.pool import open_pool
from tests.fakes.in_memory_conversations import InMemoryConversations
from tests.stored_turns import NOON, MemoryShelf, PostgresShelf, stored_turn

Shelf = MemoryShelf | PostgresShelf


@pytest.fixture(params=["memory", "postgres"])
def dsn(request: pytest.FixtureRequest) -> str | None:
    """Return the database; None for the store in memory."""
    return None if request.param == "memory" else request.getfixturevalue("database")


@pytest.fixture
async def shelf(dsn: str | None) -> AsyncGenerator[Shelf]:
    """Yield an empty store."""
    if dsn is None:
        yield MemoryShelf(InMemoryConversations())
        return
    async with open_pool(dsn) as pool:
        yield PostgresShelf(pool, PostgresConversations(pool))


async def test_a_conversation_without_a_title_is_called_by_its_first_question(shelf: Shelf) -> None:
    made = await shelf.store.create("kitchen", None)
    assert (made.title, made.turns, made.cost, made.unpriced) == (UNNAMED, 0, "0", 0)
    await shelf.add(made.conversation_id, stored_turn("How much\nsalt?"))
    await shelf.add(made.conversation_id, stored_turn("And sugar?"))
    assert (await shelf.store.summary("kitchen", made.conversation_id)).title == "How much"
    renamed = await shelf.store.rename("kitchen", made.conversation_id, "Brine")
    assert renamed.title == "Brine"
    assert renamed.updated_at > made.updated_at


async def test_costs_of_a_conversation_leave_out_what_is_not_known_and_count_it(shelf: Shelf) -> None:
    made = await shelf.store.create("kitchen", "Costs")
    await shelf.add(made.conversation_id, stored_turn(cost="0.10"))
    await shelf.add(made.conversation_id, stored_turn(cost="0.0000001"))
    await shelf.add(made.conversation_id, stored_turn(cost=None))
    await shelf.add(made.conversation_id, stored_turn(cost=None, usage=None, state="refused", refusal="weak_evidence"))
    summary = await shelf.store.summary("kitchen", made.conversation_id)
    assert (summary.turns, float(summary.cost), summary.unpriced) == (4, 0.1000001, 1)
    assert "e" not in summary.cost.lower()


async def test_the_list_has_the_latest_first_and_goes_on_where_it_ended(shelf: Shelf) -> None:
    made = [await shelf.store.create("kitchen", f"{number}") for number in range(5)]
    await shelf.add(made[1].conversation_id, stored_turn())
    await shelf.store.create("cellar", "Wine")
    first = await shelf.store.recent("kitchen", 2, None)
    assert [each.title for each in first] == ["1", "4"]
    place = ListPlace(first[-1].updated_at, first[-1].conversation_id)
    assert [each.title for each in await shelf.store.recent("kitchen", 9, place)] == ["3", "2", "0"]


async def test_turns_come_in_order_and_go_on_behind_a_place(shelf: Shelf) -> None:
    made = await shelf.store.create("kitchen", "Turns")
    turns = [await shelf.add(made.conversation_id, stored_turn(f"Question {number}?")) for number in range(4)]
    first = await shelf.store.turns("kitchen", made.conversation_id, 0, 3)
    assert [each.number for each in first] == [1, 2, 3]
    assert [each.turn for each in first] == turns[:3]
    rest = await shelf.store.turns("kitchen", made.conversation_id, first[-1].place, 3)
    assert [(each.number, each.turn) for each in rest] == [(4, turns[3])]
    assert list(await shelf.store.turns("kitchen", made.conversation_id, rest[-1].place, 3)) == []


async def test_a_turn_is_found_by_its_id_with_its_conversation(shelf: Shelf) -> None:
    made = await shelf.store.create("kitchen", "Turn")
    turn = await shelf.add(made.conversation_id, stored_turn())
    assert await shelf.store.turn("kitchen", turn.turn_id) == (made.conversation_id, turn)
    with pytest.raises(NotFound):
        await shelf.store.turn("cellar", turn.turn_id)


async def test_a_conversation_that_is_deleted_is_gone_with_all_of_it(shelf: Shelf) -> None:
    made, kept = await shelf.store.create("kitchen", "Gone"), await shelf.store.create("kitchen", "Kept")
    await shelf.add(made.conversation_id, stored_turn())
    running = await shelf.add(made.conversation_id, stored_turn(answer="", state="streaming", usage=None, cost=None))
    assert list(await shelf.store.delete("kitchen", made.conversation_id)) == [running.turn_id]
    for gone in (shelf.store.summary, shelf.store.delete):
        with pytest.raises(NotFound):
            await gone("kitchen", made.conversation_id)
    with pytest.raises(NotFound):
        await shelf.store.turn("kitchen", running.turn_id)
    assert await shelf.store.search("kitchen", SearchedWords("salt"), 10) == []
    assert [each.conversation_id for each in await shelf.store.recent("kitchen", 9, None)] == [kept.conversation_id]


async def test_another_vault_s_conversation_is_not_found(shelf: Shelf) -> None:
    made = await shelf.store.create("kitchen", "Mine")
    turn = await shelf.add(made.conversation_id, stored_turn())
    with pytest.raises(NotFound):
        await shelf.store.summary("cellar", made.conversation_id)
    with pytest.raises(NotFound):
        await shelf.store.turns("cellar", made.conversation_id, 0, 5)
    with pytest.raises(NotFound):
        await shelf.store.rename("cellar", made.conversation_id, "Yours")
    with pytest.raises(NotFound):
        await shelf.store.delete("cellar", made.conversation_id)
    assert list(await shelf.store.search("cellar", SearchedWords("salt"), 10)) == []
    assert list(await shelf.store.costs("cellar", Span(NOON.date(), NOON.date()), made.conversation_id)) == []
    (placed,) = await shelf.store.turns("kitchen", made.conversation_id, 0, 5)
    assert placed.turn == turn


@pytest.mark.parametrize(
    ("query", "hits"),
    [
        ("salt", 2), ("SALT", 2), ("percent takes", 1), ("takes perc", 1), ("tak percent", 0), ("sal", 2), ("alt", 0),
        ("salt percent", 0), ("100%", 0), ("'quoted' & | !", 0), ("nothing", 0),
    ],
)  # fmt: skip
async def test_a_search_finds_all_words_and_the_last_as_a_beginning(shelf: Shelf, query: str, hits: int) -> None:
    made = await shelf.store.create("kitchen", None)
    await shelf.add(made.conversation_id, stored_turn("How much salt?", "It takes two percent [1]."))
    await shelf.add(made.conversation_id, stored_turn("Salt again?", "Yes."))
    found = await shelf.store.search("kitchen", SearchedWords(query), 10)
    assert len(found) == hits
    assert {each.title for each in found} <= {"How much salt?"}


async def test_a_script_without_blanks_is_found_anywhere(shelf: Shelf) -> None:
    made = await shelf.store.create("kitchen", None)
    turn = await shelf.add(made.conversation_id, stored_turn("酸菜需要多少盐？", "百分之二。"))
    (hit,) = await shelf.store.search("kitchen", SearchedWords("多少盐", unspaced=True), 10)
    assert hit.message.message_id == turn.question.message_id
    assert list(await shelf.store.search("kitchen", SearchedWords("盐%", unspaced=True), 10)) == []


async def test_a_search_gives_no_more_than_asked_for_newest_first_among_equals(shelf: Shelf) -> None:
    made = await shelf.store.create("kitchen", None)
    for day in range(4):
        await shelf.add(made.conversation_id, stored_turn("Salt?", "Yes.", created_at=NOON + timedelta(days=day)))
    found = await shelf.store.search("kitchen", SearchedWords("salt"), 2)
    assert [each.message.created_at.day for each in found] == [3, 2]


async def test_costs_are_summed_by_day_in_utc_and_unknown_ones_counted_apart(shelf: Shelf) -> None:
    made, other = await shelf.store.create("kitchen", "A"), await shelf.store.create("kitchen", "B")
    late = NOON.replace(hour=23, minute=59, second=59)
    await shelf.add(made.conversation_id, stored_turn(cost="0.25", created_at=late))
    await shelf.add(made.conversation_id, stored_turn(cost=None, created_at=NOON))
    await shelf.add(other.conversation_id, stored_turn(cost="0.5", created_at=late + timedelta(seconds=1)))
    await shelf.add(other.conversation_id, stored_turn(cost=None, usage=None, state="refused", created_at=NOON))
    days = await shelf.store.costs("kitchen", Span(date(2026, 5, 1), date(2026, 6, 30)), None)
    assert [(each.day.isoformat(), each.answers, float(each.cost), each.unpriced) for each in days] == [
        ("2026-05-31", 2, 0.25, 1),
        ("2026-06-01", 1, 0.5, 0),
    ]
    assert (days[0].input_tokens, days[0].output_tokens) == (200, 40)
    assert list(await shelf.store.costs("kitchen", Span(date(2026, 6, 1), date(2026, 6, 1)), None)) == [days[1]]
    only = await shelf.store.costs("kitchen", Span(date(2026, 5, 1), date(2026, 6, 30)), other.conversation_id)
    assert list(only) == [days[1]]


async def test_what_does_not_exist_is_not_found(shelf: Shelf) -> None:
    unknown = uuid4()
    with pytest.raises(NotFound):
        await shelf.store.summary("kitchen", unknown)
    with pytest.raises(NotFound):
        await shelf.store.turns("kitchen", unknown, 0, 5)
    with pytest.raises(NotFound):
        await shelf.store.turn("kitchen", unknown)
