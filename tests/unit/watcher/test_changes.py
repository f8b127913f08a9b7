"""Whatever happens to a folder, the log ends up saying what is there, and every page is one file."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from services.ingest.watcher.changes import Present, Removed, Step, compare, similar
from services.ingest.watcher.files import Entry, Known
from services.ingest.watcher.slices import SLICE_BYTES, SLICE_FILES, slices
from shared.errors import Unavailable
from shared.ids import page_id
from tests.unit.watcher.vault import Vault

NAMES = ("a.md", "b.md", "A.md", "d/a.md", "d/b.md", "e/a.md", "e/d/a.md")
TEXTS = ("", "one text", "another one", "one text that is longer")

names = st.sampled_from(NAMES)
edits = st.one_of(
    st.tuples(st.just("write"), names, st.sampled_from(TEXTS)),
    st.tuples(st.just("replace"), names, st.sampled_from(TEXTS)),
    st.tuples(st.just("move"), names, names),
    st.tuples(st.just("swap"), names, names),
    st.tuples(st.just("move folder"), st.sampled_from(("d", "e")), st.sampled_from(("f", "g", "d"))),
    st.tuples(st.just("delete"), names, st.just("")),
    st.tuples(st.just("wipe the log"), st.just(""), st.just("")),
    st.tuples(st.just("lose the manifest"), st.just(""), st.just("")),
    st.tuples(st.just("lose an answer"), st.just(""), st.just("")),
)


def carry_out(vault: Vault, kind: str, one: str, other: str) -> None:
    """Change the vault, if it can be changed so."""
    file, target = vault.root / one, vault.root / other
    if kind == "write":
        vault.write(one, other)
    elif kind == "replace":
        vault.write(one + ".tmp", other).replace(file)
    elif kind == "delete":
        file.unlink(missing_ok=True)
    elif kind == "wipe the log":
        vault.log.wipe()
    elif kind == "lose the manifest":
        shutil.rmtree(vault.manifest_file.parent, ignore_errors=True)
    elif kind == "lose an answer":
        vault.log.lose_acks = 1
    elif file.exists() and one != other:
        move(vault, kind, file, target)


def move(vault: Vault, kind: str, file: Path, target: Path) -> None:
    if kind == "move folder" and target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if kind == "swap" and target.exists():
        target.rename(vault.base / "aside")
        file.rename(target)
        (vault.base / "aside").rename(file)
    else:
        file.rename(target)


def on_disk(vault: Vault) -> dict[str, str]:
    return {str(file.relative_to(vault.root)): file.read_text() for file in vault.root.rglob("*.md")}


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.lists(edits, min_size=1, max_size=4), min_size=1, max_size=5))
def test_the_log_says_what_is_on_the_disk_and_every_page_is_one_file(sweeps: list[list[tuple[str, str, str]]]):
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(Vault(Path(folder)), sweeps))


async def run(vault: Vault, sweeps: list[list[tuple[str, str, str]]]) -> None:
    vault.write(".citebus.toml", "")  # an empty vault is then meant to be empty
    for edits_of_sweep in sweeps:
        for kind, one, other in edits_of_sweep:
            carry_out(vault, kind, one, other)
        try:
            await vault.sync()
        except Unavailable:  # an answer was lost
            await vault.sync()
        assert vault.texts() == on_disk(vault)
        assert len(set(vault.pages().values())) == len(vault.pages())
    assert await vault.sync() == []


@settings(max_examples=40, deadline=None)
@given(st.permutations(NAMES))
def test_any_exchange_of_names_is_followed(order: list[str]):
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(exchange(Vault(Path(folder)), order))


async def exchange(vault: Vault, order: list[str]) -> None:
    for number, name in enumerate(NAMES):
        vault.write(name, f"text {number}")
    await vault.sync()
    before = vault.pages()
    for number, name in enumerate(NAMES):
        (vault.root / name).rename(vault.base / str(number))
    for number, name in enumerate(order):
        (vault.base / str(number)).rename(vault.root / name)
    await vault.sync()
    assert vault.pages() == {new: before[old] for old, new in zip(NAMES, order, strict=True)}


def entry(path: str, size: int = 1) -> Entry:
    return Entry(path, path, size, 1, 1)


def row(path: str) -> Known:
    return Known(path, path, 1, 1, 1, "0" * 64, page_id("v", path), "present")


def test_what_is_below_a_blind_folder_is_not_gone():
    rows = [row(path) for path in ("a/b.md", "a/c/d.md", "ab.md", "e.md")]
    assert [known.path for known in compare(rows, {}, ["a", "e.md"]).gone] == ["ab.md"]


@example([(1, False), *[(1, True)] * 200])
@given(st.lists(st.tuples(st.integers(0, 5_000_000), st.booleans()), max_size=300))
def test_slices_keep_all_steps_in_order_within_their_bounds_and_moves_whole(sizes: list[tuple[int, bool]]):
    steps: list[Step] = []
    for number, (size, moves) in enumerate(sizes):
        steps.append(Present(entry(f"{number}.md", size), page_id("v", str(number)), None, None))
        if moves:
            steps.append(Removed(row(f"old{number}.md"), f"{number}.md"))
    parts = list(slices(steps))
    assert [step for part in parts for step in part] == steps
    for part in parts:
        assert isinstance(part[0], Present)
        assert len(part) <= SLICE_FILES + 1
        assert sum(step.entry.size for step in part if isinstance(step, Present)) <= SLICE_BYTES


@pytest.mark.parametrize(
    ("old", "new", "are"),
    [
        (b"a text", b"a text with more", True),
        (b"The quick brown fox", b"The quick red fox", True),
        (b"one two three four", b"five six seven eight", False),
        (b"", b"anything", False),
        (b"something", b"", False),
    ],
)
def test_an_edited_text_is_similar(old: bytes, new: bytes, are: bool):
    assert similar(old, new) is are
