"""A page older than a source of it is marked, whatever comes first, changes, moves or goes. All real."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime

import asyncpg
import pytest

from shared.contracts.search import Citation
from tests.system import System


def wiki(last_verified: str, sources: str = "", body: str = "") -> str:
    named = f"sources: {sources}\n" if sources else ""
    return f"---\ntitle: Quay\nlast_verified: {last_verified}\n{named}---\nThe quay is made of granite. {body}\n"


def source(day: str) -> str:
    return f"---\ndate: {day}\n---\nMinutes of a meeting.\n"


async def quay(system: System) -> Citation:
    """Return the citation of the page about the quay."""
    reply = await system.search("what is the quay made of")
    (found,) = (each for each in reply.citations if each.ref.title == "Quay")
    flags = {line.n: line.stale for line in reply.results}
    assert flags == {each.n: each.stale is not None for each in reply.citations}
    return found


async def newer(system: System) -> str | None:
    """Return the path of the source that the page about the quay is older than."""
    stale = (await quay(system)).stale
    return None if stale is None else stale.source_path


async def test_a_page_older_than_a_source_is_marked_with_the_newest_one(system: System) -> None:
    await system.write("raw/a.md", source("2025-02-01"))
    await system.write("raw/b.md", source("2025-03-01"))
    await system.write("raw/c.md", source("2024-01-01"))
    await system.write("wiki/quay.md", wiki("2025-01-01", "[raw/a.md, raw/b, '[[raw/c|C]]']"))

    stale = (await quay(system)).stale
    assert stale is not None
    assert (stale.source_path, stale.source_date, stale.page_date) == ("raw/b.md", date(2025, 3, 1), date(2025, 1, 1))
    assert not stale.by_file_time

    await system.write("wiki/quay.md", wiki("2025-03-01", "[raw/a.md, raw/b]"))
    assert await newer(system) is None


@pytest.mark.parametrize("target", ["raw/a.md", "raw/a", "a", "'[[a]]'", "'[[raw/a#Part]]'", "RAW/A.MD"])
async def test_a_source_is_named_by_path_or_name_as_a_wikilink_would(system: System, target: str) -> None:
    await system.write("wiki/quay.md", wiki("2025-01-01", f"[{target}]"))
    assert await newer(system) is None
    await system.write("raw/a.md", source("2025-02-01"))
    assert await newer(system) == "raw/a.md"


async def test_a_link_to_what_is_never_cited_is_a_source_and_another_link_is_none(system: System) -> None:
    await system.write("raw/a.md", source("2025-02-01"))
    await system.write("wiki/other.md", source("2025-03-01"))
    await system.write("wiki/quay.md", wiki("2025-01-01", body="[[other]]"))
    assert await newer(system) is None
    await system.write("wiki/quay.md", wiki("2025-01-01", body="[[other]], [minutes](../raw/a.md)"))
    assert await newer(system) == "raw/a.md"


async def test_a_named_source_may_be_any_page_but_not_the_page_itself(system: System) -> None:
    text = wiki("2025-01-01", "[wiki/other, quay]").replace("title:", "updated: 2025-09-09\ntitle:")
    await system.write("wiki/quay.md", text)
    assert await newer(system) is None
    await system.write("wiki/other.md", source("2025-03-01"))
    assert await newer(system) == "wiki/other.md"


async def test_a_source_that_changes_moves_or_goes_changes_the_mark(system: System) -> None:
    await system.write("wiki/quay.md", wiki("2025-01-01", "[raw/a, raw/b]", "[[linked]]"))
    await system.write("raw/a.md", source("2024-12-31"))
    await system.write("raw/b.md", source("2025-02-01"))
    await system.write("raw/linked.md", source("2025-03-01"))
    assert await newer(system) == "raw/linked.md"

    (system.vault / "raw/linked.md").rename(system.vault / "wiki/linked.md")
    await system.wait("wiki/linked.md")
    await system.settled(lambda status: status.removed == 1)
    assert await newer(system) == "raw/b.md"

    await system.write("raw/a.md", source("2025-04-01"))
    assert await newer(system) == "raw/a.md"

    (system.vault / "raw/a.md").unlink()
    await system.settled(lambda status: status.removed == 2)
    assert await newer(system) == "raw/b.md"

    await system.write("raw/b.md", source("2025-01-01"))
    assert await newer(system) is None


async def test_a_source_without_a_day_has_that_of_its_file_and_says_so(system: System) -> None:
    file = system.vault / "raw/a.md"
    file.parent.mkdir(parents=True)
    file.write_text("Minutes of a meeting.\n")
    moment = datetime(2025, 5, 6, 12, tzinfo=UTC).timestamp()
    os.utime(file, (moment, moment))
    await system.settled(lambda status: status.pages == 1)
    await system.write("wiki/quay.md", wiki("2025-01-01", "[raw/a]"))

    stale = (await quay(system)).stale
    assert stale is not None
    assert (stale.source_date, stale.by_file_time) == (date(2025, 5, 6), True)


async def test_pages_without_any_day_of_their_own_are_as_old_as_their_files(system: System) -> None:
    await system.write("raw/a.md", "Minutes of a meeting.\n")
    await system.write("wiki/quay.md", "---\ntitle: Quay\nsources: [raw/a]\n---\nThe quay is made of granite.\n")

    assert await newer(system) is None


async def test_sources_are_the_same_whatever_came_first(system: System) -> None:
    paths = {
        "raw/a.md": source("2025-02-01"),
        "wiki/quay.md": wiki("2025-01-01", "[raw/a]"),
        "raw/b.md": source("2025-03-01"),
        "wiki/more.md": wiki("2025-02-15", "[a, b]"),
    }
    for path, text in paths.items():
        await system.write(path, text)
    before = await noted(system)
    for path in reversed(paths):
        (system.vault / path).unlink()
    await system.settled(lambda status: status.pages == 0)
    for path in reversed(paths):
        await system.write(path, paths[path])

    assert await noted(system) == before
    assert [tuple(row) for row in before] == [
        ("raw/a.md", None),
        ("raw/b.md", None),
        ("wiki/more.md", "raw/b.md"),
        ("wiki/quay.md", "raw/a.md"),
    ]


async def noted(system: System) -> list[asyncpg.Record]:
    return await system.rows(
        "SELECT p.path, s.path AS newer FROM pages p LEFT JOIN pages s ON s.page_id = p.newer_source ORDER BY p.path"
    )
