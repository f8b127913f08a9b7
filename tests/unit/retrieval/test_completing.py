from __future__ import annotations

from services.retrieval.searching import SearchBounds
from tests.unit.retrieval.scene import Scene, page, scene

STORY = page("wiki/story.md", "The ship sails.", "A storm comes.", "The crew swims.", "They rest ashore.")
"""Only the third chunk is found by the query."""


async def story(count: int) -> Scene:
    return await scene(STORY, bounds=SearchBounds(completed_seeds=count))


async def test_what_stands_beside_the_best_seed_fills_the_budget_that_is_left() -> None:
    reply = await (await story(1)).search("swims", profile="sparse", k=1)

    assert reply.text == "[1] story\nA storm comes.\n\nThe crew swims.\n\nThey rest ashore."
    (citation,) = reply.citations
    assert len(citation.passages) == 3
    assert citation.phase == "vector"


async def test_nothing_is_added_or_read_unless_the_settings_say_so() -> None:
    service = await story(0)
    reply = await service.search("swims", profile="sparse", k=1)

    assert reply.text == "[1] story\nThe crew swims."
    assert "beside" not in service.pages.reads


async def test_nothing_is_read_when_the_budget_is_spent() -> None:
    service = await story(1)
    reply = await service.search("swims", profile="sparse", k=1, context_window=15)

    assert "beside" not in service.pages.reads
    assert reply.citations == ()


async def test_a_neighbour_that_was_found_itself_is_not_added_again() -> None:
    reply = await (await story(3)).search("storm swims", profile="sparse", k=2)

    assert reply.text == "[1] story\nThe ship sails.\n\nA storm comes.\n\nThe crew swims.\n\nThey rest ashore."
    assert len({passage.chunk_id for passage in reply.citations[0].passages}) == 4


async def test_neighbours_of_another_data_version_stay_out() -> None:
    service = await story(1)

    def change() -> None:
        service.pages.data_version += 1

    service.pages.before["beside"] = change
    reply = await service.search("swims", profile="sparse", k=1)

    assert reply.text == "[1] story\nThe crew swims."
    assert reply.data_version == 1
