"""`citebus conversations`: what was asked and answered before."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, NoReturn

import typer

from deploy.embedded.cli.conversation_work import print_json, with_vault
from deploy.embedded.cli.conversations_view import show_conversation, show_hits, show_list
from deploy.embedded.cli.naming import ConversationName, conversation_named
from deploy.embedded.cli.options import AsJson, DataDir, VaultName
from deploy.embedded.cli.world import World
from deploy.embedded.client import BusClient
from shared.contracts.conversations import (
    ConversationSearchRequest,
    ExportRequest,
    ListRequest,
    RenameRequest,
)
from shared.errors import InvalidInput

Limit = Annotated[int, typer.Option("--limit", min=1, max=200, help="Conversations at most.")]
Cursor = Annotated[
    str | None, typer.Option("--cursor", show_default=False, help="next_cursor of the list before, to go on.")
]
Words = Annotated[str, typer.Argument(metavar="WORDS", help="All of them must stand in one message.")]
Title = Annotated[str, typer.Argument(metavar="TITLE", help="1 to 200 characters.")]
Format = Annotated[
    Literal["markdown", "json"], typer.Option("--format", help="markdown: citations as footnotes; json: all there is.")
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", dir_okay=False, show_default=False, help="A new file. Default: standard output."),
]


def list_conversations(  # noqa: PLR0913  (one parameter per option of the command line)
    context: typer.Context,
    data_dir: DataDir,
    *,
    vault: VaultName = None,
    limit: Limit = 20,
    cursor: Cursor = None,
    json_output: AsJson = False,
) -> NoReturn:
    """List conversations, the one with the latest question first.

    \b
    Examples:
      citebus conversations list
      citebus conversations list --json | jq -r '.conversations[].conversation_id'

    Exit codes: 0 listed, 1 it did not work or there is no such conversation, 2 asked wrongly.
    """

    async def work(world: World, client: BusClient, vault_id: str) -> None:
        reply = await client.conversations.list(vault_id, ListRequest(limit=limit, cursor=cursor))
        print_json(world, reply) if json_output else show_list(world.out, reply)

    with_vault(context, data_dir, vault, work)


def show(
    context: typer.Context,
    conversation: ConversationName,
    data_dir: DataDir,
    *,
    vault: VaultName = None,
    json_output: AsJson = False,
) -> NoReturn:
    """Show a conversation word for word, with sources, support, tokens and costs.

    \b
    Examples:
      citebus conversations show last
      citebus conversations show 3f9a21c0 --json

    Exit codes: 0 shown, 1 it did not work or there is no such conversation, 2 asked wrongly.
    """

    async def work(world: World, client: BusClient, vault_id: str) -> None:
        named = await conversation_named(client, vault_id, conversation)
        summary, turns = await client.conversations.whole(vault_id, named)
        if json_output:
            listed = [turn.model_dump(mode="json") for turn in turns]
            print_json(world, {"conversation": summary.model_dump(mode="json"), "turns": listed})
        else:
            show_conversation(world.out, summary, turns)

    with_vault(context, data_dir, vault, work)


def search_conversations(
    context: typer.Context,
    words: Words,
    data_dir: DataDir,
    *,
    vault: VaultName = None,
    json_output: AsJson = False,
) -> NoReturn:
    """Find questions and answers by their words.

    \b
    Examples:
      citebus conversations search "brake pads"

    Exit codes: 0 searched, also when nothing was found, 1 it did not work, 2 asked wrongly.
    """

    async def work(world: World, client: BusClient, vault_id: str) -> None:
        if not 0 < len(words.strip()) <= 1000:
            raise InvalidInput("give 1 to 1,000 characters to search for")
        reply = await client.conversations.search(vault_id, ConversationSearchRequest(query=words))
        print_json(world, reply) if json_output else show_hits(world.out, reply.hits)

    with_vault(context, data_dir, vault, work)


def rename(  # noqa: PLR0913
    context: typer.Context,
    conversation: ConversationName,
    title: Title,
    data_dir: DataDir,
    *,
    vault: VaultName = None,
    json_output: AsJson = False,
) -> NoReturn:
    """Give a conversation another title.

    \b
    Examples:
      citebus conversations rename last "What we know of brake pads"

    Exit codes: 0 renamed, 1 it did not work or there is no such conversation, 2 asked wrongly.
    """

    async def work(world: World, client: BusClient, vault_id: str) -> None:
        if not 0 < len(title.strip()) <= 200:
            raise InvalidInput("a title has 1 to 200 characters")
        named = await conversation_named(client, vault_id, conversation)
        reply = await client.conversations.rename(vault_id, RenameRequest(conversation_id=named, title=title))
        if json_output:
            print_json(world, reply)
        else:
            world.note(f"the conversation is now “{reply.conversation.title}”")

    with_vault(context, data_dir, vault, work)


def export(  # noqa: PLR0913
    context: typer.Context,
    conversation: ConversationName,
    data_dir: DataDir,
    *,
    vault: VaultName = None,
    format: Format = "markdown",
    output: Output = None,
    json_output: AsJson = False,
) -> NoReturn:
    """Write a conversation down as one document. An existing file is never overwritten.

    \b
    Examples:
      citebus conversations export last > talk.md
      citebus conversations export 3f9a21c0 --format json -o talk.json

    Exit codes: 0 written, 1 it did not work or there is no such conversation, 2 asked wrongly.
    """

    async def work(world: World, client: BusClient, vault_id: str) -> None:
        named = await conversation_named(client, vault_id, conversation)
        kind: Literal["markdown", "json"] = "json" if json_output else format
        reply = await client.conversations.export(vault_id, ExportRequest(conversation_id=named, format=kind))
        if output is None:
            world.out.out(reply.text.rstrip("\n"), highlight=False)
        else:
            _write_new(output, reply.text)
            world.note(f"written to {output}")

    with_vault(context, data_dir, vault, work)


def _write_new(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise InvalidInput(f"cannot write {path}: {error.strerror}; name a new file") from error
