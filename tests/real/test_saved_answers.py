"""An answer becomes a page of the vault over the bus, is indexed like any file, and is scored against real passages."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest

from services.chat.app import ChatParts, running_chat
from services.chat.settings import ChatSettings
from services.ingest.text.front_matter import read_front_matter
from shared.contracts.chat import ChatAccepted, TurnDone
from shared.contracts.conversations import SaveRequest, ScoreReply, ScoreRequest
from shared.contracts.saving import SaveTextReply, SaveTextRequest
from shared.provision import provision_turns
from tests.chat_system import FAST, Asker
from tests.fakes.scripted_provider import OneProvider, ScriptedProvider
from tests.system import Refused, System

PAGE = "# Sauerkraut\n\nSauerkraut takes two percent of its weight in salt. It rests for three weeks.\n"


@dataclass
class Cook:
    """Somebody who asks, saves and scores."""

    system: System
    asker: Asker
    provider: ScriptedProvider

    async def answered(self) -> ChatAccepted:
        accepted, reading = await self.asker.ask("How much salt does sauerkraut take?")
        assert isinstance(await reading.end(), TurnDone)
        return accepted

    async def save(self, **fields: Any) -> SaveTextReply:
        subject = self.system.topology.conversation("save", self.system.vault_id)
        return await self.system.ask(subject, SaveRequest.model_validate(fields), SaveTextReply)

    async def save_text(self, **fields: Any) -> SaveTextReply:
        subject = self.system.topology.ingest("text", self.system.vault_id)
        return await self.system.ask(subject, SaveTextRequest.model_validate(fields), SaveTextReply)

    async def score(self, **fields: Any) -> ScoreReply:
        subject = self.system.topology.conversation("score", self.system.vault_id)
        return await self.system.ask(subject, ScoreRequest.model_validate(fields), ScoreReply)


@pytest.fixture
async def cook(system: System) -> AsyncGenerator[Cook]:
    """Yield a vault with one page, and a chat service whose provider cites it."""
    client, topology = system.resources.client, system.topology
    await provision_turns(client, topology)
    await system.write("wiki/sauerkraut.md", PAGE)
    provider = ScriptedProvider(("It takes two percent of its weight in salt [1].",))
    parts = ChatParts(OneProvider(provider), times=FAST)
    async with running_chat(client, topology, system.resources.pool, parts, ChatSettings()):
        yield Cook(system, Asker(client, topology, system.vault_id), provider)


async def test_a_saved_answer_is_found_like_any_page_and_links_to_what_it_cites(cook: Cook) -> None:
    accepted = await cook.answered()
    saved = await cook.save(turn_id=accepted.turn_id)
    assert (saved.path, saved.outcome) == ("wiki/queries/how-much-salt-does-sauerkraut-take.md", "created")
    await cook.system.wait(saved.path)
    assert (await cook.system.paths())[saved.path] == str(saved.page_id)
    text = (cook.system.vault / saved.path).read_text(encoding="utf-8")
    assert text.endswith("in salt [^1].\n\n[^1]: [[wiki/sauerkraut|Sauerkraut]], lines 1\u20133\n")
    values = read_front_matter(text).values
    assert values["sources"] == ["wiki/sauerkraut.md"]
    assert (values["conversation"], values["turn"]) == (str(accepted.conversation_id), str(accepted.turn_id))
    links = await cook.system.rows(
        "SELECT t.path FROM links l JOIN pages p USING (page_id) JOIN pages t ON t.page_id = l.target_page_id"
        " WHERE p.path = $1",
        saved.path,
    )
    assert "wiki/sauerkraut.md" in {row["path"] for row in links}
    found = await cook.system.search("How much salt does sauerkraut take?")
    assert saved.path in {citation.path for citation in found.citations}


async def test_the_same_turn_is_saved_once(cook: Cook) -> None:
    accepted = await cook.answered()
    first = await cook.save(turn_id=accepted.turn_id)
    again = await cook.save(turn_id=accepted.turn_id)
    assert again == first.model_copy(update={"outcome": "unchanged"})
    with pytest.raises(Refused, match=f"{first.path} was saved before"):
        await cook.save(turn_id=accepted.turn_id, title="Salt")
    named = await cook.save(turn_id=accepted.turn_id, title="Salt", overwrite=True)
    assert (named.outcome, named.path, named.page_id) == ("updated", first.path, first.page_id)


async def test_a_file_of_somebody_else_and_a_path_outside_are_refused_over_the_bus(cook: Cook) -> None:
    await cook.system.write("wiki/mine.md", "Mine.")
    for path in ("wiki/mine.md", "wiki/sauerkraut.md", "../out.md", "notes/a.md", ".citebus.toml"):
        with pytest.raises(Refused) as refused:
            await cook.save_text(title="x", body="y", path=path, overwrite=True)
        assert refused.value.reply.code == "invalid"
    assert (cook.system.vault / "wiki/mine.md").read_text(encoding="utf-8") == "Mine."


async def test_a_text_without_a_turn_is_a_page_and_may_be_replaced_on_request(cook: Cook) -> None:
    first = await cook.save_text(title="Brine", body="Salt in water.", turn_id=uuid4(), path="wiki/notes/brine.md")
    with pytest.raises(Refused, match="ask to overwrite"):
        await cook.save_text(title="Brine", body="More salt.", path=first.path)
    second = await cook.save_text(title="Brine", body="More salt.", path=first.path, overwrite=True)
    assert (second.outcome, second.page_id) == ("updated", first.page_id)
    await cook.system.wait(second.path)


async def test_a_judge_reads_the_passages_as_they_were_cited(cook: Cook) -> None:
    await cook.answered()
    await cook.system.rows(
        'UPDATE messages SET citations = replace(citations::text, \'"support": null\', \'"support": "weak"\')::jsonb'
    )
    cook.provider.script = ("1: yes",)
    reply = await cook.score()
    assert [(each.faithfulness, each.judge) for each in reply.scores] == [(1.0, "scripted:script-1-2025")]
    assert "rests for three weeks" in cook.provider.calls[-1][1].content
    assert (await cook.score()).scores == ()


async def test_a_passage_that_changed_since_leaves_the_support_check_s_word(cook: Cook) -> None:
    await cook.answered()
    await cook.system.rows(
        'UPDATE messages SET citations = replace(citations::text, \'"support": null\', \'"support": "weak"\')::jsonb'
    )
    assert [each.faithfulness for each in (await cook.score(judge=False)).scores] == [0.5]
    await cook.system.write("wiki/sauerkraut.md", "# Sauerkraut\n\nThree percent.\n")
    calls = len(cook.provider.calls)
    reply = await cook.score()
    assert [(each.faithfulness, each.judge) for each in reply.scores] == [(0.5, "support")]
    assert len(cook.provider.calls) == calls
