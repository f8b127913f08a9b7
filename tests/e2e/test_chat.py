"""`citebus ask`, `chat`, `conversations` and `save` as processes, with a model on loopback that plays a script."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.e2e.machine import Machine, Up, new_machine
from tests.e2e.terminal import CTRL_C, CTRL_D, Person
from tests.fakes.provider_servers.answers import Answer
from tests.fakes.provider_servers.server import ProviderServer, provider_server

GARDEN = {
    "wiki/tomatoes.md": "# Tomatoes\n\n## Watering\n\nWater tomatoes in the morning, two litres for each plant.\n",
    "wiki/roses.md": "# Roses\n\n## Watering\n\nWater roses twice a week.\n",
}
QUESTION = "When are tomatoes given water?"
PIECES = ("Water tomatoes in the morning, ", "two litres for each plant", " [1].")
WHOLE = "".join(PIECES)


class Model:
    """A provider's server in a thread of its own."""

    def __init__(self, server: ProviderServer, loop: asyncio.AbstractEventLoop) -> None:
        self.server, self._loop = server, loop

    def will(self, *answers: Answer) -> None:
        self._loop.call_soon_threadsafe(self.server.will, *answers)

    def was_left(self) -> None:
        """Wait until a client went away before its answer was whole."""
        asyncio.run_coroutine_threadsafe(self.server.disconnected.wait(), self._loop).result(20)

    def prompts(self) -> list[str]:
        return [json.dumps(request.body["messages"], ensure_ascii=False) for request in self.server.requests]


@contextmanager
def running_model() -> Generator[Model]:
    ready: list[Model] = []
    started, stop = threading.Event(), asyncio.Event()

    async def serve() -> None:
        async with provider_server("openai") as server:
            ready.append(Model(server, asyncio.get_running_loop()))
            started.set()
            await stop.wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),), daemon=True)
    thread.start()
    assert started.wait(10)
    yield ready[0]
    ready[0]._loop.call_soon_threadsafe(stop.set)  # pyright: ignore[reportPrivateUsage]
    thread.join(10)


@pytest.fixture(scope="module")
def model() -> Generator[Model]:
    with running_model() as model:
        yield model


@pytest.fixture(scope="module")
def machine(wheels: None, model: Model) -> Generator[Machine]:
    settings = {
        "CITEBUS_EMBEDDING_PROVIDER": "hashing",
        "CITEBUS_CHAT_PROVIDER": "openai",
        "CITEBUS_CHAT_MODEL": "m-2025",
        "CITEBUS_CHAT_BASE_URL": f"{model.server.origin}/v1",
        "CITEBUS_CHAT_API_KEY": "sk-not-to-be-shown",
    }
    with new_machine(settings) as machine:
        yield machine


@pytest.fixture(scope="module")
def up(machine: Machine) -> Generator[Up]:
    garden = machine.vault("garden", GARDEN)
    with machine.up(garden) as running:
        machine.citebus("ingest", "--once", garden)
        yield running


@pytest.fixture
def here(up: Up, machine: Machine, model: Model) -> Machine:
    model.server.script.clear()
    model.server.requests.clear()
    model.server.disconnected.clear()
    return machine


def asked(machine: Machine, question: str, *more: str, expect: int = 0) -> dict[str, Any]:
    return json.loads(machine.citebus("ask", question, "--json", *more, expect=expect).stdout)


def test_an_answer_comes_with_its_source_and_place(here: Machine, model: Model) -> None:
    model.will(Answer(pieces=PIECES))
    done = here.citebus("ask", QUESTION, "-v")
    assert done.stdout.startswith(f"{WHOLE}\n\nSources\n[1] Tomatoes — wiki/tomatoes.md:1-5")
    assert "openai m-2025 · 11 tokens in, 7 out · price not known" in done.stderr
    assert "\x1b" not in done.stdout + done.stderr


def first_words(process: subprocess.Popen[str]) -> str:
    """Return what the command writes first, past Python's own buffer, which would keep the rest from `communicate`."""
    assert process.stdout is not None
    return os.read(process.stdout.fileno(), 16).decode()


def test_an_answer_streams(here: Machine, model: Model) -> None:
    model.will(Answer(pieces=("The first words. ", "And"), then="hold"))
    with here.running("ask", QUESTION) as process:
        assert first_words(process) == "The first words."
        assert process.poll() is None


def test_json_holds_answer_citations_and_usage(here: Machine, model: Model) -> None:
    model.will(Answer(pieces=PIECES))
    told = asked(here, QUESTION)
    assert (told["state"], told["answer"], told["usage"]["output_tokens"]) == ("done", WHOLE, 7)
    (cited,) = told["citations"]
    assert cited["place"].startswith("wiki/tomatoes.md:")
    assert told["cost"] is None


def test_a_follow_up_knows_what_was_said(here: Machine, model: Model) -> None:
    model.will(Answer(pieces=PIECES), Answer(pieces=("Roses too.",)))
    first = asked(here, QUESTION)
    second = asked(here, "And roses?", "--conversation", first["conversation_id"])
    assert second["conversation_id"] == first["conversation_id"]
    assert "two litres for each plant" in model.prompts()[-1]
    assert QUESTION in model.prompts()[-1]


def test_ctrl_c_closes_the_models_request_and_keeps_what_was_said(here: Machine, model: Model) -> None:
    model.will(Answer(pieces=("Half an answer. ", "And"), then="hold"))
    with here.running("ask", QUESTION) as process:
        begun = first_words(process)
        process.send_signal(signal.SIGINT)
        rest, said = process.communicate(timeout=30)
        shown = (begun + rest).strip()
        assert process.returncode == 130
        assert shown in {"Half an answer.", "Half an answer. And"}  # as far as it had come
    model.was_left()
    assert "the answer was cancelled" in said
    last = json.loads(here.citebus("conversations", "show", "last", "--json").stdout)["turns"][-1]
    assert (last["answer"]["state"], last["answer"]["text"].strip()) == ("cancelled", shown)


def test_what_a_filter_leaves_nothing_of_is_refused_without_asking_the_model(here: Machine, model: Model) -> None:
    done = here.citebus("ask", QUESTION, "--filter", "area=stones", expect=3)
    assert done.stdout.count("\n") == 1
    assert "Sources" not in done.stdout
    assert model.prompts() == []


def test_a_model_that_fails_is_an_error_that_shows_no_key(here: Machine, model: Model) -> None:
    model.will(Answer(pieces=("Half",), then="cut"))
    done = here.citebus("ask", QUESTION, expect=1)
    assert done.stdout.strip() == "Half"
    assert done.stderr.startswith("citebus: ")
    assert "sk-not-to-be-shown" not in done.stderr


def test_questions_from_a_pipe_are_one_conversation(here: Machine, model: Model) -> None:
    model.will(Answer(pieces=PIECES), Answer(pieces=("Twice a week [1].",)))
    done = here.citebus("chat", typed=f"{QUESTION}\nAnd roses?\n")
    assert done.stdout.startswith(f"> {QUESTION}\n{WHOLE}\n\nSources\n[1] ")
    assert "> And roses?\nTwice a week [1].\n" in done.stdout
    assert "\x1b" not in done.stdout
    assert len(json.loads(here.citebus("conversations", "show", "last", "--json").stdout)["turns"]) == 2


def test_a_talk_on_a_terminal(here: Machine, model: Model) -> None:
    model.will(Answer(pieces=PIECES), Answer(pieces=("Half an ", "answer"), then="hold"))
    with here.on_a_terminal("chat") as (process, terminal):
        person = Person(terminal)
        person.sees("Ctrl-D ends")
        person.sees(">")
        person.types(f"{QUESTION}\r")
        person.sees("two litres for each plant [1].")
        person.sees("[1] Tomatoes — wiki/tomatoes.md:")
        person.types("/sources 1\r")
        person.sees("    Water tomatoes in the morning")
        person.types("Once more?\r")
        person.sees("Half an")
        person.types(CTRL_C)
        person.sees("the answer was cancelled")
        person.sees(">")
        person.types(CTRL_C)
        person.sees("Ctrl-C again, or Ctrl-D")
        person.sees(">")
        person.types(CTRL_D)
        assert process.wait(20) == 0
    model.was_left()
    assert QUESTION in (here.data_dir / "chat-history").read_text()
    assert (here.data_dir / "chat-history").stat().st_mode & 0o077 == 0


def test_conversations_are_listed_exported_shared_and_deleted(here: Machine, model: Model) -> None:
    model.will(Answer(pieces=PIECES))
    conversation = asked(here, "How much water do tomatoes get?")["conversation_id"]
    assert here.citebus("conversations", "list").stdout.splitlines()[1].startswith(conversation)
    exported = here.citebus("conversations", "export", "last").stdout
    assert "two litres for each plant" in exported
    assert "wiki/tomatoes.md" in exported
    found = here.citebus("conversations", "search", "litres").stdout
    assert conversation in found
    token = here.citebus("conversations", "share", "last").stdout.strip()
    assert WHOLE in here.citebus("conversations", "read", token).stdout
    here.citebus("conversations", "unshare", conversation)
    here.citebus("conversations", "read", token, expect=1)
    here.citebus("conversations", "delete", conversation, expect=1)
    here.citebus("conversations", "delete", conversation, "--yes")
    here.citebus("conversations", "show", conversation, expect=1)


def test_a_saved_answer_is_a_page_that_is_found(here: Machine, model: Model) -> None:
    model.will(Answer(pieces=PIECES))
    asked(here, "How much water do tomatoes get?")
    saved = here.citebus("save", "last").stdout
    path = re.fullmatch(r"created: (wiki/\S+\.md)\n", saved)
    assert path is not None
    page = here.folder / "garden" / path[1]
    assert "two litres for each plant" in page.read_text()
    here.citebus("wait", page)
    assert here.citebus("save", "last").stdout == f"unchanged: {path[1]}\n"


def test_up_status_and_doctor_say_who_answers_and_no_key(here: Machine, up: Up) -> None:
    assert re.search(r"^chat +answered by openai m-2025 at 127\.0\.0\.1:\d+, price not known", up.printed, re.MULTILINE)
    assert "questions are answered by openai m-2025" in here.citebus("status").stdout
    assert "✓ chat provider: openai m-2025" in here.citebus("doctor").stdout
    assert "sk-not-to-be-shown" not in up.printed + up.said()
