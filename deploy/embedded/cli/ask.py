"""`citebus ask`: one question, an answer that streams, and its sources."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NoReturn
from uuid import UUID

import typer

from deploy.embedded.cli.answer_json import answer_json, error_json
from deploy.embedded.cli.answer_view import cost_line
from deploy.embedded.cli.asking import Asking
from deploy.embedded.cli.chat_options import ConversationId, Manner, asks, one_vault
from deploy.embedded.cli.options import AsJson, DataDir, VaultName
from deploy.embedded.cli.search import catch_up
from deploy.embedded.cli.session import Session, folder_named, open_session
from deploy.embedded.cli.shown_answer import exit_code, shown_answer
from deploy.embedded.cli.world import FAILED, MISUSED, World, run
from shared.errors import CitebusError, InvalidInput

Question = Annotated[str, typer.Argument(metavar="QUESTION", help="A question, in quotes.")]


@asks
def ask(  # noqa: PLR0913  (one parameter per option of the command line)
    context: typer.Context,
    question: Question,
    data_dir: DataDir,
    *,
    vault: VaultName = None,
    conversation: ConversationId = None,
    manner: Manner,
    json_output: AsJson = False,
) -> NoReturn:
    """Ask a vault a question; the answer is shown as it is written, then the sources that its [n] stand for.

    Behind a source stands how its sentences are supported: quoted (word for word), supported (in substance), weak (in
    part), unsupported (not at all: don't rely on it). Without a provider in the settings the answer is made of the
    vault's own sentences, offline. Ctrl-C ends the answer on the server, too, and shows what there is.

    \b
    Examples:
      citebus ask "how deep may divers go"
      citebus ask "brake pads" --vault orveig --filter area=energy -v
      citebus ask "and in winter?" --conversation ID
      citebus ask "how deep may divers go" --json | jq -r '.citations[].place'

    Exit codes: 0 answered, 1 it did not work or the time was over, 2 asked wrongly, 3 the vault does not answer that,
    130 stopped with Ctrl-C.
    """
    one = OneQuestion(question, data_dir, vault, conversation, manner)
    run(context, one.told_as_json if json_output else one.shown)


@dataclass(frozen=True, slots=True)
class OneQuestion:
    """What to ask, and whom."""

    question: str
    data_dir: Path
    vault: str | None
    conversation_id: UUID | None
    manner: Manner

    async def shown(self, world: World) -> int:
        """Show the answer as it comes, then its sources, and return the exit code."""
        request = self.manner.request(self.question, conversation_id=self.conversation_id)
        async with self._asked(world) as (session, vault_id):
            answer = await shown_answer(world, session, vault_id, request)
        if self.manner.verbose and answer.end is not None:
            world.note(f"{cost_line(answer.end)} · conversation {answer.end.conversation_id}")
        return exit_code(answer)

    async def told_as_json(self, world: World) -> int:
        """Print the whole answer, or why there is none, as one JSON object, and return the exit code."""
        try:
            told, code = await self._told(world)
        except CitebusError as error:
            told, code = error_json(self.question, error), MISUSED if isinstance(error, InvalidInput) else FAILED
        world.out.out(json.dumps(told, ensure_ascii=False, indent=2), highlight=False)
        return code

    async def _told(self, world: World) -> tuple[dict[str, object], int]:
        request = self.manner.request(self.question, conversation_id=self.conversation_id, stream=False)
        async with self._asked(world) as (session, vault_id):
            answer = await Asking(session.client, vault_id, request, lambda event: None).finished()
        return answer_json(vault_id, request, answer), exit_code(answer)

    @asynccontextmanager
    async def _asked(self, world: World) -> AsyncGenerator[tuple[Session, str]]:
        """Yield a connection with the vault to ask, when that is up to date."""
        async with open_session(world, self.data_dir, folder_named(self.vault)) as session:
            vault_id = one_vault(session, self.vault)
            await catch_up(world, session, (vault_id,))
            yield session, vault_id
