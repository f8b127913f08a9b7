"""`citebus conversations costs|score`: what answers cost, and how faithful they are."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Annotated, NoReturn

import typer

from deploy.embedded.cli.conversation_work import print_json, with_vault
from deploy.embedded.cli.conversations_view import show_costs, show_scores
from deploy.embedded.cli.naming import conversation_named
from deploy.embedded.cli.options import AsJson, DataDir, VaultName
from deploy.embedded.cli.world import World
from deploy.embedded.client import BusClient
from shared.contracts.conversations import CostsRequest, ScoreRequest

Days = Annotated[int, typer.Option("--days", min=1, max=366, help="Days back from today (UTC).")]
OfConversation = Annotated[
    str | None, typer.Option("--conversation", metavar="CONVERSATION", show_default=False, help="Only of this one.")
]
Judge = Annotated[bool, typer.Option("--judge/--no-judge", help="Ask the model that the settings name as judge.")]
AtMost = Annotated[int, typer.Option("--limit", min=1, max=500, help="Answers at most.")]


def costs(  # noqa: PLR0913
    context: typer.Context,
    data_dir: DataDir,
    *,
    vault: VaultName = None,
    days: Days = 30,
    conversation: OfConversation = None,
    json_output: AsJson = False,
) -> NoReturn:
    """Sum tokens and costs by day (UTC). An unknown price is said, and never counted as 0.

    \b
    Examples:
      citebus conversations costs --days 7
      citebus conversations costs --conversation last --json

    Exit codes: 0 shown, 1 it did not work or there is no such conversation, 2 asked wrongly.
    """

    async def work(world: World, client: BusClient, vault_id: str) -> None:
        named = None if conversation is None else await conversation_named(client, vault_id, conversation)
        today: date = datetime.now(UTC).date()
        first = today - timedelta(days=days - 1)
        request = CostsRequest(first_day=first, last_day=today, conversation_id=named)
        reply = await client.conversations.costs(vault_id, request)
        print_json(world, reply) if json_output else show_costs(world.out, reply)

    with_vault(context, data_dir, vault, work)


def score(  # noqa: PLR0913
    context: typer.Context,
    data_dir: DataDir,
    *,
    vault: VaultName = None,
    conversation: OfConversation = None,
    limit: AtMost = 20,
    judge: Judge = True,
    json_output: AsJson = False,
) -> NoReturn:
    """Score how faithful stored answers are to their passages; what has a score is skipped.

    Without a judge in the settings (CITEBUS_CHAT_OPERATIONS) the support of the cited sentences is the score.

    \b
    Examples:
      citebus conversations score
      citebus conversations score --conversation last --no-judge --json

    Exit codes: 0 scored, 1 it did not work or there is no such conversation, 2 asked wrongly.
    """

    async def work(world: World, client: BusClient, vault_id: str) -> None:
        named = None if conversation is None else await conversation_named(client, vault_id, conversation)
        request = ScoreRequest(conversation_id=named, limit=limit, judge=judge)
        reply = await client.conversations.score(vault_id, request)
        print_json(world, reply) if json_output else show_scores(world.out, reply)

    with_vault(context, data_dir, vault, work)
