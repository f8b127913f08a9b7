"""Which provider, model, address and key an operation gets, and that no key shows."""

from __future__ import annotations

import json

import pytest
from pydantic import SecretStr

from services.chat.providers.settings import ChatProviderSettings
from services.chat.providers.spec import Limits, ProviderSpec
from shared.errors import InvalidInput
from shared.settings import settings_from_environment

KEY = "sk-very-secret"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OLLAMA_API_KEY", "CHAT_AGENT_MAX_TURNS"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def read(environment: pytest.MonkeyPatch, **variables: str) -> ChatProviderSettings:
    for name, value in variables.items():
        environment.setenv(name, value)
    return settings_from_environment(ChatProviderSettings)


def test_without_settings_the_offline_provider_answers_everything(environment: pytest.MonkeyPatch):
    settings = read(environment)

    assert {settings.spec(operation) for operation in settings.known_operations} == {ProviderSpec("extractive")}


def test_the_simple_variables_are_the_default_of_every_operation(environment: pytest.MonkeyPatch):
    settings = read(
        environment,
        CITEBUS_CHAT_PROVIDER="openai",
        CITEBUS_CHAT_MODEL="glm-4.6",
        CITEBUS_CHAT_BASE_URL="https://api.z.ai/api/paas/v4/",
        CITEBUS_CHAT_API_KEY=KEY,
        CITEBUS_CHAT_TEMPERATURE="0",
    )

    for operation in settings.known_operations:
        spec = settings.spec(operation)
        assert (spec.provider, spec.model, spec.key) == ("openai", "glm-4.6", KEY)
        assert spec.base_url == "https://api.z.ai/api/paas/v4"
        assert spec.limits.temperature == 0


@pytest.mark.parametrize(
    ("provider", "variable"),
    [
        ("openai", "OPENAI_API_KEY"),
        ("anthropic", "ANTHROPIC_API_KEY"),
        ("agent", "ANTHROPIC_API_KEY"),
        ("ollama", "OLLAMA_API_KEY"),
    ],
)
def test_the_key_comes_from_the_providers_usual_variable(environment: pytest.MonkeyPatch, provider: str, variable: str):
    settings = read(environment, CITEBUS_CHAT_PROVIDER=provider, CITEBUS_CHAT_MODEL="m", **{variable: KEY})

    assert settings.spec("chat").key == KEY


def test_an_operation_has_its_own_limits_and_inherits_the_rest(environment: pytest.MonkeyPatch):
    operations = {"rewrite": {"max_answer_tokens": 64, "timeout_s": 5, "temperature": 0}}
    settings = read(
        environment,
        CITEBUS_CHAT_PROVIDER="ollama",
        CITEBUS_CHAT_MODEL="llama3",
        CITEBUS_CHAT_OPERATIONS=json.dumps(operations),
    )

    rewrite, chat = settings.spec("rewrite"), settings.spec("chat")

    assert (rewrite.model, rewrite.base_url) == (chat.model, chat.base_url)
    assert rewrite.limits == Limits(max_answer_tokens=64, timeout_s=5, temperature=0)
    assert chat.limits == Limits()


def test_an_operation_with_another_provider_inherits_neither_model_nor_address_nor_key(
    environment: pytest.MonkeyPatch,
):
    settings = read(
        environment,
        CITEBUS_CHAT_PROVIDER="openai",
        CITEBUS_CHAT_MODEL="local",
        CITEBUS_CHAT_BASE_URL="http://127.0.0.1:8000/v1",
        CITEBUS_CHAT_API_KEY=KEY,
        CITEBUS_CHAT_OPERATIONS='{"judge": {"provider": "anthropic", "model": "claude"}}',
    )

    judge = settings.spec("judge")

    assert (judge.model, judge.base_url, judge.key) == ("claude", "https://api.anthropic.com", "")


def test_users_may_name_operations_of_their_own(environment: pytest.MonkeyPatch):
    operations = '{"fast": {"provider": "ollama", "model": "small"}}'
    settings = read(environment, CITEBUS_CHAT_OPERATIONS=operations)

    assert settings.spec("fast").model == "small"
    assert "fast" in settings.known_operations


@pytest.mark.parametrize("name", ["CHAT_AGENT_MAX_TURNS", "CITEBUS_CHAT_AGENT_MAX_TURNS"])
def test_the_agents_turns_have_two_names(environment: pytest.MonkeyPatch, name: str):
    assert read(environment).agent_max_turns == 8
    assert read(environment, **{name: "3"}).agent_max_turns == 3


@pytest.mark.parametrize(
    "variables",
    [
        {"CITEBUS_CHAT_PROVIDER": "openai"},
        {"CITEBUS_CHAT_PROVIDER": "nobody"},
        {"CITEBUS_CHAT_BASE_URL": "127.0.0.1:8000"},
        {"CITEBUS_CHAT_BASE_URL": "http://user:secret@host/v1"},
        {"CITEBUS_CHAT_BASE_URL": "http://host/v1?key=secret"},
        {"CITEBUS_CHAT_BASE_URL": "http://host:port/"},
        {"CITEBUS_CHAT_OPERATIONS": '{"judge": {"provider": "openai"}}'},
        {"CITEBUS_CHAT_OPERATIONS": '{"judge": {"colour": "red"}}'},
        {"CITEBUS_CHAT_OPERATIONS": '{"judge": {"base_url": "nowhere"}}'},
        {"CITEBUS_CHAT_OPERATIONS": '{"Not A Name": {}}'},
        {"CITEBUS_CHAT_PROVIDER": "openai", "CITEBUS_CHAT_MODEL": "m", "OPENAI_API_KEY": f"{KEY}\nx"},
        {"CITEBUS_CHAT_TEMPERATURE": "warm"},
    ],
    ids=str,
)
def test_wrong_settings_are_refused_and_name_no_secret(environment: pytest.MonkeyPatch, variables: dict[str, str]):
    with pytest.raises(InvalidInput) as raised:
        read(environment, **variables)

    assert "secret" not in str(raised.value)


def test_no_key_is_in_a_repr_or_a_dump(environment: pytest.MonkeyPatch):
    settings = read(
        environment,
        CITEBUS_CHAT_PROVIDER="openai",
        CITEBUS_CHAT_MODEL="m",
        CITEBUS_CHAT_API_KEY=KEY,
        ANTHROPIC_API_KEY=KEY,
        CITEBUS_CHAT_OPERATIONS=json.dumps({"judge": {"api_key": KEY}}),
    )

    shown = [repr(settings), str(settings), settings.model_dump_json(), repr(settings.spec("judge"))]
    assert not any(KEY in text for text in shown)
    assert settings.spec("judge").key == KEY


def test_a_provider_is_called_by_its_server_without_path():
    spec = ProviderSpec("openai", "m", "http://127.0.0.1:8000/secret/v1", SecretStr(KEY))

    assert spec.label == "the chat provider openai at 127.0.0.1:8000"
