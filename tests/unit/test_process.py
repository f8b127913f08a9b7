"""Processes wait for servers that come later."""

from __future__ import annotations

import pytest

from shared import process
from shared.errors import NotFound, Unavailable
from shared.process import patiently


async def test_a_server_that_comes_later_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_AGAIN_S", 0.0)
    answers = [Unavailable("starting up"), Unavailable("starting up"), None]

    async def look() -> str:
        answer = answers.pop(0)
        if answer is not None:
            raise answer
        return "there"

    assert await patiently("a server", look) == "there"
    assert answers == []


async def test_what_waiting_can_not_help_is_raised_at_once() -> None:
    async def look() -> None:
        raise NotFound("never provisioned")

    with pytest.raises(NotFound):
        await patiently("a server", look)
