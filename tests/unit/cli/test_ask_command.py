"""`citebus ask` streams the answer, shows what it rests on, and ends with the code that says how it went."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from shared.contracts.chat import TurnEvent
from shared.contracts.error import ErrorCode, ErrorReply
from tests.unit.cli.fakes import CommandLine, citation
from tests.unit.cli.scripted_turns import (
    CONVERSATION_ID,
    Turn,
    cancelled,
    deltas,
    done,
    failed,
    refused,
    sources,
    use,
)
from tests.unit.cli.test_sessions import pretend_running

ANSWER = "Divers go to 30 m [1]. They fly on brass wings [2]."
STALE = {"source_path": "raw/minutes.md", "source_date": "2025-09-02", "page_date": "2025-07-12"}


def answer_events() -> list[TurnEvent]:
    return [
        sources(citation(1, "Diving", 0.9), citation(2, "Wings", 0.4, stale=STALE), citation(3, "Salt", 0.3)),
        *deltas(ANSWER[:20], ANSWER[20:]),
        use(ANSWER, "Divers go to 30 m [1].", 1, "quoted"),
        use(ANSWER, "They fly on brass wings [2].", 2, "unsupported"),
        done(characters=len(ANSWER), support={"quoted": 1, "unsupported": 1}),
    ]


@pytest.fixture
def asking(line: CommandLine, vault: Path) -> CommandLine:
    """A running stack with the vault `notes`."""
    pretend_running(line.data_dir, notes=vault)
    return line


def test_the_answer_comes_first_and_then_its_sources_with_place_and_support(asking: CommandLine) -> None:
    asking.bus.turns.turns.append(Turn(answer_events()))
    result = asking.run("ask", "How deep?")
    assert result.exit_code == 0
    text, _, rest = result.stdout.partition("\n\nSources\n")
    assert text == ANSWER
    assert "[1] Diving — wiki/Diving.md:12-30 (Diving > Limits)  quoted\n" in rest
    assert "[2] Wings — wiki/Wings.md:12-30 (Wings > Limits)  unsupported\n" in rest
    assert "older than its source raw/minutes.md" in rest
    assert "Salt" not in rest


def test_a_sentence_that_is_not_supported_is_named(asking: CommandLine) -> None:
    asking.bus.turns.turns.append(Turn(answer_events()))
    assert "Check: “They fly on brass wings [2].” is not supported by [2]" in asking.run("ask", "How deep?").stdout


def test_piped_output_has_no_control_characters(asking: CommandLine) -> None:
    steering = "Red \x1b[31malert\x07 [1]."
    asking.bus.turns.turns.append(Turn([sources(citation(1, "A", 0.9)), *deltas(steering), done()]))
    assert "Red [31malert [1]." in asking.run("ask", "How?").stdout


def test_a_terminal_breaks_lines_between_words_only(asking: CommandLine) -> None:
    words = "Lighthouse keepers of the northern archipelago write down every passing vessel [1]."
    asking.out = Console(file=io.StringIO(), force_terminal=True, width=40, color_system=None, highlight=False)
    pieces = [words[index : index + 3] for index in range(0, len(words), 3)]
    asking.bus.turns.turns.append(Turn([*deltas(*pieces), done()]))
    asking.run("ask", "Who?")
    shown = asking.out.file.getvalue()  # pyright: ignore[reportAttributeAccessIssue]
    assert max(map(len, shown.splitlines())) <= 40
    assert " ".join(shown.split()) == words


def test_a_refusal_has_an_exit_code_of_its_own_and_no_sources(asking: CommandLine) -> None:
    asking.bus.turns.turns.append(refused("Nothing was found in this vault about that."))
    result = asking.run("ask", "Who?")
    assert (result.exit_code, result.stdout) == (3, "Nothing was found in this vault about that.\n")


@pytest.mark.parametrize(
    ("end", "code", "said"),
    [
        (failed("unavailable", "The model is busy."), 1, "The model is busy."),
        (failed("invalid", "The window is too small."), 2, "The window is too small."),
        (cancelled("deadline"), 1, "--timeout"),
        (cancelled("shutdown"), 1, "stopped amid the answer"),
    ],
)
def test_an_answer_that_is_not_whole_is_shown_as_far_as_it_is_and_why(
    asking: CommandLine, end: TurnEvent, code: int, said: str
) -> None:
    asking.bus.turns.turns.append(Turn([*deltas("Half an"), end]))
    result = asking.run("ask", "How?")
    assert (result.exit_code, result.stdout) == (code, "Half an\n")
    assert said in result.stderr


@pytest.mark.parametrize(("code", "exits"), [("invalid", 2), ("not_found", 1), ("unavailable", 1)])
def test_a_question_that_is_not_accepted_is_an_error(asking: CommandLine, code: ErrorCode, exits: int) -> None:
    asking.bus.answers["citebus.v1.chat.notes"] = ErrorReply(code=code, message="not now")
    result = asking.run("ask", "How?")
    assert (result.exit_code, result.stdout, result.stderr) == (exits, "", "citebus: not now\n")


def test_ctrl_c_cancels_on_the_server_and_shows_what_there_is(asking: CommandLine) -> None:
    asking.bus.turns.turns.append(Turn(deltas("Half an"), [*deltas(" answer"), cancelled("asked")], interrupts=1))
    result = asking.run("ask", "How?")
    assert (result.exit_code, result.stdout) == (130, "Half an answer\n")
    (subject,) = asking.bus.turns.cancelled
    assert subject == f"citebus.v1.cancel.notes.{asking.bus.turns.requests[0]['turn_id']}"


def test_a_second_ctrl_c_does_not_wait_for_a_silent_server(asking: CommandLine) -> None:
    asking.bus.turns.turns.append(Turn(deltas("Half an"), interrupts=2))
    result = asking.run("ask", "How?")
    assert (result.exit_code, result.stdout) == (130, "Half an\n")
    assert len(asking.bus.turns.cancelled) == 1


def test_options_become_the_request(asking: CommandLine) -> None:
    asking.bus.turns.turns.append(Turn([*deltas("Yes."), done()]))
    asking.run(
        "ask", "How?", "--k", "3", "--filter", "area=ops", "--profile", "sparse", "--provider", "extractive",
        "--context-window", "9000", "--timeout", "2.5", "--conversation", str(CONVERSATION_ID),
    )  # fmt: skip
    (request,) = asking.bus.turns.requests
    told = {"question": "How?", "k": 3, "filters": {"area": ["ops"]}, "profile": "sparse", "provider": "extractive"}
    more = {"context_window": 9000, "deadline_ms": 2500, "conversation_id": str(CONVERSATION_ID), "stream": True}
    assert {**told, **more}.items() <= request.items()


def test_verbose_says_who_answered_for_how_much(asking: CommandLine) -> None:
    asking.bus.turns.turns.append(Turn([*deltas("Yes."), done()]))
    said = asking.run("ask", "How?", "-v").stderr
    assert said.startswith("openai gpt-4o · 1,200 tokens in, 34 out · $0.0042 · 345 ms (search 12")
    assert str(CONVERSATION_ID) in said


def test_an_unknown_price_is_said_and_is_not_nothing(asking: CommandLine) -> None:
    asking.bus.turns.turns.append(Turn([*deltas("Yes."), done(cost=None)]))
    assert "price not known" in asking.run("ask", "How?", "-v").stderr


def test_what_got_lost_on_the_way_is_said(asking: CommandLine) -> None:
    asking.bus.turns.turns.append(Turn([*deltas("Yes."), done(characters=100)]))
    assert f"96 characters were lost on the way; the whole answer: citebus conversations show {CONVERSATION_ID}" in (
        asking.run("ask", "How?").stdout
    )


def as_json(asking: CommandLine, *arguments: str) -> tuple[int, dict[str, Any]]:
    result = asking.run("ask", "How deep?", "--json", *arguments)
    assert result.stderr == ""
    return result.exit_code, json.loads(result.stdout)


def test_json_is_one_object_with_everything(asking: CommandLine) -> None:
    asking.bus.turns.turns.append(Turn(answer_events()))
    code, told = as_json(asking)
    assert (code, told["state"], told["answer"], told["error"]) == (0, "done", ANSWER, None)
    assert [(one["n"], one["place"], one["support"]) for one in told["citations"]] == [
        (1, "wiki/Diving.md:12-30", "quoted"),
        (2, "wiki/Wings.md:12-30", "unsupported"),
    ]
    assert told["citations"][1]["stale"] is True
    assert told["support"] == {"quoted": 1, "supported": 0, "weak": 0, "unsupported": 1}
    assert (told["cost"], told["usage"]["input_tokens"], told["timings_ms"]["search"]) == ("0.0042", 1200, 12.0)
    assert told["conversation_id"] == str(CONVERSATION_ID)
    assert asking.bus.turns.requests[0]["stream"] is False


def test_json_says_refusals_failures_and_errors_as_json(asking: CommandLine) -> None:
    asking.bus.turns.turns.extend([refused("Nothing."), Turn([failed("unavailable", "busy")])])
    code, told = as_json(asking)
    assert (code, told["state"], told["refusal"], told["citations"]) == (3, "refused", "nothing_found", [])
    code, told = as_json(asking)
    assert (code, told["state"], told["error"]) == (1, "failed", {"code": "unavailable", "message": "busy"})
    asking.bus.answers["citebus.v1.chat.notes"] = ErrorReply(code="unavailable", message="full", retry_after_ms=200)
    code, told = as_json(asking)
    assert (code, told["error"]) == (1, {"code": "unavailable", "message": "full", "retry_after_ms": 200})
    code, told = as_json(asking, "--filter", "nonsense")
    assert (code, told["error"]["code"]) == (2, "invalid")


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("", "citebus: the question is empty\n"),
        ("x" * 8001, "citebus: the question has 8,001 characters, at most 8,000 are taken: shorten it\n"),
    ],
)
def test_a_question_that_cannot_be_asked_is_a_misuse(asking: CommandLine, question: str, said: str) -> None:
    result = asking.run("ask", question)
    assert (result.exit_code, result.stderr) == (2, said)


def test_of_several_vaults_one_must_be_named(line: CommandLine, vault: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    pretend_running(line.data_dir, notes=vault, other=other)
    result = line.run("ask", "How?")
    assert result.exit_code == 2
    assert "name it with --vault; there are notes, other" in result.stderr
