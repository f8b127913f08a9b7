"""Claude as an agent without tools; the SDK is `claude-agent-sdk`, which runs Anthropic's command line as a child.

Each answer is a process in a folder of its own, which is deleted afterwards: no settings, memory, tools or transcripts
are shared. Bounds: steps, tokens in and out of all steps, time (as for every provider), and how many run at once.
Closing kills the child, which ends its request at once; the SDK alone would wait five seconds for it.

The child does not say how long a rate limit lasts, so RateLimited has no wait here.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import structlog
from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    ClaudeSDKError,
    CLINotFoundError,
    ResultMessage,
    StreamEvent,
)

from services.chat.provider import ChatMessage
from services.chat.providers.anthropic_events import REASONS, AnthropicEvent, read_event
from services.chat.providers.refusals import refused, unreachable
from services.chat.providers.spec import ProviderSpec
from services.chat.providers.wire import Piece, read_as
from shared.errors import InvalidInput, TooLarge, Unavailable
from shared.tokens import estimate_tokens

_log = structlog.get_logger(__name__)

_NO_COST = Decimal("0.00")


@dataclass(frozen=True, slots=True)
class AgentBounds:
    """What one answer of the agent may take, beyond the limits of every provider."""

    max_turns: int = 8
    token_budget: int = 100_000
    """In and out, of all steps."""
    concurrency: int = 2
    cli: Path | None = None
    """None: the executable in the SDK's wheel."""


class AgentWire:
    """Asks the agent. `connect` makes a client from options."""

    def __init__(
        self,
        spec: ProviderSpec,
        bounds: AgentBounds | None = None,
        connect: Callable[[ClaudeAgentOptions], ClaudeSDKClient] = ClaudeSDKClient,
    ) -> None:
        self._spec, self._bounds, self._connect = spec, bounds or AgentBounds(), connect
        self._places = asyncio.Semaphore(self._bounds.concurrency)
        self._warned = False

    @property
    def spec(self) -> ProviderSpec:
        """Who is asked."""
        return self._spec

    async def stream(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[Piece]:
        """Yield what the agent's events say; see the port."""
        self._spec.check()
        if sum(estimate_tokens(message.content) for message in messages) > self._bounds.token_budget:
            raise TooLarge("the prompt alone is above CITEBUS_CHAT_AGENT_TOKEN_BUDGET")
        spent = _Spent(self._bounds.token_budget)
        try:
            async with self._places, self._client(messages) as client:
                await client.query(transcript(messages))
                async for message in client.receive_response():
                    piece = self._piece(message, spent)
                    if piece is not None:
                        yield piece
                        if piece.reason is not None:
                            return
        except CLINotFoundError:
            raise InvalidInput(
                "the agent's executable is missing: pip install --force-reinstall 'citebus[agent]', or check "
                "CITEBUS_CHAT_AGENT_CLI"
            ) from None
        except (ClaudeSDKError, OSError):  # their text may quote what the child was told
            raise unreachable(self._spec) from None

    async def aclose(self) -> None:
        """Do nothing: every answer ends its own process."""

    @asynccontextmanager
    async def _client(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[ClaudeSDKClient]:
        with tempfile.TemporaryDirectory(prefix="citebus-agent-", ignore_cleanup_errors=True) as folder:
            client = self._connect(self._options(messages, Path(folder)))
            try:
                await client.connect()
                yield client
            finally:
                await _end(client)

    def _options(self, messages: Sequence[ChatMessage], folder: Path) -> ClaudeAgentOptions:
        system = "\n\n".join(message.content for message in messages if message.role == "system")
        instructions = folder / "system.md"  # as an argument it would be limited to 128 KiB
        instructions.write_text(system, encoding="utf-8")
        return ClaudeAgentOptions(
            tools=[],
            skills=[],
            strict_mcp_config=True,
            setting_sources=[],
            permission_mode="dontAsk",
            verbatim_prompts=True,  # a question that holds `@/etc/passwd` or starts with a slash is only a question
            include_partial_messages=True,
            system_prompt={"type": "file", "path": str(instructions)},
            model=self._spec.model or None,
            max_turns=self._bounds.max_turns,
            cwd=folder,
            cli_path=self._bounds.cli,
            env=self._environment(folder),
            stderr=_drop,
        )

    def _environment(self, folder: Path) -> dict[str, str]:
        return {
            "ANTHROPIC_API_KEY": self._spec.key,
            "ANTHROPIC_AUTH_TOKEN": "",
            "CLAUDE_CODE_OAUTH_TOKEN": "",
            "CLAUDE_CODE_USE_BEDROCK": "",
            "CLAUDE_CODE_USE_VERTEX": "",
            "ANTHROPIC_BASE_URL": self._spec.base_url,
            "CLAUDE_CONFIG_DIR": str(folder / "config"),
            "TMPDIR": str(folder),  # the child leaves a socket there
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(self._spec.limits.max_answer_tokens),
            "CLAUDE_CODE_MAX_RETRIES": "0",
            "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }

    def _piece(self, message: object, spent: _Spent) -> Piece | None:
        """What a message says; None for those that are not from the model, or repeat what was streamed."""
        if isinstance(message, ResultMessage):
            return self._result(message)
        if not isinstance(message, StreamEvent) or message.parent_tool_use_id:
            return None
        piece = read_event(read_as(AnthropicEvent, message.event, self._spec), self._spec)
        spent.note(piece)
        if piece.reason == "stop":  # the result, which comes next, has the usage of all steps and the cost
            return Piece()
        # Left alone, the agent would ask the model to go on, or another model, after a limit or a refusal.
        reason = "length" if piece.reason is None and spent.is_over else piece.reason
        return replace(piece, reason=reason, input_tokens=spent.read, output_tokens=spent.written)

    def _result(self, result: ResultMessage) -> Piece:
        if result.is_error and result.api_error_status is not None:
            raise refused(self._spec, result.api_error_status, result.result or "")
        if result.is_error and result.subtype != "error_max_turns":
            raise Unavailable(f"{self._spec.label} failed: try again")
        usage = result.usage or {}
        read = [usage.get(f"{kind}input_tokens") for kind in ("", "cache_creation_", "cache_read_")]
        return Piece(
            reason="length" if result.is_error else REASONS.get(result.stop_reason or "", "stop"),
            input_tokens=sum(filter(None, read)) if read[0] is not None else None,
            output_tokens=usage.get("output_tokens"),
            cost=self._cost(result),
        )

    def _cost(self, result: ResultMessage) -> Decimal | None:
        """What the agent reports; None when it has guessed for want of a price; 0.00 when it reports nothing."""
        if result.total_cost_usd is None:
            if not self._warned:
                self._warned = True
                _log.warning("chat.agent.no_cost", advice="the agent reports no cost; its answers count as 0.00")
            return _NO_COST
        models: list[Any] = list((result.model_usage or {}).values())
        if any(model.get("costBasis") == "unknown" for model in models):
            return None
        return Decimal(str(result.total_cost_usd))


@dataclass(slots=True)
class _Spent:
    """Tokens of all steps, in and out, against the budget."""

    budget: int
    read: int = 0
    written: int = 0
    _read_before: int = 0
    _written_before: int = 0

    @property
    def is_over(self) -> bool:
        return self.read + self.written > self.budget

    def note(self, piece: Piece) -> None:
        """Take what an event says of the step that runs; one with a model's name starts a step."""
        if piece.model is not None:
            self._read_before, self._written_before = self.read, self.written
        if piece.input_tokens is not None:
            self.read = self._read_before + piece.input_tokens
        if piece.output_tokens is not None:
            self.written = self._written_before + piece.output_tokens


def transcript(messages: Sequence[ChatMessage]) -> str:
    """Return the messages but the system's as one prompt: the agent takes no earlier answers as such."""
    told = [message for message in messages if message.role != "system"]
    if not told:
        return ""
    earlier = "\n\n".join(f"<{message.role}>\n{message.content}\n</{message.role}>" for message in told[:-1])
    return f"The conversation so far:\n\n{earlier}\n\nNow:\n\n{told[-1].content}" if earlier else told[-1].content


async def _end(client: ClaudeSDKClient) -> None:
    """End the child at once, and with it its request. The SDK's errors tell that it is gone already."""
    child = getattr(getattr(client, "_transport", None), "_process", None)  # the SDK shows it nowhere else
    if child is not None:
        with suppress(ProcessLookupError):
            child.kill()
    with suppress(ClaudeSDKError):
        await client.disconnect()
    if child is not None:
        await child.aclose()


def _drop(line: str) -> None:
    """Forget a line of the child's stderr: it may quote the prompt."""
