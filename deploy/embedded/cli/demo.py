"""`citebus demo`: everything from nothing: a sample vault, the whole stack, a search, a cited answer, a refusal."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from deploy.embedded.cli.answer_view import how_it_ended
from deploy.embedded.cli.asking import Asking
from deploy.embedded.cli.chat_options import Manner
from deploy.embedded.cli.hits import merged
from deploy.embedded.cli.ingest import bring_up_to_date, show_outcome
from deploy.embedded.cli.screen import printable
from deploy.embedded.cli.search_view import show_footer, show_hits
from deploy.embedded.cli.session import Session, open_session
from deploy.embedded.cli.shown_answer import shown_answer
from deploy.embedded.cli.world import DONE, FAILED, World, run
from deploy.embedded.state import DATA_DIR_VARIABLE
from shared.contracts.chat import ChatRequest
from shared.contracts.search import SearchRequest

SAMPLE_VAULT = Path(__file__).parents[1] / "sample_vault"

QUESTION = "How often are oxygen optodes calibrated?"

UNANSWERABLE = "Who won the football world cup of 1990?"
"""Nothing in the sample vault bears on it."""

_SHOWN_HITS = 3

_CONTEXT_WINDOW = 12_000  # a fifth of it is the budget: a few passages, of which the best are shown

DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data-dir",
        show_default=False,
        resolve_path=True,
        file_okay=False,
        help=f"Keep vault and state in this folder. Default: a temporary one, removed at the end ({DATA_DIR_VARIABLE} "
        "does not count here).",
    ),
]


def demo(
    context: typer.Context, question: Annotated[str, typer.Argument()] = QUESTION, data_dir: DataDir = None
) -> NoReturn:
    """Try citebus on a sample vault: start everything, ingest, search, ask, and show a cited answer and a refusal.

    Works offline: the answer is made of the vault's own sentences.

    \b
    Examples:
      citebus demo
      citebus demo "Why was the bloom of 2024 noticed so late?"
      citebus demo --data-dir ./demo      # keep it, to look around

    Exit codes: 0 answered, 1 there was no answer or it did not work.
    """

    async def work(world: World) -> int:
        with _place(data_dir) as folder:
            vault = await asyncio.to_thread(_copy_sample, folder)
            world.note(f"a sample vault of {sum(1 for _ in vault.rglob('*.md'))} pages lies in {vault}")
            async with open_session(world, folder / "data", (vault,)) as session:
                found = await _search(world, session, question)
                answered = await _ask(world, session, question)
            _how_to_go_on(world, folder if data_dir else None)
        return DONE if found and answered else FAILED

    run(context, work)


@contextmanager
def _place(data_dir: Path | None) -> Generator[Path]:
    if data_dir is not None:
        data_dir.mkdir(parents=True, exist_ok=True)
        yield data_dir
        return
    with tempfile.TemporaryDirectory(prefix="citebus-demo-", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o711)  # as root, Postgres runs as another user, who has to pass through
        yield Path(name)


def _copy_sample(folder: Path) -> Path:
    vault = folder / "orveig"
    shutil.copytree(SAMPLE_VAULT, vault, dirs_exist_ok=True)
    return vault


async def _search(world: World, session: Session, question: str) -> bool:
    (vault_id,) = session.vaults
    sync, status = await bring_up_to_date(world, session, vault_id)
    show_outcome(world.out, sync, status)
    request = SearchRequest(query=question, k=4, expansion_depth=1, context_window=_CONTEXT_WINDOW)
    replies = {vault_id: await session.client.search(vault_id, request)}
    hits = merged(replies)
    _headline(world, f'citebus search "{question}"')
    show_hits(world.out, hits[:_SHOWN_HITS], name_vault=False)
    show_footer(world.out, replies)
    return bool(hits)


async def _ask(world: World, session: Session, question: str) -> bool:
    """Ask the question, then one that the vault cannot answer; tell whether both ended as they should."""
    (vault_id,) = session.vaults
    _headline(world, f'citebus ask "{question}"')
    answer = await shown_answer(world, session, vault_id, _request(question))
    refusal = await Asking(session.client, vault_id, _request(UNANSWERABLE), lambda event: None).finished()
    _headline(world, f'citebus ask "{UNANSWERABLE}"')
    world.out.print(printable(refusal.text or how_it_ended(refusal.end)), soft_wrap=True)
    return (answer.state, refusal.state) == ("done", "refused")


def _request(question: str) -> ChatRequest:
    return Manner(provider="extractive").request(question)


def _headline(world: World, command: str) -> None:
    world.out.print(f"\n{printable(command)}\n", style="bold", soft_wrap=True)


def _how_to_go_on(world: World, kept: Path | None) -> None:
    lines = [
        "",
        "Try your own notes:",
        "  citebus up ~/notes",
        '  citebus ask "your question"   (in another terminal; citebus chat asks on)',
    ]
    if kept is not None:
        lines += ["Or look around in the sample:", f"  citebus up {kept / 'orveig'} --data-dir {kept / 'data'}"]
    world.out.print("\n".join(lines), soft_wrap=True)
