"""An executable that speaks the agent's protocol (JSON lines on stdio) by script, for what the real one never does.

It answers the SDK's `initialize`, takes the prompt, then prints the script's lines as they are. Its
arguments and the prompt are left in the folder beside it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

_PROGRAM = """#!{python}
import json, pathlib, sys
here = pathlib.Path(__file__).parent
(here / "arguments.json").write_text(json.dumps(sys.argv[1:]))
for line in sys.stdin:
    told = json.loads(line)
    if told["type"] == "control_request":
        response = dict(subtype="success", request_id=told["request_id"], response=dict(commands=[]))
        print(json.dumps(dict(type="control_response", response=response)), flush=True)
    elif told["type"] == "user":
        (here / "prompt.json").write_text(line)
        for scripted in json.loads((here / "script.json").read_text()):
            print(scripted, flush=True)
        sys.exit(int((here / "exit").read_text()))
"""


def scripted_agent(folder: Path, lines: Sequence[str | dict[str, Any]], exit_code: int = 0) -> Path:
    """Write the executable into the folder and return its path."""
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    (folder / "script.json").write_text(json.dumps(texts))
    (folder / "exit").write_text(str(exit_code))
    program = folder / "agent"
    program.write_text(_PROGRAM.replace("{python}", sys.executable))
    program.chmod(0o700)
    return program


def words(*texts: str) -> Iterable[dict[str, Any]]:
    """Return the events of one step that says these words."""
    usage = {"input_tokens": 11, "output_tokens": 1}
    yield _stream({"type": "message_start", "message": {"model": "claude", "usage": usage}})
    for text in texts:
        yield _stream({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}})
    yield _stream({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7}})


def result(**fields: Any) -> dict[str, Any]:
    """Return the last line, whole unless fields say otherwise."""
    usual = {"type": "result", "subtype": "success", "is_error": False, "num_turns": 1, "session_id": "s"}
    usage = {"input_tokens": 11, "output_tokens": 7}
    return {**usual, "duration_ms": 1, "duration_api_ms": 1, "stop_reason": "end_turn", "usage": usage, **fields}


def _stream(event: dict[str, Any]) -> dict[str, Any]:
    return {"type": "stream_event", "uuid": "u", "session_id": "s", "event": event}
