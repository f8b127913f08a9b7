"""`citebus search`: asks one vault, or all known ones at once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, NoReturn

import typer

from deploy.embedded.cli.filters import parse_filters
from deploy.embedded.cli.hits import merged
from deploy.embedded.cli.options import AsJson, DataDir, VaultName
from deploy.embedded.cli.progress import follow, shown_progress
from deploy.embedded.cli.requests import request_of
from deploy.embedded.cli.search_view import as_json, show_replies
from deploy.embedded.cli.session import Session, chosen_vaults, folder_named, open_session
from deploy.embedded.cli.world import DONE, FAILED, World, run
from shared.contracts.search import SearchReply, SearchRequest
from shared.errors import CitebusError

_GLANCE_S = 0.5
"""For a look at how far ingest is, beside what was asked for."""

Query = Annotated[str, typer.Argument(metavar="QUERY", help="A question or some words, in quotes.")]
Limit = Annotated[int, typer.Option("--k", min=1, max=50, help="Chunks to search for.")]
Filters = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        metavar="CONDITION",
        show_default=False,
        help="Only pages with this; repeatable: area=ops,lab area!=ops confidence>=0.5 last_verified<2025-01-01 "
        "path=wiki/* level? !level?, in quotes.",
    ),
]
FilterJson = Annotated[
    str | None,
    typer.Option(
        "--filter-json",
        metavar="JSON",
        show_default=False,
        help='Such as {"or": [{"area": "ops"}, {"level": {"gte": 2}}]}.',
    ),
]
Profile = Annotated[str | None, typer.Option("--profile", show_default=False, help="Name of a retrieval profile.")]
DeadlineMs = Annotated[int, typer.Option("--deadline-ms", min=1, max=60_000, help="Time that the search may take.")]
Full = Annotated[bool, typer.Option("--full", help="Show passages whole.")]


def search(  # noqa: PLR0913  (one parameter per option of the command line)
    context: typer.Context,
    query: Query,
    data_dir: DataDir,
    *,
    vault: VaultName = None,
    k: Limit = 8,
    filters: Filters = None,
    filter_json: FilterJson = None,
    profile: Profile = None,
    deadline_ms: DeadlineMs = 2_000,
    full: Full = False,
    json_output: AsJson = False,
) -> NoReturn:
    """Search a vault and show the passages that answer, with where they stand.

    Asks the vault around the current folder, else all, and merges their hits by similarity; starts a stack if need be.

    \b
    Examples:
      citebus search "how deep may divers go"
      citebus search "brake pads" --vault orveig --k 3 --filter area=energy --filter "last_verified>=2025-01-01"
      citebus search "brake pads" --json | jq -r '.hits[].place'

    Exit codes: 0 searched (also when nothing was found), 1 a vault did not answer, 2 asked wrongly.
    """

    async def work(world: World) -> int:
        request = _request(query, (filters or (), filter_json), k=k, profile=profile, deadline_ms=deadline_ms)
        async with open_session(world, data_dir, folder_named(vault)) as session:
            vaults = chosen_vaults(session, vault)
            await catch_up(world, session, vaults)
            replies, failures = await _ask_all(session, vaults, request)
        if json_output:
            world.out.out(as_json(query, merged(replies), replies), highlight=False)
        else:
            show_replies(world.out, replies, name_vault=len(vaults) > 1, full=full)
        return _tell_failures(world, failures)

    run(context, work)


def _request(query: str, only: tuple[Sequence[str], str | None], **more: object) -> SearchRequest:
    return request_of(SearchRequest, {"query": query, "filters": parse_filters(*only), **more})


async def catch_up(world: World, session: Session, vaults: Sequence[str]) -> None:
    """Wait for what changed while no stack ran, when one was started just now; else say what is still under way."""
    if not session.temporary:
        await asyncio.gather(*(_tell_if_behind(world, session, vault_id) for vault_id in vaults))
        return
    with shown_progress(world.err) as show:
        for vault_id in vaults:
            await session.client.sync(vault_id)
            await follow(session.client, vault_id, "searchable", world.pace, show)


async def _tell_if_behind(world: World, session: Session, vault_id: str) -> None:
    """Say on stderr that not all of a vault can be found yet; nothing when that can't be told at once."""
    try:
        async with asyncio.timeout(_GLANCE_S):
            status = await session.client.status(vault_id)
    except (CitebusError, TimeoutError):
        return
    if status.files_lag:
        world.note(f"vault {vault_id} is still being read, {status.files_lag:,} changes wait: not all can be found yet")
    elif status.embedded_chunks < status.chunks:
        done = f"{status.embedded_chunks:,} of {status.chunks:,}"
        world.note(f"vault {vault_id}: {done} chunks can be found by meaning yet, the others by their words")


async def _ask_all(
    session: Session, vaults: Sequence[str], request: SearchRequest
) -> tuple[dict[str, SearchReply], Mapping[str, CitebusError]]:
    """Return the replies and the failures by vault; when every vault failed, raise the first failure."""
    outcomes = await asyncio.gather(*(_outcome(session, vault_id, request) for vault_id in vaults))
    by_vault = dict(zip(vaults, outcomes, strict=True))
    replies = {vault_id: outcome for vault_id, outcome in by_vault.items() if isinstance(outcome, SearchReply)}
    failures = {vault_id: outcome for vault_id, outcome in by_vault.items() if isinstance(outcome, CitebusError)}
    if not replies:
        raise next(iter(failures.values()))
    return replies, failures


def _tell_failures(world: World, failures: Mapping[str, CitebusError]) -> int:
    for vault_id, failure in failures.items():
        world.complain(f"vault {vault_id}: {failure}")
    return FAILED if failures else DONE


async def _outcome(session: Session, vault_id: str, request: SearchRequest) -> SearchReply | CitebusError:
    try:
        return await session.client.search(vault_id, request)
    except CitebusError as error:
        return error
