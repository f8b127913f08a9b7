"""What the kernel says becomes what to look at."""

from __future__ import annotations

import asyncio
from pathlib import Path

from services.ingest.watcher.options import WatchOptions
from services.ingest.watcher.pending import Pending
from services.ingest.watcher.watching import FolderWatch, relative_paths


async def test_a_new_folder_is_looked_at_twice(tmp_path: Path):
    pending = Pending()
    watch = asyncio.create_task(FolderWatch(str(tmp_path), pending, WatchOptions(second_look_s=0.3)).run())
    assert await pending.wait(10)
    assert pending.take().everything
    (tmp_path / "folder").mkdir()
    for _ in range(2):
        assert await pending.wait(10)
        assert pending.take().paths == {"folder"}
    assert not await pending.wait(0.5)
    watch.cancel()
    await asyncio.wait((watch,))


def test_events_below_hidden_folders_are_left_out():
    events = ["/v/a.md", "/v/.git/index", "/v/b/.x.swp", "/v/b/c.d/e.md", "/v/.citebus.toml", "/v"]
    assert relative_paths("/v", events) == {"a.md", "b/c.d/e.md", ".citebus.toml", ""}


async def test_pending_is_bounded_and_merges():
    pending = Pending(most_paths=3)
    assert not await pending.wait(0.001)
    pending.touch(["a", "b"])
    pending.touch(["b"])
    assert pending.take().paths == {"a", "b"}
    assert not pending.take()
    pending.touch(["a", "b", "c", "d"])
    pending.touch(["e"])
    assert not pending.take_paths()
    taken = pending.take()
    assert taken.everything
    assert not taken.paths
