"""Save to wiki: a page is written whole, once, and over nothing that somebody else wrote."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from services.ingest.text.front_matter import read_front_matter
from services.ingest.watcher.saving import Saving
from shared.contracts.files import SchemaRules, VaultSettings
from shared.contracts.saving import SaveTextReply, SaveTextRequest
from shared.errors import InvalidInput, TooLarge, Unavailable
from shared.ids import content_hash

TURN = UUID("6f1c2a9e-4b7d-4c1e-9d2a-0b5f3e8a7c11")
PAGE = UUID(int=7)


class Watch:
    """A watcher that publishes at once."""

    def __init__(self, root: Path, settings: VaultSettings | None = None, max_bytes: int = 1_000_000) -> None:
        self.root = str(root)
        self.settings = settings or VaultSettings(vault_id="notes")
        self.max_bytes = max_bytes
        self.published: list[str] = []
        self.problem: Unavailable | None = None
        self.away = False

    def check_folder(self) -> None:
        if self.away:
            raise Unavailable("the folder is not mounted")

    async def publish(self, disk_path: str) -> UUID | None:
        if self.problem is not None:
            raise self.problem
        self.published.append(disk_path)
        return PAGE


@pytest.fixture
def watch(tmp_path: Path) -> Watch:
    return Watch(tmp_path)


async def save(watch: Watch, *, minute: int = 0, **more: Any) -> SaveTextReply:
    fields: dict[str, Any] = {"title": "How much salt?", "body": "Two percent [^1].\n\n[^1]: [[wiki/salt|Salt]]"}
    saving = Saving(watch, lambda: datetime(2026, 5, 31, 12, minute, tzinfo=UTC))
    return await saving.save("notes", SaveTextRequest.model_validate({**fields, "turn_id": TURN, **more}))


def text(watch: Watch, path: str) -> str:
    return (Path(watch.root) / path).read_text(encoding="utf-8")


def is_empty(watch: Watch) -> bool:
    return not list(Path(watch.root).iterdir())


async def test_a_new_page_says_where_it_comes_from(watch: Watch) -> None:
    conversation = uuid4()
    reply = await save(
        watch,
        sources=("wiki/salt.md", "wiki/salt.md"),
        question="How much salt?\nIn brine?",
        conversation_id=conversation,
    )
    assert (reply.path, reply.outcome, reply.page_id) == ("wiki/queries/how-much-salt.md", "created", PAGE)
    written = text(watch, reply.path)
    assert reply.content_hash == content_hash(written)
    assert written.endswith("---\n\nTwo percent [^1].\n\n[^1]: [[wiki/salt|Salt]]\n")
    assert read_front_matter(written).values == {
        "title": "How much salt?",
        "generated_by": "citebus",
        "saved_at": "2026-05-31T12:00:00+00:00",
        "question": "How much salt?\nIn brine?",
        "conversation": str(conversation),
        "turn": str(TURN),
        "type": "query",
        "sources": ["wiki/salt.md"],
    }
    assert watch.published == [reply.path]
    assert [file.name for file in (Path(watch.root) / "wiki/queries").iterdir()] == ["how-much-salt.md"]


async def test_the_same_turn_again_changes_nothing(watch: Watch) -> None:
    first = await save(watch)
    before = text(watch, first.path)
    again = await save(watch, minute=5)
    assert (again.outcome, again.path, again.content_hash) == ("unchanged", first.path, first.content_hash)
    assert text(watch, first.path) == before


async def test_other_words_of_the_same_turn_need_leave_to_overwrite(watch: Watch) -> None:
    first = await save(watch)
    with pytest.raises(InvalidInput, match="ask to overwrite"):
        await save(watch, body="Three percent.")
    updated = await save(watch, body="Three percent.", overwrite=True)
    assert (updated.outcome, updated.path) == ("updated", first.path)
    assert "Three percent." in text(watch, first.path)


async def test_the_same_turn_under_another_title_is_the_same_page(watch: Watch) -> None:
    first = await save(watch)
    (Path(watch.root) / "wiki/queries/unreadable.md").symlink_to("nowhere.md")
    with pytest.raises(InvalidInput, match=r"wiki/queries/how-much-salt\.md was saved before.*ask to overwrite"):
        await save(watch, title="Salt, once more")
    renamed = await save(watch, title="Salt, once more", overwrite=True)
    assert (renamed.outcome, renamed.path) == ("updated", first.path)
    assert "Salt, once more" in text(watch, first.path)
    elsewhere = await save(watch, title="Salt, once more", path="wiki/concepts/salt.md")
    assert (elsewhere.outcome, elsewhere.path) == ("created", "wiki/concepts/salt.md")


async def test_two_answers_to_one_question_are_two_pages_and_each_finds_its_own(watch: Watch) -> None:
    other = UUID(int=5)
    first, second = await save(watch), await save(watch, turn_id=other, body="Three percent.")
    assert second.path == "wiki/queries/how-much-salt-00000000.md"
    assert (
        (await save(watch)).outcome == (await save(watch, turn_id=other, body="Three percent.")).outcome == "unchanged"
    )
    assert first.path != second.path


@pytest.mark.parametrize("overwrite", [True, False])
@pytest.mark.parametrize(
    "foreign", ["# Mine\n", "---\ntype: query\n---\nMine\n", "\0binary", "---\ngenerated_by: me\n---\n"]
)
async def test_a_page_of_somebody_else_stays(watch: Watch, foreign: str, overwrite: bool) -> None:
    file = Path(watch.root) / "wiki/mine.md"
    file.parent.mkdir()
    file.write_text(foreign)
    with pytest.raises(InvalidInput, match="not written by citebus"):
        await save(watch, path="wiki/mine.md", overwrite=overwrite)
    assert file.read_text() == foreign
    assert watch.published == []


async def test_a_name_that_somebody_else_has_is_left_to_him(watch: Watch) -> None:
    file = Path(watch.root) / "wiki/queries/how-much-salt.md"
    file.parent.mkdir(parents=True)
    file.write_text("Mine.")
    assert (await save(watch)).path == "wiki/queries/how-much-salt-6f1c2a9e.md"
    assert file.read_text() == "Mine."


@pytest.mark.parametrize(
    "path",
    [
        "notes/a.md", "wiki", "wiki/", "wiki/../a.md", "wiki/./a.md", "/wiki/a.md", "wiki//a.md", "../wiki/a.md",
        "wiki/a.txt", "wiki/.hidden.md", "wiki/.git/a.md", "wiki/con.md", "wiki/LPT1.md", "wiki/nul/a.md",
        "wiki/a\\b.md",
        "wiki/a:b.md", "wiki/a|b.md", "wiki/a\nb.md", "wiki/a .md/x.md ", f"wiki/{'a' * 210}.md", "wiki/a./b.md",
        "wiki/a/b/c/d/e/f/g/h.md", "wiki/a[1].md", "wiki/a#b.md",
    ],
)  # fmt: skip
async def test_a_path_that_may_not_be_is_refused(watch: Watch, path: str) -> None:
    with pytest.raises(InvalidInput):
        await save(watch, path=path)
    assert is_empty(watch)


@pytest.mark.parametrize(
    "title", ["con", "???", "../../etc/passwd", "ä" * 200, "日本語の質問ですか" * 20, "a\0b", ". . ."]
)
async def test_any_title_gives_a_name_below_the_folder(watch: Watch, title: str) -> None:
    reply = await save(watch, title=title)
    folder, _, name = reply.path.rpartition("/")
    assert folder == "wiki/queries"
    assert len(name.encode()) <= 110
    assert (Path(watch.root) / reply.path).is_file()


async def test_what_the_vault_leaves_out_is_refused_before_it_is_written(tmp_path: Path) -> None:
    watch = Watch(tmp_path, VaultSettings(vault_id="notes", exclude=("wiki/queries/",)))
    with pytest.raises(InvalidInput, match="left out"):
        await save(watch)
    assert is_empty(watch)
    assert (await save(watch, path="wiki/other.md")).outcome == "created"


async def test_what_a_strict_vault_would_reject_is_refused_before_it_is_written(tmp_path: Path) -> None:
    rules = SchemaRules(strict=True, required=("title", "area"))
    watch = Watch(tmp_path, VaultSettings(vault_id="notes", rules=rules))
    with pytest.raises(InvalidInput, match="the field area is missing"):
        await save(watch)
    assert is_empty(watch)


async def test_a_page_larger_than_what_is_indexed_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TooLarge):
        await save(Watch(tmp_path, max_bytes=1000), body="x" * 2000)


async def test_blanks_are_no_page(watch: Watch) -> None:
    with pytest.raises(InvalidInput, match="blanks"):
        await save(watch, body=" \n\t ")
    with pytest.raises(InvalidInput, match="blanks"):
        await save(watch, title=" \x01 ")


async def test_a_text_can_not_forge_its_front_matter(watch: Watch) -> None:
    reply = await save(
        watch, title="a\ngenerated_by: me", question="x\n---\ntype: concept", body="---\ntype: evil\n---\nx"
    )
    values = read_front_matter(text(watch, reply.path)).values
    assert (values["type"], values["generated_by"], values["question"]) == ("query", "citebus", "x\n---\ntype: concept")


async def test_a_page_is_saved_even_if_it_can_not_be_published_now(watch: Watch) -> None:
    watch.problem = Unavailable("the log is away")
    reply = await save(watch)
    assert (reply.outcome, reply.page_id) == ("created", None)
    assert (Path(watch.root) / reply.path).is_file()


async def test_nothing_is_written_into_a_folder_that_is_not_mounted(watch: Watch) -> None:
    watch.away = True
    with pytest.raises(Unavailable):
        await save(watch)
    assert is_empty(watch)


async def test_saves_at_once_do_not_share_a_name(watch: Watch) -> None:
    saving = Saving(watch, lambda: datetime(2026, 5, 31, tzinfo=UTC))
    requests = [SaveTextRequest(title="Same", body=f"{number}", turn_id=uuid4()) for number in range(2)]
    replies = await asyncio.gather(*(saving.save("notes", request) for request in requests))
    assert len({reply.path for reply in replies}) == 2
    assert all(reply.outcome == "created" for reply in replies)


async def test_what_a_crash_left_is_hidden_and_overwritten(watch: Watch) -> None:
    left = Path(watch.root) / "wiki/queries/.how-much-salt.md.citebus-tmp"
    left.parent.mkdir(parents=True)
    left.write_text("half a pa")
    reply = await save(watch)
    assert not left.exists()
    assert text(watch, reply.path).startswith("---\ntitle: How much salt?\n")
