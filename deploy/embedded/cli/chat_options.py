"""Options that say how a question is answered, declared once for all commands that ask one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, Any, NoReturn, get_type_hints
from uuid import UUID, uuid4

import typer

from deploy.embedded.cli.filters import parse_filters
from deploy.embedded.cli.requests import request_of
from deploy.embedded.cli.search import FilterJson, Filters, Profile
from deploy.embedded.cli.session import Session, chosen_vaults
from shared.contracts.chat import ChatRequest
from shared.errors import InvalidInput

K = Annotated[int, typer.Option("--k", min=1, max=50, help="Chunks to search for.")]
Provider = Annotated[
    str | None,
    typer.Option("--provider", show_default=False, help="Who answers: extractive, or one that the settings name."),
]
ContextWindow = Annotated[
    int,
    typer.Option(
        "--context-window",
        min=0,
        max=10_000_000,
        help="Tokens to fill: 60 % history, 20 % passages, 5 % grounding, 15 % answer.",
    ),
]
Timeout = Annotated[float, typer.Option("--timeout", min=0.1, max=600, help="Seconds that an answer may take.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Also say who answered, tokens, cost and times.")]
ConversationId = Annotated[
    UUID | None,
    typer.Option("--conversation", metavar="ID", show_default=False, help="Go on with this conversation."),
]


@dataclass(frozen=True, slots=True)
class Manner:
    """How questions are asked."""

    k: int = 8
    filters: Sequence[str] = ()
    filter_json: str | None = None
    profile: str | None = None
    provider: str | None = None
    context_window: int = 32_768
    timeout_s: float = 120.0
    verbose: bool = False

    def request(self, question: str, *, conversation_id: UUID | None = None, stream: bool = True) -> ChatRequest:
        """Return the request with a new turn's id. Raises InvalidInput when a value is none that can be asked with."""
        told = {
            "question": question,
            "turn_id": uuid4(),
            "conversation_id": conversation_id,
            "k": self.k,
            "filters": parse_filters(self.filters, self.filter_json),
            "profile": self.profile,
            "provider": self.provider,
            "context_window": self.context_window,
            "deadline_ms": round(self.timeout_s * 1000),
            "stream": stream,
        }
        return request_of(ChatRequest, told)


def asks(command: Callable[..., NoReturn]) -> Callable[..., NoReturn]:
    """Give a command the options of `_manner`, in the place of its parameter `manner`, which gets what they say."""
    shared = _parameters(_manner)
    own = _parameters(command)
    place = [one.name for one in own].index("manner")
    parameters = [*own[:place], *shared, *own[place + 1 :]]

    @wraps(command)
    def given_options(**given: Any) -> NoReturn:
        manner = _manner(**{one.name: given.pop(one.name) for one in shared})
        command(**given, manner=manner)

    given_options.__annotations__ = {one.name: one.annotation for one in parameters}
    given_options.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportAttributeAccessIssue]
    return given_options


def one_vault(session: Session, named: str | None) -> str:
    """Return the vault to ask: the one named, that around the current folder, or the only one.

    Raises InvalidInput when it could be any of several: a conversation belongs to one vault.
    """
    first, *others = chosen_vaults(session, named)
    if others:
        known = ", ".join((first, *others))
        raise InvalidInput(f"a question goes to one vault: name it with --vault; there are {known}")
    return first


def _manner(  # noqa: PLR0913  (one parameter per option of the command line)
    *,
    k: K = 8,
    filters: Filters = None,
    filter_json: FilterJson = None,
    profile: Profile = None,
    provider: Provider = None,
    context_window: ContextWindow = 32_768,
    timeout: Timeout = 120.0,
    verbose: Verbose = False,
) -> Manner:
    return Manner(k, filters or (), filter_json, profile, provider, context_window, timeout, verbose)


def _parameters(function: Callable[..., object]) -> list[inspect.Parameter]:
    hints = get_type_hints(function, include_extras=True)
    return [one.replace(annotation=hints[one.name]) for one in inspect.signature(function).parameters.values()]
