"""The shelf: whatever the order, repetition and batching of deliveries, the same pages lie at the same paths."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from services.ingest.page import PreparedPage
from services.ingest.shelf import Change, LivePage, Shelf
from shared.contracts.files import FileChanged
from shared.ids import content_hash, file_key, page_id

PATHS = ["a.md", "b.md", "c.md", "d.md"]


def prepared(title: str = "T") -> PreparedPage:
    """Return a page without chunks."""
    return PreparedPage(
        title=title,
        slug="t",
        stem="t",
        kind="page",
        language="en",
        page_type=None,
        front_matter={},
        fields={},
        sources=(),
        problems=(),
        chunks=(),
        links=(),
    )


def present(path: str, page: UUID, revision: int, content: str = "x", moved_from: str | None = None) -> Change:
    """Return a change that puts a page at a path."""
    message = FileChanged(
        vault_id="v",
        path=path,
        disk_path=path,
        page_id=page,
        change="present",
        content=content.encode(),
        content_hash=content_hash(content),
        moved_from=moved_from,
    )
    return Change(message, file_key(path), revision, "config", prepared())


def removed(path: str, page: UUID, revision: int, moved_to: str | None = None) -> Change:
    """Return a tombstone."""
    message = FileChanged(vault_id="v", path=path, disk_path=path, page_id=page, change="removed", moved_to=moved_to)
    return Change(message, file_key(path), revision, "config", None)


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[Change], dict[str, UUID]]:
    """Draw what happened to a vault: its changes in order, and which page lies where at the end."""
    changes: list[Change] = []
    lying: dict[str, UUID] = {}
    born = 0
    for _ in range(draw(st.integers(1, 12))):
        action = draw(st.sampled_from(["write", "remove", "move", "swap"]))
        path = draw(st.sampled_from(PATHS))
        other = draw(st.sampled_from([p for p in PATHS if p != path]))
        revision = len(changes) + 1
        if action == "write":
            if path not in lying:
                lying[path] = page_id("v", path, born)
                born += 1
            changes.append(present(path, lying[path], revision, content=str(revision)))
        elif action == "remove" and path in lying:
            changes.append(removed(path, lying.pop(path), revision))
        elif action == "move" and path in lying:
            page = lying.pop(path)
            lying[other] = page
            changes.append(present(other, page, revision, moved_from=path))
            changes.append(removed(path, page, revision + 1, moved_to=other))
        elif action == "swap" and path in lying and other in lying:
            lying[path], lying[other] = lying[other], lying[path]
            changes.append(present(path, lying[path], revision, moved_from=other))
            changes.append(present(other, lying[other], revision + 1, moved_from=path))
    return changes, lying


def lying_on(shelf: Shelf) -> dict[str, UUID]:
    """Return path to page."""
    return {page.path: page.page_id for page in shelf.pages.values()}


@given(histories(), st.randoms(use_true_random=False))
def test_any_order_and_repetition_of_deliveries_ends_with_the_same_pages(
    history: tuple[list[Change], dict[str, UUID]], random: object
) -> None:
    changes, expected = history
    deliveries = changes + changes
    random.shuffle(deliveries)  # type: ignore[attr-defined]
    shelf = Shelf()
    for change in deliveries:
        shelf.apply(change)
    assert lying_on(shelf) == expected


@given(histories())
def test_only_the_newest_change_of_each_file_is_needed(history: tuple[list[Change], dict[str, UUID]]) -> None:
    changes, expected = history
    newest = {change.file_key: change for change in changes}
    shelf = Shelf()
    for change in newest.values():
        shelf.apply(change)
    assert lying_on(shelf) == expected


def test_a_move_keeps_the_page_id_and_says_where_it_was() -> None:
    page = page_id("v", "a.md")
    shelf = Shelf()
    shelf.apply(present("a.md", page, 1))
    moved = shelf.apply(present("b.md", page, 2, moved_from="a.md"))
    gone = shelf.apply(removed("a.md", page, 3, moved_to="b.md"))
    assert (moved.effect, moved.old_path) == ("moved", "a.md")
    assert gone.effect == "unchanged"
    assert lying_on(shelf) == {"b.md": page}


def test_the_tombstone_of_a_moved_page_waits_for_the_page_and_not_for_ever() -> None:
    page = page_id("v", "a.md")
    shelf = Shelf()
    shelf.apply(present("a.md", page, 1))
    tombstone = removed("a.md", page, 3, moved_to="b.md")
    assert shelf.apply(replace(tombstone, patient=True)).effect == "early"
    assert lying_on(shelf) == {"a.md": page}
    assert shelf.slots[file_key("a.md")].revision == 1
    assert shelf.apply(present("b.md", page, 2, moved_from="a.md")).effect == "moved"
    assert shelf.apply(replace(tombstone, patient=True)).effect == "unchanged"
    shelf.apply(present("c.md", page, 4))
    assert shelf.apply(replace(removed("c.md", page, 5, moved_to="d.md"), patient=False)).effect == "removed"


def test_a_rejected_change_leaves_the_last_good_revision_live() -> None:
    page = page_id("v", "a.md")
    shelf = Shelf()
    shelf.apply(present("a.md", page, 1))
    effected = shelf.apply(replace(present("a.md", page, 2), outcome="broken"))
    assert effected.effect == "rejected"
    assert lying_on(shelf) == {"a.md": page}
    assert shelf.slots[file_key("a.md")].reason == "broken"


def test_the_same_content_again_touches_no_page() -> None:
    page = page_id("v", "a.md")
    shelf = Shelf()
    shelf.apply(present("a.md", page, 1))
    shelf.touched_pages.clear()
    assert shelf.apply(present("a.md", page, 2)).effect == "unchanged"
    assert shelf.touched_pages == set()
    assert shelf.slots[file_key("a.md")].revision == 2


def test_a_changed_config_works_the_same_change_again() -> None:
    page = page_id("v", "a.md")
    shelf = Shelf()
    shelf.apply(present("a.md", page, 1))
    assert shelf.apply(present("a.md", page, 1)).repeat
    assert shelf.apply(replace(present("a.md", page, 1), config_hash="newer")).effect == "indexed"


def test_a_redelivered_change_owes_its_events_again() -> None:
    page = page_id("v", "b.md")
    change = present("b.md", page, 5, moved_from="a.md")
    shelf = Shelf(pages={page: LivePage(page, "a.md", "a.md", 1, "h")})
    first, again = shelf.apply(change), shelf.apply(change)
    assert (first.effect, first.repeat) == ("moved", False)
    assert (again.effect, again.repeat, again.old_path) == ("moved", True, "a.md")
