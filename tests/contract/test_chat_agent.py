"""The agent's rules that the real executable can't be made to break: a scripted one stands in for it, on real pipes."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs

from services.chat.provider import ChatMessage, ProviderEvent
from services.chat.providers.agent import AgentBounds, AgentWire
from services.chat.providers.spec import ProviderSpec
from services.chat.providers.streamed import StreamedProvider
from shared.errors import CitebusError, InvalidInput, Unavailable
from tests.contract.chat_providers import CONTEXT, KEY, finish_of, text_of
from tests.fakes.scripted_agent import result, scripted_agent, words

MESSAGES = (ChatMessage("system", "Rules."), ChatMessage("user", "Why?"))


def agent(program: Path, max_turns: int = 8) -> StreamedProvider:
    spec = ProviderSpec("agent", "m", "http://127.0.0.1:1", SecretStr(KEY))
    return StreamedProvider(AgentWire(spec, AgentBounds(max_turns=max_turns, cli=program)))


async def ask(provider: StreamedProvider) -> list[ProviderEvent]:
    return [event async for event in provider.chat(MESSAGES, CONTEXT)]


async def error_of(provider: StreamedProvider) -> CitebusError:
    with pytest.raises(CitebusError) as raised:
        await ask(provider)
    return raised.value


async def test_no_cost_reported_is_zero_and_warned_of_once(tmp_path: Path):
    provider = agent(scripted_agent(tmp_path, [*words("yes"), result()]))

    with capture_logs() as logs:
        costs = [finish_of(await ask(provider)).usage.cost for _ in range(2)]

    assert [str(cost) for cost in costs] == ["0.00", "0.00"]
    assert [log["event"] for log in logs] == ["chat.agent.no_cost"]


@pytest.mark.parametrize(("basis", "cost"), [("list", Decimal("0.0125")), ("unknown", None)])
async def test_a_cost_is_taken_over_unless_it_was_guessed(tmp_path: Path, basis: str, cost: Decimal | None):
    told = result(total_cost_usd=0.0125, modelUsage={"m": {"costUSD": 0.0125, "costBasis": basis}})
    provider = agent(scripted_agent(tmp_path, [*words("yes"), told]))

    assert finish_of(await ask(provider)).usage.cost == cost


async def test_the_bound_on_steps_reaches_the_agent_and_ends_an_answer_as_its_length(tmp_path: Path):
    told = result(subtype="error_max_turns", is_error=True, num_turns=3)
    provider = agent(scripted_agent(tmp_path, [*words("yes"), told]), max_turns=3)

    events = await ask(provider)

    arguments = json.loads((tmp_path / "arguments.json").read_text())
    assert arguments[arguments.index("--max-turns") + 1] == "3"
    assert (text_of(events), finish_of(events).reason) == ("yes", "length")


async def test_the_key_is_no_argument(tmp_path: Path):
    await ask(agent(scripted_agent(tmp_path, [*words("yes"), result()])))

    assert KEY not in (tmp_path / "arguments.json").read_text()
    assert "Why?" in (tmp_path / "prompt.json").read_text()


@pytest.mark.parametrize(
    ("lines", "exit_code"),
    [
        ([], 0),
        ([], 1),
        ([f"no JSON, but {KEY}"], 0),
        (['{"type": "result"}'], 0),
        (['{"type": "stream_event", "uuid": "u", "session_id": "s", "event": {"type": 7}}'], 0),
        ([*words("begun")], 1),
        ([result(subtype="error_during_execution", is_error=True, errors=[KEY])], 0),
    ],
    ids=["silent", "failed", "noise", "torn", "shapeless", "broken off", "error"],
)
async def test_an_agent_that_fails_is_unavailable(tmp_path: Path, lines: list[str | dict[str, Any]], exit_code: int):
    error = await error_of(agent(scripted_agent(tmp_path, lines, exit_code)))

    assert type(error) is Unavailable
    assert KEY not in str(error)


async def test_a_missing_executable_is_named_with_what_installs_it(tmp_path: Path):
    error = await error_of(agent(tmp_path / "nothing"))

    assert type(error) is InvalidInput
    assert "CITEBUS_CHAT_AGENT_CLI" in str(error)


async def test_nothing_of_an_answer_stays_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))

    await ask(agent(scripted_agent(tmp_path, [*words("yes"), result()])))

    assert list(temporary.iterdir()) == []
