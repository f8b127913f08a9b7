"""`up`, `doctor`, `demo`, `version` and the help."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest

from deploy.embedded.cli import checks
from deploy.embedded.cli.app import COMMANDS, CONVERSATIONS
from deploy.embedded.cli.demo import QUESTION, UNANSWERABLE
from deploy.embedded.cli.vault_checks import check_inotify, check_vault
from deploy.embedded.ports import PortBook
from shared.errors import InvalidInput, Unavailable
from tests.unit.cli.fakes import CommandLine, VaultsOnlyStack, citation, search_reply, status_reply, sync_reply
from tests.unit.cli.scripted_turns import Turn, deltas, done, refused, sources, use
from tests.unit.cli.test_sessions import pretend_running

NAMES = [command.__name__ for command in COMMANDS] + [f"conversations {name}" for name in CONVERSATIONS]


@pytest.mark.parametrize("name", NAMES)
def test_every_help_teaches_with_an_example_and_names_the_exit_codes(line: CommandLine, name: str) -> None:
    result = line.run(*name.split(), "--help", data_dir=False)
    assert result.exit_code == 0
    assert f"\n    citebus {name}" in result.stdout
    assert "Exit codes: 0" in result.stdout


def test_the_help_lists_every_command_whole(line: CommandLine) -> None:
    listing = line.run("--help", data_dir=False).stdout
    lines = [text.split(maxsplit=1) for text in listing.splitlines()]
    for command, summary in COMMANDS.items():
        assert [command.__name__, summary] in lines


def test_an_unknown_option_is_a_misuse(line: CommandLine) -> None:
    assert line.run("search", "x", "--colour").exit_code == 2


class StackOnASignal(VaultsOnlyStack):
    """Sends this process a signal as soon as it is waited for."""

    signal_number = signal.SIGTERM

    async def wait(self) -> None:
        os.kill(os.getpid(), self.signal_number)
        await asyncio.Event().wait()


class StackOnCtrlC(StackOnASignal):
    signal_number = signal.SIGINT


@pytest.mark.parametrize(("stack", "code"), [(StackOnASignal, 0), (StackOnCtrlC, 130)])
def test_up_shows_what_runs_where_and_stops_in_order_on_a_signal(
    line: CommandLine, vault: Path, stack: type[VaultsOnlyStack], code: int
) -> None:
    line.opener.stack_type = stack
    result = line.run("up", str(vault))
    assert result.exit_code == code
    assert line.opener.closed == 1
    rows = [row.split() for row in result.stdout.splitlines()]
    assert ["nats-server", "127.0.0.1:20000"] in rows
    assert ["vault", "notes", str(vault)] in rows
    assert "secret" not in result.output


def test_up_fails_with_the_part_that_gave_up(line: CommandLine, vault: Path) -> None:
    line.opener.gives_up = Unavailable("Postgres ended five times in a row; see the log")
    result = line.run("up", str(vault))
    assert result.exit_code == 1
    assert "citebus: Postgres ended five times in a row; see the log" in result.stderr
    assert line.opener.closed == 1


def test_a_second_up_says_who_holds_the_folder(line: CommandLine, vault: Path) -> None:
    line.opener.failure = InvalidInput("citebus is already running")
    result = line.run("up", str(vault))
    assert (result.exit_code, result.stderr) == (2, "citebus: citebus is already running\n")


def test_up_without_a_vault_takes_those_of_last_time(line: CommandLine, vault: Path) -> None:
    line.opener.gives_up = Unavailable("enough")
    line.run("up", str(vault))
    line.run("up")
    assert [options.vaults for options in line.opener.opened] == [(vault,), (vault,)]


def test_up_without_any_vault_is_a_misuse(line: CommandLine) -> None:
    assert line.run("up").exit_code == 2


def test_doctor_asks_the_running_stack(line: CommandLine, vault: Path) -> None:
    pretend_running(line.data_dir, notes=vault)
    line.bus.answers["citebus.v1.ingest.status.notes"] = status_reply()
    assert "stack: process" in line.run("doctor").stdout
    line.bus.answers.clear()
    result = line.run("doctor")
    assert result.exit_code == 1
    assert "✗ stack: nothing answers on citebus.v1.ingest.status.notes" in result.stdout
    assert "→ stop it with Ctrl-C" in result.stdout


def test_doctor_says_what_is_wrong_with_a_vault_and_what_to_do(line: CommandLine, vault: Path) -> None:
    (vault / ".citebus.toml").write_text("exclud = []", encoding="utf-8")
    result = line.run("doctor", str(vault))
    assert result.exit_code == 1
    assert "did you mean `exclude`" in result.stdout


def test_doctor_as_json_lists_every_check(line: CommandLine) -> None:
    names = [finding["name"] for finding in json.loads(line.run("doctor", "--json").stdout)]
    assert names == [
        "Python", "packages", "NATS server", "Postgres", "model", "data folder", "ports", "inotify", "stack",
        "chat provider",
    ]  # fmt: skip


def test_doctor_changes_nothing(line: CommandLine, tmp_path: Path) -> None:
    line.run("doctor")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_package_is_named_with_the_command_that_installs_it() -> None:
    finding = checks.check_packages(["pydantic", "citebus-no-such-package"])
    assert not finding.ok
    assert finding.seen == "missing: citebus-no-such-package"
    assert "pip install" in finding.advice


def test_a_full_disk_is_wrong(tmp_path: Path) -> None:
    assert checks.check_data_folder(tmp_path / "new" / "data").ok
    assert not checks.check_data_folder(tmp_path, least_free_bytes=1 << 60).ok


def test_ports_that_are_written_down_are_shown(tmp_path: Path) -> None:
    port = PortBook(tmp_path / "ports.json").choose("nats")
    assert checks.check_ports(tmp_path).seen == f"free: nats {port}"


def test_too_few_watches_are_wrong_and_the_advice_raises_them(tmp_path: Path, vault: Path) -> None:
    limit = tmp_path / "limit"
    limit.write_text("3\n", encoding="utf-8")
    finding = check_inotify([vault], limit)
    assert not finding.ok
    assert "sudo sysctl fs.inotify.max_user_watches=524288" in finding.advice
    limit.write_text("65536\n", encoding="utf-8")
    assert check_inotify([vault], limit).ok
    assert check_inotify([vault], tmp_path / "absent").ok


def test_a_readable_vault_is_well(vault: Path) -> None:
    finding = check_vault(vault)
    assert (finding.ok, finding.seen) == (True, "id notes, 1 files, all readable")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_an_unreadable_file_is_named(vault: Path) -> None:
    (vault / "wiki" / "tides.md").chmod(0)
    assert "wiki/tides.md" in check_vault(vault).seen


@pytest.fixture
def demo_line(line: CommandLine) -> CommandLine:
    """A stack whose vault `orveig` has an answer for the first question and none for the second."""
    line.bus.answers |= {
        "citebus.v1.search.orveig": search_reply(citation(1, "Bloom", 0.8)),
        "citebus.v1.ingest.status.orveig": status_reply("orveig"),
        "citebus.v1.ingest.sync.orveig": sync_reply(),
    }
    text = "Every 180 days [1]."
    answer = [sources(citation(1, "Bloom", 0.8)), *deltas(text), use(text, text, 1, "quoted"), done()]
    line.bus.turns.turns.extend([Turn(answer), refused("The pages of this vault do not answer that.")])
    return line


def test_the_demo_shows_a_cited_answer_a_refusal_and_how_to_go_on(demo_line: CommandLine) -> None:
    result = demo_line.run("demo", data_dir=False)
    assert result.exit_code == 0
    assert demo_line.bus.asked("citebus.v1.search.orveig")[0]["query"] == QUESTION
    asked = [(request["question"], request["provider"]) for request in demo_line.bus.turns.requests]
    assert asked == [(QUESTION, "extractive"), (UNANSWERABLE, "extractive")]
    assert "Every 180 days [1].\n\nSources\n[1] Bloom — wiki/Bloom.md:12-30" in result.stdout
    assert f'"{UNANSWERABLE}"\n\nThe pages of this vault do not answer that.\n' in result.stdout
    assert "citebus up ~/notes" in result.stdout
    assert not demo_line.opener.opened[0].data_dir.exists()


def test_a_demo_that_is_kept_lies_where_it_was_asked_for(demo_line: CommandLine) -> None:
    result = demo_line.run("demo")
    assert result.exit_code == 0
    assert (demo_line.data_dir / "orveig" / "purpose.md").is_file()
    assert f"citebus up {demo_line.data_dir / 'orveig'}" in result.stdout


def test_a_demo_without_an_answer_has_failed(demo_line: CommandLine) -> None:
    demo_line.bus.turns.turns.popleft()
    demo_line.bus.turns.turns.appendleft(refused("Nothing was found in this vault about that."))
    assert demo_line.run("demo").exit_code == 1


def test_the_version_names_the_engines(line: CommandLine) -> None:
    assert "citebus " in line.run("version", data_dir=False).stdout
    assert "nats-py" in json.loads(line.run("version", "--json", data_dir=False).stdout)
