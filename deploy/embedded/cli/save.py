"""`citebus save`: a stored answer becomes a page of the wiki."""

from __future__ import annotations

from typing import Annotated, NoReturn
from uuid import UUID

import typer

from deploy.embedded.cli.conversation_work import print_json, with_vault
from deploy.embedded.cli.naming import conversation_named
from deploy.embedded.cli.options import AsJson, DataDir, VaultName
from deploy.embedded.cli.screen import on_one_line
from deploy.embedded.cli.world import World
from deploy.embedded.client import BusClient
from shared.contracts.conversations import SaveRequest
from shared.contracts.saving import SaveTextReply
from shared.errors import InvalidInput, NotFound

Which = Annotated[
    str,
    typer.Argument(metavar="ANSWER", help="Id of a turn, or a conversation (id, first digits, last): its last answer."),
]
PagePath = Annotated[
    str | None, typer.Option("--path", show_default=False, help="Below wiki/, ending in .md. Default: from the title.")
]
PageTitle = Annotated[str | None, typer.Option("--title", show_default=False, help="Default: the question.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a page that was saved in this way before.")]


def save(  # noqa: PLR0913  (one parameter per option of the command line)
    context: typer.Context,
    answer: Which,
    data_dir: DataDir,
    *,
    vault: VaultName = None,
    path: PagePath = None,
    title: PageTitle = None,
    overwrite: Overwrite = False,
    json_output: AsJson = False,
) -> NoReturn:
    """Save an answer to the wiki: a page of the vault with question, sources and footnotes, indexed like any other.

    A page that was not saved in this way is never touched.

    \b
    Examples:
      citebus save last
      citebus save 3f9a21c0 --title "Brake pads" --path wiki/queries/brake-pads.md

    Exit codes: 0 saved, also when it was before, 1 it did not work, 2 asked wrongly.
    """

    async def work(world: World, client: BusClient, vault_id: str) -> None:
        reply = await _saved(client, vault_id, answer, {"path": path, "title": title, "overwrite": overwrite})
        if json_output:
            print_json(world, reply)
        else:
            world.out.print(on_one_line(f"{reply.outcome}: {reply.path}"), soft_wrap=True)

    with_vault(context, data_dir, vault, work)


async def _saved(client: BusClient, vault_id: str, name: str, more: dict[str, object]) -> SaveTextReply:
    """Save the turn of this id, else the last answer of the conversation that is meant."""
    turn_id = _uuid(name)
    if turn_id is not None:
        try:
            return await client.conversations.save(vault_id, _request(turn_id, more))
        except NotFound:
            pass  # no turn: is it a conversation?
    conversation_id = await conversation_named(client, vault_id, name)
    _, turns = await client.conversations.whole(vault_id, conversation_id)
    answered = [turn.turn_id for turn in turns if turn.answer.state == "done"]
    if not answered:
        raise InvalidInput(f"conversation {conversation_id} has no whole answer that could be saved")
    return await client.conversations.save(vault_id, _request(answered[-1], more))


def _request(turn_id: UUID, more: dict[str, object]) -> SaveRequest:
    return SaveRequest.model_validate({"turn_id": turn_id, **more})


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
