"""`citebus profiles` lists what the service says of itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg

from shared.contracts.profiles import ProfileInfo, ProfileList
from tests.unit.cli.fakes import CommandLine
from tests.unit.cli.test_sessions import pretend_running

LISTED = ProfileList(
    profiles=(
        ProfileInfo(
            name="hybrid", kind="hybrid", settings={"rrf_k": 60.0}, default=True, needs=("embedding",), ready=True
        ),
        ProfileInfo(
            name="mine",
            kind="sparse",
            settings={"rerank": {"model": "cross-encoder", "depth": 24}},
            default=False,
            needs=("scorer",),
            ready=False,
            missing="it needs a cross-encoder",
        ),
        ProfileInfo(name="sparse", kind="sparse", settings={}, default=False, needs=(), ready=True),
    )
)


def info(metadata: dict[str, str]) -> Msg:
    endpoints = [
        {"name": "resolve", "subject": "s", "queue_group": "q", "metadata": {"request": "ResolveRequest"}},
        {"name": "search", "subject": "s", "queue_group": "q", "metadata": metadata},
    ]
    body = {"type": "io.nats.micro.v1.info_response", "name": "citebus-retrieval", "endpoints": endpoints}
    return Msg(_client=Client(), data=json.dumps(body).encode())


@pytest.fixture
def running(line: CommandLine, vault: Path) -> CommandLine:
    pretend_running(line.data_dir, notes=vault)
    line.bus.raw["$SRV.INFO.citebus-retrieval"] = info({"profiles": LISTED.model_dump_json()})
    return line


def test_each_profile_has_a_line_with_settings_needs_and_state(running: CommandLine) -> None:
    result = running.run("profiles")
    lines = [" ".join(text.split()) for text in result.stdout.splitlines()]

    assert result.exit_code == 0
    assert "hybrid (default) hybrid rrf_k 60 embedding ready" in lines
    assert "mine sparse rerank (model cross-encoder, depth 24) cross-encoder not ready" in lines
    assert "sparse sparse nothing ready" in lines
    assert "mine: it needs a cross-encoder" in lines


def test_as_json_it_is_what_the_service_says(running: CommandLine) -> None:
    result = running.run("profiles", "--json")

    assert json.loads(result.stdout) == json.loads(LISTED.model_dump_json())


def test_a_service_that_does_not_answer_is_a_failure(line: CommandLine, vault: Path) -> None:
    pretend_running(line.data_dir, notes=vault)
    result = line.run("profiles")

    assert result.exit_code == 1
    assert "nothing answers on $SRV.INFO.citebus-retrieval" in result.stderr


@pytest.mark.parametrize("metadata", [{}, {"profiles": "{"}])
def test_a_service_of_another_version_is_told_apart(running: CommandLine, metadata: dict[str, str]) -> None:
    running.bus.raw["$SRV.INFO.citebus-retrieval"] = info(metadata)
    result = running.run("profiles")

    assert result.exit_code == 1
    assert "of another version" in result.stderr
