"""`citebus chat`: a conversation with a vault."""

from __future__ import annotations

from typing import Annotated, NoReturn
from uuid import UUID

import typer

from deploy.embedded.cli.chat_options import ConversationId, Manner, asks, one_vault
from deploy.embedded.cli.keyboard import open_keyboard
from deploy.embedded.cli.options import DataDir, VaultName
from deploy.embedded.cli.search import catch_up
from deploy.embedded.cli.session import folder_named, open_session
from deploy.embedded.cli.talk import Talk
from deploy.embedded.cli.world import World, run
from deploy.embedded.client import BusClient
from shared.contracts.conversations import GetRequest, ListRequest
from shared.contracts.stored_turns import ConversationSummary
from shared.errors import InvalidInput, NotFound

Continue = Annotated[bool, typer.Option("--continue", "-c", help="Go on with the latest conversation.")]


@asks
def chat(  # noqa: PLR0913  (one parameter per option of the command line)
    context: typer.Context,
    data_dir: DataDir,
    *,
    vault: VaultName = None,
    conversation: ConversationId = None,
    go_on: Continue = False,
    manner: Manner,
) -> NoReturn:
    """Talk with a vault: answers stream, follow-up questions know what was said, everything is kept.

    Commands: /sources N shows the passages behind [N], /save makes a wiki page of the answer, /title NAME, /new, /help,
    /quit. Ctrl-C ends a running answer; at the prompt, Ctrl-C twice or Ctrl-D ends the talk. In a pipe every line is a
    question.

    \b
    Examples:
      citebus chat
      citebus chat --continue
      citebus chat --vault orveig --provider extractive
      printf 'How deep may divers go?\\nAnd how many at once?\\n' | citebus chat

    Exit codes: 0 ended, 1 it did not work (in a pipe: some question had no answer), 2 asked wrongly, 130 stopped with
    Ctrl-C.
    """

    async def work(world: World) -> int:
        if conversation is not None and go_on:
            raise InvalidInput("--conversation and --continue both say which conversation: give one of them")
        async with open_session(world, data_dir, folder_named(vault)) as session:
            vault_id = one_vault(session, vault)
            await catch_up(world, session, (vault_id,))
            found = await _conversation(session.client, vault_id, conversation, go_on)
            return await Talk(world, session, vault_id, manner, found).held(open_keyboard(world.out, data_dir))

    run(context, work)


async def _conversation(
    client: BusClient, vault_id: str, named: UUID | None, latest: bool
) -> ConversationSummary | None:
    """Return the conversation to go on with; None for a new one. Raises NotFound when it is not there."""
    if named is not None:
        reply = await client.conversations.get(vault_id, GetRequest(conversation_id=named, limit=1))
        return reply.conversation
    if not latest:
        return None
    listed = await client.conversations.list(vault_id, ListRequest(limit=1))
    if not listed.conversations:
        raise NotFound(f"there is no conversation in vault {vault_id} yet: leave out --continue")
    return listed.conversations[0]
