"""The order of changes across wiped, re-created and shortened streams: the epoch of a stream, then the position in it.

Positions alone do not order changes for ever: a stream that is wiped and made anew counts from 1 again, and one whose
server lost power may have lost its newest messages and gives their positions away again. Both begin a new epoch.
"""

from __future__ import annotations

from services.ingest.ports import FileHistory, Ledger

EPOCH_SHIFT = 40
"""A revision is the epoch above this bit and the position below: room for 10^12 changes per stream."""


def revision(epoch: int, sequence: int) -> int:
    """Return where a change stands in the order of all changes."""
    return (epoch << EPOCH_SHIFT) | sequence


def position(revision: int) -> int:
    """Return the position in its stream that a revision came from."""
    return revision & ((1 << EPOCH_SHIFT) - 1)


async def current_epoch(ledger: Ledger, history: FileHistory) -> int:
    """Return the epoch of the stream as it is now, a new one where it is not what it was. Raises Unavailable.

    The highest revision is read before the stream's last position, which only grows: when that is lower all the same,
    the stream has lost messages that were worked.
    """
    newest = await ledger.epoch()
    stream, last_sequence = await history.state()
    if newest is None or newest.stream != stream:
        return await ledger.begin_epoch(stream)
    in_this_epoch = newest.highest_revision >> EPOCH_SHIFT == newest.number
    if in_this_epoch and newest.highest_revision > revision(newest.number, last_sequence):
        return await ledger.begin_epoch(stream)
    return newest.number
