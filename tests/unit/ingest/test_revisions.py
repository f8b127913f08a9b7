"""The order of changes survives streams that are made anew, restored or shortened."""

from __future__ import annotations

from typing import Any, cast

import pytest

from services.ingest.ports import Epoch, FileHistory, Ledger
from services.ingest.revisions import current_epoch, revision


class ScriptedLedger:
    """Knows one newest epoch, and counts on."""

    def __init__(self, newest: Epoch | None) -> None:
        self.newest = newest

    async def epoch(self) -> Epoch | None:
        return self.newest

    async def begin_epoch(self, stream: str) -> int:
        number = (self.newest.number if self.newest else 0) + 1
        self.newest = Epoch(number, stream, self.newest.highest_revision if self.newest else 0)
        return number


class ScriptedHistory:
    """A stream with a name and a last position."""

    def __init__(self, stream: str, last: int) -> None:
        self._state = stream, last

    async def state(self) -> tuple[str, int]:
        return self._state


async def epoch_of(newest: Epoch | None, stream: str, last: int) -> tuple[int, Epoch | None]:
    """Return the epoch, and what the ledger then holds."""
    ledger, history = ScriptedLedger(newest), ScriptedHistory(stream, last)
    number = await current_epoch(cast("Ledger", cast("Any", ledger)), cast("FileHistory", cast("Any", history)))
    return number, ledger.newest


@pytest.mark.parametrize(
    ("newest", "stream", "last", "expected"),
    [
        (None, "a", 0, 1),
        (Epoch(1, "a", revision(1, 50)), "a", 50, 1),
        (Epoch(1, "a", revision(1, 50)), "a", 80, 1),
        (Epoch(1, "a", revision(1, 50)), "b", 1, 2),  # made anew
        (Epoch(1, "a", revision(1, 50)), "a", 49, 2),  # lost its last message
        (Epoch(2, "a", revision(1, 50)), "a", 3, 2),  # begun, nothing worked yet
        (Epoch(5, "b", revision(5, 9)), "a", 400, 6),  # an old stream restored from a backup
    ],
)
async def test_a_stream_that_is_not_what_it_was_begins_a_new_epoch(
    newest: Epoch | None, stream: str, last: int, expected: int
) -> None:
    assert (await epoch_of(newest, stream, last))[0] == expected


async def test_after_a_new_epoch_the_same_stream_stays_in_it() -> None:
    number, newest = await epoch_of(Epoch(1, "a", revision(1, 50)), "a", 10)
    assert (await epoch_of(newest, "a", 11))[0] == number == 2


def test_a_later_epoch_is_later_whatever_the_position() -> None:
    assert revision(2, 1) > revision(1, 10**12)
