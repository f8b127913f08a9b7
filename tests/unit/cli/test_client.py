"""The client says on the right subject what was asked, and turns every kind of failure into its error."""

from __future__ import annotations

import nats.errors
import pytest

from deploy.embedded.client import BusClient
from shared.contracts.error import ErrorCode, ErrorReply
from shared.contracts.ingest import WaitRequest
from shared.contracts.search import ResolveReply, ResolveRequest, SearchRequest
from shared.errors import CitebusError, DeadlineExceeded, InvalidInput, NotFound, TooLarge, Unavailable
from shared.topology import Topology
from tests.unit.cli.fakes import PAGE_ID, ScriptedBus, citation, search_reply, status_reply, sync_reply, wait_reply

SEARCH = "citebus.v1.search.notes"
WAIT = "citebus.v1.ingest.wait.notes"


def client(bus: ScriptedBus, topology: Topology | None = None) -> BusClient:
    return BusClient("nats://127.0.0.1:1", topology, connect=bus.connect)


async def search(bus: ScriptedBus) -> None:
    async with client(bus) as asking:
        await asking.search("notes", SearchRequest(query="q"))


async def test_each_request_goes_to_its_subject_and_comes_back_typed() -> None:
    resolved = ResolveReply(state="deleted", data_version=3)
    bus = ScriptedBus(
        {
            SEARCH: search_reply(citation(1, "A", 0.5)),
            "citebus.v1.resolve.notes": resolved,
            "citebus.v1.ingest.status.notes": status_reply(),
            "citebus.v1.ingest.sync.notes": sync_reply(),
        }
    )
    resolve = ResolveRequest.model_validate({"page_id": PAGE_ID, "chunk_id": PAGE_ID, "content_hash": "0" * 64})
    async with client(bus) as asking:
        assert (await asking.search("notes", SearchRequest(query="q"))).citations[0].ref.title == "A"
        assert await asking.resolve("notes", resolve) == resolved
        assert (await asking.status("notes")).pages == 3
        assert (await asking.sync("notes")).files == 3
    assert bus.closed == 1


async def test_a_namespace_is_part_of_the_subject() -> None:
    bus = ScriptedBus({"test7.v1.ingest.status.notes": status_reply()})
    async with client(bus, Topology("test7")) as asking:
        await asking.status("notes")
    assert bus.requests[0][0] == "test7.v1.ingest.status.notes"


async def test_nobody_there_is_unavailable_and_says_what_to_do() -> None:
    with pytest.raises(Unavailable, match=r"nothing answers on citebus.v1.search.notes.*citebus up VAULT"):
        await search(ScriptedBus())


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("invalid", InvalidInput),
        ("too_large", TooLarge),
        ("not_found", NotFound),
        ("unavailable", Unavailable),
        ("deadline", DeadlineExceeded),
        ("internal", CitebusError),
    ],
)
async def test_an_error_reply_becomes_the_error_that_it_names(code: ErrorCode, error: type[CitebusError]) -> None:
    with pytest.raises(error, match="what went wrong") as caught:
        await search(ScriptedBus({SEARCH: ErrorReply(code=code, message="what went wrong")}))
    assert type(caught.value) is error


async def test_the_time_to_wait_travels_with_the_error() -> None:
    reply = ErrorReply(code="unavailable", message="busy", retry_after_ms=200)
    with pytest.raises(Unavailable) as caught:
        await search(ScriptedBus({SEARCH: reply}))
    assert caught.value.retry_after_s == 0.2


@pytest.mark.parametrize(
    ("raised", "error"),
    [
        (nats.errors.TimeoutError(), DeadlineExceeded),
        (nats.errors.ConnectionClosedError(), Unavailable),
        (nats.errors.MaxPayloadError(), TooLarge),
        (ConnectionResetError("reset"), Unavailable),
    ],
)
async def test_what_the_driver_raises_is_wrapped_with_its_cause(raised: Exception, error: type[CitebusError]) -> None:
    with pytest.raises(error) as caught:
        await search(ScriptedBus({SEARCH: raised}))
    assert caught.value.__cause__ is raised


async def test_a_reply_of_another_kind_is_not_taken_for_the_right_one() -> None:
    with pytest.raises(CitebusError, match="another version"):
        await search(ScriptedBus({SEARCH: sync_reply()}))


async def test_a_search_is_waited_for_longer_than_its_own_deadline() -> None:
    bus = ScriptedBus({SEARCH: search_reply()})
    async with client(bus) as asking:
        await asking.search("notes", SearchRequest(query="q", deadline_ms=5_000))
    assert bus.timeouts[0] > 5.0


async def test_a_wait_of_several_minutes_is_several_requests_within_the_bound() -> None:
    late = ErrorReply(code="deadline", message="not yet")
    bus = ScriptedBus({WAIT: [late, late, wait_reply()]})
    async with client(bus) as asking:
        await asking.wait("notes", WaitRequest(path="a.md", content_hash="0" * 64), timeout_s=300)
    assert [request["timeout_ms"] for request in bus.asked(WAIT)] == [60_000, 60_000, 60_000]


async def test_a_short_wait_ends_with_its_deadline() -> None:
    bus = ScriptedBus({WAIT: ErrorReply(code="deadline", message="not yet")})
    async with client(bus) as asking:
        with pytest.raises(DeadlineExceeded, match="not yet"):
            await asking.wait("notes", WaitRequest(path="a.md", content_hash="0" * 64), timeout_s=2)
    assert len(bus.requests) == 1


async def test_an_error_code_of_a_later_version_still_becomes_an_error() -> None:
    class LaterErrorReply(ErrorReply):
        code: str = "teapot"  # pyright: ignore[reportIncompatibleVariableOverride]

    with pytest.raises(CitebusError, match="short and stout"):
        await search(ScriptedBus({SEARCH: LaterErrorReply(message="short and stout")}))
