"""`citebus conversations` and `citebus save`: the right requests, shown to people and to programs."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from shared.contracts import conversations as c
from shared.contracts.error import ErrorReply
from shared.contracts.message import Message
from shared.contracts.saving import SaveTextReply
from shared.contracts.stored_turns import ChatTurn, ConversationSummary
from tests.unit.cli.fakes import CommandLine, citation
from tests.unit.cli.scripted_turns import CONVERSATION_ID
from tests.unit.cli.test_sessions import pretend_running

MOMENT = "2025-09-01T10:00:00Z"
TURN_ID = UUID("00000000-0000-4000-8000-0000000000b0")
OTHER_ID = UUID("11111111-0000-4000-8000-0000000000c0")
ANSWER = "Twice a day [1]. The moon is cheese [1]."


def summary(conversation_id: UUID = CONVERSATION_ID, **fields: Any) -> ConversationSummary:
    known = {"title": "Tides", "created_at": MOMENT, "updated_at": MOMENT, "turns": 2, "cost": "0.0042", "unpriced": 1}
    return ConversationSummary.model_validate({"conversation_id": conversation_id, **known, **fields})


def turn(turn_id: UUID = TURN_ID, state: str = "done") -> ChatTurn:
    cheese = {"start": 17, "end": 40, "marker_start": 36, "marker_end": 39, "support": "weak", "score": 0.3}
    day = {"start": 0, "end": 16, "marker_start": 12, "marker_end": 15, "support": "quoted", "score": 1.0}
    cited = {**citation(1, "Tides", 0.9).model_dump(), "spans": [day, cheese]}
    message = {"message_id": TURN_ID, "turn_id": turn_id, "created_at": MOMENT}
    question = {**message, "role": "user", "text": "How often?", "state": "done"}
    spent = {"usage": {"input_tokens": 1200, "output_tokens": 34}, "provider": "openai", "model": "gpt-4o"}
    answer = {**message, **spent, "role": "assistant", "text": ANSWER, "state": state, "citations": [cited]}
    return ChatTurn.model_validate({"turn_id": turn_id, "question": question, "answer": answer})


@pytest.fixture
def kept(line: CommandLine, vault: Path) -> CommandLine:
    """A running stack that has two conversations."""
    pretend_running(line.data_dir, notes=vault)
    reply(line, "list", c.ListReply(conversations=(summary(), summary(OTHER_ID, title="Salt")), next_cursor="more"))
    reply(line, "get", c.GetReply(conversation=summary(), turns=(turn(),)))
    return line


def subject(operation: str) -> str:
    return f"citebus.v1.conversation.{operation}.notes"


def reply(line: CommandLine, operation: str, answer: Message | list[Message]) -> None:
    line.bus.answers[subject(operation)] = answer


def run_json(line: CommandLine, *arguments: str) -> dict[str, Any]:
    result = line.run("conversations", *arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_a_list_has_a_line_per_conversation_with_its_whole_id_in_a_pipe(kept: CommandLine) -> None:
    lines = kept.run("conversations", "list", "--limit", "2").stdout.splitlines()
    assert lines[1].startswith(str(CONVERSATION_ID))
    assert lines[1].endswith("Tides")
    assert "$0.0042 + 1 unpriced" in lines[1]
    assert "there are more" in lines[-1]
    assert kept.bus.asked(subject("list"))[0]["limit"] == 2
    assert [one["title"] for one in run_json(kept, "list")["conversations"]] == ["Tides", "Salt"]


def test_no_conversations_yet_is_no_failure_and_says_how_to_begin(kept: CommandLine) -> None:
    reply(kept, "list", c.ListReply(conversations=()))
    result = kept.run("conversations", "list")
    assert (result.exit_code, "citebus ask" in result.stdout) == (0, True)


def test_a_conversation_is_shown_word_for_word_with_sources_and_doubts(kept: CommandLine) -> None:
    shown = kept.run("conversations", "show", "last").stdout
    assert (
        f"> How often?\n{ANSWER}\n\nSources\n[1] Tides — wiki/Tides.md:12-30 (Tides > Limits)  1 quoted, 1 weak"
        in shown
    )
    assert "Check: “The moon is cheese [1].” is only weakly supported by [1]" in shown
    assert "done · openai gpt-4o · 1,200 tokens in, 34 out · price not known" in shown


def test_a_long_conversation_is_read_to_its_end(kept: CommandLine) -> None:
    first = c.GetReply(conversation=summary(), turns=(turn(),), next_cursor="next")
    reply(kept, "get", [first, c.GetReply(conversation=summary(), turns=(turn(OTHER_ID),))])
    assert [one["turn_id"] for one in run_json(kept, "show", "last")["turns"]] == [str(TURN_ID), str(OTHER_ID)]
    assert [request.get("cursor") for request in kept.bus.asked(subject("get"))] == [None, "next"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [("last", CONVERSATION_ID), ("1111", OTHER_ID), (str(OTHER_ID), OTHER_ID)],
)
def test_a_conversation_is_named_by_id_beginning_or_as_the_last(kept: CommandLine, name: str, meant: UUID) -> None:
    kept.run("conversations", "show", name)
    assert kept.bus.asked(subject("get"))[0]["conversation_id"] == str(meant)


@pytest.mark.parametrize(("name", "code", "said"), [("Tides", 2, "is no conversation"), ("2222", 1, "there is no")])
def test_what_names_no_conversation_is_an_error(kept: CommandLine, name: str, code: int, said: str) -> None:
    result = kept.run("conversations", "show", name)
    assert (result.exit_code, said in result.stderr) == (code, True)


def test_a_beginning_that_fits_several_is_refused(kept: CommandLine) -> None:
    both = (summary(), summary(UUID("00000000-0000-4000-8000-0000000000c1")))
    reply(kept, "list", c.ListReply(conversations=both))
    result = kept.run("conversations", "delete", "0000", "--yes")
    assert (result.exit_code, "give more digits" in result.stderr) == (2, True)
    assert kept.bus.asked(subject("delete")) == []


def test_words_are_found_in_questions_and_answers(kept: CommandLine) -> None:
    hit = {"conversation_id": OTHER_ID, "title": "Salt", "message_id": TURN_ID, "turn_id": TURN_ID, "role": "user"}
    more = {"excerpt": "how much\nsalt", "score": 0.5, "created_at": MOMENT}
    reply(kept, "search", c.ConversationSearchReply.model_validate({"hits": [{**hit, **more}]}))
    shown = kept.run("conversations", "search", "salt").stdout
    assert shown.startswith(f"{OTHER_ID}  Salt  (question, ")
    assert shown.endswith("\n    how much salt\n")
    assert kept.run("conversations", "search", "  ").exit_code == 2


def test_a_rename_says_the_new_title(kept: CommandLine) -> None:
    reply(kept, "rename", c.SummaryReply(conversation=summary(title="Moon")))
    assert "now “Moon”" in kept.run("conversations", "rename", "last", "Moon").stderr
    assert kept.bus.asked(subject("rename"))[0]["title"] == "Moon"


@pytest.mark.parametrize(("typed", "deleted"), [("y\n", True), ("n\n", False), ("", False)])
def test_a_delete_asks_before(kept: CommandLine, typed: str, deleted: bool) -> None:
    reply(kept, "delete", c.DeleteReply(conversation_id=CONVERSATION_ID))
    result = kept.run("conversations", "delete", "last", input=typed)
    assert (result.exit_code == 0, bool(kept.bus.asked(subject("delete")))) == (deleted, deleted)


def test_a_delete_with_yes_does_not_ask(kept: CommandLine) -> None:
    reply(kept, "delete", c.DeleteReply(conversation_id=CONVERSATION_ID))
    assert run_json(kept, "delete", "last", "--yes")["conversation_id"] == str(CONVERSATION_ID)


def test_an_export_goes_to_the_output_or_to_a_new_file_only(kept: CommandLine, tmp_path: Path) -> None:
    document = {"conversation_id": CONVERSATION_ID, "format": "markdown", "file_name": "t.md", "text": "# Tides\n"}
    reply(kept, "export", c.ExportReply.model_validate(document))
    assert kept.run("conversations", "export", "last").stdout == "# Tides\n"
    file = tmp_path / "talk.md"
    assert kept.run("conversations", "export", "last", "-o", str(file)).exit_code == 0
    assert file.read_text() == "# Tides\n"
    assert kept.run("conversations", "export", "last", "-o", str(file)).exit_code == 2


def test_a_share_prints_its_token_alone_and_how_to_revoke_it(kept: CommandLine) -> None:
    token = "t" * 43
    reply(kept, "share", c.ShareReply(conversation_id=CONVERSATION_ID, share_id=TURN_ID, token=token))
    result = kept.run("conversations", "share", "last")
    assert result.stdout == f"{token}\n"
    assert f"citebus conversations unshare {CONVERSATION_ID} --share {TURN_ID}" in result.stderr
    reply(kept, "unshare", c.UnshareReply(conversation_id=CONVERSATION_ID, revoked=1))
    assert "1 shares revoked" in kept.run("conversations", "unshare", "last", "--share", str(TURN_ID)).stderr
    reply(kept, "shared", c.GetReply(conversation=summary(), turns=(turn(),)))
    assert ANSWER in kept.run("conversations", "read", token).stdout


def test_costs_are_summed_and_what_is_unknown_is_said(kept: CommandLine) -> None:
    days = [
        {"day": "2025-09-01", "answers": 2, "input_tokens": 1200, "output_tokens": 34, "cost": "0.10", "unpriced": 1},
        {"day": "2025-09-02", "answers": 1, "input_tokens": 10, "output_tokens": 3, "cost": "0.02"},
    ]
    reply(kept, "costs", c.CostsReply.model_validate({"days": days}))
    shown = kept.run("conversations", "costs", "--days", "7").stdout
    assert "$0.10 and 1 without a known price" in shown
    assert shown.splitlines()[-1] == "together $0.12, without 1 answers whose price is not known"
    (request,) = kept.bus.asked(subject("costs"))
    today = datetime.now(UTC).date()
    assert (request["first_day"], request["last_day"]) == (str(today - timedelta(days=6)), str(today))


def test_scores_are_listed_with_their_mean(kept: CommandLine) -> None:
    score = {"message_id": TURN_ID, "conversation_id": CONVERSATION_ID, "faithfulness": 0.5, "judge": "support"}
    reply(kept, "score", c.ScoreReply.model_validate({"scores": [score], "mean": 0.5, "remaining": 3}))
    shown = kept.run("conversations", "score", "--no-judge").stdout
    assert shown.endswith("1 answers scored, 0.50 on the mean; 3 remain\n")
    assert kept.bus.asked(subject("score"))[0]["judge"] is False


SAVED = SaveTextReply(path="wiki/queries/tides.md", content_hash="0" * 64, outcome="created")


def test_the_last_whole_answer_of_a_conversation_is_saved(kept: CommandLine) -> None:
    whole = (turn(OTHER_ID), turn(TURN_ID), turn(CONVERSATION_ID, "failed"))
    reply(kept, "get", c.GetReply(conversation=summary(), turns=whole))
    reply(kept, "save", SAVED)
    result = kept.run("save", "last", "--title", "Tides", "--overwrite")
    assert (result.exit_code, result.stdout) == (0, "created: wiki/queries/tides.md\n")
    (request,) = kept.bus.asked(subject("save"))
    assert (request["turn_id"], request["title"], request["overwrite"]) == (str(TURN_ID), "Tides", True)


def test_an_id_is_a_turn_first_and_a_conversation_else(kept: CommandLine) -> None:
    reply(kept, "save", [ErrorReply(code="not_found", message="no such turn"), SAVED])
    assert kept.run("save", str(CONVERSATION_ID)).exit_code == 0
    assert [request["turn_id"] for request in kept.bus.asked(subject("save"))] == [str(CONVERSATION_ID), str(TURN_ID)]


def test_a_conversation_without_a_whole_answer_cannot_be_saved(kept: CommandLine) -> None:
    reply(kept, "get", c.GetReply(conversation=summary(), turns=(turn(state="refused"),)))
    assert kept.run("save", "last").exit_code == 2
