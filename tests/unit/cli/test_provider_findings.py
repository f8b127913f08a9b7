"""`status` and `doctor` say who answers questions, whether that can work, and never a key."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from deploy.embedded.provider_text import provider_text, unreachable
from services.chat.providers.info import provider_info
from services.chat.providers.settings import ChatProviderSettings
from shared.contracts.providers import ProviderInfo
from tests.unit.cli.fakes import CommandLine, service_info, status_reply
from tests.unit.cli.test_sessions import pretend_running

KEY = "sk-not-to-be-shown"
SERVER = ProviderInfo(provider="openai", model="m", base_url="http://127.0.0.1:1/v1", priced=False, ready=True)


@pytest.fixture
def running(line: CommandLine, vault: Path) -> CommandLine:
    pretend_running(line.data_dir, notes=vault)
    line.bus.answers["citebus.v1.ingest.status.notes"] = status_reply()
    return line


def finding(line: CommandLine) -> dict[str, object]:
    findings = json.loads(line.run("doctor", "--json").stdout)
    return next(one for one in findings if one["name"] == "chat provider")


def test_status_says_who_answers_to_people_and_programs(running: CommandLine) -> None:
    running.bus.provider = SERVER
    assert "questions are answered by openai m at 127.0.0.1:1, price not known" in running.run("status").stdout
    assert json.loads(running.run("status", "--json").stdout)["chat"]["model"] == "m"


def test_doctor_is_content_with_the_offline_provider(running: CommandLine) -> None:
    found = finding(running)
    assert (found["ok"], str(found["seen"]).startswith("extractive, offline")) == (True, True)


def test_doctor_tells_a_server_that_cannot_be_reached(running: CommandLine) -> None:
    running.bus.provider = SERVER
    found = finding(running)
    assert found["ok"] is False
    assert "127.0.0.1:1 cannot be reached" in str(found["seen"])
    assert "--provider extractive" in str(found["advice"])


def test_doctor_tells_what_a_provider_lacks(running: CommandLine) -> None:
    running.bus.provider = SERVER.model_copy(update={"ready": False, "missing": "it needs a key"})
    found = finding(running)
    assert (found["ok"], found["advice"]) == (False, "it needs a key")


def test_doctor_tells_a_chat_service_of_another_version(running: CommandLine) -> None:
    running.bus.provider = None
    running.bus.raw["$SRV.INFO.citebus-chat"] = service_info({})
    assert "the chat service is of another version" in str(finding(running)["seen"])


def test_without_a_stack_the_settings_count(line: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEBUS_CHAT_PROVIDER", "openai")
    found = finding(line)
    assert found["ok"] is False
    assert "needs CITEBUS_CHAT_MODEL" in str(found["seen"])


async def test_a_server_that_listens_is_reachable() -> None:
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        assert await unreachable(SERVER.model_copy(update={"base_url": f"http://127.0.0.1:{port}/v1"})) is None


def settings(**fields: object) -> ChatProviderSettings:
    return ChatProviderSettings.model_validate({"openai_api_key": None, "anthropic_api_key": None, **fields})


def test_the_service_says_of_its_provider_what_is_no_secret() -> None:
    info = provider_info(settings(provider="openai", model="gpt-4o", api_key=KEY))
    assert (info.priced, info.ready) == (True, True)
    assert KEY not in info.model_dump_json()
    assert provider_text(info) == "openai gpt-4o at api.openai.com, price known"


def test_a_missing_key_or_package_is_told_before_anybody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    no_key = provider_info(settings(provider="anthropic", model="claude-sonnet-4-5"))
    assert "needs a key: set ANTHROPIC_API_KEY" in (no_key.missing or "")
    monkeypatch.setattr("services.chat.providers.info.find_spec", {}.get)
    no_package = provider_info(settings(provider="openai", model="m", base_url="http://127.0.0.1:1/v1"))
    assert "pip install 'citebus[openai]'" in (no_package.missing or "")


def test_a_model_without_a_row_in_the_table_has_no_known_price() -> None:
    assert provider_info(settings(provider="openai", model="m", api_key=KEY)).priced is False
    assert provider_info(settings()).priced is True
