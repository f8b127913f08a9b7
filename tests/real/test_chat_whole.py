"""From a saved page to a cited answer: the chat service over real retrieval."""

from __future__ import annotations

from services.chat.app import ChatParts, running_chat
from services.chat.settings import ChatSettings
from shared.contracts.chat import TurnDone, TurnSources
from shared.contracts.search import ResolveRequest
from tests.chat_system import FAST, Asker
from tests.fakes.scripted_provider import OneProvider, ScriptedProvider
from tests.system import System

SALT = "# Sauerkraut\n\nSauerkraut takes two percent of its weight in salt, and it rests for three weeks.\n"


async def test_an_answer_cites_a_page_by_a_passage_that_resolves(system: System) -> None:
    await system.write("purpose.md", "# Purpose\n\nThis vault keeps what the cellar knows.\n")
    await system.write("raw/notes.md", "# Notes\n\nSauerkraut takes five percent of salt, said a visitor.\n")
    await system.write("sauerkraut.md", SALT)
    provider = ScriptedProvider(("Two percent of the weight [1].",))
    r = system.resources
    parts = ChatParts(OneProvider(provider), times=FAST)
    async with running_chat(r.client, r.topology, r.pool, parts, ChatSettings()):
        asker = Asker(r.client, r.topology, system.vault_id)
        _, reading = await asker.ask("How much salt does sauerkraut take?", k=3)
        done = await reading.end()
    sources = reading.events[0]
    assert isinstance(sources, TurnSources)
    assert isinstance(done, TurnDone)
    assert {citation.path for citation in sources.citations} <= {"sauerkraut.md", "purpose.md"}
    (page,) = done.citations
    cited = sources.citations[page.n - 1]
    passage = cited.passages[0]
    resolved = await system.resolve(
        ResolveRequest(page_id=page.id, chunk_id=passage.chunk_id, content_hash=passage.content_hash)
    )
    assert resolved.state == "current"
    prompt = provider.calls[0]
    assert "what the cellar knows" in prompt[0].content
    assert "two percent of its weight" in prompt[-1].content
    assert "visitor" not in prompt[-1].content
