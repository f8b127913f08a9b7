"""`citebus ingest --once` and `citebus rebuild`, each with a stack of its own that ends with it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from deploy.embedded.state import read_running_stack
from tests.e2e.machine import Machine
from tests.fakes.embedding_servers import EmbeddingServer, embedding_server

PAGES: dict[str, str | bytes] = {
    "wiki/tides.md": "---\ntitle: Tides\n---\n# Tides\n\nTwice a day, see [[ports]].\n\n## Springs\n\nAt full moon.\n",
    "wiki/ports.md": "# Ports\n\nDry at low [[tides]].\n",
    "raw/log.md": "# Log\n\nHigh water at noon.\n",
}
PICTURE = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00"


@pytest.fixture
async def provider() -> AsyncGenerator[EmbeddingServer]:
    async with embedding_server("openai") as server:
        yield server


@pytest.fixture
def counted(provider: EmbeddingServer, data_dir: Path, wheels: None) -> Machine:
    """Return a machine whose embedding provider is seen."""
    settings = {
        "CITEBUS_EMBEDDING_PROVIDER": "openai",
        "CITEBUS_EMBEDDING_BASE_URL": provider.url,
        "CITEBUS_EMBEDDING_MODEL": "counting",
        "CITEBUS_EMBEDDING_DIMENSION": "64",
    }
    return Machine(data_dir.parent, settings)


def status(machine: Machine) -> dict[str, Any]:
    (reply,) = json.loads(machine.citebus("status", "--json").stdout)["vaults"]
    return reply


async def test_a_second_ingest_changes_nothing_and_embeds_nothing(counted: Machine, provider: EmbeddingServer) -> None:
    vault = counted.vault("sea", PAGES)
    first = await asyncio.to_thread(counted.citebus, "ingest", "--once", vault)
    assert first.stdout.startswith("sea: 3 files, 3 changed, ")
    assert sum(len(request.texts) for request in provider.requests) == 3
    before = await asyncio.to_thread(status, counted)
    assert (before["pages"], before["chunks"], before["embedded_chunks"]) == (3, 3, 3)
    provider.requests.clear()
    again = await asyncio.to_thread(counted.citebus, "ingest", "--once", vault)
    assert again.stdout.startswith("sea: 3 files, 0 changed, ")
    assert again.stdout.splitlines()[1:] == first.stdout.splitlines()[1:]
    assert await asyncio.to_thread(status, counted) == before
    assert provider.requests == []


async def test_a_rebuild_gives_the_same_chunk_ids_and_embeds_each_text_again(
    counted: Machine, provider: EmbeddingServer
) -> None:
    vault = counted.vault("sea", PAGES)
    with counted.up(vault):
        await asyncio.to_thread(counted.citebus, "ingest", "--once", vault)
        before = await chunks(counted)
        await asyncio.to_thread(counted.citebus, "ask", "How deep is the pond?", expect=3)
        asked = await asyncio.to_thread(conversations, counted)
    assert len(before) == 3
    assert len(asked) == 1
    provider.requests.clear()
    await asyncio.to_thread(counted.citebus, "rebuild", "--yes")
    assert sum(len(request.texts) for request in provider.requests) == 3
    with counted.up():
        assert await chunks(counted) == before
        assert await asyncio.to_thread(conversations, counted) == asked


def conversations(machine: Machine) -> list[str]:
    """Return the ids of the conversations that are kept."""
    listed = json.loads(machine.citebus("conversations", "list", "--json").stdout)
    return [each["conversation_id"] for each in listed["conversations"]]


async def chunks(machine: Machine) -> list[tuple[str, str, int]]:
    """Return the live chunks: id, path, place."""
    stack = read_running_stack(machine.data_dir)
    assert stack is not None
    connection = await asyncpg.connect(stack.postgres_reader_dsn)
    rows = await connection.fetch(
        "SELECT chunk_id::text, path, char_start FROM chunks JOIN pages USING (page_id) ORDER BY chunk_id"
    )
    await connection.close()
    return [(row["chunk_id"], row["path"], row["char_start"]) for row in rows]


def test_rejected_files_are_listed_with_reasons_and_the_rest_is_searchable(machine: Machine) -> None:
    vault = machine.vault("sea", {**PAGES, "wiki/photo.md": PICTURE})
    failed = machine.citebus("ingest", "--once", vault, expect=1)
    listed = failed.stdout.splitlines()[2:]
    assert listed[0] == "1 rejected:"
    assert listed[1].startswith("  wiki/photo.md: ")
    assert "sea: 3 pages, 3 chunks, 3 embedded" in failed.stdout
    assert status(machine)["rejected_count"] == 1
    (vault / "wiki/photo.md").unlink()
    assert "rejected" not in machine.citebus("ingest", "--once", vault).stdout


def test_a_search_without_a_stack_starts_one_catches_up_and_leaves_none(machine: Machine) -> None:
    vault = machine.vault("sea", PAGES)
    machine.citebus("ingest", "--once", vault)
    machine.vault("sea", {"wiki/moon.md": "# Moon\n\nPulls the water.\n"})  # while nothing runs
    done = machine.citebus("search", "pulls water moon", "--k", "1")
    assert "[1] Moon" in done.stdout
    assert f"no stack runs on {machine.data_dir}: starting one for this command" in done.stderr
    assert read_running_stack(machine.data_dir) is None


@pytest.mark.parametrize("command", [["search", "water"], ["status"], ["up"], ["rebuild", "--yes"]])
def test_without_a_known_vault_a_command_says_how_to_begin(machine: Machine, command: list[str]) -> None:
    refused = machine.citebus(*command, expect=2)
    assert f"no vault is known in {machine.data_dir}" in refused.stderr
    assert not machine.data_dir.exists()


def test_ingest_without_once_is_a_misuse(machine: Machine) -> None:
    vault = machine.vault("sea", PAGES)
    assert f"citebus up {vault}" in machine.citebus("ingest", vault, expect=2).stderr
    assert not machine.data_dir.exists()


def test_the_version_is_printed_for_people_and_programs(machine: Machine) -> None:
    printed = machine.citebus("version").stdout.splitlines()
    assert printed[0].startswith("citebus 0.")
    as_json = json.loads(machine.citebus("version", "--json").stdout)
    assert [f"{name} {number}" for name, number in as_json.items()] == printed
