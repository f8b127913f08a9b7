"""`citebus conversations delete|share|unshare`: what changes who may read a conversation, or ends it."""

from __future__ import annotations

from typing import Annotated, NoReturn
from uuid import UUID

import typer

from deploy.embedded.cli.conversation_work import print_json, with_vault
from deploy.embedded.cli.conversations_view import show_conversation
from deploy.embedded.cli.naming import ConversationName, conversation_named
from deploy.embedded.cli.options import AsJson, DataDir, VaultName
from deploy.embedded.cli.screen import printable
from deploy.embedded.cli.world import FAILED, World, world_of
from deploy.embedded.client import BusClient
from shared.contracts.conversations import DeleteRequest, SharedRequest, ShareRequest, UnshareRequest

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
ShareId = Annotated[
    UUID | None, typer.Option("--share", metavar="ID", show_default=False, help="Only this share. Default: all.")
]
Token = Annotated[str, typer.Argument(metavar="TOKEN", help="What citebus conversations share printed.")]


def delete(  # noqa: PLR0913  (one parameter per option of the command line)
    context: typer.Context,
    conversation: ConversationName,
    data_dir: DataDir,
    *,
    vault: VaultName = None,
    yes: Yes = False,
    json_output: AsJson = False,
) -> NoReturn:
    """Delete a conversation with its messages, scores and shares, for good. Asks before, unless --yes.

    \b
    Examples:
      citebus conversations delete 3f9a21c0
      citebus conversations delete last --yes

    Exit codes: 0 deleted, 1 you said no, it did not work or there is no such conversation, 2 asked wrongly.
    """
    if not (yes or world_of(context).agreed(f"Delete the conversation {conversation} for good?")):
        raise typer.Exit(FAILED)

    async def work(world: World, client: BusClient, vault_id: str) -> None:
        named = await conversation_named(client, vault_id, conversation)
        reply = await client.conversations.delete(vault_id, DeleteRequest(conversation_id=named))
        if json_output:
            print_json(world, reply)
        else:
            world.note(f"deleted {named}")

    with_vault(context, data_dir, vault, work)


def share(
    context: typer.Context,
    conversation: ConversationName,
    data_dir: DataDir,
    *,
    vault: VaultName = None,
    json_output: AsJson = False,
) -> NoReturn:
    """Make a token with which anyone on the bus may read the conversation, and nothing else. It is shown once.

    \b
    Examples:
      citebus conversations share last
      citebus conversations read TOKEN

    Exit codes: 0 shared, 1 it did not work or there is no such conversation, 2 asked wrongly.
    """

    async def work(world: World, client: BusClient, vault_id: str) -> None:
        named = await conversation_named(client, vault_id, conversation)
        reply = await client.conversations.share(vault_id, ShareRequest(conversation_id=named))
        if json_output:
            print_json(world, reply)
        else:
            world.out.print(printable(reply.token), soft_wrap=True)
            world.note(f"to revoke it: citebus conversations unshare {named} --share {reply.share_id}")

    with_vault(context, data_dir, vault, work)


def unshare(  # noqa: PLR0913
    context: typer.Context,
    conversation: ConversationName,
    data_dir: DataDir,
    *,
    vault: VaultName = None,
    share: ShareId = None,
    json_output: AsJson = False,
) -> NoReturn:
    """Revoke one share of a conversation, or all of them.

    \b
    Examples:
      citebus conversations unshare last

    Exit codes: 0 revoked, 1 it did not work or there is no such conversation, 2 asked wrongly.
    """

    async def work(world: World, client: BusClient, vault_id: str) -> None:
        named = await conversation_named(client, vault_id, conversation)
        reply = await client.conversations.unshare(vault_id, UnshareRequest(conversation_id=named, share_id=share))
        if json_output:
            print_json(world, reply)
        else:
            world.note(f"{reply.revoked} shares revoked")

    with_vault(context, data_dir, vault, work)


def read(
    context: typer.Context,
    token: Token,
    data_dir: DataDir,
    *,
    vault: VaultName = None,
    json_output: AsJson = False,
) -> NoReturn:
    """Read a conversation that somebody shared.

    \b
    Examples:
      citebus conversations read TOKEN

    Exit codes: 0 shown, 1 it did not work or there is no such conversation, 2 asked wrongly.
    """

    async def work(world: World, client: BusClient, vault_id: str) -> None:
        reply = await client.conversations.shared(vault_id, SharedRequest(token=token, limit=100))
        if json_output:
            print_json(world, reply)
            return
        show_conversation(world.out, reply.conversation, reply.turns)
        if reply.next_cursor is not None:
            world.note("there is more than this")

    with_vault(context, data_dir, vault, work)
