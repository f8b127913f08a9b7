"""Search replies for people, and as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.text import Text

from deploy.embedded.cli.excerpt import excerpt
from deploy.embedded.cli.hits import Hit, merged, place
from deploy.embedded.cli.screen import on_one_line, printable, text_width, wrapped
from shared.contracts.search import Citation, SearchReply, Staleness

SHOWN_LINES = 12
"""Lines of a passage that are shown unless all are asked for, those nearest to the question: eight hits, two pages."""

_INDENT = "    "


def show_replies(console: Console, replies: Mapping[str, SearchReply], *, name_vault: bool, full: bool) -> None:
    """Print the hits of all replies as one list, then counts and timings per vault."""
    show_hits(console, merged(replies), name_vault=name_vault, full=full)
    show_footer(console, replies)


def show_hits(console: Console, hits: Sequence[Hit], *, name_vault: bool, full: bool = False) -> None:
    """Print each hit: rank and title, where it stands, how near it is, and its passage."""
    for rank, hit in enumerate(hits, start=1):
        console.print(_title(rank, hit, name_vault), soft_wrap=True)
        console.print(Text(_INDENT + _about(hit), style="dim"), soft_wrap=True)
        if hit.citation.stale is not None:
            console.print(Text(_INDENT + older(hit.citation.stale), style="yellow"), soft_wrap=True)
        for line in _passage(hit, text_width(console) - len(_INDENT), full):
            console.print(_INDENT + line if line else "", soft_wrap=True)
        console.print()


def show_footer(console: Console, replies: Mapping[str, SearchReply]) -> None:
    """Print counts and timings per vault, and whatever made a reply less than whole."""
    for vault_id, reply in sorted(replies.items()):
        console.print(Text(f"{vault_id}: {_counts(reply)}", style="dim"), soft_wrap=True)
        for note in _notes(reply):
            console.print(Text(f"{vault_id}: {printable(note)}", style="yellow"), soft_wrap=True)


def as_json(query: str, hits: Sequence[Hit], replies: Mapping[str, SearchReply]) -> str:
    """Return `{query, hits, replies}`: hits in the order shown, replies by vault id as the services sent them."""
    listed = [
        {"vault": hit.vault_id, "place": place(hit.citation), "text": hit.text, **hit.citation.model_dump(mode="json")}
        for hit in hits
    ]
    whole = {vault_id: reply.model_dump(mode="json") for vault_id, reply in sorted(replies.items())}
    return json.dumps({"query": query, "hits": listed, "replies": whole}, ensure_ascii=False, indent=2)


def _title(rank: int, hit: Hit, name_vault: bool) -> Text:
    title = Text(f"{f'[{rank}] ':<{len(_INDENT)}}", style="bold cyan")
    title.append(printable(hit.citation.ref.title), style="bold")
    if name_vault:
        title.append(f"  ({hit.vault_id})", style="magenta")
    return title


def _about(hit: Hit) -> str:
    citation = hit.citation
    headings = " > ".join(citation.passages[0].heading_path) if citation.passages else ""
    near = "lexical only" if citation.similarity is None else f"similarity {citation.similarity:.2f}"
    found = "" if citation.phase == "vector" else _linked_from(citation)
    parts = (place(citation), headings, near, f"score {citation.score:.3f}", found)
    return printable(" · ".join(part for part in parts if part))


def _linked_from(citation: Citation) -> str:
    return "found over links" if citation.via is None else f"linked from {citation.via.title}"


def older(stale: Staleness) -> str:
    """Return in words which source a page is older than."""
    day = f"file of {stale.source_date}" if stale.by_file_time else str(stale.source_date)
    return on_one_line(f"older than its source {stale.source_path} ({day}); last verified or changed {stale.page_date}")


def _passage(hit: Hit, width: int, full: bool) -> list[str]:
    lines = wrapped(hit.text, width)
    if full or len(lines) <= SHOWN_LINES + 1:
        return lines
    shown = excerpt(lines, hit.query, SHOWN_LINES)
    above = ["…"] if shown.start else []
    return [*above, *(lines[index] for index in shown), f"… {len(lines) - SHOWN_LINES} more lines (--full shows them)"]


def _counts(reply: SearchReply) -> str:
    times = reply.timings_ms
    linked = sum(citation.phase != "vector" for citation in reply.citations)
    seeds = len(reply.citations) - linked
    found = f"{seeds} passage{'' if seeds == 1 else 's'} found" if reply.citations else "nothing found"
    found += f", {linked} more on pages that these are linked with" if linked else ""
    phases = f"embed {times.embed:.0f}, search {times.search:.0f}, links {times.expansion:.0f}"
    return (
        f"{found} · {reply.approx_tokens:,} of {reply.token_budget:,} tokens · {times.total:.0f} ms ({phases}) · "
        f"{reply.retriever}"
    )


def _notes(reply: SearchReply) -> list[str]:
    notes = []
    if reply.truncated:
        notes.append("the deadline cut the search short: a larger --deadline-ms may find more")
    if reply.degraded:
        notes.append(f"not the whole search ran: {reply.degraded}")
    if reply.dropped:
        notes.append(f"{reply.dropped} passages did not fit the token budget")
    if reply.dangling:
        notes.append(f"{reply.dangling} vectors without a live chunk were left out")
    return notes
