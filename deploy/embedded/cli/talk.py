"""A talk: lines in, questions asked one after another in a conversation, commands that begin with a slash."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from uuid import UUID

from deploy.embedded.cli.answer import Answer
from deploy.embedded.cli.answer_view import cost_line
from deploy.embedded.cli.chat_options import Manner
from deploy.embedded.cli.chat_view import HELP, WELCOME, passages_of, show_passages
from deploy.embedded.cli.keyboard import Keyboard
from deploy.embedded.cli.screen import on_one_line, printable
from deploy.embedded.cli.session import Session
from deploy.embedded.cli.shown_answer import shown_answer
from deploy.embedded.cli.world import DONE, FAILED, INTERRUPTED, World
from shared.contracts.chat import ChatRequest
from shared.contracts.conversations import RenameRequest, SaveRequest
from shared.contracts.stored_turns import ConversationSummary
from shared.errors import CitebusError, InvalidInput

_COMMAND = re.compile(r"/([a-z]+)(?:\s+(.*))?")


@dataclass(slots=True)
class Talk:
    """One run of `citebus chat`."""

    world: World
    session: Session
    vault_id: str
    manner: Manner
    conversation: ConversationSummary | None = None
    """The one to go on with."""
    last: tuple[ChatRequest, Answer] | None = None
    """Latest question and its answer."""
    _conversation_id: UUID | None = field(default=None, init=False)
    _failed: bool = field(default=False, init=False)
    _ended: bool = field(default=False, init=False)
    _interrupted: bool = field(default=False, init=False)
    """Ctrl-C where nobody is at the prompt: it ends the talk, not only the answer."""

    async def held(self, keyboard: Keyboard) -> int:
        """Talk until the lines end; return the exit code."""
        self._welcome()
        pressed = False
        while not self._ended:
            try:
                line = (await keyboard.line()).strip()
            except EOFError:
                break
            except KeyboardInterrupt:
                if pressed:
                    return INTERRUPTED
                pressed = True
                self.world.note("Ctrl-C again, or Ctrl-D, ends the talk")
                continue
            pressed = False
            await self._take(line)
        if self._interrupted:
            return INTERRUPTED
        return FAILED if self._failed and not self._interactive else DONE

    @property
    def _interactive(self) -> bool:
        return self.world.out.is_terminal

    def _welcome(self) -> None:
        if self.conversation is not None:
            self._conversation_id = self.conversation.conversation_id
            self.world.note(f"going on with “{self.conversation.title}”, {self.conversation.turns} questions so far")
        if self._interactive:
            self.world.note(WELCOME.format(vault=self.vault_id))

    async def _take(self, line: str) -> None:
        """Do what a line says; what goes wrong is said, and the talk goes on."""
        if not line:
            return
        command = _COMMAND.fullmatch(line)
        try:
            if command is None:
                await self._ask(line)
            else:
                await self._obey(command[1], (command[2] or "").strip())
        except CitebusError as error:
            self._failed = True
            self.world.complain(str(error))

    async def _ask(self, question: str) -> None:
        if not self._interactive:
            self.world.out.print(printable(f"> {question}"), soft_wrap=True)
        request = self.manner.request(question, conversation_id=self._conversation_id)
        answer = await shown_answer(self.world, self.session, self.vault_id, request)
        self.last = request, answer
        self._failed = self._failed or answer.state in ("failed", "cancelled")
        self._interrupted = answer.interrupted and not self._interactive
        self._ended = self._interrupted
        if answer.end is not None:
            self._conversation_id = answer.end.conversation_id
            if self.manner.verbose:
                self.world.note(cost_line(answer.end))
        self.world.out.print()

    async def _obey(self, name: str, rest: str) -> None:
        commands: dict[str, Callable[[str], Awaitable[None]]] = {
            "sources": self._sources,
            "save": self._save,
            "title": self._title,
            "new": self._new,
            "help": self._help,
            "quit": self._quit,
        }
        if name not in commands:
            raise InvalidInput(f"there is no command /{name}; /help lists them")
        await commands[name](rest)

    async def _sources(self, number: str) -> None:
        if self.last is None:
            raise InvalidInput("there is no answer yet whose sources could be shown")
        sources = self.last[1].sources
        chosen = [source for source in sources if not number or str(source.citation.n) == number.strip("[]")]
        if not chosen:
            known = ", ".join(f"[{source.citation.n}]" for source in sources) or "nothing"
            raise InvalidInput(f"the last answer cites {known}: /sources N shows one of them")
        for source in chosen:
            show_passages(self.world.out, source, await passages_of(self.session.client, self.vault_id, source))

    async def _save(self, path: str) -> None:
        if self.last is None:
            raise InvalidInput("there is no answer yet that could be saved")
        request = SaveRequest(turn_id=self.last[0].turn_id, path=path or None)
        reply = await self.session.client.conversations.save(self.vault_id, request)
        self.world.out.print(on_one_line(f"{reply.outcome}: {reply.path}"), soft_wrap=True)

    async def _title(self, title: str) -> None:
        if self._conversation_id is None:
            raise InvalidInput("the conversation begins with the first question; then it can have a title")
        if not title or len(title) > 200:
            raise InvalidInput("a title has 1 to 200 characters: /title What we know of brake pads")
        request = RenameRequest(conversation_id=self._conversation_id, title=title)
        reply = await self.session.client.conversations.rename(self.vault_id, request)
        self.world.note(f"the conversation is now “{reply.conversation.title}”")

    async def _new(self, _: str) -> None:
        self._conversation_id = self.last = None
        self.world.note("a new conversation begins with the next question")

    async def _help(self, _: str) -> None:
        self.world.out.print(HELP, soft_wrap=True)

    async def _quit(self, _: str) -> None:
        self._ended = True
