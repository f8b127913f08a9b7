"""`citebus chat`: questions in one conversation, commands, Ctrl-C, and lines from a pipe."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from rich.console import Console

from deploy.embedded.cli.chat_options import Manner
from deploy.embedded.cli.keyboard import open_keyboard
from deploy.embedded.cli.session import Session
from deploy.embedded.cli.talk import Talk
from deploy.embedded.cli.world import World
from deploy.embedded.client import BusClient
from shared.contracts.conversations import GetReply, ListReply, SummaryReply
from shared.contracts.error import ErrorReply
from shared.contracts.saving import SaveTextReply
from shared.contracts.search import ResolveReply
from shared.contracts.stored_turns import ConversationSummary
from tests.unit.cli.fakes import CommandLine, ScriptedBus, citation
from tests.unit.cli.scripted_turns import CONVERSATION_ID, Turn, cancelled, deltas, done, failed, refused, sources, use
from tests.unit.cli.test_sessions import pretend_running

CTRL_C = KeyboardInterrupt()
ANSWER = "Twice a day [1]."
SUMMARY = ConversationSummary.model_validate(
    {
        "conversation_id": CONVERSATION_ID,
        "title": "Tides",
        "created_at": "2025-09-01T10:00:00Z",
        "updated_at": "2025-09-01T10:00:00Z",
        "turns": 2,
        "cost": "0.00",
    }
)


def tides() -> Turn:
    return Turn([sources(citation(1, "Tides", 0.9)), *deltas(ANSWER), use(ANSWER, ANSWER, 1, "quoted"), done()])


@dataclass
class Typed:
    """Lines as somebody types them, Ctrl-C among them; then Ctrl-D."""

    lines: Sequence[str | KeyboardInterrupt]
    asked: int = 0

    async def line(self) -> str:
        if self.asked == len(self.lines):
            raise EOFError
        line = self.lines[self.asked]
        self.asked += 1
        if isinstance(line, KeyboardInterrupt):
            raise line
        return line


@dataclass
class Terminal:
    """A talk on a terminal, with what it shows."""

    bus: ScriptedBus = field(default_factory=ScriptedBus)
    out: Console = field(default_factory=lambda: Console(file=io.StringIO(), force_terminal=True, color_system=None))
    err: Console = field(default_factory=lambda: Console(file=io.StringIO(), width=200))

    async def talk(self, *lines: str | KeyboardInterrupt, conversation: ConversationSummary | None = None) -> int:
        world = World(out=self.out, err=self.err)
        async with BusClient("nats://x", connect=self.bus.connect) as client:
            session = Session(client, {"notes": Path("/notes")}, temporary=False)
            talk = Talk(world, session, "notes", Manner(k=3), conversation)
            return await talk.held(Typed(lines))

    @property
    def shown(self) -> str:
        return self.out.file.getvalue()  # pyright: ignore[reportAttributeAccessIssue]

    @property
    def said(self) -> str:
        return self.err.file.getvalue()  # pyright: ignore[reportAttributeAccessIssue]


@pytest.fixture
def terminal() -> Terminal:
    return Terminal()


async def test_a_follow_up_is_asked_in_the_same_conversation_until_a_new_one_begins(terminal: Terminal) -> None:
    terminal.bus.turns.turns.extend([tides(), tides(), tides()])
    assert await terminal.talk("How often?", "", "And where?", "/new", "And why?") == 0
    asked = [(request["question"], request.get("conversation_id")) for request in terminal.bus.turns.requests]
    assert asked == [("How often?", None), ("And where?", str(CONVERSATION_ID)), ("And why?", None)]
    assert "[1] Tides — wiki/Tides.md:12-30 (Tides > Limits)  quoted" in terminal.shown


async def test_a_conversation_goes_on(terminal: Terminal) -> None:
    terminal.bus.turns.turns.append(tides())
    await terminal.talk("And where?", conversation=SUMMARY)
    assert terminal.bus.turns.requests[0]["conversation_id"] == str(CONVERSATION_ID)
    assert "going on with “Tides”, 2 questions so far" in terminal.said


async def test_ctrl_c_ends_the_answer_and_not_the_talk(terminal: Terminal) -> None:
    terminal.bus.turns.turns.extend([Turn(deltas("Half"), [cancelled("asked")], interrupts=1), tides()])
    assert await terminal.talk("How often?", "Again?") == 0
    assert len(terminal.bus.turns.cancelled) == 1
    assert "the answer was cancelled" in terminal.said
    assert ANSWER in terminal.shown


async def test_ctrl_c_ends_the_whole_talk_where_nobody_is_at_the_prompt(terminal: Terminal) -> None:
    terminal.out = Console(file=io.StringIO(), width=200)
    terminal.bus.turns.turns.extend([Turn(deltas("Half"), [cancelled("asked")], interrupts=1), tides()])
    assert await terminal.talk("How often?", "Again?") == 130
    assert ANSWER not in terminal.shown


async def test_ctrl_c_at_the_prompt_ends_the_talk_only_twice_in_a_row(terminal: Terminal) -> None:
    assert await terminal.talk(CTRL_C, "/help", CTRL_C) == 0
    assert await terminal.talk(CTRL_C, CTRL_C, "/help") == 130


@pytest.mark.parametrize("state", ["current", "changed", "moved", "deleted"])
async def test_sources_shows_the_passages_and_what_became_of_them(terminal: Terminal, state: str) -> None:
    terminal.bus.turns.turns.append(tides())
    now = {"state": state, "path": "wiki/sea.md", "text": "The tide comes twice a day.", "data_version": 9}
    terminal.bus.answers["citebus.v1.resolve.notes"] = ResolveReply.model_validate(now)
    await terminal.talk("How often?", "/sources 1", "/sources 9")
    assert "    The tide comes twice a day." in terminal.shown
    assert "the last answer cites [1]" in terminal.said
    became = {"changed": "has changed since", "moved": "has moved since: wiki/sea.md", "deleted": "the page is gone"}
    assert all((words in terminal.shown) == (state == kind) for kind, words in became.items())


async def test_an_answer_is_saved_and_a_conversation_renamed(terminal: Terminal) -> None:
    terminal.bus.turns.turns.append(tides())
    saved = {"path": "wiki/queries/tides.md", "content_hash": "0" * 64, "outcome": "created"}
    terminal.bus.answers["citebus.v1.conversation.save.notes"] = SaveTextReply.model_validate(saved)
    terminal.bus.answers["citebus.v1.conversation.rename.notes"] = SummaryReply(conversation=SUMMARY)
    await terminal.talk("How often?", "/save wiki/queries/tides.md", "/title Tides")
    assert "created: wiki/queries/tides.md" in terminal.shown
    (save,) = terminal.bus.asked("citebus.v1.conversation.save.notes")
    assert save["turn_id"] == terminal.bus.turns.requests[0]["turn_id"]
    (rename,) = terminal.bus.asked("citebus.v1.conversation.rename.notes")
    assert (rename["conversation_id"], rename["title"]) == (str(CONVERSATION_ID), "Tides")


@pytest.mark.parametrize("command", ["/sources", "/save", "/title X", "/shout"])
async def test_a_command_that_makes_no_sense_yet_says_so_and_the_talk_goes_on(terminal: Terminal, command: str) -> None:
    terminal.bus.turns.turns.append(tides())
    assert await terminal.talk(command, "How often?") == 0
    assert terminal.said.count("citebus: ") == 1
    assert ANSWER in terminal.shown


async def test_quit_ends_the_talk_and_help_lists_the_commands(terminal: Terminal) -> None:
    assert await terminal.talk("/help", "/quit", "How often?") == 0
    assert "/sources N" in terminal.shown
    assert terminal.bus.turns.requests == []


async def test_a_path_is_no_command(terminal: Terminal) -> None:
    terminal.bus.turns.turns.append(tides())
    await terminal.talk("/etc/hosts: what is that?")
    assert terminal.bus.turns.requests[0]["question"] == "/etc/hosts: what is that?"


async def test_a_question_that_fails_does_not_end_the_talk(terminal: Terminal) -> None:
    terminal.bus.answers["citebus.v1.chat.notes"] = ErrorReply(code="unavailable", message="busy")
    assert await terminal.talk("How often?", "Again?") == 0
    assert terminal.said.count("busy") == 2


@pytest.fixture
def piped(line: CommandLine, vault: Path) -> CommandLine:
    pretend_running(line.data_dir, notes=vault)
    return line


def test_in_a_pipe_every_line_is_a_question_and_the_output_is_plain(piped: CommandLine) -> None:
    piped.bus.turns.turns.extend([tides(), refused("Nothing.")])
    result = piped.run("chat", input="How often?\n\nWhy?\n")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (
        f"> How often?\n{ANSWER}\n\nSources\n[1] Tides — wiki/Tides.md:12-30 (Tides > Limits)  quoted\n\n"
        "> Why?\nNothing.\n\n"
    )


def test_in_a_pipe_a_question_without_an_answer_is_a_failure(piped: CommandLine) -> None:
    piped.bus.turns.turns.extend([Turn([failed("unavailable", "busy")]), tides()])
    result = piped.run("chat", input="How often?\nAgain?\n")
    assert (result.exit_code, result.stderr) == (1, "citebus: busy\n")
    assert ANSWER in result.stdout


def test_the_latest_or_a_named_conversation_is_gone_on_with(piped: CommandLine) -> None:
    piped.bus.answers["citebus.v1.conversation.list.notes"] = ListReply(conversations=(SUMMARY,))
    piped.bus.answers["citebus.v1.conversation.get.notes"] = GetReply(conversation=SUMMARY, turns=())
    for option in (["--continue"], ["--conversation", str(CONVERSATION_ID)]):
        piped.bus.turns.turns.append(tides())
        assert piped.run("chat", *option, input="Why?\n").exit_code == 0
        assert piped.bus.turns.requests[-1]["conversation_id"] == str(CONVERSATION_ID)
    assert piped.run("chat", "--continue", "--conversation", str(CONVERSATION_ID), input="").exit_code == 2
    piped.bus.answers["citebus.v1.conversation.list.notes"] = ListReply(conversations=())
    assert "there is no conversation" in piped.run("chat", "--continue", input="").stderr


async def test_lines_of_a_pipe_come_as_they_are_written() -> None:
    there, here = os.pipe()
    with os.fdopen(there) as source:
        keyboard = open_keyboard(Console(file=io.StringIO()), Path("/nowhere"), source)
        os.write(here, "Grüße\r\nzwei".encode())
        assert await keyboard.line() == "Grüße"
        os.write(here, b"te")
        os.close(here)
        assert await keyboard.line() == "zweite"
        with pytest.raises(EOFError):
            await keyboard.line()


async def test_lines_of_a_file_are_read_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "questions").write_text("one\n\ntwo")
    with (tmp_path / "questions").open() as source:
        keyboard = open_keyboard(Console(file=io.StringIO()), tmp_path, source)
        assert [await keyboard.line() for _ in range(3)] == ["one", "", "two"]
        with pytest.raises(EOFError):
            await keyboard.line()
