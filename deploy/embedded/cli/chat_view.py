"""What `citebus chat` shows besides answers: its commands, and the passages behind a source."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from deploy.embedded.cli.answer import Source
from deploy.embedded.cli.hits import place
from deploy.embedded.cli.screen import on_one_line, printable, text_width, wrapped
from deploy.embedded.client import BusClient
from shared.contracts.search import Citation, ResolveReply, ResolveRequest

WELCOME = "vault {vault}: ask a question; /help lists the commands, Ctrl-D ends"

HELP = """\
/sources N     show the passages behind [N] of the last answer; without N, of all
/save [PATH]   make a wiki page of the last answer
/title NAME    give the conversation a title
/new           begin a new conversation
/help          this list
/quit          end; Ctrl-D does, too
Ctrl-C ends an answer that is being written. Everything else is a question."""

_INDENT = "    "

_BECAME = {
    "moved": "the passage has moved since",
    "changed": "the passage has changed since; it now says",
    "deleted": "the page is gone",
}


async def passages_of(client: BusClient, vault_id: str, source: Source) -> list[ResolveReply]:
    """Return what became of each passage of a source. Raises as BusClient.resolve does."""
    page_id = source.citation.ref.id
    return [
        await client.resolve(
            vault_id,
            ResolveRequest(page_id=page_id, chunk_id=passage.chunk_id, content_hash=passage.content_hash),
        )
        for passage in source.citation.passages
    ]


def show_passages(console: Console, source: Source, replies: list[ResolveReply]) -> None:
    """Print a source with its passages as they stand in the vault now, and what has changed since the answer."""
    citation: Citation = source.citation
    title = Text(f"[{citation.n}] ", style="bold cyan").append(printable(citation.ref.title), style="bold")
    console.print(title, soft_wrap=True)
    console.print(Text(_INDENT + on_one_line(place(citation)), style="dim"), soft_wrap=True)
    for reply in replies:
        if reply.state in _BECAME:
            now = f": {reply.path}" if reply.state == "moved" and reply.path else ""
            console.print(Text(printable(_INDENT + _BECAME[reply.state] + now), style="yellow"), soft_wrap=True)
        for line in wrapped(reply.text or "", text_width(console) - len(_INDENT)):
            console.print(_INDENT + line if line else "", soft_wrap=True)
