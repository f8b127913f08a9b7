"""The sample vault with the bundled model: the demo, every sample question, and how another service sees the stack."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Generator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import nats
import nats.errors
import psutil
import pytest
from nats.aio.client import Client

from deploy.embedded.cli.demo import UNANSWERABLE
from shared.contracts.search import SearchReply
from tests.e2e.machine import Machine, Up

LOOPBACK = {"127.0.0.1", "::1"}


@dataclass(frozen=True)
class Question:
    """A question with the pages that hold its answer."""

    id: str
    kind: str
    lang: str
    question: str
    pages: list[str]
    phrase: str | None


@lru_cache(maxsize=1)
def questions() -> list[Question]:
    rows = json.loads(Path(__file__).with_name("sample_questions.json").read_text())
    return [Question(**row) for row in rows]


def of_kind(kind: str) -> list[Any]:
    return [pytest.param(question, id=question.id) for question in questions() if question.kind == kind]


@pytest.fixture(scope="module")
def up(sample_machine: Machine) -> Generator[Up]:
    vault = sample_machine.sample_vault()
    with sample_machine.up(vault) as running:
        sample_machine.citebus("ingest", "--once", vault)
        yield running


@pytest.fixture
async def client(up: Up) -> AsyncGenerator[Client]:
    """Yield what any service has: a NATS client with the address that stack.json says."""
    address = json.loads((up.log.parent / "data" / "stack.json").read_text())["nats_url"]
    connected = await nats.connect(address)
    yield connected
    await connected.close()


async def ask(client: Client, question: str, **more: object) -> SearchReply:
    request = {"type": "citebus.search.request.v1", "query": question, "deadline_ms": 20_000, **more}
    reply = await client.request("citebus.v1.search.orveig", json.dumps(request).encode(), timeout=25)
    assert "Nats-Service-Error" not in (reply.headers or {})
    return SearchReply.model_validate_json(reply.data)


def cited(reply: SearchReply) -> list[str]:
    return [citation.path for citation in reply.citations]


@pytest.mark.parametrize("question", of_kind("single"))
async def test_the_page_with_the_answer_is_among_the_first_three(client: Client, question: Question) -> None:
    reply = await ask(client, question.question, k=8)
    assert set(question.pages) <= set(cited(reply)[:3])
    assert question.phrase is not None
    assert question.phrase in reply.text


@pytest.mark.parametrize("question", of_kind("multi_hop"))
async def test_both_pages_that_an_answer_needs_are_cited(client: Client, question: Question) -> None:
    assert set(question.pages) <= set(cited(await ask(client, question.question, k=8)))


async def test_no_raw_page_is_ever_cited_though_raw_pages_are_indexed(client: Client, up: Up) -> None:
    raw = sorted((up.stack.vaults[0].folder / "raw").glob("*.md"))
    asked = [question.question for question in questions()] + [file.read_text()[:1_000] for file in raw]
    for query in asked:
        reply = await ask(client, query, k=50, context_window=10_000_000)
        assert [path for path in cited(reply) if path.startswith("raw/")] == []
        assert cited(reply) != []
    assert cited(await ask(client, asked[0], filters={"kind": "raw"})) == []
    status = await client.request("citebus.v1.ingest.status.orveig", b'{"type":"citebus.ingest.status.request.v1"}')
    assert json.loads(status.data)["pages"] == len(list(up.stack.vaults[0].folder.rglob("*.md")))


async def test_exactly_the_pages_older_than_a_source_are_marked_with_the_newest_one(client: Client) -> None:
    marked: dict[str, tuple[str, str]] = {}
    for question in questions():
        for citation in (await ask(client, question.question, k=50, context_window=10_000_000)).citations:
            if citation.stale is not None:
                marked[citation.path] = (citation.stale.source_path, str(citation.stale.page_date))
    minutes = "raw/2025-09-02-reunion-consortium.md"
    assert marked == {
        "wiki/entities/vessels/rv-petrel.md": (minutes, "2025-07-12"),
        "wiki/syntheses/bloom-2024-postmortem.md": (minutes, "2024-09-15"),
    }


async def test_citations_are_numbered_as_the_text_is(client: Client) -> None:
    for question in questions():
        reply = await ask(client, question.question, context_window=8_000)
        marks = {int(n) for n in re.findall(r"\[(\d+)\]", reply.text)}
        assert [citation.n for citation in reply.citations] == sorted(marks) == list(range(1, len(marks) + 1))
        assert reply.approx_tokens <= reply.token_budget == 1_600


async def test_another_service_hears_of_a_saved_page_and_finds_it(client: Client, up: Up) -> None:
    events = await client.subscribe("citebus.v1.page.orveig.*")
    await client.flush()
    front_matter = "---\ntitle: Seal census\ntype: concept\nlast_verified: 2025-09-01\n---\n"
    page = up.stack.vaults[0].folder / "wiki" / "concepts" / "seal-census.md"
    draft = page.with_suffix(".draft")  # one change: a file that is opened, and written later, is two
    draft.write_text(f"{front_matter}# Seal census\n\nThe drone counts seals from 80 metres.\n")
    draft.rename(page)
    indexed = json.loads((await events.next_msg(timeout=20)).data)
    assert (indexed["type"], indexed["path"]) == ("citebus.page.indexed.v1", "wiki/concepts/seal-census.md")
    reply = await ask(client, "how high is the drone that counts seals")
    assert reply.data_version >= indexed["data_version"]
    (citation,) = (one for one in reply.citations if one.path == indexed["path"])
    assert str(citation.ref.id) == indexed["page_id"]
    embedded = json.loads((await events.next_msg(timeout=20)).data)
    assert (embedded["type"], embedded["page_id"]) == ("citebus.page.embedded.v1", indexed["page_id"])
    assert cited(await ask(client, "how high is the drone that counts seals"))[0] == indexed["path"]
    page.unlink()
    removed = json.loads((await events.next_msg(timeout=20)).data)
    assert (removed["type"], removed["page_id"]) == ("citebus.page.removed.v1", indexed["page_id"])
    assert indexed["path"] not in cited(await ask(client, "how high is the drone that counts seals"))


async def test_another_service_sees_what_services_there_are(client: Client) -> None:
    inbox = client.new_inbox()
    replies = await client.subscribe(inbox)
    await client.publish("$SRV.INFO", reply=inbox)
    names: dict[str, set[str]] = {}
    while set(names) != {"citebus-ingest", "citebus-retrieval", "citebus-watcher", "citebus-chat"}:
        info = json.loads((await replies.next_msg(timeout=10)).data)
        names[info["name"]] = {endpoint["subject"] for endpoint in info["endpoints"]}
    assert names["citebus-retrieval"] == {"citebus.v1.search.*", "citebus.v1.resolve.*"}
    assert "citebus.v1.chat.*" in names["citebus-chat"]
    assert names["citebus-ingest"] == {"citebus.v1.ingest.status.*", "citebus.v1.ingest.wait.*"}
    assert names["citebus-watcher"] == {"citebus.v1.ingest.sync.orveig", "citebus.v1.ingest.text.orveig"}


async def test_nobody_gets_in_without_the_password(up: Up) -> None:
    scheme, _, address = up.stack.nats_url.partition("://")
    with pytest.raises(nats.errors.Error, match="Authorization"):
        await nats.connect(f"{scheme}://{address.rpartition('@')[2]}", allow_reconnect=False)


def test_everything_listens_on_loopback_only(up: Up) -> None:
    listening = {
        (process.name(), connection.laddr.ip)
        for process in up.family()
        for connection in process.net_connections(kind="inet")
        if connection.status == psutil.CONN_LISTEN
    }
    assert {name for name, _ in listening} == {"nats-server", "postgres"}
    assert {address for _, address in listening} <= LOOPBACK


def test_a_search_on_the_command_line_cites_the_page(up: Up, sample_machine: Machine) -> None:
    printed = sample_machine.citebus("search", "How deep may divers go at most?", "--k", "3").stdout
    assert re.search(r"^    wiki/concepts/dive-safety-rules\.md:\d+", printed, re.MULTILINE)
    assert "30 m" in printed


def test_the_demo_shows_a_cited_answer_a_refusal_and_how_to_try_your_own(sample_machine: Machine) -> None:
    done = sample_machine.citebus("demo")
    search, ask, refusal = re.split(r'^citebus (?:search|ask) ".*"$', done.stdout, flags=re.MULTILINE)[1:]
    assert "every 180 days" in search
    answer, _, sources = ask.partition("\nSources\n")
    assert re.search(r"180 days.* ?\[1\]", answer, re.DOTALL)
    assert re.search(r"^\[\d\] .* — wiki/concepts/calibration-oxygen\.md:\d.*  quoted$", sources, re.MULTILINE)
    assert "Sources" not in refusal
    assert 'citebus up ~/notes\n  citebus ask "your question"' in refusal
    (vault,) = re.findall(r"lies in (\S+)", done.stderr)
    assert not Path(vault).exists()
    assert not Path(vault).parent.exists()


def test_a_question_is_answered_offline_in_the_vaults_own_words(up: Up, sample_machine: Machine) -> None:
    told = json.loads(sample_machine.citebus("ask", "How deep may divers go at most?", "--json").stdout)
    assert (told["state"], told["provider"], told["cost"]) == ("done", "extractive", "0")
    assert "30 m" in told["answer"]
    assert "wiki/concepts/dive-safety-rules.md" in {one["citation"]["path"] for one in told["citations"]}
    assert {one["support"] for one in told["citations"]} <= {"quoted", "supported"}
    assert told["support"]["unsupported"] == 0


def test_a_question_that_the_vault_does_not_answer_is_refused(up: Up, sample_machine: Machine) -> None:
    refused = sample_machine.citebus("ask", UNANSWERABLE, expect=3)
    assert refused.stdout.count("\n") == 1
    told = json.loads(sample_machine.citebus("ask", UNANSWERABLE, "--json", expect=3).stdout)
    assert (told["state"], told["citations"], told["usage"]) == ("refused", [], None)


def test_a_follow_up_is_understood(up: Up, sample_machine: Machine) -> None:
    done = sample_machine.citebus("chat", typed="How often are oxygen optodes calibrated?\nAnd conductivity cells?\n")
    first, second = done.stdout.split("> And conductivity cells?")
    assert "wiki/concepts/calibration-oxygen.md" in first
    assert "wiki/concepts/calibration-conductivity.md" in second
