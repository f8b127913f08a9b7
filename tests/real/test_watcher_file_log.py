"""The port FileLog: one suite over the stream FILES of a real server and the fake of the unit tests."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import nats
import pytest
from nats.aio.client import Client
from nats.js import api

from services.ingest.adapters.nats_file_log import NatsFileLog
from services.ingest.watcher.ports import FileLog
from shared.contracts.files import FileChanged, FileStamp
from shared.errors import TooLarge, Unavailable
from shared.ids import content_hash, file_key, page_id
from shared.provision import provision_bus, stream_configs
from shared.topology import Topology
from tests.fakes.in_memory_file_log import InMemoryFileLog

VAULT = "notes"


@pytest.fixture
async def nats_file_log(bus: Client, topology: Topology) -> FileLog:
    """Return the log on a real server."""
    await provision_bus(bus, topology)
    return NatsFileLog(bus, topology)


@pytest.fixture(params=[pytest.param("nats", marks=pytest.mark.real), "in memory"])
def file_log(request: pytest.FixtureRequest) -> FileLog:
    """Return the log under test."""
    return InMemoryFileLog() if request.param == "in memory" else request.getfixturevalue("nats_file_log")


def present(path: str, text: str = "text", vault_id: str = VAULT) -> FileChanged:
    return FileChanged(
        vault_id=vault_id,
        path=path,
        disk_path=path,
        page_id=page_id(vault_id, path),
        change="present",
        content=text.encode(),
        content_hash=content_hash(text),
        size_bytes=len(text),
        mtime_ns=1_700_000_000_123_456_789,
    )


def removed(path: str, moved_to: str | None = None) -> FileChanged:
    return FileChanged(
        vault_id=VAULT, path=path, disk_path=path, page_id=page_id(VAULT, path), change="removed", moved_to=moved_to
    )


async def stamps(log: FileLog, vault_id: str = VAULT) -> list[FileStamp]:
    return [stamp async for stamp in log.stamps(vault_id)]


async def test_what_was_published_is_the_newest(file_log: FileLog):
    assert await file_log.newest(VAULT, "a.md") is None
    first = await file_log.publish([present("a.md", "one"), present("b.md")], 1)
    second = await file_log.publish([present("a.md", "two")], 2)
    assert second > first
    assert await file_log.newest(VAULT, "a.md") == present("a.md", "two")


async def test_the_stamps_say_all_but_the_contents_in_the_log_s_order(file_log: FileLog):
    assert await stamps(file_log) == []
    await file_log.publish([present("a.md", "old"), present("b.md"), present("c.md"), present("x.md", "", "other")], 1)
    await file_log.publish([present("a.md", "new"), removed("b.md", moved_to="d.md")], 2)
    found = await stamps(file_log)
    assert [(stamp.path, stamp.change) for stamp in found] == [
        ("c.md", "present"),
        ("a.md", "present"),
        ("b.md", "removed"),
    ]
    assert found[1] == FileStamp.model_validate(present("a.md", "new").model_dump())


async def test_thousands_of_stamps_are_read_to_the_end(file_log: FileLog):
    for batch in range(25):
        await file_log.publish([present(f"{batch}/{number}.md") for number in range(100)], batch)
    assert len(await stamps(file_log)) == 2500


@pytest.mark.parametrize(
    "path", ["é 知识 🚀.md", " edge .md", "line\nbreak.md", "=?utf-8?q?x?=.md", "e\u0301/" + "é" * 1000]
)
async def test_odd_paths_survive(file_log: FileLog, path: str):
    await file_log.publish([present(path)], 1)
    assert [stamp.path for stamp in await stamps(file_log)] == [path]
    newest = await file_log.newest(VAULT, path)
    assert newest is not None
    assert newest.path == path


async def test_any_bytes_survive(file_log: FileLog):
    change = present("a.md").model_copy(update={"content": bytes(range(256)) * 20})
    await file_log.publish([change], 1)
    assert await file_log.newest(VAULT, "a.md") == change


async def test_a_batch_that_is_tried_again_is_stored_once(file_log: FileLog):
    changes = [present("a.md"), present("b.md")]
    assert await file_log.publish(changes, 7) == await file_log.publish(changes, 7)


async def test_going_back_to_an_earlier_state_is_stored(file_log: FileLog):
    for batch, text in enumerate(("A", "B", "A", "B", "A")):
        await file_log.publish([present("a.md", text)], batch)
        newest = await file_log.newest(VAULT, "a.md")
        assert newest is not None
        assert newest.content == text.encode()


async def test_content_up_to_the_limit_fits_and_more_is_too_large(file_log: FileLog):
    limit = file_log.max_content_bytes
    await file_log.publish([present("a.md", "x" * limit)], 1)
    with pytest.raises(TooLarge):
        await file_log.publish([present("a.md", "x" * (limit + 100_000))], 2)


async def test_the_identity_stays(file_log: FileLog):
    before = await file_log.identity()
    await file_log.publish([present("a.md")], 1)
    assert await file_log.identity() == before


async def test_a_stream_made_anew_has_another_identity(bus: Client, topology: Topology):
    log = NatsFileLog(bus, topology)
    with pytest.raises(Unavailable, match="provisioning"):
        await log.identity()
    await provision_bus(bus, topology)
    before = await log.identity()
    await bus.jetstream().delete_stream(topology.files)
    await provision_bus(bus, topology)
    assert await log.identity() != before


async def test_publishing_without_a_stream_is_unavailable(bus: Client, topology: Topology):
    with pytest.raises(Unavailable):
        await NatsFileLog(bus, topology).publish([present("a.md")], 1)


async def test_a_stream_that_is_full_is_unavailable(bus: Client, topology: Topology):
    config = stream_configs(topology)[0]
    await bus.jetstream().add_stream(config.evolve(max_msgs=1, discard=api.DiscardPolicy.NEW))
    log = NatsFileLog(bus, topology)
    with pytest.raises(Unavailable):
        await log.publish([present("a.md"), present("b.md"), present("c.md")], 1)
    assert [stamp.path for stamp in await stamps(log)] == ["a.md"]


async def test_a_closed_connection_is_unavailable(nats_url: str, topology: Topology):
    client = await nats.connect(nats_url)
    log = NatsFileLog(client, topology)
    await client.close()
    with pytest.raises(Unavailable):
        await log.publish([present("a.md")], 1)
    with pytest.raises(Unavailable):
        await log.identity()


async def test_only_a_removal_has_a_time_to_live_and_runs_out(bus: Client, topology: Topology):
    await provision_bus(bus, topology)
    log = NatsFileLog(bus, topology, tombstone_ttl_s=1)
    await log.publish([present("a.md"), removed("b.md")], 1)
    jetstream = bus.jetstream()

    async def headers(path: str) -> dict[str, str]:
        message = await jetstream.get_last_msg(topology.files, topology.file(VAULT, file_key(path)))
        return message.headers or {}

    assert (await headers("b.md"))["Nats-TTL"] == "1"
    assert "Nats-TTL" not in await headers("a.md")
    async with asyncio.timeout(20):
        while await log.newest(VAULT, "b.md") is not None:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    assert [stamp.path for stamp in await stamps(log)] == ["a.md"]


async def test_a_removal_goes_out_after_the_answers_for_all_ahead_of_it(bus: Client, topology: Topology):
    """What is ahead fails: then the removal must not be in the log, or its page would be nowhere."""
    config = stream_configs(topology)[0]
    await bus.jetstream().add_stream(config.evolve(max_msg_size=2000))
    log = NatsFileLog(bus, topology)
    with pytest.raises(Unavailable):
        await log.publish([present("new.md", "x" * 3000), removed("old.md", moved_to="new.md")], 1)
    assert await stamps(log) == []


async def test_a_consumer_of_stamps_leaves_nothing_behind(bus: Client, topology: Topology):
    await provision_bus(bus, topology)
    log = NatsFileLog(bus, topology)
    await log.publish([present("a.md")], 1)
    before: Sequence[object] = await bus.jetstream().consumers_info(topology.files)
    await stamps(log)
    assert len(await bus.jetstream().consumers_info(topology.files)) == len(before)
