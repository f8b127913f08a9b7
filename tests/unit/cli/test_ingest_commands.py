"""`ingest`, `status`, `wait`, `rebuild`: what they ask, what they say, and the code that they end with."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from deploy.embedded.cli.progress import shown_progress
from deploy.embedded.cli.rebuild import empty_stores
from deploy.embedded.known_vaults import remember_vaults
from deploy.embedded.lock import hold
from deploy.embedded.state import DataFolder
from shared.contracts.error import ErrorReply
from shared.errors import InvalidInput
from tests.unit.cli.fakes import CommandLine, rejected_file, status_reply, sync_reply, wait_reply
from tests.unit.cli.test_sessions import pretend_running

STATUS = "citebus.v1.ingest.status.notes"
SYNC = "citebus.v1.ingest.sync.notes"
WAIT = "citebus.v1.ingest.wait.notes"


@pytest.fixture
def ready(line: CommandLine) -> CommandLine:
    line.bus.answers |= {STATUS: status_reply(), SYNC: sync_reply(), WAIT: wait_reply()}
    return line


def test_ingest_ends_when_files_are_worked_and_every_chunk_has_its_vector(ready: CommandLine, vault: Path) -> None:
    ready.bus.answers[STATUS] = [
        status_reply(files_lag=3, chunks=0, embedded_chunks=0),
        status_reply(embedded_chunks=0, embed_lag=9),
        status_reply(embedded_chunks=8, embed_lag=0),
        status_reply(),
    ]
    result = ready.run("ingest", "--once", str(vault))
    assert result.exit_code == 0
    assert len(ready.bus.asked(STATUS)) == 4
    assert "notes: 3 pages, 9 chunks, 9 embedded" in result.stdout
    assert "8 of 9 chunks embedded" in result.stderr


def test_ingest_lists_what_was_rejected_and_fails(ready: CommandLine, vault: Path) -> None:
    ready.bus.answers[STATUS] = status_reply(rejected_count=2, rejected=(rejected_file(),))
    result = ready.run("ingest", "--once", str(vault))
    assert result.exit_code == 1
    assert "  bad.md: not text: it holds NUL bytes (the last good revision stays searchable)" in result.stdout
    assert "and 1 more" in result.stdout


def test_a_file_that_a_worker_gave_up_is_not_passed_over(ready: CommandLine, vault: Path) -> None:
    ready.bus.answers[SYNC] = sync_reply(files=5)
    ready.bus.answers[STATUS] = status_reply(pages=3, rejected_count=1, rejected=(rejected_file(),))
    result = ready.run("ingest", "--once", str(vault))
    assert result.exit_code == 1
    assert "1 files of vault notes are neither searchable nor rejected" in result.stderr


def test_a_terminal_sees_bars_of_files_and_vectors() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    with shown_progress(console) as show:
        show(status_reply(files_lag=4, chunks=0, embedded_chunks=0))
        show(status_reply(embedded_chunks=5))
    assert isinstance(console.file, io.StringIO)
    drawn = console.file.getvalue()
    assert "4/4" in drawn
    assert "5/9" in drawn


def test_ingest_gives_up_when_nothing_moves(ready: CommandLine, vault: Path) -> None:
    ready.stall_s = 0.0
    ready.bus.answers[STATUS] = status_reply(embedded_chunks=4, embed_lag=5)
    result = ready.run("ingest", "--once", str(vault))
    assert result.exit_code == 1
    assert "5 texts wait, 5 chunks have no vector" in result.stderr


def test_ingest_without_once_says_what_to_say(ready: CommandLine, vault: Path) -> None:
    result = ready.run("ingest", str(vault))
    assert result.exit_code == 2
    assert "citebus ingest --once" in result.stderr


def test_ingest_refuses_a_vault_that_the_running_stack_does_not_watch(
    ready: CommandLine, vault: Path, tmp_path: Path
) -> None:
    pretend_running(ready.data_dir, other=tmp_path / "other")
    result = ready.run("ingest", "--once", str(vault))
    assert result.exit_code == 2
    assert f"does not watch {vault}" in result.stderr


def test_a_full_ingest_asks_for_every_hash(ready: CommandLine, vault: Path) -> None:
    ready.run("ingest", "--once", "--full", str(vault))
    assert ready.bus.asked(SYNC)[0]["full"] is True


def test_a_folder_that_does_not_exist_is_a_misuse(ready: CommandLine, tmp_path: Path) -> None:
    assert ready.run("ingest", "--once", str(tmp_path / "nowhere")).exit_code == 2


def test_status_shows_counts_lag_links_spaces_and_rejections(ready: CommandLine, vault: Path) -> None:
    pretend_running(ready.data_dir, notes=vault)
    ready.bus.answers[STATUS] = status_reply(rejected_count=1, rejected=(rejected_file(),), files_lag=4)
    result = ready.run("status")
    assert result.exit_code == 0
    shown = {" ".join(row.split()) for row in result.stdout.splitlines()}
    assert {"pages 3", "chunks embedded 9", "file changes waiting (all vaults) 4", "ambiguous links 2"} <= shown
    assert "text 2.0 kB" in shown
    assert "space hashing-64-c1 (live): 9 points" in shown
    assert any(row.startswith("bad.md: not text") for row in shown)


def test_status_as_json_is_the_replies_and_the_sizes(ready: CommandLine, vault: Path) -> None:
    pretend_running(ready.data_dir, notes=vault)
    (ready.data_dir / "nats" / "block").write_bytes(b"x" * 100)
    shown = json.loads(ready.run("status", "--json").stdout)
    assert shown["vaults"][0]["pages"] == 3
    assert shown["size_bytes"]["nats"] == 100


def test_wait_asks_for_what_the_file_says_now(ready: CommandLine, vault: Path) -> None:
    pretend_running(ready.data_dir, notes=vault)
    path = vault / "wiki" / "tides.md"
    result = ready.run("wait", str(path), "--until", "embedded", "--timeout", "5")
    assert result.exit_code == 0
    assert "wiki/tides.md is embedded: revision 4 of vault notes" in result.stdout
    (request,) = ready.bus.asked(WAIT)
    assert request["path"] == "wiki/tides.md"
    assert request["content_hash"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (request["until"], request["timeout_ms"]) == ("embedded", 5_000)


def test_wait_fails_when_the_time_is_over_and_says_so(ready: CommandLine, vault: Path) -> None:
    pretend_running(ready.data_dir, notes=vault)
    ready.bus.answers[WAIT] = ErrorReply(code="deadline", message="wiki/tides.md is not searchable yet")
    result = ready.run("wait", str(vault / "wiki" / "tides.md"), "--timeout", "1")
    assert result.exit_code == 1
    assert result.stderr == "citebus: wiki/tides.md is not searchable yet\n"


def test_wait_for_a_file_outside_of_the_vaults_is_a_misuse(ready: CommandLine, vault: Path, tmp_path: Path) -> None:
    pretend_running(ready.data_dir, notes=vault)
    stranger = tmp_path / "stranger.md"
    stranger.write_text("x", encoding="utf-8")
    result = ready.run("wait", str(stranger))
    assert result.exit_code == 2
    assert "is in no vault" in result.stderr


@pytest.fixture
def filled(ready: CommandLine, vault: Path) -> CommandLine:
    """A data folder with something in every store."""
    data = DataFolder.create(ready.data_dir)
    data.postgres.mkdir()
    (data.root / "watcher").mkdir()
    for store in (data.nats, data.postgres, data.vectors, data.root / "watcher"):
        (store / "old").write_text("old", encoding="utf-8")
    data.lock_file.touch()
    data.secrets()
    remember_vaults(ready.data_dir, {"notes": vault})
    return ready


def test_rebuild_empties_all_stores_keeps_passwords_and_ingests_again(filled: CommandLine, vault: Path) -> None:
    result = filled.run("rebuild", "--yes")
    assert result.exit_code == 0
    assert list(filled.data_dir.rglob("old")) == []
    assert (filled.data_dir / "secrets.json").exists()
    assert filled.opener.opened[0].vaults == (vault,)
    assert "9 embedded" in result.stdout


@pytest.mark.parametrize("answer", ["n\n", "\n", ""])
def test_rebuild_without_a_yes_deletes_nothing(filled: CommandLine, answer: str) -> None:
    result = filled.run("rebuild", input=answer)
    assert result.exit_code == 1
    assert len(list(filled.data_dir.rglob("old"))) == 4


def test_rebuild_goes_on_after_a_yes(filled: CommandLine) -> None:
    assert filled.run("rebuild", input="y\n").exit_code == 0


def test_rebuild_refuses_while_a_stack_holds_the_folder(filled: CommandLine) -> None:
    with hold(DataFolder(filled.data_dir)):
        result = filled.run("rebuild", "--yes")
    assert result.exit_code == 2
    assert len(list(filled.data_dir.rglob("old"))) == 4


async def test_a_folder_that_is_not_ours_is_never_emptied(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    with pytest.raises(InvalidInput, match="no data folder of citebus"):
        await empty_stores(tmp_path)
    assert (tmp_path / "postgres").exists()
